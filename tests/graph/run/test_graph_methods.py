"""``Graph.run``: builds on first use, allocates what is missing, and returns outputs by name."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Graph, Handle
from cudnn_ctypes.graph.run import given_memory

from ..conftest import on_each_device

pytestmark = pytest.mark.usefixtures("without_engines")
reference = pytest.mark.usefixtures("reference_device")
SHAPES = {"a": (2, 8, 16), "b": (2, 16, 4)}


def product(data_type: str = "float32") -> Graph:
    """Two outputs: the product, and its ReLU."""
    graph = Graph("product", io_data_type=data_type)
    a, b = (graph.tensor(SHAPES[name], name=name) for name in "ab")
    y = (a @ b).set_output(name="y")
    graph.relu(y).set_output(name="z")
    return graph


def numbers(seed: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape, np.float32) for name, shape in SHAPES.items()}


def check(results: dict[str, Any], given: dict[str, Any]) -> None:
    expected = given["a"].astype(np.float64) @ given["b"].astype(np.float64)
    y, z = (each.numpy() if hasattr(each, "numpy") else each for each in results.values())
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(z, np.maximum(expected, 0), rtol=1e-5, atol=1e-5)


def on_device(given: dict[str, Any]) -> dict[str, DeviceTensor]:
    return {name: DeviceTensor.from_numpy(value) for name, value in given.items()}


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def graph():
    with product() as made:
        yield made


@reference
def test_torch_tensors_give_torch_tensors(graph, torch):
    given = numbers()
    results = graph.run({name: torch.from_numpy(value) for name, value in given.items()})
    assert all(type(each) is torch.Tensor for each in results.values())
    assert results["y"].dtype == torch.float32
    check(results, given)


@reference
def test_a_default_handle_is_not_the_graph_s(graph):
    graph.run(on_device(numbers()))
    with pytest.raises(ValueError, match="without a handle"):
        graph.execute(on_device(numbers()))


@reference
def test_operations_added_after_the_build_are_in_the_next_run():
    graph, given = product(), numbers()
    memory = on_device(given)
    with Handle() as handle:
        check(graph.run(memory, handle=handle), given)
        results = {name: DeviceTensor.empty((2, 8, 4), "float32") for name in "yz"}
        graph.neg(graph.outputs[1]).set_output(name="n")
        for use in (graph.execute, graph.bind):
            with pytest.raises(ValueError, match="'product': operations were added after it was"):
                use({**memory, **results}, handle=handle)
        made = graph.run(memory, handle=handle)
        np.testing.assert_array_equal(made["n"].numpy(), -made.pop("z").numpy())
        assert [*made] == ["y", "n"]
        assert np.abs(made["n"].numpy()).max() > 1


@reference
def test_memory_of_another_library_gives_device_tensors(graph, torch):
    """Of a class that only speaks DLPack."""

    class Foreign:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **options):
            return self.tensor.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    given = numbers()
    memory = {name: Foreign(torch.from_numpy(value)) for name, value in given.items()}
    y = Foreign(torch.full((2, 8, 4), torch.nan))
    results = graph.run({**memory, "y": y})
    assert results["y"] is y
    assert type(results["z"]) is DeviceTensor
    check({"y": y.tensor, "z": results["z"]}, given)


# --- what is refused -----------------------------------------------------------------------------


@reference
def test_what_is_missing_or_unknown_is_named(graph):
    memory = on_device(numbers())
    with pytest.raises(ValueError, match="no memory was given for 'b'"):
        graph.run({"a": memory["a"]})
    with pytest.raises(KeyError, match="called 'c'"):
        graph.run({**memory, "c": memory["a"]})
    with pytest.raises(TypeError, match="expected a mapping, got a list"):
        graph.run([memory["a"]])
    with pytest.raises(TypeError, match=r"a: host memory \(numpy.ndarray\)"):
        graph.run({**memory, "a": numbers()["a"]})
    with pytest.raises(ValueError, match=r"tensor 'a' \(2, 8, 16\)"):
        graph.run({**memory, "a": DeviceTensor.empty((2, 8, 16), "float16")})
    for address in (-1, 1 << 64):
        with pytest.raises(ValueError, match=f"^a: {address} is no 64-bit address"):
            graph.run({**memory, "a": address})


@reference
@pytest.mark.parametrize("wrong", [0, "", "H200", [], np.zeros(2)], ids=repr)
def test_what_is_no_handle_is_refused(graph, wrong):
    """Also before the build, and what is false."""
    memory = on_device(numbers())
    with pytest.raises(TypeError, match=r"^handle: expected a Handle, got"):
        graph.run(memory, handle=wrong)
    memory |= graph.run(memory)
    with Handle() as handle:
        graph.build(handle)
        for method in (graph.run, graph.execute, graph.bind):
            with pytest.raises(TypeError, match=r"handle.*expected a .*andle.*, got"):
                method(memory, handle=wrong)


@reference
def test_outputs_of_one_name_are_refused():
    with Graph(io_data_type="float32") as graph:
        x = graph.tensor((1, 2, 8), name="x")
        graph.relu(x).set_output(name="y")
        graph.neg(x).set_output(name="y")
        with pytest.raises(ValueError, match="several outputs are called 'y'"):
            graph.run({x: DeviceTensor.zeros((1, 2, 8), "float32")})


@reference
def test_a_tensor_that_requires_gradients_is_refused_while_some_are_computed(graph, torch):
    given = numbers()
    memory = {name: torch.from_numpy(value) for name, value in given.items()}
    memory["b"].requires_grad_()
    with pytest.raises(ValueError, match=r"b: .* requires gradients.*no_grad"):
        graph.run(memory)
    with torch.no_grad():
        check(graph.run(memory), given)
    check(graph.run(memory, check=False), given)


# --- on a GPU ------------------------------------------------------------------------------------


def image_graph() -> Graph:
    """A convolution with bias and ReLU, which needs no workspace or some."""
    graph = Graph("block", io_data_type="float16")
    x = graph.tensor((8, 64, 28, 28), layout="nhwc", name="x")
    w = graph.tensor((64, 64, 3, 3), layout="krsc", name="w")
    b = graph.tensor((1, 64, 1, 1), layout="nhwc", name="b")
    graph.relu(graph.conv_fprop(x, w, padding=1) + b).set_output(name="y")
    return graph


def images(torch: Any, device: str = "cuda") -> dict[str, Any]:
    torch.manual_seed(1)
    last = {"dtype": torch.float16, "device": device}
    made = {
        "x": torch.randn(8, 64, 28, 28, **last),
        "w": torch.randn(64, 64, 3, 3, **last) / 24,
        "b": torch.randn(1, 64, 1, 1, **last),
    }
    return {k: v.contiguous(memory_format=torch.channels_last) for k, v in made.items()}


def check_images(torch: Any, y: Any, memory: dict[str, Any]) -> None:
    x, w, b = (each.double() for each in memory.values())
    expected = torch.relu(torch.conv2d(x, w, padding=1) + b)
    torch.testing.assert_close(y.double(), expected, rtol=4e-3, atol=4e-3)


@pytest.mark.gpu
@pytest.mark.parametrize("given", ["default", "handle", "handle on a stream"])
def test_torch_on_a_stream_of_its_own(given, torch):
    """Inputs are written just before on PyTorch's stream, results read right after on it."""
    memory = images(torch)
    stream = torch.cuda.Stream()
    with image_graph() as graph, Handle() as handle:
        other = torch.cuda.Stream()
        if given == "handle on a stream":
            handle.stream = other
        options = {} if given == "default" else {"handle": handle}
        graph.run(memory, **options)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)  # the inputs come late
            late = {name: torch.zeros_like(value).copy_(value) for name, value in memory.items()}
            y = graph.run(late, **options)["y"]
            copy = y.clone()
            y.fill_(float("nan"))
        stream.synchronize()
        assert y.device == memory["x"].device
        check_images(torch, copy, memory)
        torch.cuda.synchronize()


