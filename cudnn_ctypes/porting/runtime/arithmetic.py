"""C's arithmetic where Python's differs: division, widths, functions of float, random numbers."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np

NUMBERS: dict[str, Any] = {
    "float32": np.float32,
    **{name: getattr(math, name) for name in ("isfinite", "isinf", "isnan", "ldexp")},
}
"""Python's own names that mean what C's do."""


def _unsigned(bits: int) -> Callable[[Any], int]:
    mask = (1 << bits) - 1

    def wrap(value: Any) -> int:
        return int(value) & mask

    wrap.__doc__ = f"The value modulo 2 to the power of {bits}, as C's unsigned type holds it."
    return wrap


def _signed(bits: int) -> Callable[[Any], int]:
    half, mask = 1 << bits - 1, (1 << bits) - 1

    def wrap(value: Any) -> int:
        return (int(value) + half & mask) - half

    wrap.__doc__ = f"The value as C's signed type of {bits} bits holds it."
    return wrap


uint8: Callable[[Any], int] = _unsigned(8)
uint16: Callable[[Any], int] = _unsigned(16)
uint32: Callable[[Any], int] = _unsigned(32)
uint64: Callable[[Any], int] = _unsigned(64)
int8: Callable[[Any], int] = _signed(8)
int16: Callable[[Any], int] = _signed(16)
int32: Callable[[Any], int] = _signed(32)
int64: Callable[[Any], int] = _signed(64)


def int_div(left: int, right: int) -> int:
    """C's ``left / right`` of integers: rounded towards zero."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def int_mod(left: int, right: int) -> int:
    """C's ``left % right``: it has the sign of `left`."""
    return left - right * int_div(left, right)


def divide(left: float, right: float) -> float:
    """C's ``left / right`` of doubles: infinite or NaN where `right` is zero."""
    if right:
        return left / right
    if not left or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


# Those of this machine's C library: functions of float may differ in the last bit from the rounded
# results of double.
_OF_ONE = (
    "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh fabs floor "
    "ceil round trunc rint nearbyint cbrt erf erfc tgamma lgamma"
)
_OF_TWO = "pow fmod atan2 fmax fmin hypot copysign remainder fdim"


def _math_functions() -> dict[str, Callable[..., Any]]:
    library = ctypes.CDLL("libm.so.6")
    found: dict[str, Callable[..., Any]] = {}
    for names, count in ((_OF_ONE, 1), (_OF_TWO, 2)):
        for name in names.split():
            found[name] = _called(library, name, [ctypes.c_double] * count, float)
            found[f"{name}f"] = _called(library, f"{name}f", [ctypes.c_float] * count, np.float32)
    return found


def _called(library: Any, name: str, kinds: list[Any], result: Any) -> Callable[..., Any]:
    function = library[name]
    function.restype, function.argtypes = kinds[0], kinds

    def call(*arguments: float) -> Any:
        return result(function(*arguments))

    call.__name__, call.__doc__ = name, f"C's ``{name}``."
    return call


MATH = _math_functions()
"""Functions of ``math.h`` by C name."""

_c = ctypes.CDLL(None)


def srand(seed: int) -> None:
    """C's ``srand``."""
    _c.srand(ctypes.c_uint(seed & 0xFFFFFFFF))


def rand() -> int:
    """C's ``rand``, of this machine's C library."""
    return int(_c.rand())
