"""Two GPUs in one process: calls run on their handle's, what lies on the other is refused."""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import printed

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle, raw
from cudnn_ctypes.runtime import cuda, device_count

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu_device")]

VALUES = np.linspace(-3, 3, 24, dtype=np.float32).reshape(1, 2, 3, 4)
RELU = np.maximum(VALUES, 0)


def current() -> int:
    return int(cuda.call("cuCtxGetDevice"))


@pytest.fixture
def handles() -> Iterator[list[Handle]]:
    """A handle on each of two GPUs; the first GPU is current."""
    count = device_count()
    if count < 2:
        pytest.skip(f"needs two GPUs, found {count}")
    with Handle(device=0) as first, Handle(device=1) as second:
        cuda.core().Device(0).set_current()
        yield [first, second]
        assert current() == 0


def on(ordinal: int, values: Any = VALUES) -> DeviceTensor:
    return DeviceTensor.from_numpy(values, device=ordinal)


def poisoned(ordinal: int) -> DeviceTensor:
    return on(ordinal, np.full_like(VALUES, 77))


def relu(handle: Any, x: Any, y: Any) -> None:
    """A raw call with pointers of its own."""
    activation, tensor = raw.cudnnActivationDescriptor_t(), raw.cudnnTensorDescriptor_t()
    raw.cudnnCreateActivationDescriptor(activation)
    raw.cudnnCreateTensorDescriptor(tensor)
    try:
        raw.cudnnSetActivationDescriptor(activation, raw.CUDNN_ACTIVATION_RELU, 0, 0.0)
        raw.cudnnSetTensor4dDescriptor(tensor, 0, 0, *VALUES.shape)
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        raw.cudnnActivationForward(handle, activation, one, tensor, x, zero, tensor, y)
    finally:
        raw.cudnnDestroyTensorDescriptor(tensor)
        raw.cudnnDestroyActivationDescriptor(activation)


@pytest.mark.parametrize("ordinal", [0, 1])
@pytest.mark.parametrize("now", [0, 1])
def test_a_raw_call_runs_on_its_handle_s_gpu(handles: list[Handle], ordinal: int, now: int) -> None:
    x, y = on(ordinal), poisoned(ordinal)
    cuda.core().Device(now).set_current()
    relu(handles[ordinal], x, y)
    assert current() == now
    handles[ordinal].synchronize()
    np.testing.assert_array_equal(y.numpy(), RELU)
    cuda.core().Device(0).set_current()


def test_addresses_are_taken_as_they_are(handles: list[Handle]) -> None:
    x, y = on(1), poisoned(1)
    relu(handles[1], x.ptr, y.ptr)
    handles[1].synchronize()
    np.testing.assert_array_equal(y.numpy(), RELU)


def test_a_thread_without_a_context(handles: list[Handle]) -> None:
    x, y = on(1), poisoned(1)
    thread = threading.Thread(target=relu, args=(handles[1], x, y))
    thread.start()
    thread.join()
    handles[1].synchronize()
    np.testing.assert_array_equal(y.numpy(), RELU)


@pytest.mark.parametrize("ordinal", [0, 1])
def test_memory_of_the_other_gpu_is_refused_by_name(handles: list[Handle], ordinal: int) -> None:
    x, y = on(ordinal), poisoned(1 - ordinal)
    with pytest.raises(cudnn.BadParamError, match=f"y is memory of GPU {1 - ordinal}"):
        relu(handles[ordinal], x, y)
    with pytest.raises(cudnn.BadParamError, match=f"x is memory of GPU {1 - ordinal}"):
        relu(handles[ordinal], on(1 - ordinal), poisoned(ordinal))
    np.testing.assert_array_equal(y.numpy(), 77)
    relu(handles[ordinal], x, mine := poisoned(ordinal))  # the context lives
    np.testing.assert_array_equal(mine.numpy(), RELU)


def test_torch_tensors_of_the_other_gpu(handles: list[Handle]) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch cannot use the GPU")
    x = torch.tensor(VALUES, device="cuda:1")
    y = torch.full_like(x, 77)
    relu(handles[1], x, y)
    handles[1].synchronize()
    np.testing.assert_array_equal(y.cpu().numpy(), RELU)
    with pytest.raises(cudnn.BadParamError, match="x is memory of GPU 1"):
        relu(handles[0], x, y)


def test_layer_2_allocates_beside_the_handle(handles: list[Handle]) -> None:
    y = cudnn.activation_forward(handles[1], on(1), "relu")
    assert y.device_id == 1
    np.testing.assert_array_equal(y.numpy(), RELU)


