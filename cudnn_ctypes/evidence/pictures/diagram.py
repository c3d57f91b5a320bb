"""Diagrams of boxes and edges, and their layout."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ...arguments import shown
from ...dtypes import data_type_name

Role = Literal["operation", "input", "output", "number"]

_LONGEST = 34  # characters of a line; the tooltip has the whole text


@dataclass(frozen=True)
class Box:
    """One operation, or one tensor in memory.

    - `lines`: the first line is the name.
    - `role` ("operation", "input", "output", "number"): "number" is a value passed by value, or
      fixed in the graph.
    - `details`: all known facts, for the tooltip.
    - `origin`: index in ``Diagram.origins`` of the user's operation to which an operation belongs.
    """

    lines: tuple[str, ...]
    role: Role
    details: str = ""
    origin: int | None = None


@dataclass(frozen=True)
class Arrow:
    """A tensor's way between two boxes, by index: from its producer or memory to its reader or
    memory."""

    tail: int
    head: int
    details: str = ""


@dataclass(frozen=True)
class Region:
    """The frame around all operations of the graph: the engine of its plan.

    - `facts`: knobs, kernels and the GPU it was built for, one line each.
    """

    title: str
    facts: tuple[str, ...] = ()


@dataclass
class Diagram:
    """A graph to draw.

    - `region`: the frame around all operations.
    - `origins`: names of the user's operations with several boxes.
    """

    name: str
    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    region: Region | None = None
    origins: list[str] = field(default_factory=list)


def diagram(name: str, nodes: Sequence[Any], region: Region | None = None) -> Diagram:
    """The diagram of a graph.

    - `nodes`: the nodes of a ``Graph`` or an ``Expansion``.
    """
    found = Diagram(plain(name), region=region)
    origins: dict[int, int] = {}
    makers: dict[int, int] = {}
    for node in nodes:
        results = _tensors(node.outputs.values())
        makers |= {id(tensor): len(found.boxes) for tensor in results}
        found.boxes.append(_operation(node, _origin(node, origins, found.origins)))
    indices: dict[int, int] = {}
    for index, node in enumerate(nodes):
        for port, tensor in _ports(node):
            tail = makers.get(id(tensor))
            if tail is None:
                if id(tensor) not in indices:
                    indices[id(tensor)] = len(found.boxes)
                    found.boxes.append(_tensor(tensor, "number" if _is_number(tensor) else "input"))
                tail = indices[id(tensor)]
            said = plain(f"{tensor.name}: {port} of {node.name}")
            found.arrows.append(Arrow(tail, index, said))
        for port, tensor in node.outputs.items():
            if not (tensor.virtual or tensor.scratch):
                said = plain(f"{port} of {node.name}")
                found.arrows.append(Arrow(index, len(found.boxes), said))
                found.boxes.append(_tensor(tensor, "output"))
    return found


def _origin(node: Any, indices: dict[int, int], names: list[str]) -> int | None:
    origin = getattr(node, "origin", None)
    if origin is None:
        return None
    if id(origin) not in indices:
        indices[id(origin)] = len(names)
        called = "" if origin.name == origin.operation else f" {origin.name!r}"
        names.append(plain(f"{origin.operation}{called}"))
    return indices[id(origin)]


def _tensors(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        yield from value if isinstance(value, (list, tuple)) else (value,)


def _ports(node: Any) -> Iterator[tuple[str, Any]]:
    """The names of a node's inputs in its operation, each with the tensor."""
    seen: set[int] = set()
    for port, value in node.inputs.items():
        for tensor in _tensors([value]):
            seen.add(id(tensor))
            yield port, tensor
    for tensor in node.operands:  # inputs of a function in the node
        if id(tensor) not in seen:
            seen.add(id(tensor))
            yield ", ".join(node.subgraphs), tensor


def _operation(node: Any, origin: int | None) -> Box:
    lines = [node.operation]
    if node.name != node.operation:
        lines.append(node.name)
    lines += [
        f"{name}: {', '.join(each.operation for each in subgraph.nodes) or 'nothing'}"
        for name, subgraph in node.subgraphs.items()
    ]
    lines += filter(None, [", ".join(n for n, value in node.options.items() if value is True)])
    inner = [tensor for tensor in node.outputs.values() if tensor.virtual or tensor.scratch]
    lines += [text for tensor in inner[:1] if (text := _layout(tensor))]
    return Box(_short(lines), "operation", plain(repr(node)), origin)


def _tensor(tensor: Any, role: Role) -> Box:
    lines = [tensor.name or "tensor"]
    if tensor.value is not None and not tensor.scratch:
        lines.append(f"= {shown(tensor.value)}")
    elif text := _layout(tensor):
        lines.append(text)
    return Box(_short(lines), role, plain(repr(tensor)))


def _is_number(tensor: Any) -> bool:
    return bool(tensor.by_value or (tensor.value is not None and not tensor.scratch))


