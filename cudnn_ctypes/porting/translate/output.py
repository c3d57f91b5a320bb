"""The Python lines of a program, each with the line of C that it comes from."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .preprocess import brackets, pieces

__all__ = ["Output"]

_WIDTH = 100
_OPENING = re.compile(r'(?:"(?:\\.|[^"\\])*"|[^"([{])*[([{]')


@dataclass
class Output:
    """Lines with their depth and their line in C (0: none)."""

    lines: list[tuple[int, str, int]] = field(default_factory=list)
    depth: int = 0
    shown: Callable[[int], str] = str

    def add(self, text: str, line: int = 0, *, deeper: int = 0) -> None:
        self.lines.append((self.depth + deeper, text, line))

    def blank(self) -> None:
        """An empty line, unless a block begins here or there is one."""
        if self.lines and self.lines[-1][1] and not self.lines[-1][1].endswith(":"):
            self.add("")

    def spaced(self) -> None:
        """Two empty lines, above the comments that belong to what follows."""
        at = len(self.lines)
        while at and self.lines[at - 1][1].startswith("#") and not self.lines[at - 1][0]:
            at -= 1
        while at and not self.lines[at - 1][1]:
            at -= 1
            del self.lines[at]
        self.lines[at:at] = [(0, "", 0), (0, "", 0)]

    def text(self) -> str:
        """All lines; the number of the line in C stands at the end of the first line of each."""
        written = []
        for depth, text, line in self.lines:
            parts = _wrapped(text, _WIDTH - 4 * depth - 8 * (line > 0))
            parts = [("    " * depth + part).rstrip() for part in parts]
            parts[0] += f"  # {self.shown(line)}" if line else ""
            written += parts
        return "\n".join(written) + "\n"


def _wrapped(text: str, width: int) -> list[str]:
    """A statement in lines of `width`, broken at the commas of the widest brackets."""
    found = None if len(text) <= width or text[0] == "#" else _widest_brackets(text)
    if found is None:
        return [text]
    start, end, commas = found
    parts = pieces(text, [start, *commas, end])
    comma = "," if commas else ""  # a comma would make a tuple of what stands in brackets
    whole = ", ".join(parts)
    if len(whole) + 4 <= width and text[start] == "(" and commas:
        body = [whole]
    elif all(re.fullmatch(r"[-\w.()\[\]]{1,24}", piece) for piece in parts):
        body = [""]
        for piece in parts:
            if len(body[-1]) + len(piece) + 6 > width:
                body.append("")
            body[-1] += f"{' ' if body[-1] else ''}{piece}{comma}"
    else:
        body = [part for piece in parts if piece for part in _wrapped(piece + comma, width - 4)]
    return [text[: start + 1], *(f"    {one}" for one in body), text[end:]]


def _widest_brackets(text: str) -> tuple[int, int, list[int]] | None:
    """Where the widest outer brackets are, and the commas directly in them."""
    pairs: list[tuple[int, int, list[int]]] = []
    end = -1
    while match := _OPENING.match(text, end + 1):
        start = match.end() - 1
        end, commas = brackets(text, start)
        pairs.append((start, end, commas))
    return max(pairs, key=lambda pair: pair[1] - pair[0]) if pairs else None
