"""Graphs on which cuDNN ends the process, found by ``python -m tools.fuzz pairs`` without a GPU.

Unless a row has modes, the heuristics modes a and b end it, and the mode fallback has no engine: a
refusal takes nothing away.
"""

from __future__ import annotations

from collections.abc import Callable

from ...raw import (
    cudnnBackendNormFwdPhase_t,
    cudnnBackendNormMode_t,
    cudnnDataType_t,
    cudnnPointwiseMode_t,
)
from .fatal_attention import (
    adds_a_product_to_a_gradient,
    after,
    attends_to_final_statistics,
    derives_from_a_filter_gradient,
    gives_booleans,
    joins_a_maximum,
    multiplies_for_o,
    scales_attention_by_a_maximum,
    scatters_heads,
    takes_booleans,
    uses_the_maximum_of_o,
    using,
)
from .quirk import Graph, Quirk

__all__ = ["FATAL"]

_TURING_ON = (75, 80, 89, 90, 100, 120)
_AMPERE_ON = _TURING_ON[1:]
_ENDS = "cuDNN ends the process on such a graph"
_TWO = "build two graphs"
_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT


def _multiplies_a_convolution(graph: Graph) -> str:
    products = list(graph.of("matmul"))
    if len(products) != 1:
        return ""
    for kind in ("forward", "backward_data", "backward_filter"):
        for node in graph.of(f"convolution_{kind}"):
            if products[0] in after(graph, [node], through_norms=False):
                return f"{node} and {products[0]}, which uses its result; {_TWO}"
    return ""


def _multiplies_beside_experts(graph: Graph) -> str:
    experts, products = list(graph.of("moe_grouped_matmul")), list(graph.of("matmul"))
    if not experts or len(products) != 1:
        return ""
    return f"{experts[0]} and {products[0]} in one graph; {_TWO}"


def _convolves(graph: Graph) -> str:
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
    return f"{told} before {node}, without another operation; {_TWO}"


def _uses_an_index(graph: Graph) -> str:
    for node in graph.of("resample_fwd"):
        index, strides = node.outputs.get("index"), node.inputs["input"].strides
        if index is None or not index.virtual or strides is None or strides[1] != 1:
            continue
        for other in graph.of("pointwise", "reduction"):
            if any(index is operand for operand in other.operands):
                return f"{node} and {other}, which uses its index; make {index.name!r} an output"
    return ""


_Norm = cudnnBackendNormMode_t
_LAYERS = (_Norm.CUDNN_LAYER_NORM, _Norm.CUDNN_RMS_NORM)


def _lacks_epsilon(graph: Graph) -> str:
    for node in graph.of("norm_forward"):
        infers = node.options["phase"] == cudnnBackendNormFwdPhase_t.CUDNN_NORM_FWD_INFERENCE
        of_instances = node.options["mode"] == _Norm.CUDNN_INSTANCE_NORM
        if infers and of_instances and "epsilon" not in node.inputs:
            return f"{node} without epsilon; give it one, also with mean and inv_variance"
    return ""


def _quantizes_an_adaptive_norm(graph: Graph) -> str:
    for node in graph.of("norm_forward"):
        if node.options["mode"] == _Norm.CUDNN_ADA_LAYER_NORM:
            for other in using(list(graph.of("block_scale_quantize")), node):
                return f"{node} and {other}; {_TWO}"
    return ""


def _derives_beside_a_norm(graph: Graph) -> str:
    norms = [node for node in graph.of("norm_forward") if node.options["mode"] in _LAYERS]
    derivatives = [node for node in graph.of("pointwise") if "dy" in node.inputs]
    for nodes, others in ((derivatives, norms), (norms, derivatives)):
        for before in nodes:
            for node in using(others, before):
                return f"{before} before {node}; {_TWO}"
    return ""


def _fuses_a_filter_gradient(graph: Graph) -> str:
    for node in graph.of("convolution_backward_filter") if graph.single is None else ():
        if any(tensor.data_type == _FLOAT for tensor in (*node.operands, *node.results)):
            return f"{node} in float32 beside {next(e for e in graph.nodes if e is not node)}"
    return ""


def _fatal(
    name: str,
    where: Callable[[Graph], str],
    evidence: str,
    capabilities: tuple[int, ...] = _AMPERE_ON,
    *,
    since: int = 91400,
    repaired: int | None = None,
    modes: tuple[str, ...] = (),
    beside_another: bool = False,
) -> Quirk:
    return Quirk(
        name,
        _ENDS,
        where,
        evidence,
        since,
        capabilities,
        repaired,
        modes=modes,
        beside_another=beside_another,
    )


