"""Graphs without attention on which cuDNN ends the process."""

from __future__ import annotations

from ....raw import (
    cudnnBackendNormFwdPhase_t,
    cudnnBackendNormMode_t,
    cudnnDataType_t,
    cudnnPointwiseMode_t,
)
from ....raw.faults import Range
from ...describe.node import Node
from .fatal import ALL_BUT_FALLBACK, AMPERE_ON, TURING_ON, fatal
from .view import Graph, in_order

__all__ = ["FATAL_OPERATIONS"]

_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT


_CONVOLUTIONS = tuple(
    f"convolution_{each}" for each in ("forward", "backward_data", "backward_filter")
)


def _multiplies_a_convolution(graph: Graph) -> str:
    products = graph.of("matmul")
    for node in graph.of(*_CONVOLUTIONS) if len(products) == 1 else ():
        if products[0] in graph.after([node], through_norms=False):
            return f"{node} and {products[0]}, which uses its result"
    return ""


def _multiplies_a_signal(graph: Graph) -> str:
    """The signal's result as the first operand; as the second one there is no engine."""
    for product in graph.of("matmul"):
        for node in graph.of("signal"):
            if node.outputs["y"] is product.inputs["A"]:
                return f"{node} before {product}, of which it makes A"
    return ""


def _concatenates_beside_pooling(graph: Graph) -> str:
    joined, pooled = graph.of("concat"), graph.of("resample_fwd", "resample_bwd")
    return f"{joined[0]} and {pooled[0]} in one graph" if joined and pooled else ""


def _multiplies_beside_experts(graph: Graph) -> str:
    experts, products = graph.of("moe_grouped_matmul"), graph.of("matmul")
    beside = experts and len(products) == 1
    return f"{experts[0]} and {products[0]} in one graph" if beside else ""


def _convolves(graph: Graph) -> str:
    nodes = graph.of(*_CONVOLUTIONS)
    return f"{nodes[0]} for a GPU that is not here, beside one that is" if nodes else ""


_Mode = cudnnPointwiseMode_t
_BEFORE_FILTER_GRADIENT = (
    (_Mode.CUDNN_POINTWISE_RELU_FWD,),
    (_Mode.CUDNN_POINTWISE_ADD,),
    (_Mode.CUDNN_POINTWISE_MUL,),
    (_Mode.CUDNN_POINTWISE_ADD, _Mode.CUDNN_POINTWISE_RELU_FWD),
    (_Mode.CUDNN_POINTWISE_MUL, _Mode.CUDNN_POINTWISE_RELU_FWD),
)


def _prepares_a_filter_gradient(graph: Graph) -> str:
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
    return f"{told} before {node}, without another operation"


def _uses_an_index(graph: Graph) -> str:
    for node in graph.of("resample_fwd"):
        index, strides = node.outputs.get("index"), node.inputs["input"].strides
        if index is None or not index.virtual or strides is None or strides[1] != 1:
            continue
        for other in graph.of("pointwise", "reduction"):
            if any(index is operand for operand in other.operands):
                return f"{node} and {other}, which uses its index {index.name!r}"
    return ""


_Norm = cudnnBackendNormMode_t
_LAYERS = (_Norm.CUDNN_LAYER_NORM, _Norm.CUDNN_RMS_NORM, _Norm.CUDNN_ADA_LAYER_NORM)


def _lacks_epsilon(graph: Graph) -> str:
    for node in graph.of("norm_forward"):
        infers = node.options["phase"] == cudnnBackendNormFwdPhase_t.CUDNN_NORM_FWD_INFERENCE
        of_instances = node.options["mode"] == _Norm.CUDNN_INSTANCE_NORM
        if infers and of_instances and "epsilon" not in node.inputs:
            return f"{node} without epsilon"
    return ""


def _quantizes_an_adaptive_norm(graph: Graph) -> str:
    adaptive = graph.of("norm_forward", mode=_Norm.CUDNN_ADA_LAYER_NORM)
    return in_order(adaptive, graph.of("block_scale_quantize"))


def _quantizes_a_norm_of_rows(graph: Graph) -> str:
    """Tensors of three dimensions; of two or four there are engines."""
    norms = [node for node in _norms(graph) if len(graph.dims(node.inputs["input"])) == 3]
    return in_order(norms, graph.of("block_scale_quantize"))


def _derives_beside_a_norm(graph: Graph) -> str:
    norms = _norms(graph)
    derivatives = [node for node in graph.of("pointwise") if "dy" in node.inputs]
    return in_order(derivatives, norms) or in_order(norms, derivatives)


def _norms(graph: Graph) -> list[Node]:
    return [node for node in graph.of("norm_forward") if node.options["mode"] in _LAYERS]


def _rectifies_before_a_filter_gradient(graph: Graph) -> str:
    rectified = graph.of("pointwise", mode=_Mode.CUDNN_POINTWISE_RELU_FWD)
    return in_order(rectified, graph.of("convolution_backward_filter"))


def _fuses_a_filter_gradient(graph: Graph) -> str:
    for node in graph.of("convolution_backward_filter") if graph.single is None else ():
        if node.inputs["loss"].data_type == _FLOAT:
            other = next(each for each in graph.nodes if each is not node)
            return f"{node} in float32 beside {other}"
    return ""


