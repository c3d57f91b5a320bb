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


def _conv(graph: Any, new: Any, w: tuple[int, ...] = FILTER, **options: Any) -> Any:
    given = {"padding": [1, 1], "stride": [1, 1], "dilation": [1, 1], **options}
    if "pre_padding" in options:
        del given["padding"]
    x, w = new("x", IMAGE, channels_last=True), new("w", w, channels_last=True)
    return graph.conv_fprop(image=x, weight=w, **given)


@peer_graph()
def convolution(cudnn, graph, new):
    return {"y": _conv(graph, new)}


@peer_graph()
def strided_convolution_padded_on_one_side(cudnn, graph, new):
    return {"y": _conv(graph, new, pre_padding=[0, 1], post_padding=[1, 1], stride=[2, 2])}


@peer_graph()
def convolution_bias_relu(cudnn, graph, new):
    b = new("b", (1, 64, 1, 1), channels_last=True)
    return {"y": graph.relu(input=graph.bias(name="bias", input=_conv(graph, new), bias=b))}


@peer_graph()
def convolution_scale_bias_add_leaky_relu(cudnn, graph, new):
    s, b = (new(name, (1, 64, 1, 1), channels_last=True) for name in ("s", "b"))
    scaled = graph.bias(input=graph.scale(input=_conv(graph, new), scale=s), bias=b)
    y = graph.add(a=scaled, b=new("z", RESULT, channels_last=True))
    return {"y": graph.leaky_relu(y, negative_slope=0.25)}


@peer_graph(tolerance=4e-3, in_any_order=True)
def convolution_and_its_statistics(cudnn, graph, new):
    y = _conv(graph, new)
    total, squares = graph.genstats(y)
    _floats(cudnn, (total, squares))
    return {"y": y, "total": total, "squares": squares}


@peer_graph()
def convolution_in_groups(cudnn, graph, new):
    return {"y": _conv(graph, new, (64, 8, 3, 3), padding=[2, 2], dilation=[2, 2])}


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
# By operation: x, its scale, its statistics, and the options of a program.
BRAIN: dict[str, Any] = {"io": "bfloat16", "tolerance": 1.6e-2}
NORMS: dict[str, tuple[Any, ...]] = {
    "layernorm": (TOKENS, (1, 512, 1, 1), (256, 1, 1, 1), BRAIN),
    "rmsnorm": (TOKENS, (1, 512, 1, 1), (256, 1, 1, 1), BRAIN),
    "instancenorm": (IMAGE, (1, 32, 1, 1), (4, 32, 1, 1), {"tolerance": 4e-3}),
    "batchnorm": (IMAGE, (1, 32, 1, 1), (1, 32, 1, 1), {"tolerance": 4e-3}),
}


def _floats(cudnn: Any, results: Any) -> None:
    for each in results:
        each.set_data_type(cudnn.data_type.FLOAT)


def _numbers(new: Any, dims: Any, *names: str, **options: Any) -> dict[str, Any]:
    given = {"channels_last": True, "data_type": "float32", **options}
    return {name: new(name, dims, **given) for name in names}


def _norm(operation: str) -> None:
    dims, scale_dims, _, options = NORMS[operation]

    def forward(cudnn, graph, new):
        names = ("scale",) if operation == "rmsnorm" else ("scale", "bias")
        given = _numbers(new, scale_dims, *names)
        given["epsilon"] = scalar(new, "epsilon", 1e-3)
        if operation == "batchnorm":
            given["in_running_mean"] = new(
                "mean", scale_dims, channels_last=True, data_type="float32"
            )
            variance = _numbers(new, scale_dims, "variance", low=0.5, high=2.0)
            given["in_running_var"] = variance["variance"]
            given["momentum"] = scalar(new, "momentum", 0.1)
        else:
            given["norm_forward_phase"] = cudnn.norm_forward_phase.TRAINING
        x = new("x", dims, channels_last=True)
        results = getattr(graph, operation)(name="N", input=x, **given)
        _floats(cudnn, results[1:])
        return {f"result {number}": each for number, each in enumerate(results)}

    forward.__name__ = operation
    peer_graph(**options)(forward)


def _norm_gradient(operation: str) -> None:
    dims, scale_dims, saved_dims, options = NORMS[operation]

    def backward(cudnn, graph, new):
        given = _numbers(new, scale_dims, "scale")
        given |= _numbers(new, saved_dims, "inv_variance", low=0.9, high=1.1)
        if operation == "rmsnorm":
            given["has_dbias"] = False
        else:
            given |= _numbers(new, saved_dims, "mean", low=-0.1, high=0.1)
        dy, x = (new(name, dims, channels_last=True) for name in ("dy", "x"))
        results = getattr(graph, f"{operation}_backward")(grad=dy, input=x, **given)
        assert (results[2] is None) == (operation == "rmsnorm")
        found = {f"result {n}": each for n, each in enumerate(results) if each is not None}
        _floats(cudnn, [*found.values()][1:])
        return found

    backward.__name__ = f"{operation}_backward"
    peer_graph(**options)(backward)


