"""Graphs that are known to end the process: what spares an unguarded build the warden's death.

The set of such graphs is open, and these rows do not close it: the warden does (`backend.warden`).
They are a cache of what it finds that travels with the package, for builds in this process, on
versions and GPUs where it was asked. ``python -m tools.fuzz pairs`` found them without a GPU; a new
row is worth its lines only for a graph that programs build.

Unless a range has modes, the heuristics modes a and b end the process, or compiling what they
propose does, and the mode fallback has no engine that compiles: a refusal takes nothing away.
Ranges are what ``python -m tools.fuzz rows`` told of every minor release from 9.8 to 9.28 (of most,
where it shows in some processes only), and of the patch releases where one differs from the next.
Before 9.8 no GPU can be meant that is absent. Up to 9.12 the mode fallback has no engine for
attention.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from ....raw import (
    cudnnBackendNormFwdPhase_t,
    cudnnBackendNormMode_t,
    cudnnDataType_t,
    cudnnPointwiseMode_t,
    cudnnReduceTensorOp_t,
)
from ....raw.faults.rows import rows
from ...describe.node import Node, exchanged
from ...describe.tensor import Tensor
from .view import Graph, in_order, using

_BOOLEAN, _FLOAT = cudnnDataType_t.CUDNN_DATA_BOOLEAN, cudnnDataType_t.CUDNN_DATA_FLOAT
_Mode, _Norm = cudnnPointwiseMode_t, cudnnBackendNormMode_t
_ADD, _MUL = _Mode.CUDNN_POINTWISE_ADD, _Mode.CUDNN_POINTWISE_MUL
_RELU = _Mode.CUDNN_POINTWISE_RELU_FWD
_CONVOLUTIONS = ("convolution_forward", "convolution_backward_data", "convolution_backward_filter")
_WGRAD = _CONVOLUTIONS[2]


def _products(graph: Graph, *counts: int) -> list[Node]:
    """The matrix products, if they are so many: attention has two forward and five backward."""
    found = graph.of("matmul")
    return found if len(found) in counts else []


def _leading(graph: Graph, nodes: Iterable[Node], targets: Sequence[Node]) -> str:
    """The first of `nodes` whose result one of the targets depends on, in words."""
    for node in nodes if targets else ():
        later = graph.after([node])
        for each in targets:
            if each in later:
                return f"{node} before {each}"
    return ""


def _before_attention(graph: Graph, nodes: Iterable[Node]) -> str:
    products = _products(graph, 2)
    of_attention = graph.after(products)
    return _leading(graph, [each for each in nodes if each not in of_attention], products)


def _maxima(graph: Graph) -> list[Node]:
    """The reductions to largest magnitudes; in memory only float32 ones: cuDNN refuses others."""
    found = graph.of("reduction", mode=cudnnReduceTensorOp_t.CUDNN_REDUCE_TENSOR_AMAX)
    results = [(node, node.outputs["y"]) for node in found]
    return [node for node, y in results if y.virtual or y.data_type == _FLOAT]


def _joins_a_maximum(graph: Graph) -> str:
    """The largest magnitude of an input, and what attention gives, in one operation."""
    products = _products(graph, 2)
    of_attention = graph.after(products)
    for node in _maxima(graph):
        later = graph.after([node])
        if node in of_attention or node.inputs["input"].virtual:
            continue
        for each in later:
            if each in of_attention and not any(product in later for product in products):
                return f"{node} before {each}, which uses what {products[-1]} gives"
    return ""


def _multiplies_a_softmax(graph: Graph) -> str:
    """Attention has a softmax of its own, after its first product."""
    softmax = graph.of("softmax")
    return _before_attention(graph, [node for node in softmax if not node.outputs["y"].virtual])


def _derives_from_a_filter_gradient(graph: Graph) -> str:
    stored = [
        node
        for node in graph.of(_WGRAD)
        if not all(tensor.virtual for tensor in node.outputs.values())
    ]
    return in_order(stored, graph.of("sdpa_bwd"))


def _makes_keys(kind: str, graph: Graph) -> str:
    """Operations of a kind that make keys or values; as queries their results have engines."""
    for node in graph.of(kind):
        for product in _products(graph, 2):
            b = product.inputs["B"]
            if b.virtual and any(b is each for each in node.outputs.values()):
                return f"{node} before {product} of attention, of which it makes {b.name!r}"
    return ""


def _draws_from_a_fixed_seed(graph: Graph) -> str:
    """Random numbers beside attention or in it, as for a dropout; a tensor as seed has engines."""
    products = _products(graph, 2, 5)
    for node in graph.of("rng") if products else ():
        if "seed" not in node.inputs:
            return f"{node} beside {products[0]} of attention"
    return ""


def _parts(graph: Graph) -> tuple[list[Node], list[Node], list[Node]]:
    """The products of attention, what uses o, dk or dv, and what uses dq, which lies in memory:
    another kernel carries that out.
    """
    products = _products(graph, 2, 5)
    later = {id(node): graph.after([node]) for node in products}
    last = [node for node in products if not any(each in products for each in later[id(node)])]
    in_memory = [node for node in last if not node.outputs["C"].virtual]
    fused = graph.after([node for node in last if node not in in_memory])
    return products, fused, [node for node in graph.after(in_memory) if node not in fused]


def _is_float32(products: Sequence[Node]) -> bool:
    """An A100, an RTX 4090 and a B200 have engines for attention on float32."""
    return any(node.inputs["A"].data_type == _FLOAT for node in products[:1])


def _in_memory(tensors: Iterable[Tensor]) -> list[Tensor]:
    return [each for each in tensors if each.data_type == _BOOLEAN and not each.virtual]


def _gives_booleans(counts: tuple[int, ...], graph: Graph) -> str:
    products, fused, _ = _parts(graph)
    if len(products) in counts and not _is_float32(products):
        for node in fused:
            if _in_memory(node.outputs.values()):
                return f"{node} of a result of {products[-1]} gives booleans"
    return ""


def _takes_booleans(count: int, graph: Graph) -> str:
    products, _, apart = _parts(graph)
    for node in graph.of("pointwise") if len(products) == count else ():
        for tensor in _in_memory(node.operands) if node not in apart else ():
            return f"{node} in attention: {tensor.name!r} has booleans in memory"
    return ""


def _adds_a_product_to_a_gradient(graph: Graph) -> str:
    """cuDNN goes by unique ids, and takes this product for that of dO and o."""
    products, fused, _ = _parts(graph)
    if len(products) != 5:
        return ""
    of_products = {id(node) for node in (*products, *graph.after(products))}
    first = min((each.inputs["input"].uid or 0 for each in graph.of("reduction")), default=0)
    factors = (
        node
        for node in graph.of("pointwise", mode=_MUL)
        if id(node) not in of_products and (node.outputs["y"].uid or 0) > first
    )
    return in_order(list(factors), fused)


def _computes_o(mode: cudnnPointwiseMode_t | None, graph: Graph) -> str:
    """cuDNN takes the operation that makes o for the product of dO and o.

    Matrix products use dO, also in memory.
    """
    matmuls = _products(graph, 5)
    later = graph.after(matmuls)
    for each in graph.of("pointwise", mode=_MUL) if matmuls else ():
        if each in later or not using(graph.of("reduction"), each):
            continue
        for node in graph.of("pointwise", mode=mode):
            within = all(tensor.virtual for tensor in node.outputs.values())
            if using([each], node) and (within or not using(matmuls, node)):
                return f"{node} before {each}, of which it makes an operand"
    return ""


def _scattered(
    node: Node,
    tensor: Tensor,
    beside: object = "another product",
    *,
    transposed: bool = False,
    axis: int = -1,
) -> str:
    """The operand, if the heads of attention do not lie together in it; "" if they do."""
    dims, strides = tensor.dims or (1,), tensor.strides or (1,)
    if transposed:
        dims, strides = exchanged(dims), exchanged(strides)
    if len(dims) < -axis or dims[axis] == 1 or strides[axis] == 1:
        return ""
    return (
        f"{node}: {node.argument(tensor)} {tensor.dims} must have stride 1 along its heads, next "
        f"to {beside}; its strides are {tensor.strides}"
    )


def _multiplies_scattered_heads(graph: Graph) -> str:
    """Two products that are no attention have engines."""
    products = _products(graph, 2)
    sums = [node for node in graph.of("reduction") if node in graph.after(products[:1])]
    for node in products if sums and products[1] in graph.after(sums) else ():
        for port in "AB":
            tensor, k = node.inputs[port], node is products[0] and port == "B"
            if tensor.virtual or tensor.rank < 2:
                continue
            transposed = port in node.transposed
            if told := _scattered(node, tensor, transposed=transposed, axis=-2 if k else -1):
                return told
    return ""


def _scatters_pages(graph: Graph) -> str:
    """Whoever uses the pages."""
    products = _products(graph, 2)
    loads = graph.of("paged_cache_load") if products and not _is_float32(products) else ()
    return next(
        filter(None, (_scattered(node, node.inputs["container"], products[0]) for node in loads)),
        "",
    )


def _scatters_heads(graph: Graph) -> str:
    products = _products(graph, 5)
    stored = ((node, each) for node in products for each in node.operands if not each.virtual)
    return next(filter(None, (_scattered(*each) for each in stored)), "")


def _derives_from_one_row(graph: Graph) -> str:
    for node in graph.as_written("sdpa_backward"):
        if node.inputs["stats"].dims == (1, 1, 1, 1):
            return f"{node} of one query, with one head and a batch of 1"
    return ""


def _multiplies_a_convolution(graph: Graph) -> str:
    products = _products(graph, 1)
    for node in graph.of(*_CONVOLUTIONS) if products else ():
        if products[0] in graph.after([node], through_norms=False):
            return f"{node} and {products[0]}, which uses its result"
    return ""


def _multiplies_a_signal(graph: Graph) -> str:
    """The signal's result as the second operand, which has no engine."""
    for product in graph.of("matmul"):
        for node in graph.of("signal"):
            if node.outputs["y"] is product.inputs["A"]:
                return f"{node} before {product}, of which it makes A"
    return ""


