"""Scaled dot-product attention."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

from ....raw import cudnnDataType_t
from ....raw.values import described
from ..node import Kind, Node, Result
from ..tensor import Tensor
from ..tensor_checks import check_number
from .attention_checks import AttentionCheck, check_mask
from .attention_mask import score_dims
from .base import Operations

__all__ = [
    "SDPA",
    "AttentionOperations",
    "Dropout",
    "ScoreModifier",
    "band_options",
    "dropout_options",
]

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
    parts = (node.outputs.get("score_max"), node.outputs.get("score_sum_exp"))
    check.softmax_parts(
        *parts, score_dims(node), stats="stats" in node.outputs, sink="sink_token" in node.inputs
    )


def _infer(node: Node) -> Mapping[str, Result]:
    _check(node)
    q, v, dims = node.inputs["q"], node.inputs["v"], score_dims(node)
    assert dims is not None
    row = Result((*dims[:3], 1), None, _FLOAT)
    return {
        "o": Result((*q.dims[:3], v.dims[3]), q),
        "stats": row,
        "score_max": row,
        "score_sum_exp": row,
        "rng_dump": Result(dims, None, _FLOAT),
        "score_mod": Result(dims),
    }


_OPTIONAL = (
    "attn_scale",
    "bias",
    "seq_len_q",
    "seq_len_kv",
    "dropout_seed",
    "dropout_offset",
    "dropout_mask",
    "dropout_scale",
    "paged_attention_k_table",
    "paged_attention_v_table",
    "sink_token",
)
SDPA = Kind(
    "",
    dict.fromkeys(("q", "k", "v", *_OPTIONAL), ""),
    dict.fromkeys(("o", "stats", "rng_dump", "score_max", "score_sum_exp"), ""),
    _infer,
    optional=frozenset(_OPTIONAL),
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


class AttentionOperations(Operations):
    """Attention, as an operation of a graph."""

    def sdpa(
        self,
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
        name: str = "",
    ) -> tuple[Tensor, Tensor | None]:
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
        operands = {
            "q": q,
            "k": k,
            "v": v,
            "bias": bias,
            "seq_len_q": seq_len_q,
            "seq_len_kv": seq_len_kv,
            "paged_attention_k_table": paged_attention_k_table,
            "paged_attention_v_table": paged_attention_v_table,
            "sink_token": sink_token,
        }
        options = {
            "attn_scale": attn_scale,
            "use_alibi_mask": use_alibi_mask,
            "use_causal_mask": use_causal_mask,
            "use_causal_mask_bottom_right": use_causal_mask_bottom_right,
            "sliding_window_length": sliding_window_length,
            "diagonal_alignment": diagonal_alignment,
            "diagonal_band_left_bound": diagonal_band_left_bound,
            "diagonal_band_right_bound": diagonal_band_right_bound,
            "paged_attention_max_seq_len_kv": paged_attention_max_seq_len_kv,
        }
        results = self._attention(
            SDPA,
            "sdpa",
            operands,
            options,
            ("o", "stats"),
            {"rng_dump": rng_dump, "score_max": score_max, "score_sum_exp": score_sum_exp},
            name,
            generate_stats=generate_stats,
            dropout=dropout,
            functions={"score_mod": score_mod},
        )
        return results["o"], results.get("stats")

    def _attention(
        self,
        kind: Kind,
        operation: str,
        operands: dict[str, Any],
        options: dict[str, Any],
        outputs: tuple[str, ...],
        targets: Mapping[str, Tensor | None],
        name: str,
        *,
        generate_stats: bool = True,
        dropout: Dropout | None = None,
        functions: Mapping[str, ScoreModifier | None] | None = None,
    ) -> dict[str, Tensor]:
        """Add one node of attention; options that are not given are left out of it."""
        name = self._name(name, operation)
        check = AttentionCheck(f"{operation} {name!r}")
        for port, value in (*operands.items(), *targets.items()):
            if value is not None:
                check.tensor(port, value)
        check.flags(generate_stats=generate_stats)
        if not generate_stats:
            outputs = tuple(port for port in outputs if port != "stats")
        for option, kind_of_option in kind.own_options.items():
            if kind_of_option is bool and option in options:
                check.flags(**{option: options[option]})
                options[option] = bool(options[option])
        if options.get("diagonal_alignment") == "top_left":
            options["diagonal_alignment"] = None
        scale = options["attn_scale"]
        if isinstance(scale, Tensor):
            operands["attn_scale"], options["attn_scale"] = scale, None
        elif scale is not None:
            check_number(f"{operation} {name!r}: attn_scale", scale)
            options["attn_scale"] = float(getattr(scale, "value", scale))
        unused = self._add_dropout(check, dropout, operands, options)
        results = self._add(
            kind,
            operation,
            operands,
            {
                key: value
                for key, value in options.items()
                if value is not None and value is not False
            },
            outputs=outputs,
            targets=targets,
            functions=functions,
            name=name,
        )
        for tensor in unused:
            self.tensors.remove(tensor)
        return results

    def _add_dropout(
        self,
        check: AttentionCheck,
        dropout: Dropout | None,
        operands: dict[str, Any],
        options: dict[str, Any],
    ) -> tuple[Tensor, ...]:
        """Put a dropout among the operands and options; returns what of it nothing reads."""
        if dropout is None:
            return ()
        if not isinstance(dropout, (tuple, list)) or not dropout:
            raise TypeError(
                f"{check.operation}: dropout: expected (probability, seed, offset) or "
                f"(mask, scale), got {described(dropout)}"
            )
        first, *rest = dropout
        if isinstance(first, Tensor):
            if len(rest) not in (1, 2):
                check.refuse("a dropout by a mask is (mask, scale)")
            operands |= {"dropout_mask": first, "dropout_scale": rest[0]}
            return tuple(each for each in rest[1:] if isinstance(each, Tensor))
        if len(rest) != 2:
            check.refuse("a dropout by a probability is (probability, seed, offset)")
        if isinstance(first, bool) or not isinstance(first, numbers.Real):
            raise TypeError(
                f"{check.operation}: dropout: expected a probability or a mask first, got "
                f"{described(first)}"
            )
        options["dropout_probability"] = float(first)
        seed, operands["dropout_offset"] = rest
        (operands if isinstance(seed, Tensor) else options)["dropout_seed"] = seed
        return ()
