"""Helpers with which the readers call C."""

from __future__ import annotations

import ctypes
from typing import Any

from .. import log
from ..bare import bare
from ..function import watched


def call(name: str, *arguments: Any) -> int:
    """Call a C function without checking its arguments and unseen by watchers; return its status.

    Messages that cuDNN logs for a refusal are dropped: they are not reasons of the next call.
    """
    code: int = getattr(bare, name)(*arguments)
    if code and log.logged:
        log.forget()
    return code


def ask(name: str, *arguments: Any) -> int:
    """Call a get function, which the reference device may intercept; return its status."""
    if name not in watched:
        return call(name, *arguments)
    from .. import functions

    return int(getattr(functions, name).unchecked(*arguments))


def ints(count: int) -> Any:
    """Storage for `count` values of C's int."""
    return (ctypes.c_int * count)()


def pointers(*variables: Any) -> list[Any]:
    """References to the variables, for C's out parameters."""
    return [ctypes.byref(variable) for variable in variables]
