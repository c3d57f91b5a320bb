"""Blocks of models, described in one graph each, with what PyTorch computes for them.

``python -m tools.model_blocks`` prints for each block and GPU whether one engine takes it, or a
program of several, without a GPU; with ``--compute`` also how far the reference device is from
PyTorch's float64.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from cudnn_ctypes import (
    BadParamError,
    DeviceTensor,
    Graph,
    Handle,
    NotSupportedError,
    SymbolNotFoundError,
    use_reference_device,
)
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.graph import Partition

Oracle = Callable[..., Mapping[str, torch.Tensor]]
"""From the operands by name, in float64, to the results by name."""
Describe = Callable[[Graph], Oracle]


class Block(NamedTuple):
    """A block of a model.

    Attributes
    ----------
    name : str
    describe : callable
        Adds it to a graph; returns what PyTorch computes.
    data_type : str
        Of its tensors.
    """

    name: str
    describe: Describe
    data_type: str


BLOCKS: list[Block] = []


def block(data_type: str = "float16") -> Callable[[Describe], Describe]:
    """Put a function into `BLOCKS`."""

    def taken(describe: Describe) -> Describe:
        BLOCKS.append(Block(describe.__name__, describe, data_type))
        return describe

    return taken


# --- rows ----------------------------------------------------------------------------------------


@block()
def softmax(g: Graph) -> Oracle:
    g.softmax(g.tensor((8, 12, 64, 128), name="x"))["y"].set_output(name="y")
    return lambda x: {"y": torch.softmax(x, -1)}


@block()
def softmax_written_out(g: Graph) -> Oracle:
    x = g.tensor((8, 64, 256), name="x")
    e = g.exp(x - g.reduction(x, "max", axes=(2,)))
    (e / g.reduction(e, "add", axes=(2,))).set_output(name="y")
    return lambda x: {"y": torch.softmax(x, -1)}


@block()
def softmax_of_columns(g: Graph) -> Oracle:
    x = g.tensor((4, 64, 256), name="x")
    e = g.exp(x - g.reduction(x, "max", axes=(1,)))
    (e / g.reduction(e, "add", axes=(1,))).set_output(name="y")
    return lambda x: {"y": torch.softmax(x, 1)}


@block("float32")
def log_softmax(g: Graph) -> Oracle:
    x = g.tensor((64, 1000), name="x")
    shifted = x - g.reduction(x, "max", axes=(1,))
    total = g.reduction(g.exp(shifted), "add", axes=(1,))
    (shifted - g.log(total)).set_output(name="y")
    return lambda x: {"y": torch.log_softmax(x, -1)}


@block()
def softmax_backward(g: Graph) -> Oracle:
    y, dy = g.tensor((8, 64, 256), name="p"), g.tensor((8, 64, 256), name="dy")
    (y * (dy - g.reduction(y * dy, "add", axes=(2,)))).set_output(name="dx")
    return lambda p, dy: {"dx": p * (dy - (p * dy).sum(-1, keepdim=True))}


@block("float32")
def cross_entropy(g: Graph) -> Oracle:
    x, label = g.tensor((64, 1000), name="x"), g.tensor((64, 1), data_type="int32", name="label")
    highest = g.reduction(x, "max", axes=(1,))
    total = g.reduction(g.exp(x - highest), "add", axes=(1,))
    chosen = g.binary_select(x, 0.0, g.cmp_eq(g.gen_index(x, axis=1), label))
    own = g.reduction(chosen, "add", axes=(1,))
    (g.log(total) + highest - own).set_output(name="y")
    return lambda x, label: {"y": F.cross_entropy(x, label[:, 0].long(), reduction="none")[:, None]}


@block()
def cross_entropy_backward(g: Graph) -> Oracle:
    x, label = g.tensor((64, 1000), name="x"), g.tensor((64, 1), data_type="int32", name="label")
    e = g.exp(x - g.reduction(x, "max", axes=(1,)))
    p = e / g.reduction(e, "add", axes=(1,))
    one = g.cmp_eq(g.gen_index(x, axis=1), label)
    g.binary_select(p - 1.0, p, one).set_output(name="dx")
    return lambda x, label: {
        "dx": torch.softmax(x, -1) - F.one_hot(label[:, 0].long(), 1000).double()
    }


@block()
def rms_norm(g: Graph) -> Oracle:
    x, w = g.tensor((8, 128, 512), name="x"), g.tensor((1, 1, 512), name="weight")
    g.rmsnorm("inference", x, w, None, 1e-5)[0].set_output(name="y")
    return lambda x, weight: {"y": _rms(x) * weight}


def _rms(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)


@block("bfloat16")
def rms_norm_and_residual(g: Graph) -> Oracle:
    x, r = g.tensor((8, 128, 512), name="x"), g.tensor((8, 128, 512), name="r")
    w = g.tensor((1, 1, 512), name="weight")
    total = (x + r).set_output(name="sum")
    g.rmsnorm("inference", total, w, None, 1e-5)[0].set_output(name="y")
    return lambda x, r, weight: {"sum": x + r, "y": _rms(x + r) * weight}


@block()
def layer_norm(g: Graph) -> Oracle:
    x = g.tensor((8, 128, 512), name="x")
    w, b = (g.tensor((1, 1, 512), data_type="float32", name=n) for n in ("weight", "bias"))
    g.layernorm("inference", x, w, b, 1e-5)[0].set_output(name="y")
    return lambda x, weight, bias: {
        "y": F.layer_norm(x, (512,), weight.flatten(), bias.flatten(), 1e-5)
    }


@block()
def modulated_layer_norm(g: Graph) -> Oracle:
    """Of a diffusion transformer: no scale of its own, one of each image."""
    x = g.tensor((4, 64, 256), name="x")
    shift, scale = (g.tensor((4, 1, 256), name=n) for n in ("shift", "scale"))
    mean = g.reduction(x, "add", axes=(2,)) * (1 / 256)
    centered = x - mean
    variance = g.reduction(centered * centered, "add", axes=(2,)) * (1 / 256)
    y = (x - mean) * g.rsqrt(variance + 1e-6)
    (y * (scale + 1.0) + shift).set_output(name="y")
    return lambda x, shift, scale: {"y": F.layer_norm(x, (256,), eps=1e-6) * (1 + scale) + shift}


@block()
def rotary_embedding(g: Graph) -> Oracle:
    x = g.tensor((2, 64, 8, 64), name="x")
    angles = g.tensor((1, 64, 1, 64), data_type="float32", name="angles")
    g.rope(x, angles).set_output(name="y")
    return lambda x, angles: {"y": _rope(x, angles)}


def _rope(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return x * torch.cos(angles) + torch.cat([-second, first], -1) * torch.sin(angles)


@block()
def unit_length(g: Graph) -> Oracle:
    x = g.tensor((64, 512), name="x")
    (x * g.rsqrt(g.reduction(x * x, "add", axes=(1,)) + 1e-12)).set_output(name="y")
    return lambda x: {"y": F.normalize(x, dim=-1)}


@block()
def masked_mean_of_tokens(g: Graph) -> Oracle:
    x, mask = g.tensor((8, 64, 256), name="x"), g.tensor((8, 64, 1), name="mask")
    total = g.reduction(x * mask, "add", axes=(1,))
    (total / g.reduction(mask, "add", axes=(1,))).set_output(name="y")
    return lambda x, mask: {"y": (x * mask).sum(1, True) / mask.sum(1, True)}


# --- transformers --------------------------------------------------------------------------------


def _linear(g: Graph, x: Any, k: int, n: int, name: str) -> Any:
    return g.matmul(x, g.tensor((1, k, n), name=name))


def _heads(g: Graph, x: Any, b: int, s: int, h: int, d: int) -> Any:
    return g.transpose(g.reshape(x, (b, s, h, d)), (0, 2, 1, 3))


def _joined(g: Graph, o: Any, b: int, s: int, m: int) -> Any:
    return g.reshape(g.transpose(o, (0, 2, 1, 3)), (b, s, m))


def _split(x: torch.Tensor, h: int) -> torch.Tensor:
    return x.reshape(*x.shape[:2], h, -1).transpose(1, 2)


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any) -> torch.Tensor:
    o = F.scaled_dot_product_attention(q, k, v, **options)
    return o.transpose(1, 2).flatten(2)


@block()
def self_attention(g: Graph) -> Oracle:
    b, s, h, d = 2, 64, 4, 64
    m = h * d
    x, w = g.tensor((b, s, m), name="x"), g.tensor((1, 1, m), name="weight")
    n, _ = g.rmsnorm("inference", x, w, None, 1e-5)
    q, k, v = (_heads(g, _linear(g, n, m, m, f"w{c}"), b, s, h, d) for c in "qkv")
    o, _ = g.sdpa(q, k, v)
    (_linear(g, _joined(g, o, b, s, m), m, m, "wo") + x).set_output(name="y")

    def oracle(x, weight, wq, wk, wv, wo):
        n = _rms(x) * weight
        return {"y": _attention(*(_split(n @ w, h) for w in (wq, wk, wv))) @ wo + x}

    return oracle


@block()
def self_attention_of_one_projection(g: Graph) -> Oracle:
    """GPT-2's: q, k and v are slices of one product with a bias."""
    b, s, h, d = 2, 64, 4, 64
    m = h * d
    x = g.tensor((b, s, m), name="x")
    qkv = _linear(g, x, m, 3 * m, "w") + g.tensor((1, 1, 3 * m), name="bias")
    parts = (g.slice(qkv, (slice(None), slice(None), slice(i * m, i * m + m))) for i in range(3))
    o, _ = g.sdpa(*(_heads(g, each, b, s, h, d) for each in parts), use_causal_mask=True)
    (_linear(g, _joined(g, o, b, s, m), m, m, "wo") + x).set_output(name="y")

    def oracle(x, w, bias, wo):
        q, k, v = (_split(each, h) for each in (x @ w + bias).chunk(3, -1))
        return {"y": _attention(q, k, v, is_causal=True) @ wo + x}

    return oracle


