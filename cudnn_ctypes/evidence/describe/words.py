"""Words that descriptions share: numbers with nouns, enumerators, the letters of axes."""

from __future__ import annotations

from typing import Any

from ...arguments import short_name
from ...dtypes import data_type_name
from ...raw.ctypes_support import CudnnEnum
from ...raw.enums import cudnnDataType_t

__all__ = ["FILTER_AXES", "IMAGE_AXES", "axes_of", "counted", "listed", "name_of", "type_name"]

IMAGE_AXES = {2: "nc", 3: "ncw", 4: "nchw", 5: "ncdhw"}
FILTER_AXES = {3: "kcs", 4: "kcrs", 5: "kctrs"}


def axes_of(rank: int, letters: dict[int, str]) -> tuple[str, ...]:
    """A letter for each axis, from `letters` by rank; i, j, k and so on for other ranks."""
    return tuple(letters.get(rank, "")) or tuple(chr(ord("i") + axis) for axis in range(rank))


def counted(count: int, noun: str, plural: str = "") -> str:
    """ "1 element", "60 elements"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def listed(words: Any, last: str = "and") -> str:
    """ "a, b and c"."""
    words = list(map(str, words))
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def type_name(data_type: Any) -> str:
    """A data type's name in Python; C's name for unknown codes."""
    return data_type_name(data_type) if data_type.known else str(data_type.name)


def name_of(value: Any) -> str:
    """A record's value as text; enumerators by their short names."""
    if isinstance(value, cudnnDataType_t):
        return type_name(value)
    if isinstance(value, CudnnEnum):
        return short_name(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
