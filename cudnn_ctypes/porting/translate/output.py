"""The Python lines of a program, each with the line of C that it comes from."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Output", "wrapped"]

WIDTH = 100


@dataclass
class Output:
    """Lines with their depth and their line in C (0: none)."""

    lines: list[tuple[int, str, int]] = field(default_factory=list)
    depth: int = 0
    shown: Callable[[int], str] = str

    def add(self, text: str, line: int = 0) -> None:
        """A line."""
        self.lines.append((self.depth, text, line))

    def blank(self) -> None:
        """An empty line, unless a block begins here or there is one."""
        if self.lines and self.lines[-1][1] and not self.lines[-1][1].endswith(":"):
            self.add("")

    def text(self) -> str:
        """All lines; the number of the line in C stands at the end of the first line of each."""
        return "\n".join(one for line in self.lines for one in self._written(*line)) + "\n"

    def _written(self, depth: int, text: str, line: int) -> list[str]:
        indent = "    " * depth
        parts = (
            [text] if text.startswith("#") else wrapped(text, WIDTH - 4 * depth - 8 * (line > 0))
        )
        parts = [(indent + part).rstrip() for part in parts]
        if line:
            parts[0] = f"{parts[0]}  # {self.shown(line)}"
        return parts


def wrapped(text: str, width: int) -> list[str]:
    """A statement in lines of `width`, broken at the commas of the outermost brackets."""
    if len(text) <= width or '"""' in text:
        return [text]
    found = _outermost(text)
    if found is None:
        return [text]
    start, end, commas = found
    pieces, previous = [], start + 1
    for comma in [*commas, end]:
        pieces.append(text[previous:comma].strip())
        previous = comma + 1
    if not commas:  # a comma would make a tuple of what stands in brackets
        return [
            text[: start + 1],
            *(f"    {one}" for one in wrapped(pieces[0], width - 4)),
            text[end:],
        ]
    middle = ", ".join(pieces)
    single = len(middle) + 4 <= width and text[start] == "(" and commas
    body = [f"    {middle}"] if single else _filled(pieces, width)
    return [text[: start + 1], *body, text[end:]]


def _filled(pieces: list[str], width: int) -> list[str]:
    if not all(re.fullmatch(r"[-\w.()\[\]]{1,24}", piece) for piece in pieces):
        return [
            f"    {line}" for piece in pieces if piece for line in wrapped(f"{piece},", width - 4)
        ]
    lines, current = [], ""
    for piece in pieces:
        if current and len(current) + len(piece) + 6 > width:
            lines.append(current)
            current = ""
        current += f"{' ' if current else '    '}{piece},"
    return [*lines, current]


def _outermost(text: str) -> tuple[int, int, list[int]] | None:
    """The widest pair of brackets at the top level and the commas in it."""
    pairs: list[tuple[int, int, list[int]]] = []
    stack: list[int] = []
    commas: list[int] = []
    quote = ""
    position = 0
    while position < len(text):
        character = text[position]
        if quote:
            if character == "\\":
                position += 1
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in "([{":
            stack.append(position)
        elif character in ")]}" and stack:
            start = stack.pop()
            if not stack:
                pairs.append((start, position, commas))
                commas = []
        elif character == "," and len(stack) == 1:
            commas.append(position)
        position += 1
    return max(pairs, key=lambda pair: pair[1] - pair[0]) if pairs else None
