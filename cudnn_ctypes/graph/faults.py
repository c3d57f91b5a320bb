"""Engines that give wrong numbers without a word; heuristics propose them all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..raw import cudnnDataType_t
from .node import Node

__all__ = ["faulty_engines"]

# Seen on an H200 with cuDNN 9.14 and 9.19, in all data types, layouts and windows: errors as large
# as the result, or NaN. All other engines, and all of the forward operation, compute it well.
_UNEVEN_PADDING = {
    "operation_convolution_backward_data": (50,),
    "operation_convolution_backward_filter": (1, 18, 20),
}


def faulty_engines(nodes: Sequence[Node]) -> Mapping[int, str]:
    """The engines that a validated graph must not be built with, and why.

    They can still be chosen by name.
    """
    if any(_pools_what_it_computes(node) for node in nodes):
        return {1: "it leaves the result of pooling as it was after an element-wise operation"}
    if len(nodes) != 1:
        return {}
    node = nodes[0]
    if node.kind.descriptor == "operation_resample_fwd":
        image = node.inputs["input"]
        channels_last = image.strides is not None and image.strides[1] == 1
        if channels_last and image.data_type == cudnnDataType_t.CUDNN_DATA_BFLOAT16:
            # Seen on an H200 with cuDNN 9.14 and 9.19: it takes bfloat16 for another type.
            return {3: "it gives wrong numbers for bfloat16"}
    if node.kind.descriptor in _UNEVEN_PADDING:
        rank = next(node.operands).rank - 2
        if node.spatial("pre_padding", rank, 0) != node.spatial("post_padding", rank, 0):
            reason = "it gives wrong numbers where pre_padding and post_padding differ"
            return dict.fromkeys(_UNEVEN_PADDING[node.kind.descriptor], reason)
    return {}


def _pools_what_it_computes(node: Node) -> bool:
    """So seen on an H200 with cuDNN 9.14 and 9.19; the other order works."""
    return node.kind.descriptor == "operation_resample_fwd" and node.inputs["input"].virtual
