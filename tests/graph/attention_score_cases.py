"""Attention whose scores a function modifies, and its largest scores and sums; see `cases`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

from .attention_cases import BATCH, HEADS, KEYS, QUERIES, SIZE, _tokens
from .cases import Arrays, _torch, case, gradients
from .score_modifiers import Causal, Modifier, Relative, SoftCap

SCORES = (BATCH, HEADS, QUERIES, KEYS)


def _plain(scores: Any, a: Arrays) -> Any:
    return scores


def _operands(graph: Graph) -> list[Tensor]:
    return [_tokens(graph, "q"), *(_tokens(graph, each, HEADS, KEYS) for each in "kv")]


def _exact(exact: Callable[..., Any], a: Arrays, q: Any, k: Any) -> Any:
    scores = exact(q @ k.transpose(2, 3) / math.sqrt(SIZE), a)
    return scores if "bias" not in a else scores + _torch().tensor(a["bias"])


def _results(exact: Callable[..., Any], a: Arrays) -> dict[str, NDArray[Any]]:
    q, k, v = (_torch().tensor(a[each]) for each in "qkv")
    scores = _exact(exact, a, q, k)
    largest = scores.max(3, keepdim=True).values
    return {
        "o": (scores.softmax(3) @ v).numpy(),
        "stats": scores.logsumexp(3, keepdim=True).numpy(),
        "max": largest.numpy(),
        "sum": (scores - largest).exp().sum(3, keepdim=True).numpy(),
    }


def _modified(
    name: str, modifier: type[Modifier], *, bias: bool = False, gradient: bool = True
) -> None:
    def more(graph: Graph) -> dict[str, Any]:
        return {"bias": graph.tensor((1, *SCORES[1:]), name="bias")} if bias else {}

    def forward(graph: Graph) -> None:
        q, k, v = _operands(graph)
        o, stats = graph.sdpa(
            q, k, v, generate_stats=True, score_mod=modifier(SCORES), **more(graph)
        )
        assert stats is not None
        o.set_output(name="o")
        stats.set_output(name="stats")

    def compute(a: Arrays) -> Arrays:
        found = _results(modifier.exact, a)
        return {each: found[each] for each in ("o", "stats")}

    def backward(graph: Graph) -> None:
        modify = modifier(SCORES)
        q, k, v = _operands(graph)
        o, d_o = (_tokens(graph, each) for each in ("o", "dO"))
        stats = graph.tensor((*SCORES[:3], 1), data_type="float32", name="stats")
        found = graph.sdpa_backward(
            q,
            k,
            v,
            o,
            d_o,
            stats,
            score_mod=modify,
            score_mod_bprop=modify.backward,
            **more(graph),
        )
        for tensor, each in zip(found, ("dq", "dk", "dv"), strict=True):
            tensor.set_output(name=each)

    def compute_backward(a: Arrays) -> Arrays:
        def attention(q: Any, k: Any, v: Any) -> Any:
            return _exact(modifier.exact, a, q, k).softmax(3) @ v

        found = gradients(attention, a["dO"], a["q"], a["k"], a["v"])
        return dict(zip(("dq", "dk", "dv"), found, strict=True))

    def prepare(a: dict[str, NDArray[Any]]) -> None:
        a |= compute(a)

    # As the other attentions have it: the softmax and its gradient are rounded to bfloat16.
    case(name, forward, compute, io="bfloat16", tolerance=2e-2)
    if gradient:
        case(
            f"{name}, backward",
            backward,
            compute_backward,
            prepare=prepare,
            io="bfloat16",
            tolerance=4e-2,
        )


def _parts(name: str, exact: Callable[..., Any], **options: Any) -> None:
    def describe(graph: Graph) -> None:
        q, k, v = _operands(graph)
        largest, total = (
            graph.tensor((*SCORES[:3], 1), data_type="float32", name=each)
            for each in ("max", "sum")
        )
        o, stats = graph.sdpa(q, k, v, score_max=largest, score_sum_exp=total, **options)
        assert stats is None
        o.set_output(name="o")

    def compute(a: Arrays) -> Arrays:
        found = _results(exact, a)
        return {each: found[each] for each in ("o", "max", "sum")}

    case(name, describe, compute, tolerance=4e-3)


_modified("attention, capped scores", SoftCap)
_modified("attention, mask by a function", Causal)
_modified("attention, bias and factor by a function", Relative)
_modified("attention, capped scores with a bias", SoftCap, bias=True)
_parts("attention, largest scores and sums", _plain)
_parts("attention, causal, largest scores and sums", Causal.exact, use_causal_mask=True)
_parts("attention, capped, largest scores and sums", SoftCap.exact, score_mod=SoftCap(SCORES))
