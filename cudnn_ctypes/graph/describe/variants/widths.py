"""Sizes rounded up to what engines want: channels, matrices and heads of attention.

What is added to operands holds zeros, and what is added to results means nothing. So only sizes
can grow that no operation takes a mean, a maximum or a position of.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ....dtypes import element_bits
from ....raw.strides import packed_like
from ..rewriting import Edit
from .axis_links import Axis, AxisLinks
from .remedy import Remedy

if TYPE_CHECKING:
    from ...graph import Graph

__all__ = ["width_remedies"]

_UNIT = 128  # bits that engines move at once
_LEAST = 4  # bits of a number; what is smaller is a mask


def width_remedies(graph: Graph) -> Iterator[Remedy]:
    """One for each size that can grow and is no multiple of 16 bytes."""
    for uid, axis, old, new in _narrow(graph):
        yield Remedy(
            "width",
            f"widen {{}} from {old} to {new} in dimension {axis}"
            if _same_axis(graph, uid, axis)
            else f"widen {{}} from {old} to {new}",
            functools.partial(_widened, uid=uid, axis=axis, size=new),
        )


def _narrow(graph: Graph) -> Iterator[tuple[int, int, int, int]]:
    """A tensor's uid with one of its dimensions, what it is and what it should be."""
    links = AxisLinks(graph)
    for group in links.groups():
        tensors = [(links.tensors[each], axis) for each, axis in group]
        with_memory = [(each, axis) for each, axis in tensors if not each.virtual]
        first, axis = (with_memory or tensors)[0]
        size = (first.dims or ())[axis]
        bits = [element_bits(each.data_type) for each, _ in with_memory]
        unit = max((_UNIT // each for each in bits if _LEAST <= each <= _UNIT), default=1)
        if with_memory and size > 1 and size % unit and first.uid is not None:
            yield first.uid, axis, size, -(-size // unit) * unit


def _same_axis(graph: Graph, uid: int, axis: int) -> bool:
    """Whether all tensors with memory grow in the same dimension."""
    group, links = _group(graph, uid, axis)
    return len({axis for each, axis in group if not links.tensors[each].virtual}) == 1


def _group(graph: Graph, uid: int, axis: int) -> tuple[Sequence[Axis], AxisLinks]:
    links = AxisLinks(graph)
    for group in links.groups():
        if any(links.tensors[each].uid == uid and of == axis for each, of in group):
            return group, links
    return (), links


def _widened(graph: Graph, uid: int, axis: int, size: int) -> Edit:
    edit = Edit()
    group, links = _group(graph, uid, axis)
    results = {id(each) for node in graph.nodes for each in node.results}
    filled: list[str] = []
    ignored: list[str] = []
    places = {id(each): index for index, each in enumerate(graph.tensors)}
    new_dims: dict[int, list[int]] = {}
    for each, of in group:
        tensor = links.tensors[each]
        dims = new_dims.setdefault(each, list(tensor.dims or ()))
        if dims[of] == size:
            continue
        dims[of] = size
        if not tensor.virtual:
            (ignored if each in results else filled).append(repr(tensor.name))
    for each, dims in new_dims.items():
        tensor = links.tensors[each]
        if tuple(dims) != tensor.dims:
            strides = packed_like(dims, tensor.dims or (), tensor.strides or ())
            edit.of_tensor(places[each], dims=tuple(dims), strides=strides)
    for index, node in enumerate(graph.nodes):
        q = node.inputs.get("q")
        if q is not None and id(q) in new_dims and "attn_scale" not in node.inputs:
            scale = node.options.get("attn_scale")
            if scale is None and node.kind.own_options.get("attn_scale") is not None:
                edit.nodes[index] = {"attn_scale": 1 / math.sqrt(q.dims[-1])}
    parts = [f"fill what is added of {', '.join(filled)} with zeros"] if filled else []
    parts += [f"ignore what is added of {', '.join(ignored)}"] if ignored else []
    edit.caveat = " and ".join(parts)
    return edit
