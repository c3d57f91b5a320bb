"""The registered implementations of C functions, and their refusals.

`dispatch` sends calls here; the declaration of each function names its module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import raw

__all__ = [
    "Implementation",
    "Refused",
    "bad_param",
    "execution_failed",
    "followers",
    "follows",
    "implementations",
    "implements",
    "not_supported",
    "refused",
    "refuses",
    "taken_over",
    "takes_over",
]

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
followers: dict[str, Implementation] = {}
taken_over: dict[str, Implementation] = {}
refused: dict[str, str] = {}


def implements(*names: str) -> Callable[[Implementation], Implementation]:
    """Register an implementation of C functions: it takes a `Call`, and returns None on success.

    Equivalent C functions share an implementation; `Call.name` is the called function's name.
    """
    return _register(names, implementations)


def takes_over(*names: str) -> Callable[[Implementation], Implementation]:
    """Register a replacement of C functions that is called in both modes.

    It is for functions without a handle parameter whose other arguments may contain handles. The
    replacement calls `Call.native`.
    """
    return _register(names, taken_over)


def follows(*names: str) -> Callable[[Implementation], Implementation]:
    """Register a function to call after each successful call of C functions without a handle.

    These calls go to cuDNN itself; the function notes values that cuDNN's descriptor cannot hold.
    """
    return _register(names, followers)


def _register(
    names: tuple[str, ...], home: dict[str, Implementation]
) -> Callable[[Implementation], Implementation]:
    def register(implementation: Implementation) -> Implementation:
        home.update(dict.fromkeys(names, implementation))
        return implementation

    return register


def refuses(name: str, reason: str) -> None:
    """Give NOT_SUPPORTED and this reason for the C function `name`."""
    refused[name] = reason
