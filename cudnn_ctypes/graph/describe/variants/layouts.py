"""Other orders of dimensions in memory: channels last, as in C, columns first; and alignment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ....dtypes import element_bits
from ....raw.strides import overlapping, packed
from ..node import exchanged
from ..operations.batch_normalization import (
    BATCHNORM_INFERENCE,
    BN_BACKWARD_WEIGHTS,
    BN_FINALIZE,
)
from ..operations.convolutions import CONV_DGRAD, CONV_FPROP, CONV_WGRAD
from ..operations.normalizations import NORM_BACKWARD, NORM_FORWARD
from ..operations.pointwise import ELEMENT_WISE
from ..operations.reductions import GENSTATS, MATMUL, REDUCTION
from ..operations.resampling import RESAMPLE_BACKWARD, RESAMPLE_FORWARD
from ..rewriting import Edit
from ..tensor import Tensor
from .remedy import Remedy

if TYPE_CHECKING:
    from ...graph import Graph

__all__ = ["IMAGES_AS_IN_C", "layout_remedies", "plain"]

IMAGES_AS_IN_C = "images stored as in C"
"""The case by which measured facts would know it."""

_OF_IMAGES = (
    CONV_FPROP,
    CONV_DGRAD,
    CONV_WGRAD,
    RESAMPLE_FORWARD,
    RESAMPLE_BACKWARD,
    GENSTATS,
    NORM_FORWARD,
    NORM_BACKWARD,
    BN_FINALIZE,
    BN_BACKWARD_WEIGHTS,
    BATCHNORM_INFERENCE,
)
_IMAGE = 4  # dimensions
_ALIGNED = 16  # bytes that engines move at once


def layout_remedies(graph: Graph) -> Iterator[Remedy]:
    """Channels last, as in C, columns of B, alignment."""
    yield Remedy("layout", "store {} channels last (NHWC)", _channels_last, known=IMAGES_AS_IN_C)
    yield Remedy("layout", "store {} as in C, the last dimension innermost", _as_in_c)
    yield Remedy("layout", "store {} by columns (each matrix transposed in memory)", _by_columns)
    yield Remedy("alignment", f"let the addresses of {{}} be multiples of {_ALIGNED}", _aligned)


def plain(tensor: Tensor) -> bool:
    """Whether dims and strides alone say where elements are, and memory has no gaps."""
    dims, strides = tensor.dims or (), tensor.strides or ()
    if tensor.by_value or tensor.vector_count != 1 or tensor.reordering:
        return False
    if tensor.ragged_offset is not None:
        return False
    reach = 1 + sum((size - 1) * stride for size, stride in zip(dims, strides, strict=True))
    count = 1
    for size in dims:
        count *= size
    return reach == count and not overlapping(dims, strides)


def _images(graph: Graph) -> list[int]:
    """The tensors of operations on images, and of element-wise ones beside them: their places."""
    ids: set[int] = set()
    rank = 0
    for node in graph.nodes:
        tensors = [*node.operands, *node.results]
        highest = max(each.rank for each in tensors)
        if node.kind in _OF_IMAGES or (node.kind is REDUCTION and highest >= _IMAGE):
            rank = max(rank, highest)
            ids |= {id(each) for each in tensors}
    if rank < 3:
        return []
    grown = True
    while grown:
        grown = False
        for node in graph.nodes:
            if node.kind in ELEMENT_WISE:
                near = {id(each) for each in (*node.operands, *node.results)}
                if near & ids and not near <= ids:
                    ids |= near
                    grown = True
    return [
        index
        for index, each in enumerate(graph.tensors)
        if id(each) in ids and each.rank == rank and plain(each)
    ]


def _reordered(graph: Graph, places: Sequence[int], order: Sequence[int]) -> Edit:
    """Packed strides in another order of axes; empty if no memory changes by it."""
    edit, moves = Edit(), False
    for index in places:
        tensor = graph.tensors[index]
        dims, strides = tensor.dims or (), packed(tensor.dims or (), order)
        if strides != tensor.strides:
            edit.of_tensor(index, strides=strides)
            pairs = zip(dims, strides, tensor.strides or (), strict=True)
            moves = moves or any(size > 1 and a != b for size, a, b in pairs)
    return edit if moves else Edit()


def _channels_last(graph: Graph) -> Edit:
    places = _images(graph)
    if not places:
        return Edit()
    rank = graph.tensors[places[0]].rank
    return _reordered(graph, places, (0, *range(2, rank), 1))


def _as_in_c(graph: Graph) -> Edit:
    edit = Edit()
    for rank in {each.rank for each in graph.tensors}:
        places = [i for i, each in enumerate(graph.tensors) if each.rank == rank and plain(each)]
        edit.tensors.update(_reordered(graph, places, range(rank)).tensors)
    return edit


def _by_columns(graph: Graph) -> Edit:
    """B of products of 8 bits, which the tensor cores want so."""
    edit = Edit()
    for node in graph.nodes:
        if node.kind is not MATMUL or "B" in node.transposed:
            continue
        tensor = node.inputs["B"]
        dims = tensor.dims or ()
        if tensor.virtual or not plain(tensor) or element_bits(tensor.data_type) > 8:
            continue
        strides = exchanged(packed(exchanged(dims)))
        if strides != tensor.strides:
            place = next(i for i, each in enumerate(graph.tensors) if each is tensor)
            edit.of_tensor(place, strides=strides)
    return edit


def _aligned(graph: Graph) -> Edit:
    edit = Edit()
    for index, tensor in enumerate(graph.tensors):
        if not tensor.virtual and not tensor.by_value and tensor.alignment < _ALIGNED:
            edit.of_tensor(index, alignment=_ALIGNED)
    return edit
