"""Attention on which cuDNN ends the process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ....raw import cudnnDataType_t, cudnnPointwiseMode_t, cudnnReduceTensorOp_t
from ....raw.faults import Range
from ...describe.node import Node, exchanged
from .fatal import ALL_BUT_FALLBACK, AMPERE_ON, fatal
from .view import Graph, using

__all__ = ["FATAL_ATTENTION"]

_BOOLEAN = cudnnDataType_t.CUDNN_DATA_BOOLEAN
_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT
_MUL = cudnnPointwiseMode_t.CUDNN_POINTWISE_MUL
_TOGETHER = "store what belongs to a head together"
_BESIDE = "build two graphs: one makes a bias of the mask before, or works on the result after"


def _maxima(graph: Graph) -> Iterator[Node]:
    """The reductions to largest magnitudes; in memory only float32 ones: cuDNN refuses others."""
    for node in graph.of("reduction", mode=cudnnReduceTensorOp_t.CUDNN_REDUCE_TENSOR_AMAX):
        y = node.outputs["y"]
        if y.virtual or y.data_type == _FLOAT:
            yield node


def _scales_attention_by_a_maximum(graph: Graph) -> str:
    products = graph.of("matmul")
    if len(products) < 2:
        return ""
    for node in _maxima(graph):
        used = [each for each in graph.after([node]) if each in products]
        if used:
            return f"{node} before {used[0]} of attention"
    return ""


def _joins_a_maximum(graph: Graph) -> str:
    """The largest magnitude of an input, and what attention gives, in one operation."""
    products = graph.of("matmul")
    of_attention = graph.after(products) if len(products) == 2 else []
    for node in _maxima(graph):
        later = graph.after([node])
        if node in of_attention or node.inputs["input"].virtual:
            continue
        for each in later:
            if each in of_attention and not any(product in later for product in products):
                return f"{node} before {each}, which uses what {products[-1]} gives"
    return ""


def _reduces_o_to_its_maximum(graph: Graph) -> str:
    products = graph.of("matmul")
    for node in _maxima(graph) if len(products) == 2 else ():
        if node.inputs["input"] is products[-1].outputs["C"]:
            return f"{node} of what {products[-1]} gives"
    return ""


def _multiplies_a_band(graph: Graph) -> str:
    """The scores of attention can be masked in the same way."""
    return _before_attention(graph, graph.of("diagonal_band_mask"))


def _multiplies_a_softmax(graph: Graph) -> str:
    """Attention has a softmax of its own, after its first product."""
    stored = (each for each in graph.of("softmax") if not each.outputs["y"].virtual)
    return _before_attention(graph, stored)


def _before_attention(graph: Graph, nodes: Iterable[Node]) -> str:
    """The first of these nodes whose result an operand of attention depends on."""
    products = graph.of("matmul")
    of_attention = graph.after(products) if len(products) == 2 else []
    for node in nodes if len(products) == 2 else ():
        later = [] if node in of_attention else graph.after([node])
        for product in products:
            if product in later:
                return f"{node} before {product} of attention"
    return ""


def _derives_from_a_filter_gradient(graph: Graph) -> str:
    for node in graph.of("convolution_backward_filter"):
        for each in using(graph.of("sdpa_bwd"), node):
            if not all(tensor.virtual for tensor in node.outputs.values()):
                return f"{node} before {each}, with its result in memory"
    return ""


def _attends_to_gradients(graph: Graph) -> str:
    """Gradients within the graph as keys or values; as queries they have engines."""
    for node, product in _making_keys(graph, "sdpa_bwd"):
        name = product.inputs["B"].name
        return f"{node} before {product} of attention, of which it makes {name!r}"
    return ""


def _draws_from_a_fixed_seed(graph: Graph) -> str:
    """Random numbers beside attention or in it, as for a dropout; a tensor as seed has engines."""
    products = graph.of("matmul")
    for node in graph.of("rng") if len(products) in (2, 5) else ():
        if "seed" not in node.inputs:
            return f"{node} beside {products[0]} of attention"
    return ""


def _attends_to_final_statistics(graph: Graph) -> str:
    for node, product in _making_keys(graph, "bn_finalize_statistics"):
        return f"{node} before {product}, of which it makes the keys"
    return ""


def _making_keys(graph: Graph, kind: str) -> Iterator[tuple[Node, Node]]:
    """Operations of a kind, and the products of attention for which they make keys or values."""
    products = graph.of("matmul")
    for node in graph.of(kind) if len(products) == 2 else ():
        for product in products:
            b = product.inputs["B"]
            if b.virtual and any(b is each for each in node.outputs.values()):
                yield node, product


def _attention(graph: Graph) -> tuple[list[Node], list[Node], list[Node]]:
    """The products of attention (two forward, five backward, else none are given), what uses o, dk
    or dv, and what uses dq, which lies in memory: another kernel carries that out.
    """
    products = graph.of("matmul")
    if len(products) not in (2, 5):
        return [], [], []
    later = {id(node): graph.after([node]) for node in products}
    last = [node for node in products if not any(each in products for each in later[id(node)])]
    in_memory = [node for node in last if not node.outputs["C"].virtual]
    fused = graph.after([node for node in last if node not in in_memory])
    return products, fused, [node for node in graph.after(in_memory) if node not in fused]


def _gives_booleans(*counts: int) -> Callable[[Graph], str]:
    """The predicate for attention with one of these numbers of matrix products."""

    def where(graph: Graph) -> str:
        products, fused, _ = _attention(graph)
        if len(products) not in counts or _is_float32(products[0]):
            return ""
        for node in fused:
            for tensor in node.outputs.values():
                if tensor.data_type == _BOOLEAN and not tensor.virtual:
                    return f"{node} of a result of {products[-1]} gives booleans"
        return ""

    return where


def _is_float32(product: Node) -> bool:
    """An A100, an RTX 4090 and a B200 have engines for attention on float32."""
    return bool(product.inputs["A"].data_type == _FLOAT)


def _takes_booleans(count: int) -> Callable[[Graph], str]:
    """Attention with so many products and a boolean tensor in memory."""

    def where(graph: Graph) -> str:
        products, _, apart = _attention(graph)
        for node in graph.of("pointwise") if len(products) == count else ():
            for tensor in node.operands if node not in apart else ():
                if tensor.data_type == _BOOLEAN and not tensor.virtual:
                    return f"{node} in attention: {tensor.name!r} has booleans in memory"
        return ""

    return where


def _adds_a_product_to_a_gradient(graph: Graph) -> str:
    """cuDNN goes by unique ids, and takes this product for that of dO and o."""
    products, fused, _ = _attention(graph)
    if len(products) != 5:
        return ""
    of_products = {id(node) for node in (*products, *graph.after(products))}
    first = min((each.inputs["input"].uid or 0 for each in graph.of("reduction")), default=0)
    for node in graph.of("pointwise", mode=_MUL):
        if id(node) not in of_products and (node.outputs["y"].uid or 0) > first:
            for other in using(fused, node):
                return f"{node} and {other}, which adds it to a gradient"
    return ""


def _multiplies_for_o(graph: Graph) -> str:
    """cuDNN takes the operation that makes o for the product of dO and o."""
    return _operation_for_o(graph, graph.of("pointwise", mode=_MUL))


def _computes_o(graph: Graph) -> str:
    return _operation_for_o(graph, graph.of("pointwise"))


def _operation_for_o(graph: Graph, operations: list[Node]) -> str:
    """The first of these operations that makes o; matrix products use dO, also in memory."""
    matmuls = graph.of("matmul")
    if len(matmuls) != 5:
        return ""
    later = graph.after(matmuls)
    for row in (
        node for node in graph.of("pointwise", mode=_MUL) if using(graph.of("reduction"), node)
    ):
        for node in operations if row not in later else ():
            within = all(each.virtual for each in node.outputs.values())
            if using([row], node) and (within or not using(matmuls, node)):
                return f"{node} before {row}, of which it makes an operand"
    return ""


def _multiplies_scattered_heads(graph: Graph) -> str:
    """Attention whose heads do not lie together in memory; two other products have engines."""
    products = graph.of("matmul")
    sums = [node for node in graph.of("reduction") if node in graph.after(products[:1])]
    attends = len(products) == 2 and products[1] in graph.after(sums)
    for node in products if attends else ():
        for port in "AB":
            tensor = node.inputs[port]
            if tensor.virtual or tensor.rank < 2:
                continue
            seen = [
                exchanged(values) if port in node.transposed else values
                for values in (tensor.dims or (), tensor.strides or ())
            ]
            transposed = node is products[0] and port == "B"  # k
            size, stride = (each[-2 if transposed else -1] for each in seen)
            if size > 1 and stride != 1:
                return (
                    f"{node}: {node.argument(tensor)} {tensor.dims} must have stride 1 along its "
                    f"heads, next to another product; its strides are {tensor.strides}"
                )
    return ""


def _scatters_pages(graph: Graph) -> str:
    """Pages whose heads do not lie together, beside attention on 16 bits, whoever uses them."""
    products = graph.of("matmul")
    if len(products) != 2 or _is_float32(products[0]):
        return ""
    for node in graph.of("paged_cache_load"):
        pages = node.inputs["container"]
        dims, strides = pages.dims or (1,), pages.strides or (1,)
        if dims[-1] > 1 and strides[-1] != 1:
            return (
                f"{node}: {node.argument(pages)} {pages.dims} must have stride 1 along its heads, "
                f"next to {products[0]}; its strides are {pages.strides}"
            )
    return ""


def _scatters_heads(graph: Graph) -> str:
    products = graph.of("matmul")
    for node in products if len(products) == 5 else ():
        for tensor in node.operands:
            dims, strides = tensor.dims or (1,), tensor.strides or (1,)
            if not tensor.virtual and dims[-1] > 1 and strides[-1] != 1:
                return f"{node}: {tensor.name!r} must have stride 1 along its heads, not {strides}"
    return ""


def _derives_from_one_row(graph: Graph) -> str:
    for node in graph.as_written("sdpa_backward"):
        if node.inputs["stats"].dims == (1, 1, 1, 1):
            return f"{node} of one query, with one head and a batch of 1"
    return ""


FATAL_ATTENTION = (
    fatal(
        "largest magnitude before attention",
        "reduction sdpa",
        _scales_attention_by_a_maximum,
        "SIGSEGV: as bias and as scale, within the graph and, in float32, in memory",
    ),
    fatal(
        "largest magnitude joined with attention's result",
        "reduction sdpa sdpa_fp8",
        _joins_a_maximum,
        "SIGSEGV in all types: that of an input, within the graph or, in float32, in memory, "
        "joined with o or with amax_s or amax_o of 8-bit attention; not where it is of a result",
    ),
    fatal(
        "largest magnitude of attention's result",
        "reduction sdpa",
        _reduces_o_to_its_maximum,
        "SIGSEGV or SIGABRT, within the graph and, in float32, in memory; for a B200 and an RTX "
        "5090 up to 9.16, and in 9.28, while an engine is compiled. Before 9.15 an RTX 5090 has "
        "engines, which do not compile",
        Range(90800, (90, 100), sometimes=True),
        Range(91500, (120,)),
    ),
    fatal(
        "final statistics as keys",
        "bn_finalize sdpa",
        _attends_to_final_statistics,
        "SIGSEGV, float32, all results of bn_finalize; in 16 bits, and from 9.23 on, there is no "
        "engine",
        Range(90900, AMPERE_ON, 92300),
    ),
    fatal(
        "gradient of a filter before attention's backward pass",
        "conv_wgrad sdpa_unified_backward",
        _derives_from_a_filter_gradient,
        "SIGSEGV in the modes a and b: the gradient is an output and any operand of "
        "sdpa_unified_backward; from 9.21 on there is no engine",
        Range(91700, (100,), 92100),
    ),
    fatal(
        "gradient of attention before attention",
        "sdpa_unified_backward sdpa",
        _attends_to_gradients,
        "SIGSEGV in all modes: any result of sdpa_unified_backward, within the graph, as k or v; "
        "as q, or as an output too, it has engines; from 9.21 on there is none",
        Range(91700, AMPERE_ON, 92100),
        remedy="make the gradient an output",
    ),
    fatal(
        "random numbers of a fixed seed beside attention",
        "rng sdpa sdpa_backward",
        _draws_from_a_fixed_seed,
        "SIGSEGV, also within attention, as its dropout, and beside its backward pass; with a "
        "tensor as seed there are engines, and from 9.23 on there is none",
        Range(90800, (100,), 92300),
        remedy="give the seed as a tensor",
    ),
    fatal(
        "softmax before attention",
        "softmax sdpa",
        _multiplies_a_softmax,
        "SIGSEGV, in 9.28 while an engine is compiled: a result of the operation softmax that is "
        "also an output, as q, k or v",
        Range(92000, AMPERE_ON),
    ),
    fatal(
        "band mask before attention",
        "diagonal_band_mask sdpa",
        _multiplies_a_band,
        "SIGSEGV while an engine is compiled: for q, k and v in float32; in 16 bits there is no "
        "engine",
        Range(92800, AMPERE_ON),
    ),
    fatal(
        "boolean result of attention",
        "sdpa sdpa_backward",
        _gives_booleans(2, 5),
        "SIGFPE; an A100 and an RTX 4090 have engines, which do not compile",
        Range(90800, (90, 100)),
    ),
    fatal(
        "boolean result of attention's forward pass",
        "sdpa",
        _gives_booleans(2),
        "SIGFPE for an RTX 5090, which has engines for the backward pass",
        Range(91500, (120,)),
    ),
    fatal(
        "boolean operand of attention",
        "sdpa",
        _takes_booleans(2),
        "SIGFPE, in 9.28 while an engine is compiled: a mask in score_mod, or an operation on o",
        Range(91300, AMPERE_ON),
        remedy=_BESIDE,
    ),
    fatal(
        "boolean operand of attention's backward pass",
        "sdpa_backward",
        _takes_booleans(5),
        "SIGFPE: a mask in score_mod, or an operation on a gradient",
        Range(91300, AMPERE_ON),
        remedy=_BESIDE,
    ),
    fatal(
        "product added to a gradient of attention",
        "sdpa_backward mul",
        _adds_a_product_to_a_gradient,
        "SIGSEGV: the product of two inputs, if its uid is larger than that of dO * o",
        Range(91300, AMPERE_ON),
        remedy="give the product a smaller uid",
    ),
    fatal(
        "operation for o of attention's backward pass",
        "sdpa_backward",
        _computes_o,
        "SIGABRT or SIGSEGV: o is computed in the graph by any pointwise operation",
        Range(90800, AMPERE_ON, 91300),
    ),
    fatal(
        "product for o of attention's backward pass",
        "sdpa_backward mul",
        _multiplies_for_o,
        "SIGABRT or SIGSEGV: o is computed in the graph by mul and may be an output; 9.25 and "
        "9.26 have engines",
        Range(91300, AMPERE_ON, 92501, sometimes=True),
        Range(92700, AMPERE_ON, sometimes=True),
    ),
    fatal(
        "scattered heads",
        "sdpa",
        _multiplies_scattered_heads,
        "SIGSEGV for q, k and v, for an H200 in 9.28 while an engine is compiled; an A100 and an "
        "RTX 4090 have engines, and so have a B200 in 9.28 and an RTX 5090 before 9.15 and in 9.28",
        Range(91000, (90,)),
        Range(91000, (100,), 92800),
        Range(91500, (120,), 92800),
        remedy=_TOGETHER,
    ),
    fatal(
        "scattered pages beside attention",
        "paged_cache_load sdpa",
        _scatters_pages,
        "SIGSEGV, for an H200 in 9.28 while an engine is compiled; an A100 and an RTX 4090 have "
        "engines, and all GPUs for float32; so have a B200 in 9.9 and 9.28 and an RTX 5090 before "
        "9.18 and in 9.28",
        Range(91500, (90,)),
        Range(91000, (100,), 92800),
        Range(91800, (120,), 92800),
        remedy=_TOGETHER,
    ),
    fatal(
        "gradient of one row of scores",
        "sdpa_backward",
        _derives_from_one_row,
        "SIGSEGV with any options; with two heads, a batch of 2 or two queries there are engines "
        "(cudnn-frontend 1071)",
        Range(92600, AMPERE_ON),
        versions="9.19 to 9.28",
        remedy="describe two queries, and say by seq_len_q that one counts",
    ),
    fatal(
        "scattered heads in attention's backward pass",
        "sdpa_backward",
        _scatters_heads,
        "SIGSEGV for q, k, v and dO; other GPUs have engines, and so has the mode fallback for a "
        "B200 in 9.13 and 9.14",
        Range(91000, (90,)),
        Range(91500, (100,)),
        Range(91000, (100,), 91500, ALL_BUT_FALLBACK),
        remedy=_TOGETHER,
    ),
)
