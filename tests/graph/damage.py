"""JSON that is damaged in every place, and the proof that an error was raised on purpose."""

from __future__ import annotations

import ast
import copy
import functools
import linecache
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cudnn_ctypes
from cudnn_ctypes.errors import CudnnError, SymbolNotFoundError

Way = tuple[Any, ...]
"""Keys and indices from the top of a JSON value to a place in it."""

_PACKAGE = Path(cudnn_ctypes.__file__).parent
DELETED = object()

# What a place gets, one after the other, beside its own value changed a little.
_VALUES: tuple[Any, ...] = (
    *(DELETED, None, True, 0, 1, -1, 3, 1 << 31, 1 << 62, 1 << 70, -(1 << 63), 0.5, 1e308),
    *(float("nan"), float("inf"), "", "nan", "1/2", "::", "x\0", "no_such_name", "CUDNN_DATA_HALF"),
    *([], {}, [0], [1, 1], [[[1]]], [None], ["no_such_name"], [1] * 70, {"no_such_key": 1}),
)


def ways(value: Any, start: Way = ()) -> Iterator[Way]:
    """To every place in a JSON value but the top."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, each in items:
        yield (*start, key)
        yield from ways(each, (*start, key))


@dataclass(frozen=True)
class Damage:
    """One place of a JSON value and what is put there.

    Attributes
    ----------
    way : tuple
    value : JSON value or DELETED
    """

    way: Way
    value: Any

    def done_to(self, stored: Any) -> Any:
        """A damaged copy."""
        damaged = copy.deepcopy(stored)
        *above, last = self.way
        where = _at(damaged, tuple(above))
        if self.value is DELETED:
            del where[last]
        else:
            where[last] = self.value
        return damaged


def damages(stored: Any, names: tuple[str, ...] = ()) -> Iterator[Damage]:
    """All of one JSON value.

    Parameters
    ----------
    names : tuple of str
        What stands in place of strings too: those of other tensors, operations, enumerators.
    """
    for way in ways(stored):
        there = _at(stored, way)
        instead = names if isinstance(there, str) else ()
        for value in (*_VALUES, *_near(there), *instead):
            yield Damage(way, value)


def sample(found: Iterable[Any], count: int, seed: int) -> list[Any]:
    """So many of them, the same each time."""
    every = list(found)
    return random.Random(seed).sample(every, min(count, len(every)))


def _at(value: Any, way: Way) -> Any:
    return functools.reduce(lambda inner, key: inner[key], way, value)


def _near(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, -value, value * 2]
    if isinstance(value, list):
        return [value[:-1], value[::-1], [*value, 1], [value]]
    return []


def raised(call: Callable[[], object]) -> Exception | None:
    """The exception that a call ends with, if it does."""
    try:
        call()
    except Exception as error:
        return error
    return None


def accident(error: BaseException) -> str:
    """Where Python raised an error by itself; "" if the package raised it on purpose.

    On purpose means by a ``raise`` statement of the package, or for a status of cuDNN's.
    """
    if isinstance(error, (CudnnError, SymbolNotFoundError)):
        return ""
    traceback = error.__traceback__
    assert traceback is not None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    filename, line = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
    if line in _raises(filename):
        return ""
    return f"{filename}:{line}: {linecache.getline(filename, line).strip()}"


@functools.cache
def _raises(filename: str) -> frozenset[int]:
    """The lines of the ``raise`` statements of a file of the package."""
    path = Path(filename)
    if not path.is_file() or _PACKAGE not in path.parents:
        return frozenset()
    return frozenset(
        line
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Raise) and node.exc is not None
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )
