"""Which device: a GPU by ``cuda.core.Device``, or the reference device."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from cudnn_ctypes.raw import mode

from .stream import as_stream_pointer


@dataclass(frozen=True)
class ReferenceDevice:
    """The stand-in for a GPU: memory is host memory, operations are carried out in NumPy."""

    name: str = "reference device (NumPy on host memory)"
    device_id: int = 0
    stands_for: str = "NVIDIA H200"
    """The GPU whose engines it has; ``use_reference_device(device=…)`` names another one."""
    compute_capability: tuple[int, int] = (9, 0)
    """The GPU's compute capability."""

    def set_current(self) -> None:
        """Do nothing: there is one."""

    def sync(self) -> None:
        """Do nothing: every operation is finished when its call returns."""

    def __int__(self) -> int:
        return self.device_id


def device_count() -> int:
    """The number of GPUs: ``cuDeviceGetCount``. The reference device is one.

    Raises
    ------
    NoDeviceError
        If there is no GPU and the reference device is not active.
    """
    count: int = mode.runtime.device_count()
    return count


def current_device() -> Any:
    """The device that memory is allocated on by default.

    Returns
    -------
    cuda.core.Device or ReferenceDevice
        The calling thread's current CUDA device, with a context (device 0 if none is current yet);
        or the reference device while it is active. Both have ``name`` and ``device_id``.

    Raises
    ------
    NoDeviceError
        If there is no GPU and the reference device is not active.
    """
    return mode.runtime.current_device()


def make_current(device: Any) -> Any:
    """Make `device`, an int or a device object, the calling thread's current one; return it.

    Its primary context becomes current, unless a context of this device is current already.
    """
    return mode.runtime.make_current(device_id(device))


def device_id(device: Any = None) -> int:
    """The ordinal of `device`, which may be an int, a device object, or None for the current one.

    Raises TypeError if it is none of these. Raises ValueError if there is no such device.
    """
    if device is None:
        return int(current_device().device_id)
    try:
        ordinal = operator.index(getattr(device, "device_id", device))
    except TypeError:
        raise TypeError(
            f"device: expected the number of a GPU or a cuda.core.Device, got {device!r}; for the "
            f"reference device call use_reference_device() or set "
            f"{mode.ENVIRONMENT_VARIABLE}=reference"
        ) from None
    checked: int = mode.runtime.checked_ordinal(ordinal)
    return checked


def synchronize(stream: Any = None, *, device: Any = None) -> None:
    """Wait until the work on `stream`, or without one all work on a device, is done.

    `device` is the current one if left out.

    ``cuStreamSynchronize``, ``cuCtxSynchronize``. Nothing to wait for on the reference device.
    """
    mode.runtime.synchronize(device, None if stream is None else as_stream_pointer(stream))