FATAL_OPERATIONS = (
    fatal(
        "product of a convolution",
        "conv_fprop conv_dgrad conv_wgrad matmul",
        _multiplies_a_convolution,
        "SIGSEGV in all modes, types and layouts, also with element-wise operations, a reduction, "
        "pooling or another convolution between; not with a norm between, nor with two products",
    ),
    fatal(
        "product of a signal",
        "signal matmul",
        _multiplies_a_signal,
        "SIGSEGV, from 9.27 on while an engine is compiled, in the modes a and b: also where the "
        "signal's result is an output, or an operation follows; other GPUs have no engine",
        Range(90800, (80, 89)),
    ),
    fatal(
        "product beside experts",
        "moe_grouped_matmul matmul",
        _multiplies_beside_experts,
        "SIGSEGV in all modes and types, connected or not; not with two products; 9.15 to 9.17 "
        "have no engine",
        Range(91800, AMPERE_ON),
    ),
    fatal(
        "element-wise operation before the gradient of a filter",
        "conv_wgrad",
        _prepares_a_filter_gradient,
        "SIGSEGV in the modes a and b: relu, add, mul, or relu of one of the two, and nothing "
        "else; mul, add and relu together have no engine there; other GPUs have engines for some "
        "of these graphs",
        Range(90800, (100,)),
    ),
    fatal(
        "relu before the gradient of a filter",
        "conv_wgrad relu",
        _rectifies_before_a_filter_gradient,
        "SIGFPE in all modes, in a process that has not asked about a gradient of a filter alone; "
        "9.12 has engines, 9.11 has none",
        Range(90800, (80, 89, 120), 91100),
    ),
    fatal(
        "index of pooling within the graph",
        "resample",
        _uses_an_index,
        "SIGSEGV in all modes, channels last; where the index is an output too, there are engines",
        Range(90800, TURING_ON),
        remedy="make the index an output",
    ),
    fatal(
        "concatenation beside pooling",
        "concatenate resample",
        _concatenates_beside_pooling,
        "SIGSEGV in all modes, connected or not, in one process of several; in 9.23 and 9.26 it "
        "was not seen, and from 9.27 on it is while an engine is compiled, in one process of "
        "fifty; no GPU has an engine",
        Range(90800, (80, 89), 92300, sometimes=True),
        Range(92700, (80, 89), sometimes=True),
    ),
    fatal(
        "instance norm without epsilon",
        "instancenorm norm_forward",
        _lacks_epsilon,
        "SIGSEGV in all modes; before 9.15 cuDNN refuses it itself, and with an epsilon there are "
        "engines",
        Range(91500, TURING_ON),
        remedy="give it an epsilon, also with mean and inv_variance",
    ),
    fatal(
        "adaptive norm in blocks",
        "adalayernorm norm_forward block_scale_quantize",
        _quantizes_an_adaptive_norm,
        "SIGSEGV; the mode fallback has engines for a B200 and an RTX 5090; before 9.17 there is "
        "no engine",
        Range(91700, TURING_ON, modes=ALL_BUT_FALLBACK),
    ),
    fatal(
        "norm of three dimensions in blocks",
        "layernorm rmsnorm norm_forward block_scale_quantize",
        _quantizes_a_norm_of_rows,
        "SIGSEGV in all modes, in some processes only, mostly while descriptors are finalized: "
        "layer, RMS and, from 9.9 on, adaptive layer norm, also in training; no GPU has an "
        "engine. With two or four dimensions there are engines; 9.23 and 9.28 refuse it",
        Range(90800, TURING_ON, 92300, sometimes=True),
    ),
    fatal(
        "derivative beside a norm",
        "layernorm rmsnorm adalayernorm norm_forward",
        _derives_beside_a_norm,
        "SIGSEGV, from 9.11 on in all modes: relu_backward and gelu_backward before and after "
        "layer and RMS norm, and adaptive layer norm, for which the modes a and b have no engine; "
        "from 9.23 on there is none. In 9.9 and 9.10 the modes a and b have no engine. In 9.8 the "
        "mode fallback ends the process before a norm only, and the other modes, in float32, "
        "before a norm and for its result as x, where they have engines",
        Range(91100, TURING_ON, 92300),
        Range(90800, AMPERE_ON, 91100, ("fallback",)),
        Range(90800, (80, 89, 90), 90900, ALL_BUT_FALLBACK),
    ),
    fatal(
        "fused gradient of a filter in float32",
        "conv_wgrad",
        _fuses_a_filter_gradient,
        "SIGFPE: the gradient of the result is float32, in memory or within the graph; with one "
        "of 16 bits, and in 9.19, there are engines",
        Range(90800, (120,), 91900),
    ),
    fatal(
        "convolution for a Blackwell GPU beside another",
        "conv_fprop conv_dgrad conv_wgrad",
        _convolves,
        "SIGSEGV, asked about a B200 and the forward operation: in the modes a and b, and without "
        "them in `explain`. Where no GPU is visible it answers",
        Range(91400, (100,)),
        remedy="hide the GPU that is here: CUDA_VISIBLE_DEVICES=",
        gpu="H200",
        versions="9.14 and 9.19 for CUDA 13",
        beside_another=True,
    ),
)
