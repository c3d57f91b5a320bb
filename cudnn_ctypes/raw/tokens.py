"""Numbers that stand for values in the keys of launches: quick to hash, and never given twice."""

from __future__ import annotations

import itertools
from typing import Any

__all__ = ["Tokens", "unique"]

_MOST = 4096
_numbers = itertools.count(1)


def unique() -> int:
    """A number that stands for nothing else."""
    return next(_numbers)


class Tokens(dict[Any, int]):
    """``tokens[value]`` is one number for all equal values; each value gets another one.

    It is bounded: a value that was forgotten gets a new number, never that of another value.
    """

    def __missing__(self, value: Any) -> int:
        if len(self) >= _MOST:
            self.clear()
        self[value] = token = unique()
        return token
