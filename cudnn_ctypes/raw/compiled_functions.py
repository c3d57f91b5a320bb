"""Python functions compiled from generated source, for launches.

The source has no loops and no dispatch, so a call takes a fraction of the time. Equal sources are
compiled once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

__all__ = ["code_of", "function_of"]


@functools.lru_cache(maxsize=512)
def code_of(source: str, name: str) -> CodeType:
    """The code of the only function in `source`; tracebacks call its file the launch of `name`."""
    module = compile(source, f"<launch of {name}>", "exec")
    (code,) = (each for each in module.co_consts if isinstance(each, CodeType))
    return code


def function_of(source: str, name: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """The only function in `source`, with `scope` as its global names."""
    return FunctionType(code_of(source, name), scope)
