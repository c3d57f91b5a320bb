"""What programs for NVIDIA's front end do, beyond what its documentation shows.

They run on a GPU, and on the reference device with PyTorch's CPU tensors.
"""

from __future__ import annotations

from typing import Any

import pytest

import cudnn_ctypes.frontend as cudnn
from cudnn_ctypes import DeviceMemoryWarning, as_data_type
from cudnn_ctypes.graph.lower.target import Target

from .conftest import close, execute, nothing, randn

torch = pytest.importorskip("torch")

BFLOAT16, FLOAT, HALF = (getattr(cudnn.data_type, name) for name in ("BFLOAT16", "FLOAT", "HALF"))
# Half a unit in the last place of float16, of the result and of one rounding before it.
FLOAT16_ERROR = 2 * 2.0**-11


def pygraph(**options: Any) -> Any:
    return cudnn.pygraph(**{"intermediate_data_type": FLOAT, "compute_data_type": FLOAT, **options})


# --- tensors of another graph --------------------------------------------------------------------


def test_tensors_of_an_unbuilt_graph_may_be_taken_too(device):
    first, second = pygraph(), pygraph()
    a_gpu = randn(2, 16, 32, device=device)
    a = first.tensor_like(a_gpu)
    d = second.relu(a)
    d.set_output(True).set_data_type(BFLOAT16)
    second.build()
    d_gpu = nothing(a_gpu, 2, 16, 32)
    execute(second, {a: a_gpu, d: d_gpu}, device)
    close(d_gpu, a_gpu.double().clip(0), 2.0**-8)


def test_results_of_another_graph_are_no_operands():
    first, second = pygraph(io_data_type=HALF), pygraph()
    result = first.relu(first.tensor(dim=[2, 8, 8], stride=[64, 8, 1]))
    second.relu(result).set_output(True)
    with pytest.raises(RuntimeError, match="no operation"):
        second.validate()


# --- printed graphs ------------------------------------------------------------------------------


@pytest.mark.parametrize("validated", [False, True])
def test_the_text_of_a_graph_describes_it(device, validated):
    a_gpu, b_gpu = randn(2, 16, 32, device=device), randn(2, 32, 24, device=device, seed=1)
    graph = pygraph(name="printed", io_data_type=BFLOAT16)
    a, b = graph.tensor_like(a_gpu).set_uid(1), graph.tensor_like(b_gpu).set_uid(2)
    c = graph.relu(graph.matmul(a, b).set_name("same"), upper_clip=2.0).set_name("same")
    c.set_output(True).set_uid(3)
    if validated:
        graph.validate()
    text = str(graph)
    other = cudnn.pygraph()
    other.deserialize(text)
    assert other.query_tensor_attributes_of_uid(1).get_dim() == [2, 16, 32]
    other.build([cudnn.heur_mode.A])
    c_gpu = nothing(a_gpu, 2, 16, 24)
    execute(other, {1: a_gpu, 2: b_gpu, 3: c_gpu}, device)
    close(c_gpu, (a_gpu.double() @ b_gpu.double()).clip(0, 2), 2.0**-8)
    assert repr(other) == repr(graph) == "pygraph('printed': matmul 'matmul.0', relu 'relu.0')"


# --- results whose layout nobody set -------------------------------------------------------------


def channels(count: int, device: str, seed: int, low: float = -1.0, high: float = 1.0) -> Any:
    generator = torch.Generator().manual_seed(seed)
    values = torch.rand(1, count, 1, 1, generator=generator) * (high - low) + low
    return values.to(device)


def residual_block(device: str) -> tuple[Any, dict[str, Any], dict[Any, Any]]:
    """BN(x), then the gradients of relu and BN, from fixed statistics: one engine."""
    image, dy = (
        randn(4, 16, 12, 12, device=device, dtype=torch.float16, seed=seed).to(
            memory_format=torch.channels_last
        )
        for seed in (0, 1)
    )
    given = {
        "x": image,
        "dy": dy,
        "mean": channels(16, device, 0),
        "inv": channels(16, device, 1, 0.5, 1.5),
        "scale": channels(16, device, 2, 0.5, 1.5),
        "bias": channels(16, device, 3),
    }
    graph = pygraph(io_data_type=HALF)
    own = {name: graph.tensor_like(each).set_name(name) for name, each in given.items()}
    y = graph.batchnorm_inference(*(own[each] for each in ("x", "mean", "inv", "scale", "bias")))
    drelu = graph.relu_backward(loss=own["dy"], input=y).set_data_type(HALF)
    results = graph.batchnorm_backward(drelu, own["x"], own["scale"], own["mean"], own["inv"])
    for each in results:
        each.set_output(True).set_data_type(FLOAT)
    results[0].set_data_type(HALF)
    memory = {own[name]: each for name, each in given.items()}
    likes = (image, given["scale"], given["bias"])
    memory |= {each: nothing(like) for each, like in zip(results, likes, strict=True)}
    return graph, {**given, "results": results}, memory


