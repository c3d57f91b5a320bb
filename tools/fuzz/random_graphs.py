"""Random graphs of a few families, each described by a small mapping that JSON can hold."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from cudnn_ctypes.graph import Graph, Tensor
from cudnn_ctypes.raw.strides import packed

from . import random_gradients
from .random_gradients import image

__all__ = ["FAMILIES", "describe", "draw", "prepare"]

Parameters = dict[str, Any]
TYPES = ("float16", "bfloat16", "float32")
ACTIVATIONS = ("relu", "gelu", "sigmoid", "tanh", "swish", "elu", "softplus", "abs", "neg", "erf")
JOINS = ("add", "mul", "sub", "max", "min")


def draw(family: str, seed: int) -> Parameters:
    """The case of this family and seed."""
    rng = random.Random(f"{family} {seed}")
    return {"family": family, "seed": seed, **FAMILIES[family][0](rng)}


def describe(case: Mapping[str, Any]) -> Graph:
    """The graph of a case; all inputs and outputs have names."""
    graph = Graph(io_data_type=case["io"])
    result = FAMILIES[case["family"]][1](graph, case)
    for step in case.get("chain", ()):
        result = _step(graph, result, step)
    result.set_output(name="y", **_kept(case))
    return graph


def prepare(case: Mapping[str, Any], arrays: dict[str, Any]) -> None:
    """Change the random inputs of a case: those that depend on others, and indices."""
    change = random_gradients.PREPARED.get(case["family"])
    if change is not None:
        change(case, arrays)


def _kept(case: Mapping[str, Any]) -> dict[str, Any]:
    return {"data_type": case["result"]} if case.get("result") else {}


def _chain(rng: random.Random, longest: int) -> list[list[Any]]:
    """Element-wise operations one after the other: an activation, or a join with dims."""
    steps: list[list[Any]] = []
    for _ in range(rng.randint(0, longest)):
        if rng.random() < 0.5:
            steps.append([rng.choice(ACTIVATIONS)])
        else:
            steps.append([rng.choice(JOINS), rng.choice(["number", "channels", "full"])])
    return steps


def _step(graph: Graph, x: Tensor, step: list[Any]) -> Tensor:
    if len(step) == 1:
        result: Tensor = getattr(graph, step[0])(x)
        return result
    dims, strides = _settled(graph, x)
    if step[1] == "number":
        joined: Tensor = getattr(graph, step[0])(x, 0.75)
        return joined
    if step[1] == "channels":  # the innermost dimension in memory
        inner = strides.index(min(strides[1:], default=1), 1)
        dims = tuple(size if axis == inner else 1 for axis, size in enumerate(dims))
        strides = (1,) * len(dims)
    other = graph.tensor(dims, strides, name=f"b{len(graph.nodes)}")
    return getattr(graph, step[0])(x, other)  # type: ignore[no-any-return]


def _settled(graph: Graph, x: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dims and strides of a result, by validating the graph so far."""
    before = x.data_type
    x.set_output()
    graph.validate()
    x.virtual, x.data_type = not any(x is each for each in graph.inputs), before
    assert x.dims is not None
    assert x.strides is not None
    return x.dims, x.strides


# --- families ------------------------------------------------------------------------------------


