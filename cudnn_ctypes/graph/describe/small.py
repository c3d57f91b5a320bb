"""A smaller graph of the same form, on which an engine can be tried in little time.

Each size becomes another one everywhere: 1 stays 1, small ones stay, and of others what is left by
division stays, so that multiples of 8 or 16 stay multiples. Results have the sizes that their
operations give them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from ...raw.strides import axis_order
from .form import form
from .inference import infer_node
from .node import Node
from .operations.convolutions import CONV_DGRAD, CONV_WGRAD
from .operations.resampling import RESAMPLE_BACKWARD
from .rewriting import copied
from .validation import in_order

if TYPE_CHECKING:
    from ..graph import Graph
    from .tensor import Tensor

__all__ = ["small"]

G = TypeVar("G", bound="Graph")
_IMAGES = {
    CONV_DGRAD.descriptor: "dx",
    CONV_WGRAD.descriptor: "image",
    RESAMPLE_BACKWARD.descriptor: "dx",
}
"""Gradients: sizes of the image decide those of the loss."""


def small(graph: G, period: int) -> G | None:
    """A graph of the form of `graph`, whose sizes beyond two periods are less than two.

    Parameters
    ----------
    graph : Graph
        Validated.
    period : int
        Sizes are the same modulo this.

    Returns
    -------
    Graph or None
        None if the sizes cannot be changed so, or none is larger.
    """
    try:
        copy = cast("G", _Shrinking(graph, period).graph)
        nodes, before = copy.validate(), graph.validate()
    except (ValueError, TypeError, IndexError, KeyError):
        return None
    same = form(nodes, copy.compute_data_type) == form(before, graph.compute_data_type)
    sizes = [[each.dims for each in some.tensors] for some in (copy, graph)]
    return copy if same and sizes[0] != sizes[1] else None


class _Shrinking:
    def __init__(self, graph: Graph, period: int) -> None:
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
