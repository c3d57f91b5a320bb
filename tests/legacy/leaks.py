"""Whether steps that are done again and again leave memory behind."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import tracemalloc
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest

from cudnn_ctypes import Handle
from cudnn_ctypes.raw import host_blocks
from cudnn_ctypes.runtime.launching.likeness import Plans

FOUND = 32
"""Bytes on the host that are found if each step leaves them: the least that malloc gives."""

STEPS_ON_HOST, STEPS_ON_GPU = 24, 300  # of one round


def check_no_memory_is_left(
    step: Callable[[], Any], handle: Handle | None = None, *, rounds: int = 20
) -> None:
    """Steps leave host and device as they are, in one of at most so many rounds.

    What steps leave behind grows in every round. Caches grow in some, and other processes take
    device memory in some.
    """
    on_gpu = handle is not None and not handle.on_reference_device
    count = STEPS_ON_GPU if on_gpu else STEPS_ON_HOST
    with warnings.catch_warnings(), little_is_kept(), older_objects_uncollected():
        warnings.simplefilter("error", ResourceWarning)
        for _ in range(10):
            step()
        growths: list[tuple[int, int]] = []
        while not growths or min(growths)[0] > count * FOUND // 2 or min(d for _, d in growths) > 0:
            assert len(growths) < rounds, f"{growths}\n{_what_grew(step, count)}"
            growths.append(_growth(handle, step, count))


def _growth(handle: Handle | None, step: Callable[[], Any], count: int) -> tuple[int, int]:
    """By how many bytes `count` steps let the host's and the device's memory in use grow."""
    host, device = heap_bytes(), device_bytes(handle)
    for _ in range(count):
        step()
    return heap_bytes() - host, device_bytes(handle) - device


def _what_grew(step: Callable[[], Any], count: int) -> str:
    """The places in Python whose memory grew in `count` steps; none if C's alone did."""
    tracemalloc.start(12)
    try:
        gc.collect()
        before = tracemalloc.take_snapshot()
        for _ in range(count):
            step()
        gc.collect()
        grown = tracemalloc.take_snapshot().compare_to(before, "traceback")
    finally:
        tracemalloc.stop()
    places = (["", str(entry), *entry.traceback.format()] for entry in grown[:8])
    return "\n".join(line for place in places for line in place)


@contextlib.contextmanager
def little_is_kept() -> Iterator[None]:
    """Few freed blocks of the reference device and few plans: until they are many, each is more."""
    with (
        mock.patch.object(host_blocks, "_KEPT_BLOCKS", 8),
        mock.patch.object(host_blocks, "forgotten", deque(maxlen=8)),
        mock.patch.object(Plans, "MOST", 8),
    ):
        yield


@contextlib.contextmanager
def older_objects_uncollected() -> Iterator[None]:
    """Have the garbage collector look at new objects alone, which takes a hundredth of the time."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.collect()
        gc.freeze()


class _Info(ctypes.Structure):
    """``struct mallinfo2``."""

    _fields_ = [(f"field{i}", ctypes.c_size_t) for i in range(10)]


@functools.cache
def _mallinfo2() -> Callable[[], _Info]:
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        pytest.skip("needs glibc 2.33 or newer")
    libc.mallinfo2.restype = _Info
    return libc.mallinfo2


def heap_bytes() -> int:
    """Bytes that malloc has given out (not Python's own small objects).

    A class made for each call would count as growth wherever something keeps it alive.
    """
    mallinfo2 = _mallinfo2()
    gc.collect()
    return int(mallinfo2().field7)


def device_bytes(handle: Handle | None) -> int:
    """Device memory in use on the handle's GPU, by all processes; 0 without a GPU."""
    if handle is None or handle.on_reference_device:
        return 0
    from cudnn_ctypes.runtime import cuda

    handle.synchronize()
    free, total = cuda.call("cuMemGetInfo")
    return int(total) - int(free)
