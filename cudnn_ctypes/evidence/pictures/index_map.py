"""A picture of a tensor's index map: each element's place, and the element at each place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .canvas import PALETTE, Canvas
from .svg import text_width

__all__ = ["IndexMap", "index_map"]

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
