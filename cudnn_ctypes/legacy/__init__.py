"""Layer 2: cuDNN's legacy API as objects.

Descriptors own their C object, print and compare what the library holds, and can be passed to any
function of ``cudnn_ctypes.raw``. Operations take a ``Handle`` first, then tensors.
"""

from __future__ import annotations

from ..lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
