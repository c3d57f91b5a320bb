"""Whether steps that are done again and again leave memory behind."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from cudnn_ctypes import Handle

from .test_descriptors import heap_bytes

ROUNDS = 15  # at most


def check_no_memory_is_left(
    handle: Handle, step: Callable[[], Any], *, warm_up: int, on_reference: int, slack: int
) -> None:
    """Some hundred steps leave host and device as is, in one of some rounds.

    Parameters
    ----------
    warm_up, on_reference : int
        Steps before the first look; steps of each round on the reference device. On a GPU they are
        a thousand.
    slack : int
        Bytes that a thousand steps may leave on the host. A descriptor takes more than 64 bytes, a
        thousand of them 64 kB.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        for _ in range(warm_up):
            step()
        count = on_reference if handle.on_reference_device else 1000
        allowed = slack * count / 1000
        growths: list[tuple[int, int]] = []
        # Caches grow in some rounds, and other processes take device memory; what steps leave
        # behind grows in every one.
        while not growths or min(growths)[0] >= allowed or min(d for _, d in growths) > 0:
            assert len(growths) < ROUNDS, growths
            growths.append(_growth(handle, step, count))


def _growth(handle: Handle, step: Callable[[], Any], count: int) -> tuple[int, int]:
    """By how many bytes `count` steps let the host's and the device's memory in use grow."""
    handle.synchronize()
    host, device = heap_bytes(), device_bytes(handle)
    for _ in range(count):
        step()
    handle.synchronize()
    return heap_bytes() - host, device_bytes(handle) - device


def device_bytes(handle: Handle) -> int:
    """Device memory in use on the handle's GPU, by all processes."""
    if handle.on_reference_device:
        return 0
    from cudnn_ctypes.device import cuda

    free, total = cuda.call("cuMemGetInfo")
    return int(total) - int(free)
