"""Checks of arguments that all layers share, and suggestions for their messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np

from .raw.values import described

__all__ = ["flag", "suggestion"]


def flag(name: str, value: Any) -> bool:
    """`value`, which must be a bool.

    Raises
    ------
    TypeError
        If `value` is something else; the message begins with `name`.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {described(value)}")
    return bool(value)


def suggestion(name: str, names: Iterable[str]) -> str:
    """A question about names spelled like `name`, for the end of a message; "" without any."""
    similar = difflib.get_close_matches(name, names, n=2, cutoff=0.5)
    return f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ""
