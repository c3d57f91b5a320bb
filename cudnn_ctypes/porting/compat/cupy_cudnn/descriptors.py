"""Arrays of CuPy or their stand-ins, and descriptors of them, as ``cupy.cudnn`` makes them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from ctypes import c_int
from typing import Any

import numpy as np

from .... import raw
from ....process import at_end
from ....raw import mode
from ....runtime import DeviceTensor, current_device
from .low_level import low, use_current_stream

__all__ = [
    "Descriptor",
    "Session",
    "add_tensor",
    "address_of",
    "contiguous",
    "create_activation_descriptor",
    "create_convolution_descriptor",
    "create_dropout_descriptor",
    "create_filter_descriptor",
    "create_op_tensor_descriptor",
    "create_pooling_descriptor",
    "create_reduce_tensor_descriptor",
    "create_spatial_transformer_descriptor",
    "create_tensor_descriptor",
    "create_tensor_nd_descriptor",
    "create_uninitialized_tensor_descriptor",
    "get_data_type",
    "get_handle",
    "is_tensor_core_available",
    "reset_handles",
    "set_dropout_descriptor",
    "size_of",
]


def _is_cupy(array: Any) -> bool:
    return type(array).__module__.partition(".")[0] == "cupy"


def _check(array: Any, name: str) -> None:
    if isinstance(array, DeviceTensor) or _is_cupy(array):
        return
    stand_in = ", a DeviceTensor or a NumPy array" if mode.runtime.on_host else ""
    if isinstance(array, np.ndarray) and stand_in:
        return
    raise TypeError(f"{name}: expected an array of CuPy{stand_in}, got {type(array).__name__}")


def contiguous(array: Any, name: str = "array") -> Any:
    """The array, or a contiguous copy in C order."""
    _check(array, name)
    if isinstance(array, DeviceTensor):
        strides, step = [], 1
        for size in reversed(array.shape):
            strides.append(step)
            step *= size
        if list(array.strides) != strides[::-1]:
            raise ValueError(f"{name}: expected a tensor that is dense in C's order, got {array!r}")
        return array
    if isinstance(array, np.ndarray):
        return np.ascontiguousarray(array)
    return sys.modules["cupy"].ascontiguousarray(array)


class Session(ExitStack):
    """The arrays of one operation: their addresses, and results of the same kind.

    Parameters
    ----------
    like : array
        An array; results and scratch memory are of the same kind.
    """

    def __init__(self, like: Any) -> None:
        super().__init__()
        _check(like, "x")
        self._like = like
        self._staged: dict[int, tuple[Any, DeviceTensor]] = {}
        self._written: list[int] = []
        self._kept: list[Any] = []

    def __exit__(self, *exception: Any) -> Any:
        if exception[0] is None:
            for key in self._written:
                array, tensor = self._staged[key]
                array[...] = tensor.numpy().reshape(array.shape)
        return super().__exit__(*exception)

    # -- addresses -----------------------------------------------------------------------------

    def read(self, array: Any, name: str = "array") -> int:
        """The address of an array that is read; 0 for None."""
        if array is None:
            return 0
        _check(array, name)
        if _is_cupy(array):
            self._kept.append(array)
            return int(array.data.ptr)
        if isinstance(array, np.ndarray):
            return self._stage(array).ptr
        return int(array.ptr)

    def write(self, array: Any, name: str = "array") -> int:
        """The address of an array that is written; 0 for None."""
        address = self.read(array, name)
        if isinstance(array, np.ndarray):
            self._written.append(id(array))
        return address

    def _stage(self, array: Any) -> DeviceTensor:
        """Device memory that replaces a NumPy array."""
        if id(array) not in self._staged:
            flat = np.ascontiguousarray(array)
            if flat.size:
                tensor = DeviceTensor.from_numpy(flat)
            else:
                tensor = DeviceTensor.zeros((1,), "uint8")
            self._staged[id(array)] = array, tensor
        return self._staged[id(array)][1]

    # -- new arrays ----------------------------------------------------------------------------

    def empty(self, shape: Any, dtype: Any) -> Any:
        """A new array."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if isinstance(self._like, np.ndarray):
            return np.empty(shape, dtype)
        if isinstance(self._like, DeviceTensor):
            return DeviceTensor.empty(shape, dtype)
        return sys.modules["cupy"].empty(shape, dtype)

    def zeros(self, shape: Any, dtype: Any) -> Any:
        """A new array of zeros."""
        if isinstance(self._like, np.ndarray):
            return np.zeros(shape, dtype)
        if isinstance(self._like, DeviceTensor):
            return DeviceTensor.zeros(tuple(shape), dtype)
        return sys.modules["cupy"].zeros(shape, dtype)

    def workspace(self, nbytes: int) -> int:
        """The address of scratch memory for the session; 0 for 0 bytes."""
        if not nbytes:
            return 0
        self._kept.append(self.room(nbytes))
        return address_of(self._kept[-1])

    def room(self, nbytes: int) -> Any:
        """Device memory that the caller keeps, for instance a reserve space; None for 0 bytes."""
        if not nbytes:
            return None
        if _is_cupy(self._like):
            return sys.modules["cupy"].cuda.alloc(nbytes)
        return DeviceTensor.empty((nbytes,), "uint8")


