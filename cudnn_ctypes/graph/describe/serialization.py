"""Graphs as JSON: readable, versioned, and the same whichever cuDNN is loaded, or none.

A tensor is named by its key under "tensors", and what has its default is left out. Enumerators are
written by their C names, data types by their short ones; where JSON has no notation of its own,
Python's stands in a string: "3/2" for a fraction, "0:8:2" for a slice, "-inf".
"""

from __future__ import annotations

import dataclasses
import json
import math
import numbers
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeVar, cast

import numpy as np

from ... import raw
from ...arguments import Place, enumerator, integer, suggestion
from ...dtypes import as_data_type, data_type_name
from ...raw.ctypes_support import CudnnEnum, short_name
from .node import Kind, Node, Subgraph
from .operations.table import FAMILIES
from .tensor import Tensor
from .validation import check_option, takes_several

if TYPE_CHECKING:
    from .description import Description

FORMAT = "cudnn_ctypes graph"
VERSION = 2
_WIDEST = 100  # spaces by which a level may be indented

DATA_TYPES = ("io_data_type", "intermediate_data_type", "compute_data_type")


def kinds() -> dict[str, Kind]:
    """The kinds of operations by name: the constants of the modules of the table."""
    return {
        name.lower(): value
        for family in FAMILIES
        for name, value in vars(family).items()
        if isinstance(value, Kind)
    }


def to_json(graph: Description, *, indent: int | None = 2) -> str:
    """The description of `graph` as text; a plan that it holds is not part of it.

    Raises TypeError if a value has no notation in JSON; the message names its place. Raises
    ValueError for an `indent` that is negative, or wider than a line.
    """
    if indent is not None:
        indent = integer("to_json: indent", indent)
        if not 0 <= indent <= _WIDEST:
            raise ValueError(f"to_json: indent: expected a number up to {_WIDEST}, got {indent}")
    keys = _keys(graph.tensors)
    names = {id(kind): name for name, kind in kinds().items()}
    content: dict[str, Any] = {"format": FORMAT, "version": VERSION, "name": graph.name}
    for field in DATA_TYPES:
        data_type = getattr(graph, field)
        content[field] = None if data_type is None else data_type_name(data_type)
    content["tensors"] = {
        key: _tensor_content(tensor, key, keys)
        for tensor, key in zip(graph.tensors, keys.values(), strict=True)
    }
    content["nodes"] = [_node_content(node, keys, names) for node in graph.nodes]
    if indent is None:
        return json.dumps(content, allow_nan=False, separators=(",", ":"))
    return _few_lines(json.dumps(content, allow_nan=False, indent=indent))


def canonical(nodes: Sequence[Node], tensors: Sequence[Tensor]) -> dict[str, Any]:
    """Nodes and tensors without names, for JSON: equal for graphs that compute the same.

    Raises TypeError if a value has no notation in JSON; the message names its place.
    """
    keys = {id(tensor): str(place) for place, tensor in enumerate(tensors)}
    every = [each for node in nodes for each in (node, *node.inner)]
    names = {id(node.kind): node.kind.descriptor for node in every}
    content = {
        "tensors": [_tensor_content(tensor, keys[id(tensor)], keys) for tensor in tensors],
        "nodes": [_nameless(_node_content(node, keys, names)) for node in nodes],
    }
    for each in content["tensors"]:
        each.pop("name", None)
    return content


def _nameless(node: dict[str, Any]) -> dict[str, Any]:
    """A node's content by its kind alone, whatever the user called."""
    node["kind"] = node.pop("kind", node["operation"])
    del node["operation"], node["name"]
    for subgraph in node.get("subgraphs", {}).values():
        subgraph["nodes"] = [_nameless(inner) for inner in subgraph["nodes"]]
    return node


def _few_lines(text: str) -> str:
    """With lists of numbers on one line."""
    return re.sub(
        r"\[\n[^\[\]{}\"]*\]",
        lambda found: re.sub(r"\s+", " ", found.group()).replace("[ ", "[").replace(" ]", "]"),
        text,
    )