@block("bfloat16")
def llama_attention(g: Graph) -> Oracle:
    """Rotary embedding, grouped queries, causal."""
    b, s, h, few, d = 2, 64, 8, 2, 64
    m = h * d
    x, w = g.tensor((b, s, m), name="x"), g.tensor((1, 1, m), name="weight")
    angles = g.tensor((1, s, 1, d), data_type="float32", name="angles")
    n, _ = g.rmsnorm("inference", x, w, None, 1e-5)
    q = g.rope(g.reshape(_linear(g, n, m, m, "wq"), (b, s, h, d)), angles)
    k = g.rope(g.reshape(_linear(g, n, m, few * d, "wk"), (b, s, few, d)), angles)
    v = g.reshape(_linear(g, n, m, few * d, "wv"), (b, s, few, d))
    o, _ = g.sdpa(*(g.transpose(each, (0, 2, 1, 3)) for each in (q, k, v)), use_causal_mask=True)
    (_linear(g, _joined(g, o, b, s, m), m, m, "wo") + x).set_output(name="y")

    def oracle(x, weight, angles, wq, wk, wv, wo):
        n = _rms(x) * weight
        q, k, v = (_split(n @ w, c) for w, c in ((wq, h), (wk, few), (wv, few)))
        turned = (_rope(each, angles.transpose(1, 2)) for each in (q, k))
        return {"y": _attention(*turned, v, is_causal=True, enable_gqa=True) @ wo + x}

    return oracle


