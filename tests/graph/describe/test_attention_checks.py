"""What attention refuses before cuDNN is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

DIMS = (2, 4, 128, 64)


def heads(graph: Graph, name: str, dims: tuple[int, ...] = DIMS, **more: Any) -> Tensor:
    return graph.tensor(dims, name=name, **more)


def _operand(
    graph: Graph, options: dict[str, Any], name: str, dims: tuple[int, ...] = DIMS
) -> Tensor:
    """The tensor that the options give for an operand, taken out of them; else one that fits."""
    chosen = options.pop(name, None)
    return heads(graph, name, dims) if chosen is None else chosen


def forward(graph: Graph, **options: Any) -> Any:
    q, k, v = (_operand(graph, options, each) for each in "qkv")
    return graph.sdpa(q, k, v, **options)


def unified(graph: Graph, **options: Any) -> Any:
    return graph.sdpa_unified(*(heads(graph, each) for each in "qkv"), **options)


def backward(graph: Graph, **options: Any) -> Any:
    operands = [_operand(graph, options, each) for each in ("q", "k", "v", "o", "dO")]
    stats = _operand(graph, options, "stats", (2, 4, 128, 1))
    method: Any = graph.sdpa_backward
    return method(*operands, stats, **options)


def number(graph: Graph, data_type: str = "float32") -> Tensor:
    return graph.tensor((1, 1, 1, 1), data_type=data_type)


def lengths(graph: Graph, dims: tuple[int, ...] = (2, 1, 1, 1), **more: Any) -> Tensor:
    return graph.tensor(dims, name="lengths", **{"data_type": "int32", **more})


def parts(graph: Graph, data_type: str = "float32", **options: Any) -> Any:
    largest, total = (
        heads(graph, name, (2, 4, 128, 1), data_type=data_type) for name in ("max", "sum")
    )
    return forward(graph, score_max=largest, score_sum_exp=total, **options)


def fp8_backward(graph: Graph) -> Any:
    operands = [
        heads(graph, each, (2, 2, 128, 64) if each in "kv" else DIMS, data_type="fp8_e4m3")
        for each in ("q", "k", "v", "o", "dO")
    ]
    scales = [number(graph) for _ in range(12)]
    method: Any = graph.sdpa_fp8_backward
    return method(*operands, heads(graph, "stats", (2, 4, 128, 1)), *scales)


REFUSED: dict[str, tuple[Callable[[Graph], Any], str]] = {
    "rank": (
        lambda g: forward(g, q=heads(g, "x", (4, 128, 64))),
        r"sdpa 'sdpa': q 'x' \(4, 128, 64\) must be \(batch, heads, tokens, head size\)",
    ),
    "batch": (
        lambda g: forward(g, k=heads(g, "x", (1, 4, 128, 64))),
        r"k 'x' \(1, 4, 128, 64\) has another batch size than q 'q'",
    ),
    "heads": (
        lambda g: forward(g, v=heads(g, "x", (2, 3, 128, 64))),
        r"the 3 heads of v 'x' \(2, 3, 128, 64\) do not divide the 4 of q 'q'",
    ),
    "head size": (
        lambda g: forward(g, k=heads(g, "x", (2, 4, 128, 32))),
        r"heads of k 'x' \(2, 4, 128, 32\) and q 'q' .* differ in their size",
    ),
    "tokens": (
        lambda g: forward(g, v=heads(g, "x", (2, 4, 96, 64))),
        r"k 'k' .* and v 'x' \(2, 4, 96, 64\) differ in their number of tokens",
    ),
    "one length": (
        lambda g: forward(g, seq_len_q=lengths(g)),
        "seq_len_q and seq_len_kv go together",
    ),
    "dims of lengths": (
        lambda g: forward(g, seq_len_q=lengths(g, (2,)), seq_len_kv=lengths(g)),
        r"seq_len_q 'lengths' \(2,\) must be \(2, 1, 1, 1\)",
    ),
    "type of lengths": (
        lambda g: forward(g, seq_len_q=lengths(g, data_type="float32"), seq_len_kv=lengths(g)),
        "seq_len_q 'lengths' must be int32 or int64",
    ),
    "bias": (
        lambda g: forward(g, bias=heads(g, "x", (1, 4, 128, 64))),
        r"bias 'x' \(1, 4, 128, 64\) does not broadcast to the scores \(2, 4, 128, 128\)",
    ),
    "left bound": (
        lambda g: forward(g, diagonal_band_left_bound=0),
        "the left bound must be at least 1, got 0",
    ),
    "right bound": (
        lambda g: forward(g, diagonal_band_right_bound=-1),
        "the right bound must be at least 0, got -1",
    ),
    "a bound that is no number": (
        lambda g: forward(g, diagonal_band_right_bound=True),
        "diagonal_band_right_bound: expected an int, got True",
    ),
    "two windows": (
        lambda g: forward(g, sliding_window_length=8, diagonal_band_left_bound=8),
        "sliding_window_length and diagonal_band_left_bound are the same",
    ),
    "causal with a right bound": (
        lambda g: forward(g, use_causal_mask=True, diagonal_band_right_bound=3),
        "a causal mask has no diagonal_band_right_bound, got 3",
    ),
    "causal from both ends": (
        lambda g: forward(g, use_causal_mask=True, use_causal_mask_bottom_right=True),
        "use_causal_mask begins at the top left",
    ),
    "causal from the other end": (
        lambda g: forward(g, use_causal_mask=True, diagonal_alignment="bottom_right"),
        "use_causal_mask begins at the top left",
    ),
    "alignment": (
        lambda g: forward(g, diagonal_alignment="middle"),
        "diagonal_alignment: expected .* got 'middle'",
    ),
    "no function": (
        lambda g: forward(g, score_mod=0.5),
        "score_mod: expected a function, got 0.5",
    ),
    "a function without result": (
        lambda g: forward(g, score_mod=lambda graph, scores: None),
        "score_mod must return a tensor, got None",
    ),
    "a derivative without function": (
        lambda g: backward(g, score_mod_bprop=Graph.relu_backward),
        "score_mod_bprop without score_mod",
    ),
    "the largest scores alone": (
        lambda g: forward(g, score_max=heads(g, "x", (2, 4, 128, 1))),
        "score_max and score_sum_exp go together",
    ),
    "dims of the largest scores": (
        lambda g: forward(g, score_max=number(g), score_sum_exp=number(g)),
        r"score_max 'tensor.*' \(1, 1, 1, 1\) must be \(2, 4, 128, 1\)",
    ),
    "type of the sums": (
        lambda g: parts(g, data_type="float16"),
        "score_max 'max' must be float32",
    ),
    "the largest scores with statistics": (
        lambda g: parts(g, generate_stats=True),
        "score_max and score_sum_exp take the place of generate_stats",
    ),
    "the largest scores with a sink": (
        lambda g: parts(g, sink_token=heads(g, "sink", (1, 4, 1, 1))),
        "score_max and score_sum_exp go without sink_token",
    ),
    "dropout": (
        lambda g: forward(g, dropout=(1.0, number(g, "int64"), number(g, "int64"))),
        "a dropout probability is from 0 to below 1, got 1.0",
    ),
    "dropout mask": (
        lambda g: forward(g, dropout=(heads(g, "x"), number(g))),
        r"the dropout mask 'x' \(2, 4, 128, 64\) must be \(2, 4, 128, 128\)",
    ),
    "lengths in two ways": (
        lambda g: unified(
            g, seq_len_q=lengths(g), cu_seq_len_q=lengths(g, (3, 1, 1, 1)), seq_len_kv=lengths(g)
        ),
        "seq_len_q and cu_seq_len_q say the same",
    ),
    "sums of queries' lengths alone": (
        lambda g: unified(g, cu_seq_len_q=lengths(g, (3, 1, 1, 1))),
        "sdpa_unified 'sdpa_unified': seq_len_q and seq_len_kv go together",
    ),
    "sums without that of all": (
        lambda g: unified(g, cu_seq_len_q=lengths(g), cu_seq_len_kv=lengths(g)),
        r"cu_seq_len_q 'lengths' \(2, 1, 1, 1\) must be \(3, 1, 1, 1\)",
    ),
    "dropout by a mask in one operation": (
        lambda g: unified(g, dropout=(heads(g, "x", (2, 4, 128, 128)), number(g))),
        "sdpa_unified: dropout by a mask: only `sdpa` has it",
    ),
    "pages without lengths": (
        lambda g: forward(g, paged_attention_k_table=lengths(g, (2, 1, 8, 1))),
        "with pages seq_len_q and seq_len_kv are needed",
    ),
    "o": (
        lambda g: backward(g, o=heads(g, "x", (2, 4, 128, 32))),
        r"sdpa_backward 'sdpa_backward': o 'x' .* must be \(2, 4, 128, 64\)",
    ),
    "dBias without bias": (
        lambda g: backward(g, dBias=heads(g, "x", (1, 4, 128, 128))),
        "dBias without bias",
    ),
    "dims of dBias": (
        lambda g: backward(
            g, bias=heads(g, "y", (1, 4, 128, 128)), dBias=heads(g, "x", (1, 1, 128, 128))
        ),
        r"dBias 'x' \(1, 1, 128, 128\) must be \(1, 4, 128, 128\)",
    ),
    "sink without its gradient": (
        lambda g: backward(g, sink_token=heads(g, "x", (1, 4, 1, 1))),
        "sink_token and dSink_token go together",
    ),
    "dims of a sink": (
        lambda g: forward(g, sink_token=heads(g, "x", (1, 3, 1, 1))),
        r"sink_token 'x' \(1, 3, 1, 1\) must be \(1, 4, 1, 1\)",
    ),
    "several scales": (
        lambda g: forward(g, attn_scale=heads(g, "x", (1, 4, 1, 1))),
        r"attn_scale 'x' \(1, 4, 1, 1\) must be one number",
    ),
    "a table of another batch": (
        lambda g: forward(
            g,
            paged_attention_k_table=lengths(g, (3, 1, 8, 1)),
            seq_len_q=lengths(g),
            seq_len_kv=lengths(g),
        ),
        r"paged_attention_k_table 'lengths' \(3, 1, 8, 1\) must be \(2, 1, pages, 1\)",
    ),
    "more tokens than pages": (
        lambda g: forward(
            g,
            paged_attention_k_table=lengths(g, (2, 1, 8, 1)),
            paged_attention_max_seq_len_kv=1025,
            seq_len_q=lengths(g),
            seq_len_kv=lengths(g),
        ),
        "paged_attention_max_seq_len_kv 1025 does not fit in 8 pages of 128",
    ),
    "parts of dropout": (
        lambda g: forward(g, dropout=(0.5, number(g, "int64"))),
        r"by a probability is \(probability, seed, offset\)",
    ),
    "another graph's tensor": (
        lambda g: backward(
            g, bias=heads(g, "y", (1, 4, 128, 128)), dBias=Graph().tensor((1, 4, 128, 128))
        ),
        "is of another graph",
    ),
    "fp8 of 16 bits": (
        lambda g: g.sdpa_fp8(*(heads(g, each) for each in "qkv"), *(number(g) for _ in range(6))),
        "sdpa_fp8 'sdpa_fp8': q 'q' must be fp8_e4m3 or fp8_e5m2, not float16",
    ),
    "fp8 of 32 bits": (
        lambda g: g.sdpa_fp8(
            *(heads(g, each, data_type="float32") for each in "qkv"), *(number(g) for _ in range(6))
        ),
        "sdpa_fp8 'sdpa_fp8': q 'q' must be fp8_e4m3 or fp8_e5m2, not float32",
    ),
    "fp8 with fewer heads of keys": (
        fp8_backward,
        "k 'k' .* must have as many heads as q 'q'",
    ),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_refuses_what_does_not_fit(name: str) -> None:
    describe, message = REFUSED[name]
    with pytest.raises((TypeError, ValueError), match=message):
        describe(Graph(io_data_type="float16"))


NO_TENSORS: dict[str, tuple[Callable[[Graph], Any], str]] = {
    **{
        f"{method}, {port}": (
            lambda g, method=method, port=port: (forward if method == "sdpa" else backward)(
                g, **{port: 5}
            ),
            rf"{method} '{method}': {port}: expected a Tensor of this graph, got 5 \(int\)",
        )
        for method, ports in {
            "sdpa": ("q", "k", "v", "bias", "paged_attention_k_table"),
            "sdpa_backward": ("q", "v", "o", "dO", "stats", "bias"),
        }.items()
        for port in ports
    },
    "lengths": (
        lambda g: forward(g, seq_len_q=lengths(g), seq_len_kv=3),
        "seq_len_kv: expected a Tensor of this graph, got 3",
    ),
    "a probability alone": (
        lambda g: forward(g, dropout=0.5),
        r"dropout: expected \(probability, seed, offset\) or \(mask, scale\), got 0.5 \(float\)",
    ),
    "a probability as text": (
        lambda g: forward(g, dropout=("0.5", 1, 2)),
        "dropout: expected a probability or a mask first, got '0.5'",
    ),
    "a dump of no dropout": (
        lambda g: forward(g, rng_dump=heads(g, "dump", (2, 4, 128, 128))),
        "rng_dump without dropout",
    ),
    "a dump of no dropout, backward": (
        lambda g: backward(g, rng_dump=heads(g, "dump", (2, 4, 128, 128))),
        "rng_dump without dropout",
    ),
    "a dump that is none": (
        lambda g: forward(g, dropout=(0.5, number(g, "int64"), number(g, "int64")), rng_dump=3),
        "rng_dump: expected a Tensor of this graph, got 3",
    ),
}


@pytest.mark.parametrize("name", list(NO_TENSORS))
def test_refuses_what_is_no_tensor(name: str) -> None:
    describe, message = NO_TENSORS[name]
    with pytest.raises(TypeError, match=message):
        describe(Graph(io_data_type="float16"))


@pytest.mark.parametrize("value", ["yes", None, 2, np.array([True, False])], ids=repr)
@pytest.mark.parametrize("flag", ["use_causal_mask", "use_alibi_mask", "generate_stats"])
def test_flags_are_true_or_false(flag: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"sdpa 'sdpa': {flag}: expected True or False"):
        forward(Graph(io_data_type="float16"), **{flag: value})


def test_flags_of_numpy_are_flags() -> None:
    assert forward(Graph(io_data_type="float16"), use_causal_mask=np.bool_(True))
