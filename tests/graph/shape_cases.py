"""Operations that move elements, where an engine takes them; see `cases`."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.graph.graph import Graph

from .cases import TOLERANCES, Arrays, case

EXPERTS, TOKENS, TOP = 8, 256, 2

case(
    "matmul of a slice",
    lambda g: g.matmul(
        g.slice(g.tensor((4, 64, 256), name="a"), [slice(None), slice(None), slice(0, 128)]),
        g.tensor((4, 128, 64), name="b"),
    ).set_output(name="c"),
    lambda a: {"c": a["a"][:, :, :128] @ a["b"]},
    tolerance=TOLERANCES["float16"],
)


# Each token goes to the TOP experts that want it: TOKENS * TOP rows, sorted by expert.
ROWS = TOKENS * TOP


def _gathered(graph: Graph) -> None:
    graph.moe_grouped_matmul(
        graph.tensor((1, TOKENS, 128), name="token"),
        graph.tensor((EXPERTS, 128, 256), (128 * 256, 1, 128), name="weight"),
        graph.tensor((EXPERTS, 1, 1), data_type="int32", name="offset"),
        token_index=graph.tensor((1, ROWS, 1), data_type="int32", name="index"),
        mode="gather",
    ).set_output(name="y")


def _chosen(a: dict[str, NDArray[Any]]) -> None:
    rng = np.random.default_rng(13)
    inner = np.sort(rng.integers(0, ROWS, EXPERTS - 1))
    a["offset"] = np.concatenate([[0], inner]).reshape(EXPERTS, 1, 1)
    a["index"] = rng.permutation(np.arange(ROWS) % TOKENS).reshape(1, ROWS, 1)


def _products(a: Arrays) -> Arrays:
    rows = a["token"][0, a["index"].astype(int).ravel()]
    starts = [*a["offset"].astype(int).ravel(), ROWS]
    parts = [
        rows[start:stop] @ a["weight"][expert]
        for expert, (start, stop) in enumerate(itertools.pairwise(starts))
    ]
    return {"y": np.concatenate(parts)[None]}


case(
    "products of experts, gathered",
    _gathered,
    _products,
    prepare=_chosen,
    tolerance=TOLERANCES["float16"],
)
