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
    lent = [p for p in binding.parameters if p.type.lent]
    if not lent:
        return None
    names, count, most = ", ".join(p.name for p in lent), lent[0].length, lent[0].type.lent
    return Fragment(
        before=[
            f"_few = {count}.__class__ is _int and 0 <= {count} < {most}",
            f"if _few: _arrays, {names} = ({names}), {', '.join(['_Ints()'] * len(lent))}",
        ],
        success=[f"if _few and {count}: _copy(_arrays, ({names}))"],
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