def test_batch_normalization_is_done_again_for_its_gradient(device):
    graph, given, memory = residual_block(device)
    graph.build()
    execute(graph, memory, device)

    x, dy, mean, inv, scale, bias = (
        given[name].cpu().double() for name in ("x", "dy", "mean", "inv", "scale", "bias")
    )
    normal = (x - mean) * inv
    grad = dy * (normal * scale + bias > 0)
    dscale, dbias = ((each).sum((0, 2, 3), keepdim=True) for each in (grad * normal, grad))
    count = x.numel() / 16
    dx = scale * inv * (grad - (dbias + normal * dscale) / count)
    for got, expected in zip(given["results"], (dx, dscale, dbias), strict=True):
        close(memory[got], expected, 2 * FLOAT16_ERROR)


def expanded(graph):
    """What cuDNN is told of a graph."""
    return graph._graph._expanded(graph._graph.validate(), Target(91900, 90)).nodes


def test_by_itself_it_is_element_wise(device):
    graph, _, _ = residual_block(device)
    assert [node.kind.descriptor for node in expanded(graph)] == [
        "operation_norm_forward",
        "operation_pointwise",
        "operation_norm_backward",
    ]
    alone = pygraph(io_data_type=HALF)
    x = alone.tensor(dim=[4, 16, 12, 12], stride=[2304, 1, 192, 16])
    parameters = [alone.tensor(dim=[1, 16, 1, 1], stride=[16, 1, 1, 1]) for _ in range(4)]
    alone.batchnorm_inference(x, *parameters).set_output(True)
    alone.build()
    assert len(alone._graph.nodes) == 1
    assert len(expanded(alone)) == 4


# --- attention -----------------------------------------------------------------------------------


MASKS = {
    "use_causal_mask": ({"use_causal_mask": True}, {"diagonal_band_right_bound": 0}),
    "from the bottom right": (
        {"use_causal_mask_bottom_right": True},
        {"diagonal_band_right_bound": 0, "diagonal_alignment": "bottom_right"},
    ),
    "window": ({"sliding_window_length": 8}, {"diagonal_band_left_bound": 8}),
    "right": ({"diagonal_band_right_bound": 0}, {"diagonal_band_right_bound": 0}),
    "alibi": ({"use_alibi_mask": True}, {"use_alibi_mask": True}),
}


@pytest.mark.usefixtures("reference_device")
@pytest.mark.parametrize("name", MASKS)
def test_both_implementations_take_masks(name):
    given, expected = MASKS[name]
    graph = pygraph(io_data_type=HALF)
    heads = [graph.tensor(dim=[1, 2, 64, 64], stride=[8192, 4096, 64, 1]) for _ in range(3)]
    for way in ("UNIFIED", "COMPOSITE"):
        implementation = cudnn.attention_implementation[way]
        graph.sdpa(*heads, is_inference=True, implementation=implementation, **given)
        options = dict(graph._graph.nodes[-1].options)
        assert options.pop("attn_scale") == 1.0
        assert options == expected


# --- results of which nothing is said -----------------------------------------------------------


@pytest.mark.usefixtures("reference_device")
def test_a_transposed_tensor_lies_as_its_operand_does():
    graph = pygraph(io_data_type=HALF)
    x = graph.tensor(dim=[4, 16, 9], stride=[144, 9, 1])
    y = graph.transpose(x, [0, 2, 1])
    y.set_output(True)
    graph.validate()
    assert (y.get_dim(), y.get_stride()) == ([4, 9, 16], [144, 1, 9])


@pytest.mark.thinned(3)
@pytest.mark.parametrize("operation", ["layernorm", "rmsnorm", "instancenorm"])
def test_statistics_are_numbers_of_a_type_that_cudnn_writes(operation, device):
    size = 4 if operation == "instancenorm" else 1
    x_gpu = 3 * randn(8, 64, size, size, device=device, dtype=torch.half) + 1
    x_gpu = x_gpu.contiguous(memory_format=torch.channels_last)
    parameter = torch.ones(1, 64, 1, 1, device=device, dtype=torch.half)
    if operation == "instancenorm":
        parameter = parameter.float()
    graph = pygraph(io_data_type=HALF)
    x = graph.tensor_like(x_gpu)
    scale, bias = graph.tensor_like(parameter), graph.tensor_like(parameter)
    epsilon = graph.tensor([1] * 4, [1] * 4, FLOAT, is_pass_by_value=True, name="epsilon")
    training = cudnn.norm_forward_phase.TRAINING
    y, *statistics = getattr(graph, operation)(training, x, scale, bias, epsilon)
    for each in (y, *statistics):
        each.set_output(True)
    graph.validate()
    written = HALF if operation == "instancenorm" else FLOAT
    assert [each.get_data_type() for each in statistics] == [written] * len(statistics)
    try:
        graph.build([cudnn.heur_mode.A])
    except cudnn.cudnnGraphNotSupportedError:
        if cudnn.backend_version() >= 92800:
            raise
        pytest.skip("not every version has an engine for such statistics")
    dtype = torch.half if written is HALF else torch.float32
    got = [torch.zeros(each.get_dim(), dtype=dtype, device=device) for each in statistics]
    memory = {x: x_gpu, scale: parameter, bias: 0 * parameter, epsilon: torch.full((1,) * 4, 1e-5)}
    execute(graph, {**memory, y: nothing(x_gpu), **dict(zip(statistics, got, strict=True))}, device)
    exact = x_gpu.double()
    over = (2, 3) if operation == "instancenorm" else (1, 2, 3)
    mean = exact.mean(over, keepdim=True)
    about = 0 * mean if operation == "rmsnorm" else mean
    inverse = ((exact - about).square().mean(over, keepdim=True) + 1e-5).rsqrt()
    for one, expected in zip(reversed(got), (inverse, mean), strict=False):
        close(one, expected, FLOAT16_ERROR)


