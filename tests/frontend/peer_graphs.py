"""Programs for the front end: each is run with this package and with NVIDIA's, as it stands.

A program gets the module as ``cudnn``, a graph, and a function that makes an input of the graph. It
returns its outputs by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Program = Callable[..., dict[str, Any]]


@dataclass(frozen=True)
class PeerGraph:
    """One program.

    Attributes
    ----------
    describe : callable
        ``describe(cudnn, graph, new)``; ``new(name, dims, channels_last=…, data_type=…, low=…,
        high=…, value=…)`` is a graph tensor filled with random numbers; with `value` it is a
        number on the host.
    io : str
        Data type of inputs and outputs that have none of their own, as PyTorch calls it.
    tolerance : float
        Of the difference, relative to the largest magnitude of an output, where the two packages
        chose other engines: a few roundings to the output's type.
    in_any_order : bool
        Whether its engines add with atomic operations, so that bits vary.
    """

    describe: Program
    io: str = "float16"
    tolerance: float = 2e-3
    in_any_order: bool = False


PEER_GRAPHS: dict[str, PeerGraph] = {}


def peer_graph(**options: Any) -> Callable[[Program], Program]:
    def add(function: Program) -> Program:
        PEER_GRAPHS[function.__name__] = PeerGraph(function, **options)
        return function

    return add


IMAGE, FILTER = (4, 32, 16, 16), (64, 32, 3, 3)
RESULT = (4, 64, 16, 16)


def scalar(new: Any, name: str, value: float, rank: int = 4) -> Any:
    return new(name, (1,) * rank, data_type="float32", value=value)


# --- convolutions --------------------------------------------------------------------------------


@peer_graph()
def convolution(cudnn, graph, new):
    x, w = new("x", IMAGE, channels_last=True), new("w", FILTER, channels_last=True)
    y = graph.conv_fprop(image=x, weight=w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    return {"y": y}


@peer_graph()
def strided_convolution_padded_on_one_side(cudnn, graph, new):
    x, w = new("x", IMAGE, channels_last=True), new("w", FILTER, channels_last=True)
    y = graph.conv_fprop(
        image=x, weight=w, pre_padding=[0, 1], post_padding=[1, 1], stride=[2, 2], dilation=[1, 1]
    )
    return {"y": y}


@peer_graph()
def convolution_bias_relu(cudnn, graph, new):
    x, w = new("x", IMAGE, channels_last=True), new("w", FILTER, channels_last=True)
    b = new("b", (1, 64, 1, 1), channels_last=True)
    y = graph.conv_fprop(image=x, weight=w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    return {"y": graph.relu(input=graph.bias(name="bias", input=y, bias=b))}


@peer_graph()
def convolution_scale_bias_add_leaky_relu(cudnn, graph, new):
    x, w = new("x", IMAGE, channels_last=True), new("w", FILTER, channels_last=True)
    s, b = (new(name, (1, 64, 1, 1), channels_last=True) for name in ("s", "b"))
    z = new("z", RESULT, channels_last=True)
    y = graph.conv_fprop(image=x, weight=w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    y = graph.add(a=graph.bias(input=graph.scale(input=y, scale=s), bias=b), b=z)
    return {"y": graph.leaky_relu(y, negative_slope=0.25)}


@peer_graph(tolerance=4e-3, in_any_order=True)
def convolution_and_its_statistics(cudnn, graph, new):
    x, w = new("x", IMAGE, channels_last=True), new("w", FILTER, channels_last=True)
    y = graph.conv_fprop(image=x, weight=w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    total, squares = graph.genstats(y)
    for each in (total, squares):
        each.set_data_type(cudnn.data_type.FLOAT)
    return {"y": y, "total": total, "squares": squares}


@peer_graph()
def convolution_in_groups(cudnn, graph, new):
    x, w = new("x", IMAGE, channels_last=True), new("w", (64, 8, 3, 3), channels_last=True)
    y = graph.conv_fprop(image=x, weight=w, padding=[2, 2], stride=[1, 1], dilation=[2, 2])
    return {"y": y}


@peer_graph()
def convolution_gradient_of_the_image(cudnn, graph, new):
    dy, w = new("dy", RESULT, channels_last=True), new("w", FILTER, channels_last=True)
    dx = graph.conv_dgrad(loss=dy, filter=w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    return {"dx": dx.set_dim(list(IMAGE))}


@peer_graph()
def convolution_gradient_of_the_filter(cudnn, graph, new):
    x, dy = new("x", IMAGE, channels_last=True), new("dy", RESULT, channels_last=True)
    dw = graph.conv_wgrad(image=x, loss=dy, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    return {"dw": dw.set_dim(list(FILTER))}


# --- matrix products -----------------------------------------------------------------------------


@peer_graph(io="bfloat16", tolerance=1.6e-2)
def matmul_bias(cudnn, graph, new):
    a, b = new("a", (4, 64, 128)), new("b", (4, 128, 32))
    bias = new("bias", (4, 64, 1))
    c = graph.matmul(name="matmul", A=a, B=b)
    return {"c": graph.bias(name="bias", input=c, bias=bias)}


@peer_graph()
def matmul_bias_gelu(cudnn, graph, new):
    a, b, bias = new("a", (2, 64, 128)), new("b", (2, 128, 64)), new("bias", (1, 1, 64))
    return {"c": graph.gelu(graph.bias(graph.matmul(a, b), bias))}


@peer_graph()
def matmul_of_one_matrix_for_all_and_swish(cudnn, graph, new):
    a, b = new("a", (4, 64, 128)), new("b", (1, 128, 64))
    return {"c": graph.swish(graph.matmul(a, b), swish_beta=0.5)}


@peer_graph(io="float32", tolerance=2e-3)
def matmul_of_float32(cudnn, graph, new):
    return {"c": graph.matmul(new("a", (2, 64, 64)), new("b", (2, 64, 64)))}


@peer_graph()
def matmul_and_the_largest_magnitude(cudnn, graph, new):
    c = graph.matmul(new("a", (1, 64, 128)), new("b", (1, 128, 64)))
    amax = graph.reduction(c, mode=cudnn.reduction_mode.AMAX)
    amax.set_dim([1, 1, 1]).set_stride([1, 1, 1]).set_data_type(cudnn.data_type.FLOAT)
    return {"c": c, "amax": amax}


# --- element by element --------------------------------------------------------------------------

MANY = (8, 64, 128)


@peer_graph()
def sigmoid_of_a_plus_b_times_c(cudnn, graph, new):
    a, b, c = (new(name, MANY) for name in "abc")
    return {"y": graph.sigmoid(graph.add(a, graph.mul(b, c)))}


@peer_graph(io="float32", tolerance=2e-6)
def elementary_functions(cudnn, graph, new):
    x, y = (new(name, MANY, low=0.25, high=2.0) for name in "xy")
    z = graph.sub(graph.exp(x), graph.log(y))
    z = graph.add(z, graph.sqrt(x))
    z = graph.mul(z, graph.rsqrt(y))
    return {"z": graph.div(graph.erf(z), graph.max(x, y))}


@peer_graph(io="float32", tolerance=2e-6)
def comparisons_and_selection(cudnn, graph, new):
    x, y = (new(name, MANY) for name in "xy")
    return {"z": graph.binary_select(x, y, graph.cmp_gt(x, y))}


@peer_graph()
def lower_triangle_of_a_product(cudnn, graph, new):
    c = graph.matmul(new("a", (2, 64, 128)), new("b", (2, 128, 64)))
    row, column = (graph.gen_index(c, axis=axis) for axis in (1, 2))
    for each in (row, column):
        each.set_data_type(cudnn.data_type.INT32)
    mask = graph.cmp_ge(row, column).set_data_type(cudnn.data_type.BOOLEAN)
    return {"c": graph.binary_select(c, new("other", (2, 64, 64)), mask)}


@peer_graph(io="float32", tolerance=2e-6)
def relu_of_everything_not_finite(cudnn, graph, new):
    x = new("x", MANY, not_finite=True)
    return {"y": graph.relu(x), "clipped": graph.relu(x, lower_clip=0.0, upper_clip=6.0)}


def _gradient(name: str, **options: Any) -> None:
    def describe(cudnn, graph, new):
        loss, x = new("loss", MANY), new("x", MANY)
        return {"dx": getattr(graph, name)(loss=loss, input=x, **options)}

    describe.__name__ = name
    peer_graph()(describe)


_gradient("relu_backward", negative_slope=0.125)
_gradient("gelu_backward")
_gradient("gelu_approx_tanh_backward")
_gradient("sigmoid_backward")
_gradient("swish_backward", swish_beta=1.5)
_gradient("softplus_backward")


# --- reductions and shapes -----------------------------------------------------------------------


def _reduced(mode: str) -> None:
    def describe(cudnn, graph, new):
        x = new("x", IMAGE, channels_last=True, low=-1.0, high=1.0)
        y = graph.reduction(graph.abs(x), mode=getattr(cudnn.reduction_mode, mode))
        return {"y": y.set_dim([1, 32, 1, 1]).set_data_type(cudnn.data_type.FLOAT)}

    describe.__name__ = f"reduction_{mode.lower()}"
    peer_graph(tolerance=2e-6, in_any_order=mode == "ADD")(describe)


for _mode in ("ADD", "MAX", "MIN"):
    _reduced(_mode)


@peer_graph()
def matmul_of_a_reshaped_matrix(cudnn, graph, new):
    x = new("x", (1, 8192, 1))
    a = graph.reshape(x, name="fold").set_dim([1, 64, 128]).set_stride([8192, 128, 1])
    return {"c": graph.matmul(a, new("b", (1, 128, 64)))}


@peer_graph()
def part_of_a_matrix(cudnn, graph, new):
    x = graph.slice(new("x", (2, 64, 128)), [slice(0, 2), slice(8, 40), slice(0, 64)])
    x.set_data_type(cudnn.data_type.HALF)
    return {"y": graph.matmul(x, new("b", (2, 64, 64)))}


@peer_graph()
def two_matrices_side_by_side(cudnn, graph, new):
    y = graph.concatenate(inputs=[new("a", (1, 64, 32)), new("b", (1, 64, 64))], axis=2)
    y.set_dim([1, 64, 96]).set_stride([64 * 96, 96, 1])  # which NVIDIA's does not infer
    return {"y": y}


# --- normalization -------------------------------------------------------------------------------

TOKENS = (256, 512, 1, 1)


def _floats(cudnn: Any, results: Any) -> None:
    for each in results:
        each.set_data_type(cudnn.data_type.FLOAT)


@peer_graph(io="bfloat16", tolerance=1.6e-2)
def layer_normalization(cudnn, graph, new):
    x = new("x", TOKENS, channels_last=True)
    scale, bias = (
        new(name, (1, 512, 1, 1), channels_last=True, data_type="float32")
        for name in ("scale", "bias")
    )
    y, mean, inv = graph.layernorm(
        name="LN",
        norm_forward_phase=cudnn.norm_forward_phase.TRAINING,
        input=x,
        scale=scale,
        bias=bias,
        epsilon=scalar(new, "epsilon", 1e-3),
    )
    _floats(cudnn, (mean, inv))
    return {"y": y, "mean": mean, "inv": inv}


@peer_graph(io="bfloat16", tolerance=1.6e-2)
def layer_normalization_backward(cudnn, graph, new):
    dy, x = (new(name, TOKENS, channels_last=True) for name in ("dy", "x"))
    scale = new("scale", (1, 512, 1, 1), channels_last=True, data_type="float32")
    mean = new("mean", (256, 1, 1, 1), data_type="float32", low=-0.1, high=0.1)
    inv = new("inv", (256, 1, 1, 1), data_type="float32", low=0.9, high=1.1)
    dx, dscale, dbias = graph.layernorm_backward(
        name="DLN", grad=dy, input=x, scale=scale, mean=mean, inv_variance=inv
    )
    _floats(cudnn, (dscale, dbias))
    return {"dx": dx, "dscale": dscale, "dbias": dbias}


@peer_graph(io="bfloat16", tolerance=1.6e-2)
def rms_normalization(cudnn, graph, new):
    x = new("x", TOKENS, channels_last=True)
    scale = new("scale", (1, 512, 1, 1), channels_last=True, data_type="float32")
    y, inv = graph.rmsnorm(
        norm_forward_phase=cudnn.norm_forward_phase.TRAINING,
        input=x,
        scale=scale,
        epsilon=scalar(new, "epsilon", 1e-3),
    )
    _floats(cudnn, [inv])
    return {"y": y, "inv": inv}


@peer_graph(io="bfloat16", tolerance=1.6e-2)
def rms_normalization_backward(cudnn, graph, new):
    dy, x = (new(name, TOKENS, channels_last=True) for name in ("dy", "x"))
    scale = new("scale", (1, 512, 1, 1), channels_last=True, data_type="float32")
    inv = new("inv", (256, 1, 1, 1), data_type="float32", low=0.9, high=1.1)
    dx, dscale, dbias = graph.rmsnorm_backward(
        grad=dy, input=x, scale=scale, inv_variance=inv, has_dbias=False
    )
    assert dbias is None
    _floats(cudnn, [dscale])
    return {"dx": dx, "dscale": dscale}


@peer_graph(tolerance=4e-3)
def instance_normalization(cudnn, graph, new):
    x = new("x", IMAGE, channels_last=True)
    scale, bias = (
        new(name, (1, 32, 1, 1), channels_last=True, data_type="float32")
        for name in ("scale", "bias")
    )
    y, mean, inv = graph.instancenorm(
        norm_forward_phase=cudnn.norm_forward_phase.TRAINING,
        input=x,
        scale=scale,
        bias=bias,
        epsilon=scalar(new, "epsilon", 1e-3),
    )
    _floats(cudnn, (mean, inv))
    return {"y": y, "mean": mean, "inv": inv}


@peer_graph(tolerance=4e-3)
def instance_normalization_backward(cudnn, graph, new):
    dy, x = (new(name, IMAGE, channels_last=True) for name in ("dy", "x"))
    scale = new("scale", (1, 32, 1, 1), channels_last=True, data_type="float32")
    mean = new("mean", (4, 32, 1, 1), channels_last=True, data_type="float32", low=-0.1, high=0.1)
    inv = new("inv", (4, 32, 1, 1), channels_last=True, data_type="float32", low=0.9, high=1.1)
    dx, dscale, dbias = graph.instancenorm_backward(dy, x, scale, mean, inv)
    _floats(cudnn, (dscale, dbias))
    return {"dx": dx, "dscale": dscale, "dbias": dbias}


def _channels(new: Any, *names: str, **options: Any) -> list[Any]:
    dims = (1, 32, 1, 1)
    return [new(n, dims, channels_last=True, data_type="float32", **options) for n in names]


@peer_graph(tolerance=4e-3)
def batch_normalization(cudnn, graph, new):
    x = new("x", IMAGE, channels_last=True)
    scale, bias, mean = _channels(new, "scale", "bias", "mean")
    (variance,) = _channels(new, "variance", low=0.5, high=2.0)
    results = graph.batchnorm(
        name="BN",
        input=x,
        scale=scale,
        bias=bias,
        in_running_mean=mean,
        in_running_var=variance,
        epsilon=scalar(new, "epsilon", 1e-3),
        momentum=scalar(new, "momentum", 0.1),
    )
    _floats(cudnn, results[1:])
    return dict(zip(("y", "mean", "inv", "next_mean", "next_variance"), results, strict=True))


@peer_graph(tolerance=4e-3)
def batch_normalization_backward(cudnn, graph, new):
    dy, x = (new(name, IMAGE, channels_last=True) for name in ("dy", "x"))
    scale, mean = _channels(new, "scale", "mean", low=-0.5, high=0.5)
    (inv,) = _channels(new, "inv", low=0.9, high=1.1)
    dx, dscale, dbias = graph.batchnorm_backward(
        grad=dy, input=x, scale=scale, mean=mean, inv_variance=inv
    )
    _floats(cudnn, (dscale, dbias))
    return {"dx": dx, "dscale": dscale, "dbias": dbias}


@peer_graph()
def batch_normalization_in_inference(cudnn, graph, new):
    x = new("x", IMAGE, channels_last=True)
    mean, scale, bias = _channels(new, "mean", "scale", "bias")
    (inv,) = _channels(new, "inv", low=0.9, high=1.1)
    return {"y": graph.batchnorm_inference(x, mean, inv, scale, bias)}


# --- attention -----------------------------------------------------------------------------------

B, H, S, D = 2, 4, 256, 64


def _heads(new: Any, *names: str, heads: int = H) -> list[Any]:
    # (b, h, s, d) dims, in memory (b, s, h, d).
    return [new(name, (B, heads, S, D), tokens_first=True) for name in names]


def _output(o: Any) -> Any:
    return o.set_dim([B, H, S, D]).set_stride([S * H * D, D, H * D, 1])


def _attention(name: str, **options: Any) -> None:
    def describe(cudnn, graph, new):
        q, k, v = _heads(new, "q", "k", "v")
        o, stats = graph.sdpa(
            name="sdpa", q=q, k=k, v=v, is_inference=True, attn_scale=0.125, **options
        )
        assert stats is None
        return {"o": _output(o)}

    describe.__name__ = name
    peer_graph(io="bfloat16", tolerance=1.6e-2)(describe)


_attention("attention")
_attention("causal_attention", use_causal_mask=True)
_attention("causal_attention_from_the_end", use_causal_mask_bottom_right=True)
_attention("causal_attention_with_alibi", use_causal_mask=True, use_alibi_mask=True)
_attention("causal_attention_in_a_window", use_causal_mask=True, sliding_window_length=64)


@peer_graph(io="bfloat16", tolerance=1.6e-2)
def attention_with_statistics_and_shared_heads(cudnn, graph, new):
    (q,), (k, v) = _heads(new, "q"), _heads(new, "k", "v", heads=2)
    o, stats = graph.sdpa(q=q, k=k, v=v, generate_stats=True, attn_scale=0.125)
    stats.set_dim([B, H, S, 1]).set_stride([H * S, S, 1, 1]).set_data_type(cudnn.data_type.FLOAT)
    return {"o": _output(o), "stats": stats}


@peer_graph(io="bfloat16", tolerance=1.6e-2)
def attention_with_capped_scores(cudnn, graph, new):
    q, k, v = _heads(new, "q", "k", "v")
    cap = new("cap", (1, 1, 1, 1), data_type="float32", value=1.5)

    def capped(graph: Any, scores: Any) -> Any:
        return graph.mul(a=graph.tanh(input=graph.div(a=scores, b=cap)), b=cap)

    o, _ = graph.sdpa(q=q, k=k, v=v, is_inference=True, attn_scale=0.125, score_mod=capped)
    return {"o": _output(o)}


@peer_graph(io="bfloat16", tolerance=1.6e-2)
def attention_with_its_largest_scores_and_sums(cudnn, graph, new):
    q, k, v = _heads(new, "q", "k", "v")
    parts = [new(name, (B, H, S, 1), data_type="float32") for name in ("largest", "total")]
    o, _ = graph.sdpa(
        q=q,
        k=k,
        v=v,
        is_inference=True,
        attn_scale=0.125,
        score_max=parts[0],
        score_sum_exp=parts[1],
    )
    return {"o": _output(o), "largest": parts[0], "total": parts[1]}


@peer_graph(io="bfloat16", tolerance=1.6e-2)
def attention_with_a_bias_and_padding(cudnn, graph, new):
    q, k, v = _heads(new, "q", "k", "v")
    bias = new("bias", (1, H, S, S))
    lengths = [new(n, (B, 1, 1, 1), data_type="int32", low=64, high=S) for n in ("len_q", "len_kv")]
    o, _ = graph.sdpa(
        q=q,
        k=k,
        v=v,
        is_inference=True,
        attn_scale=0.125,
        bias=bias,
        use_padding_mask=True,
        seq_len_q=lengths[0],
        seq_len_kv=lengths[1],
    )
    return {"o": _output(o)}


@peer_graph(io="bfloat16", tolerance=1.6e-2)
def attention_with_dropout(cudnn, graph, new):
    q, k, v = _heads(new, "q", "k", "v")
    seed, offset = (new(n, (1, 1, 1, 1), data_type="int64", low=1, high=99) for n in ("s", "t"))
    o, stats = graph.sdpa(
        q=q, k=k, v=v, is_inference=False, attn_scale=0.125, dropout=(0.25, seed, offset)
    )
    stats.set_dim([B, H, S, 1]).set_stride([H * S, S, 1, 1]).set_data_type(cudnn.data_type.FLOAT)
    return {"o": _output(o), "stats": stats}


# Its statistics must be those of the scores: any others make the exponentials overflow.
@peer_graph(io="bfloat16", tolerance=3.2e-2, in_any_order=True)
def causal_attention_backward(cudnn, graph, new):
    q, k, v, o, dO = _heads(new, "q", "k", "v", "o", "dO")
    stats = new("stats", (B, H, S, 1), data_type="float32", low=6.0, high=8.0)
    gradients = graph.sdpa_backward(
        name="sdpa_backward",
        q=q,
        k=k,
        v=v,
        o=o,
        dO=dO,
        stats=stats,
        attn_scale=0.125,
        use_causal_mask=True,
    )
    return dict(zip(("dq", "dk", "dv"), map(_output, gradients), strict=True))


def _scales(new: Any, names: str) -> dict[str, Any]:
    dims = (1, 1, 1, 1)
    return {each: new(each, dims, data_type="float32", low=0.5, high=2.0) for each in names.split()}


@peer_graph(io="float8_e4m3fn", tolerance=0.25)  # fp8_e4m3 has 4 bits: one step of rounding
def fp8_attention(cudnn, graph, new):
    q, k, v = _heads(new, "q", "k", "v")
    scales = _scales(new, "descale_q descale_k descale_v descale_s scale_s scale_o")
    o, stats, amax_s, amax_o = graph.sdpa_fp8(
        q=q, k=k, v=v, **scales, is_inference=False, attn_scale=0.125, use_causal_mask=True
    )
    stats.set_dim([B, H, S, 1]).set_stride([H * S, S, 1, 1])
    for each in (amax_s, amax_o):
        each.set_dim([1, 1, 1, 1]).set_stride([1, 1, 1, 1])
    _floats(cudnn, (stats, amax_s, amax_o))
    return {"o": _output(o), "stats": stats, "amax_s": amax_s, "amax_o": amax_o}
