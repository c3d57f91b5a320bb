"""What a picture of a graph shows, whatever draws it: boxes, arrows, the region of an engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ...dtypes import data_type_name
from ...enumerators import shown

__all__ = ["Arrow", "Box", "Diagram", "Region", "diagram", "plain"]

Role = Literal["operation", "input", "output", "number"]

_LONGEST = 34  # characters of a line; the whole text is the box's tooltip


@dataclass(frozen=True)
class Box:
    """One operation, or one tensor that has memory.

    Attributes
    ----------
    lines : tuple of str
        The first is its name.
    role : {"operation", "input", "output", "number"}
        A number is passed by value, or fixed in the graph.
    details : str
        All that is known of it.
    origin : int or None
        Index of the user's operation that an operation is a part of, in ``Diagram.origins``.
    """

    lines: tuple[str, ...]
    role: Role
    details: str = ""
    origin: int | None = None


@dataclass(frozen=True)
class Arrow:
    """From the box that makes or holds a tensor to a box that reads or holds it, by index."""

    tail: int
    head: int
    details: str = ""


@dataclass(frozen=True)
class Region:
    """What carries out all operations of the graph together: the engine of its plan.

    Attributes
    ----------
    title : str
    facts : tuple of str
        A line each: knobs, kernels, what it was built for.
    """

    title: str
    facts: tuple[str, ...] = ()


@dataclass
class Diagram:
    """A graph to be drawn.

    Attributes
    ----------
    name : str
    boxes : list of Box
    arrows : list of Arrow
    region : Region, optional
        Around all operations.
    origins : list of str
        Names of the user's operations that consist of several boxes.
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
        Of a ``Graph`` or an ``Expansion``.
    region : Region, optional
    """
    found = Diagram(plain(name), region=region)
    origins: dict[int, int] = {}
    makers: dict[int, int] = {}
    for node in nodes:
        made = _tensors(node.outputs.values())
        makers |= {id(tensor): len(found.boxes) for tensor in made}
        found.boxes.append(_operation(node, _origin(node, origins, found.origins)))
    held: dict[int, int] = {}
    for index, node in enumerate(nodes):
        for port, tensor in _ports(node):
            tail = makers.get(id(tensor))
            if tail is None:
                if id(tensor) not in held:
                    held[id(tensor)] = len(found.boxes)
                    found.boxes.append(_tensor(tensor, "number" if _is_number(tensor) else "input"))
                tail = held[id(tensor)]
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
    """The tensors that a node reads, each with what the operation calls it."""
    seen: set[int] = set()
    for port, value in node.inputs.items():
        for tensor in _tensors([value]):
            seen.add(id(tensor))
            yield port, tensor
    for tensor in node.operands:  # what a function within it reads
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
    """Dims and data type, as far as they are known."""
    dims = "x".join(map(str, tensor.dims)) if tensor.dims is not None else ""
    kind = "" if tensor.data_type is None else data_type_name(tensor.data_type)
    return " ".join(filter(None, (dims, kind)))


def _short(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…" for line in map(plain, lines)
    )


def plain(text: Any) -> str:
    """One line, without characters that no file format takes."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in " ".join(str(text).split())
    )
