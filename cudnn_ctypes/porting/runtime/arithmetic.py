"""C's arithmetic where Python's differs: division, widths, functions of float, random numbers."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from math import isfinite, isinf, isnan
from typing import Any

import numpy as np

__all__ = [
    "divide",
    "float16",
    "float32",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_div",
    "int_mod",
    "isfinite",
    "isinf",
    "isnan",
    "rand",
    "round_half_away",
    "srand",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

float32 = np.float32
float16 = np.float16


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


def round_half_away(value: float) -> float:
    """C's ``round``: halves go away from zero."""
    return math.copysign(math.floor(abs(value) + 0.5), value) if abs(value) < 2**52 else value


# Functions of float are those of this machine's C library, since they may differ in the last bit
# from the rounded results of double.
_FLOAT_FUNCTIONS = [
    "sqrtf",
    "expf",
    "exp2f",
    "expm1f",
    "logf",
    "log2f",
    "log10f",
    "log1pf",
    "sinf",
    "cosf",
    "tanf",
    "asinf",
    "acosf",
    "atanf",
    "sinhf",
    "coshf",
    "tanhf",
    "fabsf",
    "floorf",
    "ceilf",
    "roundf",
    "truncf",
    "rintf",
    "nearbyintf",
    "cbrtf",
    "erff",
    "erfcf",
    "tgammaf",
    "lgammaf",
]
_FLOAT_FUNCTIONS_OF_TWO = [
    "powf",
    "fmodf",
    "atan2f",
    "fmaxf",
    "fminf",
    "hypotf",
    "copysignf",
    "remainderf",
    "fdimf",
]
_DOUBLE_FUNCTIONS = [name[:-1] for name in _FLOAT_FUNCTIONS]
_DOUBLE_FUNCTIONS_OF_TWO = [name[:-1] for name in _FLOAT_FUNCTIONS_OF_TWO]


class _LibraryOfC:
    """Functions of ``math.h`` by name."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)

    def function(self, name: str, kind: Any, count: int, result: Any) -> Callable[..., Any]:
        """A function with `count` parameters of one type."""
        try:
            found = self._library[name]
        except AttributeError:  # the process has no math library yet
            self._library = ctypes.CDLL("libm.so.6")
            found = self._library[name]
        found.restype, found.argtypes = kind, [kind] * count

        def call(*arguments: float) -> Any:
            return result(found(*arguments))

        call.__name__, call.__doc__ = name, f"C's ``{name}``."
        return call


def _math_functions() -> dict[str, Callable[..., Any]]:
    library = _LibraryOfC()
    found: dict[str, Callable[..., Any]] = {}
    for names, kind, count, result in (
        (_FLOAT_FUNCTIONS, ctypes.c_float, 1, np.float32),
        (_FLOAT_FUNCTIONS_OF_TWO, ctypes.c_float, 2, np.float32),
        (_DOUBLE_FUNCTIONS, ctypes.c_double, 1, float),
        (_DOUBLE_FUNCTIONS_OF_TWO, ctypes.c_double, 2, float),
    ):
        found |= {name: library.function(name, kind, count, result) for name in names}
    return found


MATH = _math_functions()
"""Functions of ``math.h`` by C name."""


class _Random:
    """glibc's ``rand``: an additive feedback of 31 words, as random(3) describes it."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self.seed(1)

    def seed(self, seed: int) -> None:
        words = [(seed or 1) & 0xFFFFFFFF]
        for _ in range(30):
            signed = int32(words[-1])
            high, low = int_div(signed, 127773), int_mod(signed, 127773)
            word = 16807 * low - 2836 * high
            words.append(word + 2147483647 if word < 0 else word)
        self.words = words[:31]
        for index in range(31, 34):
            self.words.append(self.words[index - 31])
        for _ in range(310):
            self._next()

    def _next(self) -> int:
        word = self.words[-31] + self.words[-3] & 0xFFFFFFFF
        self.words.append(word)
        del self.words[:-34]
        return word

    def __call__(self) -> int:
        return self._next() >> 1


_random = _Random()


def srand(seed: int) -> None:
    """C's ``srand``."""
    _random.seed(seed)


def rand() -> int:
    """C's ``rand``, with the numbers of glibc."""
    return _random()
