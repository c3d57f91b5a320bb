"""Normalizations with element-wise operations after them; see `cases`.

Without a GPU they compile too, as far as the stand-in for the driver answers what they ask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

from .cases import Arrays, case, channels_last
from .norm_cases import EPSILON, FORWARD, TYPES, outputs

TOKENS = (64, 512, 1, 1)
PARAMETERS = (1, 512, 1, 1)
ONE = (1, 1, 1, 1)

After = Callable[[Graph, Tensor], Tensor]


def _tokens(graph: Graph, name: str) -> Tensor:
    return graph.tensor(TOKENS, channels_last(TOKENS), name=name)


def _parameter(graph: Graph, name: str, data_type: Any = None) -> Tensor:
    return graph.tensor(PARAMETERS, channels_last(PARAMETERS), data_type, name=name)


def _normal(mode: str, a: Arrays) -> Arrays:
    """The result, and what the backward pass needs."""
    x = a["x"]
    mean = x.mean(1, keepdims=True) if mode == "layer" else np.zeros((len(x), *ONE[1:]))
    inv = 1 / np.sqrt(((x - mean) ** 2).mean(1, keepdims=True) + EPSILON)
    y = (x - mean) * inv * a["scale"] + a.get("bias", 0)
    return {"y": y, "mean": mean, "inv_variance": inv}


def _fused(name: str, mode: str, after: After, compute: Any, phase: str, **options: Any) -> None:
    def describe(graph: Graph) -> None:
        bias = _parameter(graph, "bias") if mode == "layer" else None
        results = graph.norm_forward(
            mode, phase, _tokens(graph, "x"), _parameter(graph, "scale"), bias, EPSILON
        )
        outputs({each: tensor for each, tensor in results.items() if each != "y"})
        after(graph, results["y"]).set_output(name="y")

    def result(a: Arrays) -> Arrays:
        found = _normal(mode, a)
        saved = ("mean", "inv_variance") if mode == "layer" else ("inv_variance",)
        kept = saved if phase == "training" else ()
        return {"y": compute(found["y"], a), **{each: found[each] for each in kept}}

    case(f"{name}, {phase}{options.pop('suffix', '')}", describe, result, **options)


def _quantized(graph: Graph, y: Tensor) -> Tensor:
    scale = graph.tensor(ONE, data_type="float32", name="scale_y")
    return graph.mul(y, scale).set_output(data_type="fp8_e4m3")


for _io in TYPES:
    _options: dict[str, Any] = {
        "io": _io,
        "suffix": f", {_io}",
        "tolerance": FORWARD[_io],
        "here": _io == "float16",
    }
    for _phase in ("inference", "training"):
        _fused(
            "layer norm + z, relu",
            "layer",
            lambda g, y: g.relu(g.add(y, _tokens(g, "z"))),
            lambda y, a: np.maximum(y + a["z"], 0),
            _phase,
            **_options,
        )
        _fused(
            "rms norm * z",
            "rms",
            lambda g, y: g.mul(y, _tokens(g, "z")),
            lambda y, a: y * a["z"],
            _phase,
            **_options,
        )
    _fused(
        "rms norm * scale, rounded to fp8_e4m3",
        "rms",
        _quantized,
        lambda y, a: y * a["scale_y"],
        "inference",
        # Numbers of 3 bits behind the point; the largest is about 12.
        **{**_options, "tolerance": 2.0**-4, "ranges": {"scale_y": (0.5, 1.0)}},
    )
