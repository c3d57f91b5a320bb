"""Descriptions of graphs, engines and plans, and of backend descriptors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from ...arguments import shown
from ...dtypes import element_bits
from ...errors import CudnnError, SymbolNotFoundError
from ...graph.backend.descriptor import BackendDescriptor, read_values
from ...graph.backend.engine import Engine, EngineConfig
from ...graph.describe.node import Node
from ...graph.describe.tensor import Tensor
from ...graph.engines.explaining.report import Table
from ...graph.run.plan import BoundPlan, ExecutionPlan
from ...graph.run.program import Program
from ...raw import backend, cudnnBackendDescriptor_t, live
from ...raw.attributes import ATTRIBUTES, kind_name
from ...raw.enums import cudnnBackendAttributeType_t as Type
from ..pictures.diagram import Region
from ..pictures.diagram import diagram as diagram_of
from ..pictures.html import Slider
from ..pictures.svg import HIDDEN, svg
from .description import (
    IMAGE_AXES,
    Description,
    Section,
    axes_of,
    counted,
    listed,
    name_of,
    type_name,
)
from .tensors import tensor


def graph_words(graph: Any) -> Description:
    """The description of a ``Graph``, an ``Expansion``, or a graph of the front end."""
    described = graph._diagram()
    nodes, region = _nodes(graph), described.region
    sections = [
        Section("Operations, in order", tuple(_sentence(node) for node in nodes)),
        Section(
            "Tensors in memory",
            tuple(f"{role} {_tensor_line(each)}" for each, role in _operands(nodes)),
        ),
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


def sequence_words(graphs: Sequence[Any]) -> Description:
    """The description of graphs that run one after the other, each as a kernel or some."""
    lines, sizes = [], []
    for number, graph in enumerate(graphs, 1):
        sizes.append(_traffic(_nodes(graph)))
        names = listed(node.operation for node in _nodes(graph))
        lines.append(f"{number} of {len(graphs)}: {names}; {_in_bytes(sizes[-1:])}")
    title = f"{counted(len(graphs), 'graph')}, one after the other; {_in_bytes(sizes)}"

    def moving() -> Slider:
        pictures = [svg(graph._diagram(), standalone=False) for graph in graphs]
        steps = (
            f'<div data-step="{i}"{HIDDEN if i else ""}>{escape(line)}<br/>{picture}</div>'
            for i, (line, picture) in enumerate(zip(lines, pictures, strict=True))
        )
        return Slider(title, "".join(steps), len(lines))

    return Description(title, (Section(lines=tuple(lines)),), moving=moving)


def _traffic(nodes: list[Node]) -> int | None:
    """The bytes that graphs read and write; None before shapes and data types are inferred."""
    total = 0
    for each, _ in _operands(nodes):
        if each.dims is None or each.data_type is None:
            return None
        total += math.prod(each.dims) * element_bits(each.data_type) // 8
    return total


def _in_bytes(sizes: Sequence[int | None]) -> str:
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return "validate() infers the shapes, and so the bytes"
    return f"{sum(known):,} bytes are read and written"


def _nodes(graph: Any) -> list[Node]:
    """The nodes of a graph; a front end's graph has them in its inner graph."""
    inner = getattr(graph, "_graph", graph)
    return list(inner.nodes)


def _region(region: Region) -> Section:
    if region.title.startswith("engine"):
        return Section(
            "Engine",
            ("one engine carries out all operations together", region.title, *region.facts),
        )
    return Section("Plans", (region.title, *region.facts))


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


def _operands(nodes: list[Node]) -> Iterator[tuple[Tensor, str]]:
    """The tensors in memory, each once, with "input" or "output"."""
    results = {id(each) for node in nodes for each in node.results}
    seen: set[int] = set()
    for node in nodes:
        for each in (*node.operands, *node.outputs.values()):
            in_memory = not (each.virtual or each.scratch)
            if in_memory and id(each) not in seen:
                seen.add(id(each))
                yield each, "output" if id(each) in results else "input"


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
        names = ("dims", "strides", "data_type")
        unknown = listed(n.replace("_", " ") for n in names if getattr(each, n) is None)
        lines = (f"not known yet: {unknown}; validate() infers what is left out", *more)
        return Description(name, (Section(lines=lines),))
    vector, dims = each.vector_count, each.dims
    if vector > 1 and each.vector_dimension == 1:
        dims = (dims[0], dims[1] * vector, *dims[2:])
    axes = axes_of(len(dims), {rank: IMAGE_AXES[rank] for rank in (4, 5)})
    vector = vector if each.vector_dimension == 1 else 1
    return tensor(name, dims, each.strides, each.data_type, axes, more=more, vector=vector)