def _beside(nodes: Sequence[Node], others: Sequence[Node]) -> str:
    return f"{nodes[0]} and {others[0]} in one graph" if nodes and others else ""


_BEFORE_WGRAD = ((_RELU,), (_ADD,), (_MUL,), (_ADD, _RELU), (_MUL, _RELU))


def _prepares_a_filter_gradient(graph: Graph) -> str:
    *before, node = graph.nodes
    if (
        node.kind.descriptor != f"operation_{_WGRAD}"
        or any(each.kind.descriptor != "operation_pointwise" for each in before)
        or tuple(each.options.get("mode") for each in before) not in _BEFORE_WGRAD
    ):
        return ""
    for each, user in zip(before, graph.nodes[1:], strict=True):
        (y,) = each.outputs.values()
        if not y.virtual or not any(y is operand for operand in user.operands):
            return ""
    return f"{' and '.join(map(str, before))} before {node}, without another operation"


def _uses_an_index(graph: Graph) -> str:
    for node in graph.of("resample_fwd"):
        index, strides = node.outputs.get("index"), node.inputs["input"].strides
        if index is None or not index.virtual or strides is None or strides[1] != 1:
            continue
        for other in graph.of("pointwise", "reduction"):
            if any(index is operand for operand in other.operands):
                return f"{node} and {other}, which uses its index {index.name!r}"
    return ""


