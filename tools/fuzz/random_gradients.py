"""Random gradients of normalizations, pooling and activations; see `random_graphs`."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cudnn_ctypes.graph import Graph, Tensor
from cudnn_ctypes.raw.strides import packed

__all__ = ["FAMILIES", "PREPARED", "image"]

Parameters = dict[str, Any]
Case = Mapping[str, Any]
TYPES = ("float16", "bfloat16", "float32")
DERIVATIVES = ("relu", "gelu", "gelu_approx_tanh", "sigmoid", "tanh", "swish", "elu", "softplus")
_EPSILON = 1e-3


def image(graph: Graph, name: str, dims: Any, last: bool, data_type: Any = None) -> Tensor:
    """An input in C order, or with the channels innermost."""
    order = (0, *range(2, len(dims)), 1) if last else None
    return graph.tensor(dims, packed(dims, order), data_type, name=name)


# --- normalizations ------------------------------------------------------------------------------


def _draw_norm(rng: random.Random) -> Parameters:
    mode = rng.choice(["layer", "rms", "batch", "instance"])
    dims = [rng.randint(1, 4), 8 * rng.randint(1, 8), *(rng.randint(2, 12) for _ in range(2))]
    if mode in ("layer", "rms") and rng.random() < 0.5:
        dims = [dims[0] * dims[2], dims[1], 1, 1]
    scale = rng.choice([None, "float32"]) if mode in ("layer", "rms") else "float32"
    return {"io": rng.choice(TYPES), "mode": mode, "x": dims, "scale": scale}


def _shapes(case: Case) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Dims of the scale, and of the statistics."""
    n, c, *rest = case["x"]
    few = (1, c, 1, 1) if case["mode"] in ("batch", "instance") else (1, c, *rest)
    return few, {"batch": (1, c, 1, 1), "instance": (n, c, 1, 1)}.get(case["mode"], (n, 1, 1, 1))


def _norm(graph: Graph, case: Case) -> Tensor:
    few, statistics = _shapes(case)
    dy, x = (image(graph, name, case["x"], True) for name in ("dy", "x"))
    scale = image(graph, "scale", few, True, case["scale"])
    centered = case["mode"] != "rms"
    names = ("mean", "inv_variance") if centered else ("inv_variance",)
    given = {name: image(graph, name, statistics, True, "float32") for name in names}
    results = graph.norm_backward(case["mode"], dy, x, scale, has_dbias=centered, **given)
    for name in results.keys() - {"dx"}:
        results[name].set_output(name=name, data_type="float32")
    return results["dx"]


def _prepare_norm(case: Case, arrays: dict[str, Any]) -> None:
    """Statistics that are those of x."""
    x = arrays["x"].astype(np.float64)
    _, statistics = _shapes(case)
    axes = tuple(axis for axis, size in enumerate(statistics) if size == 1)
    mean = x.mean(axes, keepdims=True) if case["mode"] != "rms" else 0.0
    inv = 1 / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + _EPSILON)
    for name, values in (("mean", mean), ("inv_variance", inv)):
        if name in arrays:
            arrays[name] = np.asarray(values, np.float32)


# --- pooling -------------------------------------------------------------------------------------


def _draw_pooling(rng: random.Random) -> Parameters:
    window = rng.randint(2, 3)
    mode = rng.choice(["maxpool", "avgpool", "avgpool_exclude_padding"])
    sizes = [rng.choice([window, *range(4, 17)]) for _ in range(2)]
    return {
        "io": rng.choice(TYPES),
        "x": [rng.randint(1, 3), 8 * rng.randint(1, 4), *sizes],
        "mode": mode,
        "window": window,
        "stride": rng.randint(1, 2),
        # An index may lead into the padding only where there is none.
        "padding": 0 if mode == "maxpool" else rng.randint(0, window // 2),
        "last": mode == "maxpool" or rng.random() < 0.7,
    }


def _pooling(graph: Graph, case: Case) -> Tensor:
    options = {name: case[name] for name in ("window", "stride", "padding")}
    shapes = Graph(io_data_type="float32")
    y = shapes.resample(shapes.tensor(case["x"]), case["mode"], **options)[0].set_output()
    shapes.validate()
    dy = image(graph, "dy", y.dims, case["last"])
    if case["mode"] == "maxpool":
        index = image(graph, "index", y.dims, case["last"], "int8")
        dx = graph.resample_backward(dy, case["mode"], index=index, **options)
    elif case["last"]:
        dx = graph.resample_backward(dy, case["mode"], **options)
    else:
        given = {
            "input": image(graph, "x", case["x"], False),
            "y": image(graph, "y_", y.dims, False),
        }
        dx = graph.resample_backward(dy, case["mode"], **given, **options)
    order = (0, 2, 3, 1) if case["last"] else None
    return dx.set_output(False, dims=case["x"], strides=packed(case["x"], order))


def _prepare_pooling(case: Case, arrays: dict[str, Any]) -> None:
    """Indices within the window."""
    if "index" in arrays:
        rng = np.random.default_rng(case["seed"])
        arrays["index"] = rng.integers(0, case["window"] ** 2, arrays["index"].shape, np.int8)


# --- activations ---------------------------------------------------------------------------------


def _draw_activation(rng: random.Random) -> Parameters:
    return {
        "io": rng.choice(TYPES),
        "mode": rng.choice(DERIVATIVES),
        "product": rng.random() < 0.4,
        "sizes": [8 * rng.randint(1, 8) for _ in range(3)],
        "batch": rng.randint(1, 3),
        "chain": [[rng.choice(["neg", "abs"])]] if rng.random() < 0.3 else [],
    }


def _activation(graph: Graph, case: Case) -> Tensor:
    """The gradient of an activation, of a product or of an input."""
    m, n, k = case["sizes"]
    b = case["batch"]
    dy = (
        graph.matmul(graph.tensor((b, m, k), name="a"), graph.tensor((b, k, n), name="b"))
        if case["product"]
        else graph.tensor((b, m, n), name="dy")
    )
    derivative: Callable[..., Tensor] = getattr(graph, f"{case['mode']}_backward")
    return derivative(dy, graph.tensor((b, m, n), name="x"))


FAMILIES: dict[
    str, tuple[Callable[[random.Random], Parameters], Callable[[Graph, Case], Tensor]]
] = {
    "norm backward": (_draw_norm, _norm),
    "resample backward": (_draw_pooling, _pooling),
    "activation backward": (_draw_activation, _activation),
}
"""As in `random_graphs`."""

PREPARED: dict[str, Callable[[Case, dict[str, Any]], None]] = {
    "norm backward": _prepare_norm,
    "resample backward": _prepare_pooling,
}
"""What changes the random inputs of a family."""
