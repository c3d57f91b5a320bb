"""Graphs from the JSON that `serialization` writes; what is damaged names its place."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from ... import raw
from ...arguments import Place, enumerator, suggestion
from ...dtypes import as_data_type
from ...raw.ctypes_support import CudnnEnum
from .node import Kind, Node, Subgraph
from .node_checks import check_option, takes_several
from .serialization import DATA_TYPES, FORMAT, VERSION, kinds
from .tensor import Tensor

if TYPE_CHECKING:
    from ..graph import Graph

__all__ = ["from_json"]

G = TypeVar("G", bound="Graph")

_FRACTION = re.compile(r"-?\d{1,19}/[1-9]\d{0,18}", re.ASCII)
_SLICE = re.compile(r"(-?\d{1,19})?:(-?\d{1,19})?:(-?\d{1,19})?", re.ASCII)

# Kinds that format 1 called otherwise.
_RENAMED = {"sdpa_forward": "sdpa_operation", "sdpa_backward": "sdpa_operation_backward"}
_NODE_KEYS = {
    "operation",
    "kind",
    "name",
    "inputs",
    "outputs",
    "options",
    "compute_data_type",
    "transposed",
    "may_go_unused",
    "subgraphs",
}


def from_json(cls: type[G], text: str | bytes) -> G:
    """The graph, of class `cls`, that `to_json` wrote, or somebody by hand.

    Raises
    ------
    ValueError
        If the text is damaged or has content that is not known; the message names the place.
    """
    top = Place.of_text(text, "graph")
    if top.value.get("format") != FORMAT:
        top.refuse(f"expected a graph, whose 'format' is {FORMAT!r}")
    version = top["version"].integer()
    if version not in (1, VERSION):
        top["version"].refuse(
            f"this graph is of version {version}, and only 1 to {VERSION} are known here: "
            "a newer cudnn_ctypes wrote it"
        )
    top.known({"format", "version", "name", "tensors", "nodes", *DATA_TYPES})
    graph = cls(
        top["name"].text() if "name" in top else "graph",
        **{
            name: _data_type(top[name])
            for name in DATA_TYPES
            if name in top and top[name].value is not None
        },
    )
    tensors = {key: cls.tensor_class(name=key) for key in top["tensors"].keys()}  # noqa: SIM118
    for key, tensor in tensors.items():
        _read_tensor(top["tensors"][key], tensor, tensors)
    for tensor in tensors.values():
        graph._own(tensor)
    known = kinds()
    if version == 1:  # attention was written as its parts
        known = {**known, **{name: known[new] for name, new in _RENAMED.items()}}
    for each in top["nodes"].items():
        graph.nodes.append(_read_node(each, cls, known, tensors))
    return graph


def _read_tensor(place: Place, tensor: Tensor, tensors: Mapping[str, Tensor]) -> None:
    place.known({field.name for field in dataclasses.fields(Tensor)})
    for name in place.keys():  # noqa: SIM118
        setattr(tensor, name, _tensor_field(name, place[name], tensors))
    dims, strides = tensor.dims, tensor.strides
    if dims is not None and strides is not None and len(dims) != len(strides):
        place["strides"].refuse(f"expected as many strides as dims {dims}")


def _tensor_field(name: str, place: Place, tensors: Mapping[str, Tensor]) -> Any:
    if name == "name":
        return place.text()
    if name == "dims":
        return tuple(each.integer(1) for each in place.items())
    if name == "strides":
        return tuple(each.integer(0) for each in place.items())
    if name == "data_type":
        return _data_type(place)
    if name == "reordering":
        return _enumerator(place, raw.cudnnBackendTensorReordering_t)
    if name == "ragged_offset":
        return _tensor(place, tensors)
    if name in ("virtual", "by_value", "scratch"):
        return place.boolean()
    if name == "value":
        value = _value(place)
        numbers_only = value if isinstance(value, tuple) else (value,)
        if not all(type(each) in (bool, int, float) for each in numbers_only):
            place.refuse(f"expected a number or several, got {place.value!r}")
        return value
    return place.integer()


def _read_node(
    place: Place, cls: type[Graph], known: Mapping[str, Kind], tensors: Mapping[str, Tensor]
) -> Node:
    place.known(_NODE_KEYS)
    operation = place["operation"].text()
    method = getattr(cls, operation, None)
    if operation.startswith("_") or not callable(method):
        place["operation"].refuse(f"a graph has no operation {operation!r}")
    name = place["kind"].text() if "kind" in place else operation
    if name not in known:
        at = place["kind"] if "kind" in place else place["operation"]
        at.refuse(f"there is no kind of operation {name!r}{suggestion(name, known)}")
    kind = known[name]
    inputs = {
        port: _operand(place["inputs"][port], tensors, kind, port)
        for port in _ports(place["inputs"], kind.inputs, set(kind.inputs) - kind.optional)
    }
    outputs = {
        port: _tensor(place["outputs"][port], tensors)
        for port in _ports(place["outputs"], kind.outputs, set())
    }
    if not outputs:
        place["outputs"].refuse(f"expected at least one of {', '.join(kind.outputs)}")
    transposed = place["transposed"].items() if "transposed" in place else []
    for each in transposed:
        if each.text() not in {*kind.inputs, *kind.outputs}:
            each.refuse(f"expected one of {', '.join((*kind.inputs, *kind.outputs))}")
    node = Node(
        kind,
        operation,
        place["name"].text() if "name" in place else operation,
        inputs,
        outputs,
        _options(place["options"], kind),
        _data_type(place["compute_data_type"]) if "compute_data_type" in place else None,
        frozenset(each.text() for each in transposed),
        "may_go_unused" in place and place["may_go_unused"].boolean(),
    )
    if "subgraphs" in place:
        subgraphs = place["subgraphs"]
        for option in subgraphs.keys():  # noqa: SIM118
            node.subgraphs[option] = _subgraph(subgraphs[option], cls, known, tensors)
    return node


def _subgraph(
    place: Place, cls: type[Graph], known: Mapping[str, Kind], tensors: Mapping[str, Tensor]
) -> Subgraph:
    place.known({"input", "output", "nodes"})
    return Subgraph(
        _tensor(place["input"], tensors),
        _tensor(place["output"], tensors),
        [_read_node(each, cls, known, tensors) for each in place["nodes"].items()],
    )


def _ports(place: Place, known: Mapping[str, str], wanted: set[str]) -> list[str]:
    place.known(set(known))
    missing = sorted(wanted - set(place.keys()))
    if missing:
        place.refuse(f"{', '.join(missing)} is missing")
    return list(place.keys())


def _operand(place: Place, tensors: Mapping[str, Tensor], kind: Kind, port: str) -> Any:
    if takes_several(kind, port):
        return [_tensor(each, tensors) for each in place.items()]
    return _tensor(place, tensors)


def _tensor(place: Place, tensors: Mapping[str, Tensor]) -> Tensor:
    key = place.text()
    if key not in tensors:
        place.refuse(f"there is no tensor {key!r}{suggestion(key, tensors)}")
    return tensors[key]


def _options(place: Place, kind: Kind) -> dict[str, Any]:
    place.known(kind.all_options)
    found = {}
    for option in place.keys():  # noqa: SIM118
        text = kind.own_options.get(option) is str
        found[option] = value = place[option].text() if text else _value(place[option])
        if value is None:
            continue
        try:
            check_option(kind, option, value, place[option].path)
        except (TypeError, ValueError) as error:
            raise ValueError(str(error)) from None
    for option in sorted(kind.required):
        if found.get(option) is None:
            place.refuse(f"{option!r} is missing")
    return found


def _value(place: Place) -> Any:
    """The value that `_plain` wrote; a list becomes a tuple."""
    value = place.value
    if isinstance(value, list):
        return tuple(_value(each) for each in place.items())
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        member = getattr(raw, value, None)
        if isinstance(member, CudnnEnum):
            return member
        if _FRACTION.fullmatch(value):
            return Fraction(value)
        if _SLICE.fullmatch(value):
            return slice(*(int(part) if part else None for part in value.split(":")))
        if value in ("inf", "-inf", "nan"):
            return float(value)
    return place.refuse(f"{value!r} is neither a number nor the name of an enumerator of cuDNN")


def _data_type(place: Place) -> raw.cudnnDataType_t:
    try:
        return as_data_type(place.text())
    except TypeError as error:
        return place.refuse(str(error))


def _enumerator(place: Place, cls: type[CudnnEnum]) -> CudnnEnum:
    try:
        return enumerator(cls, place.text(), place.path)
    except ValueError as error:
        raise ValueError(str(error)) from None
