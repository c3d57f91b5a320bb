"""The selection of calls that a trace records."""

from __future__ import annotations

import fnmatch
from typing import Any

from ..arguments import integer, items

__all__ = ["Choice"]

_MEMORY = ("allocate", "free")


class Choice:
    """A selection of calls by function name and by number.

    Parameters
    ----------
    only, skip : str or iterable of str
        Patterns of C functions' names; "cudnn" may be omitted.
    first : int, optional
        The number of calls; None for all.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type or a wrong value.
    """

    def __init__(self, only: Any, skip: Any, first: Any) -> None:
        self._only, self._skip = _patterns("only", only), _patterns("skip", skip)
        self.first: int | None = _limit(first)

    def wants(self, function: str) -> bool:
        """Whether calls of a C function are recorded."""
        chosen = not self._only or any(fnmatch.fnmatchcase(function, each) for each in self._only)
        return chosen and not any(fnmatch.fnmatchcase(function, each) for each in self._skip)


def _limit(first: Any) -> int | None:
    return None if first is None else integer("first", first, least=0)


def _patterns(name: str, value: Any) -> tuple[str, ...]:
    expected = "names of C functions"
    patterns = (value,) if isinstance(value, str) else items(name, value, expected)
    if not all(isinstance(each, str) for each in patterns):
        raise TypeError(f"{name}: expected {expected}, got {value!r}")
    # "Convolution*" means cudnnConvolution*.
    return tuple(
        each if each.startswith(("cudnn", "*", "?", "[")) or each in _MEMORY else f"cudnn{each}"
        for each in patterns
    )