def _layout(tensor: Any) -> str:
    """Dims and data type of a tensor, as text; "" if unknown."""
    dims = "x".join(map(str, tensor.dims)) if tensor.dims is not None else ""
    kind = "" if tensor.data_type is None else data_type_name(tensor.data_type)
    return " ".join(filter(None, (dims, kind)))


def _short(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…" for line in map(plain, lines)
    )


def plain(text: Any) -> str:
    """Text as one line of printable characters, valid in every format."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in " ".join(str(text).split())
    )


GAP = 24.0  # gap between boxes of a row
BEND = 10.0  # width reserved for a passing arrow
MARGIN = 16.0  # distance from the operations to the edge of their region
BETWEEN = 40.0  # gap between rows, for the arrows
_SWEEPS = 12


@dataclass
class Place:
    """A box, or a bend of an arrow, in its row.

    - `side` (-1, 0, 1): -1 left of the operations, 0 among them, 1 right of them.
    - `bend`: True for the place where an arrow passes a row, straight down.
    - `x`, `y`: the middle of the box.
    """

    row: int
    width: float
    height: float
    side: int
    bend: bool = False
    x: float = 0.0
    y: float = 0.0


@dataclass
class Layout:
    """The places of a diagram's boxes and arrows.

    - `places`: the places of the boxes, by index.
    - `paths`: for each arrow its tail, bends and head.
    - `region`: left, top, right and bottom of the frame around all operations.
    """

    places: list[Place]
    paths: list[list[Place]] = field(default_factory=list)
    region: tuple[float, float, float, float] | None = None
    width: float = 0.0
    height: float = 0.0


def layout(diagram: Diagram, sizes: Sequence[tuple[float, float]]) -> Layout:
    """Place boxes of the given widths and heights, and the bends of the arrows."""
    rows = _rows(diagram)
    sides = {"operation": 0, "output": 1}
    boxes = zip(diagram.boxes, rows, sizes, strict=True)
    places = [Place(row, *size, sides.get(box.role, -1)) for box, row, size in boxes]
    found = Layout(places)
    everything = list(places)
    for arrow in diagram.arrows:
        tail, head = places[arrow.tail], places[arrow.head]
        bends = [Place(row, BEND, 0.0, 0, bend=True) for row in range(tail.row + 1, head.row)]
        everything += bends
        found.paths.append([tail, *bends, head])
    if everything:
        inside = [place.row for place in places if place.side == 0]
        for place in everything:  # rows above and below the operations have no sides
            if not min(inside, default=0) <= place.row <= max(inside, default=-1):
                place.side = 0
        _arrange(found, everything, inside)
    return found


def _rows(diagram: Diagram) -> list[int]:
    """The row of each box; the first is 0."""
    boxes, arrows = diagram.boxes, diagram.arrows
    operations = [i for i, box in enumerate(boxes) if box.role == "operation"]
    readers: dict[int, list[int]] = {i: [] for i in range(len(boxes))}
    makers: dict[int, list[int]] = {i: [] for i in range(len(boxes))}
    for arrow in arrows:
        readers[arrow.tail].append(arrow.head)
        makers[arrow.head].append(arrow.tail)
    row: dict[int, int] = {}
    for i in operations:  # makers come first
        row[i] = 1 + max((row[j] for j in makers[i] if j in row), default=0)
    for i in reversed(operations):
        below = [row[j] for j in readers[i] if j in row]
        if below and not any(j in row for j in makers[i]):
            row[i] = min(below) - 1  # the start of a branch goes near the branch's end
    for i, box in enumerate(boxes):
        if box.role == "output":
            row[i] = row[makers[i][0]] + 1
        elif box.role != "operation":
            row[i] = min((row[j] for j in readers[i]), default=1) - 1
    first = min(row.values(), default=0)
    return [row[i] - first for i in range(len(boxes))]


def _arrange(found: Layout, everything: Sequence[Place], inside: Sequence[int]) -> None:
    """Set the order and positions of the places, and the size of the layout."""
    count = 1 + max(place.row for place in everything)
    rows: list[list[Place]] = [[] for _ in range(count)]
    for place in everything:
        rows[place.row].append(place)
    neighbours = _neighbours(found.paths)
    _order(rows, neighbours)
    middle = [[place for place in row if place.side == 0] for row in rows]
    _position(middle, neighbours)
    within = [p for row in middle for p in row if min(inside) <= p.row <= max(inside)]
    left = min(place.x - place.width / 2 for place in within) - MARGIN
    right = max(place.x + place.width / 2 for place in within) + MARGIN
    for row in rows:
        _beside([p for p in reversed(row) if p.side < 0], left, -1)
        _beside([p for p in row if p.side > 0], right, 1)
    _stack(rows)
    top = min(place.y - place.height / 2 for place in within) - MARGIN
    bottom = max(place.y + place.height / 2 for place in within) + MARGIN
    leftmost = min(left, *(place.x - place.width / 2 for place in everything))
    rightmost = max(right, *(place.x + place.width / 2 for place in everything))
    highest = min(top, *(place.y - place.height / 2 for place in everything))
    for place in everything:
        place.x -= leftmost
        place.y -= highest
    found.region = (left - leftmost, top - highest, right - leftmost, bottom - highest)
    found.width = rightmost - leftmost
    found.height = max(bottom, *(p.y + highest + p.height / 2 for p in everything)) - highest


Neighbours = tuple[dict[int, list[Place]], dict[int, list[Place]]]


def _neighbours(paths: Iterable[Sequence[Place]]) -> Neighbours:
    """The places above and below that arrows join with each place, by its id."""
    above: dict[int, list[Place]] = {}
    below: dict[int, list[Place]] = {}
    for path in paths:
        for upper, lower in itertools.pairwise(path):
            below.setdefault(id(upper), []).append(lower)
            above.setdefault(id(lower), []).append(upper)
    return above, below


def _order(rows: list[list[Place]], neighbours: Neighbours) -> None:
    """Sort each row by the mean position of joined places; keep the order with fewest crossings."""

    def key(place_of: dict[int, int], joined: dict[int, list[Place]]) -> Callable[[Place], object]:
        def mean(place: Place) -> object:
            others = [place_of[id(other)] for other in joined.get(id(place), ())]
            own = place_of[id(place)]
            return place.side, sum(others) / len(others) if others else own, own

        return mean

    for row in rows:
        row.sort(key=lambda place: place.side)
    best, fewest = [list(row) for row in rows], _crossings(rows, neighbours[1])
    for sweep in range(_SWEEPS if fewest else 0):
        downwards = sweep % 2 == 0
        joined = neighbours[0 if downwards else 1]
        for row in rows if downwards else reversed(rows):
            place_of = {id(place): i for each in rows for i, place in enumerate(each)}
            row.sort(key=key(place_of, joined))  # type: ignore[arg-type]
        crossings = _crossings(rows, neighbours[1])
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    rows[:] = best


def _crossings(rows: Sequence[Sequence[Place]], below: dict[int, list[Place]]) -> int:
    count = 0
    for upper, lower in itertools.pairwise(rows):
        at = {id(place): i for i, place in enumerate(lower)}
        ends = [
            end for place in upper for end in sorted(at[id(o)] for o in below.get(id(place), ()))
        ]
        count += sum(a > b for i, a in enumerate(ends) for b in ends[i + 1 :])
    return count


def _position(rows: Sequence[Sequence[Place]], neighbours: Neighbours) -> None:
    """Set horizontal positions, as near to the mean of the neighbours as the order allows."""
    above, below = neighbours
    for row in rows:
        _spread(row, [0.0] * len(row))
    for sweep in range(4 * _SWEEPS):
        downwards = sweep % 2 == 0
        for row in rows if downwards else reversed(rows):
            # At first use neighbours of one side only: chains become straight at once.
            one = [above if downwards else below]
            joined = one if sweep < 2 * _SWEEPS else [above, below]
            _spread(row, [_mean(place, joined) for place in row])


def _mean(place: Place, joined: Iterable[dict[int, list[Place]]]) -> float:
    """The weighted mean position of a place's neighbours; weights keep long arrows straight."""
    total = weights = 0.0
    for side in joined:
        for other in side.get(id(place), ()):
            if other.side == 0:
                weight = (1.0, 0.2, 8.0)[place.bend + other.bend]
                total, weights = total + weight * other.x, weights + weight
    return total / weights if weights else place.x


