"""The runtime of translated C programs: memory, arithmetic, text, files and containers.

Each name does what the C name does, so that a program reads as its source does. Integers are ints
of Python, wrapped by functions such as `uint32` where C's types would wrap; ``float`` is
``numpy.float32``, ``double`` is Python's float.
"""

from __future__ import annotations

from . import arithmetic, containers, flow, memory, text

_PARTS = (arithmetic, containers, flow, memory, text)
_NAMES = {
    name: value
    for part in _PARTS
    for name, value in vars(part).items()
    if name[0] != "_" and getattr(value, "__module__", "") == part.__name__
}
globals().update(_NAMES | arithmetic.NUMBERS | arithmetic.MATH | text.FUNCTIONS)

NAMES = frozenset([*_NAMES, *arithmetic.NUMBERS, *arithmetic.MATH, *text.FUNCTIONS])
"""All names that a translated program may import."""

__all__ = sorted(NAMES)
