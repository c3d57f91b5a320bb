"""Descriptions of backend descriptors, engines and plans: layer 3's objects of cuDNN."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import CudnnError, SymbolNotFoundError
from ...graph.backend.descriptor import BackendDescriptor
from ...graph.backend.engine import Engine, EngineConfig
from ...graph.backend.getters import read_values
from ...graph.run.bound_plan import BoundPlan
from ...graph.run.plan import ExecutionPlan
from ...raw import backend, cudnnBackendDescriptor_t, live
from ...raw.attributes import ATTRIBUTES, kind_name
from ...raw.enums import cudnnBackendAttributeType_t as Type
from ..pictures.html import Table
from .description import Description, Section
from .tensors import tensor
from .words import IMAGE_AXES, axes_of, counted, listed, name_of

__all__ = ["backend_words", "raw_backend_words"]


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
    if plan.descriptor.closed:
        return Description("ExecutionPlan: closed, its C object is destroyed")
    lines = [
        f"workspace: {counted(plan.workspace_size, 'byte')} of device memory beside the operands"
    ]
    if plan.uids:
        lines.append(f"operands: the tensors with the unique ids {listed(sorted(plan.uids))}")
    sections = [Section(lines=tuple(lines))]
    try:
        sections.append(_config(plan.config))
    except (CudnnError, AttributeError):  # the reference device's own plans have no engine
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
    if item.closed:
        return Description(f"BackendDescriptor of kind {item.name}: closed")
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
