"""What each operation computes, in plain NumPy; and the reference device that carries it out.

Each name is loaded on first use.
"""

from __future__ import annotations

from ..lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
