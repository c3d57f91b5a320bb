"""Graphs without attention on which cuDNN ends the process: for rows of `fatal_quirks`."""

from __future__ import annotations

from ...raw import (
    cudnnBackendNormFwdPhase_t,
    cudnnBackendNormMode_t,
    cudnnDataType_t,
    cudnnPointwiseMode_t,
)
from ..describe.node import Node
from .fatal_attention import after, using
from .quirk import Graph

__all__ = [
    "concatenates_beside_pooling",
    "convolves",
    "derives_beside_a_norm",
    "fuses_a_filter_gradient",
    "lacks_epsilon",
    "multiplies_a_convolution",
    "multiplies_a_signal",
    "multiplies_beside_experts",
    "prepares_a_filter_gradient",
    "quantizes_a_norm_of_rows",
    "quantizes_an_adaptive_norm",
    "rectifies_before_a_filter_gradient",
    "uses_an_index",
]

_TWO = "build two graphs"
_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT


def multiplies_a_convolution(graph: Graph) -> str:
    products = list(graph.of("matmul"))
    if len(products) != 1:
        return ""
    for kind in ("forward", "backward_data", "backward_filter"):
        for node in graph.of(f"convolution_{kind}"):
            if products[0] in after(graph, [node], through_norms=False):
                return f"{node} and {products[0]}, which uses its result; {_TWO}"
    return ""


def multiplies_a_signal(graph: Graph) -> str:
    """The signal's result as the first operand; as the second one there is no engine."""
    signals = list(graph.of("signal"))
    for product in graph.of("matmul"):
        for node in signals:
            if node.outputs["y"] is product.inputs["A"]:
                return f"{node} before {product}, of which it makes A; {_TWO}"
    return ""


def concatenates_beside_pooling(graph: Graph) -> str:
    joined = list(graph.of("concat"))
    pooled = list(graph.of("resample_fwd", "resample_bwd"))
    return f"{joined[0]} and {pooled[0]} in one graph; {_TWO}" if joined and pooled else ""


def multiplies_beside_experts(graph: Graph) -> str:
    experts, products = list(graph.of("moe_grouped_matmul")), list(graph.of("matmul"))
    if not experts or len(products) != 1:
        return ""
    return f"{experts[0]} and {products[0]} in one graph; {_TWO}"


def convolves(graph: Graph) -> str:
    kinds = ("forward", "backward_data", "backward_filter")
    node = next((node for kind in kinds for node in graph.of(f"convolution_{kind}")), None)
    if node is None:
        return ""
    return f"{node} for a GPU that is not here, beside one that is; hide it: CUDA_VISIBLE_DEVICES="


_Mode = cudnnPointwiseMode_t
_BEFORE_FILTER_GRADIENT = (
    (_Mode.CUDNN_POINTWISE_RELU_FWD,),
    (_Mode.CUDNN_POINTWISE_ADD,),
    (_Mode.CUDNN_POINTWISE_MUL,),
    (_Mode.CUDNN_POINTWISE_ADD, _Mode.CUDNN_POINTWISE_RELU_FWD),
    (_Mode.CUDNN_POINTWISE_MUL, _Mode.CUDNN_POINTWISE_RELU_FWD),
)


def prepares_a_filter_gradient(graph: Graph) -> str:
    *before, node = graph.nodes
    if (
        node.kind.descriptor != "operation_convolution_backward_filter"
        or any(each.kind.descriptor != "operation_pointwise" for each in before)
        or tuple(each.options.get("mode") for each in before) not in _BEFORE_FILTER_GRADIENT
    ):
        return ""
    for each, user in zip(before, graph.nodes[1:], strict=True):
        (y,) = each.outputs.values()
        if not y.virtual or not any(y is operand for operand in user.operands):
            return ""
    told = " and ".join(map(str, before))
    return f"{told} before {node}, without another operation; {_TWO}"


def uses_an_index(graph: Graph) -> str:
    for node in graph.of("resample_fwd"):
        index, strides = node.outputs.get("index"), node.inputs["input"].strides
        if index is None or not index.virtual or strides is None or strides[1] != 1:
            continue
        for other in graph.of("pointwise", "reduction"):
            if any(index is operand for operand in other.operands):
                return f"{node} and {other}, which uses its index; make {index.name!r} an output"
    return ""


_Norm = cudnnBackendNormMode_t
_LAYERS = (_Norm.CUDNN_LAYER_NORM, _Norm.CUDNN_RMS_NORM, _Norm.CUDNN_ADA_LAYER_NORM)


def lacks_epsilon(graph: Graph) -> str:
    for node in graph.of("norm_forward"):
        infers = node.options["phase"] == cudnnBackendNormFwdPhase_t.CUDNN_NORM_FWD_INFERENCE
        of_instances = node.options["mode"] == _Norm.CUDNN_INSTANCE_NORM
        if infers and of_instances and "epsilon" not in node.inputs:
            return f"{node} without epsilon; give it one, also with mean and inv_variance"
    return ""


def quantizes_an_adaptive_norm(graph: Graph) -> str:
    adaptive = _Norm.CUDNN_ADA_LAYER_NORM
    norms = [node for node in graph.of("norm_forward") if node.options["mode"] == adaptive]
    return _in_order(norms, list(graph.of("block_scale_quantize")))


def quantizes_a_norm_of_rows(graph: Graph) -> str:
    """Tensors of three dimensions; of two or four there are engines."""
    norms = [
        node
        for node in graph.of("norm_forward")
        if node.options["mode"] in _LAYERS and len(graph.dims(node.inputs["input"])) == 3
    ]
    return _in_order(norms, list(graph.of("block_scale_quantize")))


def derives_beside_a_norm(graph: Graph) -> str:
    norms = [node for node in graph.of("norm_forward") if node.options["mode"] in _LAYERS]
    derivatives = [node for node in graph.of("pointwise") if "dy" in node.inputs]
    return _in_order(derivatives, norms) or _in_order(norms, derivatives)


def _in_order(nodes: list[Node], others: list[Node]) -> str:
    """The first of `nodes` whose result one of the others uses."""
    for before in nodes:
        for node in using(others, before):
            return f"{before} before {node}; {_TWO}"
    return ""


def rectifies_before_a_filter_gradient(graph: Graph) -> str:
    relu = _Mode.CUDNN_POINTWISE_RELU_FWD
    rectified = [node for node in graph.of("pointwise") if node.options["mode"] == relu]
    return _in_order(rectified, list(graph.of("convolution_backward_filter")))


def fuses_a_filter_gradient(graph: Graph) -> str:
    for node in graph.of("convolution_backward_filter") if graph.single is None else ():
        if node.inputs["loss"].data_type == _FLOAT:
            other = next(each for each in graph.nodes if each is not node)
            return f"{node} in float32 beside {other}"
    return ""
