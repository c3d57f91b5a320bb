"""Search for names by their words: ``cudnnPoolingBackward`` has "pooling" and "backward"."""

from __future__ import annotations

import functools
import re

from ... import raw
from ...raw import constants, enums, functions, types
from ...raw.attributes import ATTRIBUTES, KINDS
from ...raw.gone import gone_names
from ...raw.missing import near as near_names

__all__ = ["named", "near", "related"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+[a-z]?")
_RELATED = 8
# Words for an action or its direction; the other words of a function's name are its subject.
_VERBS = frozenset(
    """
    cudnn create set get destroy find copy forward backward inference training ex data filter
    weights bias 4d 2d nd 7 8 9 v max count algorithm version check
    """.split()  # noqa: SIM905
)


@functools.cache
def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for part in name.split("_") for word in _WORD.findall(part))


@functools.cache
def _names() -> tuple[str, ...]:
    """All names, in display order."""
    declared = (functions, types, enums, constants)
    found = [name for module in declared for name in module.__all__]
    return (*found, *KINDS, *gone_names())


def named(query: str) -> list[str]:
    """The names with words that begin with all words of a query; fewest other words first."""
    wanted = [word.lower() for part in query.split() for word in (_words(part) or (part,))]
    wanted = [word for word in wanted if word.isalnum()]
    if not wanted:
        return []
    found = []
    for position, name in enumerate(_names()):
        words = _words(name)
        if all(any(_has(word, each) for word in words) for each in wanted):
            found.append((name in gone_names(), not name.startswith("cudnn"), len(words), position))
    return [_names()[position] for *_, position in sorted(found)]


def _has(word: str, wanted: str) -> bool:
    return word.startswith(wanted) or (len(wanted) > 3 and wanted in word)


def near(query: str) -> list[str]:
    """Names that are spelled like `query`."""
    short = [attribute.full_name for own in ATTRIBUTES.values() for attribute in own.values()]
    return near_names(query, (*KINDS, *short))


def related(name: str) -> list[str]:
    """Functions with the same subject as the function or type `name`."""
    about = set(_words(name)) - _VERBS - {"descriptor", "t"}
    if not about or name.startswith("CUDNN"):
        return []
    scored = []
    for position, other in enumerate(raw.FUNCTIONS):
        shared = about & set(_words(other))
        if shared == about and other != name:
            scored.append((len(set(_words(other)) ^ set(_words(name))), position, other))
    return [other for *_, other in sorted(scored)[:_RELATED]]
