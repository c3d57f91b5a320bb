"""The registered implementations of C functions, and their refusals.

`dispatch` sends calls here; the declaration of each function names its module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import raw

Implementation = Callable[[Any], int | None]
"""An implementation of a C function, of its `Call`."""


class Refused(Exception):
    """Raised by an implementation for arguments that cuDNN refuses too: a status and why."""

    def __init__(self, status: raw.cudnnStatus_t, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def bad_param(reason: str) -> Refused:
    """BAD_PARAM, and why."""
    return Refused(raw.CUDNN_STATUS_BAD_PARAM, reason)


def not_supported(reason: str) -> Refused:
    """NOT_SUPPORTED, and why."""
    return Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, reason)


def execution_failed(reason: str) -> Refused:
    """EXECUTION_FAILED, and why."""
    return Refused(raw.CUDNN_STATUS_EXECUTION_FAILED, reason)


implementations: dict[str, Implementation] = {}


def implements(*names: str) -> Callable[[Implementation], Implementation]:
    """Register an implementation of C functions: it takes a `Call`, and returns None on success.

    Equivalent C functions share an implementation; `Call.name` is the called function's name.

    The declarations have two more kinds. What is taken over is called in both modes, since its
    arguments other than a handle may contain handles; it calls `Call.native`. What is followed goes
    to cuDNN itself; the implementation is called after each successful call, and notes values that
    cuDNN's descriptor cannot hold.
    """

    def register(implementation: Implementation) -> Implementation:
        implementations.update(dict.fromkeys(names, implementation))
        return implementation

    return register
