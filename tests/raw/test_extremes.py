"""Counts and sizes at the ends of their ranges: refused where cuDNN writes too much or wraps."""

from __future__ import annotations

import ctypes
import math
from ctypes import byref, c_int, c_size_t
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.raw.function import binding
from cudnn_ctypes.raw.guards import lengths
from tools.fuzz.canaries import Canaries

MOST = (1 << 31) - 1
POINTER = ctypes.POINTER(c_int)


@pytest.fixture
def described(new: Any) -> tuple[Any, Any, Any]:
    x, w = new(raw.cudnnTensorDescriptor_t), new(raw.cudnnFilterDescriptor_t)
    conv = new(raw.cudnnConvolutionDescriptor_t)
    raw.cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, 1, 0)
    raw.cudnnSetTensor4dDescriptor(x, 0, 0, 2, 4, 5, 6)
    raw.cudnnSetFilter4dDescriptor(w, 0, 0, 7, 4, 3, 3)
    return conv, x, w


@pytest.mark.parametrize("count", range(9))
def test_output_dims_are_written_within_the_array(described, count):
    canaries = Canaries()
    dims = canaries.place(c_int * count)  # an element more ends the process
    if count < 2:
        with pytest.raises(ValueError, match=rf"'nbDims': at least 2 expected, got {count}"):
            raw.cudnnGetConvolutionNdForwardOutputDim(*described, count, dims)
    elif count > 4:
        with pytest.raises(cudnn.BadParamError):
            raw.cudnnGetConvolutionNdForwardOutputDim(*described, count, dims)
    else:
        raw.cudnnGetConvolutionNdForwardOutputDim(*described, count, dims)
        assert list(dims) == [2, 7, 5, 6][:count]
    assert canaries.overruns() == []


def test_a_canary_sees_an_overrun() -> None:
    canaries = Canaries()
    array = canaries.place(c_int * 4, used=8)
    array[0] = array[1] = 5
    assert canaries.overruns() == []
    array = canaries.place(c_int * 4, used=8)
    array[2] = 5
    assert canaries.overruns() == ["behind 8 bytes"]
    number = canaries.place(c_int)
    ctypes.memset(ctypes.addressof(number) - 1, 0, 1)
    assert canaries.overruns() == ["before 4 bytes"]


def test_a_spatial_transformer_of_no_dimensions(new: Any) -> None:
    transformer = new(raw.cudnnSpatialTransformerDescriptor_t)
    with pytest.raises(ValueError, match="'nbDims': at least 1 expected, got 0"):
        raw.cudnnSetSpatialTransformerNdDescriptor(transformer, 0, 0, 0, [])


@pytest.mark.parametrize("count", [9, c_int(9), np.int64(16), 200, 100_000])
def test_more_dimensions_than_cudnn_has_room_for(new: Any, x: Any, count: Any) -> None:
    """In cuDNN they overwrite its stack or its heap, which may end the process."""
    sizes = (c_int * 100_000)(*[1] * 100_000)
    transformer = new(raw.cudnnSpatialTransformerDescriptor_t)
    for dims in (sizes, ctypes.cast(sizes, POINTER)):
        with pytest.raises(cudnn.NotSupportedError, match=r"nbDims = .* is more than 8"):
            raw.cudnnSetTensorNdDescriptorEx(x, 0, 0, count, dims)
        with pytest.raises(cudnn.BadParamError, match=r"nbDims = .* is more than 8"):
            raw.cudnnSetSpatialTransformerNdDescriptor(transformer, 0, 0, count, dims)
    raw.cudnnSetTensorNdDescriptorEx(x, 0, 0, 8, sizes)
    raw.cudnnSetSpatialTransformerNdDescriptor(transformer, 0, 0, 8, sizes)


@pytest.mark.parametrize("dims", [[1 << 16] * 4, [MOST] * 4, [1 << 30] * 8, [1 << 20] * 3 + [16]])
def test_filters_whose_size_does_not_fit_are_refused(new: Any, dims: list[int]) -> None:
    w, size = new(raw.cudnnFilterDescriptor_t), c_size_t(1)
    with pytest.raises(cudnn.BadParamError, match=f"{math.prod(dims)} elements, more than"):
        raw.cudnnSetFilterNdDescriptor(w, 0, 0, len(dims), dims)
    if len(dims) == 4:
        with pytest.raises(cudnn.BadParamError, match=r"k \* c \* h \* w = "):
            raw.cudnnSetFilter4dDescriptor(w, 0, 0, *dims)
    raw.cudnnGetFilterSizeInBytes(w, size)
    assert size.value == 0  # never set


