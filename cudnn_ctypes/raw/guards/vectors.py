"""A guard for reading fewer than 2 dims of a tensor back.

``cudnnGetTensorNdDescriptor`` multiplies the second entry of the caller's array by the vector
length for vectorised types, even if fewer dims are asked for (cuDNN 9.28).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]


def fragment(binding: Binding) -> Fragment | None:
    if binding.name != "cudnnGetTensorNdDescriptor":
        return None
    return Fragment(
        before=[
            "_few = nbDimsRequested.__class__ is _int and 0 <= nbDimsRequested < 2",
            "if _few: _arrays, dimA, strideA = (dimA, strideA), _Ints(), _Ints()",
        ],
        success=["if _few and nbDimsRequested: _copy(_arrays, (dimA, strideA))"],
        scope={"_int": int, "_Ints": ctypes.c_int * 8, "_copy": _copy(binding)},
    )


def _copy(binding: Binding) -> Callable[[tuple[Any, Any], tuple[Any, Any]], None]:
    positions = [i for i, p in enumerate(binding.parameters) if p.type.kind == "array"]

    def copy(arrays: tuple[Any, Any], read: tuple[Any, Any]) -> None:
        """Copy the first number of each array to the caller's arrays."""
        for position, array, numbers in zip(positions, arrays, read, strict=True):
            target = binding.argtypes[position].from_param(array)
            ctypes.cast(target, ctypes.POINTER(ctypes.c_int))[0] = numbers[0]

    return copy