def address_of(room: Any) -> int:
    """The address of memory from `Session.room`; 0 for None."""
    return 0 if room is None else int(room.ptr)


def size_of(room: Any) -> int:
    """The size of memory from `Session.room`, in bytes."""
    if room is None:
        return 0
    return int(room.mem.size if hasattr(room, "mem") else room.nbytes)


_NCHW, _NHWC = int(raw.CUDNN_TENSOR_NCHW), int(raw.CUDNN_TENSOR_NHWC)
_NO_NAN = int(raw.CUDNN_NOT_PROPAGATE_NAN)

# -- handles -----------------------------------------------------------------------------------

_handles: dict[Any, int] = {}  # by device


def get_handle() -> int:
    """The handle of the current device, created on first use; on CuPy's stream."""
    device = mode.runtime, current_device().device_id
    if device not in _handles:
        _handles[device] = low.create()
    use_current_stream(_handles[device])
    return _handles[device]


def reset_handles() -> None:
    """Destroy the handles that `get_handle` created."""
    while _handles:
        _, handle = _handles.popitem()
        low.destroy(handle)


at_end(reset_handles)


# -- descriptors -------------------------------------------------------------------------------


class Descriptor:
    """A descriptor that is destroyed with its object.

    Attributes
    ----------
    value : int
        Its address.
    """

    def __init__(self, descriptor: int, destroyer: Callable[[int], Any] | None) -> None:
        self.value: int = descriptor
        self.destroy = destroyer

    def __del__(self) -> None:
        value, self.value = self.value, 0
        if value and self.destroy is not None:
            self.destroy(value)


def _made(name: str) -> Descriptor:
    create, destroy = getattr(low, f"create{name}"), getattr(low, f"destroy{name}")
    return Descriptor(create(), destroy)


_DATA_TYPES = {
    "f": int(raw.CUDNN_DATA_FLOAT),
    "d": int(raw.CUDNN_DATA_DOUBLE),
    "e": int(raw.CUDNN_DATA_HALF),
}


def get_data_type(dtype: Any) -> int:
    """The number of a data type: float16, float32 or float64."""
    dtype = np.dtype(dtype)
    if dtype.char not in _DATA_TYPES:
        raise TypeError(f"Dtype {dtype} is not supported in cuDNN")
    return _DATA_TYPES[dtype.char]


