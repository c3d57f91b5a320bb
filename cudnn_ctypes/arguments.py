"""Checks of what users give: arguments, enumerators by short names, JSON."""

from __future__ import annotations

import difflib
import functools
import json
import operator
from collections.abc import Iterable, KeysView, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from .dtypes import data_type_name
from .raw import cudnnDataType_t
from .raw.ctypes_support import CudnnEnum, short_name
from .raw.values import as_int, described

T = TypeVar("T")
E = TypeVar("E", bound=CudnnEnum)


def expect(name: str, value: Any, cls: type[T]) -> T:
    """`value`, the argument called `name`, which must be a `cls`.

    Raises TypeError if it is not.
    """
    if not isinstance(value, cls):
        raise TypeError(f"{name}: expected a {cls.__name__}, got {value!r}")
    return value


def items(name: str, values: Iterable[T], expected: str) -> tuple[T, ...]:
    """`values`, a collection that is no text, as a tuple.

    Raises TypeError if it is none; the message begins with `name`.
    """
    if isinstance(values, (type, str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected {expected}, got {described(values)}")
    return tuple(values)


def file_path(name: str, value: Any) -> Path:
    """`value`, the name of a file or folder.

    Raises TypeError if it is none; the message begins with `name`.
    """
    try:
        return Path(value)
    except TypeError:
        raise TypeError(f"{name}: expected a path, got {described(value)}") from None


def flag(name: str, value: Any) -> bool:
    """`value`, which must be a bool.

    Raises TypeError if `value` is something else; the message begins with `name`.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {described(value)}")
    return bool(value)


def integer(name: str, value: Any, *, least: int | None = None, expected: str = "an int") -> int:
    """`value`, an int of any library, as an int of at least `least`.

    A bool, an enumerator and an array are none: where an int is meant, each is a mistake.

    Raises TypeError or ValueError if it is none, or less; the message begins with `name`.
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

    Raises TypeError if it is none; the message begins with `name`.
    """
    try:
        if not isinstance(values, Iterable) or isinstance(values, (str, bytes, Set, Mapping)):
            raise TypeError
        return tuple([v if type(v) is int else integer(name, v) for v in values])
    except Exception:
        raise TypeError(f"{name}: expected ints, got {described(values)}") from None


def c_integer(name: str, value: Any, ctype: Any) -> int:
    """`value`, an int or a C variable that holds one, as an int within the range of `ctype`.

    Raises TypeError or ValueError if it is none, or beyond the range; the message begins with
    `name`.
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


def missing_attribute(
    obj: object, name: str, what: str, others: Mapping[str, str]
) -> AttributeError:
    """The error for a name that an object has not, with the one that is meant.

    - `what`: the object, for the message: "a graph".
    - `others`: names that others have for its own.
    """
    message = f"{what} has no {name!r}"
    if not name.startswith("_"):
        known = [each for each in dir(type(obj)) if not each.startswith("_")]
        meant = others.get(name) or next(
            (each for each in known if each.replace("_", "") == name.replace("_", "").lower()), None
        )
        message += f"; it is called {meant!r}" if meant else suggestion(name, known)
    return AttributeError(message)


def enumerator(cls: type[E], value: Any, name: str) -> E:
    """The member of `cls` for the value of the argument called `name`.

    - `value`: a string is C's name, the part of it that differs between members, or a longer ending
      ("per_channel" for CUDNN_NORM_PER_CHANNEL), in any case and with "-" or "_".

    Raises TypeError if `value` is no string and belongs to another enum, or to none. Raises
    ValueError if `cls` has no such member.
    """
    if type(value) is cls:
        return value
    if isinstance(value, str):
        found: E | None = _by_name(cls).get(value.replace("-", "_").upper())
        if found is not None:
            return found
    names = [short_name(member) for member in cls if not member.is_count]
    if not isinstance(value, str):
        raise TypeError(
            f"{name}: expected a {cls.__name__} or one of {', '.join(map(repr, names))}, "
            f"got {value!r} ({type(value).__name__})"
        )
    question = suggestion(value.replace("-", "_").lower(), names)
    raise ValueError(
        f"{name}: expected one of {', '.join(map(repr, names))}, got {value!r}{question}"
    )


@functools.cache
def _by_name(cls: type[CudnnEnum]) -> dict[str, Any]:
    """The members by C's names, short names, and endings that one member alone has."""
    members = list(cls.__members__.values())
    found: dict[str, Any] = {}
    for member in members:
        found.setdefault(member.name.upper(), member)
        found.setdefault(short_name(member).upper(), member)
    endings: dict[str, list[Any]] = {}
    for member in members:
        words = member.name.upper().split("_")
        for i in range(1, len(words)):
            endings.setdefault("_".join(words[i:]), []).append(member)
    return {**{end: each[0] for end, each in endings.items() if len(each) == 1}, **found}


def shown(value: Any) -> str:
    """A value as text for a descriptor's ``repr``; enumerators by their short names."""
    if isinstance(value, cudnnDataType_t):
        return repr(data_type_name(value) if value.known else value.name)
    if isinstance(value, CudnnEnum):
        return repr(short_name(value))
    return repr(value)


_LONGEST = 60  # characters of a value that a message shows
_DEEPEST = 50  # valid documents have fewer than ten levels; readers are recursive


@dataclass(frozen=True)
class Place:
    """A value and its place in the document: ``graph.tensors.x.dims[0]``.

    All methods raise ValueError with the place for unexpected values.
    """

    value: Any
    path: str

    @classmethod
    def of_text(cls, text: str | bytes, path: str) -> Place:
        """The value of the JSON `text`.

        Raises TypeError if `text` is no text.
        """
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"{path}: expected JSON text, got {described(text)}")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: the JSON is damaged: {error}") from None
        found = cls(value, path)
        found.keys()
        if _deeper_than(_DEEPEST, value):
            found.refuse(f"lists and objects are nested more than {_DEEPEST} deep")
        escapes = b"\\" in text if isinstance(text, bytes) else "\\" in text
        if escapes or not text.isascii():
            found._check_characters()
        return found

    def _check_characters(self) -> None:
        """Refuse lone surrogates, which escapes can produce."""
        try:
            json.dumps(self.value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            self.refuse(f"it has half a character, {half!r}, for which UTF-8 has no form")

    def __getitem__(self, key: str) -> Place:
        if key not in self:
            self.refuse(f"{key!r} is missing")
        return Place(self.value[key], f"{self.path}.{key}")

    def __contains__(self, key: str) -> bool:
        return key in self.keys()

    def keys(self) -> KeysView[str]:
        if not isinstance(self.value, dict):
            self._expected("an object")
        return self.value.keys()

    def items(self) -> list[Place]:
        """The elements of a list."""
        if not isinstance(self.value, list):
            self._expected("a list")
        return [Place(each, f"{self.path}[{i}]") for i, each in enumerate(self.value)]

    def known(self, keys: Iterable[str]) -> None:
        """Refuse an object with other keys than `keys`."""
        allowed = list(keys)
        for key in self.keys():
            if key not in allowed:
                self.refuse(f"{key!r} is not known here{suggestion(key, allowed)}")

    def text(self) -> str:
        if not isinstance(self.value, str):
            self._expected("a string")
        return str(self.value)

    def boolean(self) -> bool:
        if not isinstance(self.value, bool):
            self._expected("true or false")
        return bool(self.value)

    def integer(self, least: int = -(1 << 63)) -> int:
        """The value as an integer of 64 bits, at least `least`."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self._expected("an integer")
        if not least <= self.value < 1 << 63:
            self._expected(f"an integer from {least}" if least >= 0 else "an integer of 64 bits")
        return int(self.value)

    def _expected(self, what: str) -> NoReturn:
        shown = json.dumps(self.value)
        shown = shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
        self.refuse(f"expected {what}, got {shown}")

    def refuse(self, reason: str) -> NoReturn:
        """Raise ValueError for this place."""
        raise ValueError(f"{self.path}: {reason}")


def _deeper_than(depth: int, value: Any) -> bool:
    level = [value]
    for _ in range(depth):
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return bool(level)
