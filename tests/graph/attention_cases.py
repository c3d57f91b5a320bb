"""Attention, forward and backward; see `cases`."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed

from .cases import Arrays, _torch, case, gradients

BATCH, HEADS, QUERIES, KEYS, SIZE = 2, 4, 128, 192, 64
SHORT = 150  # keys that are no padding


def _tokens(graph: Graph, name: str, heads: int = HEADS, length: int = QUERIES) -> Tensor:
    """Heads within tokens: (b, s, h, d) in memory."""
    dims = (BATCH, heads, length, SIZE)
    return graph.tensor(dims, packed(dims, (0, 2, 1, 3)), name=name)


def _lengths(graph: Graph) -> dict[str, Tensor]:
    return {
        name: graph.tensor((BATCH, 1, 1, 1), data_type="int32", name=name)
        for name in ("seq_len_q", "seq_len_kv")
    }


def _fill_lengths(a: dict[str, NDArray[Any]]) -> None:
    if "seq_len_q" in a:
        a["seq_len_q"][:] = QUERIES
        a["seq_len_kv"][:] = np.array([KEYS, SHORT]).reshape(BATCH, 1, 1, 1)


def _allowed(a: Arrays, options: dict[str, Any]) -> NDArray[Any]:
    row, column = np.arange(QUERIES)[:, None], np.arange(KEYS)[None, :]
    if options.get("use_causal_mask_bottom_right"):
        row = row + KEYS - QUERIES
    allowed = np.ones((BATCH, 1, QUERIES, KEYS), bool)
    if options.get("use_causal_mask") or options.get("use_causal_mask_bottom_right"):
        allowed &= column <= row
    if "sliding_window_length" in options:
        allowed &= column > row - options["sliding_window_length"]
    if "seq_len_kv" in a:
        allowed &= column < a["seq_len_kv"]
    return allowed


def _scores(q: Any, k: Any, bias: NDArray[Any] | None, allowed: NDArray[Any]) -> Any:
    torch = _torch()
    k = k.repeat_interleave(HEADS // k.shape[1], 1)
    scores = q @ k.transpose(2, 3) / np.sqrt(SIZE)
    if bias is not None:
        scores = scores + torch.tensor(bias)
    return scores.masked_fill(~torch.tensor(allowed), -np.inf)


def _attention(q: Any, k: Any, v: Any, *masks: Any) -> Any:
    v = v.repeat_interleave(HEADS // v.shape[1], 1)
    return _scores(q, k, *masks).softmax(3) @ v


def _both(
    name: str, *, heads: int = HEADS, lengths: bool = False, bias: bool = False, **options: Any
) -> None:
    def operands(graph: Graph) -> tuple[list[Tensor], dict[str, Any]]:
        more: dict[str, Any] = dict(options)
        if lengths:
            more |= _lengths(graph)
        if bias:
            more["bias"] = graph.tensor((1, HEADS, QUERIES, KEYS), name="bias")
        q = _tokens(graph, "q")
        k, v = (_tokens(graph, each, heads, KEYS) for each in "kv")
        return [q, k, v], more

    def forward(graph: Graph) -> None:
        tensors, more = operands(graph)
        o, stats = graph.sdpa(*tensors, generate_stats=True, **more)
        assert stats is not None
        o.set_output(name="o")
        stats.set_output(name="stats")

    def compute(a: Arrays) -> Arrays:
        torch = _torch()
        q, k, v = (torch.tensor(a[each]) for each in "qkv")
        masks = (a.get("bias"), _allowed(a, options))
        stats = _scores(q, k, *masks).logsumexp(3, keepdim=True)
        return {"o": _attention(q, k, v, *masks).numpy(), "stats": stats.numpy()}

    def backward(graph: Graph) -> None:
        tensors, more = operands(graph)
        o, d_o = (_tokens(graph, each) for each in ("o", "dO"))
        stats = graph.tensor((BATCH, HEADS, QUERIES, 1), data_type="float32", name="stats")
        results = graph.sdpa_backward(*tensors, o, d_o, stats, **more)
        for tensor, each in zip(results, ("dq", "dk", "dv"), strict=True):
            tensor.set_output(name=each)

    def prepare(a: dict[str, NDArray[Any]]) -> None:
        """Results that belong to the operands."""
        _fill_lengths(a)
        if "stats" in a:
            a |= compute(a)

    def compute_backward(a: Arrays) -> Arrays:
        masks = (a.get("bias"), _allowed(a, options))
        found = gradients(
            lambda q, k, v: _attention(q, k, v, *masks), a["dO"], a["q"], a["k"], a["v"]
        )
        return dict(zip(("dq", "dk", "dv"), found, strict=True))

    case(f"attention{name}", forward, compute, prepare=prepare, io="bfloat16", tolerance=2e-2)
    case(
        f"attention{name}, backward",
        backward,
        compute_backward,
        prepare=prepare,
        io="bfloat16",
        tolerance=4e-2,
    )


def _inference(graph: Graph) -> None:
    q = _tokens(graph, "q")
    k, v = (_tokens(graph, each, HEADS, KEYS) for each in "kv")
    graph.sdpa(q, k, v)[0].set_output(name="o")


_both("")
_both(", causal", use_causal_mask=True)
_both(", causal from the bottom right", use_causal_mask_bottom_right=True)
_both(", window", use_causal_mask=True, sliding_window_length=32)
_both(", two heads of keys", heads=2)
_both(", padding", lengths=True)
_both(", bias", bias=True)
case(
    "attention, inference",
    _inference,
    lambda a: {
        "o": _attention(
            *(_torch().tensor(a[each]) for each in "qkv"), None, _allowed(a, {})
        ).numpy()
    },
    tolerance=1e-2,
)


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


def _plain(a: Arrays) -> Arrays:
    torch = _torch()
    q, k, v = (torch.tensor(a[each]) for each in "qkv")
    masks = (None, _allowed(a, {}))
    stats = _scores(q, k, *masks).logsumexp(3, keepdim=True)
    return {"o": _attention(q, k, v, *masks).numpy(), "stats": stats.numpy()}


case("attention by the softmax operation", _softmax_operation, _plain, tolerance=1e-2)


def _paged(graph: Graph) -> None:
    q, lengths = _tokens(graph, "q"), _lengths(graph)
    loaded = []
    for each in "kv":
        container = graph.tensor((PAGES, HEADS, PAGE, SIZE), name=f"{each}_container")
        table = graph.tensor((BATCH, 1, KEYS // PAGE, 1), data_type="int32", name=f"{each}_table")
        loaded.append(graph.paged_cache_load(container, table, lengths["seq_len_kv"], KEYS))
    o, _ = graph.sdpa(q, *loaded, attn_scale=SIZE**-0.5, **lengths)
    o.set_output(name="o", strides=q.strides)


def _prepare_paged(a: dict[str, NDArray[Any]]) -> None:
    _fill_lengths(a)
    rng = np.random.default_rng(11)
    for each in "kv":
        a[f"{each}_table"] = rng.permutation(PAGES)[: BATCH * KEYS // PAGE].reshape(BATCH, 1, -1, 1)


def _unpaged(a: Arrays) -> Arrays:
    loaded = []
    for each in "kv":
        pages = a[f"{each}_container"][a[f"{each}_table"].astype(int)[:, 0, :, 0]]
        # (b, pages, h, page, d) to (b, h, pages * page, d)
        loaded.append(
            _torch().tensor(pages.transpose(0, 2, 1, 3, 4).reshape(BATCH, HEADS, KEYS, SIZE))
        )
    q = _torch().tensor(a["q"])
    return {"o": _attention(q, *loaded, None, _allowed(a, {})).numpy()}


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