def _spread(row: Sequence[Place], wanted: Sequence[float]) -> None:
    """Set the positions nearest to `wanted` (least squares) that keep the order and a gap."""
    offsets, offset = [], 0.0
    for left, right in itertools.pairwise(row):
        offsets.append(offset)
        gap = BEND if left.bend or right.bend else GAP
        offset += left.width / 2 + gap + right.width / 2
    offsets.append(offset)
    pools: list[tuple[float, int]] = []  # mean position, and number of places
    for want, shift in zip(wanted, offsets, strict=False):
        mean, count = want - shift, 1
        while pools and pools[-1][0] > mean:
            other, size = pools.pop()
            mean, count = (mean * count + other * size) / (count + size), count + size
        pools.append((mean, count))
    means = [mean for mean, count in pools for _ in range(count)]
    for place, mean, shift in zip(row, means, offsets, strict=False):
        place.x = mean + shift


def _beside(places: Sequence[Place], edge: float, direction: int) -> None:
    """Place the boxes beside the operations, one after the other, away from `edge`."""
    for place in places:
        edge += direction * (GAP + place.width / 2)
        place.x = edge
        edge += direction * place.width / 2


def _stack(rows: Sequence[Sequence[Place]]) -> None:
    """Set vertical positions; a row is as high as its highest box."""
    top = 0.0
    for row in rows:
        height = max((place.height for place in row), default=0.0)
        for place in row:
            place.y = top + height / 2
            place.height = height if place.bend else place.height
        top += height + BETWEEN