@block()
def attention_written_out(g: Graph) -> Oracle:
    b, h, s, d = 2, 4, 64, 64
    q, k, v = (g.tensor((b, h, s, d), name=n) for n in "qkv")
    scores = g.matmul(q, k, transpose_B=True) * (1 / math.sqrt(d))
    e = g.exp(scores - g.reduction(scores, "max", axes=(3,)))
    g.matmul(e / g.reduction(e, "add", axes=(3,)), v).set_output(name="y")
    return lambda q, k, v: {"y": F.scaled_dot_product_attention(q, k, v)}


@block()
def attention_with_bias(g: Graph) -> Oracle:
    """T5's: a bias of positions, no scale, then the projection."""
    b, s, h, d = 2, 64, 4, 64
    m = h * d
    q, k, v = (g.tensor((b, h, s, d), name=n) for n in "qkv")
    o, _ = g.sdpa(q, k, v, attn_scale=1.0, bias=g.tensor((1, h, s, s), name="bias"))
    _linear(g, _joined(g, o, b, s, m), m, m, "wo").set_output(name="y")
    return lambda q, k, v, bias, wo: {"y": _attention(q, k, v, attn_mask=bias, scale=1.0) @ wo}


@block()
def cross_attention(g: Graph) -> Oracle:
    b, s, t, h, d = 2, 64, 128, 4, 64
    m = h * d
    x, y = g.tensor((b, s, m), name="x"), g.tensor((b, t, m), name="context")
    q = _heads(g, _linear(g, x, m, m, "wq"), b, s, h, d)
    k, v = (_heads(g, _linear(g, y, m, m, f"w{c}"), b, t, h, d) for c in "kv")
    o, _ = g.sdpa(q, k, v)
    (_linear(g, _joined(g, o, b, s, m), m, m, "wo") + x).set_output(name="y")

    def oracle(x, context, wq, wk, wv, wo):
        q, k, v = _split(x @ wq, h), _split(context @ wk, h), _split(context @ wv, h)
        return {"y": _attention(q, k, v) @ wo + x}

    return oracle