for _operation in NORMS:
    _norm(_operation)
    _norm_gradient(_operation)


@peer_graph()
def batch_normalization_in_inference(cudnn, graph, new):
    x = new("x", IMAGE, channels_last=True)
    given = _numbers(new, (1, 32, 1, 1), "mean", "scale", "bias")
    inv = new("inv", (1, 32, 1, 1), channels_last=True, data_type="float32", low=0.9, high=1.1)
    return {"y": graph.batchnorm_inference(x, given["mean"], inv, given["scale"], given["bias"])}


# --- attention -----------------------------------------------------------------------------------

B, H, S, D = 2, 4, 256, 64


def _heads(new: Any, *names: str, heads: int = H) -> list[Any]:
    # (b, h, s, d) dims, in memory (b, s, h, d).
    return [new(name, (B, heads, S, D), tokens_first=True) for name in names]


def _output(o: Any) -> Any:
    return o.set_dim([B, H, S, D]).set_stride([S * H * D, D, H * D, 1])


def _attention(name: str, more: Any = None, **options: Any) -> None:
    """With `more`, of the module and of `new`, further arguments."""

    def describe(cudnn, graph, new):
        q, k, v = _heads(new, "q", "k", "v")
        given = {"is_inference": True, **options, **(more(new) if more else {})}
        o, stats = graph.sdpa(name="sdpa", q=q, k=k, v=v, attn_scale=0.125, **given)
        results = {"o": _output(o)}
        if stats is not None:
            results["stats"] = _statistics(cudnn, stats)
        return results | {key: given[key] for key in ("score_max", "score_sum_exp") if key in given}

    describe.__name__ = name
    peer_graph(io="bfloat16", tolerance=1.6e-2)(describe)


def _statistics(cudnn: Any, stats: Any) -> Any:
    stats.set_dim([B, H, S, 1]).set_stride([H * S, S, 1, 1])
    return stats.set_data_type(cudnn.data_type.FLOAT)


def _capped(new: Any) -> dict[str, Any]:
    cap = new("cap", (1, 1, 1, 1), data_type="float32", value=1.5)
    return {
        "score_mod": lambda graph, scores: graph.mul(
            a=graph.tanh(input=graph.div(a=scores, b=cap)), b=cap
        )
    }


def _padded(new: Any) -> dict[str, Any]:
    lengths = {
        name: new(name, (B, 1, 1, 1), data_type="int32", low=64, high=S)
        for name in ("seq_len_q", "seq_len_kv")
    }
    return {"bias": new("bias", (1, H, S, S)), "use_padding_mask": True, **lengths}


def _parts(new: Any) -> dict[str, Any]:
    names = ("score_max", "score_sum_exp")
    return {name: new(name, (B, H, S, 1), data_type="float32") for name in names}


def _dropped(new: Any) -> dict[str, Any]:
    ends = (new(n, (1, 1, 1, 1), data_type="int64", low=1, high=99) for n in ("s", "t"))
    return {"dropout": (0.25, *ends), "is_inference": False}


_attention("attention")
_attention("causal_attention", use_causal_mask=True)
_attention("causal_attention_from_the_end", use_causal_mask_bottom_right=True)
_attention("causal_attention_with_alibi", use_causal_mask=True, use_alibi_mask=True)
_attention("causal_attention_in_a_window", use_causal_mask=True, sliding_window_length=64)
_attention("attention_with_capped_scores", _capped)
_attention("attention_with_its_largest_scores_and_sums", _parts)
_attention("attention_with_a_bias_and_padding", _padded)
_attention("attention_with_dropout", _dropped)


@peer_graph(io="bfloat16", tolerance=1.6e-2)
def attention_with_statistics_and_shared_heads(cudnn, graph, new):
    (q,), (k, v) = _heads(new, "q"), _heads(new, "k", "v", heads=2)
    o, stats = graph.sdpa(q=q, k=k, v=v, generate_stats=True, attn_scale=0.125)
    return {"o": _output(o), "stats": _statistics(cudnn, stats)}


# Its statistics must be those of the scores: any others make the exponentials overflow.
@peer_graph(io="bfloat16", tolerance=3.2e-2, in_any_order=True)
def causal_attention_backward(cudnn, graph, new):
    names = ("q", "k", "v", "o", "dO")
    given = dict(zip(names, _heads(new, *names), strict=True))
    stats = new("stats", (B, H, S, 1), data_type="float32", low=6.0, high=8.0)
    gradients = graph.sdpa_backward(
        name="sdpa_backward", **given, stats=stats, attn_scale=0.125, use_causal_mask=True
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