def _keys(tensors: list[Tensor]) -> dict[int, str]:
    """A key for each tensor: its name, or that with a number where names repeat."""
    keys: dict[int, str] = {}
    taken = {tensor.name for tensor in tensors}
    used: set[str] = set()
    for tensor in tensors:
        key, number = tensor.name, 2
        while key in used or (key != tensor.name and key in taken):
            key, number = f"{tensor.name}#{number}", number + 1
        used.add(key)
        keys[id(tensor)] = key
    return keys


def _tensor_content(tensor: Tensor, key: str, keys: Mapping[int, str]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for field in dataclasses.fields(Tensor):
        value = getattr(tensor, field.name)
        if value == (key if field.name == "name" else field.default):
            continue
        if field.name == "name":
            pass
        elif field.name == "data_type":
            value = data_type_name(value)
        elif field.name == "reordering":
            value = short_name(value)
        elif field.name == "ragged_offset":
            value = keys[id(value)]
        else:
            value = _plain(value, f"tensor {tensor.name!r}: {field.name}")
        content[field.name] = value
    return content


def _node_content(node: Node, keys: Mapping[int, str], names: Mapping[int, str]) -> dict[str, Any]:
    kind = names[id(node.kind)]

    def named(tensor: Any) -> Any:
        return [named(each) for each in tensor] if isinstance(tensor, list) else keys[id(tensor)]

    content: dict[str, Any] = {"operation": node.operation}
    if kind != node.operation:
        content["kind"] = kind
    content["name"] = node.name
    content["inputs"] = {port: named(value) for port, value in node.inputs.items()}
    content["outputs"] = {port: named(value) for port, value in node.outputs.items()}
    content["options"] = {
        option: _plain(value, f"{node}: {option}") for option, value in node.options.items()
    }
    if node.subgraphs:
        content["subgraphs"] = {
            option: {
                "input": named(each.input),
                "output": named(each.output),
                "nodes": [_node_content(inner, keys, names) for inner in each.nodes],
            }
            for option, each in node.subgraphs.items()
        }
    if node.compute_data_type is not None:
        content["compute_data_type"] = data_type_name(node.compute_data_type)
    if node.transposed:
        content["transposed"] = sorted(node.transposed)
    if node.may_go_unused:
        content["may_go_unused"] = True
    return content


def _plain(value: Any, place: str) -> Any:
    """`value` in terms of JSON."""
    if isinstance(value, CudnnEnum):
        return value.name
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (np.bool_, np.integer)):
        return value.item()
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, (numbers.Real, np.generic)):
        number = float(cast(SupportsFloat, value))
        return number if math.isfinite(number) else str(number)
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return ":".join("" if part is None else str(int(part)) for part in parts)
    if isinstance(value, (tuple, list)):
        return [_plain(each, f"{place}[{i}]") for i, each in enumerate(value)]
    raise TypeError(f"{place}: {value!r} ({type(value).__name__}) has no notation in JSON")


G = TypeVar("G", bound="Description")

_FRACTION = re.compile(r"-?\d{1,19}/[1-9]\d{0,18}", re.ASCII)
_SLICE = re.compile(r"(-?\d{1,19})?:(-?\d{1,19})?:(-?\d{1,19})?", re.ASCII)

# Kinds that format 1 called otherwise.
_RENAMED = {"sdpa_forward": "sdpa_operation", "sdpa_backward": "sdpa_operation_backward"}
_NODE_KEYS = {field.name for field in dataclasses.fields(Node)} - {"origin"}


def from_json(cls: type[G], text: str | bytes) -> G:
    """The graph, of class `cls`, that `to_json` wrote, or somebody by hand.

    Raises ValueError if the text is damaged or has content that is not known; the message names the
    place.
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
    place: Place, cls: type[Description], known: Mapping[str, Kind], tensors: Mapping[str, Tensor]
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
    place: Place, cls: type[Description], known: Mapping[str, Kind], tensors: Mapping[str, Tensor]
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
