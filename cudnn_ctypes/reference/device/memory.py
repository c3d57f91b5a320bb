"""Host memory that stands in for device memory: from addresses and descriptors to arrays and back.

A C program passes addresses. On a GPU a wrong one makes a kernel fail; here it would end the
interpreter. So before memory is touched its whole range is checked: it must be mapped in this
process and, within a buffer that this package allocated, not reach beyond its end. What fails is
refused with EXECUTION_FAILED, the status that cuDNN gives when a kernel fails.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...dtypes import element_bits, host_scalar_type, numpy_dtype, vector_length
from ...raw import host_blocks
from ...raw.descriptors import Filter, Tensor
from .dispatch import Refused

__all__ = ["Operand", "at", "check_range", "require", "scalar", "scalars", "scribble", "zeros"]

_PAGES = 1 << 12  # looked at with one system call


def require(**addresses: int | None) -> None:
    """Refuse NULL: the arguments under their names in C."""
    for name, address in addresses.items():
        if not address:
            raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL")


def scalar(address: int | None, data_type: raw.cudnnDataType_t, name: str) -> float:
    """The number at `address` that scales tensors of `data_type`: alpha or beta.

    It is a double for DOUBLE, and a float for every other type.
    """
    require(**{name: address})
    assert address is not None
    ctype = host_scalar_type(data_type)
    check_range(address, ctypes.sizeof(ctype), name)
    return float(ctype.from_address(address).value)


def scalars(data_type: raw.cudnnDataType_t, **addresses: int | None) -> dict[str, Any]:
    """Several such numbers, under the names of the arguments."""
    return {name: scalar(address, data_type, name) for name, address in addresses.items()}


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor argument: its name in C, what its descriptor holds, and its address."""

    name: str
    described: Tensor | Filter
    address: int | None

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of one element."""
        return numpy_dtype(self.described.data_type)

    def load(self) -> NDArray[Any]:
        """The tensor in its logical shape: for all but the vectorised types a view of its memory.

        Raises
        ------
        Refused
            BAD_PARAM for NULL, EXECUTION_FAILED for memory that is not there.
        """
        stored = self.stored()
        if vector_length(self.described.data_type) == 1:
            return stored
        return np.moveaxis(stored, -1, 2).reshape(self.described.shape)

    def store(self, values: NDArray[Any]) -> None:
        """Write `values`, of the logical shape; what lies between the elements is left alone."""
        length = vector_length(self.described.data_type)
        if length > 1:
            batch, channels, *sizes = self.described.shape
            split = values.reshape(batch, channels // length, length, *sizes)
            values = np.moveaxis(split, 2, -1)
        self.stored()[...] = values

    def stored(self) -> NDArray[Any]:
        """A view of the memory: of a vectorised type (N, C / length, spatial..., length)."""
        shape, strides = _in_elements(self.described)
        return at(self.address, self.described.data_type, shape, strides, self.name)


def zeros(described: Tensor | Filter) -> tuple[object, int]:
    """New memory for a tensor: its owner, to be kept as long as it is used, and its address."""
    shape, strides = _in_elements(described)
    dtype = numpy_dtype(described.data_type)
    before, nbytes = _reach(shape, strides, dtype.itemsize)
    owner = np.zeros(nbytes, np.uint8)
    return owner, owner.ctypes.data + before


def at(
    address: int | None,
    data_type: raw.cudnnDataType_t,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    name: str,
) -> NDArray[Any]:
    """The memory at `address` as an array; writing to it writes there.

    Parameters
    ----------
    address
        Of element (0, 0, ...), as an int; None is NULL.
    data_type
        One whose elements take whole bytes; of the vectorised types, what one element is.
    shape, strides
        Of single elements; strides count elements, and may be negative.
    name
        The argument's name in C.

    Raises
    ------
    Refused
        BAD_PARAM for NULL, EXECUTION_FAILED if part of the range is not there.
    """
    require(**{name: address})
    assert address is not None
    if element_bits(data_type) < 8:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED, f"{name}: {data_type.name} has no descriptors in cuDNN"
        )
    dtype = numpy_dtype(data_type)
    before, nbytes = _reach(shape, strides, dtype.itemsize)
    check_range(address - before, nbytes, name)
    memory: Any = (ctypes.c_char * nbytes).from_address(address - before)
    steps = [stride * dtype.itemsize for stride in strides]
    return np.ndarray(shape, dtype, memory, offset=before, strides=steps)


def _in_elements(described: Tensor | Filter) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides in single elements: vectors become a last dimension."""
    length = vector_length(described.data_type)
    shape, strides = described.shape, described.strides
    if length == 1:
        return shape, strides
    if shape[1] % length:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"{shape[1]} channels do not fill vectors of {length} ({described.data_type.name})",
        )
    shape = (shape[0], shape[1] // length, *shape[2:], length)
    return shape, (*(length * stride for stride in strides), 1)


def _reach(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """Bytes before the first element, which negative strides reach, and bytes in all."""
    steps = [(n - 1) * stride * itemsize for n, stride in zip(shape, strides, strict=True)]
    before = -sum(step for step in steps if step < 0)
    return before, before + sum(step for step in steps if step > 0) + itemsize


def scribble(address: int | None, nbytes: int, name: str) -> None:
    """Overwrite a workspace, as the GPU does: what a program keeps there is lost here as well."""
    if nbytes:
        require(**{name: address})
        assert address is not None
        check_range(address, nbytes, name)
        ctypes.memset(address, 0xA5, nbytes)


def check_range(address: int, nbytes: int, name: str) -> None:
    """Refuse memory that is not there, or that reaches beyond the buffer which it begins in."""
    room = host_blocks.room(address)
    if room is not None and room < nbytes:
        raise Refused(
            raw.CUDNN_STATUS_EXECUTION_FAILED,
            f"{name} is too small: {nbytes} bytes from {address:#x} on are needed, the buffer "
            f"ends after {room}",
        )
    if room is None and not _mapped(address, nbytes):
        raise Refused(
            raw.CUDNN_STATUS_EXECUTION_FAILED,
            f"{name}: the {nbytes} bytes from {address:#x} on are not memory of this process (on "
            f"the reference device, device memory is host memory)",
        )


def _mapped(address: int, nbytes: int) -> bool:
    """Whether every page of the range is mapped; True where the system cannot tell."""
    mincore = _mincore()
    if mincore is None:
        return True
    end = address + nbytes
    if not 0 < address <= end < 1 << 63:
        return False
    residency = (ctypes.c_char * _PAGES)()
    for start in range(address - address % mmap.PAGESIZE, end, _PAGES * mmap.PAGESIZE):
        length = min(end - start, _PAGES * mmap.PAGESIZE)
        if mincore(start, length, residency) != 0:
            return False
    return True


@functools.cache
def _mincore() -> Any:
    try:
        function = ctypes.CDLL(None)["mincore"]
    except (AttributeError, OSError, TypeError):
        return None
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    return function
