"""Whether steps that are done again and again leave memory behind."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from cudnn_ctypes import Handle

from .test_convolution_refusals import device_bytes
from .test_descriptors import heap_bytes

ROUNDS = 3


def check_no_memory_is_left(
    handle: Handle, step: Callable[[], Any], *, warm_up: int, on_reference: int, slack: int
) -> None:
    """A thousand steps on a GPU, and fewer on the reference device, leave host and device as is.

    Parameters
    ----------
    warm_up, on_reference : int
        Steps before the first look; steps of each of the three rounds on the reference device.
    slack : int
        Bytes that a thousand steps may leave on the host. A descriptor takes more than 64 bytes, a
        thousand of them 64 kB.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        for _ in range(warm_up):
            step()
        count = on_reference if handle.on_reference_device else 334
        growths = [_growth(handle, step, count) for _ in range(ROUNDS)]
    # Caches grow in some rounds, and other processes take device memory; what steps leave behind
    # grows in every one.
    host, device = (min(each) for each in zip(*growths, strict=True))
    assert device <= 0, growths
    assert host < slack * count / 1000, growths


def _growth(handle: Handle, step: Callable[[], Any], count: int) -> tuple[int, int]:
    """By how many bytes `count` steps let the host's and the device's memory in use grow."""
    handle.synchronize()
    host, device = heap_bytes(), device_bytes(handle)
    for _ in range(count):
        step()
    handle.synchronize()
    return heap_bytes() - host, device_bytes(handle) - device
