"""The device that carries out calls, the GPU or the reference device, and its memory checks.

Read `runtime` and flags through the module, ``mode.runtime``: an imported copy would miss later
changes. The flags start from the environment variables ``CUDNN_CTYPES_DEVICE`` and
``CUDNN_CTYPES_MEMCHECK``.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from typing import Any

from .spaces import GpuSpace

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_DEVICE"
MEMCHECK_VARIABLE = "CUDNN_CTYPES_MEMCHECK"


def _requested_by_environment() -> tuple[bool, str]:
    """Whether the variable asks for the reference device, and the GPU it stands for, or ""."""
    value = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    kind, colon, gpu = (part.strip() for part in value.partition(":"))
    kind = kind.lower()
    if kind not in ("", "auto", "cuda", "reference") or (colon and kind != "reference"):
        raise ValueError(
            f"{ENVIRONMENT_VARIABLE}={value!r}: expected 'reference' (carry everything out in "
            "NumPy, on host memory), 'reference:B200' (the same, with the engines of a B200), "
            "'auto' (the GPU if there is one, else the reference device) or 'cuda' (the default)"
        )
    return (_chosen() if kind == "auto" else kind == "reference"), gpu


def _chosen() -> bool:
    """Print the choice for "auto"; True for the reference device, because there is no GPU."""
    missing = why_no_gpu()
    chosen = f"the reference device, in NumPy ({missing})" if missing else "the GPU"
    print(f"{ENVIRONMENT_VARIABLE}=auto: running on {chosen}", file=sys.stderr)
    return bool(missing)


def why_no_gpu() -> str:
    """The reason why the driver has no GPU for this process; "" if it has one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int()
        status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    except (OSError, AttributeError) as error:
        absent = "cannot open shared object file: No such file" in str(error)
        return "there is no driver, libcuda.so.1" if absent else f"no driver: {error}"
    if status:
        return f"the driver's cuInit gave CUDA error {status}"
    return "" if count.value else "the driver sees no GPU"


def _checks_by_environment() -> set[str]:
    value = os.environ.get(MEMCHECK_VARIABLE, "").lower()
    names = {name.strip() for name in value.split(",")} - {""}
    if not names <= {"strict", "guard_pages"}:
        raise ValueError(
            f"{MEMCHECK_VARIABLE}={value!r}: expected 'strict' (reading memory that was never "
            f"written is an error), 'guard_pages' (a page that cannot be touched behind each "
            f"block), or both with a comma between them"
        )
    return names


reference_device_requested: bool
requested_gpu: str
reference_device_requested, requested_gpu = _requested_by_environment()

strict: bool = "strict" in _checks_by_environment()
"""Whether reading memory that was never written is an error on the reference device."""

guard_pages: bool = "guard_pages" in _checks_by_environment()
"""Whether an inaccessible page follows each new block of the reference device."""

reference_gpu: Mapping[str, Any] | None = None
"""Properties of the GPU that the reference device stands for; None for the default GPU."""

plans_without_engine: set[int] = set()
"""Addresses of operation graphs that the reference device executes in place of a plan."""


runtime: Any = GpuSpace()
"""The runtime now: a ``runtime.interface.Runtime`` once that room is imported."""


def use(active: Any) -> None:
    """Have a runtime carry out all work from now on."""
    global runtime
    runtime = active
