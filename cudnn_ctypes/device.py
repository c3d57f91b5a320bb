"""The former name of ``cudnn_ctypes.runtime``."""

from __future__ import annotations

from .runtime import *  # noqa: F403
from .runtime import __all__ as __all__
from .runtime import __getattr__ as __getattr__
