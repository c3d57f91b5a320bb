"""What cuDNN logs while a call fails.

``cudnnGetLastErrorString`` often holds only the outermost step; the log callback receives the
whole chain of reasons. cuDNN calls it only when it has an error or a warning to tell, so calls
that succeed in silence cost nothing.
"""

from __future__ import annotations

import atexit
import ctypes
import re
import threading
from collections import deque
from typing import Any

__all__ = ["install", "put", "take"]

_ERROR_AND_WARNING = (1 << 1) | (1 << 2)  # CUDNN_SEV_ERROR_EN | CUDNN_SEV_WARNING_EN
_KEPT = 64  # messages per thread; a heuristics query can warn once per engine config

_Callback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_FUNCTION = re.compile(r"function (\w+)\(\) called")
_REASON = re.compile(r"^\s*(?:Error|Warning|Info):\s*")


class _Messages(threading.local):
    def __init__(self) -> None:
        self.queue: deque[tuple[str, tuple[str, ...]]] = deque(maxlen=_KEPT)


_messages = _Messages()


def take(function: str) -> tuple[str, ...]:
    """The reasons that this thread's last call of `function` logged; forgets all messages."""
    reasons: list[str] = []
    while _messages.queue:
        name, lines = _messages.queue.pop()
        if name != function:
            break
        reasons[:0] = lines
    _messages.queue.clear()
    return tuple(dict.fromkeys(reasons))


def put(function: str, *reasons: str) -> None:
    """Note why a call of `function` fails, as if cuDNN had logged it."""
    _messages.queue.append((function, reasons))


def _lines(message: int) -> list[str]:
    # A message is a list of NUL-terminated lines that an empty line ends.
    lines: list[str] = []
    while line := ctypes.string_at(message):
        lines.append(line.decode("utf-8", "replace"))
        message += len(line) + 1
    return lines


@_Callback  # type: ignore[untyped-decorator]
def _receive(severity: int, user_data: Any, debug: Any, message: int) -> None:
    lines = _lines(message)
    called = _FUNCTION.search(lines[0]) if lines else None
    reasons = tuple(_REASON.sub("", line) for line in lines if _REASON.match(line))
    if called and reasons:
        put(called[1], *reasons)


def install(set_callback: Any) -> None:
    """Register the callback with the C function `set_callback`, until the interpreter exits."""
    set_callback.argtypes = [ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p]
    set_callback(_ERROR_AND_WARNING, None, _receive)
    # cuDNN's own clean-up at exit may log, when Python can no longer be called.
    atexit.register(set_callback, 0, None, None)
