"""Pictures of where elements lie: index maps, weight spaces, and windows of operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from .svg import document, text_width

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8f7fc9", "#9a8f00")
"""Colours that are distinguishable with every kind of colour vision."""

_EDGE = 12.0


class Canvas:
    """A picture that grows with its contents.

    Parameters
    ----------
    title : str
        The title, which screen readers read out.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._parts: list[str] = []
        self._right = self._bottom = 0.0

    def _reach(self, right: float, bottom: float) -> None:
        self._right, self._bottom = max(self._right, right), max(self._bottom, bottom)

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        color: str = "currentColor",
        *,
        fill: float = 0.0,
        line: float = 1.0,
        dashed: bool = False,
        tip: str = "",
    ) -> None:
        """Draw a rectangle with its top left corner at (x, y), fill opacity and line width."""
        stroke = f'stroke="{color}" stroke-width="{line:g}"' if line else ""
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        body = (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" '
            f'fill="{color if fill else "none"}" fill-opacity="{fill:g}" {stroke}{dashes}'
        )
        tips = f"<title>{escape(tip)}</title>" if tip else ""
        self._parts.append(f"{body}>{tips}</rect>" if tips else f"{body}/>")
        self._reach(x + width, y + height)

    def line(
        self, x: float, y: float, to_x: float, to_y: float, color: str = "currentColor"
    ) -> None:
        """Draw a line with an arrow at its end."""
        self._parts.append(
            f'<path d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}" stroke="{color}" fill="none" '
            f'stroke-width="1.5"/>'
        )
        down = abs(to_y - y) > abs(to_x - x)
        tip = "l-3.5 -7h7z" if down else "l-7 -3.5v7z"
        self._parts.append(f'<path d="M{to_x:.1f} {to_y:.1f}{tip}" fill="{color}"/>')
        self._reach(max(x, to_x), max(y, to_y))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 12,
        bold: bool = False,
        middle: bool = False,
        pale: bool = False,
    ) -> None:
        """Draw a line of text on the base line `y`, beginning at `x` or centred there."""
        style = f' font-size="{size:g}"' if size != 12 else ""
        style += ' font-weight="600"' if bold else ""
        style += ' text-anchor="middle"' if middle else ""
        style += ' fill-opacity="0.65"' if pale else ""
        self._parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{style}>{escape(text)}</text>')
        width = text_width(text, size, bold=bold)
        self._reach(x + (width / 2 if middle else width), y + size / 3)

    def svg(self, *, standalone: bool = True) -> str:
        """The ``<svg>`` element; `standalone` for a separate file."""
        size = self._right + _EDGE, self._bottom + _EDGE
        return document(self._title, size, self._parts, standalone=standalone)


Ints = tuple[int, ...]

_ROWS, _COLUMNS = 4, 6  # shown elements of a plane
_PLANES, _BATCHES = 4, 2
_CELLS, _IN_A_ROW = 36, 12  # shown places of memory
_HEIGHT = 21.0  # a cell's height in a plane
_WIDE = 44.0
_LEFT = 14.0


