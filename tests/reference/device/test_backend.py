"""Programs in raw backend calls, as they are written in C, on the reference device."""

from __future__ import annotations

import ctypes
import json
import struct
from collections.abc import Iterator
from ctypes import byref, c_int64, c_void_p
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.run.plan import ExecutionPlan
from cudnn_ctypes.reference import convolution_forward
from cudnn_ctypes.reference.device import backend_records
from cudnn_ctypes.reference.device.backend_execution import execute
from cudnn_ctypes.reference.device.backend_steps import operation_of
from cudnn_ctypes.reference.device.backend_stored import operation_graph
from cudnn_ctypes.reference.device.registry import Refused
from tests.programs import printed
from tests.reference.backend_program import BackendProgram

X, W, B, Y, CONV, BIASED = 1, 2, 3, 4, 5, 6
IMAGE, FILTER, RESULT = (2, 8, 6, 5), (4, 8, 3, 3), (2, 4, 6, 5)


def nhwc(dims: tuple[int, ...]) -> tuple[int, ...]:
    _, c, h, w = dims
    return (c * h * w, 1, w * c, c)


@pytest.fixture
def program() -> Iterator[BackendProgram]:
    with cudnn.use_reference_device():
        made = BackendProgram()
        yield made
        made.close()


class Arrays:
    """The memory of a convolution, with its channels last, and what it gives."""

    def __init__(self) -> None:
        rng = np.random.default_rng(5)
        self.x, self.w, self.b = (
            np.ascontiguousarray(rng.standard_normal((n, h, w, c)), np.float32)
            for n, c, h, w in (IMAGE, FILTER, (1, 4, 1, 1))
        )
        n, c, h, w = RESULT
        self.y = np.full((n, h, w, c), 77, np.float32)

    @property
    def pointers(self) -> dict[int, int | None]:
        arrays = {X: self.x, W: self.w, B: self.b, Y: self.y}
        return {uid: array.ctypes.data for uid, array in arrays.items()}

    @property
    def exact(self) -> Any:
        x, w, b = (np.moveaxis(each, -1, 1).astype(np.float64) for each in (self.x, self.w, self.b))
        y = convolution_forward(x, w, padding=(1, 1))
        return np.moveaxis(np.maximum(y + b, 0), 1, -1)


def fused(program: BackendProgram) -> Any:
    """The operation graph of relu(conv(x, w) + b); the operations in a strange order."""
    tensor = program.tensor
    x, w = tensor(X, IMAGE, nhwc(IMAGE)), tensor(W, FILTER, nhwc(FILTER))
    b, y = tensor(B, (1, 4, 1, 1), (4, 1, 4, 4)), tensor(Y, RESULT, nhwc(RESULT))
    conv = tensor(CONV, RESULT, nhwc(RESULT), virtual=True)
    biased = tensor(BIASED, RESULT, nhwc(RESULT), virtual=True)
    convolution = program.convolution(x, w, conv)
    bias = program.pointwise(raw.CUDNN_POINTWISE_ADD, x=conv, b=b, y=biased)
    relu = program.pointwise(raw.CUDNN_POINTWISE_RELU_FWD, x=biased, y=y)
    return program.graph(convolution, bias, relu)


def doubled(program: BackendProgram, dims: tuple[int, ...] = (2, 4, 8, 8)) -> Any:
    """A plan for y = x + x."""
    x = program.tensor(X, dims, nhwc(dims))
    y = program.tensor(Y, dims, nhwc(dims))
    return program.plan(program.graph(program.pointwise(raw.CUDNN_POINTWISE_ADD, x=x, b=x, y=y)))


# --- programs ------------------------------------------------------------------------------------


def test_descriptors_may_be_destroyed_early(program: BackendProgram) -> None:
    """As in cuDNN, a finalized plan needs nothing of what it was made of."""
    arrays = Arrays()
    plan = program.plan(fused(program))
    size = program.workspace_size(plan)
    for each in program.made:
        if each != plan:
            raw.cudnnBackendDestroyDescriptor(each)
    program.made[:] = [plan]
    workspace = np.zeros(max(size, 1), np.uint8)
    program.execute(plan, arrays.pointers, workspace.ctypes.data)
    np.testing.assert_allclose(arrays.y, arrays.exact, rtol=0, atol=1e-5)


