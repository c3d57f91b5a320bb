"""Compares device memory of a known type with the descriptor that describes it in a call.

A plain address is not compared. A tensor has a data type, dims and strides; it is refused if they
contradict the descriptor, since C would read other numbers than the user's. Equivalent shapes are
accepted: dims of one element are ignored, contiguous dims may be joined, and dims are compared in
memory order. Flat buffers, bytes (uint8, int8) and memory without a type need only be large enough.
Dims equal to the descriptor's are taken to be in its order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import ClosedError
from . import mode
from .dlpack import DLDataTypeCode, managed_tensor, request_capsule
from .enums import cudnnDataType_t
from .process import Bounded
from .strides import extent, in_elements, is_dense, packed
from .torch_forms import unreadable

Ints = tuple[int, ...]


class Typed(NamedTuple):
    """The type and shape that memory reports: strides in elements; no dims for untyped memory."""

    data_type: str
    itemsize: int
    dims: Ints
    strides: Ints
    nbytes: int

    def __str__(self) -> str:
        if self.data_type == "bytes":
            return f"{self.nbytes} bytes"
        return f"{self.data_type} {self.dims} with strides {self.strides}"

    @property
    def summary(self) -> str:
        """The type and shape as text, with the size."""
        return str(self) if self.data_type == "bytes" else f"{self}, {self.nbytes} bytes,"


# --- descriptions of memory ----------------------------------------------------------------------


class Describers(NamedTuple):
    """Functions that describe the memory of one class's objects; None for plain addresses.

    - `identity`: returns a key, equal for memory of equal descriptions; cheap, since every launch
      calls it.
    - `nbytes`: returns the size in bytes.
    - `typed`: returns the whole description.
    """

    identity: Callable[[Any], Any]
    nbytes: Callable[[Any], int | None]
    typed: Callable[[Any], Typed | None]


class _ByClass(Bounded[type, Describers]):
    """The describers by class, chosen for the first object of each class."""

    def of(self, memory: Any) -> Describers:
        cls = memory.__class__
        return self.get(cls) or self.keep(cls, _describers(memory))


by_class: _ByClass = _ByClass(most=256)


def typed(memory: Any) -> Typed | None:
    """The type and shape of memory; None for a plain address, or if it is no device memory."""
    return by_class.of(memory).typed(memory)


def _describers(memory: Any) -> Describers:
    cls = type(memory)
    package = cls.__module__.partition(".")[0]
    if is_torch(cls):
        return Describers(_torch_identity, _torch_nbytes, _of_torch)
    if package == "cupy" and hasattr(memory, "strides"):
        return Describers(_array_identity, _nbytes, _of_array)
    if is_own(cls):
        typed = _of_tensor if hasattr(cls, "data_type") else _of_buffer
        return Describers(_own_identity if hasattr(cls, "keyed") else typed, _nbytes, typed)
    if package != "numpy" and (
        hasattr(memory, "__cuda_array_interface__") or hasattr(memory, "__dlpack__")
    ):
        return Describers(_exchanged, _exchanged_nbytes, _exchanged)
    return Describers(_nothing, _nothing, _nothing)


def is_torch(cls: type) -> bool:
    """Whether objects of a class are tensors of PyTorch."""
    return cls.__module__.partition(".")[0] == "torch" and hasattr(cls, "stride")


def is_own(cls: type) -> bool:
    """Whether objects of a class are memory of this package."""
    return cls.__module__.partition(".")[0] == "cudnn_ctypes" and hasattr(cls, "nbytes")


def _nothing(memory: Any) -> None:
    return None


def _nbytes(memory: Any) -> int:
    return int(memory.nbytes)


def _torch_identity(tensor: Any) -> Any:
    return tensor.dtype, tensor.shape, tensor.stride()


def _torch_nbytes(tensor: Any) -> int | None:
    return None if unreadable(tensor) else int(tensor.nbytes)


def _of_torch(tensor: Any) -> Typed | None:
    if unreadable(tensor):  # the converter raises a clear error
        return None
    name = str(tensor.dtype).removeprefix("torch.")
    return _described(name, tensor.element_size(), tuple(tensor.shape), tuple(tensor.stride()))


def _array_identity(array: Any) -> Any:
    return array.dtype, array.shape, array.strides


def _of_array(array: Any) -> Typed:
    return _of_steps(array.dtype.name, array.dtype.itemsize, array.shape, array.strides)


def _own_identity(memory: Any) -> Any:
    try:
        return memory.keyed()[0]
    except (ClosedError, ValueError):  # closed memory: the converter raises a clear error
        return None


def _of_tensor(tensor: Any) -> Typed:
    name, vector, itemsize = _NAMES.get(tensor.data_type, ("", 1, 0))
    dims, strides = in_elements(tensor.shape, tensor.strides, vector)
    return Typed(name, itemsize, dims, strides, tensor.nbytes)


def _of_buffer(buffer: Any) -> Typed:
    return Typed("bytes", 1, (), (), buffer.nbytes)


def _exchanged(memory: Any) -> Typed | None:
    """The description from ``__cuda_array_interface__`` or ``__dlpack__``; None without them."""
    interface = mode.runtime.cuda_array_interface(memory)
    if interface is not None:
        kind = interface["typestr"]
        itemsize = int(kind[2:])
        name = _KINDS.get(kind[1], "V") + str(8 * itemsize)
        return _of_steps(name, itemsize, interface["shape"], interface.get("strides"))
    if not hasattr(memory, "__dlpack__"):
        return None
    try:
        capsule = request_capsule(memory, mode.runtime.dlpack_stream)
        tensor = managed_tensor(capsule).dl_tensor
    except Exception:  # another device's memory: the converter raises a clear error
        return None
    if tensor.dtype.bits % 8 or tensor.dtype.lanes != 1:
        return None
    itemsize = tensor.dtype.bits // 8
    code = {
        DLDataTypeCode.INT: "int",
        DLDataTypeCode.UINT: "uint",
        DLDataTypeCode.FLOAT: "float",
        DLDataTypeCode.BFLOAT: "bfloat",
    }.get(tensor.dtype.code, "V")
    dims = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else packed(dims)
    return _described(f"{code}{tensor.dtype.bits}", itemsize, dims, strides)


def _exchanged_nbytes(memory: Any) -> int | None:
    described = _exchanged(memory)
    return None if described is None else described.nbytes


_KINDS = {"i": "int", "u": "uint", "f": "float", "b": "bool", "c": "complex"}


def _of_steps(name: str, itemsize: int, dims: Any, steps: Any) -> Typed:
    dims = tuple(dims)
    strides = packed(dims) if steps is None else tuple(step // itemsize for step in steps)
    return _described(name, itemsize, dims, strides)


def _described(name: str, itemsize: int, dims: Ints, strides: Ints) -> Typed:
    """A description whose size is the bytes from the first element to the last."""
    return Typed(name, itemsize, dims, strides, extent(dims, strides) * itemsize)


# --- descriptors ---------------------------------------------------------------------------------

_NAMES: dict[Any, tuple[str, int, int]] = {
    cudnnDataType_t.CUDNN_DATA_FLOAT: ("float32", 1, 4),
    cudnnDataType_t.CUDNN_DATA_DOUBLE: ("float64", 1, 8),
    cudnnDataType_t.CUDNN_DATA_HALF: ("float16", 1, 2),
    cudnnDataType_t.CUDNN_DATA_BFLOAT16: ("bfloat16", 1, 2),
    cudnnDataType_t.CUDNN_DATA_INT8: ("int8", 1, 1),
    cudnnDataType_t.CUDNN_DATA_UINT8: ("uint8", 1, 1),
    cudnnDataType_t.CUDNN_DATA_INT32: ("int32", 1, 4),
    cudnnDataType_t.CUDNN_DATA_INT64: ("int64", 1, 8),
    cudnnDataType_t.CUDNN_DATA_FP8_E4M3: ("float8_e4m3fn", 1, 1),
    cudnnDataType_t.CUDNN_DATA_FP8_E5M2: ("float8_e5m2", 1, 1),
    cudnnDataType_t.CUDNN_DATA_FP8_E8M0: ("float8_e8m0fnu", 1, 1),
    cudnnDataType_t.CUDNN_DATA_INT8x4: ("int8", 4, 1),
    cudnnDataType_t.CUDNN_DATA_UINT8x4: ("uint8", 4, 1),
    cudnnDataType_t.CUDNN_DATA_INT8x32: ("int8", 32, 1),
}
"""For each data type: an element's type, elements per vector, bytes per element."""

