"""The operations in plain NumPy, and the reference device, which carries out C calls with them.

Each name is loaded on first use.

Provisional: names and arguments may change in any release.
"""

from __future__ import annotations

from ..lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