def test_the_handle_is_read_back(program: BackendProgram) -> None:
    graph, count, handle = fused(program), c_int64(), raw.cudnnHandle_t()

    def ask(asked: int, count: Any, type_: Any = raw.CUDNN_TYPE_HANDLE) -> raw.cudnnStatus_t:
        name = raw.CUDNN_ATTR_OPERATIONGRAPH_HANDLE
        return raw.cudnnBackendGetAttribute.unchecked(graph, name, type_, asked, count, handle)

    assert ask(0, count) == raw.CUDNN_STATUS_SUCCESS
    assert (count.value, handle.value) == (1, None)
    assert ask(1, None) == raw.CUDNN_STATUS_SUCCESS
    assert handle.value == program.handle.value
    assert ask(1, count, raw.CUDNN_TYPE_INT64) == raw.CUDNN_STATUS_BAD_PARAM


def test_properties_of_the_reference_device(program: BackendProgram) -> None:
    with (
        DeviceProperties.preset("H200") as preset,
        cudnn.Handle() as handle,
        DeviceProperties.from_device(handle=handle) as by_handle,
        DeviceProperties.from_device(0) as by_number,
    ):
        assert preset == by_handle == by_number
        with pytest.raises(cudnn.BadParamError, match="the reference device has one GPU, number 0"):
            DeviceProperties.from_device(1)


@pytest.mark.soak
def test_a_program_that_knows_layer_1_only() -> None:
    """The driver's stand-in is there in time, and nothing of the graph API is imported."""
    lines = printed(
        """
        import sys
        import numpy as np
        from cudnn_ctypes import raw
        import cudnn_ctypes
        from tests.reference.backend_program import BackendProgram

        program = BackendProgram()
        dims, strides = (2, 4, 8, 8), (256, 1, 32, 4)
        x, y = (program.tensor(uid, dims, strides) for uid in (1, 2))
        relu = program.pointwise(raw.CUDNN_POINTWISE_RELU_FWD, x=x, y=y)
        plan = program.plan(program.graph(relu))
        source, target = np.linspace(-1, 1, 512, dtype="f4"), np.full(512, 7, "f4")
        program.execute(plan, {1: source.ctypes.data, 2: target.ctypes.data})
        print(np.array_equal(target, np.maximum(source, 0)))
        print([name for name in sys.modules if name.startswith("cudnn_ctypes.graph")])
        program.close()
        """,
        environment={"CUDNN_CTYPES_DEVICE": "reference"},
    )
    assert lines == ["True", "[]"]


# --- plans as text -------------------------------------------------------------------------------


def test_a_plan_of_another_process(program, monkeypatch):
    graph = Graph(io_data_type="float32")
    graph.relu(graph.tensor((2, 16, 32), name="x")).set_output(name="y")
    with cudnn.Handle() as handle, graph:
        text = graph.build(handle).to_json()
        monkeypatch.setattr(backend_records._notes, "_by_json", {})
        source, target = np.linspace(-1, 1, 1024, dtype="f4"), np.full(1024, 7, "f4")
        with ExecutionPlan.from_json(text, device=handle) as plan:
            plan.execute(handle, {1: source.ctypes.data, 2: target.ctypes.data})
    np.testing.assert_array_equal(target, np.maximum(source, 0))


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"operation": "CUDNN_BACKEND_OPERATION_NEW_DESCRIPTOR"}, "it holds no '.*_NEW"),
        ({"novelty": 3}, "of POINTWISE the word novelty is not known"),
        ({"X": "17"}, "it holds no '17'"),
    ],
)
def test_a_stored_graph_that_cannot_be_read(program, changes, message):
    graph = Graph(io_data_type="float32")
    graph.relu(graph.tensor((2, 16, 32), name="x")).set_output(name="y")
    with cudnn.Handle() as handle, graph:
        stored = json.loads(graph.build(handle).to_json())
        stored["operationGraph"]["nodes"][0].update(changes)
        with pytest.raises(ValueError, match=message):
            operation_graph(json.dumps(stored).encode())
        record = backend_records.Record(text=json.dumps(stored).encode())
        with pytest.raises(Refused, match=f"another process serialized, cannot be read: {message}"):
            execute(record, backend_records.Record(), 0)


