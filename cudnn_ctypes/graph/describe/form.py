"""The form of a graph: what decides which engines compute it, and how, but for its sizes.

Two graphs of one form have the same operations with the same options, tensors of the same types
and ranks in the same order of dimensions, and 1 in the same places. Names, unique ids, sizes and
the numbers of factors are no part of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...arguments import short_name
from ...dtypes import data_type_name
from ...raw.ctypes_support import CudnnEnum
from ...raw.strides import overlapping, packed
from .node import Node
from .tensor import Tensor

__all__ = ["form"]

_LARGEST = 8  # whole numbers beyond are sizes: windows, strides and paddings are smaller


def form(nodes: Sequence[Node], compute_data_type: Any) -> str:
    """The form of validated nodes, as text that is equal for graphs of the same form.

    Parameters
    ----------
    nodes : sequence of Node
        In an order in which they can be carried out.
    compute_data_type : cudnnDataType_t
        Of nodes that have none of their own.

    Returns
    -------
    str
        One line of JSON: tensors in the order of their first use, each with its data type, its
        dims as "1" and "n", the order of its dimensions in memory, and what else is said of it;
        then operations with options and the places of their tensors.
    """
    places: dict[int, int] = {}
    tensors: list[dict[str, Any]] = []

    def place(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, (list, tuple)):
            return [place(each) for each in value]
        if id(value) not in places:
            offset = place(value.ragged_offset)
            places[id(value)] = len(tensors)
            tensors.append(_tensor(value, offset))
        return places[id(value)]

    operations = [_operation(node, compute_data_type, place) for node in nodes]
    return json.dumps(
        {"tensors": tensors, "operations": operations}, sort_keys=True, separators=(",", ":")
    )


def _operation(node: Node, compute_data_type: Any, place: Any) -> dict[str, Any]:
    own = node.compute_data_type
    content: dict[str, Any] = {
        "kind": node.kind.descriptor or node.operation,
        "compute": data_type_name(compute_data_type if own is None else own),
        "inputs": {port: place(value) for port, value in node.inputs.items()},
        "outputs": {port: place(value) for port, value in node.outputs.items()},
        "options": {
            name: _option(value) for name, value in node.options.items() if value is not None
        },
    }
    if node.transposed:
        content["transposed"] = sorted(node.transposed)
    for name, subgraph in node.subgraphs.items():
        ends = [place(subgraph.input), place(subgraph.output)]
        inner = [_operation(each, compute_data_type, place) for each in subgraph.nodes]
        content.setdefault("subgraphs", {})[name] = [ends, inner]
    return content


def _tensor(tensor: Tensor, offset: Any) -> dict[str, Any]:
    dims, strides = tensor.dims or (), tensor.strides or ()
    content: dict[str, Any] = {
        "type": data_type_name(tensor.data_type),
        "dims": "".join("1" if size == 1 else "n" for size in dims),
        "order": _order(dims, strides),
    }
    for name, told in (
        ("virtual", tensor.virtual),
        ("scratch", tensor.scratch),
        ("by value", tensor.by_value),
        ("ragged", offset),
        ("vectors", tensor.vector_count if tensor.vector_count != 1 else None),
        ("reordering", short_name(tensor.reordering) if tensor.reordering else None),
        ("alignment", tensor.alignment if tensor.alignment != 16 else None),
    ):
        if told is not None and told is not False:
            content[name] = told
    return content


def _order(dims: Sequence[int], strides: Sequence[int]) -> str:
    """The dimensions that are more than 1, the outermost first, and whether there are gaps."""
    long = [axis for axis, size in enumerate(dims) if size > 1]
    order = sorted(long, key=lambda axis: (-strides[axis], axis))
    text = "".join(map(str, order)) if len(dims) <= 10 else ",".join(map(str, order))
    if not long:
        return text
    if overlapping(dims, strides):
        return f"{text} overlapping"
    wanted = packed([dims[axis] for axis in order])
    gaps = any(strides[axis] != step for axis, step in zip(order, wanted, strict=True))
    return f"{text} gaps" if gaps else text


def _option(value: Any) -> Any:
    """An option without sizes: whole numbers that may be windows or paddings stay."""
    if isinstance(value, CudnnEnum):
        return value.name
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST else "n"
    if isinstance(value, (float, Fraction)):
        return float(value) if value in (0, 1) or isinstance(value, Fraction) else "x"
    if isinstance(value, slice):
        return ["cut", 1 if value.step is None else int(value.step)]
    if isinstance(value, (tuple, list)):
        return [_option(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): _option(each) for name, each in value.items()}
    return str(type(value).__name__)
