"""The contents of a graph's picture in any format: boxes, arrows, the region of an engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ...arguments import shown
from ...dtypes import data_type_name

__all__ = ["Arrow", "Box", "Diagram", "Region", "diagram", "plain"]

Role = Literal["operation", "input", "output", "number"]

_LONGEST = 34  # characters of a line; the tooltip has the whole text


@dataclass(frozen=True)
class Box:
    """One operation, or one tensor in memory.

    Attributes
    ----------
    lines : tuple of str
        The first line is the name.
    role : {"operation", "input", "output", "number"}
        "number" is a value passed by value, or fixed in the graph.
    details : str
        All known facts, for the tooltip.
    origin : int or None
        Index in ``Diagram.origins`` of the user's operation to which an operation belongs.
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

    Attributes
    ----------
    title : str
    facts : tuple of str
        Knobs, kernels and the GPU it was built for, one line each.
    """

    title: str
    facts: tuple[str, ...] = ()


@dataclass
class Diagram:
    """A graph to draw.

    Attributes
    ----------
    name : str
    boxes : list of Box
    arrows : list of Arrow
    region : Region, optional
        The frame around all operations.
    origins : list of str
        Names of the user's operations with several boxes.
    """

    name: str
    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    region: Region | None = None
    origins: list[str] = field(default_factory=list)


def diagram(name: str, nodes: Sequence[Any], region: Region | None = None) -> Diagram:
    """The diagram of a graph.

    Parameters
    ----------
    name : str
    nodes : sequence of Node
        The nodes of a ``Graph`` or an ``Expansion``.
    region : Region, optional
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
        names.append(plain(_called(origin)))
    return indices[id(origin)]


def _called(node: Any) -> str:
    return str(node.operation if node.name == node.operation else f"{node.operation} {node.name!r}")


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