def dense(shape: Sequence[int]) -> list[int]:
    """Strides in C's order."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return strides if shape else []


def tensor(shape: Sequence[int], dtype: Any) -> Descriptor:
    """A tensor descriptor of a dense array."""
    return tensor_with_strides(shape, dense(shape), dtype)


def tensor_with_strides(shape: Sequence[int], strides: Sequence[int], dtype: Any) -> Descriptor:
    """A tensor descriptor; strides in elements."""
    descriptor, ndim = _made("TensorDescriptor"), len(shape)
    arrays = (c_int * ndim)(*shape), (c_int * ndim)(*strides)
    low.setTensorNdDescriptor(descriptor.value, get_data_type(dtype), ndim, *arrays)
    return descriptor


def tensor_4d(shape: Sequence[int], dtype: Any, layout: int = _NCHW) -> Descriptor:
    """A tensor descriptor in a layout; the shape is (n, c, h, w)."""
    descriptor = _made("TensorDescriptor")
    low.setTensor4dDescriptor(descriptor.value, layout, get_data_type(dtype), *shape)
    return descriptor


def _in_c_order(shape: Sequence[int], layout: int) -> Sequence[int]:
    """(n, c, h, w) of the shape of an array in a layout."""
    if layout == _NCHW:
        return shape
    if layout == _NHWC:
        n, h, w, c = shape
        return n, c, h, w
    raise ValueError(f"unknown cudnnTensorFormat: {layout}")


def create_tensor_descriptor(arr: Any, format: int = _NCHW) -> Descriptor:
    """A descriptor of an array in C's order; one of 4 dimensions may be NHWC."""
    arr = contiguous(arr)
    if len(arr.shape) == 4:
        return tensor_4d(_in_c_order(arr.shape, format), arr.dtype, format)
    return tensor(arr.shape, arr.dtype)


def create_uninitialized_tensor_descriptor() -> Descriptor:
    """A tensor descriptor that is not set."""
    return _made("TensorDescriptor")


def create_tensor_nd_descriptor(arr: Any) -> Descriptor:
    """A descriptor of an array in C's order; NULL for an empty one."""
    if not arr.size:
        return Descriptor(0, None)
    return tensor(contiguous(arr).shape, arr.dtype)


def create_filter_descriptor(arr: Any, format: int = _NCHW) -> Descriptor:
    """A filter descriptor of an array in C's order."""
    descriptor, shape, data_type = _made("FilterDescriptor"), arr.shape, get_data_type(arr.dtype)
    if len(shape) == 4:
        sizes = _in_c_order(shape, format)
        low.setFilter4dDescriptor_v4(descriptor.value, data_type, format, *sizes)
    else:
        # cuDNN takes no fewer than 3 dimensions.
        sizes = (*shape, *(1,) * (3 - len(shape)))
        dims = (c_int * len(sizes))(*sizes)
        low.setFilterNdDescriptor_v4(descriptor.value, data_type, format, len(sizes), dims)
    return descriptor


def create_convolution_descriptor(
    pad: Sequence[int],
    stride: Sequence[int],
    dtype: Any,
    mode: int = int(raw.CUDNN_CROSS_CORRELATION),
    dilation: Sequence[int] | None = None,
    use_tensor_core: bool = False,
    groups: int = 1,
) -> Descriptor:
    """A convolution descriptor; halves are summed in float."""
    ndim = len(pad)
    if ndim != len(stride):
        raise ValueError("pad and stride must be of same length")
    descriptor = _made("ConvolutionDescriptor")
    compute = np.dtype(np.float32) if np.dtype(dtype).char == "e" else dtype
    arrays = [(c_int * ndim)(*each) for each in (pad, stride, dilation or (1,) * ndim)]
    data_type = get_data_type(compute)
    low.setConvolutionNdDescriptor_v3(descriptor.value, ndim, *arrays, mode, data_type)
    if use_tensor_core:
        low.setConvolutionMathType(descriptor.value, int(raw.CUDNN_TENSOR_OP_MATH))
    if groups > 1:
        low.setConvolutionGroupCount(descriptor.value, groups)
    return descriptor


