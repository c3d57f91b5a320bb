"""The devices that old names are tested on, and their warnings."""

from __future__ import annotations

import pytest
from legacy.conftest import gpu_handle, handle, reference_handle

from cudnn_ctypes.porting.compat import forget_warned

__all__ = ["gpu_handle", "handle", "reference_handle"]


@pytest.fixture
def warnings_again() -> None:
    """Every old name warns again."""
    forget_warned()