def backend_words(item: Any) -> Description | None:
    """The description of a plan, engine or backend descriptor of layer 3; None for others."""
    if isinstance(item, ExecutionPlan):
        return _plan(item)
    if isinstance(item, BoundPlan):
        words = _plan(item.plan)
        return Description(
            "BoundPlan: a plan with the addresses of its operands; calling it is one C call",
            (*words.sections, Section("Addresses", text=item.variant_pack.tree())),
        )
    if isinstance(item, EngineConfig):
        return Description("EngineConfig: an engine and its knobs", (_config(item),))
    if isinstance(item, Engine):
        return _engine(item)
    if isinstance(item, BackendDescriptor):
        return _descriptor(item)
    return None


# --- plans and engines ---------------------------------------------------------------------------


def _plan(plan: ExecutionPlan) -> Description:
    lines = [
        f"workspace: {counted(plan.workspace_size, 'byte')} of device memory beside the operands"
    ]
    if plan.uids:
        lines.append(f"operands: the tensors with the unique ids {listed(sorted(plan.uids))}")
    sections = [Section(lines=tuple(lines))]
    plans = plan.plans if isinstance(plan, Program) else (plan,)
    if plan.choices:
        sections += [_config(each.config) for each in plans]
    else:  # the reference device's own plans have no engine
        sections.append(Section(lines=("carried out without an engine of cuDNN's",)))
    return Description("ExecutionPlan: a graph, compiled for one GPU", tuple(sections))


def _config(config: EngineConfig) -> Section:
    knobs = [f"{name} = {value}" for name, value in config.knobs.items()]
    lines = [
        f"engine {config.engine.index}: the kernel that carries the whole graph out",
        f"knobs {listed(knobs)}: how that kernel is tuned" if knobs else "it has no knobs",
        *_notes(config),
    ]
    return Section("Engine", tuple(lines))


def _notes(item: Engine | EngineConfig) -> Iterable[str]:
    if item.numerical_notes:
        yield f"what it does to the numbers: {listed(sorted(item.numerical_notes))}"
    if item.behavior_notes:
        yield f"how it behaves: {listed(sorted(item.behavior_notes))}"


def _engine(engine: Engine) -> Description:
    rows = [(name, str(knob)) for name, knob in engine.knobs.items()]
    table = Table(("knob", "values"), rows) if rows else None
    section = Section(lines=tuple(_notes(engine)), table=table)
    return Description(f"Engine {engine.index} for one operation graph", (section,))


# --- descriptors ---------------------------------------------------------------------------------


def _descriptor(item: BackendDescriptor) -> Description:
    values = item.held()
    state = "finalized" if item.finalized else "not finalized: cuDNN has not checked it yet"
    if item.name == "tensor" and values.get("dimensions") and values.get("strides"):
        return _tensor(f"BackendDescriptor of kind tensor, {state}", values)
    return Description(
        f"BackendDescriptor of kind {item.name}, {state}", (Section(text=item.tree()),)
    )


def _tensor(name: str, attributes: dict[str, Any]) -> Description:
    dims, strides = tuple(attributes["dimensions"]), tuple(attributes["strides"])
    more = [
        f"{field.replace('_', ' ')} {name_of(value)}"
        for field, value in attributes.items()
        if field not in ("dimensions", "strides", "data_type")
    ]
    axes = axes_of(len(dims), IMAGE_AXES if len(dims) > 3 else {})
    data_type = attributes.get("data_type")
    if data_type is None:
        said = f"dims {dims}, strides {strides}, no data type"
        return Description(name, (Section(lines=(said, *more)),))
    return tensor(name, dims, strides, data_type, axes, more=more)


def raw_backend_words(item: cudnnBackendDescriptor_t) -> Description:
    """The description of a backend descriptor of layer 1, from the attributes cuDNN returns."""
    known = backend.known(live.address(item))
    if known is None or known.kind is None:
        return Description(
            "cudnnBackendDescriptor_t: a backend descriptor",
            (Section(lines=("it was not created here, so nobody knows of what kind it is",)),),
        )
    attributes = _told(item, known.kind)
    name = f"cudnnBackendDescriptor_t of kind {kind_name(known.kind)}"
    if not attributes:
        said = "cuDNN tells nothing of it: it is not finalized, or of a kind that is not told"
        return Description(name, (Section(lines=(said,)),))
    if attributes.get("dimensions") and attributes.get("strides"):
        return _tensor(name, attributes)
    lines = tuple(f"{field} = {value}" for field, value in attributes.items())
    return Description(name, (Section(lines=lines),))


def _told(item: cudnnBackendDescriptor_t, kind: Any) -> dict[str, Any]:
    """The attributes that cuDNN returns, by name, without descriptors."""
    attributes: dict[str, Any] = {}
    for name, attribute in ATTRIBUTES[kind].items():
        if Type.CUDNN_TYPE_BACKEND_DESCRIPTOR in attribute.types:
            continue
        try:
            value = read_values(item, attribute)
        except (CudnnError, SymbolNotFoundError):
            continue
        if value not in (None, [], ""):
            attributes[name] = value
    return attributes
