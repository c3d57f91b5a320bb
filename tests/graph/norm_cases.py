"""Normalizations and pooling; see `cases`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.tensor import Tensor

from .cases import Arrays, _torch, case, gradients, image

TOKENS = (64, 512, 1, 1)
PIXELS = (4, 32, 14, 14)
EPSILON = 1e-3

# By mode: the input, the scale, and the axes of the sums.
MODES: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "layer": (TOKENS, (1, 512, 1, 1), (1,)),
    "rms": (TOKENS, (1, 512, 1, 1), (1,)),
    "instance": (PIXELS, (1, 32, 1, 1), (2, 3)),
    "batch": (PIXELS, (1, 32, 1, 1), (0, 2, 3)),
}


def _statistics(mode: str, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    axes = MODES[mode][2]
    if mode == "rms":
        mean = np.zeros(1)
        variance = (x**2).mean(axes, keepdims=True)
    else:
        mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return mean, 1 / np.sqrt(variance + EPSILON)


def _parameters(graph: Graph, mode: str) -> list[Tensor]:
    names = ["scale"] if mode == "rms" else ["scale", "bias"]
    return [graph.tensor(MODES[mode][1], data_type="float32", name=name) for name in names]


def _forward(mode: str, phase: str) -> None:
    def describe(graph: Graph) -> None:
        scale, *bias = _parameters(graph, mode)
        results = graph.norm_forward(
            mode, phase, image(graph, "x", MODES[mode][0]), scale, *bias or [None], EPSILON
        )
        for name, tensor in results.items():
            tensor.set_output(name=name)

    def compute(a: Arrays) -> Arrays:
        mean, inv = _statistics(mode, a["x"])
        y = (a["x"] - mean) * inv * a["scale"] + a.get("bias", 0)
        found = {"y": y}
        if phase == "training":
            found |= {"inv_variance": inv} if mode == "rms" else {"mean": mean, "inv_variance": inv}
        return found

    case(f"{mode} norm, {phase}", describe, compute)


def _backward(mode: str) -> None:
    dims, scale_dims, axes = MODES[mode]
    names = ("inv_variance",) if mode == "rms" else ("mean", "inv_variance")
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(dims))

    def describe(graph: Graph) -> None:
        x, dy = image(graph, "x", dims), image(graph, "dy", dims)
        scale = graph.tensor(scale_dims, data_type="float32", name="scale")
        saved = {name: graph.tensor(kept, data_type="float32", name=name) for name in names}
        results = graph.norm_backward(mode, dy, x, scale, **saved, has_dbias=mode != "rms")
        for name, tensor in results.items():
            tensor.set_output(name=name)

    def normalized(x: Any, scale: Any, bias: Any) -> Any:
        if mode == "rms":
            return x * (x**2).mean(axes, keepdim=True).rsqrt() * scale + bias
        centred = x - x.mean(axes, keepdim=True)
        return centred * x.var(axes, keepdim=True, correction=0).rsqrt() * scale + bias

    def compute(a: Arrays) -> Arrays:
        dx, dscale, dbias = gradients(normalized, a["dy"], a["x"], a["scale"], np.zeros(scale_dims))
        found = {"dx": dx, "dscale": dscale}
        return found if mode == "rms" else {**found, "dbias": dbias}

    def prepare(a: dict[str, NDArray[Any]]) -> None:
        """The saved statistics belong to x."""
        a["mean"] = a["x"].mean(axes, keepdims=True)
        spread = (
            (a["x"] ** 2).mean(axes, keepdims=True)
            if mode == "rms"
            else a["x"].var(axes, keepdims=True)
        )
        a["inv_variance"] = 1 / np.sqrt(spread)

    case(f"{mode} norm, backward", describe, compute, prepare=prepare)


for _mode in MODES:
    for _phase in ("training", "inference") if _mode != "batch" else ("training",):
        _forward(_mode, _phase)
    _backward(_mode)


def _batch_running(graph: Graph) -> None:
    dims = MODES["batch"][1]
    x = image(graph, "x", PIXELS)
    operands = [
        graph.tensor(dims, data_type="float32", name=name)
        for name in ("scale", "bias", "running_mean", "running_var")
    ]
    names = ("y", "mean", "inv_variance", "next_mean", "next_var")
    for tensor, name in zip(graph.batchnorm(x, *operands, EPSILON, 0.1), names, strict=True):
        assert tensor is not None
        tensor.set_output(name=name)


def _running(a: Arrays) -> Arrays:
    mean, inv = _statistics("batch", a["x"])
    count = a["x"].size // a["x"].shape[1]
    variance = a["x"].var((0, 2, 3), keepdims=True) * count / (count - 1)
    return {
        "y": (a["x"] - mean) * inv * a["scale"] + a["bias"],
        "mean": mean,
        "inv_variance": inv,
        "next_mean": 0.9 * a["running_mean"] + 0.1 * mean,
        "next_var": 0.9 * a["running_var"] + 0.1 * variance,
    }


case("batch norm with running statistics", _batch_running, _running)


# --- pooling -------------------------------------------------------------------------------------


def _pool(name: str, mode: str, function: Callable[..., Any], **options: Any) -> None:
    case(
        name,
        lambda g: g.resample(image(g, "x"), mode, **options)[0].set_output(name="y"),
        lambda a: {"y": function(_torch().tensor(a["x"])).numpy()},
    )


def _pooling(name: str, *arguments: Any, **options: Any) -> Callable[..., Any]:
    return lambda x: getattr(_torch().nn.functional, name)(x, *arguments, **options)


_pool("max pooling", "maxpool", _pooling("max_pool2d", 2, 2), window=2, stride=2)
_pool(
    "max pooling, padded",
    "maxpool",
    _pooling("max_pool2d", 3, 2, 1),
    window=3,
    stride=2,
    padding=1,
)
_pool("average pooling", "avgpool", _pooling("avg_pool2d", 3, 2, 1), window=3, stride=2, padding=1)
_pool(
    "average pooling without padding",
    "avgpool_exclude_padding",
    _pooling("avg_pool2d", 3, 2, 1, count_include_pad=False),
    window=3,
    stride=2,
    padding=1,
)
case(
    "average pooling, backward",
    lambda g: g.resample_backward(
        image(g, "dy", (4, 32, 7, 7)), "avgpool", window=2, stride=2
    ).set_output(name="dx", dims=PIXELS),
    lambda a: {"dx": gradients(_pooling("avg_pool2d", 2, 2), a["dy"], np.zeros(PIXELS))[0]},
)


# --- batch normalization in parts ----------------------------------------------------------------


def _finalize(graph: Graph) -> None:
    dims = MODES["batch"][1]
    names = ("sum", "sq_sum", "scale", "bias", "running_mean", "running_var")
    total, squares, scale, bias, mean, variance = (
        graph.tensor(dims, data_type="float32", name=name) for name in names
    )
    results = graph.bn_finalize(
        total, squares, scale, bias, EPSILON, COUNT, mean, variance, momentum=0.1
    )
    names = ("eq_scale", "eq_bias", "mean", "inv_variance", "next_mean", "next_var")
    for tensor, name in zip(results, names, strict=True):
        assert tensor is not None
        tensor.set_output(name=name)


COUNT = 784


def _finalized(a: Arrays) -> Arrays:
    mean = a["sum"] / COUNT
    variance = a["sq_sum"] / COUNT - mean**2
    inv = 1 / np.sqrt(variance + EPSILON)
    return {
        "eq_scale": a["scale"] * inv,
        "eq_bias": a["bias"] - mean * a["scale"] * inv,
        "mean": mean,
        "inv_variance": inv,
        "next_mean": 0.9 * a["running_mean"] + 0.1 * mean,
        "next_var": 0.9 * a["running_var"] + 0.1 * variance * COUNT / (COUNT - 1),
    }


case(
    "batch norm, finalize",
    _finalize,
    _finalized,
    ranges={"sum": (-400.0, 400.0), "sq_sum": (1500.0, 3000.0)},
)


def _inference(graph: Graph) -> None:
    dims = MODES["batch"][1]
    names = ("mean", "inv_variance", "scale", "bias")
    operands = [graph.tensor(dims, data_type="float32", name=name) for name in names]
    y = graph.batchnorm_inference(image(graph, "x", PIXELS), *operands)
    graph.relu(y).set_output(name="y")


case(
    "batch norm, inference, + relu",
    _inference,
    lambda a: {
        "y": np.maximum((a["x"] - a["mean"]) * a["inv_variance"] * a["scale"] + a["bias"], 0)
    },
)
