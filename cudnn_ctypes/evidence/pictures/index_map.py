"""Pictures of where elements lie: index maps, weight spaces, and windows of operations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .html import Slider
from .svg import PALETTE, Canvas, text_width

Ints = tuple[int, ...]
Corner = tuple[float, float, float]
"""x and y of a cell's corner, and its width."""

_ROWS, _COLUMNS = 4, 6  # shown elements of a plane
_PLANES, _BATCHES = 4, 2
_CELLS, _IN_A_ROW = 36, 12  # shown places of memory
_HEIGHT = 21.0  # a cell's height in a plane
_WIDE = 44.0
_LEFT = 14.0


@dataclass(frozen=True)
class IndexMap:
    """The shape and strides of a tensor, for its picture.

    - `shape`, `strides`: strides count vectors of `vector` elements, as in cuDNN.
    - `axes`: a letter for each axis.
    - `vector`: adjacent elements of axis 1: 4 or 32 for NCHW_VECT_C, else 1.
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
    bottom = _planes(canvas, tensor, 66.0 if len(tensor.shape) > 2 else 48.0, {})
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


def _planes(canvas: Canvas, tensor: IndexMap, top: float, corners: dict[Ints, Corner]) -> float:
    """Draw planes of the last two axes, side by side for axis 1, below each other for axis 0.

    The corners of the elements' cells are added to `corners`; the result is the bottom.
    """
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
            _plane(canvas, tensor, head, (left, top, width), (rows, columns), corners)
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
    corners: dict[Ints, Corner],
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
            corners[tuple(index)] = x, y, width
            tip = f"{_named(tensor.axes, index)}: {place}"
            canvas.rectangle(x, y, width, _HEIGHT, _color(tensor, index), fill=0.25, tip=tip)
            canvas.text(x + width / 2, y + 14.5, str(place), size=11, anchor="middle")


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


def moving_index_map(tensor: IndexMap) -> Slider:
    """One memory read in two layouts: at each step one of its numbers, and the two elements."""
    _, c, h, w = tensor.shape
    packed: Ints = (c * h * w, h * w, w, 1)
    last: Ints = (h * w * c, 1, w * c, c)
    other = replace(tensor, strides=last if tensor.strides == packed else packed)
    canvas = Canvas(tensor.title)
    canvas.text(_LEFT, 26, tensor.title, bold=True)
    count = min(_CELLS, math.prod(tensor.shape))
    places = [(_LEFT + place % 12 * 30.0, 42 + place // 12 * 24.0) for place in range(count)]
    for place, (x, y) in enumerate(places):
        canvas.rectangle(x, y, 30, 24, line=0.6)
        canvas.text(x + 15, y + 16, str(place), size=11, anchor="middle")
    bottom = places[-1][1] + 50
    found: list[tuple[str, dict[int, Ints], dict[Ints, Corner], float]] = []
    for reading in (tensor, other):
        names = {packed: "NCHW", last: "NHWC"}
        name = names.get(reading.strides, "these strides")
        corners: dict[Ints, Corner] = {}
        found.append((name, reading.elements_before(count), corners, bottom))
        canvas.reach(_LEFT + 330, bottom)
        bottom = _planes(canvas, reading, bottom + 4, corners) + 26
    for place, corner in enumerate(places):
        canvas.step()
        canvas.cells([corner], 30, 24, PALETTE[5])
        for name, elements, corners, y in found:
            index = elements.get(place)
            said = "a gap" if index is None else _named(tensor.axes, index)
            canvas.text(_LEFT, y, f"as {name}, number {place} is {said}", bold=True)
            if index in corners:
                x, top, width = corners[index]
                canvas.cells([(x, top)], width, _HEIGHT, PALETTE[5])
    return Slider(tensor.title, canvas.svg(standalone=False), canvas.steps)


def _named(axes: Sequence[str], index: Sequence[int]) -> str:
    return ", ".join(f"{name}={i}" for name, i in zip(axes, index, strict=True))


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
        canvas.text(x + width / 2, y - 3, str(place), size=9, anchor="middle", pale=True)
        if place not in found:
            canvas.rectangle(x, y, width, 36, dashed=True, line=0.6, tip=f"{place}: a gap")
            canvas.text(x + width / 2, y + 21, "gap", size=10, anchor="middle", pale=True)
            continue
        canvas.rectangle(x, y, width, 36, _color(tensor, found[place]), fill=0.25)
        lines = texts[place]
        for i, line in enumerate(lines):
            base = y + 15 + i * 14 if len(lines) > 1 else y + 22
            canvas.text(x + width / 2, base, line, size=11, bold=not i, anchor="middle")
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

    - `layer`: "layer 0 backward", for instance.
    - `name`: "w_forget", "br_reset" or "projection".
    - `offset`, `nbytes`: bytes from the beginning of the space, and size in bytes.
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
            canvas.text(x + wide / 2, y + 19, gate, size=11, anchor="middle")
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
_WINDOW_LEFT, _TOP = 14.0, 112.0
_WINDOW_SIZE = 12, 16  # shown rows and columns of the padded image
_STEPS, _TAPS = 36, 25  # most steps of a moving window, most rows of the matrix of im2col
_SMALL = 13.0  # a cell of this matrix
_IMAGE, _FIRST = PALETTE[4], PALETTE[5]


@dataclass(frozen=True)
class Window:
    """A window over two spatial dimensions; for one dimension the height is 1.

    - `notes`: at most two lines below the title.
    - `image`, `size`, `padding`, `stride`, `dilation`, `output`: (height, width); `size` in taps,
      `padding` on each side.
    - `fill`: the value of padding elements; "-" for padding that is ignored.
    - `flipped`: True if the filter is applied in reverse: its first tap reads the last element.
    - `filtered`: True for a convolution, whose filter taps are numbered.
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

    def inside(self, cell: Pair) -> bool:
        """Whether a cell of the padded image belongs to the image."""
        return all(
            pad <= i < pad + size
            for i, pad, size in zip(cell, self.padding, self.image, strict=True)
        )

    @property
    def padded(self) -> Pair:
        """The sizes of the image with its padding."""
        (height, width), (top, left) = self.image, self.padding
        return height + 2 * top, width + 2 * left