@pytest.mark.parametrize("dims", [[1 << 15] * 4, [65536, 65536, 3, 3], [MOST, MOST, 1, 1]])
def test_filters_whose_size_fits_are_taken(new: Any, dims: list[int]) -> None:
    w, size = new(raw.cudnnFilterDescriptor_t), c_size_t()
    for given in (dims, np.array(dims, np.int32), (c_int * 4)(*dims), [*dims, MOST, MOST]):
        if math.prod(dims) > lengths._MOST:
            with pytest.raises(cudnn.BadParamError):
                raw.cudnnSetFilterNdDescriptor(w, 0, 0, 4, given)
            continue
        raw.cudnnSetFilterNdDescriptor(w, 0, 0, 4, given)
        raw.cudnnGetFilterSizeInBytes(w, size)
        assert size.value == 4 * math.prod(dims)


@pytest.mark.parametrize(
    "name", [name for name, f in raw.FUNCTIONS.items() if any(p.type.size for p in f.parameters)]
)
def test_too_large_sizes_are_refused_by_name(new: Any, name: str) -> None:
    function = raw.FUNCTIONS[name]
    descriptor = new(function.parameters[0].type.base)
    names = [p.name for p in function.parameters if p.type.size]

    def argument(p: Any) -> Any:
        base, kind = p.type.base, p.type.kind
        if kind == "array":
            return [MOST if p.name in names else 1] * 4
        if kind == "scalar" or base is ctypes.c_double:
            return ctypes.c_double(1)
        if p.name in names and p.name != "batchSize":
            return MOST
        if base in (c_int, ctypes.c_uint):
            return 4
        return 0 if issubclass(base, int) else None

    arguments = [argument(p) for p in function.parameters[1:]]
    with pytest.raises(cudnn.BadParamError) as caught:
        function(descriptor, *arguments)
    assert caught.value.source == "cudnn_ctypes"
    assert names[0] in caught.value.messages[0]
    assert binding(name).checked is function


@pytest.mark.parametrize("count", [0, 1, 5, 9, MOST, -MOST])
def test_a_null_pointer_is_not_read_for_its_sizes(new: Any, count: int) -> None:
    transformer = new(raw.cudnnSpatialTransformerDescriptor_t)
    with pytest.raises((ValueError, cudnn.BadParamError)):
        raw.cudnnSetSpatialTransformerNdDescriptor(transformer, 0, 0, count, POINTER())
    dims = ctypes.cast((c_int * 4)(1, 1, 4, 4), POINTER)
    raw.cudnnSetSpatialTransformerNdDescriptor(transformer, 0, 0, 4, dims)


@pytest.mark.parametrize("dims", [[32768, 32768, 4, 1], [65536, 46341, 4, 2]])
def test_more_elements_than_the_host_has_memory_for(x: Any, dims: list[int]) -> None:
    """A few bytes described as very many elements: NumPy would be killed on the way."""
    raw.cudnnSetTensorNdDescriptor(x, raw.CUDNN_DATA_DOUBLE, 4, dims, [1, 1, 1, 1])
    with (
        cudnn.use_reference_device(),
        cudnn.Handle() as handle,
        cudnn.DeviceBuffer(1 << 20) as memory,
    ):
        for call, number in ((raw.cudnnScaleTensor, 2.0), (raw.cudnnSetTensor, 1.0)):
            arguments = (handle, x, memory, ctypes.c_double(number))
            with pytest.raises(cudnn.InternalError, match=f"{math.prod(dims)} elements") as caught:
                call(*arguments)
            assert caught.value.source == "reference device"


def test_typed_memory_beside_a_descriptor_of_another_kind_is_a_type_error(new: Any) -> None:
    """Descriptors that say no data type, or none that memory could have."""
    with cudnn.use_reference_device(), cudnn.Handle() as handle, cudnn.DeviceBuffer(64) as memory:
        y, one = cudnn.DeviceTensor.from_numpy(np.ones((1, 1, 2, 2), np.float32)), ctypes.c_float(1)
        for kind in ("Convolution", "LRN", "CTCLoss", "Filter", "Activation"):
            other = new(vars(raw)[f"cudnn{kind}Descriptor_t"])
            for given in (y, memory):
                with pytest.raises(TypeError, match="'yDesc'"):
                    raw.cudnnScaleTensor(handle, other, given, one)


@pytest.mark.parametrize("make", [lambda: (c_int * 1)(), lambda: c_int(), lambda: byref(c_int())])
@pytest.mark.parametrize("asked", [0, 1])
def test_few_dims_of_a_tensor_of_vectors(x: Any, asked: int, make: Any) -> None:
    """cuDNN scales the second dim even where it was not asked for."""
    count, data_type = c_int(), raw.cudnnDataType_t()
    raw.cudnnSetTensorNdDescriptorEx(
        x, raw.CUDNN_TENSOR_NCHW_VECT_C, raw.CUDNN_DATA_INT8x4, 4, [6, 8, 2, 1]
    )
    dims, strides = make(), make()
    raw.cudnnGetTensorNdDescriptor(x, asked, data_type, count, dims, strides)
    assert count.value == 4
    held = getattr(dims, "_obj", dims)
    assert (held.value if isinstance(held, c_int) else held[0]) == (6 if asked else 0)
