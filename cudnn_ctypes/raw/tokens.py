"""Unique numbers that replace values in the keys of launches: they hash quickly."""

from __future__ import annotations

import itertools
from typing import Any

_MOST = 32768
_numbers = itertools.count(1)


def unique() -> int:
    """A number that was never returned before."""
    return next(_numbers)


class Tokens(dict[Any, int]):
    """``tokens[value]`` is the same number for equal values, and another for each other value.

    The table is bounded: a dropped value gets a new number, never another value's.
    """

    def __missing__(self, value: Any) -> int:
        if len(self) >= _MOST:
            self.clear()
        self[value] = token = unique()
        return token
