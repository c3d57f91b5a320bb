"""Checks of arguments that all layers share, and what their messages end with."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np

from .raw.values import described

__all__ = ["flag", "suggestion"]


def flag(name: str, value: Any) -> bool:
    """A bool.

    Raises
    ------
    TypeError
        If `value` is something else; the message begins with `name`.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {described(value)}")
    return bool(value)


def suggestion(name: str, names: Iterable[str]) -> str:
    """A question about names like `name`, to be put at the end of a message; perhaps ""."""
    similar = difflib.get_close_matches(name, names, n=2, cutoff=0.5)
    return f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ""
