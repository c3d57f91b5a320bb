"""Arrays shorter than the call states or cuDNN assumes, or longer than cuDNN has room for."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ctypes_support import room, storage_type
from . import Fragment, null

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["LEAST", "MOST", "fragment"]

_BAD_PARAM, _NOT_SUPPORTED = 2000, 3000  # cudnnStatus_t

LEAST = {
    "cudnnGetConvolutionNdForwardOutputDim": 2,
    "cudnnSetSpatialTransformerNdDescriptor": 1,
}
"""Elements that cuDNN always writes or reads, even if asked for fewer (tools/fuzz, cuDNN 9.28)."""

_ROOM = 8  # CUDNN_DIM_MAX
MOST = {
    "cudnnSetTensorNdDescriptorEx": _NOT_SUPPORTED,
    "cudnnSetSpatialTransformerNdDescriptor": _BAD_PARAM,
}
"""Refusals of more than 8 dimensions. cuDNN 9.28 writes them all, on its stack or over the end of
the descriptor: with 9 of a tensor the process ends on aarch64, with 200 on x86-64."""


def fragment(binding: Binding) -> Fragment | None:
    # Name, element type and length of each array whose length is an expression.
    arrays = [
        (p.name, p.type.base, p.length)
        for p in binding.parameters
        if p.type.kind == "array" and isinstance(p.length, str)
    ]
    if not arrays:
        return None
    least, status = LEAST.get(binding.name, 0), MOST.get(binding.name)
    fit = " and ".join(f"{least} <= {length} <= len({name})" for name, _, length in arrays)
    if status is not None:
        fit += "".join(f" and {length} <= {_ROOM}" for *_, length in arrays)
    return Fragment(
        before=[
            "try:",
            f"    _fit = {fit}",
            "except Exception:",  # numbers of other libraries raise errors of any class
            "    _fit = False",
            "if not _fit:",
            *(f"    {line}" for line in null.array_lines(binding)),
            "    _too_many = _check_lengths({args})",
            f"    if _too_many: return _refused({status}, {{args}}, _too_many)",
        ],
        scope={"_check_lengths": _check_lengths(binding, arrays)},
    )


def _check_lengths(
    binding: Binding, arrays: list[tuple[str, Any, str]]
) -> Callable[[tuple[Any, ...]], str]:
    """A check for arrays of any kind; it raises for short ones, and returns why one is too long."""
    names = [p.name for p in binding.parameters]
    least = LEAST.get(binding.name, 0)

    def check(arguments: tuple[Any, ...]) -> str:
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
                too_many = binding.name in MOST and wanted > _ROOM
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
            if too_many:
                return f"{length} = {wanted} is more than {_ROOM}"
        return ""

    return check


def elements(array: Any, base: Any) -> int | None:
    """Number of elements of an array; None if unknown."""
    if array is None or isinstance(array, type):
        return None
    if isinstance(getattr(array, "size", None), int):  # numpy.ndarray
        return int(array.size)
    if hasattr(array, "__len__"):
        return len(array)
    nbytes = room(array)
    return None if nbytes is None else nbytes // ctypes.sizeof(storage_type(base))
