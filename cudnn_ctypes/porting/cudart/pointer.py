"""Pointers with C's arithmetic: ``x + 4`` is four elements further."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import places

__all__ = ["DevicePointer"]


class DevicePointer(ctypes.c_void_p):
    """A pointer of a C program: ``DevicePointer(c_float)`` is ``float *p``.

    ``cudaMalloc(byref(p), nbytes)`` fills it, and functions take it as memory. Adding counts
    elements. ``p[i]`` reads and writes an element in memory that the host may access, allocated by
    ``cudaMallocManaged`` or ``cudaMallocHost``.

    Parameters
    ----------
    ctype : ctypes type
        The element's type. Default: bytes, as for ``void *`` and ``char *``.
    address : int, optional
        The address. Default: NULL.

    Attributes
    ----------
    value : int or None
        The address.
    ctype : ctypes type
        The element's type.

    Examples
    --------
    >>> p = DevicePointer(ctypes.c_float, 0x1000)
    >>> hex((p + 2).value), (p + 2) - p
    ('0x1008', 2)
    """

    ctype: Any = ctypes.c_char

    def __init__(self, ctype: Any = ctypes.c_char, address: Any = None) -> None:
        if not isinstance(ctype, type) or not issubclass(ctype, _CDATA):
            raise TypeError(f"ctype: expected a ctypes type, got {ctype!r}")
        super().__init__(None if address is None else int(address))
        self.ctype = ctype

    def cast(self, ctype: Any) -> DevicePointer:
        """A pointer to another type at the same address: C's ``(T *)p``."""
        return DevicePointer(ctype, self.value)

    def __int__(self) -> int:
        return self.value or 0

    __index__ = __int__

    def __add__(self, count: int) -> DevicePointer:
        if not hasattr(count, "__index__") or isinstance(count, ctypes.c_void_p):
            return NotImplemented
        return DevicePointer(self.ctype, int(self) + int(count) * ctypes.sizeof(self.ctype))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        """The number of elements between two pointers, or the pointer `other` elements before."""
        if not isinstance(other, DevicePointer):
            return self + -other if hasattr(other, "__index__") else NotImplemented
        if other.ctype is not self.ctype:
            raise TypeError(f"{self!r} and {other!r} point to different types")
        return (int(self) - int(other)) // ctypes.sizeof(self.ctype)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ctypes.c_void_p):
            return self.value == other.value
        if other is None or isinstance(other, int):
            return int(self) == (other or 0)
        return NotImplemented

    def __lt__(self, other: DevicePointer) -> bool:
        return int(self) < int(other)

    def __le__(self, other: DevicePointer) -> bool:
        return int(self) <= int(other)

    def __hash__(self) -> int:
        return hash(int(self))

    def __repr__(self) -> str:
        address = hex(int(self)) if self.value else "NULL"
        return f"DevicePointer({self.ctype.__name__}, {address})"

    # -- access by the host ----------------------------------------------------------------------

    def array(self, *shape: int) -> NDArray[Any]:
        """The memory as a NumPy array of this shape, if the host may access it.

        Raises
        ------
        CudaError
            If it is device memory, or not allocated.
        """
        count = int(np.prod(shape, dtype=np.int64))
        size = ctypes.sizeof(self.ctype)
        places.require_host(int(self), max(count, 1) * size, "memory", "write")
        memory = (self.ctype * count).from_address(int(self))
        return np.ctypeslib.as_array(memory).reshape(shape)

    def __getitem__(self, index: int) -> Any:
        return self._element(index)[0]

    def __setitem__(self, index: int, value: Any) -> None:
        self._element(index)[0] = value

    def _element(self, index: int) -> Any:
        if not hasattr(index, "__index__"):  # no slices: the memory's end is unknown
            raise TypeError(f"expected an index, got {index!r}; .array(count) gives an array")
        place = int(self + index)
        places.require_host(place, ctypes.sizeof(self.ctype), "memory", "write")
        return (self.ctype * 1).from_address(place)


_CDATA: Any = ctypes.Structure.__base__  # the common base of all ctypes objects
