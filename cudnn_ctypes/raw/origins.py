"""Where C names come from: the header, the first version, the successor of a deprecated name.

`enums` and `types` declare it with their classes and enumerators; the tables are by C name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HEADERS: dict[str, str] = {}
"""The header that declares a type."""

SINCE: dict[str, str] = {}
"""The first cuDNN version that has a type or an enumerator."""

REPLACED_BY: dict[str, str] = {}
"""The successor of a deprecated type or enumerator; "" where there is none."""

POINTEES: dict[str, str] = {}
"""The type of the descriptor that is passed with a label."""

FORMER_VALUES: dict[str, Mapping[str, int]] = {}
"""The values of an enumerator in releases that number it differently."""


class _Enumerator(int):
    origin: Mapping[str, Any]


def enumerator(value: int, **origin: Any) -> int:
    """The value of an enumerator of which more is to be told.

    - `value`: its value in C.
    - `**origin`: ``since``, if it is younger than its enum; ``replaced_by``, if it is deprecated;
      ``pointee``, the type of descriptor that is passed with it; ``former_values`` by release.
    """
    noted = _Enumerator(value)
    noted.origin = origin
    return noted


def declare(name: str, *, header: str, since: str, replaced_by: str | None = None) -> None:
    """Note where a type comes from."""
    HEADERS[name] = header
    SINCE[name] = since
    if replaced_by is not None:
        REPLACED_BY[name] = replaced_by


def declare_enumerator(name: str, value: int, enum: str) -> None:
    """Note where an enumerator comes from; it is as old as its enum unless it says otherwise."""
    origin = getattr(value, "origin", {})
    SINCE[name] = origin.get("since", SINCE[enum])
    for table, key in (
        (REPLACED_BY, "replaced_by"),
        (POINTEES, "pointee"),
        (FORMER_VALUES, "former_values"),
    ):
        if key in origin:
            table[name] = origin[key]