@block()
def linear_attention(g: Graph) -> Oracle:
    """Features elu + 1, keys times values first."""
    b, h, s, d = 2, 4, 128, 64
    q, k, v = (g.tensor((b, h, s, d), name=n) for n in "qkv")
    q, k = g.elu(q) + 1.0, g.elu(k) + 1.0
    state = g.matmul(k, v, transpose_A=True)
    total = g.reduction(k, "add", axes=(2,))
    weight = g.matmul(q, total, transpose_B=True)
    (g.matmul(q, state) / weight).set_output(name="y")

    def oracle(q, k, v):
        q, k = F.elu(q) + 1, F.elu(k) + 1
        return {"y": q @ (k.mT @ v) / (q @ k.sum(2, True).mT)}

    return oracle


@block()
def gelu_mlp(g: Graph) -> Oracle:
    m, n = 256, 1024
    x = g.tensor((2, 64, m), name="x")
    w, b = (g.tensor((1, 1, m), name=name) for name in ("weight", "bias"))
    y, *_ = g.layernorm("inference", x, w, b, 1e-5)
    y = g.gelu_approx_tanh(_linear(g, y, m, n, "w1") + g.tensor((1, 1, n), name="b1"))
    y = _linear(g, y, n, m, "w2") + g.tensor((1, 1, m), name="b2")
    (y + x).set_output(name="y")

    def oracle(x, weight, bias, w1, b1, w2, b2):
        y = F.layer_norm(x, (m,), weight.flatten(), bias.flatten(), 1e-5)
        return {"y": F.gelu(y @ w1 + b1, approximate="tanh") @ w2 + b2 + x}

    return oracle


@block("bfloat16")
def swiglu_mlp(g: Graph) -> Oracle:
    m, n = 256, 704
    x, w = g.tensor((2, 64, m), name="x"), g.tensor((1, 1, m), name="weight")
    y, _ = g.rmsnorm("inference", x, w, None, 1e-5)
    gated = g.swish(_linear(g, y, m, n, "w1")) * _linear(g, y, m, n, "w3")
    (_linear(g, gated, n, m, "w2") + x).set_output(name="y")

    def oracle(x, weight, w1, w3, w2):
        y = _rms(x) * weight
        return {"y": (F.silu(y @ w1) * (y @ w3)) @ w2 + x}

    return oracle


@block()
def low_rank_linear(g: Graph) -> Oracle:
    m = 256
    x = g.tensor((2, 64, m), name="x")
    small = _linear(g, _linear(g, x, m, 16, "wa"), 16, m, "wb") * 2.0
    (_linear(g, x, m, m, "w") + small).set_output(name="y")
    return lambda x, wa, wb, w: {"y": x @ w + 2 * (x @ wa @ wb)}


@block()
def contrastive_scores(g: Graph) -> Oracle:
    """CLIP's: both sides of unit length, then all products."""
    a, b = g.tensor((1, 64, 256), name="a"), g.tensor((1, 64, 256), name="b")
    one, other = (x * g.rsqrt(g.reduction(x * x, "add", axes=(2,)) + 1e-12) for x in (a, b))
    (g.matmul(one, other, transpose_B=True) * 14.3).set_output(name="y")
    return lambda a, b: {"y": 14.3 * (F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).mT)}


# --- images --------------------------------------------------------------------------------------