# --- what is refused -----------------------------------------------------------------------------


def test_a_handle_where_none_is_wanted(program: BackendProgram) -> None:
    tensor = program.new(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR)
    with pytest.raises(
        cudnn.BadParamError, match="CUDNN_ATTR_TENSOR_UNIQUE_ID does not take 1 elements"
    ):
        raw.cudnnBackendSetAttribute(
            tensor, raw.CUDNN_ATTR_TENSOR_UNIQUE_ID, raw.CUDNN_TYPE_HANDLE, 1, byref(program.handle)
        )


def test_a_destroyed_handle(program: BackendProgram) -> None:
    other = raw.cudnnHandle_t()
    raw.cudnnCreate(other)
    copy = c_void_p(other.value)
    raw.cudnnDestroy(other)
    plan = program.new(raw.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
    with pytest.raises(cudnn.BadParamError, match=r"arrayOfElements\[0\] was destroyed"):
        raw.cudnnBackendSetAttribute(
            plan, raw.CUDNN_ATTR_EXECUTION_PLAN_HANDLE, raw.CUDNN_TYPE_HANDLE, 1, byref(copy)
        )


def test_a_handle_after_the_graph_was_finalized(program: BackendProgram) -> None:
    graph, name = fused(program), raw.CUDNN_ATTR_OPERATIONGRAPH_HANDLE
    with pytest.raises(cudnn.BadParamError, match="the operation graph is finalized already"):
        raw.cudnnBackendSetAttribute(graph, name, raw.CUDNN_TYPE_HANDLE, 1, byref(program.handle))


def test_memory_that_is_missing(program: BackendProgram) -> None:
    plan = doubled(program)
    x = np.zeros(512, np.float32).ctypes.data
    with pytest.raises(cudnn.BadParamError, match="the variant pack has no pointer for tensor 4"):
        program.execute(plan, {X: x})
    with pytest.raises(cudnn.BadParamError, match="tensor 1 is NULL"):
        program.execute(plan, {X: None, Y: x})
    with pytest.raises(
        cudnn.ExecutionFailedError, match="tensor 1: the 2048 bytes from 0x10 on are not"
    ):
        program.execute(plan, {X: 16, Y: x})


def test_a_workspace_that_is_missing(program: BackendProgram) -> None:
    graph = Graph(io_data_type="float32")
    x = graph.tensor((4, 32, 14, 14), (6272, 1, 448, 32), name="x")
    scale, bias = (graph.tensor((1, 32, 1, 1), name=name) for name in ("scale", "bias"))
    for tensor in graph.batchnorm(x, scale, bias)[:3]:
        tensor.set_output()
    memory = np.zeros(30000, np.float32).ctypes.data
    with cudnn.Handle() as handle, graph:
        assert graph.build(handle).workspace_size > 0
        pack = program.variant_pack({each.uid or 0: memory for each in graph.tensors})
        with pytest.raises(cudnn.BadParamError, match="the workspace of the variant pack is NULL"):
            raw.cudnnBackendExecute(handle, graph.plan.descriptor, pack)


def test_what_is_not_finalized(program: BackendProgram) -> None:
    x = np.zeros(512, np.float32).ctypes.data
    plan, pack = doubled(program), program.new(raw.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
    with pytest.raises(cudnn.CudnnError, match="NOT_FINALIZED"):
        raw.cudnnBackendExecute(program.handle, plan, pack)
    unfinished = program.new(raw.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
    with pytest.raises(cudnn.CudnnError, match="this is no finalized execution plan"):
        raw.cudnnBackendExecute(program.handle, unfinished, program.variant_pack({X: x, Y: x}))
    with pytest.raises(cudnn.BadParamError):
        raw.cudnnBackendExecute(program.handle, plan, raw.cudnnBackendDescriptor_t())


def test_elements_as_bytes(program: BackendProgram) -> None:
    pack = program.new(raw.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
    name, type_ = raw.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, raw.CUDNN_TYPE_INT64
    raw.cudnnBackendSetAttribute(pack, name, type_, 2, struct.pack("2q", 7, 1 << 40))
    assert backend_records.record(pack).all(name) == (7, 1 << 40)


def test_cuda_graphs(program: BackendProgram) -> None:
    plan, pack = doubled(program), program.variant_pack({X: 1 << 20, Y: 1 << 20})
    for function in (raw.cudnnBackendPopulateCudaGraph, raw.cudnnBackendUpdateCudaGraph):
        with pytest.raises(cudnn.NotSupportedError, match="there are no CUDA graphs"):
            function(program.handle, plan, pack, raw.cudaGraph_t())


def test_the_workspace_size_by_its_function(program: BackendProgram) -> None:
    plan, size = doubled(program), ctypes.c_size_t(99)
    pack = program.variant_pack({X: 1 << 20, Y: 1 << 20})
    raw.cudnnGetExecutionPlanWorkspaceSize(program.handle, plan, pack, byref(size))
    assert size.value == program.workspace_size(plan)


@pytest.mark.needs("CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED")
def test_one_plan_for_other_shapes(program: BackendProgram) -> None:
    rng = np.random.default_rng(3)
    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((2, 64, 128), name="a"), graph.tensor((2, 128, 64), name="b")
    c = graph.relu(graph.matmul(a, b)).set_output(name="c", data_type="float32")
    with cudnn.Handle() as handle, graph:
        graph.build(handle, override_shapes=True)
        for m in (64, 16):
            x = rng.standard_normal((2, m, 128)).astype(np.float16)
            y = rng.standard_normal((2, 128, 64)).astype(np.float16)
            found = np.full((2, 64, 64), 77, np.float32)
            memory = {each: array.ctypes.data for each, array in ((a, x), (b, y), (c, found))}
            graph.execute(memory, dims={"a": (2, m, 128), "c": (2, m, 64)})
            exact = np.maximum(x.astype(np.float64) @ y.astype(np.float64), 0)
            written = found.ravel()[: exact.size].reshape(exact.shape)
            np.testing.assert_allclose(written, exact, rtol=1e-5, atol=1e-5)
            assert np.all(found.ravel()[exact.size :] == 77)


def test_an_operation_that_is_not_carried_out() -> None:
    record = backend_records.Record(raw.CUDNN_BACKEND_OPERATION_SIGNAL_DESCRIPTOR)
    record.values[raw.CUDNN_ATTR_TENSOR_DATA_TYPE] = (raw.CUDNN_TYPE_DATA_TYPE, (0,))
    with pytest.raises(Refused, match="CUDNN_BACKEND_OPERATION_SIGNAL_DESCRIPTOR is not carried"):
        operation_of(record)


def test_an_initialized_descriptor_is_empty(program: BackendProgram) -> None:
    tensor = program.new(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR)
    program.integers(tensor, raw.CUDNN_ATTR_TENSOR_UNIQUE_ID, [3])
    assert backend_records.record(tensor).values
    if raw.cudnnBackendInitialize.unchecked(tensor) == raw.CUDNN_STATUS_SUCCESS:
        assert not backend_records.record(tensor).values


def test_an_older_cudnn_has_no_properties(program, monkeypatch):
    from cudnn_ctypes.errors import SymbolNotFoundError
    from cudnn_ctypes.reference.device import backend

    backend._properties.cache_clear()
    monkeypatch.setattr(raw.load(), "version", 90700)
    plan = program.new(raw.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
    name, kind = raw.CUDNN_ATTR_EXECUTION_PLAN_HANDLE, raw.CUDNN_TYPE_HANDLE
    with pytest.raises(SymbolNotFoundError, match=r"need device properties.*cuDNN 9\.8\.0"):
        raw.cudnnBackendSetAttribute(plan, name, kind, 1, byref(program.handle))
