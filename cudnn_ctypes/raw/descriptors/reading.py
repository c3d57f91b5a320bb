"""Get functions, which readers of descriptors call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import log
from ..bare import bare
from ..call_source import answering
from ..function import binding, watched
from ..process import Bounded
from ..records import Unreadable


def _reading(name: str) -> Callable[..., Any]:
    bound = binding(name)
    scope = {"_watched": watched, "_bare": bare, "_bound": bound, "_failed": _failed}
    carrier = f"(_bound.unchecked if {name!r} in _watched else _bare.{name})"
    return answering(bound, carrier, scope)


def _failed(code: int) -> None:
    if log.logged:  # the messages are no reasons of the next call
        log.forget()
    raise Unreadable


read: Bounded[str, Callable[..., Any]] = Bounded(_reading)
"""``read[name](...)`` is a tuple of what a get function writes, given its other arguments.

The reference device may intercept the function. Unreadable is raised if it refuses.
"""


def call(name: str, *arguments: Any) -> int:
    """Call a C function without checking its arguments and unseen by watchers; return its status.

    Messages that cuDNN logs for a refusal are dropped: they are not reasons of the next call.
    """
    code: int = getattr(bare, name)(*arguments)
    if code and log.logged:
        log.forget()
    return code


def check_set(is_set: object) -> None:
    """Raise Unreadable if values are those of a descriptor that was never set."""
    if not is_set:
        raise Unreadable
