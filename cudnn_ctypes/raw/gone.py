"""Names that earlier releases of cuDNN had and 9 has not, and what to write instead."""

from __future__ import annotations

import functools
import itertools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from .gone_table import CHANGED, GROUPS

__all__ = ["Gone", "changed", "find", "gone_names"]


@dataclass(frozen=True, slots=True)
class Gone:
    """A name that is gone.

    Attributes
    ----------
    kind : str
        "function", "enumerator", "enum", "struct", "handle type", "typedef" or "macro".
    name : str
        Its name in C.
    first, gone : str
        The first release known to have it, and the first without it.
    why : str
        What became of it.
    now : tuple of str
        What to write instead with this package's layer 1, a line each; empty if there is nothing.
    """

    kind: str
    name: str
    first: str
    gone: str
    why: str
    now: tuple[str, ...]

    def __str__(self) -> str:
        text = f"the {self.kind} {self.name} is gone since cuDNN {self.gone}: {self.why}"
        if not self.now:
            return text
        lines = [
            textwrap.fill(
                line,
                width=79,
                initial_indent="    ",
                subsequent_indent="        ",
                break_long_words=False,
                break_on_hyphens=False,
            )
            for line in self.now
        ]
        return "\n".join([f"{text}. Now:", *lines])


def find(name: str) -> Gone | None:
    """What became of a C name; None if it is not known to be gone."""
    return _by_name().get(name)


def gone_names() -> tuple[str, ...]:
    """All names that are gone."""
    return tuple(_by_name())


def changed(name: str) -> str:
    """How the parameters of a function differed in old releases; "" if none are known to."""
    for pattern, note in CHANGED.items():
        if any(each == name for each, _ in _alternatives(pattern)):
            return note
    return ""


def _alternatives(pattern: str) -> Iterator[tuple[str, list[str]]]:
    """Each name that a pattern with braces stands for, with what to put for {0}, {1}, ..."""
    pieces = re.split(r"\{(.*?)\}", pattern)  # plain text and alternatives take turns
    choices = [[each.partition("=") for each in part.split(",")] for part in pieces[1::2]]
    for chosen in itertools.product(*choices):
        taken = [name for name, _, _ in chosen]
        parts = itertools.chain(*itertools.zip_longest(pieces[::2], taken, fillvalue=""))
        yield "".join(parts), [value or name for name, _, value in chosen]


@functools.cache
def _by_name() -> dict[str, Gone]:
    found: dict[str, Gone] = {}
    for group in GROUPS:
        for line in group.names.strip().splitlines():
            kind, pattern, first, gone = line.split()
            for name, fields in _alternatives(pattern):
                now = group.now.format(*fields).strip().splitlines()
                calls = tuple(_spelled_out(each.strip()) for each in now)
                found[name] = Gone(kind.replace("-", " "), name, first, gone, group.why, calls)
    return found


def _spelled_out(line: str) -> str:
    """A call with all its parameters."""
    from . import functions

    call = re.fullmatch(r"(cudnn\w+)(?:\((.*)\))?", line)
    if call is None:
        return line
    given = dict(each.split("=") for each in call[2].split(", ")) if call[2] else {}
    names = [p.name for p in getattr(functions, call[1]).parameters]
    assert given.keys() <= set(names)
    return f"{call[1]}({', '.join(given.get(name, name) for name in names)})"
