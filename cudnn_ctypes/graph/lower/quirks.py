"""What cuDNN computes wrong without a word: engines that heuristics propose, and whole graphs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ...raw import cudnnBackendNormMode_t, cudnnDataType_t, cudnnPointwiseMode_t
from ..describe.node import Node
from ..describe.tensor import Tensor
from .flattening import View, broken_broadcast

__all__ = ["fault_of_graph", "faulty_engines"]

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
    if any(_clips_more(node) for node in nodes) and any(
        node.kind.descriptor == "operation_matmul" for node in nodes
    ):
        # Seen on an H200 with cuDNN 9.14 and 9.19; the engines for runtime fusion do clip.
        return {0: "it leaves the clips of relu out"}
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


_16_BITS = (cudnnDataType_t.CUDNN_DATA_HALF, cudnnDataType_t.CUDNN_DATA_BFLOAT16)
_LAYERS = (
    cudnnBackendNormMode_t.CUDNN_LAYER_NORM,
    cudnnBackendNormMode_t.CUDNN_RMS_NORM,
    cudnnBackendNormMode_t.CUDNN_ADA_LAYER_NORM,
)


def fault_of_graph(nodes: Sequence[Node], views: Mapping[int, View]) -> str:
    """Why cuDNN would compute a validated graph wrong; "" if it would not.

    `views` are what `flattened` gives.
    """
    return _fault_of_statistics(nodes) or _fault_of_broadcasts(nodes, views)


def _fault_of_statistics(nodes: Sequence[Node]) -> str:
    """Of layers they are written as float32, beyond memory for fewer bits (9.14, 9.19)."""
    for node in nodes:
        if node.kind.descriptor != "operation_norm_forward" or node.options["mode"] not in _LAYERS:
            continue
        for port, tensor in node.outputs.items():
            written = port in ("mean", "inv_variance") and not tensor.virtual
            if written and tensor.data_type in _16_BITS:
                return f"{node}: {port} {tensor.name!r} must be float32, as which it is written"
    return ""


def _fault_of_broadcasts(nodes: Sequence[Node], views: Mapping[int, View]) -> str:
    """Graphs of element-wise operations alone have such faults."""
    if any(node.kind.descriptor != "operation_pointwise" for node in nodes):
        return ""

    def dims_of(tensor: Tensor) -> tuple[int, ...]:
        return views[id(tensor)][0] if id(tensor) in views else tensor.dims or ()

    for node in nodes:
        for result in node.outputs.values():
            dims = dims_of(result)
            if len(dims) < 3:
                # Seen on an H200 with cuDNN 9.14 and 9.19; 9.28 refuses it.
                return (
                    f"{node}: of {len(dims)} dimensions {dims} cuDNN gives wrong numbers; "
                    "describe the tensors with three"
                )
            for operand in node.operands:
                if broken_broadcast(dims_of(operand), dims):
                    return (
                        f"{node}: {operand.name!r} {operand.dims} broadcasts along two of the "
                        f"three dimensions {dims}, for which cuDNN gives wrong numbers; "
                        "give it the size of the batch"
                    )
    return ""


def _clips_more(node: Node) -> bool:
    """Whether it is a relu with other clips than 0 and infinity."""
    if node.options.get("mode") != cudnnPointwiseMode_t.CUDNN_POINTWISE_RELU_FWD:
        return False
    upper = node.options.get("upper_clip")
    return bool(node.options.get("lower_clip")) or (upper is not None and upper < math.inf)


def _pools_what_it_computes(node: Node) -> bool:
    """So seen on an H200 with cuDNN 9.14 and 9.19; the other order works."""
    return node.kind.descriptor == "operation_resample_fwd" and node.inputs["input"].virtual
