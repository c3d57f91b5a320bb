"""A picture of a weight space: the places of a recurrent network's matrices and biases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .canvas import PALETTE, Canvas
from .svg import text_width

__all__ = ["Part", "weight_space"]

_LEFT = 14.0
_WIDTH = 620.0
_HEIGHT = 30.0
_LEAST = 3.0  # the smallest width of a part, in pixels

_KINDS = {
    "w": ("matrix of the input", PALETTE[0]),
    "r": ("matrix of the state before", PALETTE[1]),
    "projection": ("projection", PALETTE[3]),
    "bw": ("bias of the input", PALETTE[2]),
    "br": ("bias of the state", PALETTE[4]),
}


@dataclass(frozen=True)
class Part:
    """One matrix or vector of a weight space.

    Attributes
    ----------
    layer : str
        "layer 0 backward", for instance.
    name : str
        "w_forget", "br_reset" or "projection".
    shape : tuple of int
    offset, nbytes : int
        Bytes from the beginning of the space, and size in bytes.
    """

    layer: str
    name: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int

    @property
    def kind(self) -> str:
        return self.name.partition("_")[0]

    @property
    def gate(self) -> str:
        return self.name.partition("_")[2]


def weight_space(title: str, parts: Sequence[Part], nbytes: int, *, standalone: bool = True) -> str:
    """The picture as SVG: a bar for each stretch of one layer's memory, with its parts in order."""
    canvas = Canvas(title)
    canvas.text(_LEFT, 26, title, bold=True)
    stretches = _stretches(parts)
    largest = max((_size(stretch) for stretch in stretches), default=1)
    labels = [_label(stretch) for stretch in stretches]
    left = _LEFT + max(map(text_width, labels), default=0) + 14
    y = 52.0
    for stretch, label in zip(stretches, labels, strict=True):
        canvas.text(_LEFT, y + 20, label)
        right = _bar(canvas, stretch, left, y, _WIDTH * _size(stretch) / largest)
        begin, end = stretch[0].offset, stretch[-1].offset + stretch[-1].nbytes
        canvas.text(left, y - 4, f"byte {begin:,}", size=9, pale=True)
        canvas.text(right + 8, y + 20, f"to {end:,}", size=10, pale=True)
        y += _HEIGHT + 24
    _legend(canvas, parts, y, nbytes)
    return canvas.svg(standalone=standalone)


def _stretches(parts: Sequence[Part]) -> list[list[Part]]:
    """The parts in memory order, split at the beginning of each layer."""
    found: list[list[Part]] = []
    for part in sorted(parts, key=lambda each: each.offset):
        if not found or found[-1][-1].layer != part.layer:
            found.append([])
        found[-1].append(part)
    return found


def _label(stretch: Sequence[Part]) -> str:
    biases = all(part.kind in ("bw", "br") for part in stretch)
    return f"{stretch[0].layer}, biases" if biases else stretch[0].layer


def _size(stretch: Sequence[Part]) -> int:
    return stretch[-1].offset + stretch[-1].nbytes - stretch[0].offset


def _bar(canvas: Canvas, stretch: Sequence[Part], left: float, y: float, width: float) -> float:
    """Draw parts as wide as their bytes, but at least `_LEAST`; return the x of the bar's end."""
    total = sum(part.nbytes for part in stretch)
    x = left
    for part in stretch:
        wide = max(width * part.nbytes / total, _LEAST)
        _, color = _KINDS.get(part.kind, ("", PALETTE[5]))
        shape = " x ".join(map(str, part.shape))
        tip = f"{part.name} {shape}, bytes {part.offset:,} to {part.offset + part.nbytes:,}"
        canvas.rectangle(x, y, wide, _HEIGHT, color, fill=0.35, line=0.8, tip=tip)
        gate = part.gate or part.name
        if text_width(gate, 11) + 4 < wide:
            canvas.text(x + wide / 2, y + 19, gate, size=11, middle=True)
        x += wide
    return x


def _legend(canvas: Canvas, parts: Sequence[Part], y: float, nbytes: int) -> None:
    x = _LEFT
    for kind, (text, color) in _KINDS.items():
        if any(part.kind == kind for part in parts):
            canvas.rectangle(x, y - 10, 13, 13, color, fill=0.35)
            canvas.text(x + 20, y + 1, text)
            x += text_width(text) + 44
    canvas.text(
        _LEFT, y + 24, f"{nbytes:,} bytes in all; the words are the cells' gates", pale=True
    )
