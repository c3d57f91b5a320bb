"""Attention, forward and backward, and the operations around it; see `cases`."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed

from .attentions import Attention, SoftCap
from .cases import Arrays, case

BATCH, HEADS, QUERIES, KEYS, SIZE = 2, 4, 128, 192, 64
SHORT = 150  # keys that are no padding
GRADIENTS = ("dq", "dk", "dv")
PADDED = Attention(lengths=((QUERIES, QUERIES), (KEYS, SHORT)))


def _operands(one: Attention, a: dict[str, NDArray[Any]], io: str) -> None:
    """Operands of an attention, and results that belong to the operands of its gradient."""
    values = one.values(io)
    if "stats" in a:
        values |= {each: found for each, found in one.compute(values).items() if each in a}
    a |= {name: values[name] for name in a}


def _results(one: Attention, a: Arrays, names: tuple[str, ...], io: str) -> Arrays:
    found = one.compute({**one.values(io), **a})
    return {name: found[name] for name in names}


def _both(name: str, *, gradient: bool = True, **options: Any) -> None:
    """The softmax and its gradient are rounded to bfloat16."""
    one, io = Attention(**options), "bfloat16"
    shared: dict[str, Any] = {"io": io, "prepare": lambda a: _operands(one, a, io)}
    case(
        f"attention{name}",
        one.forward,
        lambda a: _results(one, a, ("o", "stats"), io),
        tolerance=2e-2,
        **shared,
    )
    if gradient:
        case(
            f"attention{name}, backward",
            one.backward,
            lambda a: _results(one, a, GRADIENTS, io),
            tolerance=4e-2,
            **shared,
        )


_BIAS = (1, HEADS, QUERIES, KEYS)
_both("")
_both(", causal", right=0)
_both(", causal from the bottom right", right=0, bottom_right=True)
_both(", window", right=0, left=32)
_both(", two heads of keys", key_heads=2)
_both(", padding", lengths=PADDED.lengths)
_both(", bias", bias=_BIAS)
_both(", capped scores", modifier="cap")
_both(", mask by a function", modifier="causal")
_both(", bias and factor by a function", modifier="relative")
_both(", capped scores with a bias", modifier="cap", bias=_BIAS)
case(
    "attention, inference",
    Attention(inference=True).forward,
    lambda a: _results(Attention(), a, ("o",), "float16"),
    prepare=lambda a: _operands(Attention(), a, "float16"),
    tolerance=1e-2,
)


# --- parts of the softmax ------------------------------------------------------------------------


def _parts(name: str, one: Attention, **options: Any) -> None:
    """The largest scores and the sums of exponentials in place of statistics."""

    def describe(graph: Graph) -> None:
        dims = (*one.scores[:3], 1)
        largest, total = (
            graph.tensor(dims, data_type="float32", name=each) for each in ("max", "sum")
        )
        o, _ = graph.sdpa(*one.operands(graph), score_max=largest, score_sum_exp=total, **options)
        o.set_output(name="o")

    def compute(a: Arrays) -> Arrays:
        found = one.compute({**one.values("float16"), **a})
        total = np.exp(found["stats"] - found["max"])
        return {"o": found["o"], "max": found["max"], "sum": total}

    case(name, describe, compute, tolerance=4e-3)


_parts("attention, largest scores and sums", Attention())
_parts("attention, causal, largest scores and sums", Attention(right=0), use_causal_mask=True)
_parts(
    "attention, capped, largest scores and sums",
    Attention(modifier="cap"),
    score_mod=SoftCap(Attention().scores),
)


def _tokens(graph: Graph, name: str, heads: int = HEADS, length: int = QUERIES) -> Tensor:
    """Heads within tokens: (b, s, h, d) in memory."""
    dims = (BATCH, heads, length, SIZE)
    return graph.tensor(dims, packed(dims, (0, 2, 1, 3)), name=name)


# --- operations around attention -----------------------------------------------------------------

PAGE, PAGES = 16, 64


def _softmax_operation(graph: Graph) -> None:
    q = _tokens(graph, "q")
    k, v = (_tokens(graph, each, HEADS, KEYS) for each in "kv")
    scores = graph.mul(graph.matmul(q, k, transpose_B=True), 1 / np.sqrt(SIZE))
    results = graph.softmax(scores, outputs=("y", "stats"))
    results["stats"].set_output(name="stats")
    results["y"].data_type = graph.io_data_type
    graph.matmul(results["y"], v).set_output(name="o")


case(
    "attention by the softmax operation",
    _softmax_operation,
    lambda a: _results(Attention(), a, ("o", "stats"), "float16"),
    tolerance=1e-2,
)


def _paged(graph: Graph) -> None:
    q, lengths = _tokens(graph, "q"), PADDED.options(graph)
    loaded = []
    for each in "kv":
        container = graph.tensor((PAGES, HEADS, PAGE, SIZE), name=f"{each}_container")
        table = graph.tensor((BATCH, 1, KEYS // PAGE, 1), data_type="int32", name=f"{each}_table")
        loaded.append(graph.paged_cache_load(container, table, lengths["seq_len_kv"], KEYS))
    o, _ = graph.sdpa(q, *loaded, **{**lengths, "attn_scale": SIZE**-0.5})
    o.set_output(name="o", strides=q.strides)


def _prepare_paged(a: dict[str, NDArray[Any]]) -> None:
    values = PADDED.values("float16")
    a |= {each: values[each] for each in ("seq_len_q", "seq_len_kv")}
    rng = np.random.default_rng(11)
    for each in "kv":
        a[f"{each}_table"] = rng.permutation(PAGES)[: BATCH * KEYS // PAGE].reshape(BATCH, 1, -1, 1)


def _unpaged(a: Arrays) -> Arrays:
    loaded = {}
    for each in "kv":
        pages = a[f"{each}_container"][a[f"{each}_table"].astype(int)[:, 0, :, 0]]
        # (b, pages, h, page, d) to (b, h, pages * page, d)
        loaded[each] = pages.transpose(0, 2, 1, 3, 4).reshape(BATCH, HEADS, KEYS, SIZE)
    return _results(PADDED, {**a, **loaded}, ("o",), "float16")


case("attention with paged caches", _paged, _unpaged, prepare=_prepare_paged, tolerance=1e-2)


# --- experts -------------------------------------------------------------------------------------

EXPERTS, TOKENS = 8, 512


def _experts(graph: Graph) -> None:
    token = graph.tensor((1, TOKENS, 128), name="token")
    weight = graph.tensor((EXPERTS, 128, 256), (128 * 256, 1, 128), name="weight")
    offset = graph.tensor((EXPERTS, 1, 1), data_type="int32", name="offset")
    graph.moe_grouped_matmul(token, weight, offset).set_output(name="y")


def _offsets(a: dict[str, NDArray[Any]]) -> None:
    inner = np.sort(np.random.default_rng(13).integers(0, TOKENS, EXPERTS - 1))
    a["offset"] = np.concatenate([[0], inner]).reshape(EXPERTS, 1, 1)


def _grouped(a: Arrays) -> Arrays:
    starts = [*a["offset"].astype(int).ravel(), TOKENS]
    parts = [
        a["token"][0, start:stop] @ a["weight"][expert]
        for expert, (start, stop) in enumerate(itertools.pairwise(starts))
    ]
    return {"y": np.concatenate(parts)[None]}


case("products of experts", _experts, _grouped, prepare=_offsets)
