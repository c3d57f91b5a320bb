"""Checks of JSON from users: values with their place in the document, for messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, KeysView
from dataclasses import dataclass
from typing import Any, NoReturn

from .arguments import suggestion
from .raw.values import described

__all__ = ["Place"]

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

        Raises
        ------
        TypeError
            If `text` is no text.
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
