"""Scaled dot-product attention, and its gradients: FlashAttention-2 (Dao, 2023)."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

from ....raw import cudnnDataType_t
from ....raw.values import described
from ..node import Kind, Node, Result, ports
from ..tensor import Tensor
from ..validation import check_number
from .attention_checks import AttentionCheck, check_mask, score_dims
from .base import Operations, operation

# Takes the graph and scores, adds operations, and returns their result.
ScoreModifier = Callable[[Any, Tensor], Tensor]
# (probability, seed, offset) or (mask, scale)
Dropout = tuple[Any, ...]

_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT

band_options: Mapping[str, Any] = {
    "use_causal_mask": bool,
    "use_causal_mask_bottom_right": bool,
    "sliding_window_length": int,
    "diagonal_alignment": str,
    "diagonal_band_left_bound": int,
    "diagonal_band_right_bound": int,
}
"""Options that say which keys a query may look at, with their types."""


dropout_options: Mapping[str, Any] = {"dropout_probability": float, "dropout_seed": int}
"""Options of a dropout by a probability, with their types."""


def _check(node: Node) -> None:
    check = AttentionCheck(str(node))
    check.forward(node)
    check_mask(node, check)
    check.softmax_parts(node, alone=True)


def forward_results(node: Node, statistics: Any, data_type: Any = None) -> dict[str, Result]:
    """The results of attention, with the data types of statistics and of o."""
    q, v, dims = node.inputs["q"], node.inputs["v"], score_dims(node)
    row = Result((*q.dims[:3], 1), None, statistics)
    return {
        "o": Result((*q.dims[:3], v.dims[3]), q, data_type),
        "stats": row,
        "score_max": row,
        "score_sum_exp": row,
        "rng_dump": Result(dims, None, statistics),
        "score_mod": Result(dims),
    }


def _infer(node: Node) -> Mapping[str, Result]:
    _check(node)
    return forward_results(node, _FLOAT)


SDPA = Kind(
    "",
    ports(
        "q k v attn_scale? bias? seq_len_q? seq_len_kv? dropout_seed? dropout_offset? "
        "dropout_mask? dropout_scale? paged_attention_k_table? paged_attention_v_table? "
        "sink_token?"
    ),
    ports("o stats rng_dump score_max score_sum_exp"),
    _infer,
    own_options={
        "attn_scale": float,
        "use_alibi_mask": bool,
        **band_options,
        **dropout_options,
        "paged_attention_max_seq_len_kv": int,
    },
    check=_check,
    subgraphs=frozenset({"score_mod"}),
    unread=frozenset({"stats"}),
)


def _check_backward(node: Node) -> None:
    check = AttentionCheck(str(node))
    inputs = node.inputs
    check.gradients(node)
    if ("sink_token" in inputs) != ("dSink_token" in node.outputs):
        raise TypeError(f"{node}: sink_token and dSink_token go together")
    if "dBias" in node.outputs and "bias" not in inputs:
        raise TypeError(f"{node}: dBias without bias")
    mask = check_mask(node, check)
    if "score_mod_bprop" in node.subgraphs and "score_mod" not in node.subgraphs:
        raise TypeError(f"{node}: score_mod_bprop without score_mod")
    bias, d_bias = mask.bias, node.outputs.get("dBias")
    if d_bias is not None and bias is not None and bias.dims is not None:
        check.same_dims("dBias", d_bias, bias.dims)


def gradient_of(tensor: Tensor, data_type: Any = None) -> Result:
    """The gradient of an operand, which lies as the operand does."""
    return Result(tensor.dims, tensor, data_type, strides=tensor.strides)


def _infer_backward(node: Node) -> Mapping[str, Result]:
    _check_backward(node)
    dims = score_dims(node)
    assert dims is not None
    results = {f"d{port}": gradient_of(node.inputs[port]) for port in "qkv"}
    bias, sink = node.inputs.get("bias"), node.inputs.get("sink_token")
    if bias is not None:
        results["dBias"] = Result(bias.dims, bias)
    if sink is not None:
        results["dSink_token"] = Result(sink.dims, sink)
    scores = Result(dims)
    return {**results, "rng_dump": scores, "score_mod": scores, "score_mod_bprop": scores}


SDPA_BACKWARD = Kind(
    "",
    ports(
        "q k v o dO stats attn_scale? bias? seq_len_q? seq_len_kv? dropout_seed? "
        "dropout_offset? dropout_mask? dropout_scale? sink_token?"
    ),
    ports("dq dk dv rng_dump dBias dSink_token"),
    _infer_backward,
    own_options={
        "attn_scale": float,
        "use_alibi_mask": bool,
        **band_options,
        **dropout_options,
        "use_deterministic_algorithm": bool,
    },
    check=_check_backward,
    subgraphs=frozenset({"score_mod", "score_mod_bprop"}),
)


def attention_arguments(
    graph: Operations, kind: Kind, place: str, arguments: dict[str, Any]
) -> None:
    """Check and settle the arguments of an operation of attention; `place` is for messages."""
    check = AttentionCheck(place)
    for port in (*kind.inputs, *kind.outputs):
        if port != "attn_scale" and arguments.get(port) is not None:
            check.tensor(port, arguments[port])
    generate_stats = arguments.pop("generate_stats", True)
    check.flags(generate_stats=generate_stats)
    arguments["outputs"] = [
        port
        for port in kind.outputs
        if port not in arguments and (generate_stats or port != "stats")
    ]
    for option, kind_of_option in kind.own_options.items():
        if kind_of_option is bool and option in arguments:
            check.flags(**{option: arguments[option]})
            arguments[option] = bool(arguments[option])
    if arguments.get("diagonal_alignment") == "top_left":
        arguments["diagonal_alignment"] = None
    scale = arguments["attn_scale"]
    if scale is not None and not isinstance(scale, Tensor):
        check_number(f"{place}: attn_scale", scale)
        arguments["attn_scale"] = float(getattr(scale, "value", scale))
    _settle_dropout(check, arguments)
    for option in kind.own_options:  # those that are not given are left out of the node
        if arguments.get(option) is None or arguments[option] is False:
            arguments.pop(option, None)


def _settle_dropout(check: AttentionCheck, arguments: dict[str, Any]) -> None:
    """Put a dropout among the arguments as what the node has of it."""
    dropout = arguments.pop("dropout", None)
    if dropout is None:
        return
    if not isinstance(dropout, (tuple, list)) or not dropout:
        raise TypeError(
            f"{check.operation}: dropout: expected (probability, seed, offset) or "
            f"(mask, scale), got {described(dropout)}"
        )
    first, *rest = dropout
    if isinstance(first, Tensor):
        if len(rest) not in (1, 2):
            check.refuse("a dropout by a mask is (mask, scale)")
        arguments |= {"dropout_mask": first, "dropout_scale": rest[0]}
        arguments["unused"] = [each for each in rest[1:] if isinstance(each, Tensor)]
        return
    if len(rest) != 2:
        check.refuse("a dropout by a probability is (probability, seed, offset)")
    if isinstance(first, bool) or not isinstance(first, numbers.Real):
        raise TypeError(
            f"{check.operation}: dropout: expected a probability or a mask first, got "
            f"{described(first)}"
        )
    arguments["dropout_probability"] = float(first)
    arguments["dropout_seed"], arguments["dropout_offset"] = rest


@operation(SDPA, returns=("o", "stats?"), computes=False, prepare=attention_arguments)
def sdpa(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    attn_scale: Tensor | float | None = None,
    generate_stats: bool = False,
    bias: Tensor | None = None,
    use_alibi_mask: bool = False,
    seq_len_q: Tensor | None = None,
    seq_len_kv: Tensor | None = None,
    use_causal_mask: bool = False,
    use_causal_mask_bottom_right: bool = False,
    sliding_window_length: int | None = None,
    diagonal_alignment: str = "top_left",
    diagonal_band_left_bound: int | None = None,
    diagonal_band_right_bound: int | None = None,
    dropout: Dropout | None = None,
    rng_dump: Tensor | None = None,
    paged_attention_k_table: Tensor | None = None,
    paged_attention_v_table: Tensor | None = None,
    paged_attention_max_seq_len_kv: int | None = None,
    sink_token: Tensor | None = None,
    score_mod: ScoreModifier | None = None,
    score_max: Tensor | None = None,
    score_sum_exp: Tensor | None = None,
) -> None:
    """o = softmax(attn_scale * q @ k^T) @ v, by the flash attention pattern.

    Parameters
    ----------
    q : Tensor
        (b, h, s_q, d), of a 16-bit type, d a multiple of 8. For packed sequences of different
        lengths with a `ragged_offset`, (b + 1, 1, 1, 1); so all other operands.
    k, v : Tensor
        (b, h_k, s_kv, d) and (b, h_v, s_kv, d_v); h_k and h_v divide h. With tables they are
        pages: (pages, h_k, tokens of a page, d).
    attn_scale : Tensor or float, optional
        1 / sqrt(d) by default. A tensor is (1, 1, 1, 1), float32.
    generate_stats : bool
        Give the logarithm of the sum of exponentials, for `sdpa_backward`.
    bias : Tensor, optional
        (b or 1, h or 1, s_q or 1, s_kv), added to the scores.
    use_alibi_mask : bool
        Add the distance from query to key times the slope of the head (see `alibi_slopes`).
    seq_len_q, seq_len_kv : Tensor, optional
        (b, 1, 1, 1), int32 or int64: what lies beyond is padding, which must be finite: cuDNN
        may multiply it with 0. Both or none. A length above s is a mistake that only the
        reference device reports.
    use_causal_mask, use_causal_mask_bottom_right : bool
        No key after the query, counted from the first or from the last of both.
    sliding_window_length : int, optional
        So many keys back, the query's own place included; the same as
        `diagonal_band_left_bound`.
    diagonal_alignment : "top_left" or "bottom_right"
        From where the bounds count.
    diagonal_band_left_bound, diagonal_band_right_bound : int, optional
        Key j for query i only if i - left < j <= i + right.
    dropout : (probability, seed, offset) or (mask, scale), optional
        Seed and offset are int64 tensors of one element (Philox); or a mask of 0 and 1 like the
        scores, (b, h, s_q, s_kv), and a tensor that its kept elements are multiplied with.
    rng_dump : Tensor, optional
        (b, h, s_q, s_kv), float32: receives the mask that seed and offset give.
    paged_attention_k_table, paged_attention_v_table : Tensor, optional
        (b, 1, pages of one sequence, 1), int32: where the pages of each sequence are.
    paged_attention_max_seq_len_kv : int, optional
        s_kv with pages; by default what the pages of one sequence hold.
    sink_token : Tensor, optional
        (1, h, 1, 1), float32: one more score of each head, without a value. cuDNN 9.13.
    score_mod : function, optional
        Called with the graph and the scaled scores, (b, h, s_q, s_kv), a virtual tensor without
        dims yet; adds operations and returns their result. After it come the bias, alibi, the
        padding and the band, in this order, then the softmax.
    score_max, score_sum_exp : Tensor, optional
        (b, h, s_q, 1), float32: receive the largest score of each query, and the sum of the
        exponentials of scores less that. Both or none, and in place of `stats`, which are
        score_max + log(score_sum_exp); not with a sink.

    Returns
    -------
    o : Tensor
        (b, h, s_q, d_v).
    stats : Tensor or None
        (b, h, s_q, 1), float32.

    Raises
    ------
    ValueError, TypeError
        If operands do not fit together. What else cuDNN does not take, `Graph.build` tells.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> q, k, v = (graph.tensor((2, 8, 512, 64), layout="bshd", name=name) for name in "qkv")
    >>> o, _ = graph.sdpa(q, k, v, attn_scale=0.125, use_causal_mask=True)
    >>> _ = o.set_output(), graph.validate()
    >>> o.dims, o.strides
    ((2, 8, 512, 64), (262144, 64, 512, 1))
    """


@operation(SDPA_BACKWARD, returns=("dq", "dk", "dv"), computes=False, prepare=attention_arguments)
def sdpa_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    dO: Tensor,
    stats: Tensor,
    *,
    attn_scale: Tensor | float | None = None,
    bias: Tensor | None = None,
    dBias: Tensor | None = None,
    use_alibi_mask: bool = False,
    seq_len_q: Tensor | None = None,
    seq_len_kv: Tensor | None = None,
    use_causal_mask: bool = False,
    use_causal_mask_bottom_right: bool = False,
    sliding_window_length: int | None = None,
    diagonal_alignment: str = "top_left",
    diagonal_band_left_bound: int | None = None,
    diagonal_band_right_bound: int | None = None,
    dropout: Dropout | None = None,
    rng_dump: Tensor | None = None,
    sink_token: Tensor | None = None,
    dSink_token: Tensor | None = None,
    use_deterministic_algorithm: bool = False,
    score_mod: ScoreModifier | None = None,
    score_mod_bprop: ScoreModifier | None = None,
) -> Mapping[str, Any]:
    """The gradients of `sdpa`: dq, dk, dv, from its result, `stats` and the gradient dO.

    Parameters
    ----------
    q, k, v, attn_scale, bias, dropout, …
        As `sdpa` had them. `Graph.build` refuses what cuDNN computes wrong on a GPU: a bias
        with one row for all queries, alibi without a causal mask, a sink with a probability of
        dropout. Of a dropout by (mask, scale, 1 / scale) the last is not needed, and leaves the
        graph.
    o, dO : Tensor
        (b, h, s_q, d_v).
    stats : Tensor
        (b, h, s_q, 1), float32; before cuDNN 9.26 packed as in C, or ragged.
    dBias : Tensor, optional
        Like `bias`: receives its gradient.
    sink_token, dSink_token : Tensor, optional
        (1, h, 1, 1), float32; the second receives the gradient of the first.
    use_deterministic_algorithm : bool
        The same bits each time; the gradients of the scores then lie in the workspace.
    score_mod : function, optional
        As `sdpa` had it.
    score_mod_bprop : function, optional
        Its derivative: called with the graph and the gradient of what `score_mod` returned;
        returns that of what `score_mod` was called with. What only sets scores to -inf, where
        the gradient is 0 anyway, needs none.

    Returns
    -------
    dq, dk, dv : Tensor
        Like q, k, v.

    Notes
    -----
    Some tensors lie in the workspace of the plan: the sums of dO * o, and without
    `use_deterministic_algorithm` and `dBias` dq in float32. For cuDNN up to 9.15.0, where s_kv
    is no multiple of 128, also lengths of the sequences, as NVIDIA's front end has them there.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> q, k, v, o, dO = (graph.tensor((2, 8, 512, 64)) for _ in range(5))
    >>> stats = graph.tensor((2, 8, 512, 1), data_type="float32")
    >>> for each in graph.sdpa_backward(q, k, v, o, dO, stats, attn_scale=0.125):
    ...     _ = each.set_output()
    >>> len(graph.validate())
    1
    """
    if score_mod_bprop is not None and score_mod is None:
        raise TypeError("sdpa_backward: score_mod_bprop without score_mod")
    return {}