def test_memory_of_the_other_gpu_for_a_function_that_takes_a_stream(handles: list[Handle]) -> None:
    """It runs on the current GPU."""
    rng = np.random.default_rng(3)
    x, w = (rng.standard_normal(shape).astype(np.float32) for shape in ((1, 4, 16), (4, 4)))
    cuda.core().Device(0).set_current()
    try:
        expected = cudnn.causal_convolution_forward(on(0, x), on(0, w)).numpy()
    except (cudnn.SymbolNotFoundError, cudnn.NotSupportedError) as error:
        pytest.skip(str(error))
    for _ in range(2):
        with pytest.raises(ValueError, match="x is memory of GPU 1, to which GPU 0"):
            cudnn.causal_convolution_forward(on(1, x), on(0, w))
        again = cudnn.causal_convolution_forward(on(0, x), on(0, w))  # the context lives
        np.testing.assert_array_equal(again.numpy(), expected)


def test_a_stream_of_the_other_gpu(handles: list[Handle]) -> None:
    stream = cuda.core().Device(0).create_stream()
    with pytest.raises(cudnn.BadParamError):
        handles[1].stream = stream
    handles[0].stream = stream
    x, y = on(0), poisoned(0)
    relu(handles[0], x, y)
    handles[0].synchronize()
    np.testing.assert_array_equal(y.numpy(), RELU)
    handles[0].stream = 0
    stream.close()


def product() -> tuple[cudnn.Graph, np.ndarray[Any, Any]]:
    graph = cudnn.Graph(io_data_type="float16", compute_data_type="float32")
    a, b = (graph.tensor((1, 64, 64), name=name) for name in "ab")
    graph.matmul(a, b).set_output(name="c")
    return graph, np.linspace(-1, 1, 4096, dtype=np.float16).reshape(1, 64, 64)


@pytest.mark.parametrize("ordinal", [0, 1])
@pytest.mark.parametrize("now", [0, 1])
def test_a_graph_runs_on_its_handle_s_gpu(handles: list[Handle], ordinal: int, now: int) -> None:
    graph, values = product()
    cuda.core().Device(now).set_current()
    with graph:
        graph.build(handles[ordinal])
        memory = {name: on(ordinal, values) for name in "abc"}
        size = max(graph.workspace_size, 1)
        with cudnn.DeviceBuffer(size, device=ordinal) as workspace:
            expected = values[0].astype(np.float32) @ values[0].astype(np.float32)
            for execute in (
                lambda: graph.execute(memory, workspace),
                graph.bind(memory, workspace),
            ):
                memory["c"].copy_from(np.full_like(values, 77))
                execute()
                assert current() == now
                handles[ordinal].synchronize()
                found = memory["c"].numpy()[0].astype(np.float32)
                np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-2)
            other = {**memory, "b": on(1 - ordinal, values)}
            with pytest.raises(ValueError, match=f"^b is memory of GPU {1 - ordinal}"):
                graph.execute(other, workspace)
            with pytest.raises(ValueError, match=f"is memory of GPU {1 - ordinal}"):
                graph.bind(other, workspace)
    cuda.core().Device(0).set_current()


def test_a_plan_of_the_other_gpu_is_refused(handles: list[Handle]) -> None:
    graph, values = product()
    with graph:
        graph.build(handles[1])
        pointers = {uid: on(0, values) for uid in graph.plan.uids}
        workspace = cudnn.DeviceBuffer(max(graph.plan.workspace_size, 1), device=0)
        with (
            workspace,
            pytest.raises(cudnn.BadParamError, match="executionPlan was made for GPU 1"),
        ):
            graph.plan.execute(handles[0], pointers, workspace)
    relu(handles[0], on(0), y := poisoned(0))  # the context lives
    np.testing.assert_array_equal(y.numpy(), RELU)


def test_synchronized_batch_norm(handles: list[Handle]) -> None:
    """Forward and backward on halves of a batch against float64 on all of it.

    In a process of its own: kernels that wait for each other for ever end with it.
    """
    program = """
        import importlib, json
        from cudnn_ctypes import Handle
        example = importlib.import_module("28_synchronized_batch_norm")
        with Handle(device=0) as first, Handle(device=1) as second:
            found, wanted = example.train([first, second]), example.exact()
        print(json.dumps({name: example.largest(found[name] - wanted[name]) for name in wanted}))
    """
    (line,) = printed(program, folder=Path(__file__).parents[1] / "examples", timeout=60)
    errors = json.loads(line)
    for name in ("y", "dx"):
        assert errors[name] < 5e-3  # float16, of numbers up to 8
    for name in ("mean", "inv_variance"):
        assert errors[name] < 1e-6
    for name in ("dscale", "dbias"):
        assert errors[name] < 1e-3  # sums of 1024 products
