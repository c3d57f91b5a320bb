"""Typed memory beside a descriptor: refused where the two contradict each other."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    DeviceBuffer,
    DeviceTensor,
    FilterDescriptor,
    RNNDataDescriptor,
    TensorDescriptor,
    errors,
    raw,
    use_reference_device,
)
from cudnn_ctypes.raw import function, typed_memory

HANDLE = raw.cudnnHandle_t()
HANDLE.value = 4096


@pytest.fixture(autouse=True)
def _on_the_reference_device():
    with use_reference_device():
        yield


@pytest.fixture
def reached():
    """Stand-ins for C functions: the names of those that were reached."""
    names: list[str] = []
    before = []

    def stand_in(name: str) -> raw.Function:
        bound = function.binding(name)
        before.append((bound, bound._interceptor))
        bound.intercept(lambda *arguments: names.append(name) or 0)
        return raw.FUNCTIONS[name]

    stand_in.names = names
    yield stand_in
    for bound, interceptor in reversed(before):
        bound.intercept(interceptor)


def set_tensor(reached: Any, desc: Any, memory: Any) -> None:
    reached("cudnnSetTensor")(HANDLE, desc, memory, 1.0)


def torch_tensor(shape: tuple[int, ...], dtype: str = "float32", **options: Any) -> Any:
    torch = pytest.importorskip("torch")
    return torch.ones(shape, dtype=getattr(torch, dtype), **options)


class Exchanged:
    """Memory of another library: nothing but DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class OfCuPy(Exchanged):
    """An array of CuPy, by its attributes, strides in bytes."""

    __module__ = "cupy"

    def __getattr__(self, name: str) -> Any:
        if name not in ("dtype", "shape", "strides", "nbytes"):
            raise AttributeError(name)
        return getattr(self.array, name)


MAKERS = {
    "CuPy": lambda shape, dtype="float32": OfCuPy(np.ones(shape, dtype)),
    "torch": torch_tensor,
    "DeviceTensor": lambda shape, dtype="float32": DeviceTensor.from_numpy(np.ones(shape, dtype)),
    "DLPack": lambda shape, dtype="float32": Exchanged(np.ones(shape, dtype)),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((2, 3, 4, 5), "float32"),
        ((2, 3, 4, 5, 1), "float32"),
        ((1, 2, 3, 4, 5), "float32"),
        ((120,), "float32"),  # flat
        ((200,), "float32"),  # flat, and larger
        ((2, 60), "float32"),  # joined
        ((2, 3, 2, 2, 5), "float32"),  # split
        ((480,), "uint8"),  # bytes
        ((500,), "int8"),
    ],
)
def test_the_same_memory_in_other_words_passes(reached, make: Any, shape: Any, dtype: str):
    with TensorDescriptor((2, 3, 4, 5)) as desc:
        for _ in range(2):  # compared, then known
            set_tensor(reached, desc, make(shape, dtype))
    assert reached.names == ["cudnnSetTensor"] * 2


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    ("shape", "dtype", "says"),
    [
        ((2, 3, 4, 5), "float64", "float64 (2, 3, 4, 5)"),
        ((2, 3, 4, 5), "int32", "int32 (2, 3, 4, 5)"),
        ((2, 3, 4, 4), "float32", "384 bytes"),
        ((5, 4, 3, 2), "float32", "float32 (5, 4, 3, 2) with strides (24, 6, 2, 1)"),
        ((2, 4, 5, 3), "float32", "float32 (2, 4, 5, 3)"),
        ((3, 3, 4, 5), "float32", "float32 (3, 3, 4, 5)"),
        ((119,), "float32", "476 bytes"),
        ((479,), "uint8", "479 bytes"),
    ],
)
def test_a_contradiction_is_refused_with_both(reached, make, shape, dtype, says):
    with TensorDescriptor((2, 3, 4, 5)) as desc:
        for _ in range(2):
            with pytest.raises(ValueError, match="contradicts yDesc") as refused:
                set_tensor(reached, desc, make(shape, dtype))
    message = str(refused.value)
    assert message.startswith("cudnnSetTensor() argument 'y': ")
    assert says in message
    assert "CUDNN_DATA_FLOAT (2, 3, 4, 5) with strides (60, 20, 5, 1), 480 bytes" in message
    assert not reached.names


