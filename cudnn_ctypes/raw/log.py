"""The messages that cuDNN logs while a call fails: the reasons for the failure.

``cudnnGetLastErrorString`` often holds only the outermost step; the log callback receives the
whole chain of reasons. cuDNN calls it only for errors and warnings, so calls without them cost
nothing. A call that succeeds with a warning leaves its messages until the thread's next call.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import threading
from collections.abc import Iterator

# Origins of a reason.
CUDNN, GUARD, REFERENCE_DEVICE = "cuDNN", "cudnn_ctypes", "reference device"

_KEPT = 256  # reasons per call; a heuristics query can warn once per engine config

_REASON = re.compile(r"^\s*(?:Error|Warning|Info):(?!\s*Traceback contains)\s*")


class Reasons(list[str]):
    """The reasons for one call's failure, and their origin."""

    source = CUDNN


logged: dict[int, Reasons] = {}
"""The reasons logged during each thread's latest call, by thread; most calls leave none."""


def forget() -> None:
    """Drop the reasons of this thread's latest call."""
    logged.pop(threading.get_ident(), None)


def take() -> tuple[tuple[str, ...], str]:
    """Remove and return the distinct reasons of this thread's latest call, and their origin."""
    reasons = logged.pop(threading.get_ident(), None) or Reasons()
    return tuple(dict.fromkeys(reasons)), reasons.source


@contextlib.contextmanager
def set_aside() -> Iterator[None]:
    """Keep the reasons of this thread's latest call while a finalizer runs, at any moment."""
    thread = threading.get_ident()
    reasons = logged.pop(thread, None)
    try:
        yield
    finally:
        logged.pop(thread, None)
        if reasons is not None:
            logged[thread] = reasons


def put(*reasons: str, source: str = CUDNN) -> None:
    """Add reasons for a call's failure; `source` is their origin."""
    kept = logged.setdefault(threading.get_ident(), Reasons())
    if source != CUDNN:
        kept.source = source
    kept += reasons
    del kept[:-_KEPT]


def message_lines(message: int) -> list[str]:
    """The lines of a message at an address; each ends with NUL, and an empty line ends the last."""
    lines: list[str] = []
    while line := ctypes.string_at(message):
        lines.append(line.decode("utf-8", "replace"))
        message += len(line) + 1
    return lines


def reasons(message: int) -> list[str]:
    """The reasons in the message of cuDNN's log at an address."""
    lines = message_lines(message)
    return [_REASON.sub("", line).strip() for line in lines if _REASON.match(line)]