def create_pooling_descriptor(
    ksize: Sequence[int], stride: Sequence[int], pad: Sequence[int], mode: int
) -> Descriptor:
    """A pooling descriptor; NaN does not propagate."""
    ndim = len(ksize)
    if ndim != len(stride) or ndim != len(pad):
        raise ValueError("ksize, stride, and pad must be of same length")
    descriptor = _made("PoolingDescriptor")
    arrays = [(c_int * ndim)(*each) for each in (ksize, pad, stride)]
    low.setPoolingNdDescriptor_v4(descriptor.value, mode, _NO_NAN, ndim, *arrays)
    return descriptor


def create_activation_descriptor(
    mode: int, nan_prop_mode: int = int(raw.CUDNN_PROPAGATE_NAN), coef: float = 0.0
) -> Descriptor:
    """An activation descriptor."""
    descriptor = _made("ActivationDescriptor")
    low.setActivationDescriptor(descriptor.value, mode, nan_prop_mode, coef)
    return descriptor


def create_dropout_descriptor(
    handle: int, dropout: float, states: int, state_size_in_bytes: int, seed: int
) -> Descriptor:
    """A dropout descriptor with new states at an address."""
    descriptor = _made("DropoutDescriptor")
    low.setDropoutDescriptor(descriptor.value, handle, dropout, states, state_size_in_bytes, seed)
    return descriptor


def set_dropout_descriptor(desc: Descriptor, handle: int, dropout: float) -> None:
    """Set the rate and keep the states."""
    low.setDropoutDescriptor(desc.value, handle, dropout, 0, 0, 0)


def create_spatial_transformer_descriptor(
    sampler_type: int, dtype: Any, nb_dims: int, dim_A: int
) -> Descriptor:
    """A spatial transformer descriptor; `dim_A` is the address of the output's sizes."""
    descriptor = _made("SpatialTransformerDescriptor")
    data_type = get_data_type(dtype)
    low.setSpatialTransformerDescriptor(descriptor.value, sampler_type, data_type, nb_dims, dim_A)
    return descriptor


def create_op_tensor_descriptor(op_type: int, dtype: Any) -> Descriptor:
    """A descriptor of an operation on two tensors."""
    descriptor = _made("OpTensorDescriptor")
    low.setOpTensorDescriptor(descriptor.value, op_type, get_data_type(dtype), _NO_NAN)
    return descriptor


def create_reduce_tensor_descriptor(reduce_type: int, dtype: Any) -> Descriptor:
    """A descriptor of a reduction; minimum and maximum also return indices."""
    descriptor = _made("ReduceTensorDescriptor")
    extreme = reduce_type in (raw.CUDNN_REDUCE_TENSOR_MIN, raw.CUDNN_REDUCE_TENSOR_MAX)
    indices = (
        raw.CUDNN_REDUCE_TENSOR_FLATTENED_INDICES if extreme else raw.CUDNN_REDUCE_TENSOR_NO_INDICES
    )
    numbers = get_data_type(dtype), _NO_NAN, int(indices), int(raw.CUDNN_32BIT_INDICES)
    low.setReduceTensorDescriptor(descriptor.value, reduce_type, *numbers)
    return descriptor


def add_tensor(
    handle: int,
    alpha: int,
    biasDesc: int,
    biasData: int,
    beta: int,
    srcDestDesc: int,
    srcDestData: int,
) -> None:
    """alpha * bias + beta * srcDest; everything is an address."""
    low.addTensor_v3(handle, alpha, biasDesc, biasData, beta, srcDestDesc, srcDestData)


def is_tensor_core_available(dtype: Any) -> bool:
    """Whether the current device has tensor cores for a data type: halves since Volta."""
    return np.dtype(dtype).char == "e" and bool(current_device().compute_capability[0] >= 7)