def window(described: Window, *, standalone: bool = True) -> str:
    """The picture as SVG: the padded image with the first window, its output, and im2col."""
    return _drawn(described, 1).svg(standalone=standalone)


def moving_window(described: Window) -> Slider:
    """The window at each of its places: what it reads, its output, and its column of im2col."""
    canvas = _drawn(described, _STEPS)
    return Slider(described.title, canvas.svg(standalone=False), canvas.steps)


def _drawn(described: Window, steps: int) -> Canvas:
    """Draw the image, the output and the matrix; then, in steps, a window and all that is its."""
    canvas = Canvas(described.title)
    canvas.text(_WINDOW_LEFT, 26, described.title, bold=True)
    counts = f"padding {'does not count' if described.fill == '-' else 'counts as 0'}"
    notes = ("; ".join(described.notes[1:]), counts if any(described.padding) else "")
    canvas.text(_WINDOW_LEFT, 46, "".join(described.notes[:1]), pale=True)
    canvas.text(_WINDOW_LEFT, 64, "; ".join(filter(None, notes)), pale=True)
    shown = (min(n, most) for n, most in zip(described.padded, _WINDOW_SIZE, strict=True))
    made = (min(n, most) for n, most in zip(described.output, _WINDOW_SIZE, strict=True))
    (rows, columns), (height, width) = shown, made
    left = _WINDOW_LEFT + columns * _CELL + 26
    _image(canvas, described, rows, columns)
    _output(canvas, described, left, height, width)
    outputs = [(row, column) for row in range(height) for column in range(width)]
    outputs = [
        at for at in outputs if all(r < rows and c < columns for r, c in described.taps(at))
    ][:_STEPS]
    top, taps = _TOP + max(rows, height) * _CELL + 48, math.prod(described.size)
    with_matrix = described.filtered and taps <= _TAPS
    if with_matrix:
        _matrix(canvas, described, outputs, top)
    for number, at in enumerate(outputs[:steps]):
        canvas.step()
        begin = [i * s - p for i, s, p in zip(at, described.stride, described.padding, strict=True)]
        said = f"y[{at[0]}, {at[1]}]: the window begins at x[{begin[0]}, {begin[1]}]"
        canvas.text(_WINDOW_LEFT, 84, said, bold=True)
        reads = {
            (_WINDOW_LEFT + c * _CELL, _TOP + r * _CELL): tap
            for (r, c), tap in described.taps(at).items()
        }
        canvas.cells(reads, _CELL, _CELL, _FIRST)
        for (x, y), (r, c) in reads.items() if described.filtered else ():
            canvas.text(x + _CELL / 2, y + 18, f"{r},{c}", size=11, anchor="middle")
        canvas.cells([(left + at[1] * _CELL, _TOP + at[0] * _CELL)], _CELL, _CELL, _FIRST)
        if with_matrix:
            canvas.cells([(_WINDOW_LEFT + number * _SMALL, top)], _SMALL, taps * _SMALL, _FIRST)
    return canvas


