"""Addresses and descriptors to arrays: layouts, data types, and memory that is not there."""

from __future__ import annotations

import bisect
import ctypes
import mmap
import warnings
from ctypes import addressof, byref, c_float
from types import SimpleNamespace

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.raw import host_blocks, mode
from cudnn_ctypes.raw.descriptors import Tensor
from cudnn_ctypes.raw.host_blocks import Block
from cudnn_ctypes.reference.device import lent, memory
from cudnn_ctypes.reference.device.memory import Operand, accessible
from cudnn_ctypes.reference.device.registry import Refused

FLOAT = raw.CUDNN_DATA_FLOAT


def address(array: np.ndarray) -> int:
    return array.ctypes.data


def test_vectors_that_channels_do_not_fill():
    described = Tensor(raw.CUDNN_DATA_INT8x4, (1, 6, 1, 1), (2, 1, 1, 1))
    with pytest.raises(Refused, match="6 channels do not fill vectors of 4") as refused:
        Operand("x", described, address(np.zeros(8, np.int8))).load()
    assert refused.value.status == raw.CUDNN_STATUS_NOT_SUPPORTED


def test_types_smaller_than_a_byte_have_no_descriptors():
    with pytest.raises(Refused, match="CUDNN_DATA_INT4") as refused:
        memory.at(address(np.zeros(8)), raw.CUDNN_DATA_INT4, (2,), (1,), "x")
    assert refused.value.status == raw.CUDNN_STATUS_NOT_SUPPORTED


@pytest.mark.parametrize("where", [1, 4095, 1 << 62, (1 << 63) + 8, (1 << 64) - 4])
def test_addresses_that_are_not_mapped(where: int):
    with pytest.raises(Refused, match="not memory of this process") as refused:
        memory.at(where, FLOAT, (2, 2), (2, 1), "dy")
    assert refused.value.status == raw.CUDNN_STATUS_EXECUTION_FAILED


@pytest.mark.parametrize("madvise_touches", [True, False])
def test_pages_are_accessible_as_they_are_protected(monkeypatch, madvise_touches):
    """Also where `madvise` succeeds without touching, as it does in QEMU's emulation."""
    c_library, page = ctypes.CDLL(None), mmap.PAGESIZE
    if not madvise_touches:
        emulated = SimpleNamespace(madvise=lambda *_: 0)
        monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: emulated)
        advise = memory._advise.__wrapped__()
        monkeypatch.setattr(memory, "_advise", lambda: advise)
    with mmap.mmap(-1, 4 * page) as pages:
        view = (ctypes.c_char * len(pages)).from_buffer(pages)
        start = addressof(view)
        del view
        c_library.mprotect(ctypes.c_void_p(start + 2 * page), page, mmap.PROT_READ)
        c_library.mprotect(ctypes.c_void_p(start + 3 * page), page, 0)
        reads = [accessible(start, count * page) for count in (1, 2, 3, 4)]
        writes = [accessible(start, count * page, writes=True) for count in (1, 2, 3, 4)]
        assert (reads, writes) == ([True] * 3 + [False], [True] * 2 + [False] * 2)
        assert not accessible(start + 3 * page - 1, 2)
        c_library.mprotect(ctypes.c_void_p(start), 4 * page, mmap.PROT_READ | mmap.PROT_WRITE)


