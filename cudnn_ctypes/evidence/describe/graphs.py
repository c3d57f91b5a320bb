"""Descriptions of graphs, their operations and tensors, and explanations of their engines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...arguments import shown
from ...graph.describe.node import Node
from ...graph.describe.tensor import Tensor
from ..pictures.diagram import Region
from ..pictures.diagram import diagram as diagram_of
from ..pictures.svg import svg
from .description import Description, Section
from .tensors import tensor
from .words import IMAGE_AXES, axes_of, counted, listed, type_name

__all__ = ["front_node_words", "graph_words", "node_words", "tensor_words"]


def graph_words(graph: Any) -> Description:
    """The description of a ``Graph``, an ``Expansion``, or a graph of the front end."""
    described = graph._diagram()
    nodes, region = _nodes(graph), described.region
    sections = [
        Section("Operations, in order", tuple(_sentence(node) for node in nodes)),
        Section("Tensors in memory", tuple(_operands(nodes))),
    ]
    if region is not None:
        sections.append(_region(region))
    else:
        said = "it is not built yet: build(device) looks for an engine that carries all of it out"
        sections.append(Section("Engine", (said,)))
    return Description(
        f"{type(graph).__name__} {described.name!r}: {counted(len(nodes), 'operation')}",
        tuple(sections),
        lambda *, standalone=True: svg(graph._diagram(), standalone=standalone),
    )


def _nodes(graph: Any) -> list[Node]:
    """The nodes of a graph; a front end's graph has them in its inner graph."""
    inner = getattr(graph, "_graph", graph)
    return list(inner.nodes)


def _region(region: Region) -> Section:
    lines = ("one engine carries out all operations together", region.title, *region.facts)
    return Section("Engine", lines)


def node_words(node: Node) -> Description:
    """The description of one operation of a graph, with its operands."""
    sections = [Section(lines=(_sentence(node),))]
    rows = [
        f"{port}: {_tensor_line(each)}"
        for port, value in (*node.inputs.items(), *node.outputs.items())
        for each in (value if isinstance(value, (list, tuple)) else (value,))
        if isinstance(each, Tensor)
    ]
    sections.append(Section("Operands", tuple(rows)))
    options = [
        f"{name} = {shown(value)}" for name, value in node.options.items() if value is not None
    ]
    if options:
        sections.append(Section("Options", tuple(options)))

    def picture(*, standalone: bool = True) -> str:
        return svg(diagram_of(str(node), [node]), standalone=standalone)

    return Description(f"Node {node.name!r}: {node.operation}", tuple(sections), picture)


def front_node_words(node: Any) -> Description:
    """The description of an operation of the front end, from the program's call."""
    rows = [f"{port}: {_tensor_line(each)}" for port, each in node.inputs.items()]
    results = [f"{port}: {_tensor_line(each)}" for port, each in node.outputs.items()]
    options = [f"{name} = {value}" for name, value in node.params.items() if value is not None]
    sections = [Section("Inputs", tuple(rows)), Section("Outputs", tuple(results))]
    if options:
        sections.append(Section("Other arguments", tuple(options)))
    return Description(f"Node {node.name!r}: {node.node_type.name}", tuple(sections))


def _sentence(node: Node) -> str:
    """A sentence with a node's operation, inputs and outputs."""
    read = [
        f"{port} {_named(value)}"
        for port, value in node.inputs.items()
        if isinstance(value, (Tensor, list, tuple))
    ]
    results = [f"{each.name!r}{_dims(each)}" for each in node.outputs.values()]
    called = "" if node.name == node.operation else f" {node.name!r}"
    inner = f", with the function{'s' if len(node.subgraphs) > 1 else ''} {listed(node.subgraphs)}"
    return (
        f"{node.operation}{called} of {listed(read) or 'nothing'}"
        f"{inner if node.subgraphs else ''} makes {listed(results)}"
    )


def _named(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_named, value))}]"
    return repr(value.name)


def _dims(each: Tensor) -> str:
    return "" if each.dims is None else f" {each.dims}"


def _operands(nodes: list[Node]) -> Iterator[str]:
    results = {id(each) for node in nodes for each in node.results}
    seen: set[int] = set()
    for node in nodes:
        for each in (*node.operands, *node.outputs.values()):
            in_memory = not (each.virtual or each.scratch)
            if in_memory and id(each) not in seen:
                seen.add(id(each))
                role = "output" if id(each) in results else "input"
                yield f"{role} {_tensor_line(each)}"


def _tensor_line(each: Tensor) -> str:
    parts = [repr(each.name)]
    if each.dims is not None:
        parts.append(str(each.dims))
    if each.data_type is not None:
        parts.append(type_name(each.data_type))
    if each.strides is not None:
        parts.append(f"strides {each.strides}")
    parts.append(_role(each))
    return " ".join(filter(None, parts))


def _role(each: Tensor) -> str:
    if each.value is not None and not each.scratch:
        return f"= {shown(each.value)}, fixed in the graph"
    if each.by_value:
        return "(a number that is passed by value)"
    if each.scratch:
        return "(in the workspace)"
    return "(virtual: only between operations, without memory)" if each.virtual else ""


def tensor_words(each: Tensor) -> Description:
    """The description of one tensor of a graph."""
    name = f"Tensor {each.name!r} of a graph"
    more = [] if each.uid is None else [f"unique id {each.uid}: by which memory is passed"]
    if role := _role(each):
        more.append(role.strip("()"))
    more.append(f"its address must be a multiple of {counted(each.alignment, 'byte')}")
    if each.ragged_offset is not None:
        more.append(f"each batch begins where tensor {each.ragged_offset.name!r} says (ragged)")
    if each.dims is None or each.strides is None or each.data_type is None:
        unknown = [
            word
            for word, value in (
                ("dims", each.dims),
                ("strides", each.strides),
                ("data type", each.data_type),
            )
            if value is None
        ]
        lines = (f"not known yet: {listed(unknown)}; validate() infers what is left out", *more)
        return Description(name, (Section(lines=lines),))
    vector, dims = each.vector_count, each.dims
    if vector > 1 and each.vector_dimension == 1:
        dims = (dims[0], dims[1] * vector, *dims[2:])
    axes = axes_of(len(dims), {rank: IMAGE_AXES[rank] for rank in (4, 5)})
    vector = vector if each.vector_dimension == 1 else 1
    return tensor(name, dims, each.strides, each.data_type, axes, more=more, vector=vector)
