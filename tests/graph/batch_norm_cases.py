"""Batch normalization with what comes before and after it, and in parts; see `cases`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

from .cases import IMAGE, Arrays, case, image
from .norm_cases import AXES, BACKWARD, CHANNELS, EPSILON, FORWARD, SETTINGS, TYPES, outputs

# --- batch normalization with running statistics, and what comes after it ------------------------

RUNNING = ("y", "mean", "inv_variance", "next_mean", "next_var")


def _running(a: Arrays) -> dict[str, Any]:
    mean, variance = SETTINGS["batch norm"].spread(a["x"])
    inv = 1 / np.sqrt(variance + EPSILON)
    count = a["x"].size // a["x"].shape[1]
    return {
        "y": (a["x"] - mean) * inv * a["scale"] + a["bias"],
        "mean": mean,
        "inv_variance": inv,
        "next_mean": 0.9 * a["running_mean"] + 0.1 * mean,
        "next_var": 0.9 * a["running_var"] + 0.1 * variance * count / (count - 1),
    }


After = Callable[[Graph, Tensor], Tensor]


def _batch_running(name: str, after: After, compute: Any, **options: Any) -> None:
    def describe(graph: Graph) -> None:
        operands = [
            graph.tensor(CHANNELS, data_type="float32", name=each)
            for each in ("scale", "bias", "running_mean", "running_var")
        ]
        results = graph.batchnorm(image(graph, "x"), *operands, EPSILON, 0.1)
        for tensor, each in zip(results[1:], RUNNING[1:], strict=True):
            assert tensor is not None
            tensor.set_output(name=each)
        after(graph, results[0]).set_output(name="y")

    def result(a: Arrays) -> Arrays:
        found = _running(a)
        return found | {"y": compute(found["y"], a)}

    for io in TYPES:
        case(
            f"{name}, {io}",
            describe,
            result,
            io=io,
            tolerance=FORWARD[io],
            here=io == "float16",
            **options,
        )


_batch_running("batch norm with running statistics", lambda g, y: y, lambda y, a: y)
_batch_running(
    "batch norm + relu", lambda g, y: g.relu(y), lambda y, a: np.maximum(y, 0), one_kernel=True
)
_batch_running(
    "batch norm + z, relu",
    lambda g, y: g.relu(g.add(y, image(g, "z"))),
    lambda y, a: np.maximum(y + a["z"], 0),
    one_kernel=True,
)


def _masked_backward(graph: Graph) -> None:
    """The mask, a bit for each element, is what the forward pass with a relu gave."""
    dy = graph.mul(image(graph, "dy"), image(graph, "mask", IMAGE, "boolean"))
    operands = [
        graph.tensor(CHANNELS, data_type="float32", name=name)
        for name in ("scale", "mean", "inv_variance")
    ]
    outputs(graph.norm_backward("batch", dy, image(graph, "x"), *operands))


def _masked_gradients(a: Arrays) -> Arrays:
    """With the given statistics, whatever those of x are."""
    normal = (a["x"] - a["mean"]) * a["inv_variance"]
    dy = a["dy"] * a["mask"]
    dscale = (dy * normal).sum(AXES, keepdims=True)
    dbias = dy.sum(AXES, keepdims=True)
    count = dy.size // dy.shape[1]
    inner = dy - (dbias + normal * dscale) / count
    return {"dx": inner * a["inv_variance"] * a["scale"], "dscale": dscale, "dbias": dbias}


for _io in ("float16", "float32"):
    case(
        f"batch norm backward of masked dy, {_io}",
        _masked_backward,
        _masked_gradients,
        io=_io,
        intermediate=_io,
        ranges={"inv_variance": (0.5, 1.5)},
        tolerance=BACKWARD[_io],
    )


# --- batch normalization in parts ----------------------------------------------------------------

COUNT = 784


def _finalize(graph: Graph) -> None:
    names = ("sum", "sq_sum", "scale", "bias", "running_mean", "running_var")
    total, squares, scale, bias, mean, variance = (
        graph.tensor(CHANNELS, data_type="float32", name=name) for name in names
    )
    results = graph.bn_finalize(
        total, squares, scale, bias, EPSILON, COUNT, mean, variance, momentum=0.1
    )
    names = ("eq_scale", "eq_bias", "mean", "inv_variance", "next_mean", "next_var")
    for tensor, name in zip(results, names, strict=True):
        assert tensor is not None
        tensor.set_output(name=name)


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
    tolerance=FORWARD["float32"],
)


def _inference(graph: Graph) -> None:
    names = ("mean", "inv_variance", "scale", "bias")
    operands = [graph.tensor(CHANNELS, data_type="float32", name=name) for name in names]
    y = graph.batchnorm_inference(image(graph, "x"), *operands)
    graph.relu(y).set_output(name="y")


for _io in TYPES:
    case(
        f"batch norm, inference, + relu, {_io}",
        _inference,
        lambda a: {
            "y": np.maximum((a["x"] - a["mean"]) * a["inv_variance"] * a["scale"] + a["bias"], 0)
        },
        io=_io,
        tolerance=FORWARD[_io],
        here=_io == "float16",
        one_kernel=True,
    )