@pytest.mark.usefixtures("reference_device")
class TestBlocks:
    """The bounds and the life of memory that this package allocated."""

    @pytest.mark.parametrize("change", ["insert", "remove"])
    def test_blocks_of_other_threads_hide_none(self, monkeypatch: pytest.MonkeyPatch, change: str):
        """A block comes or goes just after the position of another one was looked up."""
        blocks = sorted((Block(64) for _ in range(3)), key=lambda block: block.lower)
        starts = [1, *(block.lower for block in blocks)]
        changes = {"insert": lambda: starts.insert(0, 0), "remove": lambda: starts.remove(1)}

        def bisect_left(starts: list[int], stop: int) -> int:
            position = bisect.bisect_left(starts, stop)
            changes.pop(change, lambda: None)()
            return position

        with monkeypatch.context() as patch:
            patch.setattr(host_blocks, "_starts", starts)
            patch.setattr(host_blocks, "bisect", SimpleNamespace(bisect_left=bisect_left))
            assert host_blocks.find(blocks[1].address) is blocks[1]
        assert change not in changes
        for block in blocks:
            block.free()

    @pytest.fixture(params=["guard pages", "patterns"], autouse=True)
    def kind(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
        monkeypatch.setattr(mode, "guard_pages", request.param == "guard pages")
        return str(request.param)

    def test_negative_strides_reach_before_the_start(self):
        with cudnn.DeviceBuffer(100) as buffer:
            buffer.fill(1)
            assert memory.at(buffer.ptr + 96, FLOAT, (25,), (-1,), "x").shape == (25,)
            with pytest.raises(Refused, match="x begins 4 bytes before the start"):
                memory.at(buffer.ptr + 92, FLOAT, (25,), (-1,), "x")

    def test_memory_that_another_library_holds_lives(self):
        buffer = cudnn.DeviceTensor.full((25,), 3, "float32")
        exported, where = np.from_dlpack(buffer), buffer.ptr
        buffer.close()
        assert memory.at(where, FLOAT, (25,), (1,), "x").sum() == exported.sum() == 75
        del exported
        with pytest.raises(Refused, match="x was freed"):
            memory.at(where, FLOAT, (25,), (1,), "x")

    def test_freeing_twice_is_reported(self):
        block = Block(64)
        block.free()
        with pytest.raises(RuntimeError, match=f"freed twice, now at {__file__}.*freed at"):
            block.free()

    @pytest.mark.parametrize(
        ("offset", "where"), [(-2, "2 bytes before the start"), (101, "1 bytes beyond the end")]
    )
    def test_writing_beside_a_buffer_is_found(self, offset: int, where: str):
        buffer = cudnn.DeviceBuffer(100)
        ctypes.memset(buffer.ptr + offset, 0, 1)
        with pytest.warns(
            cudnn.DeviceMemoryWarning, match=f"written {where} of the 100 bytes.*freed at"
        ):
            buffer.close()

    def test_forgotten_blocks_give_their_memory_back(self, kind: str):
        blocks = [Block(1 << 20) for _ in range(64)]
        for block in blocks:
            block.free()
        kept = [block for block in blocks if block.memory is not None]
        assert len(kept) == 64 if kind == "guard pages" else 0 < len(kept) <= 32
        forgotten = [block for block in blocks if block.memory is None]
        assert [block for block in host_blocks.forgotten if block in blocks] == forgotten
        assert all(host_blocks.find(block.address) is not block for block in forgotten)
        assert all(host_blocks.find(block.address) is block for block in kept)


@pytest.mark.usefixtures("reference_device")
class TestWritten:
    """Which elements were written is known to the byte."""

    def test_a_part_that_is_missing(self):
        with cudnn.DeviceBuffer(40) as buffer:
            buffer.view(0, 16).fill(1)
            buffer.view(24).fill(1)
            assert memory.at(buffer.ptr, FLOAT, (4,), (1,), "x").shape == (4,)
            assert memory.at(buffer.ptr + 24, FLOAT, (4,), (1,), "x").shape == (4,)
            with pytest.raises(
                Refused,
                match="x: 2 of 10 elements were never written, the first of them at byte 16",
            ):
                memory.at(buffer.ptr, FLOAT, (10,), (1,), "x")
            buffer.view(16, 8).fill(1)
            assert memory.at(buffer.ptr, FLOAT, (10,), (1,), "x").shape == (10,)

    def test_elements_that_are_not_read(self):
        with cudnn.DeviceBuffer(16) as buffer:
            buffer.view(0, 8).fill(1)
            where = np.array([True, True, False, False])
            assert memory.at(buffer.ptr, FLOAT, (4,), (1,), "x", where=where).shape == (4,)
            with pytest.raises(Refused, match="1 of 4"):
                memory.at(buffer.ptr, FLOAT, (4,), (1,), "x", where=np.arange(4) < 3)

    def test_copies_carry_what_is_known(self):
        with cudnn.DeviceBuffer(16) as source, cudnn.DeviceBuffer(16) as target:
            source.view(0, 8).fill(1)
            target.copy_from(source)
            with pytest.raises(Refused, match=r"2 of 4 elements .* at byte 8"):
                memory.at(target.ptr, FLOAT, (4,), (1,), "x")


class Exporter:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, array: np.ndarray) -> None:
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


