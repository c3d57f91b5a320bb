"""One measurement on a GPU at a time, whichever process of the user makes it."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["gpu_lock"]


@contextmanager
def gpu_lock(uuid: str) -> Iterator[None]:
    """Wait until no other thread or process of the user holds the lock of a GPU, then hold it.

    The lock goes with a process that dies. Without a folder for temporary files there is none.
    """
    name = f"cudnn_ctypes-{os.geteuid()}-{uuid}.lock"
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        file = os.open(Path(tempfile.gettempdir()) / name, flags, 0o600)
    except OSError:
        yield
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
