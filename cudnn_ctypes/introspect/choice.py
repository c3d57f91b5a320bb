"""Which calls of a program a trace sees."""

from __future__ import annotations

import fnmatch
from typing import Any

__all__ = ["Choice"]

_MEMORY = ("allocate", "free")


class Choice:
    """By name, and by how many they are.

    Parameters
    ----------
    only, skip : str or iterable of str
        Patterns of C functions, for which "cudnn" may be left out.
    first : int, optional
        How many calls; None for all.

    Raises
    ------
    TypeError, ValueError
        If they are something else.
    """

    def __init__(self, only: Any, skip: Any, first: Any) -> None:
        self._only, self._skip = _patterns("only", only), _patterns("skip", skip)
        self.first: int | None = _limit(first)

    def wants(self, function: str) -> bool:
        """Whether calls of a C function are seen."""
        chosen = not self._only or any(fnmatch.fnmatchcase(function, each) for each in self._only)
        return chosen and not any(fnmatch.fnmatchcase(function, each) for each in self._skip)


def _limit(first: Any) -> int | None:
    if first is None:
        return None
    if isinstance(first, bool) or not hasattr(first, "__index__"):
        raise TypeError(f"first: expected an int, got {first!r}")
    if first < 0:
        raise ValueError(f"first: expected 0 or more, got {first}")
    return int(first)


def _patterns(name: str, given: Any) -> tuple[str, ...]:
    patterns = (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(each, str) for each in patterns):
        raise TypeError(f"{name}: expected names of C functions, got {given!r}")
    # "Convolution*" means cudnnConvolution*.
    return tuple(
        each if each.startswith(("cudnn", "*", "?", "[")) or each in _MEMORY else f"cudnn{each}"
        for each in patterns
    )
