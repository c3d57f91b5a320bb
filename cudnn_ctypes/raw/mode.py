"""Whether calls that need a device go to the GPU or to the reference device.

Read the flag as ``mode.reference_device_active`` (through the module: a copy of the name would not
follow later changes). It starts from the environment variable ``CUDNN_CTYPES_DEVICE``.
"""

from __future__ import annotations

import os

__all__ = [
    "ENVIRONMENT_VARIABLE",
    "plans_without_engine",
    "reference_device_active",
    "set_reference_device_active",
]

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_DEVICE"


def _requested_by_environment() -> bool:
    value = os.environ.get(ENVIRONMENT_VARIABLE, "").strip().lower()
    if value not in ("", "cuda", "reference"):
        raise ValueError(
            f"{ENVIRONMENT_VARIABLE}={value!r}: expected 'reference' (carry everything out in "
            "NumPy, on host memory) or 'cuda' (the default)"
        )
    return value == "reference"


reference_device_active: bool = _requested_by_environment()

plans_without_engine: set[int] = set()
"""Addresses of operation graphs that the reference device executes in place of a plan."""


def set_reference_device_active(active: bool) -> None:
    """Send what is created from now on to the reference device, or back to the GPU."""
    global reference_device_active
    reference_device_active = bool(active)