def _lacks_epsilon(graph: Graph) -> str:
    for node in graph.of("norm_forward", mode=_Norm.CUDNN_INSTANCE_NORM):
        infers = node.options["phase"] == cudnnBackendNormFwdPhase_t.CUDNN_NORM_FWD_INFERENCE
        if infers and "epsilon" not in node.inputs:
            return f"{node} without epsilon"
    return ""


def _norms(graph: Graph) -> list[Node]:
    layers = (_Norm.CUDNN_LAYER_NORM, _Norm.CUDNN_RMS_NORM, _Norm.CUDNN_ADA_LAYER_NORM)
    return [node for node in graph.of("norm_forward") if node.options["mode"] in layers]


def _quantizes_a_norm_of_rows(graph: Graph) -> str:
    """Tensors of three dimensions; of two or four there are engines."""
    norms = [node for node in _norms(graph) if len(graph.dims(node.inputs["input"])) == 3]
    return in_order(norms, graph.of("block_scale_quantize"))


def _derives_beside_a_norm(graph: Graph) -> str:
    norms = _norms(graph)
    derivatives = [node for node in graph.of("pointwise") if "dy" in node.inputs]
    return in_order(derivatives, norms) or in_order(norms, derivatives)


def _fuses_a_filter_gradient(graph: Graph) -> str:
    for node in graph.of(_WGRAD) if len(graph.nodes) > 1 else ():
        if node.inputs["loss"].data_type == _FLOAT:
            return f"{node} in float32 beside {next(each for each in graph.nodes if each != node)}"
    return ""