class TestMemoryOfOthers:
    """Tensors of other libraries, given as such or by address."""

    @pytest.fixture
    def handle(self):
        with cudnn.use_reference_device(), cudnn.Handle() as made:
            yield made

    @staticmethod
    def scale(handle: cudnn.Handle, shape: tuple[int, ...], y: object) -> None:
        descriptor = raw.cudnnTensorDescriptor_t()
        raw.cudnnCreateTensorDescriptor(descriptor)
        raw.cudnnSetTensor4dDescriptor(descriptor, raw.CUDNN_TENSOR_NCHW, FLOAT, *shape)
        raw.cudnnScaleTensor(handle, descriptor, y, byref(c_float(2)))
        raw.cudnnDestroyTensorDescriptor(descriptor)

    def test_a_torch_tensor_ends_with_its_storage(self):
        torch = pytest.importorskip("torch")
        tensor = torch.arange(24.0)[2:3]
        before = lent.begin([("y", tensor, tensor.data_ptr())])
        try:
            assert memory.at(tensor.data_ptr(), FLOAT, (22,), (1,), "y").sum() == 275
            with pytest.raises(Refused, match=r"y is too small: 4 bytes .* storage of a torch"):
                memory.at(tensor.data_ptr(), FLOAT, (23,), (1,), "y")
        finally:
            lent.end(before)

    @pytest.mark.parametrize("step", [1, 3])
    def test_an_exported_array_ends_with_its_last_element(self, step: int):
        array = np.arange(24, dtype=np.float32)[::step]
        reach = 25 - step
        before = lent.begin([("y", Exporter(array), address(array))])
        try:
            assert memory.at(address(array), FLOAT, (reach,), (1,), "y").shape == (reach,)
            told = rf"y is too small: 4 bytes .* the {4 * reach} bytes of the Exporter at 0x"
            with pytest.raises(Refused, match=told):
                memory.at(address(array), FLOAT, (reach + 1,), (1,), "y")
            memory.at(address(array), FLOAT, (reach,), (1,), "y", "write")[...] = 7
        finally:
            lent.end(before)
        assert (array == 7).all()

    def test_read_only_arrays_are_not_written(self, handle: cudnn.Handle):
        array = np.ones(24, np.float32)
        array.flags.writeable = False
        try:
            tensor = cudnn.DeviceTensor.from_dlpack(array)
        except BufferError:
            pytest.skip("this NumPy exports no read-only arrays")
        with pytest.raises(cudnn.ExecutionFailedError, match=r"y is written, but .* is read-only"):
            self.scale(handle, (1, 2, 3, 4), tensor)
        assert (array == 1).all()


# --- memory that arguments share ------------------------------------------------------------------

IN_PLACE = "is in the place of x: on a GPU threads read parts of x that others have written over"
OTHERWISE = "share memory otherwise than element by element"