def _draw_convolution(rng: random.Random) -> Parameters:
    rank = rng.choice([1, 2, 2, 2, 3])
    plain = rng.random() < 0.6  # as most programs have them
    groups = 1 if plain else rng.choice([1, 1, 1, 2])
    window = [rng.choice([1, 3]) if plain else rng.randint(1, 3) for _ in range(rank)]
    image = _sizes(rng, rank)
    if plain and rng.random() < 0.15:
        image = [1] * rank
    return {
        "io": rng.choice(TYPES),
        "kind": rng.choice(["fprop", "fprop", "dgrad", "wgrad"]),
        "x": [rng.choice([1, 2, 3, 5, 8]), _channels(rng, 1, 2, 3, 4) * groups, *image],
        "filters": _channels(rng, 1, 2, 3, 4, 8) * groups,
        "groups": groups,
        "window": window,
        "padding": [size // 2 if plain else rng.randint(0, size - 1) for size in window],
        "stride": [1 if plain else rng.randint(1, 2) for _ in window],
        "dilation": [1 if plain else rng.choice([1, 1, 2]) for _ in window],
        "last": rng.random() < 0.85,
        "chain": _chain(rng, 2),
    }


def _channels(rng: random.Random, *eights: int) -> int:
    """A multiple of 8, or another number."""
    return 8 * rng.choice(eights) if rng.random() < 0.85 else rng.choice([1, 2, 3, 4, 12, 20])


def _sizes(rng: random.Random, rank: int) -> list[int]:
    return [rng.randint(5, 16 if rank < 3 else 8) for _ in range(rank)]


def _convolution(graph: Graph, case: Mapping[str, Any]) -> Tensor:
    options = {name: case[name] for name in ("padding", "stride", "dilation")}
    x_dims, w_dims = case["x"], (case["filters"], case["x"][1] // case["groups"], *case["window"])
    shapes = Graph(io_data_type="float32")
    y = shapes.conv_fprop(shapes.tensor(x_dims), shapes.tensor(w_dims), **options).set_output()
    shapes.validate()
    x, w, dy = (
        lambda: image(graph, "x", x_dims, case["last"]),
        lambda: image(graph, "w", w_dims, case["last"]),
        lambda: image(graph, "dy", y.dims, case["last"]),
    )
    if case["kind"] == "fprop":
        return graph.conv_fprop(x(), w(), **options)
    if case["kind"] == "dgrad":
        return graph.conv_dgrad(dy(), w(), **options).set_output(False, dims=x_dims)
    return graph.conv_wgrad(x(), dy(), **options).set_output(False, dims=w_dims)


def _draw_matmul(rng: random.Random) -> Parameters:
    return {
        "io": rng.choice(TYPES),
        "batches": [rng.randint(1, 3), rng.choice([1, 0])],
        "sizes": [rng.choice([1, 7, 8, 16, 33, 40, 64, 100, 128]) for _ in range(3)],
        "columns": [rng.random() < 0.3, rng.random() < 0.3],
        "chain": _chain(rng, 4),
        "result": rng.choice([None, None, "float32"]),
    }


def _matmul(graph: Graph, case: Mapping[str, Any]) -> Tensor:
    (m, n, k), (batch, one) = case["sizes"], case["batches"]
    operands = []
    for name, dims, turned in zip(
        "ab", ((batch, m, k), (1 if one else batch, k, n)), case["columns"], strict=True
    ):
        operands.append(graph.tensor(dims, packed(dims, (0, 2, 1) if turned else None), name=name))
    return graph.matmul(*operands)


def _draw_norm(rng: random.Random) -> Parameters:
    channels = _channels(rng, rng.randint(1, 7), 8, 16, 32)
    return {
        "io": rng.choice(TYPES),
        "mode": rng.choice(["layer", "layer", "rms", "rms", "batch", "instance"]),
        "x": [rng.randint(1, 4), channels, *(rng.randint(1, 12) for _ in range(2))],
        "tokens": rng.random() < 0.7,
        "inference": rng.random() < 0.6,
        "scale": rng.choice([None, None, "float32"]),
        "chain": [[rng.choice(ACTIVATIONS)]] if rng.random() < 0.3 else [],
    }


def _norm(graph: Graph, case: Mapping[str, Any]) -> Tensor:
    dims, mode = case["x"], case["mode"]
    if mode in ("layer", "rms") and case["tokens"]:
        dims = (dims[0] * dims[2], dims[1], 1, 1)
    few = (1, dims[1], 1, 1) if mode in ("batch", "instance") else (1, *dims[1:])
    kind = case["scale"] if mode in ("layer", "rms") else "float32"
    x, scale = image(graph, "x", dims, True), image(graph, "scale", few, True, kind)
    bias = None if mode == "rms" else image(graph, "bias", few, True, kind)
    phase = "inference" if case["inference"] and mode in ("layer", "rms") else "training"
    results = graph.norm_forward(mode, phase, x, scale, bias, 1e-3)
    for name in results.keys() - {"y"}:
        results[name].set_output(name=name)
    return results["y"]


def _draw_reduction(rng: random.Random) -> Parameters:
    if rng.random() < 0.2:
        dims = [rng.choice([2, 3, 8, 16, 40]) for _ in range(3)]
        axes = rng.choice([[0], [1], [2], [0, 1, 2]])
    else:
        pixels = [rng.randint(1, 16) for _ in range(2)]
        dims = [rng.randint(1, 6), _channels(rng, *range(1, 9)), *pixels]
        axes = rng.choice([[0, 2, 3], [0, 2, 3], [1], [1], [3], [0], [0, 1, 2, 3]])
    return {
        "io": rng.choice(TYPES),
        "x": dims,
        "axes": axes,
        "last": len(dims) == 4 and rng.random() < 0.9,
        "mode": rng.choice(["add", "min", "max", "amax"]),
        "before": rng.choice([[], [["relu"]], [["neg"], ["sigmoid"]]]),
        "result": "float32",
    }


def _reduction(graph: Graph, case: Mapping[str, Any]) -> Tensor:
    x = image(graph, "x", case["x"], case["last"])
    for step in case["before"]:
        x = _step(graph, x, step)
    return graph.reduction(x, case["mode"], axes=case["axes"])


def _draw_resample(rng: random.Random) -> Parameters:
    window = rng.randint(2, 3)
    sizes = [rng.choice([window, *range(4, 17)]) for _ in range(2)]
    return {
        "io": rng.choice(TYPES),
        "x": [rng.randint(1, 3), _channels(rng, 1, 2, 3, 4), *sizes],
        "mode": rng.choice(["maxpool", "avgpool", "avgpool_exclude_padding"]),
        "window": window,
        "stride": rng.randint(1, 2),
        "padding": rng.randint(0, window // 2),
        "last": rng.random() < 0.7,
        "chain": [[rng.choice(ACTIVATIONS)]] if rng.random() < 0.3 else [],
    }


def _resample(graph: Graph, case: Mapping[str, Any]) -> Tensor:
    options = {name: case[name] for name in ("window", "stride", "padding")}
    return graph.resample(image(graph, "x", case["x"], case["last"]), case["mode"], **options)[0]


def _draw_element_wise(rng: random.Random) -> Parameters:
    rank = rng.randint(3, 5)
    return {
        "io": rng.choice(TYPES),
        "x": [rng.choice([1, 2, 3, 8, 16, 33]) for _ in range(rank)],
        "last": rank == 4 and rng.random() < 0.7,
        "chain": [[rng.choice(ACTIVATIONS)], *_chain(rng, 7)],
    }


def _element_wise(graph: Graph, case: Mapping[str, Any]) -> Tensor:
    return image(graph, "x", case["x"], case["last"])


FAMILIES: dict[
    str,
    tuple[Callable[[random.Random], Parameters], Callable[[Graph, Mapping[str, Any]], Tensor]],
] = {
    "convolution": (_draw_convolution, _convolution),
    "matmul": (_draw_matmul, _matmul),
    "norm": (_draw_norm, _norm),
    "reduction": (_draw_reduction, _reduction),
    "resample": (_draw_resample, _resample),
    "element-wise": (_draw_element_wise, _element_wise),
    **random_gradients.FAMILIES,
}
"""How a case is drawn, and what describes it but for the chain of element-wise operations."""
