"""The runtime of translated C programs: memory, arithmetic, text, files and containers.

Each name does what the C name does, so that a program reads as its source does. Integers are ints
of Python, wrapped by functions such as `uint32` where C's types would wrap; ``float`` is
``numpy.float32``, ``double`` is Python's float.
"""

from __future__ import annotations

from . import arithmetic, containers, flow, memory, text
from .arithmetic import *  # noqa: F403
from .arithmetic import MATH
from .containers import *  # noqa: F403
from .flow import *  # noqa: F403
from .memory import *  # noqa: F403
from .text import *  # noqa: F403
from .text import FUNCTIONS

globals().update(MATH | FUNCTIONS)

_PARTS = (arithmetic, containers, flow, memory, text)
NAMES = frozenset([*(name for part in _PARTS for name in part.__all__), *MATH, *FUNCTIONS])
"""All names that a translated program may import."""

__all__ = sorted(NAMES)
