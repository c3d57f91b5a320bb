"""The smallest programs for faults of C functions: each makes the call, on the GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cudnn_ctypes import Handle

__all__ = ["CALLS"]

CALLS: Mapping[str, Callable[[Handle], bool]] = {}
"""By the name of the row; a program returns whether the numbers are right."""
