"""The smallest graphs on which cuDNN ends the process, by the name of their row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cudnn_ctypes.graph import Graph, Tensor

__all__ = ["FATAL", "FILTER", "HEADS", "IMAGE", "last"]

IMAGE = (4, 32, 16, 16)
HEADS = (2, 4, 128, 64)
FILTER = (32, 32, 3, 3)


def last(graph: Graph, dims: tuple[int, ...] = IMAGE) -> Tensor:
    """An image whose channels lie together."""
    n, c, h, w = dims
    return graph.tensor((n, c, h, w), (h * w * c, 1, w * c, c))


def convolved(graph: Graph) -> Tensor:
    return graph.conv_fprop(last(graph), last(graph, FILTER), padding=1)


def product(graph: Graph, a: Tensor) -> Tensor:
    return graph.matmul(a, graph.tensor((4, 32, 16, 16)))


def convolution_then_product(graph: Graph) -> None:
    product(graph, convolved(graph)).set_output()


def convolution_relu_product(graph: Graph) -> None:
    product(graph, graph.relu(convolved(graph))).set_output()


def convolution_given_to_both(graph: Graph) -> None:
    y = convolved(graph)
    product(graph, y).set_output()
    y.set_output()


def _experts(graph: Graph, token: Tensor) -> Tensor:
    offsets = graph.tensor((4, 1, 1), data_type="int32")
    return graph.moe_grouped_matmul(token, graph.tensor((4, 64, 64)), offsets)


def product_for_experts(graph: Graph) -> None:
    token = graph.matmul(graph.tensor((1, 128, 32)), graph.tensor((1, 32, 64)))
    _experts(graph, token).set_output()


def experts_then_product(graph: Graph) -> None:
    y = _experts(graph, graph.tensor((1, 128, 64)))
    graph.matmul(y, graph.tensor((1, 64, 32))).set_output()


def experts_beside_product(graph: Graph) -> None:
    _experts(graph, graph.tensor((1, 128, 64))).set_output()
    graph.matmul(graph.tensor((4, 64, 64)), graph.tensor((4, 64, 64))).set_output()


def _filter_gradient(graph: Graph, image: Tensor, loss: Tensor) -> None:
    graph.conv_wgrad(image, loss, padding=1).set_output(dims=FILTER)


def relu_before_filter_gradient(graph: Graph) -> None:
    _filter_gradient(graph, graph.relu(last(graph)), last(graph))


def scale_before_filter_gradient(graph: Graph) -> None:
    _filter_gradient(graph, last(graph), graph.scale(last(graph), 0.5))


def bias_before_filter_gradient(graph: Graph) -> None:
    _filter_gradient(graph, graph.bias(last(graph), last(graph, (1, 32, 1, 1))), last(graph))


def relu_of_bias_before_filter_gradient(graph: Graph) -> None:
    y = graph.relu(graph.bias(last(graph), last(graph, (1, 32, 1, 1))))
    _filter_gradient(graph, y, last(graph))


def relu_of_scale_before_filter_gradient(graph: Graph) -> None:
    _filter_gradient(graph, last(graph), graph.relu(graph.scale(last(graph), 0.5)))


def _pooled(graph: Graph) -> Tensor:
    y, index = graph.resample(last(graph), "maxpool", window=2, stride=2, generate_index=True)
    y.set_output()
    assert index is not None
    return index


def relu_of_an_index(graph: Graph) -> None:
    graph.relu(_pooled(graph)).set_output()


def _attention(graph: Graph, **options: Tensor) -> Tensor:
    q, k, v = (graph.tensor((1, 1, 64, 64)) for _ in range(3))
    return graph.sdpa(q, k, v, **options)[0]  # type: ignore[arg-type]


def maximum_as_bias(graph: Graph) -> None:
    bias = graph.reduction(graph.tensor((1, 1, 1, 64)), "amax", axes=(0, 1, 2, 3))
    _attention(graph, bias=bias).set_output()


def maximum_in_memory_as_bias(graph: Graph) -> None:
    bias = graph.reduction(graph.tensor((1, 1, 1, 64)), "amax", axes=(0, 1, 2, 3))
    bias.set_output(data_type="float32")
    _attention(graph, bias=bias).set_output()


def maximum_as_scale(graph: Graph) -> None:
    scale = graph.reduction(graph.tensor((1, 1, 64, 64)), "amax", axes=(0, 1, 2, 3))
    _attention(graph, attn_scale=scale).set_output()


def maximum_beside_attention(graph: Graph) -> None:
    largest = graph.reduction(graph.tensor(HEADS), "amax", axes=(0, 1, 2, 3))
    graph.add(_attention(graph), graph.relu(largest)).set_output()


def maximum_in_memory_beside_attention(graph: Graph) -> None:
    largest = graph.reduction(graph.tensor(HEADS), "amax", axes=(0, 1, 2, 3))
    largest.set_output(data_type="float32")
    graph.add(_attention(graph), graph.relu(largest)).set_output()


def maximum_beside_that_of_attention(graph: Graph) -> None:
    q, k, v = (graph.tensor(HEADS, data_type="fp8_e4m3") for _ in range(3))
    scales = [graph.tensor((1, 1, 1, 1), data_type="float32") for _ in range(6)]
    o, _, amax_s, amax_o = graph.sdpa_fp8(q, k, v, *scales)
    o.set_output()
    amax_s.set_output()
    largest = graph.reduction(graph.tensor(HEADS), "amax", axes=(0, 1, 2, 3))
    graph.add(amax_o, largest).set_output()


def maximum_of_attention(graph: Graph) -> None:
    o = _attention(graph)
    o.set_output()
    graph.relu(graph.reduction(o, "amax", axes=(0, 1, 2, 3))).set_output()


def maximum_of_attention_in_memory(graph: Graph) -> None:
    o = _attention(graph)
    o.set_output()
    graph.reduction(o, "amax", axes=(0, 1, 2, 3)).set_output(data_type="float32")


def band_as_keys(graph: Graph) -> None:
    q, k, v = (graph.tensor(IMAGE, data_type="float32") for _ in range(3))
    band = graph.diagonal_band_mask(k, -1e9, right_shift=0)
    graph.sdpa(q, band, v)[0].set_output(data_type="float32")


def softmax_as_queries(graph: Graph) -> None:
    x, k, v = (graph.tensor(HEADS) for _ in range(3))
    q = graph.softmax(x)["y"]
    q.set_output()
    graph.sdpa(q, k, v)[0].set_output()


def statistics_as_keys(graph: Graph) -> None:
    few = (1, 32, 1, 1)
    sums = [graph.tensor(few, data_type="float32") for _ in range(4)]
    running = [graph.tensor(few, data_type="float32") for _ in range(2)]
    results = graph.bn_finalize(*sums, 1e-5, 1024, *running, 0.1)
    mean = results[2]
    for each in results:
        each.set_output(each is not mean)
    q, v = (graph.tensor(few, data_type="float32") for _ in range(2))
    graph.sdpa(q, mean, v)[0].set_output()


def filter_gradient_as_queries(graph: Graph) -> None:
    gradient = graph.conv_wgrad(last(graph), last(graph), padding=1)
    gradient.set_output(dims=FILTER)
    k, v, o, d_o = (graph.tensor(FILTER) for _ in range(4))
    stats = graph.tensor((*FILTER[:3], 1), data_type="float32")
    for each in graph.sdpa_unified_backward(gradient, k, v, o, d_o, stats):
        each.set_output()


def comparison_of_attention(graph: Graph) -> None:
    graph.cmp_gt(_attention(graph), 0.0).set_output()


def _gradients(
    graph: Graph, dims: tuple[int, ...] = HEADS, **options: Any
) -> tuple[Tensor, Tensor, Tensor]:
    operands = [graph.tensor(dims) for _ in range(5)]
    stats = graph.tensor((*dims[:3], 1), data_type="float32")
    return graph.sdpa_backward(*operands, stats, **options)


def comparison_of_a_gradient(graph: Graph) -> None:
    dq, dk, dv = _gradients(graph)
    dq.set_output()
    dv.set_output()
    graph.cmp_gt(dk, 0.0).set_output()


def logic_on_a_gradient(graph: Graph) -> None:
    dq, dk, dv = _gradients(graph)
    dq.set_output()
    dv.set_output()
    graph.logical_and(dk, graph.tensor(HEADS, data_type="boolean")).set_output()


def _mask(graph: Graph) -> Tensor:
    return graph.tensor((1, 1, HEADS[2], HEADS[2]), data_type="boolean", name="mask")


def masked_attention(graph: Graph) -> None:
    q, k, v = (graph.tensor(HEADS) for _ in range(3))
    mask = _mask(graph)
    o, _ = graph.sdpa(
        q, k, v, score_mod=lambda graph, scores: graph.binary_select(scores, -1e9, mask)
    )
    o.set_output()


def masked_gradients(graph: Graph) -> None:
    mask = _mask(graph)
    gradients = _gradients(
        graph,
        score_mod=lambda graph, scores: graph.binary_select(scores, -1e9, mask),
        score_mod_bprop=lambda graph, gradient: graph.binary_select(gradient, 0.0, mask),
    )
    for each in gradients:
        each.set_output()


def product_added_to_a_gradient(graph: Graph) -> None:
    dq, dk, dv = _gradients(graph, IMAGE)
    dq.set_output()
    dv.set_output()
    product = graph.mul(graph.tensor(IMAGE), graph.tensor(IMAGE))
    product.uid = 5000
    graph.add(dk, product).set_output()


def scattered_heads(graph: Graph) -> None:
    _, h, s, d = HEADS
    scattered = graph.tensor(HEADS, (2 * h * s * d, 2 * s * d, 2 * d, 2))
    k, v = (graph.tensor(HEADS) for _ in range(2))
    graph.sdpa(scattered, k, v)[0].set_output()


def _backward(graph: Graph, operands: list[Tensor]) -> None:
    stats = graph.tensor((*(operands[0].dims or ())[:3], 1), data_type="float32")
    for each in graph.sdpa_backward(*operands, stats):  # type: ignore[misc]
        each.set_output()


def gradients_of_a_scaled_result(graph: Graph) -> None:
    q, k, v, o, d_o = (graph.tensor(HEADS) for _ in range(5))
    _backward(graph, [q, k, v, graph.scale(o, 0.5), d_o])


def gradients_of_a_scaled_result_in_memory(graph: Graph) -> None:
    q, k, v, o, d_o = (graph.tensor(HEADS) for _ in range(5))
    scaled = graph.scale(o, 0.5)
    _backward(graph, [q, k, v, scaled, d_o])
    scaled.set_output()


def gradients_of_a_positive_result(graph: Graph) -> None:
    q, k, v, o, d_o = (graph.tensor(HEADS) for _ in range(5))
    _backward(graph, [q, k, v, graph.relu(o), d_o])


def gradients_of_scattered_heads(graph: Graph) -> None:
    _, h, s, d = HEADS
    scattered = graph.tensor(HEADS, (h * s * d, 1, h * d, h))
    _backward(graph, [scattered, *(graph.tensor(HEADS) for _ in range(4))])


def gradients_of_one_row(graph: Graph) -> None:
    _backward(graph, [graph.tensor((1, 1, 1, 64)) for _ in range(5)])


def scattered_pages_beside_attention(graph: Graph) -> None:
    o, _ = graph.sdpa(*(graph.tensor(HEADS) for _ in range(3)))
    table = graph.tensor((2, 1, 2, 1), data_type="int32")
    lengths = graph.tensor((2, 1, 1, 1), data_type="int32")
    graph.paged_cache_load(last(graph), table, lengths, 32).set_output()
    o.set_output()


def _random(graph: Graph) -> None:
    graph.rng(HEADS, "bernoulli", seed=1234, probability=0.5).set_output()


def random_numbers_beside_attention(graph: Graph) -> None:
    o, _ = graph.sdpa(*(graph.tensor(HEADS) for _ in range(3)))
    o.set_output()
    _random(graph)


def random_numbers_beside_gradients(graph: Graph) -> None:
    _backward(graph, [graph.tensor(HEADS) for _ in range(5)])
    _random(graph)


def gradient_as_keys(graph: Graph) -> None:
    q, k, v, o, d_o, more, other = (graph.tensor(HEADS) for _ in range(7))
    stats = graph.tensor((*HEADS[:3], 1), data_type="float32")
    dq, dk, dv = graph.sdpa_unified_backward(q, k, v, o, d_o, stats)
    for each in (dk, dv, graph.sdpa(more, dq, other)[0]):
        each.set_output()


def product_of_a_signal(graph: Graph) -> None:
    flag = graph.tensor((1, 1, 1), data_type="int32")
    x = graph.signal(graph.tensor((4, 64, 64)), flag, "wait", 1)
    graph.matmul(x, graph.tensor((4, 64, 64))).set_output()


def concatenation_pooled(graph: Graph) -> None:
    x = graph.concatenate([last(graph), last(graph)], -1)
    graph.resample(x, "avgpool", window=2, stride=2)[0].set_output()


def concatenation_beside_pooling(graph: Graph) -> None:
    graph.concatenate([last(graph), last(graph)], -1).set_output()
    graph.resample(last(graph), "maxpool", window=2, stride=2)[0].set_output()


def instance_norm_without_epsilon(graph: Graph) -> None:
    channels = (1, 32, 1, 1)
    scale, bias = (graph.tensor(channels, data_type="float32") for _ in range(2))
    graph.norm_forward("instance", "inference", last(graph), scale, bias)["y"].set_output()


def adaptive_norm_in_blocks(graph: Graph) -> None:
    scale, bias = (graph.tensor((4, 1, 16, 16), data_type="float32") for _ in range(2))
    results = graph.norm_forward("ada_layer", "inference", graph.tensor(IMAGE), scale, bias, 1e-5)
    y, scales = graph.block_scale_quantize(results["y"], 16)
    y.set_output(data_type="fp8_e4m3")
    scales.set_output(data_type="fp8_e8m0")


def _norm_of_rows_in_blocks(graph: Graph, mode: str) -> None:
    few = (1, 1, 64)
    scale = graph.tensor(few, data_type="float32")
    bias = None if mode == "rms" else graph.tensor(few, data_type="float32")
    results = graph.norm_forward(mode, "inference", graph.tensor((1, 128, 64)), scale, bias, 1e-5)
    y, scales = graph.block_scale_quantize(results["y"], 32)
    y.set_output(data_type="fp8_e4m3")
    scales.set_output(data_type="fp8_e8m0")


def rms_norm_of_rows_in_blocks(graph: Graph) -> None:
    _norm_of_rows_in_blocks(graph, "rms")


def layer_norm_of_rows_in_blocks(graph: Graph) -> None:
    _norm_of_rows_in_blocks(graph, "layer")


def norm_of_a_derivative(graph: Graph) -> None:
    rows = (4, 64, 64)
    x, dy = (graph.tensor(rows, data_type="float32") for _ in range(2))
    scale = graph.tensor((1, 1, 64), data_type="float32")
    results = graph.norm_forward("rms", "inference", graph.relu_backward(dy, x), scale, None, 1e-5)
    results["y"].set_output(data_type="float32")


def derivative_of_a_norm(graph: Graph) -> None:
    rows = (4, 64, 64)
    x, other = (graph.tensor(rows, data_type="float32") for _ in range(2))
    scale = graph.tensor((1, 1, 64), data_type="float32")
    y = graph.norm_forward("rms", "inference", x, scale, None, 1e-5)["y"]
    graph.relu_backward(y, other).set_output(data_type="float32")


def adaptive_norm_of_a_derivative(graph: Graph) -> None:
    x, dy = (graph.tensor((4, 64, 64), data_type="float32") for _ in range(2))
    scale, bias = (graph.tensor((4, 1, 64), data_type="float32") for _ in range(2))
    x = graph.relu_backward(dy, x)
    y = graph.norm_forward("ada_layer", "inference", x, scale, bias, 1e-5)["y"]
    y.set_output(data_type="float32")


def derivative_of_an_adaptive_norm(graph: Graph) -> None:
    x, other = (graph.tensor((4, 64, 64), data_type="float32") for _ in range(2))
    scale, bias = (graph.tensor((4, 1, 64), data_type="float32") for _ in range(2))
    y = graph.norm_forward("ada_layer", "inference", x, scale, bias, 1e-5)["y"]
    graph.relu_backward(y, other).set_output(data_type="float32")


def filter_gradient_in_float32(graph: Graph) -> None:
    image, loss = (graph.tensor(IMAGE, data_type="float32") for _ in range(2))
    gradient = graph.conv_wgrad(graph.erf(image), loss, padding=1)
    gradient.set_output(dims=FILTER, data_type="float32")


def convolution(graph: Graph) -> None:
    graph.conv_fprop(graph.tensor(IMAGE), graph.tensor(FILTER), padding=1).set_output()


_DERIVATIVES = (
    norm_of_a_derivative,
    derivative_of_a_norm,
    adaptive_norm_of_a_derivative,
    derivative_of_an_adaptive_norm,
)

FATAL: dict[str, tuple[Callable[[Graph], None], ...]] = {
    "product of a convolution": (
        convolution_then_product,
        convolution_relu_product,
        convolution_given_to_both,
    ),
    "product of a signal": (product_of_a_signal,),
    "product beside experts": (product_for_experts, experts_then_product, experts_beside_product),
    "element-wise operation before the gradient of a filter": (
        relu_before_filter_gradient,
        scale_before_filter_gradient,
        bias_before_filter_gradient,
        relu_of_bias_before_filter_gradient,
        relu_of_scale_before_filter_gradient,
    ),
    "relu before the gradient of a filter": (
        relu_before_filter_gradient,
        relu_of_bias_before_filter_gradient,
    ),
    "index of pooling within the graph": (relu_of_an_index,),
    "concatenation beside pooling": (concatenation_beside_pooling, concatenation_pooled),
    "largest magnitude before attention": (
        maximum_as_bias,
        maximum_as_scale,
        maximum_in_memory_as_bias,
    ),
    "largest magnitude joined with attention's result": (
        maximum_beside_attention,
        maximum_beside_that_of_attention,
        maximum_in_memory_beside_attention,
    ),
    "largest magnitude of attention's result": (
        maximum_of_attention,
        maximum_of_attention_in_memory,
    ),
    "final statistics as keys": (statistics_as_keys,),
    "gradient of a filter before attention's backward pass": (filter_gradient_as_queries,),
    "gradient of attention before attention": (gradient_as_keys,),
    "random numbers of a fixed seed beside attention": (
        random_numbers_beside_attention,
        random_numbers_beside_gradients,
    ),
    "softmax before attention": (softmax_as_queries,),
    "band mask before attention": (band_as_keys,),
    "boolean result of attention": (comparison_of_attention, comparison_of_a_gradient),
    "boolean result of attention's forward pass": (comparison_of_attention,),
    "boolean operand of attention": (masked_attention,),
    "boolean operand of attention's backward pass": (masked_gradients, logic_on_a_gradient),
    "product added to a gradient of attention": (product_added_to_a_gradient,),
    "operation for o of attention's backward pass": (
        gradients_of_a_positive_result,
        gradients_of_a_scaled_result,
    ),
    "product for o of attention's backward pass": (
        gradients_of_a_scaled_result,
        gradients_of_a_scaled_result_in_memory,
    ),
    "scattered heads": (scattered_heads,),
    "scattered pages beside attention": (scattered_pages_beside_attention,),
    "gradient of one row of scores": (gradients_of_one_row,),
    "scattered heads in attention's backward pass": (gradients_of_scattered_heads,),
    "instance norm without epsilon": (instance_norm_without_epsilon,),
    "adaptive norm in blocks": (adaptive_norm_in_blocks,),
    "norm of three dimensions in blocks": (
        rms_norm_of_rows_in_blocks,
        layer_norm_of_rows_in_blocks,
    ),
    "derivative beside a norm": _DERIVATIVES,
    "fused gradient of a filter in float32": (filter_gradient_in_float32,),
    "convolution for a Blackwell GPU beside another": (convolution,),
}