# --- what programs catch and import --------------------------------------------------------------


def test_a_used_kernel_cache_takes_over_no_other(device):
    cache = cudnn.create_kernel_cache()
    graph = pygraph(io_data_type=HALF, kernel_cache=cache)
    x = graph.tensor(dim=[4, 64, 64], stride=[4096, 64, 1])
    graph.matmul(x, x).set_output(True)
    graph.build([cudnn.heur_mode.FALLBACK])
    if cudnn.backend_version() < 91000:
        pytest.skip("cuDNN 9.10 stores kernel caches")
    text = cache.serialize()
    other = cudnn.create_kernel_cache()
    other.deserialize(text)
    for used in (cache, other):
        with pytest.raises(RuntimeError, match="in use"):
            used.deserialize(text)


DATA_TYPES = {
    "float16": "HALF", "bfloat16": "BFLOAT16", "float32": "FLOAT", "float64": "DOUBLE",
    "int8": "INT8", "int32": "INT32", "int64": "INT64", "uint8": "UINT8",
    "float8_e4m3fn": "FP8_E4M3", "float8_e5m2": "FP8_E5M2", "float8_e8m0fnu": "FP8_E8M0",
    "float4_e2m1fn_x2": "FP4_E2M1",
}  # fmt: skip


@pytest.mark.parametrize(("theirs", "ours"), DATA_TYPES.items())
def test_data_types_of_pytorch(theirs, ours):
    dtype, member = getattr(torch, theirs, None), cudnn.data_type[ours]
    if dtype is None:
        pytest.skip("this PyTorch lacks it")
    assert cudnn.datatypes._torch_to_cudnn_data_type(dtype) is member
    assert cudnn.datatypes._cudnn_to_torch_data_type(member) is dtype
    assert cudnn.datatypes._library_type(dtype) is member
    assert cudnn.datatypes._library_type(member) is member


def test_what_is_no_data_type():
    assert cudnn.datatypes.is_torch_available()
    assert cudnn.datatypes._is_torch_tensor(torch.ones(1))
    assert not cudnn.datatypes._is_torch_tensor(torch.float32)
    assert cudnn.datatypes._cudnn_to_torch_data_type(cudnn.data_type.INT8x32) is None
    for wrong in (torch.int16, "float32", None, 1):
        assert cudnn.datatypes._torch_to_cudnn_data_type(wrong) is None
        with pytest.raises(TypeError, match=r"expected a data_type or a torch\.dtype"):
            cudnn.datatypes._library_type(wrong)


def test_memory_of_another_type(device):
    """Its bytes are read, with a warning; what is too small is refused."""
    graph = pygraph(io_data_type=HALF)
    x = graph.tensor(name="x", dim=[2, 16, 8], stride=[128, 8, 1])
    y = graph.relu(x).set_output(True)
    graph.build([cudnn.heur_mode.A])
    memory = randn(2, 16, 8, device=device, dtype=torch.float16)
    bits = (memory - 0.5).view(torch.int16)
    with pytest.warns(DeviceMemoryWarning, match=r"'x' \(2, 16, 8\) is float16, got int16 .*read"):
        execute(graph, {x: bits, y: memory}, device)
    assert torch.equal(memory, bits.view(memory.dtype).relu())
    with pytest.raises(ValueError, match=r"'x' .* is float16, got int8"):
        execute(graph, {x: memory.to(torch.int8), y: memory}, device)


@pytest.mark.needs("CUDNN_DATA_BYTE_BOOLEAN")
def test_booleans_of_pytorch_take_a_byte_each(device):
    graph = pygraph(io_data_type=HALF)
    mask = torch.tensor([True, False] * 64, device=device).reshape(1, 8, 16)
    assert graph.tensor_like(mask).data_type == as_data_type(torch.bool)