def _conv(g: Graph, x: Any, c: int, k: int, size: int, name: str, **options: Any) -> Any:
    w = g.tensor((k, c, size, size), layout="nhwc", name=name)
    return g.conv_fprop(x, w, padding=size // 2, **options)


def _image(g: Graph, n: int, c: int, size: int, name: str = "x") -> Any:
    return g.tensor((n, c, size, size), layout="nhwc", name=name)


def _channels(g: Graph, c: int, *names: str, data_type: Any = None) -> list[Any]:
    return [g.tensor((1, c, 1, 1), layout="nhwc", name=n, data_type=data_type) for n in names]


@block()
def resnet_bottleneck(g: Graph) -> Oracle:
    x = _image(g, 2, 64, 14)
    y = x
    for i, (c, k, size) in enumerate(((64, 32, 1), (32, 32, 3), (32, 64, 1)), 1):
        scale, bias = _channels(g, k, f"scale{i}", f"bias{i}", data_type="float32")
        y = _conv(g, y, c, k, size, f"w{i}") * scale + bias
        y = g.relu(y if i < 3 else y + x)
    y.set_output(name="y")

    def oracle(x, w1, scale1, bias1, w2, scale2, bias2, w3, scale3, bias3):
        y = F.relu(F.conv2d(x, w1) * scale1 + bias1)
        y = F.relu(F.conv2d(y, w2, padding=1) * scale2 + bias2)
        return {"y": F.relu(F.conv2d(y, w3) * scale3 + bias3 + x)}

    return oracle


@block()
def squeeze_and_excitation(g: Graph) -> Oracle:
    n, c, size = 4, 64, 14
    x = _image(g, n, c, size)
    mean = g.reduction(x, "add", axes=(2, 3)) * (1 / size**2)
    rows = g.reshape(mean, (1, n, c), reshape_mode="logical")
    y = g.relu(_linear(g, rows, c, 16, "w1"))
    y = g.sigmoid(_linear(g, y, 16, c, "w2"))
    gate = g.reshape(y, (n, c, 1, 1), reshape_mode="logical")
    (x * gate).set_output(name="y")

    def oracle(x, w1, w2):
        y = torch.sigmoid(F.relu(x.mean((2, 3)) @ w1[0]) @ w2[0])
        return {"y": x * y[:, :, None, None]}

    return oracle


@block()
def pooled_classifier(g: Graph) -> Oracle:
    n, c, size = 4, 64, 7
    x = _image(g, n, c, size)
    mean = g.reduction(x, "add", axes=(2, 3)) * (1 / size**2)
    rows = g.reshape(mean, (1, n, c), reshape_mode="logical")
    (_linear(g, rows, c, 1000, "w") + g.tensor((1, 1, 1000), name="b")).set_output(name="y")
    return lambda x, w, b: {"y": x.mean((2, 3)) @ w + b}


@block()
def inverted_residual(g: Graph) -> Oracle:
    """MobileNet's, without its norms: wide, channels apart, narrow."""
    x = _image(g, 2, 32, 14)
    y = g.relu(_conv(g, x, 32, 128, 1, "w1"), upper_clip=6.0)
    y = g.relu(_conv(g, y, 1, 128, 3, "w2"), upper_clip=6.0)
    (_conv(g, y, 128, 32, 1, "w3") + x).set_output(name="y")

    def oracle(x, w1, w2, w3):
        y = F.relu6(F.conv2d(x, w1))
        y = F.relu6(F.conv2d(y, w2, padding=1, groups=128))
        return {"y": F.conv2d(y, w3) + x}

    return oracle


@block()
def convnext(g: Graph) -> Oracle:
    n, c, size = 2, 64, 14
    x = _image(g, n, c, size)
    y = _conv(g, x, 1, c, 7, "w0")
    rows = g.reshape(g.transpose(y, (0, 2, 3, 1)), (1, n * size * size, c))
    w, b = (g.tensor((1, 1, c), name=name) for name in ("weight", "bias"))
    rows, *_ = g.layernorm("inference", rows, w, b, 1e-6)
    rows = g.gelu(_linear(g, rows, c, 4 * c, "w1"))
    rows = _linear(g, rows, 4 * c, c, "w2")
    y = g.transpose(g.reshape(rows, (n, size, size, c)), (0, 3, 1, 2))
    (x + y).set_output(name="y")

    def oracle(x, w0, weight, bias, w1, w2):
        y = F.conv2d(x, w0, padding=3, groups=c).permute(0, 2, 3, 1)
        y = F.gelu(F.layer_norm(y, (c,), weight.flatten(), bias.flatten(), 1e-6) @ w1[0]) @ w2[0]
        return {"y": y.permute(0, 3, 1, 2) + x}

    return oracle


@block()
def upsampling_and_convolution(g: Graph) -> Oracle:
    x = _image(g, 2, 32, 8)
    y, _ = g.resample(x, "nearest", window=1, stride=Fraction(1, 2), post_padding=Fraction(1, 2))
    _conv(g, y, 32, 32, 3, "w").set_output(name="y")
    return lambda x, w: {"y": F.conv2d(F.interpolate(x, scale_factor=2), w, padding=1)}


@block()
def skip_and_convolution(g: Graph) -> Oracle:
    """Of a U-Net: two images side by side, then a convolution."""
    a, b = _image(g, 2, 32, 16, "a"), _image(g, 2, 32, 16, "b")
    g.relu(_conv(g, g.concatenate([a, b], axis=1), 64, 32, 3, "w")).set_output(name="y")
    return lambda a, b, w: {"y": F.relu(F.conv2d(torch.cat([a, b], 1), w, padding=1))}


@block()
def group_norm_and_swish(g: Graph) -> Oracle:
    n, c, size, groups = 2, 64, 8, 8
    x = _image(g, n, c, size)
    w, b = _channels(g, c, "weight", "bias")
    parts = g.reshape(x, (n, groups, c // groups, size, size), reshape_mode="logical")
    count = c // groups * size**2
    mean = g.reduction(parts, "add", axes=(2, 3, 4)) * (1 / count)
    centered = parts - mean
    variance = g.reduction(centered * centered, "add", axes=(2, 3, 4)) * (1 / count)
    y = g.reshape((parts - mean) * g.rsqrt(variance + 1e-5), (n, c, size, size))
    g.swish(y * w + b).set_output(name="y")
    return lambda x, weight, bias: {
        "y": F.silu(F.group_norm(x, groups, weight.flatten(), bias.flatten()))
    }


@block()
def patch_embedding(g: Graph) -> Oracle:
    x = _image(g, 2, 8, 64)
    w = g.tensor((128, 8, 16, 16), layout="nhwc", name="w")
    y = g.conv_fprop(x, w, stride=16)
    rows = g.reshape(g.transpose(y, (0, 2, 3, 1)), (2, 16, 128))
    (rows + g.tensor((1, 16, 128), name="positions")).set_output(name="y")
    return lambda x, w, positions: {
        "y": F.conv2d(x, w, stride=16).flatten(2).transpose(1, 2) + positions
    }


@block()
def gated_convolution(g: Graph) -> Oracle:
    """WaveNet's: tanh of one convolution times sigmoid of another."""
    x = _image(g, 2, 32, 16)
    a, b = _conv(g, x, 32, 32, 3, "wa"), _conv(g, x, 32, 32, 3, "wb")
    (g.tanh(a) * g.sigmoid(b)).set_output(name="y")
    return lambda x, wa, wb: {
        "y": torch.tanh(F.conv2d(x, wa, padding=1)) * torch.sigmoid(F.conv2d(x, wb, padding=1))
    }


@block()
def mish_convolution(g: Graph) -> Oracle:
    y = _conv(g, _image(g, 2, 32, 16), 32, 32, 3, "w")
    (y * g.tanh(g.softplus(y))).set_output(name="y")
    return lambda x, w: {"y": F.mish(F.conv2d(x, w, padding=1))}


@block()
def batch_norm_in_training(g: Graph) -> Oracle:
    x = _image(g, 4, 32, 14)
    scale, bias = _channels(g, 32, "scale", "bias", data_type="float32")
    y, mean, inverse, *_ = g.batchnorm(x, scale, bias, epsilon=1e-5)
    for each, name in ((mean, "mean"), (inverse, "inverse")):
        each.set_output(name=name, data_type="float32")
    g.relu(y).set_output(name="y")

    def oracle(x, scale, bias):
        y = F.batch_norm(x, None, None, scale.flatten(), bias.flatten(), True, eps=1e-5)
        mean, variance = x.mean((0, 2, 3), True), x.var((0, 2, 3), False, keepdim=True)
        return {"y": F.relu(y), "mean": mean, "inverse": torch.rsqrt(variance + 1e-5)}

    return oracle


@block()
def max_and_mean_of_channels(g: Graph) -> Oracle:
    """CBAM's attention over places."""
    x = _image(g, 2, 64, 16)
    both = [g.reduction(x, "max", axes=(1,)), g.reduction(x, "add", axes=(1,)) * (1 / 64)]
    y = _conv(g, g.concatenate(both, axis=1), 2, 1, 7, "w")
    (x * g.sigmoid(y)).set_output(name="y")

    def oracle(x, w):
        both = torch.cat([x.amax(1, True), x.mean(1, True)], 1)
        return {"y": x * torch.sigmoid(F.conv2d(both, w, padding=3))}

    return oracle


def described(each: Block) -> tuple[Graph, Oracle]:
    """The graph of a block, and what PyTorch computes."""
    graph = Graph(each.name, io_data_type=each.data_type)
    oracle = each.describe(graph)
    graph.validate()
    return graph, oracle


def operands(graph: Graph) -> dict[str, Any]:
    """Numbers for the inputs, as their data types have them: weights keep the size of results."""
    random = np.random.default_rng(7)
    found = {}
    for tensor in graph.inputs:
        dims, name = tensor.dims or (), tensor.name
        numbers: Any = random.standard_normal(dims)
        if name == "label":
            numbers = random.integers(0, 1000, dims)
        elif name in ("mask", "p"):
            numbers = random.random(dims) / (1 if name == "mask" else dims[-1])
        elif name.startswith("w") and len(dims) == 4:
            numbers /= math.sqrt(math.prod(dims[1:]))
        elif name.startswith("w") and name != "weight":
            numbers /= math.sqrt(dims[-2])
        found[name] = numbers.astype(numpy_dtype(tensor.data_type))
    return found


def error_of(each: Block, handle: Handle, **options: Any) -> float:
    """The largest error of a block by the size of its results, against float64 of PyTorch."""
    graph, oracle = described(each)
    numbers = operands(graph)
    exact = oracle(**{name: torch.from_numpy(x.astype("f8")) for name, x in numbers.items()})
    memory = {
        each.name: DeviceTensor.from_numpy(numbers[each.name], strides=each.strides)
        for each in graph.inputs
    }
    with graph:
        graph.build(handle, **options)
        got = graph.run(memory, handle=handle)
    worst = 0.0
    for name, expected in exact.items():
        value = torch.from_numpy(got[name].numpy().astype("f8"))
        assert value.shape == expected.shape, (name, value.shape, expected.shape)
        worst = max(worst, ((value - expected).abs().max() / expected.abs().max()).item())
        assert torch.isfinite(value).all(), f"{name} has NaN or infinity"
    return worst


def kind(each: Block, device: str) -> tuple[str, Partition | None]:
    """ "plan" if one engine takes a block, "program", or "none"; with the pieces of a program."""
    graph, _ = described(each)
    try:
        graph.build(device, program=False, cache=False).close()
        return "plan", None
    except (NotSupportedError, BadParamError, SymbolNotFoundError):
        pieces = graph.partition(device)
        return ("program" if pieces else "none"), pieces


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", action="append", help="presets; by default H100 and B200")
    parser.add_argument("--compute", action="store_true", help="on the reference device, too")
    parser.add_argument("--verbose", action="store_true", help="show the cuts")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    devices = given.device or ["H100", "B200"]
    counts: dict[tuple[str, str], int] = {}
    for each in BLOCKS:
        if given.names and each.name not in given.names:
            continue
        cells = []
        for device in devices:
            begun = time.perf_counter()
            found, pieces = kind(each, device)
            counts[device, found] = counts.get((device, found), 0) + 1
            cells.append(
                f"{device}: {found}"
                + (f" of {len(pieces)} ({pieces.launches} launches)" if pieces else "")
                + f" {time.perf_counter() - begun:.1f} s"
            )
            if given.verbose and pieces is not None:
                print(pieces)
        if given.compute:
            use_reference_device(device=devices[0])
            with Handle() as handle:
                try:
                    cells.append(f"error {error_of(each, handle):.1e}")
                except Exception as error:
                    cells.append(f"{type(error).__name__}: {str(error).splitlines()[0][:100]}")
        print(f"{each.name:34}{'; '.join(cells)}", flush=True)
    print(counts)


if __name__ == "__main__":
    main()
