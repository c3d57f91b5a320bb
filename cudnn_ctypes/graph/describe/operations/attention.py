"""Scaled dot-product attention, and its gradients: FlashAttention-2 (Dao, 2023)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....raw import cudnnDataType_t
from ..node import Kind, Node, Result
from ..tensor import Tensor
from ..validation import check_number
from .attention_checks import AttentionCheck, check_mask, check_sizes, score_dims, settle_dropout
from .base import Operations, Prepare, operation

# Takes the graph and scores, adds operations, and returns their result.
ScoreModifier = Callable[[Any, Tensor], Tensor]
# (probability, seed, offset) or (mask, scale)
Dropout = tuple[Any, ...]

_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT

_FLAGS = (
    "use_alibi_mask use_causal_mask use_causal_mask_bottom_right use_deterministic_algorithm "
    "unfuse_fma"
)
_NUMBERS = (
    "sliding_window_length diagonal_band_left_bound diagonal_band_right_bound dropout_seed "
    "paged_attention_max_seq_len_kv max_total_seq_len_q max_total_seq_len_kv"
)
_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(_FLAGS.split(), bool),
    **dict.fromkeys(_NUMBERS.split(), int),
    **dict.fromkeys(("attn_scale", "dropout_probability"), float),
    "diagonal_alignment": str,
}
# Annotations and defaults of arguments; the others are tensors.
_ARGUMENTS: Mapping[str, tuple[str, Any]] = {
    **dict.fromkeys((*_FLAGS.split(), "generate_stats"), ("bool", False)),
    **dict.fromkeys(_NUMBERS.split(), ("int | None", None)),
    **dict.fromkeys(("score_mod", "score_mod_bprop"), ("ScoreModifier | None", None)),
    "attn_scale": ("Tensor | float | None", None),
    "diagonal_alignment": ("str", "top_left"),
    "dropout": ("Dropout | None", None),
}
_BAND = (
    "use_causal_mask use_causal_mask_bottom_right sliding_window_length diagonal_alignment "
    "diagonal_band_left_bound diagonal_band_right_bound"
)
"""Options that say which keys a query may look at."""


def _typed(names: str) -> Mapping[str, Any]:
    """The options of an operation of attention, with their types."""
    return {name: _TYPES[name] for name in names.split()}


def _check(node: Node) -> None:
    check = AttentionCheck(str(node))
    check.forward(node)
    check_mask(node, check)
    check.softmax_parts(node, alone=True)


def _forward_results(node: Node, statistics: Any, data_type: Any = None) -> dict[str, Result]:
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
    return _forward_results(node, _FLOAT)


SDPA = Kind.of(
    "",
    "q k v attn_scale? bias? seq_len_q? seq_len_kv? dropout_seed? dropout_offset? "
    "dropout_mask? dropout_scale? paged_attention_k_table? paged_attention_v_table? "
    "sink_token?",
    "o stats rng_dump score_max score_sum_exp",
    _infer,
    own_options=_typed(
        f"attn_scale use_alibi_mask {_BAND} dropout_probability dropout_seed "
        "paged_attention_max_seq_len_kv"
    ),
    check=_check,
    subgraphs="score_mod",
    unread="stats",
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


def _gradient_of(tensor: Tensor, data_type: Any = None) -> Result:
    """The gradient of an operand, which lies as the operand does."""
    return Result(tensor.dims, tensor, data_type, strides=tensor.strides)


def _infer_backward(node: Node) -> Mapping[str, Result]:
    _check_backward(node)
    dims = score_dims(node)
    assert dims is not None
    results = {f"d{port}": _gradient_of(node.inputs[port]) for port in "qkv"}
    bias, sink = node.inputs.get("bias"), node.inputs.get("sink_token")
    if bias is not None:
        results["dBias"] = Result(bias.dims, bias)
    if sink is not None:
        results["dSink_token"] = Result(sink.dims, sink)
    scores = Result(dims)
    return {**results, "rng_dump": scores, "score_mod": scores, "score_mod_bprop": scores}


SDPA_BACKWARD = Kind.of(
    "",
    "q k v o dO stats attn_scale? bias? seq_len_q? seq_len_kv? dropout_seed? dropout_offset? "
    "dropout_mask? dropout_scale? sink_token?",
    "dq dk dv rng_dump dBias dSink_token",
    _infer_backward,
    own_options=_typed(
        f"attn_scale use_alibi_mask {_BAND} dropout_probability dropout_seed "
        "use_deterministic_algorithm"
    ),
    check=_check_backward,
    subgraphs="score_mod score_mod_bprop",
)


def _attention_arguments(
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
    settle_dropout(check, arguments)
    for option in kind.own_options:  # those that are not given are left out of the node
        if arguments.get(option) is None or arguments[option] is False:
            arguments.pop(option, None)


def _attention(
    kind: Kind,
    options: str,
    *,
    returns: Sequence[str],
    prepare: Prepare = _attention_arguments,
) -> Callable[[Callable[..., None]], Callable[..., Any]]:
    """Make a method as `operation` does: what `kind` needs comes first, `options` are named."""
    operands = [each for each in kind.inputs if each not in kind.optional]
    place, last = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(each, place, annotation="Tensor") for each in operands]
    for each in options.split():
        kind_of, default = _ARGUMENTS.get(each, ("Tensor | None", None))
        parameters.append(inspect.Parameter(each, last, default=default, annotation=kind_of))

    def decorate(function: Callable[..., None]) -> Callable[..., Any]:
        vars(function)["__signature__"] = inspect.Signature(parameters)
        return operation(kind, returns=returns, computes=False, prepare=prepare)(function)

    return decorate


@_attention(
    SDPA,
    """
    attn_scale generate_stats bias use_alibi_mask seq_len_q seq_len_kv use_causal_mask
    use_causal_mask_bottom_right sliding_window_length diagonal_alignment
    diagonal_band_left_bound diagonal_band_right_bound dropout rng_dump paged_attention_k_table
    paged_attention_v_table paged_attention_max_seq_len_kv sink_token score_mod score_max
    score_sum_exp
    """,
    returns=("o", "stats?"),
)
def sdpa(**arguments: Any) -> None:
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


@_attention(
    SDPA_BACKWARD,
    """
    attn_scale bias dBias use_alibi_mask seq_len_q seq_len_kv use_causal_mask
    use_causal_mask_bottom_right sliding_window_length diagonal_alignment
    diagonal_band_left_bound diagonal_band_right_bound dropout rng_dump sink_token dSink_token
    use_deterministic_algorithm score_mod score_mod_bprop
    """,
    returns=("dq", "dk", "dv"),
)
def sdpa_backward(**arguments: Any) -> None:
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


# --- on 8-bit floating-point numbers, with a scale for each tensor --------------------------------
#
# A tensor t is stored as t * scale_t, and descale_t = 1 / scale_t gives it back. From amax, the
# largest magnitude of a result before its scale, the scale of the next time is chosen (Micikevicius
# et al.: FP8 formats for deep learning; 2022). In between, s is the softmax and dP the gradient of
# the scores. All scales and maxima are (1, 1, 1, 1), float32.

_AMAX = Result((1, 1, 1, 1), None, _FLOAT)


def _check_fp8(node: Node) -> None:
    check = AttentionCheck(str(node))
    tensors = {port: node.inputs[port] for port in "qkv"}
    check.forward(node)
    check.fp8(tensors)
    check_mask(node, check)


def _infer_fp8(node: Node) -> Mapping[str, Result]:
    _check_fp8(node)
    results = _forward_results(node, _FLOAT, node.inputs["q"].data_type)
    return {**results, "amax_s": _AMAX, "amax_o": _AMAX}


def _check_fp8_backward(node: Node) -> None:
    check = AttentionCheck(str(node))
    tensors = {port: node.inputs[port] for port in ("q", "k", "v", "o", "dO")}
    check.gradients(node)
    check.same_heads(node)
    check.fp8(tensors)
    check_mask(node, check)


def _infer_fp8_backward(node: Node) -> Mapping[str, Result]:
    _check_fp8_backward(node)
    data_type = node.inputs["dO"].data_type
    results = {f"d{port}": _gradient_of(node.inputs[port], data_type) for port in "qkv"}
    return results | dict.fromkeys(("amax_dQ", "amax_dK", "amax_dV", "amax_dP"), _AMAX)


SDPA_FP8 = Kind.of(
    "",
    "q k v descale_q descale_k descale_v descale_s scale_s scale_o attn_scale? seq_len_q? "
    "seq_len_kv? paged_attention_k_table? paged_attention_v_table?",
    "o stats amax_s amax_o",
    _infer_fp8,
    own_options=_typed(f"attn_scale {_BAND} paged_attention_max_seq_len_kv"),
    check=_check_fp8,
    unread="stats",
)
SDPA_FP8_BACKWARD = Kind.of(
    "",
    "q k v o dO stats descale_q descale_k descale_v descale_o descale_dO descale_s descale_dP "
    "scale_s scale_dQ scale_dK scale_dV scale_dP attn_scale? seq_len_q? seq_len_kv?",
    "dq dk dv amax_dQ amax_dK amax_dV amax_dP",
    _infer_fp8_backward,
    own_options=_typed(f"attn_scale {_BAND}"),
    check=_check_fp8_backward,
)


def _fp8_arguments(graph: Operations, kind: Kind, place: str, arguments: dict[str, Any]) -> None:
    operands = {port: arguments[port] for port in "qkv"}
    AttentionCheck(place).fp8(operands, getattr(graph, "io_data_type", None))
    _attention_arguments(graph, kind, place, arguments)


@_attention(
    SDPA_FP8,
    """
    attn_scale generate_stats seq_len_q seq_len_kv use_causal_mask use_causal_mask_bottom_right
    sliding_window_length diagonal_alignment diagonal_band_left_bound diagonal_band_right_bound
    paged_attention_k_table paged_attention_v_table paged_attention_max_seq_len_kv
    """,
    returns=("o", "stats?", "amax_s", "amax_o"),
    prepare=_fp8_arguments,
)
def sdpa_fp8(**arguments: Any) -> None:
    """`sdpa` on fp8_e4m3 or fp8_e5m2. cuDNN 9.1, from Hopper on.

    Parameters
    ----------
    q, k, v : Tensor
        (b, h, s_q, d), (b, h_k, s_kv, d), (b, h_v, s_kv, d_v); d a multiple of 16. With tables
        k and v are pages: (pages, h_k, tokens of a page, d).
    descale_q, descale_k, descale_v, descale_s, scale_s, scale_o : Tensor
        (1, 1, 1, 1), float32.
    attn_scale, seq_len_q, paged_attention_k_table, …
        As for `sdpa`.

    Returns
    -------
    o : Tensor
        (b, h, s_q, d_v), of the type of q.
    stats : Tensor or None
        (b, h, s_q, 1), float32.
    amax_s, amax_o : Tensor
        The largest element of the softmax, and the largest magnitude of o before scale_o. cuDNN
        wants memory for both.

    Notes
    -----
    There is no `score_mod` as in `sdpa`: cuDNN accepts it, but applies it before attn_scale,
    descale_q and descale_k (seen on an H200 with 9.14, 9.19 and 9.28). Nor are there
    `score_max` and `score_sum_exp`: the maxima would come multiplied by log2(e).
    """


@_attention(
    SDPA_FP8_BACKWARD,
    """
    attn_scale seq_len_q seq_len_kv use_causal_mask use_causal_mask_bottom_right
    diagonal_alignment diagonal_band_left_bound diagonal_band_right_bound
    """,
    returns=tuple(SDPA_FP8_BACKWARD.outputs),
    prepare=_fp8_arguments,
)
def sdpa_fp8_backward(**arguments: Any) -> None:
    """The gradients of `sdpa_fp8`. cuDNN 9.1, from Hopper on; there d and d_v must be 128.

    Parameters
    ----------
    q, k, v, o, dO : Tensor
        fp8_e4m3 or fp8_e5m2; dO (b, h, s_q, d_v) may have the other type.
    stats : Tensor
        (b, h, s_q, 1), float32, packed as in C.
    descale_q, descale_k, descale_v, descale_o, descale_dO, descale_s, descale_dP : Tensor
        (1, 1, 1, 1), float32: what each is multiplied with where it is read.
    scale_s, scale_dQ, scale_dK, scale_dV, scale_dP : Tensor
        (1, 1, 1, 1), float32: what each is multiplied with before it is rounded.

    Returns
    -------
    dq, dk, dv : Tensor
        Like q, k, v, of the type of dO.
    amax_dQ, amax_dK, amax_dV, amax_dP : Tensor
        Largest magnitudes before the scales. cuDNN wants memory for all of them.

    Notes
    -----
    q, k and v have the same number of heads.
    """


# --- as one operation of cuDNN's, not as the pattern of its parts ---------------------------------


def _infer_operation(node: Node) -> Mapping[str, Result]:
    q, v = node.inputs["q"], node.inputs["v"]
    return {
        "o": Result((*q.dims[:3], v.dims[3]), q, q.data_type),
        "stats": Result((*q.dims[:3], 1), None, "compute"),
    }


def _infer_operation_backward(node: Node) -> Mapping[str, Result]:
    gradients = {name: node.inputs[name] for name in ("q", "k", "v")}
    return {f"d{name}": Result(like.dims, like, like.data_type) for name, like in gradients.items()}


_SCALE_AND_LENGTHS = (
    "scale?=scaledesc seq_len_q?=seq_len_qdesc seq_len_kv?=seq_len_kvdesc "
    "cu_seq_len_q?=cu_seq_len_qdesc cu_seq_len_kv?=cu_seq_len_kvdesc"
)
SDPA_OPERATION = Kind.of(
    "operation_sdpa_fwd",
    "q=qdesc k=kdesc v=vdesc block_mask? page_table_k?=page_table_kdesc "
    f"page_table_v?=page_table_vdesc dropout_seed? dropout_offset? {_SCALE_AND_LENGTHS}",
    "o=odesc stats=statsdesc rng_dump=dropout_rng_dump_desc",
    _infer_operation,
    options="unfuse_fma dropout_probability",
    subgraphs="score_mod softmax",
    held_graphs={"score_mod": "subgraph"},
    held_operations={"softmax": "softmax_desc"},
)
SDPA_OPERATION_BACKWARD = Kind.of(
    "operation_sdpa_bwd",
    f"q=qdesc k=kdesc v=vdesc o=odesc dO=doddesc stats=statsdesc {_SCALE_AND_LENGTHS}",
    "dq=dqdesc dk=dkdesc dv=dvdesc",
    _infer_operation_backward,
    options="max_total_seq_len_q max_total_seq_len_kv",
)


def _check_unified(node: Node) -> None:
    check = AttentionCheck(str(node))
    check.forward(node)
    check_mask(node, check)
    check.softmax_parts(node, alone=False)


def _infer_unified(node: Node) -> Mapping[str, Result]:
    _check_unified(node)
    check_sizes(node)
    return _forward_results(node, "compute", node.inputs["q"].data_type)


def _check_unified_backward(node: Node) -> None:
    check = AttentionCheck(str(node))
    check.gradients(node)
    q = node.inputs["q"]
    check.lengths(node, q.dims[0] if q.dims else None)


def _infer_unified_backward(node: Node) -> Mapping[str, Result]:
    _check_unified_backward(node)
    check_sizes(node)
    return _infer_operation_backward(node)


SDPA_UNIFIED = Kind.of(
    "",
    "q k v block_mask? bias? sink_token? dropout_seed? dropout_offset? "
    "paged_attention_k_table? paged_attention_v_table? attn_scale? seq_len_q? seq_len_kv? "
    "cu_seq_len_q? cu_seq_len_kv?",
    "o stats rng_dump score_max score_sum_exp",
    _infer_unified,
    own_options=_typed(
        f"attn_scale use_alibi_mask unfuse_fma {_BAND} dropout_probability dropout_seed "
        "paged_attention_max_seq_len_kv"
    ),
    check=_check_unified,
    subgraphs="score_mod",
)
SDPA_UNIFIED_BACKWARD = Kind.of(
    "",
    "q k v o dO stats attn_scale? seq_len_q? seq_len_kv? cu_seq_len_q? cu_seq_len_kv?",
    "dq dk dv",
    _infer_unified_backward,
    own_options=_typed("attn_scale max_total_seq_len_q max_total_seq_len_kv"),
    check=_check_unified_backward,
)


@_attention(
    SDPA_UNIFIED,
    """
    attn_scale generate_stats bias block_mask use_alibi_mask seq_len_q seq_len_kv cu_seq_len_q
    cu_seq_len_kv use_causal_mask use_causal_mask_bottom_right sliding_window_length
    diagonal_alignment diagonal_band_left_bound diagonal_band_right_bound dropout rng_dump
    paged_attention_k_table paged_attention_v_table paged_attention_max_seq_len_kv sink_token
    score_mod score_max score_sum_exp unfuse_fma
    """,
    returns=("o", "stats?"),
)
def sdpa_unified(**arguments: Any) -> None:
    """`sdpa` as one operation, which holds what modifies and masks its scores. cuDNN 9.13.

    ``CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR``.

    Parameters
    ----------
    q, k, v, attn_scale, generate_stats
        As for `sdpa`.
    bias, use_alibi_mask, use_causal_mask, …, sink_token, score_mod, score_max, score_sum_exp
        As for `sdpa`; score_max and score_sum_exp also together with stats. cuDNN 9.21.
    block_mask : Tensor, optional
        (b, h, …, …), uint8: bits for the blocks of scores that take part. cuDNN 9.14; GPUs from
        Blackwell on.
    paged_attention_k_table, paged_attention_v_table, seq_len_q, seq_len_kv : Tensor, optional
        As for `sdpa`. cuDNN 9.15.
    cu_seq_len_q, cu_seq_len_kv : Tensor, optional
        (b + 1, 1, 1, 1), int32, in place of seq_len_q and seq_len_kv: for each sequence the sum
        of the lengths before it, then that of all. cuDNN 9.24; one of each kind, 9.25.
    dropout : (probability, seed, offset), optional
        As for `sdpa`, but not by a mask. cuDNN 9.22.
    unfuse_fma : bool
        Round the products of the softmax before they are added, on GPUs from Blackwell on.
        cuDNN 9.21.

    Returns
    -------
    o : Tensor
        (b, h, s_q, d_v).
    stats : Tensor or None
        (b, h, s_q, 1), float32.
    """
    dropout = arguments["dropout"]
    if isinstance(dropout, (tuple, list)) and dropout and isinstance(dropout[0], Tensor):
        raise ValueError("sdpa_unified: dropout by a mask: only `sdpa` has it")


@_attention(
    SDPA_UNIFIED_BACKWARD,
    """
    attn_scale seq_len_q seq_len_kv cu_seq_len_q cu_seq_len_kv max_total_seq_len_q
    max_total_seq_len_kv
    """,
    returns=("dq", "dk", "dv"),
)
def sdpa_unified_backward(**arguments: Any) -> None:
    """The gradients of `sdpa_unified`: dq, dk, dv. cuDNN 9.17; for an H200 9.28.

    ``CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR``.

    Parameters
    ----------
    q, k, v, o, dO, stats, …
        As for `sdpa_backward`.
    cu_seq_len_q, cu_seq_len_kv : Tensor, optional
        As for `sdpa_unified`. cuDNN 9.28.
    max_total_seq_len_q, max_total_seq_len_kv : int, optional
        With packed sequences, how many tokens all of them have at most: for less workspace.
        cuDNN 9.21.

    Returns
    -------
    dq, dk, dv : Tensor
        Like q, k, v.
    """
