"""A ``ValueError`` for arrays shorter than the call states or than cuDNN assumes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ctypes_support import room, storage_type
from . import Fragment, null

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["LEAST", "fragment"]

LEAST = {
    "cudnnGetConvolutionNdForwardOutputDim": 2,
    "cudnnSetSpatialTransformerNdDescriptor": 1,
}
"""Elements that cuDNN always writes or reads, even if asked for fewer (tools/fuzz, cuDNN 9.28)."""


def fragment(binding: Binding) -> Fragment | None:
    # Name, element type and length of each array whose length is an expression.
    arrays = [
        (p.name, p.type.base, p.length)
        for p in binding.parameters
        if p.type.kind == "array" and isinstance(p.length, str)
    ]
    if not arrays:
        return None
    least = LEAST.get(binding.name, 0)
    fit = " and ".join(f"{least} <= {length} <= len({name})" for name, _, length in arrays)
    return Fragment(
        before=[
            "try:",
            f"    _fit = {fit}",
            "except Exception:",  # numbers of other libraries raise errors of any class
            "    _fit = False",
            "if not _fit:",
            *(f"    {line}" for line in null.array_lines(binding)),
            "    _check_lengths({args})",
        ],
        scope={"_check_lengths": _check_lengths(binding, arrays)},
    )


def _check_lengths(
    binding: Binding, arrays: list[tuple[str, Any, str]]
) -> Callable[[tuple[Any, ...]], None]:
    """A check for arrays of any kind, whose errors name the array and its length."""
    names = [p.name for p in binding.parameters]
    least = LEAST.get(binding.name, 0)

    def check(arguments: tuple[Any, ...]) -> None:
        by_name = dict(zip(names, arguments, strict=True))
        numbers = {
            name: argument.value if isinstance(argument, ctypes._SimpleCData) else argument
            for name, argument in by_name.items()
        }
        for array, base, length in arrays:
            lengths = elements(by_name[array], base)
            try:
                wanted = eval(length, {}, numbers)
                wrong = lengths is not None and not 0 <= wanted <= lengths
                too_few = 0 <= wanted < least
            except Exception:
                continue  # the length is no number: its converter raises
            if too_few:
                raise ValueError(
                    f"{binding.name}() argument {length!r}: at least {least} expected, got {wanted}"
                )
            if wrong:
                raise ValueError(
                    f"{binding.name}() argument {array!r}: {length} = {wanted} elements expected, "
                    f"got {lengths}"
                )

    return check


def elements(array: Any, base: Any) -> int | None:
    """Number of elements of an array; None if unknown."""
    if array is None:
        return None
    if isinstance(getattr(array, "size", None), int):  # numpy.ndarray
        return int(array.size)
    if hasattr(array, "__len__"):
        return len(array)
    nbytes = room(array)
    return None if nbytes is None else nbytes // ctypes.sizeof(storage_type(base))