@pytest.mark.gpu
def test_device_tensors_on_a_gpu():
    given = numbers()
    with product() as graph:
        results = graph.run(on_device(given))
        assert all(type(each) is DeviceTensor for each in results.values())
        expected = given["a"].astype(np.float64) @ given["b"].astype(np.float64)
        np.testing.assert_allclose(results["y"].numpy(), expected, rtol=3e-3, atol=3e-3)  # TF32


@pytest.mark.gpu
def test_runs_are_captured_by_torch_s_cuda_graphs(torch):
    memory = images(torch)
    with image_graph() as graph:
        graph.run(memory)
        torch.cuda.synchronize()
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            y = graph.run(memory)["y"]
        memory["x"].copy_(memory["x"].flip(0))
        y.fill_(float("nan"))
        captured.replay()
        torch.cuda.synchronize()
        check_images(torch, y, memory)


@pytest.mark.gpu
def test_the_current_device_stays_and_the_memory_s_gpu_is_used(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    memory = images(torch, "cuda:1")
    with torch.cuda.device(0), image_graph() as graph:
        y = graph.run(memory)["y"]
        assert torch.cuda.current_device() == 0
        assert y.device.index == 1
        torch.cuda.synchronize(1)
        check_images(torch, y, memory)
        with pytest.raises(Exception, match="GPU"):
            graph.run(images(torch, "cuda:0"))


@pytest.mark.gpu
def test_host_memory_of_torch_is_refused_on_a_gpu(torch):
    with image_graph() as graph, pytest.raises(TypeError, match="host memory"):
        graph.run(images(torch, "cpu"))


@pytest.mark.gpu
def test_a_default_handle_is_used_again():
    with given_memory.default_handle(0) as handle:
        first = handle
        with given_memory.default_handle(0) as handle:
            second = handle
    assert first is not second
    with given_memory.default_handle(0, 2) as handle:  # the per-thread default stream
        assert handle in (first, second)
        assert handle.stream_pointer == 2
    with given_memory.default_handle(0) as handle:
        assert handle.stream_pointer in (0, 1)


# --- tensors of another graph ---------------------------------------------------------------------


@on_each_device
def test_a_graph_takes_tensors_of_another_one(handle):
    """What one graph writes, another one reads under the same key; both have an input "x"."""
    first, second = Graph(io_data_type="float32"), Graph(io_data_type="float32")
    x = first.tensor((2, 4, 8), name="x")
    y = first.relu(x).set_output(name="y")
    other = second.tensor((2, 4, 8), name="x")
    z = second.add(second.mul(other, y), x).set_output(name="z")
    rng = np.random.default_rng(5)
    given = {each: rng.standard_normal((2, 4, 8), np.float32) for each in (x, other)}
    memory = {each: DeviceTensor.from_numpy(array) for each, array in given.items()}
    for each in (y, z):
        memory[each] = DeviceTensor.from_numpy(np.full((2, 4, 8), np.nan, np.float32))
    with first, second:
        for each, tensors in ((first, (x, y)), (second, (other, y, x, z))):
            each.build(handle)
            with DeviceBuffer(max(each.workspace_size, 1)) as workspace:
                each.execute({tensor: memory[tensor] for tensor in tensors}, workspace)
                handle.synchronize()
        with pytest.raises(KeyError, match="several tensors are called 'x'"):
            second.execute({"x": memory[x], y: memory[y], z: memory[z]})
    expected = given[other] * np.maximum(given[x], 0) + given[x]
    np.testing.assert_allclose(memory[z].numpy(), expected, rtol=1e-6, atol=1e-6)


@reference
def test_a_tensor_that_lost_its_strides_after_the_build():
    with Handle() as handle, product() as graph:
        graph.build(handle)
        graph.find_tensor("a").strides = None
        memory = {name: DeviceTensor.from_numpy(array) for name, array in numbers().items()}
        with pytest.raises(ValueError, match="'a' was changed after the graph was built"):
            graph.run(memory, handle=handle)


@reference
@pytest.mark.parametrize("wrong", [np.zeros(8, np.uint8), [1], "w", Handle, True, -1], ids=repr)
def test_a_workspace_that_is_no_device_memory_is_named(graph, wrong):
    given = on_device(numbers())
    results = graph.run(given)
    with Handle() as handle:
        for call in (graph.execute, graph.bind, graph.run):
            with pytest.raises((TypeError, ValueError), match=r"^workspace: "):
                call({**given, **results}, wrong, handle=handle)


@reference
@pytest.mark.parametrize("nothing", [None, 0, ctypes.c_void_p()])
def test_a_plan_takes_no_null(graph, nothing):
    results = graph.run(on_device(numbers()))
    with Handle() as handle:
        pointers = dict.fromkeys(graph.plan.uids, results["y"]) | {min(graph.plan.uids): nothing}
        for call in (graph.plan.execute, graph.plan.bind):
            with pytest.raises(ValueError, match=r"^pointers\[\d+\]: expected device memory, got"):
                call(handle, pointers)


@reference
@pytest.mark.parametrize("wrong", [["x"], {"a": 5}, {"a": None}, {"a": (1.5, 4, 8)}, {"a": "148"}])
def test_dims_that_are_none(graph, wrong):
    given = on_device(numbers())
    results = graph.run(given)
    with Handle() as handle, pytest.raises(TypeError, match=r"^dims: .*expected"):
        graph.execute({**given, **results}, dims=wrong, handle=handle)


@reference
@pytest.mark.parametrize("wrong", [Graph, [1], 5, "ab"])
def test_pointers_that_are_no_mapping(graph, wrong):
    graph.run(on_device(numbers()))
    with Handle() as handle:
        for call in (graph.plan.execute, graph.plan.bind):
            with pytest.raises(TypeError, match=r"^pointers: expected a mapping, got"):
                call(handle, wrong)
