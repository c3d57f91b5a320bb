"""Operations but attention that cuDNN computes wrong: what rows of `quirks` look for."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...dtypes import storage_bytes
from ...raw import cudnnBackendNormMode_t, cudnnDataType_t, cudnnPointwiseMode_t
from .flattening import broken_broadcast
from .quirk import Graph

__all__ = [
    "broadcasts_along_two",
    "clips_a_product",
    "differentiates_by_a_part_of_a_line",
    "gives_gelu_of_a_product",
    "has_two_dimensions",
    "joins_part_of_a_filter_gradient",
    "pads_unevenly",
    "pools_a_result",
    "pools_bfloat16",
    "stores_statistics_in_16_bits",
]


def pools_a_result(graph: Graph) -> str:
    nodes = graph.of("resample_fwd")
    return next((str(node) for node in nodes if node.inputs["input"].virtual), "")


def clips_a_product(graph: Graph) -> str:
    """A relu with other clips than 0 and infinity."""
    if not any(graph.of("matmul")):
        return ""
    for node in graph.of("pointwise"):
        if node.options.get("mode") == cudnnPointwiseMode_t.CUDNN_POINTWISE_RELU_FWD:
            upper = node.options.get("upper_clip")
            if node.options.get("lower_clip") or (upper is not None and upper < math.inf):
                return str(node)
    return ""


def pools_bfloat16(graph: Graph) -> str:
    node = graph.single
    if node is None or node.kind.descriptor != "operation_resample_fwd":
        return ""
    image = node.inputs["input"]
    channels_last = image.strides is not None and image.strides[1] == 1
    is_bfloat16 = image.data_type == cudnnDataType_t.CUDNN_DATA_BFLOAT16
    return f"{node} of {image.name!r}" if channels_last and is_bfloat16 else ""


def pads_unevenly(direction: str) -> Callable[[Graph], str]:
    def where(graph: Graph) -> str:
        node = graph.single
        if node is None or node.kind.descriptor != f"operation_convolution_backward_{direction}":
            return ""
        rank = next(node.operands).rank - 2
        before, after = (node.spatial(f"{end}_padding", rank, 0) for end in ("pre", "post"))
        return f"{node}: {before} and {after}" if before != after else ""

    return where


def joins_part_of_a_filter_gradient(graph: Graph) -> str:
    """An operand that broadcasts along more of a filter's dims than those of all but one."""
    behind = {id(node.outputs["dw"]) for node in graph.of("convolution_backward_filter")}
    for node in graph.of("pointwise"):
        if behind.isdisjoint(id(operand) for operand in node.operands):
            continue
        for result in node.outputs.values():
            behind.add(id(result))
            dims = graph.dims(result)
            ones = (1,) * len(dims)
            right = {dims, ones, (*dims[:1], *ones[1:]), (1, *dims[1:])}
            for operand in node.operands:
                if id(operand) not in behind and graph.dims(operand) not in right:
                    return f"{node}: {operand.name!r} {operand.dims} in {dims}"
    return ""


_LINE = 128  # bytes to which cuDNN rounds up the parts of its workspace


def differentiates_by_a_part_of_a_line(graph: Graph) -> str:
    """A window of one element, and a gradient that has not its channels last."""
    for node in graph.of("convolution_backward_filter"):
        loss, window = node.inputs["loss"], graph.dims(node.outputs["dw"])[2:]
        if loss.virtual or set(window) != {1} or loss.strides is None or loss.strides[1] == 1:
            continue
        nbytes = storage_bytes(loss.data_type, math.prod(graph.dims(loss)))
        if nbytes % _LINE:
            return (
                f"{node}: dy {loss.name!r} {loss.dims} has {nbytes} bytes, no multiple of {_LINE}; "
                "store images with their channels last"
            )
    return ""


def gives_gelu_of_a_product(graph: Graph) -> str:
    """Gelu as float32, whose rounding does not hide what an approximation leaves."""
    if not any(graph.of("matmul")):
        return ""
    for node in graph.of("pointwise"):
        if node.options.get("mode") == cudnnPointwiseMode_t.CUDNN_POINTWISE_GELU_FWD:
            (y,) = node.outputs.values()
            if not y.virtual and y.data_type == cudnnDataType_t.CUDNN_DATA_FLOAT:
                return f"{node}: {y.name!r} in float32"
    return ""


def broadcasts_along_two(graph: Graph) -> str:
    if not graph.consists_of("pointwise"):
        return ""
    for node in graph.nodes:
        for result in node.outputs.values():
            dims = graph.dims(result)
            for operand in node.operands:
                if len(dims) >= 3 and broken_broadcast(graph.dims(operand), dims):
                    return (
                        f"{node}: {operand.name!r} {operand.dims} in {dims}; give it the size of "
                        f"the batch"
                    )
    return ""


def has_two_dimensions(graph: Graph) -> str:
    if not graph.consists_of("pointwise"):
        return ""
    for node in graph.nodes:
        for result in node.outputs.values():
            if len(graph.dims(result)) < 3:
                return f"{node} of {result.dims}, describe the tensors with three dimensions"
    return ""


_16_BITS = (cudnnDataType_t.CUDNN_DATA_HALF, cudnnDataType_t.CUDNN_DATA_BFLOAT16)
_LAYERS = (
    cudnnBackendNormMode_t.CUDNN_LAYER_NORM,
    cudnnBackendNormMode_t.CUDNN_RMS_NORM,
    cudnnBackendNormMode_t.CUDNN_ADA_LAYER_NORM,
)


def stores_statistics_in_16_bits(graph: Graph) -> str:
    for node in graph.of("norm_forward"):
        for port, tensor in node.outputs.items():
            written = port in ("mean", "inv_variance") and not tensor.virtual
            if written and node.options["mode"] in _LAYERS and tensor.data_type in _16_BITS:
                return f"{node}: {port} {tensor.name!r} must be float32"
    return ""
