"""The gradients of scaled dot-product attention: FlashAttention-2 (Dao, 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..node import Kind, Node, Result
from ..tensor import Tensor
from .attention import (
    AttentionOperations,
    Dropout,
    ScoreModifier,
    band_options,
    dropout_options,
)
from .attention_checks import AttentionCheck, check_mask
from .attention_mask import score_dims

__all__ = ["SDPA_BACKWARD", "AttentionBackwardOperations", "gradient_of"]


def _check(node: Node) -> None:
    check = AttentionCheck(str(node))
    inputs = node.inputs
    check.gradients(*(inputs[port] for port in ("q", "k", "v", "o", "dO", "stats")))
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


def _infer(node: Node) -> Mapping[str, Result]:
    _check(node)
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


_OPTIONAL = (
    "attn_scale",
    "bias",
    "seq_len_q",
    "seq_len_kv",
    "dropout_seed",
    "dropout_offset",
    "dropout_mask",
    "dropout_scale",
    "sink_token",
)
SDPA_BACKWARD = Kind(
    "",
    dict.fromkeys(("q", "k", "v", "o", "dO", "stats", *_OPTIONAL), ""),
    dict.fromkeys(("dq", "dk", "dv", "rng_dump", "dBias", "dSink_token"), ""),
    _infer,
    optional=frozenset(_OPTIONAL),
    own_options={
        "attn_scale": float,
        "use_alibi_mask": bool,
        **band_options,
        **dropout_options,
        "use_deterministic_algorithm": bool,
    },
    check=_check,
    subgraphs=frozenset({"score_mod", "score_mod_bprop"}),
)


class AttentionBackwardOperations(AttentionOperations):
    """Attention's backward pass, as an operation of a graph."""

    def sdpa_backward(
        self,
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
        name: str = "",
    ) -> tuple[Tensor, Tensor, Tensor]:
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
        operands = {
            "q": q,
            "k": k,
            "v": v,
            "o": o,
            "dO": dO,
            "stats": stats,
            "bias": bias,
            "seq_len_q": seq_len_q,
            "seq_len_kv": seq_len_kv,
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
            "use_deterministic_algorithm": use_deterministic_algorithm,
        }
        if score_mod_bprop is not None and score_mod is None:
            raise TypeError("sdpa_backward: score_mod_bprop without score_mod")
        results = self._attention(
            SDPA_BACKWARD,
            "sdpa_backward",
            operands,
            options,
            ("dq", "dk", "dv"),
            {"rng_dump": rng_dump, "dBias": dBias, "dSink_token": dSink_token},
            name,
            dropout=dropout,
            functions={"score_mod": score_mod, "score_mod_bprop": score_mod_bprop},
        )
        return results["dq"], results["dk"], results["dv"]
