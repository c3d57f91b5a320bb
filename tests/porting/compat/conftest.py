"""The devices that old names are tested on, and their warnings."""

import pytest
from legacy.conftest import gpu_handle, handle, reference_handle

from cudnn_ctypes.porting import compat

__all__ = ["gpu_handle", "handle", "reference_handle"]


@pytest.fixture
def warnings_again():
    """Every old name warns again."""
    compat._warned.clear()
