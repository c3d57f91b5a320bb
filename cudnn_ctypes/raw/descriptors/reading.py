"""How the readers call C."""

from __future__ import annotations

import ctypes
from typing import Any

from .. import log
from ..bare import bare, watched

__all__ = ["ask", "call", "ints", "pointers"]


def call(name: str, *arguments: Any) -> int:
    """Call a C function that nobody watches, without a look at its arguments; its status.

    What a refusal made cuDNN log is dropped: the call that follows has its own reasons.
    """
    code: int = getattr(bare, name)(*arguments)
    if code and log.logged:
        log.forget()
    return code


def ask(name: str, *arguments: Any) -> int:
    """Call a get function that the reference device may answer for; its status."""
    if name not in watched:
        return call(name, *arguments)
    from .. import functions

    return int(getattr(functions, name).unchecked(*arguments))


def ints(count: int) -> Any:
    """Storage for `count` values of C's int."""
    return (ctypes.c_int * count)()


def pointers(*variables: Any) -> list[Any]:
    """What C receives for its out parameters."""
    return [ctypes.byref(variable) for variable in variables]
