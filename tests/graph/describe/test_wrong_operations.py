"""What operations refuse when they are added, or when the graph is validated, each by its name.

A row says how the operation is called and a part of the error: the operation or its argument.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw import CUDNN_DATA_HALF

CHANNELS = (1, 3, 1, 1)
SCORES, BAND = (2, 4, 64, 64), {"lower_bandwidth": 16, "upper_bandwidth": 15, "axis": 3}


def named(value: Any) -> str | None:
    """The id of a row is what its error says."""
    return value[:40] if isinstance(value, str) else None


def t(g: Graph, *dims: int, name: str = "x", **options: Any) -> Tensor:
    return g.tensor(dims, name=name, **options)


def ints(g: Graph, *dims: int, name: str = "n") -> Tensor:
    return t(g, *dims, name=name, data_type="int32")


def conv(g: Graph, w: tuple[int, ...] = (4, 8, 3, 3), **options: Any) -> Tensor:
    return g.conv_fprop(t(g, 1, 8, 4, 4), t(g, *w, name="w"), **options)


def pool(g: Graph, mode: str = "maxpool", **options: Any) -> Tensor:
    return g.resample(t(g, 1, 8, 4, 4), mode, **options)[0]


def bare(g: Graph, **options: Any) -> Any:
    return g.layernorm("inference", t(g, 2, 3, 4, name="x"), None, None, 1e-5, **options)[0]


def norm(g: Graph, mode: str, scale: Any = CHANNELS, bias: Any = CHANNELS, **options: Any) -> Any:
    operands = [t(g, *scale, name="scale"), t(g, *bias, name="bias")]
    return g.norm_forward(mode, "training", t(g, 2, 3, 4, 4), *operands, 1e-5, **options)


def running(g: Graph, **options: Any) -> Any:
    channels = [t(g, *CHANNELS, name=name) for name in ("scale", "bias", "mean")]
    return g.batchnorm(t(g, 2, 3, 4, 4), *channels, **options)


def scaled(g: Graph, scale: Tensor, block: int = 32) -> Tensor:
    return g.block_scale_dequantize(t(g, 2, 64), scale, block)


def experts(g: Graph, count: int = 2, depth: int = 4, **options: Any) -> Tensor:
    offsets = ints(g, count, 1, 1, name="offsets")
    return g.moe_grouped_matmul(t(g, 1, 8, depth), t(g, 2, 4, 4, name="w"), offsets, **options)


def gradient(g: Graph, mean: tuple[int, ...]) -> Any:
    dy, x, scale = t(g, 2, 3, 4, 4, name="dy"), t(g, 2, 3, 4, 4), t(g, *CHANNELS, name="scale")
    return g.norm_backward("batch", dy, x, scale, t(g, *mean, name="mean"), t(g, *CHANNELS))


def index_gradient(g: Graph) -> Tensor:
    index = t(g, 1, 8, 3, 2, name="index", data_type="int8")
    dx = g.resample_backward(t(g, 1, 8, 2, 2), "maxpool", index=index, window=2, stride=2)
    return dx.set_output(dims=(1, 8, 4, 4))


def pages(
    g: Graph, container: tuple[int, ...] = (64, 4, 16, 64), table: tuple[int, ...] = (2, 1, 8, 1)
) -> Tensor:
    return g.paged_cache_load(t(g, *container), ints(g, *table), ints(g, 2, 1, 1, 1), 129)


def finalized(g: Graph) -> Any:
    sums = [t(g, 1, 4, 1, 1, name=name) for name in ("sum", "sq_sum", "scale")]
    return g.bn_finalize(*sums, t(g, 1, 5, 1, 1, name="bias"), 1e-5, 10)


def weights(g: Graph) -> Any:
    saved = [t(g, 1, 4, 1, 1, name=name) for name in ("mean", "inv", "scale")]
    return g.bn_backward_weights(t(g, 2, 4, 3, 3, name="dy"), t(g, 2, 5, 3, 3), *saved)


# Refused when the operation is added: what no other operand could make right.
AT_ONCE: list[tuple[Any, type[Exception], str]] = [
    (lambda g: g.tensor((2, 3), (-3, 1), name="x"), ValueError, "'x': strides"),
    (lambda g: g.tensor((2, 3), (1,)), ValueError, "2 dims .* but 1 strides"),
    (lambda g: g.tensor((2, 0)), ValueError, "dims.* positive"),
    (lambda g: g.tensor(()), ValueError, "dims.* at least one"),
    (lambda g: t(g, 2, uid="a"), TypeError, "tensor 'x': uid"),
    (lambda g: t(g, 2, uid=1 << 63), ValueError, "'x': uid: 9223372036854775808 has more than 64"),
    (lambda g: t(g, 2, ragged_offset_multiplier=0), ValueError, "multiplier must be positive, got"),
    (lambda g: t(g, 2, by_value=1), TypeError, "by_value: expected a bool, got 1"),
    (lambda g: t(g, 2, ragged_offset=5), TypeError, "ragged_offset: expected a Tensor, got 5"),
    (lambda g: g.tensor_scalar(1 << 64), ValueError, "value: a number of more than 64 bits"),
    (lambda g: g.tensor_scalar(-(1 << 64)), ValueError, "value: a number of more than 64 bits"),
    (lambda g: g.tensor_scalar(CUDNN_DATA_HALF), TypeError, "value: expected a number, got"),
    (lambda g: g.relu(t(g, 2), lower_clip=True), TypeError, "lower_clip: .* number, got True"),
    (lambda g: g.slice(t(g, 2), [slice(0, 2, 0)]), ValueError, r"slices\[0\]: the step of .* is 0"),
    (lambda g: conv(g, padding=1, pre_padding=0), TypeError, "conv_fprop: either padding, or"),
    (lambda g: conv(g, padding=0.5), TypeError, "conv_fprop 'conv_fprop': pre_padding: .* 0.5"),
    (lambda g: conv(g, stride=(1, Fraction(1, 2))), TypeError, r"stride\[1\]: .*Fraction"),
    (lambda g: conv(g, stride="11"), TypeError, "stride: .*'11'"),
    (lambda g: conv(g, convolution_mode="conv"), ValueError, "convolution_mode: .*'convolution'"),
    (lambda g: pool(g, window="22"), TypeError, "resample 'resample': window: .*'22'"),
    (lambda g: pool(g, window=True), TypeError, "window: expected a Fraction or an int, got True"),
    (lambda g: pool(g, "median", window=2), ValueError, "resample: mode"),
    (lambda g: pool(g, window=2, padding_mode="mirror"), ValueError, "resample: padding_mode"),
    (lambda g: pool(g), TypeError, "missing a required argument: .window"),
    (lambda g: pool(g, "avgpool", window=2, generate_index=True), ValueError, "only 'maxpool' has"),
    (lambda g: g.resample_backward(t(g, 1, 8, 2, 2), "maxpool", window=2), TypeError, "needs i"),
    (lambda g: g.reduction(t(g, 2, 3), "sum", axes=(1,)), ValueError, "reduction: mode"),
    (lambda g: g.reduction(t(g, 2, 3), "add", axes="1"), TypeError, "reduction: axes"),
    (lambda g: norm(g, "median"), ValueError, "norm_forward: mode: .*'layer_norm'"),
    (lambda g: norm(g, "batch", mean=t(g, *CHANNELS)), TypeError, "mean and inv_variance are re"),
    (lambda g: g.norm_forward("layer", "train", t(g, 2, 3)), ValueError, "phase: .*'training'"),
    (lambda g: g.layernorm("training", t(g, 2, 3), None, None, None), TypeError, "epsilon is mis"),
    (lambda g: running(g, momentum=0.1), TypeError, "in_running_mean and in_running_var go"),
    (lambda g: running(g, in_running_var=t(g, *CHANNELS)), TypeError, "batchnorm: .* a momentum"),
    (lambda g: g.pointwise("relu", t(g, 2, 3)), ValueError, "pointwise: mode"),
    (lambda g: g.add(t(g, 2, 3)), TypeError, "add: missing a required argument: 'b'"),
    (lambda g: g.relu(t(g, 2, 3), lower_clip="a"), TypeError, "relu 'relu': lower_clip"),
    (lambda g: g.relu(t(g, 2, 3), lower_clap=1), TypeError, "lower_clap"),
    (lambda g: g.relu("x"), TypeError, "relu 'relu': x: expected a Tensor of this graph or a num"),
    (lambda g: g.conv_fprop(t(g, 1, 2, 3, 4), None), TypeError, "'conv_fprop': weight is missing"),
    (lambda g: g.gen_index(t(g, 2, 3), "x"), TypeError, "gen_index 'gen_index': axis"),
    (lambda g: g.transpose(t(g, 2, 3), "ab"), TypeError, "transpose: permutation"),
    (lambda g: g.slice(t(g, 2, 3), [0, 1]), TypeError, "slice: slices"),
    (lambda g: g.concatenate(t(g, 2, 3), 0), TypeError, "concatenate: inputs"),
    (lambda g: g.reshape(t(g, 2, 3), 6), TypeError, "reshape: dims"),
    (lambda g: g.rng((2, 3), "gauss", seed=1), ValueError, "rng: distribution"),
    (lambda g: g.rng((2, 3), seed=1, probability=2.0), ValueError, "rng: a probability .* 2.0"),
    (lambda g: g.tensor_like(Tensor(name="x")), ValueError, "tensor_like: .*'x'.* has no dims yet"),
    (lambda g: g.tensor_like(5), TypeError, "tensor_like: array 5 .int.: "),
    (lambda g: g.find_tensor(0.5), TypeError, "find_tensor: key: .* got 0.5"),
    (lambda g: g.relu(t(g, 2, 3), name=5), TypeError, "name: expected text, got 5"),
    (lambda g: g.softmax(t(g, 2, 3), outputs=["y", "z"]), ValueError, "expected some of .*'z'"),
    (lambda g: g.softmax(t(g, 2, 3), outputs=["y", "y"]), ValueError, "each once, got"),
    (lambda g: g.softmax(t(g, 2, 3), outputs="y"), TypeError, "softmax: outputs: expected a list"),
    (lambda g: pool(g, window=2, padding=1, pre_padding=0), TypeError, "resample: either padding"),
    (lambda g: pool(g, window=None), TypeError, "resample: window is missing"),
    (lambda g: g.rng((2, 3), seed=1), TypeError, "rng: a bernoulli .* needs its probability"),
    (lambda g: experts(g, mode="spread"), ValueError, "moe_grouped_matmul: mode"),
    (lambda g: g.signal(t(g, 2), t(g, 1), "send", 1), ValueError, "signal: mode"),
]


@pytest.mark.parametrize(("call", "error", "says"), AT_ONCE, ids=named)
def test_what_is_refused_at_once(call, error, says):
    g = Graph(io_data_type="float16")
    with pytest.raises(error, match=says):
        call(g)
    assert g.nodes == []


def changed(
    g: Graph, *, result: bool = False, dims: tuple[int, ...] = (2, 3), **fields: Any
) -> Any:
    """ReLU of an operand with other fields, or with such a result."""
    x = t(g, *dims)
    y = g.relu(x)
    for name, value in fields.items():
        setattr(y if result else x, name, value)
    return g.neg(y) if fields.get("virtual", result) else y


def twice(g: Graph) -> Any:
    results = norm(g, "layer", (1, 3, 4, 4), (1, 3, 4, 4))
    g.nodes[0].outputs["mean"] = results["y"]
    return results["y"]


WORKSPACE = {"scratch": True, "value": 1.0}

# Refused by validate(): the operands do not go together.
BY_VALIDATION: list[tuple[Any, str]] = [
    (lambda g: conv(g, padding=-1), r"conv_fprop 'conv_fprop': pre_padding \(-1, -1\)"),
    (lambda g: conv(g, padding=(1, 1, 1)), r"pre_padding=\(1, 1, 1\) needs one number or 2"),
    (lambda g: conv(g, dilation=0), "dilation .* at least 1"),
    (lambda g: conv(g, stride=(1, 0)), r"stride \(1, 0\) must be at least 1"),
    (lambda g: g.conv_dgrad(t(g, 1, 4, 1, 1), t(g, 4, 8, 3, 3), padding=2), "would be .* nothing"),
    (lambda g: changed(g, dims=(1 << 40, 1 << 40)), "more elements than 64 bits"),
    (lambda g: changed(g, result=True, by_value=True), "cannot be both virtual and by value"),
    (lambda g: changed(g, result=True, dims=(1,), by_value=True, virtual=False), "which cannot"),
    (lambda g: changed(g, result=True, scratch=True), "can neither be virtual nor by value"),
    (lambda g: changed(g, **WORKSPACE, by_value=True, dims=(1,)), "can neither be virtual nor by"),
    (lambda g: changed(g, **WORKSPACE, vector_count=2, vector_dimension=1), "has neither vectors"),
    (lambda g: changed(g, **WORKSPACE, strides=(4, 1)), r"so strides \(4, 1\) do not fit"),
    (lambda g: changed(g, scratch=True, value=(1.0, 2.0)), "has 6 elements, but 2 values"),
    (lambda g: changed(g, alignment=0), "alignment 0 is no power of two"),
    (lambda g: setattr(g, "io_data_type", None) or g.relu(t(g, 2)), "'x' has no data type: give"),
    (lambda g: changed(g, vector_count=4, vector_dimension=-1), "vector_dimension -1 is none of"),
    (lambda g: changed(g, ragged_offset=t(g, 3, data_type="float16")), "ragged_offset is float16"),
    (lambda g: g.matmul(t(g, 3), t(g, 3), transpose_A=True), "A 'x' .* has no two dim"),
    (twice, "its outputs y, mean, inv_variance must be different tensors"),
    (lambda g: conv(g, (4, 3, 3, 3)), "image 'x' has 8 channels, which weight 'w'"),
    (lambda g: conv(g, (4, 8, 3)), r"\(4, 8, 3\) need the same number of"),
    (lambda g: conv(g, (5, 4, 3, 3)), "the 5 filters of 'w' cannot be shared among"),
    (lambda g: conv(g, (4, 8, 5, 3)), "reaches over 5 in dimension 2, but image 'x'.* has 4"),
    (lambda g: g.conv_dgrad(t(g, 1, 5, 4, 4), t(g, 4, 8, 3, 3)), "loss 'x' .* does not fit filter"),
    (lambda g: g.conv_dgrad(t(g, 1, 4, 4, 4), t(g, 4, 8, 3, 3), stride=2), "do not determine"),
    (
        lambda g: g.conv_wgrad(t(g, 1, 8, 4, 4), t(g, 1, 5, 4, 4)).set_output(dims=(4, 8, 3, 3)),
        r"conv_wgrad .* loss 'x' is \(1, 5, 4, 4\)",
    ),
    (lambda g: g.matmul(t(g, 2, 3), t(g, 4, 5), name="c"), r"matmul 'c': A 'x' \(2, 3\) and B 'x'"),
    (lambda g: g.matmul(t(g, 2, 3, 4), t(g, 3, 4, 5)), "batches"),
    (lambda g: g.add(t(g, 2, 3), t(g, 2, 4)), "add 'add': the operands do not broadcast"),
    (lambda g: g.reduction(t(g, 2, 3), "add").set_output(dims=(2, 2)), "must have 1, or a divisor"),
    (lambda g: g.reduction(t(g, 2, 3), "add", axes=(1, -1)), r"axes \(1, -1\) .* 'x' twice"),
    (lambda g: g.reduction(t(g, 2, 3), "add", axes=(2,)), "axes .* the 2 dimensions of 'x'"),
    (lambda g: g.gen_index(t(g, 2, 3), 2), "axis 2 is none of the 2"),
    (lambda g: g.relu(t(g, 2, 3)).set_output(strides=(1, 1)), "relu 'relu': strides .* y 'relu'"),
    (lambda g: g.relu(t(g, 2, 3)).set_output(strides=(0, 1)), "overlap"),
    (lambda g: g.relu(t(g, 2, 3)).set_output(strides=(1,)), r"\(2, 3\), but strides \(1,\)"),
    (lambda g: g.slice(t(g, 2, 3), [slice(0, 1)]), r"1 slices for the 2 dimensions of 'x'"),
    (lambda g: g.slice(t(g, 2, 3), [slice(0, 1), slice(2, 2)]), "leave nothing, or go backwards"),
    (lambda g: g.slice(t(g, 2, 3), [slice(0, 1), slice(2, 0, -1)]), "leave nothing, or go backwar"),
    (lambda g: g.block_scale_quantize(t(g, 2, 32), 0), "block_size 0 must be positive"),
    (lambda g: g.block_scale_quantize(t(g, 2, 33), 32), "blocks of 32 do not divide dimension 1"),
    (lambda g: scaled(g, t(g, 2, 2, name="s"), 0), r"block_size \(0,\) must be positive"),
    (lambda g: scaled(g, t(g, 2, name="s")), r"descale 's' \(2,\) needs the rank of 'x' \(2, 64\)"),
    (lambda g: g.relu(t(g, 2, 3).set_output(False)), "'x'.* is virtual, but no operation makes"),
    (lambda g: norm(g, "layer", (1, 3, 4, 4)), r"scale 'scale' \(1, 3, 4, 4\) and bias 'bias'"),
    (lambda g: norm(g, "batch", (1, 3, 4, 1), (1, 3, 4, 1)), "scale 'scale' is .* each channel"),
    (lambda g: norm(g, "layer", (3,), (3,)), "scale 'scale' .* does not fit input 'x'"),
    (lambda g: norm(g, "layer", axes=2), r"axes \(2,\) of input .*'scale' .* varies along \(1,\)"),
    (lambda g: norm(g, "batch", axes=1), "its mode says which dimensions are normalized"),
    (lambda g: bare(g, axes=(1, -2)), r"axes \(1, -2\) name a dimension of 'x' twice"),
    (lambda g: bare(g, axes=3), r"axes \(3,\) are not all among the 3 dimensions of 'x'"),
    (lambda g: bare(g), r"nothing says which dimensions of input 'x' .*: give axes \(2,\) for the"),
    (lambda g: gradient(g, (1, 4, 1, 1)), r"norm_backward': mean 'mean' is \(1, 4, 1, 1\)"),
    (
        lambda g: g.batchnorm_inference(t(g, 2, 3, 4, 4), *(t(g, 1, 5, 1, 1) for _ in range(4))),
        r"do not broadcast to one shape: input 'x' \(2, 3, 4, 4\), mean 'x' \(1, 5, 1, 1\)",
    ),
    (lambda g: bare(g, axes=()), r"axes \(\) are none of the 3 dimensions of 'x'"),
    (lambda g: g.layernorm("inference", t(g, 4), None, None, 1e-5)[0], "at least two dimensi"),
    (lambda g: g.genstats(t(g, 2, 8)), r"input 'x' \(2, 8\) must be \(n, c, \*spatial\)"),
    (finalized, r"bn_finalize 'bn_finalize': bias 'bias' is \(1, 5, 1, 1\), but sum"),
    (lambda g: [g.sdpa_unified(*(t(g, 1 << 31, 1, 1, 8) for _ in "qkv"))[0]], "q 'x' .* 32 bits"),
    (weights, r"dy 'dy' is \(2, 4, 3, 3\), but input 'x'"),
    (lambda g: pool(g, window=2, padding=-1), "resample 'resample': pre_padding"),
    (lambda g: pool(g, window=5), "a window of 5 .* does not fit in 'x'"),
    (index_gradient, r"index 'index' is \(1, 8, 3, 2\), but loss"),
    (lambda g: g.reshape(t(g, 2, 3), (7,)), "number of elements"),
    (lambda g: g.concatenate([t(g, 2, 3), t(g, 3, 3)], 1), "differ elsewhere"),
    (lambda g: g.concatenate([t(g, 2), t(g, 2, data_type="float32")], 0), "in their data types"),
    (lambda g: g.concatenate([t(g, 2), t(g, 2)], 0, in_place_index=5), "in_place_index 5"),
    (lambda g: experts(g, 3), r"first_token_offset 'offsets' \(3, 1, 1\) .* weight 'w'"),
    (lambda g: experts(g, depth=5), r"token 'x' \(1, 8, 5\) and weight 'w' \(2, 4, 4\) must be"),
    (lambda g: experts(g, mode="gather"), "needs token_index"),
    (lambda g: experts(g, mode="gather", token_index=ints(g, 1, 8)), r"index 'n' \(1, 8\) must"),
    (
        lambda g: g.moe_grouped_matmul_bwd(t(g, 8, 4), t(g, 1, 8, 4), ints(g, 2, 1, 1)),
        r"doutput 'x' \(8, 4\) and token 'x' \(1, 8, 4\) must be",
    ),
    (lambda g: g.expand_band_matrix(t(g, *SCORES), SCORES, **{**BAND, "axis": 1}), "axis 1"),
    (lambda g: g.expand_band_matrix(t(g, *SCORES), SCORES[1:], **BAND), "needs the rank of 'x'"),
    (lambda g: g.expand_band_matrix(t(g, *SCORES), SCORES, **BAND), "must have .* = 32 element"),
    (lambda g: g.rope(t(g, *SCORES), t(g, 1, 1, 64, 32)), "less than 64 angles, the rope_dim"),
    (lambda g: g.rope(t(g, *SCORES), t(g, *SCORES), rope_dim=31), "rope_dim 31 must be even"),
    (pages, "max_seq_len 129 does not fit in 8 pages of 16"),
    (lambda g: pages(g, table=(2, 1, 8)), r"page_table .* \(b, 1, pages of one sequence, 1\)"),
    (lambda g: pages(g, container=(64, 4, 16)), r"container .* \(pages, h, page size, d\)"),
]


@pytest.mark.parametrize(("call", "says"), BY_VALIDATION, ids=named)
def test_what_validation_refuses(call, says):
    g = Graph(io_data_type="float16")

    def validated():
        found = call(g)
        results = found.values() if isinstance(found, dict) else found
        for tensor in [results] if isinstance(results, Tensor) else results:
            if tensor is not None:
                tensor.set_output()
        g.validate()

    with pytest.raises(ValueError, match=says):
        validated()


# --- attention -----------------------------------------------------------------------------------

DIMS = (2, 4, 128, 64)
ROWS, MASK = (2, 4, 128, 1), (2, 4, 128, 128)


def heads(graph: Graph, name: str, dims: tuple[int, ...] = DIMS, **more: Any) -> Tensor:
    return graph.tensor(dims, name=name, **more)


def _operand(graph: Graph, options: dict[str, Any], name: str, dims: Any = DIMS) -> Tensor:
    """The tensor that the options give for an operand, taken out of them; else one that fits."""
    chosen = options.pop(name, None)
    return heads(graph, name, dims) if chosen is None else chosen


def forward(graph: Graph, **options: Any) -> Any:
    q, k, v = (_operand(graph, options, each) for each in "qkv")
    return graph.sdpa(q, k, v, **options)


def unified(graph: Graph, **options: Any) -> Any:
    return graph.sdpa_unified(*(heads(graph, each) for each in "qkv"), **options)


def backward(graph: Graph, **options: Any) -> Any:
    operands = [_operand(graph, options, each) for each in ("q", "k", "v", "o", "dO")]
    return graph.sdpa_backward(*operands, _operand(graph, options, "stats", ROWS), **options)


def number(graph: Graph, data_type: str = "float32") -> Tensor:
    return graph.tensor((1, 1, 1, 1), data_type=data_type)


def lengths(graph: Graph, batch: int = 2, **more: Any) -> Tensor:
    return graph.tensor((batch, 1, 1, 1), name="lengths", **{"data_type": "int32", **more})


def both(graph: Graph, q: Tensor | None = None) -> dict[str, Tensor]:
    return {"seq_len_q": lengths(graph) if q is None else q, "seq_len_kv": lengths(graph)}


def parts(graph: Graph, data_type: str = "float32", **options: Any) -> Any:
    largest, total = (heads(graph, name, ROWS, data_type=data_type) for name in ("max", "sum"))
    return forward(graph, score_max=largest, score_sum_exp=total, **options)


def dropout(graph: Graph, probability: Any = 0.5) -> tuple[Any, ...]:
    return probability, number(graph, "int64"), number(graph, "int64")


def fp8(graph: Graph, data_type: str) -> Any:
    operands = [heads(graph, each, data_type=data_type) for each in "qkv"]
    return graph.sdpa_fp8(*operands, *(number(graph) for _ in range(6)))


def fp8_backward(graph: Graph) -> Any:
    operands = [
        heads(graph, each, (2, 2, 128, 64) if each in "kv" else DIMS, data_type="fp8_e4m3")
        for each in ("q", "k", "v", "o", "dO")
    ]
    scales = [number(graph) for _ in range(12)]
    return graph.sdpa_fp8_backward(*operands, heads(graph, "stats", ROWS), *scales)


def paged(graph: Graph, batch: int = 2, **more: Any) -> Any:
    table = graph.tensor((batch, 1, 8, 1), data_type="int32", name="table")
    return forward(graph, paged_attention_k_table=table, **more)


ATTENTION: list[tuple[Any, str]] = [
    (lambda g: forward(g, q=heads(g, "x", (4, 128, 64))), r"sdpa 'sdpa': q 'x' \(4, 128, 64\)"),
    (lambda g: forward(g, k=heads(g, "x", (1, 4, 128, 64))), "k 'x' .* another batch size than q"),
    (lambda g: forward(g, v=heads(g, "x", (2, 3, 128, 64))), "the 3 heads of v 'x' .* the 4 of q"),
    (lambda g: forward(g, k=heads(g, "x", (2, 4, 128, 32))), "k 'x' .* and q 'q' .* in their size"),
    (lambda g: forward(g, v=heads(g, "x", (2, 4, 96, 64))), "v 'x' .* in their number of tokens"),
    (lambda g: forward(g, seq_len_q=lengths(g)), "seq_len_q and seq_len_kv go together"),
    (lambda g: forward(g, **both(g, lengths(g, 3))), r"seq_len_q 'lengths' .* \(2, 1, 1, 1\)"),
    (lambda g: forward(g, **both(g, lengths(g, data_type="float32"))), "seq_len_q .* int32"),
    (lambda g: forward(g, bias=heads(g, "x", (1, 4, 128, 64))), "bias 'x' .* to the scores"),
    (lambda g: forward(g, diagonal_band_left_bound=0), "the left bound .* 1, got 0"),
    (lambda g: forward(g, diagonal_band_right_bound=-1), "the right bound .* 0, got -1"),
    (lambda g: forward(g, diagonal_band_right_bound=True), "diagonal_band_right_bound: .* True"),
    (lambda g: forward(g, sliding_window_length=8, diagonal_band_left_bound=8), "are the sam"),
    (lambda g: forward(g, use_causal_mask=True, diagonal_band_right_bound=3), "no diagonal_band"),
    (lambda g: forward(g, use_causal_mask=True, use_causal_mask_bottom_right=True), "begins at"),
    (lambda g: forward(g, use_causal_mask=True, diagonal_alignment="bottom_right"), "begins at"),
    (lambda g: forward(g, diagonal_alignment="middle"), "diagonal_alignment: .*'middle'"),
    (lambda g: forward(g, score_mod=0.5), "score_mod: expected a function, got 0.5"),
    (lambda g: forward(g, score_mod=lambda g, scores: None), "score_mod must return a tensor"),
    (lambda g: backward(g, score_mod_bprop=Graph.relu), "score_mod_bprop without score_m"),
    (lambda g: forward(g, score_max=heads(g, "x", ROWS)), "score_max and score_sum_exp go"),
    (lambda g: forward(g, score_max=number(g), score_sum_exp=number(g)), "score_max .* must be"),
    (lambda g: parts(g, data_type="float16"), "score_max 'max' must be float32"),
    (lambda g: parts(g, generate_stats=True), "take the place of generate_stats"),
    (lambda g: parts(g, sink_token=heads(g, "sink", (1, 4, 1, 1))), "go without sink_token"),
    (lambda g: forward(g, dropout=dropout(g, 1.0)), "a dropout probability .* got 1.0"),
    (lambda g: forward(g, dropout=(heads(g, "x"), number(g))), "the dropout mask 'x' .* must be"),
    (lambda g: forward(g, dropout=(heads(g, "x", MASK),)), r"a dropout by a mask is \(mask, scale"),
    (
        lambda g: forward(
            g, dropout=(heads(g, "x", MASK), number(g)), rng_dump=heads(g, "dump", MASK)
        ),
        "rng_dump: there is no random mask",
    ),
    (
        lambda g: forward(g, dropout=(heads(g, "x", MASK), *3 * [number(g)])),
        "a dropout by a mask is",
    ),
    (lambda g: forward(g, dropout=dropout(g)[:2]), r"is \(probability, seed, offset\)"),
    (lambda g: unified(g, cu_seq_len_q=lengths(g, 3), **both(g)), "seq_len_q and cu_seq_len_q"),
    (lambda g: unified(g, cu_seq_len_q=lengths(g, 3)), "'sdpa_unified': seq_len_q and"),
    (lambda g: unified(g, cu_seq_len_q=lengths(g), cu_seq_len_kv=lengths(g)), r"\(3, 1"),
    (lambda g: unified(g, dropout=(heads(g, "x", MASK), number(g))), "sdpa_unified: dropout"),
    (paged, "with pages seq_len_q and seq_len_kv are needed"),
    (lambda g: paged(g, 3, **both(g)), "paged_attention_k_table 'table' .* must be"),
    (lambda g: paged(g, paged_attention_max_seq_len_kv=1025, **both(g)), "1025 does not fit"),
    (lambda g: backward(g, o=heads(g, "x", (2, 4, 128, 32))), "'sdpa_backward': o 'x' .* must be"),
    (lambda g: backward(g, dBias=heads(g, "x", (1, *MASK[1:]))), "dBias without bias"),
    (
        lambda g: backward(g, bias=heads(g, "y", (1, *MASK[1:])), dBias=heads(g, "x", MASK)),
        r"dBias 'x' \(2, 4, 128, 128\) must be \(1, 4, 128, 128\)",
    ),
    (lambda g: backward(g, bias=heads(g, "y", MASK), dBias=Graph().tensor(MASK)), "another graph"),
    (lambda g: backward(g, sink_token=heads(g, "x", (1, 4, 1, 1))), "sink_token and dSink_to"),
    (lambda g: forward(g, sink_token=heads(g, "x", (1, 3, 1, 1))), "sink_token 'x' .* must be"),
    (lambda g: forward(g, attn_scale=heads(g, "x", (1, 4, 1, 1))), "attn_scale 'x' .* one number"),
    (lambda g: fp8(g, "float16"), "q 'q' must be fp8_e4m3 or fp8_e5m2, not float16"),
    (lambda g: fp8(g, "float32"), "q 'q' must be fp8_e4m3 or fp8_e5m2, not float32"),
    (fp8_backward, "k 'k' .* must have as many heads as q 'q'"),
]


@pytest.mark.parametrize(("call", "says"), ATTENTION, ids=named)
def test_what_attention_refuses(call, says):
    with pytest.raises((TypeError, ValueError), match=says):
        call(Graph(io_data_type="float16"))


NO_TENSORS: list[tuple[Any, str]] = [
    *(
        (lambda g, port=port: forward(g, **{port: 5}), f"sdpa 'sdpa': {port}: .* got 5 .int.")
        for port in ("q", "k", "v", "bias", "paged_attention_k_table")
    ),
    *(
        (lambda g, port=port: backward(g, **{port: 5}), f"'sdpa_backward': {port}: .* got 5 .int.")
        for port in ("q", "v", "o", "dO", "stats", "bias")
    ),
    (lambda g: forward(g, seq_len_q=lengths(g), seq_len_kv=3), "seq_len_kv: expected a Tensor"),
    (lambda g: forward(g, dropout=0.5), r"dropout: .* got 0.5 \(float\)"),
    (lambda g: forward(g, dropout=("0.5", 1, 2)), "dropout: .* first, got '0.5'"),
    (lambda g: forward(g, rng_dump=heads(g, "dump", MASK)), "rng_dump without dropout"),
    (lambda g: backward(g, rng_dump=heads(g, "dump", MASK)), "rng_dump without dropout"),
    (lambda g: forward(g, dropout=dropout(g), rng_dump=3), "rng_dump: expected a Tensor"),
    *(
        (lambda g, flag=flag, value=value: forward(g, **{flag: value}), f"{flag}: .* True or False")
        for flag in ("use_causal_mask", "use_alibi_mask", "generate_stats")
        for value in ("yes", None, 2, np.array([True, False]))
    ),
]


@pytest.mark.parametrize(("call", "says"), NO_TENSORS, ids=named)
def test_what_is_no_tensor_or_flag(call, says):
    with pytest.raises(TypeError, match=says):
        call(Graph(io_data_type="float16"))


def test_flags_of_numpy_are_flags():
    assert forward(Graph(io_data_type="float16"), use_causal_mask=np.bool_(True))
