"""Arrays shorter than the call states or cuDNN assumes, or longer than cuDNN has room for."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..ctypes_support import room, storage_type
from . import Fragment, null

if TYPE_CHECKING:
    from ..function import Binding, Parameter

__all__ = ["elements", "fragment"]


def fragment(binding: Binding) -> Fragment | None:
    arrays = [p for p in binding.parameters if p.type.kind == "array" and p.length is not None]
    if not arrays:
        return None
    fit = " and ".join(f"{p.type.least} <= {p.length} <= len({p.name})" for p in arrays)
    fit += "".join(f" and {p.length} <= {p.type.most}" for p in arrays if p.type.most is not None)
    status = next((int(p.type.too_long) for p in arrays if p.type.too_long is not None), None)
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
    binding: Binding, arrays: Sequence[Parameter]
) -> Callable[[tuple[Any, ...]], str]:
    """A check for arrays of any kind; it raises for short ones, and returns why one is too long."""
    names = [p.name for p in binding.parameters]

    def check(arguments: tuple[Any, ...]) -> str:
        by_name = dict(zip(names, arguments, strict=True))
        numbers = {
            name: argument.value if isinstance(argument, ctypes._SimpleCData) else argument
            for name, argument in by_name.items()
        }
        for p in arrays:
            least, most = p.type.least, p.type.most
            lengths = elements(by_name[p.name], p.type.base)
            try:
                wanted = eval(str(p.length), {}, numbers)
                wrong = lengths is not None and not 0 <= wanted <= lengths
                too_few = 0 <= wanted < least
                too_many = most is not None and wanted > most
            except Exception:
                continue  # the length is no number: its converter raises
            if too_few:
                raise ValueError(
                    f"{binding.name}() argument {p.length!r}: at least {least} expected, "
                    f"got {wanted}"
                )
            if wrong:
                raise ValueError(
                    f"{binding.name}() argument {p.name!r}: {p.length} = {wanted} elements "
                    f"expected, got {lengths}"
                )
            if too_many:
                return f"{p.length} = {wanted} is more than {most}"
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
