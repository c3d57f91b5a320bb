"""Operations from their descriptors against independent computations.

cuDNN checks the descriptors; no engine is asked for, so operations that an H200 lacks run too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, raw, use_reference_device
from cudnn_ctypes.dtypes import as_data_type, element_bits
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.reference.device.backend_memory import GraphMemory
from cudnn_ctypes.reference.device.backend_records import TensorInfo
from cudnn_ctypes.reference.device.registry import Refused
from cudnn_ctypes.reference.reorder import reorder_filter

from .evaluation import evaluate

torch = pytest.importorskip("torch")
F = torch.nn.functional

pytestmark = pytest.mark.usefixtures("on_reference_device")


@pytest.fixture
def on_reference_device() -> Iterator[None]:
    with use_reference_device():
        yield


def graph(io: str = "float32", **options: Any) -> Graph:
    return Graph(io_data_type=io, **options)


def random(*shape: int, seed: int = 3) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def close(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    expected = np.asarray(expected, np.float64)
    np.testing.assert_allclose(
        np.asarray(found, np.float64), expected, rtol=tolerance, atol=tolerance
    )


def gradients(function: Callable[..., Any], grad: Any, *operands: Any) -> list[Any]:
    tensors = [torch.tensor(each, requires_grad=True) for each in operands]
    function(*tensors).backward(torch.tensor(grad))
    return [each.grad.numpy() for each in tensors]


# --- convolutions, matrix products ---------------------------------------------------------------


@pytest.mark.parametrize("gather", [False, True])
def test_experts(gather: bool) -> None:
    token, weight = random(1, 10, 4), random(3, 4, 5, seed=4)
    offset = np.array([0, 3, 3]).reshape(3, 1, 1)
    index = np.random.default_rng(5).integers(0, 10, (1, 20, 1))  # each token twice, or so
    g = graph()
    operands = [
        g.tensor(token.shape, name="token"),
        g.tensor(weight.shape, name="weight"),
        g.tensor(offset.shape, data_type="int32", name="offset"),
    ]
    options: dict[str, Any] = {}
    if gather:
        options["token_index"] = g.tensor(index.shape, data_type="int32", name="index")
        options |= {"mode": "gather", "top_k": 2}
    g.moe_grouped_matmul(*operands, **options).set_output(name="y")
    rows = token[0, index.ravel()] if gather else token[0]
    exact = [row @ weight[0 if number < 3 else 2] for number, row in enumerate(rows)]
    given = {"token": token, "weight": weight, "offset": offset, "index": index}
    close(evaluate(g, given)["y"][0], exact)


def test_experts_give_their_tokens_back() -> None:
    """Five tokens went to two experts each; row r was choice ks[r] of token index[r]."""
    token, weight = random(1, 10, 4), random(3, 4, 5, seed=4)
    places = np.random.default_rng(5).permutation(10)
    index, ks = (each.reshape(1, 10, 1) for each in (places // 2, places % 2))
    g = graph()
    operands = [
        g.tensor(token.shape, name="token"),
        g.tensor(weight.shape, name="weight"),
        g.tensor((3, 1, 1), data_type="int32", name="offset"),
    ]
    options = {
        name: g.tensor((1, 10, 1), data_type="int32", name=name)
        for name in ("token_index", "token_ks")
    }
    g.moe_grouped_matmul(*operands, mode="scatter", top_k=2, **options).set_output(
        name="y", dims=(1, 10, 5)
    )
    given = {"token": token, "weight": weight, "token_index": index, "token_ks": ks}
    found = evaluate(g, {**given, "offset": np.reshape([0, 3, 3], (3, 1, 1))})["y"]
    exact = np.zeros((1, 10, 5))
    for row, place in enumerate(places):
        exact[0, place] = token[0, row] @ weight[0 if row < 3 else 2]
    close(found, exact)


def test_experts_backward() -> None:
    token, grad = random(1, 10, 4), random(1, 10, 5, seed=4)
    g = graph()
    offset = g.tensor((3, 1, 1), data_type="int32", name="offset")
    g.moe_grouped_matmul_bwd(
        g.tensor(grad.shape, name="grad"), g.tensor(token.shape, name="token"), offset
    ).set_output(name="dw")
    found = evaluate(g, {"token": token, "grad": grad, "offset": np.reshape([0, 3, 8], (3, 1, 1))})
    exact = [token[0, a:b].T @ grad[0, a:b] for a, b in ((0, 3), (3, 8), (8, 10))]
    close(found["dw"], exact)


def test_group_normalization_is_refused() -> None:
    g = graph()
    x, scale, bias = g.tensor((2, 8, 4, 4)), g.tensor((1, 8, 1, 1)), g.tensor((1, 8, 1, 1))
    g.norm_forward("group", "inference", x, scale, bias, 1e-3)["y"].set_output()
    with pytest.raises(Refused, match="no attribute says how many groups"):
        evaluate(g, {})


# --- resampling ----------------------------------------------------------------------------------


def test_where_the_maxima_are() -> None:
    x = random(2, 3, 7, 8)
    options: dict[str, Any] = {"window": 3, "stride": 2, "padding": 1}
    g = graph()
    y, index = g.resample(g.tensor(x.shape, name="x"), "maxpool", generate_index=True, **options)
    assert index is not None
    y.set_output(name="y")
    index.set_output(name="index")
    found = evaluate(g, {"x": x})
    exact, flat = F.max_pool2d(torch.tensor(x), 3, 2, 1, return_indices=True)
    close(found["y"], exact.numpy())
    row, column = np.indices(exact.shape[2:])
    places = found["index"].astype(int)
    pixels = (2 * row - 1 + places // 3) * 8 + 2 * column - 1 + places % 3
    np.testing.assert_array_equal(pixels, flat.numpy())
    dy = random(*exact.shape, seed=4)
    dx = gradients(lambda a: F.max_pool2d(a, 3, 2, 1), dy, x)[0]
    g = graph()
    loss = g.tensor(dy.shape, name="dy")
    kept = g.tensor(dy.shape, data_type="int8", name="index")
    g.resample_backward(loss, "maxpool", index=kept, **options).set_output(name="dx", dims=x.shape)
    close(evaluate(g, {"dy": dy, "index": found["index"]})["dx"], dx)
    g = graph()
    loss = g.tensor(dy.shape, name="dy")
    image, result = g.tensor(x.shape, name="x"), g.tensor(dy.shape, name="y")
    g.resample_backward(loss, "maxpool", input=image, y=result, **options).set_output(name="dx")
    close(evaluate(g, {"dy": dy, "x": x, "y": found["y"]})["dx"], dx)


def _halfway(a: Any) -> Any:
    """The pixels and the places between them; the last pixel twice."""
    for axis in (2, 3):
        following = torch.cat(
            [a.narrow(axis, 1, a.shape[axis] - 1), a.narrow(axis, a.shape[axis] - 1, 1)], axis
        )
        a = torch.stack([a, (a + following) / 2], axis + 1).flatten(axis, axis + 1)
    return a


def _twice(a: Any) -> Any:
    return a.repeat_interleave(2, 2).repeat_interleave(2, 3)


@pytest.mark.parametrize(("mode", "exact"), [("bilinear", _halfway), ("nearest", _twice)])
def test_twice_as_large(mode: str, exact: Any) -> None:
    x = random(2, 3, 5, 6)
    options: dict[str, Any] = {
        "window": 2,
        "stride": Fraction(1, 2),
        "pre_padding": Fraction(1, 2),
        "post_padding": 1,
        "padding_mode": "edge_val",
    }
    g = graph()
    g.resample(g.tensor(x.shape, name="x"), mode, **options)[0].set_output(name="y")
    y = exact(torch.tensor(x)).numpy()
    close(evaluate(g, {"x": x})["y"], y)
    if mode == "nearest":
        return  # cuDNN has no descriptor of its gradient
    dy = random(*y.shape, seed=4)
    g = graph()
    g.resample_backward(g.tensor(dy.shape, name="dy"), mode, **options).set_output(
        name="dx", dims=x.shape
    )
    close(evaluate(g, {"dy": dy})["dx"], gradients(exact, dy, x)[0])


# --- around attention ----------------------------------------------------------------------------

SCORES = (2, 3, 4, 6)


@pytest.mark.parametrize("sink", [False, True])
def test_softmax_and_what_is_known_of_rows(sink: bool) -> None:
    x, extra = random(*SCORES), random(1, 3, 1, 1, seed=4)
    g = graph()
    more = g.tensor(extra.shape, name="sink") if sink else None
    results = g.softmax(
        g.tensor(SCORES, name="x"), outputs=("y", "stats", "max", "sum_exp"), sink=more
    )
    for name, tensor in results.items():
        tensor.set_output(name=name)
    found = evaluate(g, {"x": x, "sink": extra})
    wide = np.concatenate([x, np.broadcast_to(extra, (2, 3, 4, 1))], -1) if sink else x
    total = np.exp(wide).sum(-1, keepdims=True)
    close(found["y"], np.exp(x) / total)
    close(found["stats"], np.log(total))
    close(found["sum_exp"] * np.exp(found["max"]), total)


@pytest.mark.parametrize("bottom", [False, True])
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_band_of_scores(side: str, bottom: bool) -> None:
    x, lengths = random(*SCORES), {"q": [4, 3], "kv": [6, 5]}
    g = graph()
    options: dict[str, Any] = {"right_shift": 1}
    if side == "left":
        options = {"left_bound": 2, "comparison": "cmp_gt"}
    if bottom:
        options |= {
            f"seq_len_{name}": g.tensor((2, 1, 1, 1), data_type="int32", name=name)
            for name in lengths
        }
    g.diagonal_band_mask(g.tensor(SCORES, name="x"), -5.0, **options).set_output(name="y")
    exact = np.full(SCORES, -5.0)
    for batch, row, column in np.ndindex(2, 4, 6):
        moved = row + (lengths["kv"][batch] - lengths["q"][batch] if bottom else 0)
        if moved - 2 < column if side == "left" else column <= moved + 1:
            exact[batch, :, row, column] = x[batch, :, row, column]
    given = {name: np.reshape(each, (2, 1, 1, 1)) for name, each in lengths.items()}
    close(evaluate(g, {"x": x, **given})["y"], exact)


def test_rotary_embedding_turns_pairs() -> None:
    x, dy = random(2, 3, 5, 8), random(2, 3, 5, 8, seed=4)
    half = random(1, 1, 5, 4, seed=5)
    angles = np.concatenate([half, half], -1)
    g = graph()
    freqs = g.tensor(angles.shape, name="angles")
    g.rope(g.tensor(x.shape, name="x"), freqs, output_scale=2.0).set_output(name="y")
    found = evaluate(g, {"x": x, "angles": angles})["y"]
    turned = (x[..., :4] + 1j * x[..., 4:]) * np.exp(1j * half)
    close(found, 2 * np.concatenate([turned.real, turned.imag], -1))
    g = graph()
    freqs = g.tensor(angles.shape, name="angles")
    g.rope_backward(g.tensor(x.shape, name="dy"), freqs, output_scale=2.0).set_output(name="dx")
    back = (dy[..., :4] + 1j * dy[..., 4:]) * np.exp(-1j * half)
    close(
        evaluate(g, {"dy": dy, "angles": angles})["dx"],
        2 * np.concatenate([back.real, back.imag], -1),
    )


def test_diagonals_and_back() -> None:
    x = random(2, 3, 8, 4)
    band: dict[str, Any] = {"lower_bandwidth": 2, "upper_bandwidth": 1, "axis": 3}
    g = graph()
    g.expand_band_matrix(
        g.tensor(x.shape, name="x"), (2, 3, 8, 8), pad_value=-1.0, **band
    ).set_output(name="y")
    found = evaluate(g, {"x": x})["y"]
    exact = np.full((2, 3, 8, 8), -1.0)
    for row, column in np.ndindex(8, 8):
        if -2 <= column - row <= 1:
            exact[..., row, column] = x[..., row, column - row + 2]
    close(found, exact)
    g = graph()
    g.contract_band_matrix(
        g.tensor(exact.shape, name="x"), x.shape, pad_value=5.0, **band
    ).set_output(name="y")
    outside = np.array([[not 0 <= row + k - 2 < 8 for k in range(4)] for row in range(8)])
    close(evaluate(g, {"x": exact})["y"], np.where(outside, 5.0, x))


def test_a_page_that_is_not_there() -> None:
    g = graph()
    table, length = (
        g.tensor(dims, data_type="int32", name=name)
        for dims, name in (((2, 1, 2, 1), "table"), ((2, 1, 1, 1), "length"))
    )
    container = g.tensor((3, 1, 16, 8), name="container")
    g.paged_cache_load(container, table, length, 32).set_output(name="y")
    pages = np.reshape([0, 1, 2, 3], (2, 1, 2, 1))
    given = {"container": random(3, 1, 16, 8), "table": pages}
    assert evaluate(g, {**given, "length": np.reshape([32, 16], (2, 1, 1, 1))})["y"].any()
    with pytest.raises(Refused, match="paged_cache_load: index 3 is out of bounds") as caught:
        evaluate(g, {**given, "length": np.reshape([32, 17], (2, 1, 1, 1))})
    assert caught.value.status == raw.CUDNN_STATUS_EXECUTION_FAILED


def test_a_largest_token_is_refused() -> None:
    g = graph()
    band: dict[str, Any] = {"lower_bandwidth": 2, "upper_bandwidth": 1, "axis": 3}
    g.contract_band_matrix(
        g.tensor((2, 3, 8, 8), name="x"), (2, 3, 8, 4), max_token_value=5, **band
    ).set_output(name="y")
    with pytest.raises(Refused, match="contract_band_matrix: a largest token is not carried out"):
        evaluate(g, {})


# --- moving elements, random numbers, signals ----------------------------------------------------


def test_views_transposes_slices_concatenation() -> None:
    x, z = random(2, 3, 4), random(2, 5, 4, seed=4)
    g = graph()
    inputs = g.tensor(x.shape, name="x")
    g.reshape(inputs, (6, 4)).set_output(name="rows")
    g.reshape(inputs, (2, 4, 3), (12, 1, 4)).set_output(name="exchanged")
    found = evaluate(g, {"x": x})
    close(found["rows"], x.reshape(6, 4))
    close(found["exchanged"], x.swapaxes(1, 2))
    g = graph()
    inputs = g.tensor(x.shape, name="x")
    g.transpose(inputs, (2, 0, 1)).set_output(name="turned")
    g.slice(inputs, [slice(None), slice(1, 3), slice(0, 4, 2)]).set_output(name="part")
    g.concatenate([inputs, g.tensor(z.shape, name="z")], 1).set_output(name="both")
    found = evaluate(g, {"x": x, "z": z})
    close(found["turned"], x.transpose(2, 0, 1))
    close(found["part"], x[:, 1:3, ::2])
    close(found["both"], np.concatenate([x, z], 1))


@pytest.mark.parametrize(
    ("distribution", "options", "mean", "spread"),
    [
        ("bernoulli", {"probability": 0.3}, 0.3, math.sqrt(0.21)),
        ("uniform", {"minimum": 2.0, "maximum": 6.0}, 4.0, 4 / math.sqrt(12)),
        ("normal", {"mean": 1.0, "standard_deviation": 2.0}, 1.0, 2.0),
    ],
)
def test_random_numbers(distribution: str, options: Any, mean: float, spread: float) -> None:
    def draw(seed: int, offset: int) -> Any:
        g = graph()
        scalars = [g.tensor((1, 1, 1), data_type="int64", name=name) for name in ("seed", "offset")]
        g.rng(
            (4, 100, 100), distribution, seed=scalars[0], offset=scalars[1], **options
        ).set_output(name="y")
        return evaluate(g, {"seed": seed, "offset": offset})["y"]

    found = draw(3, 0)
    # 40,000 numbers: five standard errors of the mean; the spread is nearer still.
    assert abs(found.mean() - mean) < 5 * spread / 200
    assert abs(found.std() - spread) < 0.05 * spread
    np.testing.assert_array_equal(found, draw(3, 0))
    assert not np.array_equal(found, draw(4, 0))
    assert not np.array_equal(found, draw(3, 1))
    if distribution == "uniform":
        assert 2 <= found.min() < 2.01 < 5.99 < found.max() <= 6


def test_signals() -> None:
    x = random(2, 3, 4)

    def signalled(mode: str, before: int) -> dict[str, Any]:
        g = graph()
        flag = g.tensor((1, 1, 1), data_type="int32", name="flag")
        inner = g.relu(g.tensor(x.shape, name="x"))
        g.signal(inner, flag, mode, 4).set_output(name="y")
        memory = {"x": x, "flag": before}
        return evaluate(g, memory)

    close(signalled("set", 0)["y"], np.maximum(x, 0))
    close(signalled("wait", 4)["y"], np.maximum(x, 0))
    with pytest.raises(Refused, match="it would wait for ever: the flag has not reached 4"):
        signalled("wait", 3)


# --- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("io", "scales", "size", "largest"),
    [("fp8_e4m3", "fp8_e8m0", 32, 448.0), ("fp8_e5m2", "fp8_e4m3", 16, 57344.0)],
)
def test_blocks_and_back(io: str, scales: str, size: int, largest: float) -> None:
    x = random(1, 2, 6, 64) * np.exp(random(1, 2, 6, 1, seed=4))
    if scales == "fp8_e4m3":
        if raw.load().version < 91900:
            pytest.skip("cuDNN 9.14 wants powers of two")
        x *= 1e5  # else the scales are 0
    g = graph()
    y, scale = g.block_scale_quantize(g.tensor(x.shape, name="x"), size)
    y.set_output(name="y", data_type=io)
    scale.set_output(name="scale", data_type=scales)
    found = evaluate(g, {"x": x})
    wanted = np.abs(x.reshape(1, 2, 6, -1, size)).max(-1) / largest
    given = found["scale"].astype(np.float64)
    if scales == "fp8_e8m0":
        np.testing.assert_array_equal(given, 2.0 ** np.ceil(np.log2(wanted)))
    else:
        np.testing.assert_allclose(given, wanted, rtol=1 / 16)
    back = found["y"].astype(np.float64) * np.repeat(given, size, -1)
    # Half a unit of 3 or 2 bits of mantissa, down to the subnormal numbers of the block; rounding
    # the scale down lets the largest number saturate.
    relative = 1 / 16 if io == "fp8_e4m3" else 1 / 8
    least = np.repeat(given, size, -1) * (2.0**-10 if io == "fp8_e4m3" else 2.0**-17)
    saturated = 1.0 if scales == "fp8_e8m0" else 1 + 1 / 16
    bound = np.maximum(np.abs(x) * relative * saturated, least) * (1 + 1e-5)
    assert np.all(np.abs(back - x) <= bound)


@pytest.mark.parametrize("rows", [256, 200])
@pytest.mark.parametrize("columns", [256, 224])
def test_scales_for_each_block_in_the_layout_of_tiles(rows: int, columns: int) -> None:
    """They fill whole tiles, also where the numbers do not."""
    x = random(1, rows, columns) * np.exp(2 * random(1, rows, 1, seed=4))
    g = graph()
    y, scale = g.block_scale_quantize(g.tensor(x.shape, name="x"), 32)
    y.set_output(name="y", data_type="fp8_e4m3")
    scale.set_output(name="scale", data_type="fp8_e8m0")
    scale.reordering = raw.CUDNN_TENSOR_REORDERING_F8_128x4
    found = evaluate(g, {"x": x})
    wanted = 2.0 ** np.ceil(np.log2(np.abs(x.reshape(rows, columns // 32, 32)).max(-1) / 448))
    assert scale.dims == (1, 256, 8)
    memory = found["scale"].astype(np.float64).ravel()
    assert np.isfinite(memory).all()
    for row, column in np.ndindex(wanted.shape):
        tile = (row // 128) * 2 + column // 4
        place = tile * 512 + (row % 32) * 16 + (row % 128 // 32) * 4 + column % 4
        assert memory[place] == wanted[row, column]


def test_an_int8_filter_in_the_order_of_its_kernels() -> None:
    """What `cudnnReorderFilterAndBias` has written is read as the filter that it was."""
    w = np.random.default_rng(0).integers(-128, 128, (32, 64, 3, 2), np.int8)
    vectors = w.reshape(32, 2, 32, 3, 2).transpose(0, 1, 3, 4, 2)
    order, dims = raw.CUDNN_TENSOR_REORDERING_INT8x32, (32, 2, 3, 2)
    strides = (12, 6, 2, 1)
    with use_reference_device():
        memory = DeviceTensor.from_numpy(np.ascontiguousarray(reorder_filter(vectors)))
        numbers = (raw.CUDNN_DATA_INT8, dims, strides, False, False, 32, 1, order, None, None, 1)
        info = TensorInfo(7, *numbers)
        found = GraphMemory({7: memory.ptr}).load(info)
        np.testing.assert_array_equal(found, w)
        with pytest.raises(Refused, match="K a multiple of 32"):
            GraphMemory({7: memory.ptr}).load(replace(info, dims=(16, 2, 3, 2)))


def described(
    data_type: str, dims: tuple[int, ...], strides: tuple[int, ...], vectors: int = 1
) -> TensorInfo:
    order = raw.CUDNN_TENSOR_REORDERING_NONE
    numbers = (False, False, vectors, 1, order, None, None, 1)
    return TensorInfo(7, as_data_type(data_type), dims, strides, *numbers)


# A tensor, its numbers, and the bytes of memory that was full of ones.
STORED = [
    (("fp4_e2m1", (2, 3), (4, 1)), [0.5, 6, -1, 1.5, -0.5, 3], "71 fa 93 f5"),
    (("int4", (5,), (1,)), [1, -1, 7, -8, -3], "f1 87 fd"),
    (("uint4", (2, 2), (1, 2)), [1, 15, 7, 8], "71 8f"),
    (("boolean", (3, 3), (3, 1)), [1, 0, 1, 0, 0, 1, 1, 1, 0], "e5 fe"),
    (("boolean", (2, 2), (8, 2)), [0, 1, 1, 0], "fe fb"),
    (("int8", (2, 2), (3, 1)), [1, 2, -3, 4], "01 02 ff fd 04"),
    (("int8", (1, 2, 2), (4, 2, 1), 4), range(16), "0002040601030507080a0c0e090b0d0f"),
]


@pytest.mark.parametrize(("tensor", "numbers", "stored"), STORED)
def test_where_the_bits_of_numbers_lie(tensor, numbers, stored) -> None:
    info, expected = described(*tensor), bytes.fromhex(stored)
    values = np.array(numbers).astype(info.dtype).reshape(info.shape)
    with DeviceTensor.from_numpy(np.full(len(expected), 0xFF, np.uint8)) as tensor_memory:
        memory = GraphMemory({7: tensor_memory.ptr})
        view = memory.place(info)
        memory.store(info, values)
        assert tensor_memory.numpy().tobytes() == expected
        np.testing.assert_array_equal(memory.load(info), values)
        assert (view is None) == (len(tensor) == 4 or tensor[0] != "int8")
        assert view is None or (view == values).all()


@pytest.mark.parametrize("data_type", ["int4", "int8"])
def test_what_was_not_written_between_lines_is_told_where_it_is_read(data_type: str) -> None:
    row = 64 // element_bits(as_data_type(data_type))  # of 8 bytes
    lines = described(data_type, (2, row // 2), (row, 1))
    with DeviceBuffer(16) as buffer:
        memory = GraphMemory({7: buffer.ptr})
        memory.store(lines, np.ones(lines.dims, lines.dtype))
        assert (memory.load(lines) == 1).all()  # without a warning
        with pytest.raises(Refused, match=r"8 of 16 .* never written, .* at byte 4 of"):
            memory.load(replace(lines, dims=(2, row)))


def test_where_tokens_of_ragged_batches_lie() -> None:
    """Of 3 rows the first batch has 1, the second 2; what is not there reads as 0."""
    begins = replace(described("int32", (3, 1, 1), (1, 1, 1)), uid=8)
    info = replace(described("int8", (2, 3, 2), (6, 2, 1)), ragged=begins, ragged_multiplier=2)
    values = np.arange(1, 13, dtype=np.int8).reshape(info.dims)
    whole = DeviceTensor.from_numpy(np.full(8, 0xFF, np.uint8))
    starts = DeviceTensor.from_numpy(np.array([0, 1, 3], np.int32).reshape(begins.dims))
    memory = GraphMemory({7: whole.ptr, 8: starts.ptr})
    memory.store(info, values)
    assert whole.numpy().tobytes() == bytes([1, 2, 7, 8, 9, 10, 0xFF, 0xFF])
    values[0, 1:] = values[1, 2:] = 0
    np.testing.assert_array_equal(memory.load(info), values)
    with pytest.raises(Refused, match="its ragged offset needs 4 elements"):
        memory.load(replace(info, dims=(3, 3, 2)))


@pytest.mark.parametrize("transposed", [False, True])
def test_scales_of_a_tile(transposed: bool) -> None:
    """Tiles of 128 rows and 4 columns: rows 0 to 3, then 32 further down, then the next.

    Of a right-hand matrix (K, N) the scales lie along K; so do the columns of the tiles.
    """
    x = np.ones((2, 640, 256) if transposed else (2, 256, 640))
    scale = np.zeros((2, 256, 20))
    memory = np.zeros((2, 5120))
    for batch, row, column in np.ndindex(2, 256, 20):
        tile = (row // 128) * 5 + column // 4
        place = tile * 512 + (row % 32) * 16 + (row % 128 // 32) * 4 + column % 4
        scale[batch, row, column] = 2.0 ** ((row * 7 + column * 3 + batch) % 13 - 6)
        memory[batch, place] = scale[batch, row, column]
    g = graph()
    dims, strides = ((2, 20, 256), (5120, 1, 20)) if transposed else (scale.shape, (5120, 20, 1))
    g.block_scale_dequantize(
        g.tensor(x.shape, data_type="fp8_e4m3", name="x"),
        g.tensor(dims, strides=strides, data_type="fp8_e8m0", reordering="f8_128x4", name="scale"),
        (32, 1) if transposed else 32,
    ).set_output(name="y")
    as_laid_out = memory.reshape(scale.shape)
    given = as_laid_out.swapaxes(1, 2) if transposed else as_laid_out
    found = evaluate(g, {"x": x, "scale": given})["y"]
    wanted = np.repeat(scale, 32, -1)
    np.testing.assert_array_equal(found, wanted.swapaxes(1, 2) if transposed else wanted)


# --- data types and layouts ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("float16", np.float16),
        ("bfloat16", ml_dtypes.bfloat16),
        ("float64", np.float64),
        ("fp8_e4m3", ml_dtypes.float8_e4m3fn),
        ("fp8_e5m2", ml_dtypes.float8_e5m2),
    ],
)
def test_results_are_rounded_once(name: str, dtype: Any) -> None:
    a, b = random(3, 4, 5).astype(dtype), random(3, 4, 5, seed=4).astype(dtype)
    g = graph(name)
    g.mul(g.tensor(a.shape, name="a"), g.tensor(b.shape, name="b")).set_output(name="y")
    exact = (a.astype(np.float64) * b.astype(np.float64)).astype(dtype)
    np.testing.assert_array_equal(evaluate(g, {"a": a, "b": b})["y"], exact)


def test_refusals_name_the_operation() -> None:
    g = graph()
    offset = g.tensor((4, 1, 1), data_type="int32", name="offset")
    g.reduction(g.tensor((4, 5, 6), name="x"), "add", group_offset=offset).set_output(
        name="y", dims=(4, 1, 1)
    )
    with pytest.raises(Refused, match="reduction with GROUP_OFFSET_DESC is not carried out"):
        evaluate(g, {})