def test_the_layout_counts_and_not_the_order_in_which_dims_are_told(reached):
    torch = pytest.importorskip("torch")
    last = torch_tensor((2, 3, 4, 5)).to(memory_format=torch.channels_last)
    with TensorDescriptor((2, 3, 4, 5), layout="NHWC") as desc:
        set_tensor(reached, desc, last)
        set_tensor(reached, desc, torch_tensor((2, 4, 5, 3)))
        with pytest.raises(ValueError, match="contradicts"):
            set_tensor(reached, desc, torch_tensor((2, 3, 4, 5)))
    with TensorDescriptor((2, 3, 4, 5)) as desc, pytest.raises(ValueError, match="contradicts"):
        set_tensor(reached, desc, last)
    with TensorDescriptor((2, 3, 1, 1), layout="NHWC") as desc:  # one pixel: both are the same
        set_tensor(reached, desc, torch_tensor((2, 3, 1, 1)))
        set_tensor(reached, desc, torch_tensor((2, 3)))


def test_an_address_says_i_know(reached):
    memory = torch_tensor((7,), "float64")
    with TensorDescriptor((2, 3, 4, 5)) as desc:
        for address in (memory.data_ptr(), ctypes.c_void_p(memory.data_ptr()), None):
            set_tensor(reached, desc, address)
        set_tensor(reached, desc, np.uint64(memory.data_ptr()))
    assert len(reached.names) == 4


def test_untyped_buffers_need_only_be_large_enough(reached):
    with TensorDescriptor((2, 3, 4, 5)) as desc, DeviceBuffer(480) as enough:
        set_tensor(reached, desc, enough)
        with DeviceBuffer(479) as small, pytest.raises(ValueError, match="479 bytes"):
            set_tensor(reached, desc, small)


@pytest.mark.parametrize("name", ["x", "weight", "y"])
def test_memory_whose_size_the_numbers_of_a_call_say(reached, name):
    call = reached("cudnnCausalConv1dForward")
    sizes = {"batch": 1, "dim": 2, "seqLen": 16, "kernelSize": 4}
    memory = dict.fromkeys(("x", "weight", "bias", "y"), 4096)
    given = {"stream": None, **sizes, **memory, "dataType": raw.CUDNN_DATA_FLOAT, "activation": 0}
    call(**given)
    small = DeviceTensor.zeros((1, 2, 2), "float32")
    with pytest.raises(ValueError, match=rf"'{name}': 16 bytes, but CUDNN_DATA_FLOAT \(.*\) takes"):
        call(**{**given, name: small})


def test_filters_and_workspaces(new, reached):
    call = reached("cudnnFindConvolutionForwardAlgorithmEx")
    convolution = new(raw.cudnnConvolutionDescriptor_t)
    mode = raw.CUDNN_CROSS_CORRELATION
    raw.cudnnSetConvolution2dDescriptor(convolution, 1, 1, 1, 1, 1, 1, mode, raw.CUDNN_DATA_FLOAT)
    perf = (raw.cudnnConvolutionFwdAlgoPerf_t * 1)()
    count = ctypes.c_int()

    def find(w: Any, workspace: Any, size: int) -> None:
        with TensorDescriptor((2, 3, 4, 5)) as x, FilterDescriptor((6, 3, 3, 3)) as w_desc:
            y = x
            call(HANDLE, x, 4096, w_desc, w, convolution, y, 4096, 1, count, perf, workspace, size)

    find(torch_tensor((6, 3, 3, 3)), torch_tensor((100,)), 400)
    with pytest.raises(ValueError, match=r"argument 'w': .*contradicts wDesc"):
        find(torch_tensor((3, 6, 3, 3)), None, 0)
    with pytest.raises(ValueError, match="argument 'workSpace': 400 bytes, but workSpaceSizeInB"):
        find(4096, torch_tensor((100,)), 401)


