"""The operations and memory traffic that a graph needs with any engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...dtypes import element_bits
from ...graph.describe.node import Node
from ...graph.describe.operations.attention_checks import mask_of
from ...graph.graph import Graph

__all__ = ["Work", "visible_pairs", "work_of"]


@dataclass(frozen=True)
class Work:
    """The work of any implementation of a graph.

    Attributes
    ----------
    flops : int
        Additions and multiplications of convolutions, matrix products and attention. Other
        operations are not counted, since memory limits them.
    nbytes : int
        Bytes if each input is read once and each output is written once.
    data_type : cudnnDataType_t or None
        The operands' type of the operation with the most flops; None if none is counted.
    """

    flops: int
    nbytes: int
    data_type: Any = None


def work_of(graph: Graph) -> Work:
    """The work of a graph; validates the graph."""
    nodes = [node for node in graph.validate() if node.operation in _COUNTS]
    counted = [(_COUNTS[node.operation](node), node) for node in nodes]
    largest = max(counted, key=lambda pair: pair[0], default=None)
    tensors = [each for each in (*graph.inputs, *graph.outputs) if not each.by_value]
    nbytes = sum(math.prod(each.dims or ()) * element_bits(each.data_type) // 8 for each in tensors)
    data_type = None if largest is None else next(iter(largest[1].inputs.values())).data_type
    return Work(2 * sum(products for products, _ in counted), nbytes, data_type)


def _dims(node: Node, name: str) -> tuple[int, ...]:
    tensor = node.inputs[name] if name in node.inputs else node.outputs[name]
    assert tensor.dims is not None
    return tensor.dims


def _convolution(node: Node) -> int:
    """The products of a convolution: one per element of y and element of a filter."""
    y, w = {
        "conv_fprop": ("y", "weight"),
        "conv_dgrad": ("loss", "filter"),
        "conv_wgrad": ("loss", "dw"),
    }[node.operation]
    return math.prod(_dims(node, y)) * math.prod(_dims(node, w)[1:])


def _matmul(node: Node) -> int:
    a, c = _dims(node, "A"), _dims(node, "C")
    inner = a[-2] if "A" in node.transposed else a[-1]
    return math.prod(c) * inner


def _attention(node: Node) -> int:
    """The products of attention: two matrix products forward, five backward."""
    q, k, v = (_dims(node, name) for name in "qkv")
    mask = mask_of(node)
    pairs = visible_pairs(q[2], k[2], mask.left, mask.right, bottom_right=mask.bottom_right)
    each = q[0] * q[1] * pairs
    if node.operation.endswith("backward"):
        return each * (3 * q[3] + 2 * v[3])
    return each * (q[3] + v[3])


def visible_pairs(
    queries: int, keys: int, left: int | None, right: int | None, *, bottom_right: bool = False
) -> int:
    """Number of pairs of a query and a visible key; see `Mask`."""
    total = 0
    for query in range(queries):
        centre = query + keys - queries if bottom_right else query
        first = 0 if left is None else max(0, centre - left + 1)
        last = keys if right is None else min(keys, centre + right + 1)
        total += max(0, last - first)
    return total


_COUNTS: dict[str, Callable[[Node], int]] = {
    "conv_fprop": _convolution,
    "conv_dgrad": _convolution,
    "conv_wgrad": _convolution,
    "matmul": _matmul,
    "sdpa": _attention,
    "sdpa_backward": _attention,
    "sdpa_fp8": _attention,
    "sdpa_fp8_backward": _attention,
}