_SAME_BITS = {
    "bfloat16": {"uint16", "int16", "V16"},
    "int8": {"uint8"},
    "uint8": {"int8"},
    "float8_e4m3fn": {"uint8", "int8"},
    "float8_e5m2": {"uint8", "int8"},
    "float8_e8m0fnu": {"uint8", "int8"},
}
_BYTES = ("uint8", "int8", "bytes")


def itemsize(data_type: Any) -> int:
    """Bytes of an element, or of a part of a vector; 0 for types of less than a byte."""
    return _NAMES.get(data_type, ("", 1, 0))[2]


def contradiction(record: Any, memory: Typed) -> str | None:
    """The text of a descriptor's type and shape if memory contradicts it; else None."""
    name, vector, itemsize = _NAMES.get(record.data_type, ("", 1, 0))
    dims, strides, nbytes = _extent(record)
    if not name:
        return None
    says = f"{record.data_type.name} {dims} with strides {strides}, {nbytes} bytes"
    if memory.nbytes < nbytes:
        return says
    if memory.data_type in _BYTES and itemsize != 1:
        return None if is_dense(memory.dims, memory.strides) else says
    if memory.data_type not in ("bytes", name, *_SAME_BITS.get(name, ())):
        return says
    if memory.data_type == "bytes" or not strides:
        return None
    dims, strides = in_elements(dims, strides, vector)
    wanted, axes = _axes(dims, strides), _axes(memory.dims, memory.strides)
    if memory.dims == dims:  # in the same order too
        apart = zip(dims, strides, memory.strides, strict=True)
        return says if any(size > 1 and one != other for size, one, other in apart) else None
    is_flat = len(wanted) > 1 and len(axes) == 1 and axes[0][0] == 1
    return None if is_flat or _same(wanted, axes) else says