def _convolves(graph: Graph) -> str:
    nodes = graph.of(*_CONVOLUTIONS)
    return f"{nodes[0]} for a GPU that is not here, beside one that is" if nodes else ""


_WHERE: dict[str, Callable[[Graph], str]] = {
    "product of a convolution": _multiplies_a_convolution,
    "product of a signal": _multiplies_a_signal,
    "product beside experts": lambda graph: _beside(
        graph.of("moe_grouped_matmul"), _products(graph, 1)
    ),
    "element-wise operation before the gradient of a filter": _prepares_a_filter_gradient,
    "relu before the gradient of a filter": lambda graph: in_order(
        graph.of("pointwise", mode=_RELU), graph.of(_WGRAD)
    ),
    "index of pooling within the graph": _uses_an_index,
    "concatenation beside pooling": lambda graph: _beside(
        graph.of("concat"), graph.of("resample_fwd", "resample_bwd")
    ),
    "instance norm without epsilon": _lacks_epsilon,
    "adaptive norm in blocks": lambda graph: in_order(
        graph.of("norm_forward", mode=_Norm.CUDNN_ADA_LAYER_NORM), graph.of("block_scale_quantize")
    ),
    "norm of three dimensions in blocks": _quantizes_a_norm_of_rows,
    "derivative beside a norm": _derives_beside_a_norm,
    "fused gradient of a filter in float32": _fuses_a_filter_gradient,
    "convolution for a Blackwell GPU beside another": _convolves,
    "largest magnitude before attention": lambda graph: _leading(
        graph, _maxima(graph), graph.of("matmul") if len(graph.of("matmul")) > 1 else ()
    ),
    "largest magnitude joined with attention's result": _joins_a_maximum,
    "largest magnitude of attention's result": lambda graph: in_order(
        _products(graph, 2)[-1:], _maxima(graph)
    ),
    "final statistics as keys": partial(_makes_keys, "bn_finalize_statistics"),
    "gradient of a filter before attention's backward pass": _derives_from_a_filter_gradient,
    "gradient of attention before attention": partial(_makes_keys, "sdpa_bwd"),
    "random numbers of a fixed seed beside attention": _draws_from_a_fixed_seed,
    "softmax before attention": _multiplies_a_softmax,
    "band mask before attention": lambda graph: _before_attention(  # scores can be masked alike
        graph, graph.of("diagonal_band_mask")
    ),
    "boolean result of attention": partial(_gives_booleans, (2, 5)),
    "boolean result of attention's forward pass": partial(_gives_booleans, (2,)),
    "boolean operand of attention": partial(_takes_booleans, 2),
    "boolean operand of attention's backward pass": partial(_takes_booleans, 5),
    "product added to a gradient of attention": _adds_a_product_to_a_gradient,
    "operation for o of attention's backward pass": partial(_computes_o, None),
    "product for o of attention's backward pass": partial(_computes_o, _MUL),
    "scattered heads": _multiplies_scattered_heads,
    "scattered pages beside attention": _scatters_pages,
    "gradient of one row of scores": _derives_from_one_row,
    "scattered heads in attention's backward pass": _scatters_heads,
}
FATAL = rows(Path(__file__).with_name("fatal.json"), _WHERE)
