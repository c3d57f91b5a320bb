"""Sums of the innermost or the outermost dimensions in memory, as those of images.

Without a product or convolution before them, engines reduce images stored channels last: their
channels, or all other dimensions. The same memory is described with such dims.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from ...raw.strides import axis_order, is_dense, packed
from ..describe.description import Description
from ..describe.operations.pointwise import ELEMENT_WISE
from ..describe.operations.reductions import REDUCTION
from ..describe.rewriting import copied
from ..describe.tensor import Tensor

G = TypeVar("G", bound=Description)
_CHANNELS_LAST = (0, 2, 3, 1)
_MATRIX = 2  # dimensions


def folded(graph: G) -> G | None:
    """A graph of one reduction and element-wise operations, with images in place of its tensors.

    Memory and unique ids stay. Matrices whose elements are counted become a batch of one, and
    dimensions of element-wise operations alone come in the order of memory. None if it is another
    kind of graph, or memory is in another order.
    """
    if (other := _lifted(graph) or _turned(graph)) is not None:
        return other
    sums = [node for node in graph.nodes if node.kind is REDUCTION]
    beside = [node for node in graph.nodes if node.kind is not REDUCTION]
    if len(sums) != 1 or any(
        node.kind not in ELEMENT_WISE or node.options.get("axis") is not None for node in beside
    ):
        return None
    x, y = sums[0].inputs["input"], sums[0].outputs["y"]
    order, left = _order(x), y.dims or ()
    gone = [axis for axis in order if left[axis] == 1]
    kept = [axis for axis in order if left[axis] == x.dims[axis]]
    if not gone or order not in (kept + gone, gone + kept):
        return None
    groups, axes = ((kept, gone), (1,)) if order == kept + gone else ((gone, kept), (0,))
    found, twins = copied(graph)
    for tensor in graph.tensors:
        sizes = [_size(tensor, x, group) for group in groups]
        if None in sizes or not (tensor.virtual or tensor.by_value or _in_order(tensor, order)):
            return None
        dims = (*(each or 1 for each in sizes), 1, 1)
        twins[id(tensor)].dims, twins[id(tensor)].strides = dims, packed(dims, _CHANNELS_LAST)
    if {len(each.dims or ()) for each in graph.tensors} == {4} and all(
        each.dims == twins[id(each)].dims and each.strides == twins[id(each)].strides
        for each in graph.tensors
    ):
        return None
    place = graph.nodes.index(sums[0])
    found.nodes[place].options["axes"] = axes
    return found


def _lifted(graph: G) -> G | None:
    """Element-wise operations that count along a dimension of a matrix, as of one in a batch.

    Others are described to cuDNN with three dimensions anyway.
    """
    counting = [node for node in graph.nodes if node.options.get("axis") is not None]
    if not counting or any(node.kind not in ELEMENT_WISE for node in graph.nodes):
        return None
    if any(len(each.dims or ()) != _MATRIX for each in graph.tensors):
        return None
    found, _ = copied(graph)
    for tensor in found.tensors:
        dims, strides = tensor.dims or (), tensor.strides or ()
        tensor.dims, tensor.strides = (1, *dims), (dims[0] * strides[0], *strides)
    for node in found.nodes:
        if node.options.get("axis") is not None:
            node.options["axis"] = node.options["axis"] % _MATRIX + 1
    return found


def _turned(graph: G) -> G | None:
    """Element-wise operations with the dimensions in the order in which they lie in memory.

    cuDNN 9.19 reads images stored channels last only if they are packed, other tensors also with
    gaps.
    """
    if any(n.kind not in ELEMENT_WISE or n.options.get("axis") is not None for n in graph.nodes):
        return None
    given = [each for each in graph.tensors if not each.by_value]
    widest = max(given, key=lambda each: math.prod(each.dims or ()))
    order = axis_order(widest.dims or (), widest.strides or ())
    if list(order) == sorted(order) or {each.rank for each in given} != {widest.rank}:
        return None
    found, _ = copied(graph)
    for tensor in found.tensors:
        if tensor.rank == len(order):
            dims, strides = tensor.dims or (), tensor.strides or ()
            tensor.dims = tuple(dims[axis] for axis in order)
            tensor.strides = tuple(strides[axis] for axis in order)
    return found


def _size(tensor: Tensor, x: Tensor, group: Sequence[int]) -> int | None:
    """The product of some of a tensor's dims, which are all those of `x`, or all 1."""
    if tensor.by_value:
        return 1
    dims = [(tensor.dims or ())[axis] for axis in group]
    whole = [(x.dims or ())[axis] for axis in group]
    return math.prod(dims) if dims in (whole, [1] * len(dims)) else None


def _in_order(tensor: Tensor, order: Sequence[int]) -> bool:
    dims, strides = tensor.dims or (), tensor.strides or ()
    if tensor.vector_count != 1 or tensor.reordering or tensor.ragged_offset is not None:
        return False
    mine = [axis for axis in order if dims[axis] > 1]
    return is_dense(dims, strides) and _order(tensor) == mine


def _order(tensor: Tensor) -> list[int]:
    """The axes with several elements, the outermost in memory first."""
    dims = tensor.dims or ()
    return [axis for axis in axis_order(dims, tensor.strides or ()) if dims[axis] > 1]