def too_small(record: Any, memory: Typed) -> bool:
    """Whether memory has fewer bytes than a descriptor describes."""
    return memory.nbytes < _extent(record)[2]


def _extent(record: Any) -> tuple[Ints, Ints, int]:
    """Dims, strides and bytes of a record; no strides if the record does not fix the dims."""
    if hasattr(record, "size_in_bytes"):
        return record.shape, record.strides, record.size_in_bytes
    dims = record.memory_shape if hasattr(record, "memory_shape") else record.shape
    strides = () if hasattr(record, "memory_shape") else record.strides
    return dims, strides, math.prod(dims) * itemsize(record.data_type)


def _axes(dims: Ints, strides: Ints) -> list[tuple[int, int]]:
    """Stride and size of the dims that have more than one element, from the innermost outwards."""
    return sorted((step, size) for step, size in zip(strides, dims, strict=True) if size != 1)


def _same(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> bool:
    """Whether two lists of axes address the same elements, apart from joined dims."""
    one, other = list(one), list(other)
    while one and other:
        (step, size), (other_step, other_size) = one.pop(0), other.pop(0)
        if step != other_step:
            return False
        # The smaller dim and its contiguous successors must multiply to the larger dim.
        rest, small, end = one, size, other_size
        if small > end:
            rest, small, end = other, other_size, size
        while small < end:
            if not rest or rest[0][0] != step * small:
                return False
            small *= rest.pop(0)[1]
        if small != end:
            return False
    return not one and not other
