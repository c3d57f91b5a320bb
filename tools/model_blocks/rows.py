"""Softmax, norms and losses: what works on each row by itself."""

from __future__ import annotations

from typing import Any

from .blocks import block
from .parts import Parts


@block("attention")
def softmax(p: Parts) -> Any:
    return p.softmax(p.input(8, 12, 64, 128))


def written_out(p: Parts, x: Any, axis: int) -> Any:
    """Softmax along an axis."""
    e = p.apply("exp", x - p.reduce("max", x, (axis,)))
    return e / p.reduce("add", e, (axis,))


@block("attention")
def softmax_written_out(p: Parts) -> Any:
    return written_out(p, p.input(8, 64, 256), 2)


@block("slot attention")
def softmax_of_columns(p: Parts) -> Any:
    return written_out(p, p.input(4, 64, 256), 1)


@block("classifier", "float32")
def log_softmax(p: Parts) -> Any:
    x = p.input(64, 1000)
    shifted = x - p.reduce("max", x, (1,))
    return shifted - p.apply("log", p.reduce("add", p.apply("exp", shifted), (1,)))


@block("attention")
def softmax_backward(p: Parts) -> Any:
    y, dy = p.input(8, 64, 256, name="p"), p.input(8, 64, 256, name="dy")
    return {"dx": y * (dy - p.reduce("add", y * dy, (2,)))}


@block("classifier", "float32")
def cross_entropy(p: Parts) -> Any:
    x, label = p.input(64, 1000), p.input(64, 1, data_type="int32", name="label")
    highest = p.reduce("max", x, (1,))
    total = p.reduce("add", p.apply("exp", x - highest), (1,))
    own = p.reduce("add", p.where(x, x * 0.0, p.is_label(x, label)), (1,))
    return p.apply("log", total) + highest - own


@block("classifier")
def cross_entropy_backward(p: Parts) -> Any:
    x, label = p.input(64, 1000), p.input(64, 1, data_type="int32", name="label")
    y = written_out(p, x, 1)
    return {"dx": p.where(y - 1.0, y, p.is_label(x, label))}


@block("detector", "float32")
def binary_cross_entropy(p: Parts) -> Any:
    x, y = p.input(64, 512), p.input(64, 512, name="mask")
    lost = p.apply("relu", x) - x * y + p.apply("log", p.apply("exp", -abs(x)) + 1.0)
    return p.reduce("avg", lost, (1,))


@block("distillation", "float32")
def divergence_of_two_classifiers(p: Parts) -> Any:
    x, z = p.input(64, 1000), p.input(64, 1000, name="z")
    y = p.softmax(x)
    return p.reduce("add", y * (p.apply("log", y) - p.apply("log", p.softmax(z))), (1,))


@block("variational autoencoder", "float32")
def gaussian_sample_and_divergence(p: Parts) -> Any:
    mean, spread, noise = (p.input(32, 256, name=n) for n in ("mean", "spread", "noise"))
    lost = mean * mean + p.apply("exp", spread) - spread - 1.0
    y = mean + p.apply("exp", spread * 0.5) * noise
    return {"y": y, "lost": p.reduce("add", lost * 0.5, (1,))}


@block("Llama")
def rms_norm(p: Parts) -> Any:
    return p.rms_norm(p.input(8, 128, 512), 512)


@block("Llama", "bfloat16")
def rms_norm_and_residual(p: Parts) -> Any:
    total = p.input(8, 128, 512) + p.input(8, 128, 512, name="r")
    return {"sum": total, "y": p.rms_norm(total, 512)}


@block("BERT")
def layer_norm(p: Parts) -> Any:
    return p.layer_norm(p.input(8, 128, 512), 512, data_type="float32")


@block("Llama")
def rms_norm_written_out(p: Parts) -> Any:
    x = p.input(8, 128, 512)
    inverse = p.apply("rsqrt", p.reduce("avg", p.apply("square", x), (2,)) + 1e-6)
    return x * inverse * p.weight(1, 1, 512, kind="gain")


@block("diffusion transformer")
def modulated_layer_norm(p: Parts) -> Any:
    x = p.input(4, 64, 256)
    shift, scale = (p.input(4, 1, 256, name=n) for n in ("shift", "scale"))
    mean = p.reduce("avg", x, (2,))
    variance = p.reduce("avg", p.apply("square", x - mean), (2,))
    return (x - mean) * p.apply("rsqrt", variance + 1e-6) * (scale + 1.0) + shift


@block("Llama")
def rotary_embedding(p: Parts) -> Any:
    return p.rope(p.input(2, 64, 8, 64), p.input(1, 64, 1, 64, data_type="float32", name="angles"))


@block("contrastive model")
def unit_length(p: Parts) -> Any:
    x = p.input(64, 512)
    return x * p.apply("rsqrt", p.reduce("add", p.apply("square", x), (1,)) + 1e-12)


@block("sentence embedding")
def masked_mean_of_tokens(p: Parts) -> Any:
    x, mask = p.input(8, 64, 256), p.input(8, 64, 1, name="mask")
    return p.reduce("add", x * mask, (1,)) / p.reduce("add", mask, (1,))


@block("sentence embedding", "float32")
def mean_and_deviation_of_tokens(p: Parts) -> Any:
    x = p.input(8, 64, 256)
    mean = p.reduce("avg", x, (1,))
    variance = p.reduce("avg", p.apply("square", x - mean), (1,))
    return {"y": mean, "deviation": p.apply("sqrt", variance)}


@block("diffusion transformer", "float32")
def embedding_of_times(p: Parts) -> Any:
    angles = p.input(1, 8, 1, name="times") * p.input(1, 1, 128, name="frequencies")
    both = p.cat([p.apply("cos", angles), p.apply("sin", angles)], 2)
    y = p.apply("silu", p.linear(both, 256, 384, bias=True))
    return p.linear(y, 384, 384, bias=True)