FATAL = (
    _fatal(
        "product of a convolution",
        _multiplies_a_convolution,
        "SIGSEGV, 9.14, 9.19 and 9.28, in all modes, types and layouts, also with element-wise "
        "operations, a reduction, pooling or another convolution between; not with a norm between, "
        "nor with two products",
    ),
    _fatal(
        "product beside experts",
        _multiplies_beside_experts,
        "SIGSEGV, 9.19 and 9.28, in all modes and types, connected or not; not with two products",
        since=91900,
    ),
    _fatal(
        "element-wise operation before the gradient of a filter",
        _prepares_a_filter_gradient,
        "SIGSEGV, 9.14, 9.19 and 9.28 for a B200, in the modes a and b: relu, add, mul, or relu of "
        "one of the two, and nothing else; mul, add and relu together have no engine there; other "
        "GPUs have engines for some of these graphs",
        (100,),
    ),
    _fatal(
        "index of pooling within the graph",
        _uses_an_index,
        "SIGSEGV, 9.14, 9.19 and 9.28, in all modes, channels last; where the index is an output "
        "too, there are engines",
        _TURING_ON,
    ),
    _fatal(
        "largest magnitude before attention",
        scales_attention_by_a_maximum,
        "SIGSEGV, 9.14, 9.19 and 9.28: as bias and as scale",
    ),
    _fatal(
        "largest magnitude joined with attention's result",
        joins_a_maximum,
        "SIGSEGV, 9.14, 9.19 and 9.28, in all types: that of an input, within the graph, joined "
        "with o or with amax_s or amax_o of 8-bit attention; not where it is of a result",
    ),
    _fatal(
        "largest magnitude of attention's result within the graph",
        uses_the_maximum_of_o,
        "SIGSEGV or SIGABRT, 9.14 and 9.19, not in every process; 9.28 has engines",
        (90, 100),
        repaired=92800,
    ),
    _fatal(
        "largest magnitude of attention's result within the graph, RTX 5090",
        uses_the_maximum_of_o,
        "SIGSEGV, 9.19; 9.14 and 9.28 have engines",
        (120,),
        since=91900,
        repaired=92800,
    ),
    _fatal(
        "final statistics as keys",
        attends_to_final_statistics,
        "SIGSEGV, 9.14 and 9.19, float32, all results of bn_finalize; in 16 bits, and in 9.28, "
        "there is no engine",
        repaired=92800,
    ),
    _fatal(
        "gradient of a filter before attention's backward pass",
        derives_from_a_filter_gradient,
        "SIGSEGV, 9.19 for a B200, in the modes a and b: the gradient is an output and any operand "
        "of sdpa_unified_backward; 9.28 has no engine",
        (100,),
        since=91900,
        repaired=92800,
    ),
    _fatal(
        "boolean result of attention",
        gives_booleans(2, 5),
        "SIGFPE, 9.14, 9.19 and 9.28; an A100 and an RTX 4090 have engines",
        (90, 100),
    ),
    _fatal(
        "boolean result of attention's forward pass",
        gives_booleans(2),
        "SIGFPE, 9.19 and 9.28 for an RTX 5090, which has engines for the backward pass",
        (120,),
        since=91900,
    ),
    _fatal(
        "boolean operand of attention",
        takes_booleans(2),
        "SIGFPE, 9.14 and 9.19: a mask in score_mod, or an operation on o; 9.28 has engines",
        repaired=92800,
    ),
    _fatal(
        "boolean operand of attention's backward pass",
        takes_booleans(5),
        "SIGFPE, 9.14, 9.19 and 9.28: a mask in score_mod, or an operation on a gradient",
    ),
    _fatal(
        "product added to a gradient of attention",
        adds_a_product_to_a_gradient,
        "SIGSEGV, 9.14, 9.19 and 9.28: the product of two inputs, if its uid is larger than that "
        "of dO * o",
    ),
    _fatal(
        "product for o of attention's backward pass",
        multiplies_for_o,
        "SIGABRT or SIGSEGV, 9.14, 9.19 and 9.28: o is computed in the graph by mul; for an A100 "
        "not in every process",
    ),
    _fatal(
        "scattered heads in attention's backward pass",
        scatters_heads,
        "SIGSEGV, 9.14, 9.19 and 9.28, for q, k, v and dO; other GPUs have engines",
        (90, 100),
    ),
    _fatal(
        "instance norm without epsilon",
        _lacks_epsilon,
        "SIGSEGV, 9.19 and 9.28, in all modes; 9.14 refuses it itself, and with an epsilon there "
        "are engines",
        _TURING_ON,
        since=91900,
    ),
    _fatal(
        "adaptive norm in blocks",
        _quantizes_an_adaptive_norm,
        "SIGSEGV, 9.19 and 9.28; the mode fallback has engines for a B200 and an RTX 5090",
        _TURING_ON,
        since=91900,
        modes=("a", "b", "instant"),
    ),
    _fatal(
        "derivative beside a norm",
        _derives_beside_a_norm,
        "SIGSEGV, 9.14 and 9.19, in all modes: relu_backward and gelu_backward before and after "
        "layer and RMS norm; 9.28 has no engine",
        _TURING_ON,
        repaired=92800,
    ),
    _fatal(
        "fused gradient of a filter in float32",
        _fuses_a_filter_gradient,
        "SIGFPE, 9.14 for an RTX 5090, before and after the gradient; 9.19 and 9.28 have engines",
        (120,),
        repaired=91900,
    ),
    _fatal(
        "convolution for a Blackwell GPU beside another",
        _convolves,
        "SIGSEGV, 9.14 and 9.19 for CUDA 13 on a machine with an H200, asked about a B200 and the "
        "forward operation: in the modes a and b, and without them in `explain`. Where no GPU is "
        "visible it answers",
        (100,),
        beside_another=True,
    ),
)
