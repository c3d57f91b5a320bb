"""The form of a graph: what decides which engines compute it, and how, but for its sizes.

Two graphs of one form have the same operations with the same options, tensors of the same types
and ranks in the same order of dimensions, and 1 in the same places. Names, unique ids, sizes and
the numbers of factors are no part of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ...dtypes import data_type_name
from ...raw.ctypes_support import CudnnEnum, short_name
from ...raw.strides import axis_order, overlapping, packed
from .node import Node
from .operations.convolutions import CONV_DGRAD, CONV_WGRAD
from .operations.resampling import RESAMPLE_BACKWARD
from .rewriting import copied
from .tensor import Tensor
from .validation import in_order, infer_node

if TYPE_CHECKING:
    from .description import Description

_LARGEST = 8  # whole numbers beyond are sizes: windows, strides and paddings are smaller


def form(nodes: Sequence[Node], compute_data_type: Any) -> str:
    """The form of validated nodes, as text that is equal for graphs of the same form.

    One line of JSON: tensors in the order of their first use, each with its data type, its dims as
    "1" and "n", the order of its dimensions in memory, and what else is said of it; then operations
    with options and the places of their tensors.
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
    return str(type(value).__name__)


# A smaller graph of the same form, on which an engine can be tried in little time.
#
# Each size becomes another one everywhere: 1 stays 1, small ones stay, and of others what is left
# by division stays, so that multiples of 8 or 16 stay multiples. Results have the sizes that their
# operations give them.

G = TypeVar("G", bound="Description")
_IMAGES = {
    CONV_DGRAD.descriptor: "dx",
    CONV_WGRAD.descriptor: "image",
    RESAMPLE_BACKWARD.descriptor: "dx",
}
"""Gradients: sizes of the image decide those of the loss."""


def small(graph: G, period: int) -> G | None:
    """A graph of the form of `graph`, whose sizes beyond two periods are less than two.

    Sizes are the same modulo `period`. None if they cannot be changed so, or none is larger.
    """
    graph.validate()
    try:
        copy = cast("G", _Shrinking(graph, period).graph)
        nodes, before = copy.validate(), graph.validate()
    except (ValueError, TypeError, IndexError, KeyError):
        return None
    same = form(nodes, copy.compute_data_type) == form(before, graph.compute_data_type)
    sizes = [[each.dims for each in some.tensors] for some in (copy, graph)]
    return copy if same and sizes[0] != sizes[1] else None


class _Shrinking:
    def __init__(self, graph: Description, period: int) -> None:
        self.graph, _ = copied(graph)
        self._period = period
        self._sizes = {1: 1}
        self._done: set[int] = set()
        results = [each for node in self.graph.nodes for each in node.results]
        self._before = {
            id(each): (each.dims or (), each.strides or ()) for each in self.graph.tensors
        }
        for each in results:
            each.dims = each.strides = None
        for node in in_order(self.graph.nodes):
            self._shrink(node)

    def _shrink(self, node: Node) -> None:
        made = {id(each) for each in node.results}
        if node.kind.descriptor in _IMAGES:
            self._shrink_loss(node)
        for tensor in node.operands:
            if id(tensor) not in self._done and id(tensor) not in made:
                self._give(tensor, [self._size(size) for size in self._before[id(tensor)][0]])
        for each in (node, *node.inner):
            self._infer(each)

    def _infer(self, node: Node) -> None:
        for tensor in node.outputs.values():
            if tensor.dims is None and self._undetermined(node, tensor):
                tensor.dims = tuple(self._size(size) for size in self._before[id(tensor)][0])
        infer_node(node, self.graph._data_types())
        for tensor in node.results:
            if tensor.dims is not None:
                self._give(tensor, tensor.dims)

    def _undetermined(self, node: Node, tensor: Tensor) -> bool:
        port = next(port for port, each in node.outputs.items() if each is tensor)
        found = node.kind.infer(node).get(port)
        return found is not None and found.dims is None

    def _shrink_loss(self, node: Node) -> None:
        """Give the sizes of a loss what the operation that it belongs to makes of the image's."""
        loss = node.inputs["loss"]
        if id(loss) in self._done:
            raise ValueError("a loss that is a result")
        port = _IMAGES[node.kind.descriptor]
        image = node.outputs[port] if port in node.outputs else node.inputs[port]
        window = self._window(node)
        spatial = zip(self._before[id(image)][0][2:], self._before[id(loss)][0][2:], strict=True)
        for axis, (size, after) in enumerate(spatial):
            options = (
                node.spatial(name, len(window), default)[axis]
                for name, default in (
                    ("pre_padding", 0),
                    ("post_padding", 0),
                    ("dilation", 1),
                    ("stride", 1),
                )
            )
            before, behind, dilation, stride = options
            reach = dilation * (window[axis] - 1) + 1
            self._note(after, int((self._size(size) + before + behind - reach) // stride) + 1)

    def _window(self, node: Node) -> Sequence[int]:
        if node.kind is RESAMPLE_BACKWARD:
            return [int(each) for each in node.options["window"]]
        filters = node.outputs["dw"] if node.kind is CONV_WGRAD else node.inputs["filter"]
        return self._before[id(filters)][0][2:]

    def _size(self, size: int) -> int:
        if size not in self._sizes:
            period = self._period
            self._sizes[size] = size if size <= 2 * period else period + size % period
        return self._sizes[size]

    def _note(self, before: int, now: int) -> None:
        if self._sizes.setdefault(before, now) != now:
            raise ValueError(f"{before} cannot be both {self._sizes[before]} and {now}")

    def _give(self, tensor: Tensor, dims: Sequence[int]) -> None:
        before, strides = self._before[id(tensor)]
        for old, new in zip(before, dims, strict=True):
            self._note(old, new)
        self._done.add(id(tensor))
        tensor.dims = tuple(dims)
        tensor.strides = _strides(before, strides, dims)
        offset = tensor.ragged_offset
        if offset is not None:
            offset.dims = (dims[0] + 1, *(offset.dims or ())[1:])
            offset.strides = None
            self._done.add(id(offset))


def _strides(before: Sequence[int], strides: Sequence[int], dims: Sequence[int]) -> tuple[int, ...]:
    """Strides in the same order, with gaps where there were some."""
    found = [1] * len(dims)
    reach = old_reach = 1
    for axis in reversed(axis_order(before, strides)):
        gap = strides[axis] - old_reach
        if before[axis] == 1 or gap == 0:
            found[axis] = reach
        elif gap > 0:
            found[axis] = reach + (gap if gap < 16 else 16 + gap % 16)
        else:
            raise ValueError("elements that share memory")
        reach = found[axis] * dims[axis]
        old_reach = strides[axis] * before[axis] if before[axis] > 1 else old_reach
        if before[axis] == 1:
            reach = found[axis]
    return tuple(found)