def test_sequences_and_lengths(reached):
    call = reached("cudnnRNNForward")

    def forward(**given: Any) -> None:
        fixed = {"fwdMode": 0, "handle": HANDLE, "x": 1 << 20, "y": 1 << 20, **sizes}
        call(**{p.name: None for p in call.parameters} | fixed | given)

    sizes = {"weightSpaceSize": 0, "workSpaceSize": 0, "reserveSpaceSize": 0}
    with RNNDataDescriptor((5, 3), 4, max_length=5) as x_desc:
        forward(xDesc=x_desc, x=torch_tensor((5, 2, 4)))
        forward(devSeqLengths=torch_tensor((2,), "int32"))
        with pytest.raises(ValueError, match=r"argument 'x': .*contradicts xDesc"):
            forward(xDesc=x_desc, x=torch_tensor((5, 2, 4), "float16"))
        with pytest.raises(ValueError, match="144 bytes, contradicts xDesc"):
            forward(xDesc=x_desc, x=torch_tensor((9, 4)))
        with pytest.raises(ValueError, match="argument 'devSeqLengths': expected int32"):
            forward(devSeqLengths=torch_tensor((2,), "int64"))


def test_what_is_no_device_memory_keeps_its_own_message(reached):
    with TensorDescriptor((2, 3, 4, 5)) as desc:
        for wrong in (np.ones((2, 3, 4, 5), "f"), [1.0], desc, "memory", object()):
            names = len(reached.names)
            bound = function.binding("cudnnSetTensor")
            set_tensor(reached, desc, wrong)  # the stand-in is behind the check
            assert len(reached.names) == names + 1
            with pytest.raises(TypeError, match="device memory"):
                bound.argtypes[2].from_param(wrong)


def test_memory_beside_a_null_descriptor_is_left_to_c(reached):
    for desc in (raw.cudnnTensorDescriptor_t(), None):
        set_tensor(reached, desc, torch_tensor((2, 3)))
    assert len(reached.names) == 2


def test_errors_say_what_memory_is_and_not_its_numbers(x):
    with pytest.raises(errors.BadParamError) as refused:
        raw.cudnnSetTensor(HANDLE, x, torch_tensor((2, 3)), 1.0)
    assert "y=<Tensor: float32 (2, 3) with strides (3, 1)>" in str(refused.value)


def test_every_descriptor_of_memory_is_a_parameter():
    without: set[str] = set()
    for f in raw.FUNCTIONS.values():
        names = {p.name for p in f.parameters}
        for p in f.parameters:
            if p.type.kind == "device":
                assert set(p.described_by) <= names, f.prototype
                if not p.described_by and p.type.base is None:
                    without.add(f.__name__)
    families = ("CausalConv1d", "Gnn", "cudnnRNN", "SpatialTf", "CTCLoss", "MultiHead")
    others = {name for name in without if not any(family in name for family in families)}
    assert others == {"cudnnIm2Col", "cudnnReorderFilterAndBias"}


def test_the_tables_are_bounded(reached):
    with TensorDescriptor((2, 3, 4, 5)) as desc:
        for length in range(120, 400):
            set_tensor(reached, desc, torch_tensor((length,)))
        from cudnn_ctypes.raw import records

        assert len(records.place(desc).fitting) <= 66
    for number in range(300):
        cls = type(f"Memory{number}", (DeviceBuffer,), {"__module__": "cudnn_ctypes.x"})
        assert typed_memory.by_class.of(cls.__new__(cls))
    assert len(typed_memory.by_class) <= 256
    typed_memory.by_class.clear()


@pytest.mark.gpu
def test_torch_and_cupy_on_the_gpu(request):
    """Right memory passes and is computed with; wrong memory is refused before C."""
    torch = pytest.importorskip("torch")
    from cudnn_ctypes import Handle

    with use_reference_device(False), Handle() as handle, TensorDescriptor((2, 3, 4, 5)) as desc:
        y = torch.zeros(2, 3, 4, 5, device="cuda")
        torch.cuda.synchronize()
        raw.cudnnSetTensor(handle, desc, y, 7.0)
        torch.cuda.synchronize()
        assert y.unique().tolist() == [7.0]
        for wrong in (y.double(), y.mT.contiguous(), y[:1], y.half()):
            with pytest.raises(ValueError, match="contradicts yDesc"):
                raw.cudnnSetTensor(handle, desc, wrong, 7.0)
