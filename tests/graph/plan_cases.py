"""Five graphs that the tests compile, store and execute in every way; see `cases.Case`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed

from .cases import Arrays, Case

__all__ = ["PLAN_CASES", "file_name", "product", "write_graphs"]

IMAGE, FILTER = (4, 32, 14, 14), (64, 32, 3, 3)
MATRIX = (4, 64, 128)
QUERIES = (2, 4, 128, 64)  # batch, heads, tokens, features

# fp16 and bf16 results of sums in float32: one rounding at the end, relative to the largest.
HALF, BRAIN = 2e-3, 1.6e-2


def _nhwc(graph: Graph, name: str, dims: tuple[int, ...]) -> Tensor:
    return graph.tensor(dims, packed(dims, (0, 2, 3, 1)), name=name)


def _convolution(graph: Graph) -> Tensor:
    return graph.conv_fprop(_nhwc(graph, "x", IMAGE), _nhwc(graph, "w", FILTER), padding=1)


def _conv2d(x: NDArray[Any], w: NDArray[Any]) -> NDArray[Any]:
    import torch

    y: NDArray[Any] = torch.conv2d(torch.tensor(x), torch.tensor(w), padding=1).numpy()
    return y


def _fused_convolution(graph: Graph) -> None:
    y = graph.bias(_convolution(graph), _nhwc(graph, "b", (1, 64, 1, 1)))
    graph.relu(y).set_output(name="y")


def gelu(x: NDArray[Any]) -> NDArray[Any]:
    y: NDArray[Any] = x * scipy.special.ndtr(x)
    return y


def product(m: int) -> Case:
    """matmul + bias + gelu of m rows."""

    def describe(graph: Graph) -> None:
        a = graph.tensor((4, m, 128), name="a")
        b, bias = graph.tensor((4, 128, 256), name="b"), graph.tensor((1, 1, 256), name="bias")
        graph.gelu(graph.bias(graph.matmul(a, b), bias)).set_output(name="c")

    def compute(x: Arrays) -> Arrays:
        return {"c": gelu(x["a"] @ x["b"] + x["bias"])}

    return Case(describe, compute, tolerance=HALF)


def _gate(graph: Graph) -> None:
    a, b, c = (graph.tensor(MATRIX, name=name) for name in "abc")
    graph.sigmoid(graph.add(a, graph.mul(b, c))).set_output(name="y")


def _attention(graph: Graph) -> None:
    q, k, v = (graph.tensor(QUERIES, name=name) for name in "qkv")
    o, _ = graph.sdpa(q, k, v, use_causal_mask=True)
    o.set_output(name="o")


def _causal(x: Arrays) -> Arrays:
    scores = x["q"] @ x["k"].swapaxes(-1, -2) / np.sqrt(QUERIES[-1])
    scores = np.where(np.tri(QUERIES[2], dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return {"o": powers / powers.sum(-1, keepdims=True) @ x["v"]}


PLAN_CASES: dict[str, Case] = {
    "convolution": Case(
        lambda graph: _convolution(graph).set_output(name="y"),
        lambda x: {"y": _conv2d(x["x"], x["w"])},
        tolerance=HALF,
    ),
    "convolution + bias + relu": Case(
        _fused_convolution,
        lambda x: {"y": np.maximum(_conv2d(x["x"], x["w"]) + x["b"], 0)},
        tolerance=HALF,
    ),
    "matmul + bias + gelu": product(64),
    "sigmoid(a + b * c)": Case(
        _gate, lambda x: {"y": 1 / (1 + np.exp(-(x["a"] + x["b"] * x["c"])))}, tolerance=HALF
    ),
    "attention": Case(_attention, _causal, io="bfloat16", tolerance=BRAIN),
}


def file_name(case: str) -> str:
    """For the graph of one of `PLAN_CASES`."""
    return re.sub(r"\W+", "-", case).strip("-") + ".json"


def write_graphs(folder: str | Path) -> list[Path]:
    """The graphs of all `PLAN_CASES` as JSON; returns the files."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / file_name(name) for name in PLAN_CASES]
    for file, case in zip(files, PLAN_CASES.values(), strict=True):
        file.write_text(case.graph().to_json())
    return files
