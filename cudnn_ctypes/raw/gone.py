"""Names that cuDNN 9 has dropped, each with its replacement, and errors for unknown names.

``gone.json`` has them in groups with one successor. It was compared with the whole headers of 8.5.0
and 8.9.7; read from the header of 2, from parts of those of 1, 3, 4, 5.0, 7.6.5 and 8.2.1, and from
wrappers of 6, 7.0 and 8.0.2. No function that 8.5 and 9 share has other parameters in 9.

A name of a group has its kind, the first release with it and the first without it. ``{A,B}`` in a
name stands for each alternative; ``{0}`` in the code that replaces it for the alternative in the
first braces, or for ``b`` where that is written ``A=b``. ``cudnnX`` and ``cudnnX(a=b)`` in the code
stand for a call with the declared parameters, ``b`` in place of ``a``.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OLD_STATUS_NUMBERS: dict[int, str] = {
    1: "CUDNN_STATUS_NOT_INITIALIZED",
    2: "CUDNN_STATUS_ALLOC_FAILED",
    3: "CUDNN_STATUS_BAD_PARAM",
    4: "CUDNN_STATUS_INTERNAL_ERROR",
    5: "CUDNN_STATUS_INVALID_VALUE",
    6: "CUDNN_STATUS_ARCH_MISMATCH",
    7: "CUDNN_STATUS_MAPPING_ERROR",
    8: "CUDNN_STATUS_EXECUTION_FAILED",
    9: "CUDNN_STATUS_NOT_SUPPORTED",
    10: "CUDNN_STATUS_LICENSE_ERROR",
    11: "CUDNN_STATUS_RUNTIME_PREREQUISITE_MISSING",
    12: "CUDNN_STATUS_RUNTIME_IN_PROGRESS",
    13: "CUDNN_STATUS_RUNTIME_FP_OVERFLOW",
    14: "CUDNN_STATUS_VERSION_MISMATCH",
}
"""Statuses by the number that they had before 9.0. They still have their names."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A name that cuDNN 9 has dropped.

    - `kind`: "function", "enumerator", "enum", "struct", "handle type", "typedef" or "macro".
    - `name`: its name in C.
    - `first`, `gone`: the first release known to have it, and the first without it.
    - `why`: the reason, and the successor if there is one.
    - `now`: lines of code for layer 1 that replace it; empty if nothing does.
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
    """The facts about a dropped C name; None for a name that is not known to be dropped."""
    return _by_name().get(name)


def gone_names() -> tuple[str, ...]:
    """All dropped names."""
    return tuple(_by_name())


def changed(name: str) -> str:
    """A note on how a function's parameters differed in old releases; "" if none did."""
    notes: dict[str, str] = _table()["changed"]
    for pattern, note in notes.items():
        if any(each == name for each, _ in alternatives(pattern)):
            return note
    return ""


def alternatives(pattern: str) -> Iterator[tuple[str, list[str]]]:
    """Each name that matches a pattern with braces, with the texts that replace {0}, {1}, ..."""
    pieces = re.split(r"\{(.*?)\}", pattern)  # plain text and alternatives take turns
    choices = [[each.partition("=") for each in part.split(",")] for part in pieces[1::2]]
    for chosen in itertools.product(*choices):
        taken = [name for name, _, _ in chosen]
        parts = itertools.chain(*itertools.zip_longest(pieces[::2], taken, fillvalue=""))
        yield "".join(parts), [value or name for name, _, value in chosen]


@functools.cache
def _by_name() -> dict[str, Gone]:
    found: dict[str, Gone] = {}
    for group in _table()["groups"]:
        for kind, pattern, first, gone in map(str.split, group["names"]):
            for name, fields in alternatives(pattern):
                now = tuple(_spelled_out(line.format(*fields)) for line in group.get("now", ()))
                found[name] = Gone(kind.replace("-", " "), name, first, gone, group["why"], now)
    return found


@functools.cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(Path(__file__).with_name("gone.json").read_text("utf-8"))
    return table


def _spelled_out(line: str) -> str:
    """A line of code with C's parameters written out in place of an ellipsis."""
    from . import functions

    call = re.fullmatch(r"(cudnn\w+)(?:\((.*)\))?", line)
    if call is None:
        return line
    values = dict(each.split("=") for each in call[2].split(", ")) if call[2] else {}
    names = [p.name for p in getattr(functions, call[1]).parameters]
    assert values.keys() <= set(names)
    return f"{call[1]}({', '.join(values.get(name, name) for name in names)})"


class MissingNameError(AttributeError):
    """A name that layer 1 lacks. Its text is built when it is shown, so ``hasattr`` stays fast."""

    def __init__(self, name: str) -> None:
        # Python would add a suggestion from the attributes of `obj`; None prevents that.
        super().__init__(name, name=name, obj=None)

    def __str__(self) -> str:
        return explanation(self.args[0])


def importing_error(module: str, name: str) -> ImportError:
    """The error for ``from module import name``."""
    return ImportError(
        f"cannot import name {name!r} from {module!r}: {explanation(name)}", name=module
    )


def explanation(name: str) -> str:
    """Text on why layer 1 has no `name`, with the replacement."""
    from .constants import CUDNN_VERSION
    from .library import version_text

    if gone := find(name):
        programs = "Programs for cuDNN 7 and 8 run with cudnn_ctypes.compat.v7 in place of raw."
        return f"{gone}\n{programs}" if gone.gone >= "8" else str(gone)
    text = f"{name!r} is not in the headers of cuDNN {version_text(CUDNN_VERSION)}"
    suggested = near(name)
    return f"{text}; did you mean {' or '.join(suggested)}?" if suggested else text


def near(name: str, more: Iterable[str] = ()) -> list[str]:
    """Up to three names of layer 1, or of `more`, that are spelled like `name`.

    Dropped names are suggested if no present name is spelled like it.
    """
    import difflib

    from .. import raw

    for candidates in ((*more, *vars(raw)["__all__"]), gone_names()):
        cases = {each.lower(): each for each in candidates}
        if found := difflib.get_close_matches(name.lower(), cases, n=3, cutoff=0.8):
            return [cases[each] for each in found]
    return []