def _image(canvas: Canvas, described: Window, rows: int, columns: int) -> None:
    heads = f"padded x, {described.padded[0]} x {described.padded[1]}"
    canvas.text(_WINDOW_LEFT, _TOP - 8, heads, size=11)
    for row in range(rows):
        for column in range(columns):
            x, y = _WINDOW_LEFT + column * _CELL, _TOP + row * _CELL
            if described.inside((row, column)):
                tip = f"x[{row - described.padding[0]}, {column - described.padding[1]}]"
                canvas.rectangle(x, y, _CELL, _CELL, _IMAGE, fill=0.25, tip=tip)
            else:
                canvas.rectangle(x, y, _CELL, _CELL, dashed=True, line=0.5, tip="padding")
                canvas.text(
                    x + _CELL / 2, y + 18, described.fill, size=10, anchor="middle", pale=True
                )
    if columns < described.padded[1]:
        canvas.text(_WINDOW_LEFT + columns * _CELL + 6, _TOP + rows * _CELL / 2 - 10, "…")
    if rows < described.padded[0]:
        canvas.text(_WINDOW_LEFT + columns * _CELL / 2, _TOP + rows * _CELL + 12, "…")


def _output(canvas: Canvas, described: Window, left: float, rows: int, columns: int) -> None:
    canvas.text(left, _TOP - 8, f"y, {described.output[0]} x {described.output[1]}", size=11)
    corners = [
        (left + column * _CELL, _TOP + row * _CELL)
        for row in range(rows)
        for column in range(columns)
    ]
    canvas.cells(corners, _CELL, _CELL, "grey", fill=0.1)
    if rows < described.output[0] or columns < described.output[1]:
        canvas.text(left + columns * _CELL + 6, _TOP + rows * _CELL - 6, "…")


def _matrix(canvas: Canvas, described: Window, outputs: Sequence[Pair], top: float) -> None:
    """Draw the matrix of im2col, with what is padding left empty."""
    taps = math.prod(described.size)
    said = f"im2col: a column for each output, {taps} rows for the taps"
    canvas.text(_WINDOW_LEFT, top - 8, said, size=11)
    corners: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for column, at in enumerate(outputs):
        for row, cell in enumerate(described.taps(at)):
            corner = _WINDOW_LEFT + column * _SMALL, top + row * _SMALL
            corners[described.inside(cell)].append(corner)
    canvas.cells(corners[True], _SMALL, _SMALL, _IMAGE, fill=0.25)
    canvas.cells(corners[False], _SMALL, _SMALL, "grey", fill=0.0)
