"""Arrays of CuPy, and their substitutes if CuPy is missing.

On a GPU the arrays are CuPy's, or `DeviceTensor`s. On the reference device they are `DeviceTensor`s
or NumPy's: these are copied to memory of that device, and outputs are copied back.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

import numpy as np

from ....raw import mode
from ....runtime import DeviceTensor

__all__ = ["Session", "address_of", "contiguous", "size_of"]


def _is_cupy(array: Any) -> bool:
    return type(array).__module__.partition(".")[0] == "cupy"


def _check(array: Any, name: str) -> None:
    if isinstance(array, DeviceTensor) or _is_cupy(array):
        return
    if isinstance(array, np.ndarray) and mode.reference_device_active:
        return
    stand_in = ", a DeviceTensor or a NumPy array" if mode.reference_device_active else ""
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
