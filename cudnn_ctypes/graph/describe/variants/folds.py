"""Other dimensions for the same memory: alone, reductions run on images and two dimensions."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....strides import packed
from ..operations.pointwise import POINTWISE, POINTWISE_BACKWARD
from ..operations.reductions import REDUCTION
from ..rewriting import Edit
from ..tensor import Tensor
from .layouts import plain
from .remedy import Remedy

if TYPE_CHECKING:
    from ...graph import Graph

__all__ = ["fold_remedies"]

_ROWS, _COLUMNS = 0, 1  # the axes of images of one pixel, channels last


def fold_remedies(graph: Graph) -> Iterator[Remedy]:
    """A reduction of the innermost or the outermost dimensions in memory, as one of images."""
    places = [index for index, node in enumerate(graph.nodes) if node.kind is REDUCTION]
    if len(places) != 1:
        return
    (place,) = places
    beside = [*graph.nodes[:place], *graph.nodes[place + 1 :]]
    if any(each.kind not in (POINTWISE, POINTWISE_BACKWARD) for each in beside):
        return
    if any("axis" in each.options for each in beside):
        return
    x, y = graph.nodes[place].inputs["input"], graph.nodes[place].outputs["y"]
    order = _order(x)
    dims, left = x.dims or (), y.dims or ()
    gone = [axis for axis in order if left[axis] == 1]
    kept = [axis for axis in order if left[axis] == dims[axis]]
    inner, outer = math.prod(dims[each] for each in gone), math.prod(dims[each] for each in kept)
    if not gone:
        return
    if order == kept + gone:
        rows, columns, axes = outer, inner, (_COLUMNS,) if kept else (_ROWS, _COLUMNS)
    elif order == gone + kept:
        rows, columns, axes = inner, outer, (_ROWS,)
    else:
        return
    sizes = rows, columns, 1, 1
    yield Remedy(
        "dimensions",
        f"describe {{}} by images {sizes}, channels last: the same memory",
        functools.partial(_folded, place=place, sizes=sizes, axes=axes),
    )


def _folded(graph: Graph, place: int, sizes: tuple[int, ...], axes: tuple[int, ...]) -> Edit:
    x, y = graph.nodes[place].inputs["input"], graph.nodes[place].outputs["y"]
    order = _order(x)
    reduced = tuple(1 if axis in axes else size for axis, size in enumerate(sizes))
    new = {(1,) * x.rank: (1, 1, 1, 1), x.dims: sizes, y.dims: reduced}
    edit = Edit(nodes={place: {"axes": axes}})
    for index, tensor in enumerate(graph.tensors):
        in_order = [axis for axis in order if (tensor.dims or ())[axis] > 1] == _order(tensor)
        if tensor.dims not in new or not (tensor.by_value or (plain(tensor) and in_order)):
            return Edit()
        dims = new[tensor.dims]
        edit.of_tensor(index, dims=dims, strides=packed(dims, (0, 2, 3, 1)))
    # Images already: their strides are for another remedy.
    return Edit() if x.dims == sizes else edit


def _order(tensor: Tensor) -> list[int]:
    """The axes with several elements, the outermost in memory first."""
    strides = tensor.strides or ()
    axes = [axis for axis, size in enumerate(tensor.dims or ()) if size > 1]
    return sorted(axes, key=lambda axis: -strides[axis])
