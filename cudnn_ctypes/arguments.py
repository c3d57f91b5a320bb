"""Checks of arguments that all layers share, and suggestions for their messages."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .raw.ctypes_support import CudnnEnum
from .raw.values import as_int, described

__all__ = ["c_integer", "expect", "file_path", "flag", "integer", "integers", "items", "suggestion"]

T = TypeVar("T")


def expect(name: str, value: Any, cls: type[T]) -> T:
    """`value`, the argument called `name`, which must be a `cls`.

    Raises
    ------
    TypeError
        If it is not.
    """
    if not isinstance(value, cls):
        raise TypeError(f"{name}: expected a {cls.__name__}, got {value!r}")
    return value


def items(name: str, values: Iterable[T], expected: str) -> tuple[T, ...]:
    """`values`, a collection that is no text, as a tuple.

    Raises
    ------
    TypeError
        If it is none; the message begins with `name`.
    """
    if isinstance(values, (type, str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected {expected}, got {described(values)}")
    return tuple(values)


def file_path(name: str, value: Any) -> Path:
    """`value`, the name of a file or folder.

    Raises
    ------
    TypeError
        If it is none; the message begins with `name`.
    """
    try:
        return Path(value)
    except TypeError:
        raise TypeError(f"{name}: expected a path, got {described(value)}") from None


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


def integer(name: str, value: Any, *, least: int | None = None, expected: str = "an int") -> int:
    """`value`, an int of any library, as an int of at least `least`.

    A bool, an enumerator and an array are none: where an int is meant, each is a mistake.

    Raises
    ------
    TypeError, ValueError
        If it is none, or less; the message begins with `name`.
    """
    try:
        is_member = isinstance(value, CudnnEnum) and not value.is_count
        if is_member or isinstance(value, (bool, np.bool_)) or getattr(value, "ndim", None):
            raise TypeError
        number = int(operator.index(value))
    except Exception:  # numbers of other libraries raise errors of any class
        raise TypeError(f"{name}: expected {expected}, got {described(value)}") from None
    if least is not None and number < least:
        raise ValueError(f"{name}: expected {expected}, at least {least}, got {number}")
    return number


def integers(name: str, values: Any) -> tuple[int, ...]:
    """`values`, a sequence of ints of either sign, as a tuple.

    Raises
    ------
    TypeError
        If it is none; the message begins with `name`.
    """
    try:
        if not isinstance(values, Iterable) or isinstance(values, (str, bytes, Set, Mapping)):
            raise TypeError
        return tuple([v if type(v) is int else integer(name, v) for v in values])
    except Exception:
        raise TypeError(f"{name}: expected ints, got {described(values)}") from None


def c_integer(name: str, value: Any, ctype: Any) -> int:
    """`value`, an int or a C variable that holds one, as an int within the range of `ctype`.

    Raises
    ------
    TypeError, ValueError
        If it is none, or beyond the range; the message begins with `name`.
    """
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected an int, got {described(value)}")
    try:
        return as_int(value, ctype)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None


def suggestion(name: str, names: Iterable[str]) -> str:
    """A question about names spelled like `name`, for the end of a message; "" without any."""
    similar = difflib.get_close_matches(name, names, n=2, cutoff=0.5)
    return f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ""
