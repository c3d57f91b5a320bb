"""Prints entries on a terminal; names are never broken, at any width."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from ...raw.headers import include_folder
from .entry import Entry

__all__ = ["print_entry", "print_found"]

_LISTED = 16  # names of one list


def print_entry(entry: Entry) -> None:
    """Print an entry."""
    console = Console(highlight=False)
    _print(console, f"{entry.name}: {entry.kind}", style="bold")
    console.print()
    _print(console, entry.text)
    for title, names in entry.lists.items():
        if names:
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            _print(console, f"\n{title}:  {', '.join(names[:_LISTED])}{more}")
    if said := entry.explanation:
        _print(console, f"\n{said.header.name} of cuDNN {said.version} says:", style="italic")
        _print(console, textwrap.indent("\n".join(_reflowed(said.text, console.width - 2)), "  "))
        for name, meaning in said.parameters.items():
            _print(console, f"  {name}:  {meaning}")
    elif entry.in_headers and include_folder() is None:
        _print(console, "\nNVIDIA's explanation is in the headers of cuDNN; none are installed.")
    console.print()


def print_found(query: str, found: Sequence[str], total: int, like: Sequence[str]) -> None:
    """Print the names that a query found, or names spelled like the query."""
    console = Console(highlight=False)
    if found:
        some = f", {len(found)} of them" if total > len(found) else ""
        _print(console, f"{total} names, or their explanations, have the words of {query!r}{some}:")
        _print(console, "\n".join(f"  {name}" for name in found))
    else:
        suggested = f"; did you mean {' or '.join(like)}?" if like else ""
        _print(console, f"nothing is called {query!r}{suggested}")
    console.print()


def _print(console: Console, text: str, *, style: str = "") -> None:
    """Print lines, wrapped between words; continuation lines are aligned with the last column."""
    for line in text.split("\n"):
        columns = [match.end() for match in re.finditer(r"\S {2,}(?=\S)", line)]
        bullet = re.match(r" *(?:- )?", line)
        start = columns[-1] if columns else bullet.end() if bullet else 0
        pieces = _wrapped(line, console.width, min(start, console.width // 2))
        for piece in pieces or [""]:
            console.print(Text(piece, style=style), soft_wrap=True)


def _wrapped(line: str, width: int, indent: int) -> list[str]:
    return textwrap.wrap(
        line,
        max(width, 40),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _reflowed(text: str, width: int) -> Iterator[str]:
    """The lines of a text; a paragraph with an overlong line is joined into one line."""

    def indent(line: str) -> tuple[int, bool]:
        return len(line) - len(line.lstrip()), bool(line.strip())

    for _, group in itertools.groupby(text.splitlines(), indent):
        lines = list(group)
        if all(len(line) <= width for line in lines):
            yield from lines
            continue
        first = re.match(r"\s*", lines[0])
        margin = first[0] if first else ""
        item = ""
        for line in map(str.strip, lines):
            if item and re.match(r"- |[A-Z]\w*:|CUDNN_\w+ - ", line):
                yield margin + item
                item = ""
            item = f"{item} {line}".strip()
        yield margin + item
