"""The CUDA side: devices, streams, events and memory, on cuda.core.

Importing this loads neither cuda.core nor the CUDA driver; what needs them loads them. While
the reference device is active, memory is host memory and streams are ignored.

``Device`` and ``Stream`` are cuda.core's own classes; ``from ... import *`` leaves them out, as it
would load cuda.core.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ..raw.argument_types import DeviceMemory
from ..raw.argument_types import Stream as _Stream
from .allocation import OutOfDeviceMemoryError
from .buffer import DeviceBuffer
from .cuda import CudaError
from .device import ReferenceDevice, current_device, device_count, make_current, synchronize
from .stream import Event, as_stream_pointer, elapsed_ms
from .tensor import DeviceTensor, as_tensor

TensorLike: TypeAlias = DeviceMemory
"""Device memory: a tensor or buffer of this package or another library, or an address."""

StreamLike: TypeAlias = _Stream
"""A stream of CUDA Python or another library, its address, or None for the default stream."""

__all__ = [
    "CudaError",
    "DeviceBuffer",
    "DeviceTensor",
    "Event",
    "OutOfDeviceMemoryError",
    "ReferenceDevice",
    "StreamLike",
    "TensorLike",
    "as_stream_pointer",
    "as_tensor",
    "current_device",
    "device_count",
    "elapsed_ms",
    "make_current",
    "synchronize",
]


def __getattr__(name: str) -> Any:
    if name in ("Device", "Stream"):
        import cuda.core

        return getattr(cuda.core, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
