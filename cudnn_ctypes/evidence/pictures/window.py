"""A picture of a convolution's or pooling's window over the padded image, and of its output."""

from __future__ import annotations

from dataclasses import dataclass

from .canvas import PALETTE, Canvas

__all__ = ["Window", "window"]

Pair = tuple[int, int]

_CELL = 27.0
_LEFT, _TOP = 14.0, 92.0
_ROWS, _COLUMNS = 12, 16  # shown rows and columns of the padded image
_IMAGE, _FIRST, _SECOND = PALETTE[4], PALETTE[5], PALETTE[6]


@dataclass(frozen=True)
class Window:
    """A window over two spatial dimensions; for one dimension the height is 1.

    Attributes
    ----------
    title : str
    notes : tuple of str
        At most two lines below the title.
    image, size, padding, stride, dilation, output : (int, int)
        (height, width); `size` in taps, `padding` on each side.
    fill : str
        The value of padding elements; "-" for padding that is ignored.
    flipped : bool
        True if the filter is applied in reverse: its first tap reads the last element.
    filtered : bool
        True for a convolution, whose filter taps are numbered.
    """

    title: str
    notes: tuple[str, ...]
    image: Pair
    size: Pair
    padding: Pair
    stride: Pair
    dilation: Pair
    output: Pair
    fill: str = "0"
    flipped: bool = False
    filtered: bool = True

    def taps(self, at: Pair) -> dict[Pair, Pair]:
        """The cells of the padded image that an output element reads, each with its tap."""
        found: dict[Pair, Pair] = {}
        (top, left), (down, right) = at, self.stride
        height, width = self.size
        for r in range(height):
            for s in range(width):
                cell = (top * down + r * self.dilation[0], left * right + s * self.dilation[1])
                found[cell] = (height - 1 - r, width - 1 - s) if self.flipped else (r, s)
        return found

    @property
    def padded(self) -> Pair:
        """The sizes of the image with its padding."""
        (height, width), (top, left) = self.image, self.padding
        return height + 2 * top, width + 2 * left


def window(described: Window, *, standalone: bool = True) -> str:
    """The picture as SVG: the padded image with two positions of the window, and the output."""
    canvas = Canvas(described.title)
    canvas.text(_LEFT, 26, described.title, bold=True)
    for i, note in enumerate(described.notes[:2]):
        canvas.text(_LEFT, 46 + 18 * i, note, pale=True)
    rows, columns = (
        min(n, most) for n, most in zip(described.padded, (_ROWS, _COLUMNS), strict=True)
    )
    second = _second(described)
    _image(canvas, described, rows, columns, second)
    right = _LEFT + columns * _CELL + (24 if columns < described.padded[1] else 0)
    _output(canvas, described, right + 70, second)
    middle = _TOP + rows * _CELL / 2
    canvas.line(right + 16, middle, right + 54, middle)
    _legend(canvas, described, _TOP + rows * _CELL + 30, second)
    return canvas.svg(standalone=standalone)


def _second(described: Window) -> Pair | None:
    """The output element to the right of the first one, or else below it; None for one element."""
    if described.output[1] > 1:
        return (0, 1)
    return (1, 0) if described.output[0] > 1 else None


def _image(canvas: Canvas, described: Window, rows: int, columns: int, second: Pair | None) -> None:
    first = described.taps((0, 0))
    (top, left), (height, width) = described.padding, described.image
    for row in range(rows):
        for column in range(columns):
            x, y = _LEFT + column * _CELL, _TOP + row * _CELL
            inside = top <= row < top + height and left <= column < left + width
            tip = f"x[{row - top}, {column - left}]" if inside else "padding"
            tap = first.get((row, column))
            if tap is not None:
                tip = f"{tip}, under w[{tap[0]}, {tap[1]}]" if described.filtered else tip
                canvas.rectangle(x, y, _CELL, _CELL, _FIRST, fill=0.55, tip=tip)
            elif inside:
                canvas.rectangle(x, y, _CELL, _CELL, _IMAGE, fill=0.25, tip=tip)
            else:
                canvas.rectangle(x, y, _CELL, _CELL, dashed=True, line=0.5, tip=tip)
            if tap is not None and described.filtered:
                canvas.text(
                    x + _CELL / 2, y + 18, f"{tap[0]},{tap[1]}", size=11, bold=True, middle=True
                )
            elif not inside and tap is None:
                canvas.text(x + _CELL / 2, y + 18, described.fill, size=10, middle=True, pale=True)
    if second is not None:
        for row, column in described.taps(second):
            if row < rows and column < columns:
                x, y = _LEFT + column * _CELL, _TOP + row * _CELL
                canvas.rectangle(x + 3, y + 3, _CELL - 6, _CELL - 6, _SECOND, line=2)
    if columns < described.padded[1]:
        canvas.text(_LEFT + columns * _CELL + 6, _TOP + rows * _CELL / 2 - 10, "…")
    if rows < described.padded[0]:
        canvas.text(_LEFT + columns * _CELL / 2, _TOP + rows * _CELL + 12, "…")


def _output(canvas: Canvas, described: Window, left: float, second: Pair | None) -> None:
    rows, columns = (
        min(n, most) for n, most in zip(described.output, (_ROWS, _COLUMNS), strict=True)
    )
    canvas.text(left, _TOP - 8, f"y, {described.output[0]} x {described.output[1]}", size=11)
    for row in range(rows):
        for column in range(columns):
            x, y = left + column * _CELL, _TOP + row * _CELL
            color = _FIRST if (row, column) == (0, 0) else "currentColor"
            fill = 0.55 if color == _FIRST else 0.06
            canvas.rectangle(x, y, _CELL, _CELL, color, fill=fill, line=0.7)
            if (row, column) == second:
                canvas.rectangle(x + 3, y + 3, _CELL - 6, _CELL - 6, _SECOND, line=2)
    if rows < described.output[0] or columns < described.output[1]:
        canvas.text(left + columns * _CELL + 6, _TOP + rows * _CELL - 6, "…")
    heads = f"padded x, {described.padded[0]} x {described.padded[1]}"
    canvas.text(_LEFT, _TOP - 8, heads, size=11)


def _legend(canvas: Canvas, described: Window, top: float, second: Pair | None) -> None:
    step = described.stride[1 if second == (0, 1) else 0]
    taps = "; the numbers are the taps of w" if described.filtered else ""
    entries = [
        (_FIRST, 0.55, 1.0, f"what y[0, 0] reads{taps}"),
        (_IMAGE, 0.25, 1.0, f"the image, {described.image[0]} x {described.image[1]}"),
    ]
    if second is not None:
        entries.insert(
            1, (_SECOND, 0.0, 2.0, f"what y[{second[0]}, {second[1]}] reads, {step} further on")
        )
    for i, (color, fill, line, text) in enumerate(entries):
        canvas.rectangle(_LEFT, top + 20 * i - 10, 13, 13, color, fill=fill, line=line)
        canvas.text(_LEFT + 22, top + 20 * i + 1, text)
    if any(described.padding):
        y = top + 20 * len(entries)
        canvas.rectangle(_LEFT, y - 10, 13, 13, dashed=True, line=0.5)
        counts = "does not count" if described.fill == "-" else f"counts as {described.fill}"
        canvas.text(_LEFT + 22, y + 1, f"padding, which {counts}")