@dataclass(frozen=True)
class IndexMap:
    """The shape and strides of a tensor, for its picture.

    Attributes
    ----------
    title : str
    shape, strides : tuple of int
        Strides count vectors of `vector` elements, as in cuDNN.
    axes : tuple of str
        A letter for each axis.
    vector : int
        Adjacent elements of axis 1: 4 or 32 for NCHW_VECT_C, else 1.
    """

    title: str
    shape: Ints
    strides: Ints
    axes: tuple[str, ...]
    vector: int = 1

    def place(self, index: Sequence[int]) -> int:
        """The place of an element in memory, counted in elements from element (0, 0, ...)."""
        together = self.vector
        total = 0
        for axis, (i, stride) in enumerate(zip(index, self.strides, strict=True)):
            inside = together > 1 and axis == 1
            total += (i // together if inside else i) * stride * together
            total += i % together if inside else 0
        return total

    @property
    def formula(self) -> str:
        """`place` as a sum over the axes."""
        terms = []
        for axis, (name, stride) in enumerate(zip(self.axes, self.strides, strict=True)):
            step = stride * self.vector
            if not step:
                continue
            if self.vector > 1 and axis == 1:
                terms.append(f"{step} * ({name} // {self.vector}) + {name} % {self.vector}")
            else:
                terms.append(name if step == 1 else f"{step} * {name}")
        return " + ".join(terms) or "0"

    def elements_before(self, end: int) -> dict[int, Ints]:
        """One element for each of the places 0 to `end`, by place."""
        found: dict[int, Ints] = {}
        for index in self._indices(end, (), 0):
            found.setdefault(self.place(index), index)
        return found

    def _indices(self, end: int, begun: Ints, place: int) -> Iterator[Ints]:
        axis = len(begun)
        if axis == len(self.shape):
            yield begun
            return
        for i in range(self.shape[axis]):
            index = (*begun, i, *(0,) * (len(self.shape) - axis - 1))
            if self.place(index) >= end or (i and not self.strides[axis]):
                return
            yield from self._indices(end, (*begun, i), place)


def index_map(tensor: IndexMap, *, standalone: bool = True) -> str:
    """The picture as SVG: planes with the elements' places, and memory with its elements."""
    canvas = Canvas(tensor.title)
    canvas.text(_LEFT, 26, tensor.title, bold=True)
    canvas.text(
        _LEFT, 46, f"place({', '.join(tensor.axes)}) = {tensor.formula}, in elements", pale=True
    )
    bottom = _planes(canvas, tensor, 66.0 if len(tensor.shape) > 2 else 48.0)
    if tensor.shape and 0 not in tensor.shape and min(tensor.strides) >= 0:
        _memory(canvas, tensor, bottom + 26)
    return canvas.svg(standalone=standalone)


# --- the tensor ----------------------------------------------------------------------------------


def _coloured(tensor: IndexMap) -> int | None:
    """The axis whose elements are coloured: channels, or the rows of a matrix; else None."""
    rank = len(tensor.shape)
    return None if rank < 2 else 1 if rank > 2 else 0


def _color(tensor: IndexMap, index: Sequence[int]) -> str:
    axis = _coloured(tensor)
    return PALETTE[(index[axis] if axis is not None else 0) % len(PALETTE)]


def _planes(canvas: Canvas, tensor: IndexMap, top: float) -> float:
    """Draw planes of the last two axes, side by side for axis 1, below each other for axis 0."""
    rank, shape = len(tensor.shape), tensor.shape
    rows = min(shape[-2], _ROWS) if rank > 1 else 1
    columns = min(shape[-1], _COLUMNS) if rank else 1
    planes = min(shape[1], max(_PLANES, min(tensor.vector + 2, 6))) if rank > 2 else 1
    batches = min(shape[0], _BATCHES) if rank > 3 else 1
    width = _number_width(tensor, (batches, planes, rows, columns))
    if width > _WIDE:  # large numbers: fewer of them
        planes, columns = min(planes, 3), min(columns, 3)
    for batch in range(batches):
        for plane in range(planes):
            left = _LEFT + plane * (columns * width + 20)
            head = [0] * rank
            if rank > 3:
                head[0] = batch
            if rank > 2:
                head[1 if rank > 3 else 0] = plane
            _plane(canvas, tensor, head, (left, top, width), (rows, columns))
        top += rows * _HEIGHT + 30
    left_out = _left_out(tensor, rows, columns, planes, batches)
    if left_out:
        canvas.text(_LEFT, top, f"shown in part: {left_out}", pale=True)
        top += 10
    return top - 6


def _number_width(tensor: IndexMap, counts: Ints) -> float:
    """The width of a cell for the largest place among the shown elements."""
    shown = min(len(tensor.shape), len(counts))
    counts = (1,) * (len(tensor.shape) - shown) + counts[len(counts) - shown :]
    corner = [min(size, count) - 1 for size, count in zip(tensor.shape, counts, strict=True)]
    return max(24.0, text_width(str(tensor.place(corner)), 11) + 8)


def _plane(
    canvas: Canvas,
    tensor: IndexMap,
    head: list[int],
    where: tuple[float, float, float],
    size: tuple[int, int],
) -> None:
    left, top, width = where
    rank = len(tensor.shape)
    fixed = [
        f"{name}={i}"
        for name, i, n in zip(tensor.axes[:-2], head[:-2], tensor.shape[:-2], strict=True)
        if n > 1
    ]
    if rank > 2:
        canvas.text(left, top + 10, " ".join(fixed) or "the only plane", size=11)
    for row in range(size[0]):
        for column in range(size[1]):
            index = [*head]
            if rank > 1:
                index[-2] = row
            if rank:
                index[-1] = column
            place = tensor.place(index)
            x, y = left + column * width, top + 16 + row * _HEIGHT
            named = ", ".join(f"{a}={i}" for a, i in zip(tensor.axes, index, strict=True))
            color = _color(tensor, index)
            canvas.rectangle(x, y, width, _HEIGHT, color, fill=0.25, tip=f"{named}: {place}")
            canvas.text(x + width / 2, y + 14.5, str(place), size=11, middle=True)


def _left_out(tensor: IndexMap, rows: int, columns: int, planes: int, batches: int) -> str:
    """The sizes of the axes that are not shown completely: "8 c, 224 h and 224 w"."""
    rank = len(tensor.shape)
    shown = [1] * rank
    for axis, count in zip(range(-1, -rank - 1, -1), (columns, rows), strict=False):
        shown[axis] = count
    if rank > 2:
        shown[1 if rank > 3 else 0] = planes
    if rank > 3:
        shown[0] = batches
    parts = [
        f"{size} {name}"
        for name, size, seen in zip(tensor.axes, tensor.shape, shown, strict=True)
        if size > seen
    ]
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


# --- memory --------------------------------------------------------------------------------------


def _memory(canvas: Canvas, tensor: IndexMap, top: float) -> None:
    """Draw memory from the first element on, with the element at each place."""
    last = tensor.place(tuple(size - 1 for size in tensor.shape))
    in_a_row = _IN_A_ROW if tensor.vector < 16 else 16
    count = min(_CELLS if tensor.vector < 16 else 48, last + 1)
    found = tensor.elements_before(count)
    label = "memory, from the first element on"
    if last >= count:
        label += f": the first {count} of {last + 1:,} places"
    canvas.text(_LEFT, top, label, bold=True)
    coloured = _coloured(tensor)
    texts = {place: _lines(tensor, index, coloured) for place, index in found.items()}
    width = max([40.0, *(text_width(line, 11) + 10 for lines in texts.values() for line in lines)])
    for place in range(count):
        row, column = divmod(place, in_a_row)
        x, y = _LEFT + column * width, top + 24 + row * 58
        canvas.text(x + width / 2, y - 3, str(place), size=9, middle=True, pale=True)
        if place not in found:
            canvas.rectangle(x, y, width, 36, dashed=True, line=0.6, tip=f"{place}: a gap")
            canvas.text(x + width / 2, y + 21, "gap", size=10, middle=True, pale=True)
            continue
        canvas.rectangle(x, y, width, 36, _color(tensor, found[place]), fill=0.25)
        lines = texts[place]
        for i, line in enumerate(lines):
            base = y + 15 + i * 14 if len(lines) > 1 else y + 22
            canvas.text(x + width / 2, base, line, size=11, bold=not i, middle=True)
    _vectors(canvas, tensor, count, in_a_row, width, top)


def _lines(tensor: IndexMap, index: Ints, coloured: int | None) -> list[str]:
    """Text lines with the index along the coloured axis, and along other axes longer than 1."""
    named = [f"{name}{i}" for name, i in zip(tensor.axes, index, strict=True)]
    first = "" if coloured is None else named[coloured]
    others = [
        text
        for axis, (text, size) in enumerate(zip(named, tensor.shape, strict=True))
        if axis != coloured and size > 1
    ]
    return [line for line in (first, " ".join(others)) if line]


def _vectors(
    canvas: Canvas, tensor: IndexMap, count: int, in_a_row: int, width: float, top: float
) -> None:
    """Draw outlines around the elements of each vector."""
    if tensor.vector == 1:
        return
    step = min(tensor.vector, in_a_row)
    for begin in range(0, count, step):
        row, column = divmod(begin, in_a_row)
        x, y = _LEFT + column * width, top + 24 + row * 58
        span = min(step, count - begin) * width
        canvas.rectangle(x + 1, y + 1, span - 2, 34, line=2, tip=f"a vector of {tensor.vector}")


_SPACE_LEFT = 14.0
_WIDTH = 620.0
_SPACE_HEIGHT = 30.0
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
    canvas.text(_SPACE_LEFT, 26, title, bold=True)
    stretches = _stretches(parts)
    largest = max((_size(stretch) for stretch in stretches), default=1)
    labels = [_label(stretch) for stretch in stretches]
    left = _SPACE_LEFT + max(map(text_width, labels), default=0) + 14
    y = 52.0
    for stretch, label in zip(stretches, labels, strict=True):
        canvas.text(_SPACE_LEFT, y + 20, label)
        right = _bar(canvas, stretch, left, y, _WIDTH * _size(stretch) / largest)
        begin, end = stretch[0].offset, stretch[-1].offset + stretch[-1].nbytes
        canvas.text(left, y - 4, f"byte {begin:,}", size=9, pale=True)
        canvas.text(right + 8, y + 20, f"to {end:,}", size=10, pale=True)
        y += _SPACE_HEIGHT + 24
    _space_legend(canvas, parts, y, nbytes)
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
        canvas.rectangle(x, y, wide, _SPACE_HEIGHT, color, fill=0.35, line=0.8, tip=tip)
        gate = part.gate or part.name
        if text_width(gate, 11) + 4 < wide:
            canvas.text(x + wide / 2, y + 19, gate, size=11, middle=True)
        x += wide
    return x


def _space_legend(canvas: Canvas, parts: Sequence[Part], y: float, nbytes: int) -> None:
    x = _SPACE_LEFT
    for kind, (text, color) in _KINDS.items():
        if any(part.kind == kind for part in parts):
            canvas.rectangle(x, y - 10, 13, 13, color, fill=0.35)
            canvas.text(x + 20, y + 1, text)
            x += text_width(text) + 44
    canvas.text(
        _SPACE_LEFT, y + 24, f"{nbytes:,} bytes in all; the words are the cells' gates", pale=True
    )


Pair = tuple[int, int]

_CELL = 27.0
_WINDOW_LEFT, _TOP = 14.0, 92.0
_WINDOW_SIZE = 12, 16  # shown rows and columns of the padded image
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
    canvas.text(_WINDOW_LEFT, 26, described.title, bold=True)
    for i, note in enumerate(described.notes[:2]):
        canvas.text(_WINDOW_LEFT, 46 + 18 * i, note, pale=True)
    rows, columns = (min(n, most) for n, most in zip(described.padded, _WINDOW_SIZE, strict=True))
    second = _second(described)
    _image(canvas, described, rows, columns, second)
    right = _WINDOW_LEFT + columns * _CELL + (24 if columns < described.padded[1] else 0)
    _output(canvas, described, right + 70, second)
    middle = _TOP + rows * _CELL / 2
    canvas.line(right + 16, middle, right + 54, middle)
    _window_legend(canvas, described, _TOP + rows * _CELL + 30, second)
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
            x, y = _WINDOW_LEFT + column * _CELL, _TOP + row * _CELL
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
                x, y = _WINDOW_LEFT + column * _CELL, _TOP + row * _CELL
                canvas.rectangle(x + 3, y + 3, _CELL - 6, _CELL - 6, _SECOND, line=2)
    if columns < described.padded[1]:
        canvas.text(_WINDOW_LEFT + columns * _CELL + 6, _TOP + rows * _CELL / 2 - 10, "…")
    if rows < described.padded[0]:
        canvas.text(_WINDOW_LEFT + columns * _CELL / 2, _TOP + rows * _CELL + 12, "…")


def _output(canvas: Canvas, described: Window, left: float, second: Pair | None) -> None:
    rows, columns = (min(n, most) for n, most in zip(described.output, _WINDOW_SIZE, strict=True))
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
    canvas.text(_WINDOW_LEFT, _TOP - 8, heads, size=11)


def _window_legend(canvas: Canvas, described: Window, top: float, second: Pair | None) -> None:
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
        canvas.rectangle(_WINDOW_LEFT, top + 20 * i - 10, 13, 13, color, fill=fill, line=line)
        canvas.text(_WINDOW_LEFT + 22, top + 20 * i + 1, text)
    if any(described.padding):
        y = top + 20 * len(entries)
        canvas.rectangle(_WINDOW_LEFT, y - 10, 13, 13, dashed=True, line=0.5)
        counts = "does not count" if described.fill == "-" else f"counts as {described.fill}"
        canvas.text(_WINDOW_LEFT + 22, y + 1, f"padding, which {counts}")
