"""Refusals of sizes whose products exceed 64 bits, or whose sums exceed cuDNN's 32 bits.

cuDNN 9.28 refuses tensors of these sizes, but accepts filters and reports 0 bytes for them. For a
padding of 2147483647 it computes an output of one element.
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]

_BAD_PARAM = 2000  # cudnnStatus_t
_MOST = (1 << 63) // 8  # elements: their bytes fit in 64 bits
_SMALL = 1 << 14
_MOST_DIMS = 8  # CUDNN_DIM_MAX
_FAR = 1 << 28  # an extent that does not fit on both sides of a tensor of 2^31 elements


def fragment(binding: Binding) -> Fragment | None:
    sizes = [p for p in binding.parameters if p.type.size]
    if not sizes:
        return None
    names, length = [p.name for p in sizes], sizes[0].length
    check = (_check_product if sizes[0].type.size == "factor" else _check_extents)(names)
    refuse = [
        f"_too_large = _check_sizes(({', '.join(names)},), {length})",
        f"if _too_large: return _refused({_BAD_PARAM}, {{args}}, _too_large)",
    ]
    if length is None:  # the product and sum of four numbers below _SMALL are small
        small = f"    _small = 0 <= ({' | '.join(names)}) < {_SMALL}"
        refuse = [
            *("try:", small, "except Exception:", "    _small = False", "if not _small:"),
            *(f"    {line}" for line in refuse),
        ]
    return Fragment(before=refuse, scope={"_check_sizes": check})


def _check_product(names: list[str]) -> Callable[[tuple[Any, ...], Any], str]:
    def check(arguments: tuple[Any, ...], length: Any) -> str:
        sizes = [size for argument in arguments for size in _ints(argument, length)]
        product = math.prod(sizes)
        if all(size > 0 for size in sizes) and product > _MOST:
            factors = " * ".join(map(str, sizes))
            return f"{' * '.join(names)} = {factors} = {product} elements, more than {_MOST}"
        return ""

    return check


def _check_extents(names: list[str]) -> Callable[[tuple[Any, ...], Any], str]:
    def check(arguments: tuple[Any, ...], length: Any) -> str:
        for name, argument in zip(names, arguments, strict=True):
            for extent in _ints(argument, length):
                if extent > _FAR:
                    return f"{name}: {extent} is more than {_FAR}, so sizes of outputs overflow"
        return ""

    return check


def _ints(argument: Any, length: Any) -> list[int]:
    """The number in an argument, or an array's first `length`; [] if its converter refuses it."""
    length = getattr(length, "value", length)  # c_int(...)
    argument = getattr(argument, "value", argument)
    if isinstance(argument, ctypes._Pointer) and not (argument and 0 < length <= _MOST_DIMS):
        return []  # cuDNN does not read them either
    try:
        if hasattr(argument, "tolist"):
            argument = argument.tolist()
        if hasattr(argument, "__index__"):
            return [operator.index(argument)]
        return [int(getattr(item, "value", item)) for item in argument[:length]]
    except Exception:  # numbers of other libraries raise errors of any class
        return []
