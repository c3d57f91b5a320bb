"""Memory that host and device share: what cudaMallocManaged and cudaMallocHost give."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..cudart import DevicePointer

__all__ = ["SharedPointer"]


class SharedPointer(DevicePointer):
    """A pointer that the host may read and write through; floats are ``numpy.float32``."""

    def __getitem__(self, index: int) -> Any:
        value = super().__getitem__(index)
        return np.float32(value) if self.ctype is ctypes.c_float else value

    def __add__(self, count: int) -> SharedPointer:
        return SharedPointer(self.ctype, int(super().__add__(count)))
