"""The functions run on the reference device, and on a GPU where there is one."""

from porting.cudart.conftest import any_device, reference_device

__all__ = ["any_device", "reference_device"]
