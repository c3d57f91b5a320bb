"""Graphs in the three dimensions that cuDNN's engines for sums and products want.

Element-wise graphs of other ranks are refused, unless they are channels-last, or computed wrong;
products of other ranks are known to the engines of attention only. The same memory is described to
cuDNN with other dims: neighbouring dimensions become one where every tensor has both without a gap
between, or neither.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ...raw.strides import axis_order, broadcast, extent, packed
from ..describe.node import Node
from ..describe.tensor import Tensor

View = tuple[tuple[int, ...], tuple[int, ...]]
"""Dims and strides."""

_CONVOLUTIONS = frozenset(
    f"operation_convolution_{direction}"
    for direction in ("forward", "backward_data", "backward_filter")
)
_PORTS = {"operation_pointwise": {"x", "b", "t", "dy"}, "operation_matmul": {"A", "B"}}
_RANK = 3
_MATRIX = 2  # dimensions of a product that stay
_WIDEST = 1024
# Beyond them kernels fail to launch; the dimension between may be of any size.
_MOST_BATCHES, _MOST_COLUMNS = 65_535, 1_048_560


def flattened(nodes: Sequence[Node]) -> Mapping[int, View]:
    """Other dims and strides for the same memory, by the tensors' ids; empty if there is no need.

    `nodes` are validated. Empty, too, where dimensions that should be one are not.
    """
    tensors = tensors_of(nodes)
    if any(node.kind.descriptor in _CONVOLUTIONS for node in nodes):
        return _settled(tensors)
    products = [node for node in nodes if node.kind.descriptor == "operation_matmul"]
    known = all(node.inputs.keys() <= _PORTS.get(node.kind.descriptor, set()) for node in nodes)
    if len(products) > 1 or not known or not is_plain(nodes):
        return {}
    kept = _MATRIX if products else 0
    ranks = {each.rank for each in tensors}
    outer = broadcast(*((each.dims or ())[: each.rank - kept] for each in tensors))
    if len(ranks) != 1 or outer is None or not _needed(tensors, outer, kept):
        return {}
    groups = merged_axes(tensors, outer)
    if len(groups) > _RANK - kept:
        return {}
    columns = _columns(math.prod(outer)) if not products and len(groups) == 1 else None
    return {id(each): _view(each, groups, kept, columns) for each in tensors}


def _settled(tensors: Sequence[Tensor]) -> Mapping[int, View]:
    """Images with channels last whose dimensions of one element have strides that say so, too.

    Engines of runtime fusion take the step from pixel to pixel from these strides: they write
    (8, 64, 1, 1) with strides (64, 1, 1, 1) as if it had a single image (H200, 9.14 and 9.19).
    """
    images = [
        each
        for each in tensors
        if not (each.virtual or each.by_value) and each.rank > 2 and each.vector_count == 1
    ]
    for each in images:
        dims, strides = each.dims or (), each.strides or ()
        if dims[1] != 1 and math.prod(dims[2:]) != 1 and strides[1] != 1:
            return {}
    settled = {id(each): (each.dims or (), _channels_last(each)) for each in images}
    unlike = any(settled[id(each)][1] != each.strides for each in images)
    return settled if unlike else {}


def _channels_last(tensor: Tensor) -> tuple[int, ...]:
    """The strides of an image, but for dimensions of one element those of channels last."""
    dims, strides, reach = tensor.dims or (), list(tensor.strides or ()), 1
    axes = (1, *range(tensor.rank - 1, 1, -1), 0)
    for place, axis in enumerate(axes):
        if dims[axis] == 1:
            outer = (strides[each] for each in axes[place:] if place and dims[each] != 1)
            strides[axis] = next(outer, reach)  # images of one pixel may have gaps between
        reach = max(reach, dims[axis] * strides[axis])
    return tuple(strides)


def _is_channels_last(tensor: Tensor) -> bool:
    dims, strides = tensor.dims or (), tensor.strides or ()
    packed_so = strides == _channels_last(tensor) and extent(dims, strides) == math.prod(dims)
    return strides[1] == 1 and (tensor.virtual or packed_so)


def tensors_of(nodes: Sequence[Node]) -> list[Tensor]:
    """All tensors of some operations, each once, the results first."""
    results = [each for node in nodes for each in node.outputs.values()]
    operands = [each for node in nodes for each in node.operands]
    return list({id(each): each for each in (*results, *operands)}.values())


def is_plain(nodes: Sequence[Node], *, indices: bool = False) -> bool:
    """Whether nothing but dims and strides says where elements are, or only `indices` do."""
    return (indices or all(node.options.get("axis") is None for node in nodes)) and not any(
        each.ragged_offset or each.vector_count != 1 or each.reordering
        for each in tensors_of(nodes)
    )


def _needed(tensors: Sequence[Tensor], outer: tuple[int, ...], kept: int) -> bool:
    """Whether an engine for the dims as they are would refuse, or compute wrong."""
    rank = len(outer) + kept
    if rank < _RANK or kept:
        return rank != _RANK
    if rank == _RANK:
        large = outer[0] > _MOST_BATCHES or outer[-1] > _MOST_COLUMNS
        small = any(each.dims != outer for each in tensors)
        return large or small or _order(tensors, outer) != (0, 1, 2)
    wide = [each for each in tensors if each.dims == outer and each.strides]
    channels_last = outer[1] != 1 and all(_is_channels_last(each) for each in wide)
    pixels = [axis for axis, size in enumerate(outer) if size != 1 and axis != 1]
    parted = any(len({(each.dims or ())[axis] == 1 for axis in pixels}) > 1 for each in tensors)
    return not channels_last or parted


def merged_axes(tensors: Sequence[Tensor], outer: Sequence[int]) -> list[list[int]]:
    """The axes of more than one element, those that can become one together; the innermost last."""
    groups: list[list[int]] = []
    for axis in (axis for axis in _order(tensors, outer) if outer[axis] != 1):
        if groups and all(_joins(each, groups[-1][-1], axis) for each in tensors):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return groups


def _order(tensors: Sequence[Tensor], outer: Sequence[int]) -> tuple[int, ...]:
    """The axes from the outermost to the innermost in memory, as of what is whole."""
    whole = (each.strides for each in tensors if each.dims == outer and not each.virtual)
    strides = next(whole, None) or packed(outer)
    axes = [axis for axis in axis_order(outer, strides) if outer[axis] != 1]
    return tuple(sorted(range(len(outer)), key=lambda a: axes.index(a) if a in axes else -1))


def _joins(tensor: Tensor, outer: int, inner: int) -> bool:
    dims, strides = tensor.dims or (), tensor.strides or ()
    if (dims[outer] == 1) != (dims[inner] == 1):
        return False
    return tensor.virtual or dims[inner] == 1 or strides[outer] == dims[inner] * strides[inner]


def _columns(count: int) -> int:
    """How long the rows are in which `count` elements are laid out."""
    return next(size for size in range(min(count, _WIDEST), 0, -1) if count % size == 0)


def _view(tensor: Tensor, groups: Sequence[Sequence[int]], kept: int, columns: int | None) -> View:
    dims, strides = tensor.dims or (), tensor.strides or ()
    sizes = [math.prod(dims[axis] for axis in group) for group in groups]
    steps = [strides[group[-1]] for group in groups]
    if columns is not None:
        (count,), (step,) = sizes, steps
        row = columns if count != 1 else 1
        sizes, steps = [count // row, row], [row * step, step]
    sizes = [*sizes, *dims[len(dims) - kept :]]
    steps = [*steps, *strides[len(dims) - kept :]]
    missing = _RANK - len(sizes)
    sizes, steps = [1] * missing + sizes, [0] * missing + steps
    if tensor.virtual:
        return tuple(sizes), packed(sizes)
    # What stands for a single element is never walked along; cuDNN wants it as if packed.
    reach = 1
    for axis in sorted(range(_RANK), key=lambda axis: (axis < _RANK - kept, -axis)):
        if axis < _RANK - kept and sizes[axis] == 1:
            steps[axis] = reach
        reach = max(reach, sizes[axis] * steps[axis])
    return tuple(sizes), tuple(steps)
