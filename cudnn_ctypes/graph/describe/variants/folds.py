"""Other dimensions for the same memory: alone, reductions run on images and two dimensions."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ....raw.strides import axis_order, packed
from ..operations.pointwise import ELEMENT_WISE
from ..operations.reductions import REDUCTION
from ..rewriting import Edit
from ..tensor import Tensor
from .layouts import plain
from .remedy import Remedy

if TYPE_CHECKING:
    from ...graph import Graph

__all__ = ["fold_remedies"]


class _Images(NamedTuple):
    """A reduction's input as images of one pixel, channels last: rows of columns."""

    node: int  # the place of the reduction
    sizes: tuple[int, int, int, int]
    axes: tuple[int, ...]  # that are reduced


def fold_remedies(graph: Graph) -> Iterator[Remedy]:
    """A reduction of the innermost or the outermost dimensions in memory, as one of images."""
    images = _images(graph)
    if images is not None:
        yield Remedy(
            "dimensions",
            f"describe {{}} by images {images.sizes}, channels last: the same memory",
            functools.partial(_folded, images=images),
        )


def _images(graph: Graph) -> _Images | None:
    places = [index for index, node in enumerate(graph.nodes) if node.kind is REDUCTION]
    beside = [node for node in graph.nodes if node.kind is not REDUCTION]
    if len(places) != 1 or any(node.kind not in ELEMENT_WISE for node in beside):
        return None
    if any(node.options.get("axis") is not None for node in beside):
        return None
    (place,) = places
    x, y = graph.nodes[place].inputs["input"], graph.nodes[place].outputs["y"]
    dims, left, order = x.dims or (), y.dims or (), _order(x)
    gone = [axis for axis in order if left[axis] == 1]
    kept = [axis for axis in order if left[axis] == dims[axis]]
    if not gone or order not in (kept + gone, gone + kept):
        return None
    stays, goes = (math.prod(dims[axis] for axis in axes) for axes in (kept, gone))
    if order == kept + gone:
        return _Images(place, (stays, goes, 1, 1), (1,) if kept else (0, 1))
    return _Images(place, (goes, stays, 1, 1), (0,))


def _folded(graph: Graph, images: _Images) -> Edit:
    if _images(graph) != images:  # another remedy has changed them
        return Edit()
    node = graph.nodes[images.node]
    x, y = node.inputs["input"], node.outputs["y"]
    reduced = tuple(1 if axis in images.axes else n for axis, n in enumerate(images.sizes))
    new = {(1,) * x.rank: (1, 1, 1, 1), x.dims: images.sizes, y.dims: reduced}
    if x.dims == images.sizes:  # images already: their strides are for another remedy
        return Edit()
    edit = Edit(nodes={images.node: {"axes": images.axes}})
    for index, tensor in enumerate(graph.tensors):
        in_order = [axis for axis in _order(x) if (tensor.dims or ())[axis] > 1] == _order(tensor)
        if tensor.dims not in new or not (tensor.by_value or (plain(tensor) and in_order)):
            return Edit()
        dims = new[tensor.dims]
        edit.of_tensor(index, dims=dims, strides=packed(dims, (0, 2, 3, 1)))
    return edit


def _order(tensor: Tensor) -> list[int]:
    """The axes with several elements, the outermost in memory first."""
    dims = tensor.dims or ()
    return [axis for axis in axis_order(dims, tensor.strides or ()) if dims[axis] > 1]
