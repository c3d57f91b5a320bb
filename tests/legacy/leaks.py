"""Whether steps that are done again and again leave memory behind."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from cudnn_ctypes import Handle

from .test_convolution_refusals import least_device_growth
from .test_descriptors import heap_bytes

ROUNDS = 3  # of least_device_growth


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
        before = heap_bytes()
        count = on_reference if handle.on_reference_device else 334
        assert least_device_growth(handle, step, count) <= 0
        grown = heap_bytes() - before
        assert grown < slack * ROUNDS * count / 1000 + 16 * 1024, grown