def _graph(*nodes: str) -> cudnn.Graph:
    """A product or convolution of x or none, and ReLU."""
    graph = cudnn.Graph(io_data_type="float32")
    x = graph.tensor((1, 8, 8), name="x")
    if "matmul" in nodes:
        y = graph.matmul(x, graph.tensor((1, 8, 8), name="w"))
        y = graph.relu(y) + graph.tensor((1, 8, 8), name="z")
    else:
        y = graph.relu(x)
    y.set_output(name="y")
    return graph


@pytest.mark.parametrize(
    ("nodes", "places", "says"),
    [
        ("relu", {"x": 0, "y": 256}, ""),
        ("relu", {"x": 0, "y": 0}, ""),
        ("relu", {"x": 0, "y": 4}, OTHERWISE),
        ("relu", {"x": 252, "y": 0}, OTHERWISE),
        ("matmul", {"x": 0, "w": 256, "z": 512, "y": 768}, ""),
        ("matmul", {"x": 0, "w": 0, "z": 0, "y": 768}, ""),  # operands may be the same
        ("matmul", {"x": 0, "w": 256, "z": 512, "y": 512}, ""),  # ReLU's other operand
        ("matmul", {"x": 0, "w": 256, "z": 512, "y": 0}, "others have written over"),
        ("matmul", {"x": 0, "w": 256, "z": 512, "y": 256}, "others have written over"),
        ("matmul", {"x": 0, "w": 256, "z": 512, "y": 640}, OTHERWISE),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_tensors_of_a_graph_that_share_memory(nodes, places, says, strict):
    rng = np.random.default_rng(5)
    with (
        cudnn.use_reference_device(strict=strict),
        cudnn.Handle() as handle,
        _graph(nodes) as graph,
    ):
        memory = cudnn.DeviceTensor.from_numpy(rng.standard_normal(256).astype(np.float32))
        graph.build(handle, without_engine=True)
        given = {name: memory.ptr + offset for name, offset in places.items()}
        expected = memory.numpy().tobytes() if says and strict else None
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            if says and strict:
                with pytest.raises(cudnn.ExecutionFailedError, match=says):
                    graph.execute(given, handle=handle)
            else:
                graph.execute(given, handle=handle)
        assert expected in (None, memory.numpy().tobytes())
        # What earlier tests left open is told when it is collected, now and then here.
        told = [str(w.message) for w in found if not issubclass(w.category, ResourceWarning)]
        assert any(says in each for each in told) if says and not strict else not told


def _in_place(function: str, handle: cudnn.Handle) -> None:
    rng = np.random.default_rng(6)
    x = cudnn.DeviceTensor.from_numpy(rng.standard_normal((2, 4, 6, 6)).astype(np.float32))
    w = cudnn.DeviceTensor.from_numpy(rng.standard_normal((4, 4, 3, 3)).astype(np.float32))
    conv = cudnn.ConvolutionDescriptor(padding=1)
    if function == "convolution_forward":
        cudnn.convolution_forward(handle, x, w, conv, y=x)
    elif function == "convolution_backward_data":
        cudnn.convolution_backward_data(handle, conv, w=w, dy=x, dx=x)
    elif function == "pooling_forward":
        cudnn.pooling_forward(handle, x, cudnn.PoolingDescriptor(3, padding=1, stride=1), y=x)
    else:
        cudnn.activation_forward(handle, x, "relu", y=x)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("convolution_forward", f"y {IN_PLACE}"),
        ("convolution_backward_data", "dx is in the place of dy"),
        ("pooling_forward", f"y {IN_PLACE}"),
        ("activation_forward", ""),
    ],
)
def test_results_in_the_place_of_operands(function: str, says: str) -> None:
    with cudnn.use_reference_device(), cudnn.Handle() as handle:
        if says:
            with pytest.raises(cudnn.ExecutionFailedError, match=says):
                _in_place(function, handle)
        else:
            _in_place(function, handle)
    with cudnn.use_reference_device(strict=False), cudnn.Handle() as handle:
        if says:
            with pytest.warns(cudnn.DeviceMemoryWarning, match=says):
                _in_place(function, handle)
