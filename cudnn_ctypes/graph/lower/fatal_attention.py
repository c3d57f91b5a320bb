"""Attention on which cuDNN ends the process: what the rows of `fatal_quirks` look for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ...raw import cudnnDataType_t, cudnnPointwiseMode_t, cudnnReduceTensorOp_t
from ..describe.node import Node, exchanged
from .quirk import Graph

__all__ = [
    "adds_a_product_to_a_gradient",
    "after",
    "attends_to_final_statistics",
    "attends_to_gradients",
    "computes_o",
    "derives_from_a_filter_gradient",
    "draws_from_a_fixed_seed",
    "gives_booleans",
    "joins_a_maximum",
    "multiplies_a_band",
    "multiplies_a_softmax",
    "multiplies_for_o",
    "multiplies_scattered_heads",
    "reduces_o_to_its_maximum",
    "scales_attention_by_a_maximum",
    "scatters_heads",
    "scatters_pages",
    "takes_booleans",
    "using",
]

_TWO = "build two graphs"
_BOOLEAN = cudnnDataType_t.CUDNN_DATA_BOOLEAN
_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT


def after(graph: Graph, nodes: Iterable[Node], *, through_norms: bool = True) -> list[Node]:
    """The operations that use results of `nodes`, at once or by way of others."""
    reached = {id(tensor) for node in nodes for tensor in node.outputs.values()}
    found = []
    for node in graph.nodes:
        if any(id(operand) in reached for operand in node.operands):
            found.append(node)
            if through_norms or node.kind.descriptor != "operation_norm_forward":
                reached |= {id(tensor) for tensor in node.outputs.values()}
    return found


def _maxima(graph: Graph) -> Iterator[Node]:
    """The reductions to largest magnitudes; in memory only float32 ones: cuDNN refuses others."""
    for node in graph.of("reduction"):
        y = node.outputs["y"]
        if node.options["mode"] == cudnnReduceTensorOp_t.CUDNN_REDUCE_TENSOR_AMAX and (
            y.virtual or y.data_type == _FLOAT
        ):
            yield node


def scales_attention_by_a_maximum(graph: Graph) -> str:
    products = list(graph.of("matmul"))
    if len(products) < 2:
        return ""
    for node in _maxima(graph):
        used = [each for each in after(graph, [node]) if each in products]
        if used:
            return f"{node} before {used[0]} of attention; {_TWO}"
    return ""


def joins_a_maximum(graph: Graph) -> str:
    """The largest magnitude of an input, and what attention gives, in one operation."""
    products = list(graph.of("matmul"))
    of_attention = after(graph, products) if len(products) == 2 else []
    for node in _maxima(graph):
        later = after(graph, [node])
        if node in of_attention or node.inputs["input"].virtual:
            continue
        for each in later:
            if each in of_attention and not any(product in later for product in products):
                return f"{node} before {each}, which uses what {products[-1]} gives; {_TWO}"
    return ""


def reduces_o_to_its_maximum(graph: Graph) -> str:
    products = list(graph.of("matmul"))
    for node in _maxima(graph) if len(products) == 2 else ():
        if node.inputs["input"] is products[-1].outputs["C"]:
            return f"{node} of what {products[-1]} gives; {_TWO}"
    return ""


def multiplies_a_band(graph: Graph) -> str:
    """The scores of attention can be masked in the same way."""
    return _before_attention(graph, graph.of("diagonal_band_mask"))


def multiplies_a_softmax(graph: Graph) -> str:
    """Attention has a softmax of its own, after its first product."""
    stored = (each for each in graph.of("softmax") if not each.outputs["y"].virtual)
    return _before_attention(graph, stored)


def _before_attention(graph: Graph, nodes: Iterable[Node]) -> str:
    """The first of these nodes whose result an operand of attention depends on."""
    products = list(graph.of("matmul"))
    of_attention = after(graph, products) if len(products) == 2 else []
    for node in nodes if len(products) == 2 else ():
        later = [] if node in of_attention else after(graph, [node])
        for product in products:
            if product in later:
                return f"{node} before {product} of attention; {_TWO}"
    return ""


def derives_from_a_filter_gradient(graph: Graph) -> str:
    for node in graph.of("convolution_backward_filter"):
        for each in using(list(graph.of("sdpa_bwd")), node):
            if not all(tensor.virtual for tensor in node.outputs.values()):
                return f"{node} before {each}, with its result in memory; {_TWO}"
    return ""


def attends_to_gradients(graph: Graph) -> str:
    """Gradients within the graph as keys or values; as queries they have engines."""
    for node, product in _making_keys(graph, "sdpa_bwd"):
        name = product.inputs["B"].name
        return f"{node} before {product} of attention; make {name!r} an output"
    return ""


def draws_from_a_fixed_seed(graph: Graph) -> str:
    """Random numbers beside attention or in it, as for a dropout; a tensor as seed has engines."""
    products = list(graph.of("matmul"))
    for node in graph.of("rng") if len(products) in (2, 5) else ():
        if "seed" not in node.inputs:
            return f"{node} beside {products[0]} of attention; give its seed as a tensor"
    return ""


def attends_to_final_statistics(graph: Graph) -> str:
    for node, product in _making_keys(graph, "bn_finalize_statistics"):
        return f"{node} before {product}, of which it makes the keys; {_TWO}"
    return ""


def _making_keys(graph: Graph, kind: str) -> Iterator[tuple[Node, Node]]:
    """Operations of a kind, and the products of attention for which they make keys or values."""
    products = list(graph.of("matmul"))
    for node in graph.of(kind) if len(products) == 2 else ():
        for product in products:
            b = product.inputs["B"]
            if b.virtual and any(b is each for each in node.outputs.values()):
                yield node, product


def _attention(graph: Graph) -> tuple[list[Node], list[Node], list[Node]]:
    """The products of attention (two forward, five backward, else none are given), what uses o, dk
    or dv, and what uses dq, which lies in memory: another kernel carries that out.
    """
    products = list(graph.of("matmul"))
    if len(products) not in (2, 5):
        return [], [], []
    later = {id(node): after(graph, [node]) for node in products}
    last = [node for node in products if not any(each in products for each in later[id(node)])]
    in_memory = [node for node in last if not node.outputs["C"].virtual]
    fused = after(graph, [node for node in last if node not in in_memory])
    return products, fused, [node for node in after(graph, in_memory) if node not in fused]


def gives_booleans(*counts: int) -> Callable[[Graph], str]:
    """The predicate for attention with one of these numbers of matrix products."""

    def where(graph: Graph) -> str:
        products, fused, _ = _attention(graph)
        if len(products) not in counts or _is_float32(products[0]):
            return ""
        for node in fused:
            for tensor in node.outputs.values():
                if tensor.data_type == _BOOLEAN and not tensor.virtual:
                    return f"{node} of a result of {products[-1]} gives booleans; {_TWO}"
        return ""

    return where


def _is_float32(product: Node) -> bool:
    """An A100, an RTX 4090 and a B200 have engines for attention on float32."""
    return bool(product.inputs["A"].data_type == _FLOAT)


def takes_booleans(count: int) -> Callable[[Graph], str]:
    """Attention with so many products and a boolean tensor in memory."""

    def where(graph: Graph) -> str:
        products, _, apart = _attention(graph)
        for node in graph.of("pointwise") if len(products) == count else ():
            for tensor in node.operands if node not in apart else ():
                if tensor.data_type == _BOOLEAN and not tensor.virtual:
                    return f"{node} in attention: {tensor.name!r} has booleans in memory"
        return ""

    return where


def adds_a_product_to_a_gradient(graph: Graph) -> str:
    """cuDNN goes by unique ids, and takes this product for that of dO and o."""
    products, fused, _ = _attention(graph)
    if len(products) != 5:
        return ""
    of_products = {id(node) for node in (*products, *after(graph, products))}
    first = min((each.inputs["input"].uid or 0 for each in graph.of("reduction")), default=0)
    for node in graph.of("pointwise"):
        if (
            node.options["mode"] == cudnnPointwiseMode_t.CUDNN_POINTWISE_MUL
            and id(node) not in of_products
            and (node.outputs["y"].uid or 0) > first
        ):
            for other in using(fused, node):
                return f"{node} and {other}, which adds it to a gradient; give it a smaller uid"
    return ""


def using(nodes: Sequence[Node], node: Node) -> list[Node]:
    results = {id(tensor) for tensor in node.outputs.values()}
    return [each for each in nodes if any(id(operand) in results for operand in each.operands)]


def multiplies_for_o(graph: Graph) -> str:
    """cuDNN takes the operation that makes o for the product of dO and o."""
    return _operation_for_o(graph, _products(graph))


def computes_o(graph: Graph) -> str:
    return _operation_for_o(graph, list(graph.of("pointwise")))


def _products(graph: Graph) -> list[Node]:
    multiply = cudnnPointwiseMode_t.CUDNN_POINTWISE_MUL
    return [node for node in graph.of("pointwise") if node.options["mode"] == multiply]


def _operation_for_o(graph: Graph, operations: list[Node]) -> str:
    """The first of these operations that makes o; matrix products use dO, also in memory."""
    matmuls = list(graph.of("matmul"))
    if len(matmuls) != 5:
        return ""
    later = after(graph, matmuls)
    for row in (node for node in _products(graph) if using(list(graph.of("reduction")), node)):
        for node in operations if row not in later else ():
            within = all(each.virtual for each in node.outputs.values())
            if using([row], node) and (within or not using(matmuls, node)):
                return f"{node} before {row}, of which it makes an operand; {_TWO}"
    return ""


def multiplies_scattered_heads(graph: Graph) -> str:
    """Attention whose heads do not lie together in memory; two other products have engines."""
    products = list(graph.of("matmul"))
    sums = [node for node in graph.of("reduction") if node in after(graph, products[:1])]
    attends = len(products) == 2 and products[1] in after(graph, sums)
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


def scatters_pages(graph: Graph) -> str:
    """Pages whose heads do not lie together, beside attention on 16 bits, whoever uses them."""
    products = list(graph.of("matmul"))
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


def scatters_heads(graph: Graph) -> str:
    products = list(graph.of("matmul"))
    for node in products if len(products) == 5 else ():
        for tensor in node.operands:
            dims, strides = tensor.dims or (1,), tensor.strides or (1,)
            if not tensor.virtual and dims[-1] > 1 and strides[-1] != 1:
                return f"{node}: {tensor.name!r} must have stride 1 along its heads, not {strides}"
    return ""
