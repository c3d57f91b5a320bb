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
from typing import TYPE_CHECKING, Any, SupportsFloat, cast

import numpy as np

from ...arguments import integer, short_name
from ...dtypes import data_type_name
from ...raw.ctypes_support import CudnnEnum
from .node import Kind, Node
from .operations.table import FAMILIES
from .tensor import Tensor

if TYPE_CHECKING:
    from ..graph import Graph

__all__ = ["DATA_TYPES", "FORMAT", "VERSION", "canonical", "kinds", "to_json"]

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


def to_json(graph: Graph, *, indent: int | None = 2) -> str:
    """The description of `graph` as text; a plan that it holds is not part of it.

    Raises
    ------
    TypeError
        If a value has no notation in JSON; the message names its place.
    ValueError
        For an `indent` that is negative, or wider than a line.
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

    Raises
    ------
    TypeError
        If a value has no notation in JSON; the message names its place.
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
