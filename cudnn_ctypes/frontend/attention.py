"""The attention of a `pygraph`, forward and backward: NVIDIA's options in layer 3's terms.

Without `attn_scale` the scores are not scaled. `use_padding_mask` goes with `seq_len_q` and
`seq_len_kv`. A causal mask is a `diagonal_band_right_bound` of 0; `sliding_window_length` is
another name of `diagonal_band_left_bound`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .c_members import c_data_type
from .described import METHODS, Described, method
from .enums import attention_implementation, data_type, diagonal_alignment, named
from .errors import InvalidGraphError, not_supported
from .tensors import tensor

TOP_LEFT = diagonal_alignment.TOP_LEFT
_NOT_SET = data_type.NOT_SET
_alignment = diagonal_alignment
_Modifier = Callable[[Any, tensor], tensor]


def _fault(method: str, q: Any, k: Any, v: Any, options: Mapping[str, Any]) -> Exception | None:
    """The exception that ``validate`` raises for these operands and options, or None."""
    sides = [[f"{form}seq_len_{side}" for form in ("", "cu_")] for side in ("q", "kv")]
    lengths = [name for names in sides for name in names if name in options]
    padded = options.get("use_padding_mask", False)
    if padded and not all(any(name in options for name in names) for names in sides):
        return InvalidGraphError(f"{method}: use_padding_mask needs seq_len_q and seq_len_kv")
    pages = [name for name in options if name.startswith("paged_attention_") and "table" in name]
    if lengths and not padded and "score_mod" not in options:
        return InvalidGraphError(f"{method}: {' and '.join(lengths)} need use_padding_mask=True")
    if pages and not all(any(name in options for name in names) for names in sides):
        reason = f"{pages[0]} needs use_padding_mask=True, seq_len_q and seq_len_kv"
        return not_supported(f"pygraph.{method}", reason)
    parts = [name for name in ("score_max", "score_sum_exp") if name in options]
    if len(parts) == 1:
        reason = f"{parts[0]} without the other part of the statistics"
        return not_supported(f"pygraph.{method}", f"not carried out here: {reason}")
    if "dBias" in options and "bias" not in options:
        return InvalidGraphError(f"{method}: dBias needs the bias")
    for name, heads in (("k", _heads(k)), ("v", _heads(v))):
        if heads and _heads(q) % heads:
            reason = f"the {heads} heads of {name} do not divide the {_heads(q)} of q"
            return not_supported(f"pygraph.{method}", reason)
    return None


def _heads(operand: Any) -> int:
    """0 if it is not known."""
    dims: tuple[int, ...] = getattr(operand, "dims", None) or ()
    return dims[1] if len(dims) == 4 else 0


def _not_carried_out(operation: str, names: Iterable[str]) -> Exception:
    """The exception for arguments that an operation of layer 3 lacks."""
    method = operation.removesuffix("_unified")
    how = "here" if method == operation else "with implementation UNIFIED"
    what = ", ".join(names) or "this attention"
    return not_supported(f"pygraph.{method}", f"not carried out {how}: {what}")


def _band(options: dict[str, Any]) -> None:
    """Put the mask around the diagonal in layer 3's terms: its corner, and how far it reaches."""
    corner = named(_alignment, options.pop("diagonal_alignment"), "diagonal_alignment")
    causal, last = (options.pop(f"use_causal_mask{end}", False) for end in ("", "_bottom_right"))
    bounds = [
        [options.pop(name, None) for name in names]
        for names in (
            (
                *("sliding_window_length", "sliding_window"),
                *("diagonal_band_left_bound", "left_bound"),
            ),
            ("diagonal_band_right_bound", "right_bound"),
        )
    ]
    left = next((each for each in bounds[0] if each), None)
    right = next((each for each in bounds[1] if each is not None), None)
    if causal and last:
        raise InvalidGraphError(
            "use_causal_mask and use_causal_mask_bottom_right exclude each other"
        )
    if causal or last:
        corner = _alignment.BOTTOM_RIGHT if last else TOP_LEFT
        right = 0
    options["diagonal_band_left_bound"], options["diagonal_band_right_bound"] = left, right
    options["diagonal_alignment"] = None if corner is TOP_LEFT else "bottom_right"


def _wants_stats(called: str, options: dict[str, Any]) -> bool:
    wanted, inference = options["generate_stats"], options.pop("is_inference", None)
    if wanted is not None:
        return bool(wanted)
    if called == "sdpa_mxfp8":
        raise TypeError("sdpa_mxfp8: generate_stats is missing")
    if inference is None:
        raise InvalidGraphError("sdpa: give generate_stats, or is_inference")
    return not inference


def _operation(called: str, options: dict[str, Any]) -> str:
    """Layer 3's method; what says whether attention is one operation is taken out."""
    fused = options.pop("unfuse_fma", False)
    given = options.pop("implementation", attention_implementation.AUTO)
    way = named(attention_implementation, given, "implementation")
    unified = way is attention_implementation.UNIFIED
    if called != "sdpa":
        if unified:  # layer 3 has no such attention on 8-bit numbers
            options |= {"implementation": way, "unfuse_fma": fused}
        return called
    if way is attention_implementation.AUTO:
        asking = ("block_mask", "cu_seq_len_q", "cu_seq_len_kv")
        unified = any(options[name] is not None for name in asking)
    if unified:
        options["unfuse_fma"] = fused
    return "sdpa_unified" if unified else "sdpa"


def _prepared(
    graph: Described, called: str, arguments: Mapping[str, Any]
) -> Mapping[str, Any] | Exception:
    """Layer 3's arguments for a call; the exception of ``validate`` for what is not carried out."""
    options = dict(arguments)
    _band(options)
    operation = _operation(called, options)
    if "generate_stats" in options:
        options["generate_stats"] = _wants_stats(called, options)
    options["attn_scale"] = 1.0 if options["attn_scale"] is None else options["attn_scale"]
    for hint in ("max_total_seq_len_q", "max_total_seq_len_kv"):  # how large a workspace may be
        options.pop(hint, None)
    if not any(options.get(f"paged_attention_{each}_table") is not None for each in "kv"):
        # Programs give it whether or not there are pages; then nobody reads it.
        options.pop("paged_attention_max_seq_len_kv", None)
    if c_data_type(options["compute_data_type"]) in (None, graph._graph.compute_data_type):
        del options["compute_data_type"]
    wanted = {
        key: value
        for key, value in options.items()
        if value is not None and (value is not False or key == "generate_stats")
    }
    wrong = _fault(called, options["q"], options["k"], options["v"], wanted)
    wanted.pop("use_padding_mask", None)
    method = getattr(graph._graph, operation, None)
    known = {} if method is None else inspect.signature(method).parameters
    lacking = [key for key in wanted if key not in known and key not in _operands(called)]
    if method is None or lacking:
        wrong = _not_carried_out(operation, lacking)
    if wrong is not None:
        return wrong
    for key in ("score_mod", "score_mod_bprop"):
        if callable(wanted.get(key)):
            wanted[key] = _called_with(graph, wanted[key])
    return {**wanted, "operation": operation, "compute_data_type": _NOT_SET}


def _operands(called: str) -> list[str]:
    parameters = inspect.signature(METHODS[called]).parameters
    return [name for name, each in parameters.items() if each.default is each.empty]


def _called_with(graph: Described, modify: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Layer 3 calls `modify` with its graph; the front end's programs expect the `pygraph`."""

    def modified(_: Any, scores: Any) -> Any:
        before = len(graph._graph.calls)
        result = modify(graph, scores)
        del graph._graph.calls[before:]  # they are a part of the attention
        return result

    return modified


# Options of attention that are no tensors, with their types and defaults.
_OPTIONS: Mapping[str, tuple[str, Any]] = {
    **dict.fromkeys(("is_inference", "generate_stats"), ("bool | None", None)),
    **dict.fromkeys(("use_alibi_mask", "use_padding_mask", "unfuse_fma"), ("bool", False)),
    **dict.fromkeys(("use_causal_mask", "use_causal_mask_bottom_right"), ("bool", False)),
    **dict.fromkeys(("use_deterministic_algorithm", "stats_use_log2"), ("bool", False)),
    **dict.fromkeys(("sliding_window_length", "sliding_window"), ("int | None", None)),
    **dict.fromkeys(("diagonal_band_left_bound", "left_bound"), ("int | None", None)),
    **dict.fromkeys(("diagonal_band_right_bound", "right_bound"), ("int | None", None)),
    **dict.fromkeys(("max_total_seq_len_q", "max_total_seq_len_kv"), ("int | None", None)),
    **dict.fromkeys(("score_mod", "score_mod_bprop", "fn"), ("_Modifier | None", None)),
    **dict.fromkeys(("dropout", "out_dims"), ("Any", None)),
    "attn_scale": ("float | tensor | None", None),
    "paged_attention_max_seq_len_kv": ("int | None", None),
    "diagonal_alignment": ("diagonal_alignment", TOP_LEFT),
    "implementation": ("attention_implementation", attention_implementation.AUTO),
    "compute_data_type": ("Any", _NOT_SET),
    "name": ("str", ""),
}


def _attention(
    results: str, operands: str, options: str
) -> Callable[[Callable[[], None]], Callable[..., Any]]:
    """Make a method of a function that has the documentation alone.

    - `results`: as for `method`.
    - `operands`, `options`: names of its arguments. Those of the options that `_OPTIONS` lacks are
      tensors.
    """
    place = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(each, place, annotation="tensor") for each in operands.split()]
    for each in options.split():
        kind, default = _OPTIONS.get(each, ("tensor | None", None))
        parameters.append(inspect.Parameter(each, place, default=default, annotation=kind))

    def decorate(function: Callable[[], None]) -> Callable[..., Any]:
        vars(function)["__signature__"] = inspect.Signature(parameters)
        return method(results, prepare=_prepared)(function)

    return decorate


@_attention(
    "O Stats",
    "q k v",
    """
    is_inference attn_scale bias block_mask use_alibi_mask use_padding_mask seq_len_q seq_len_kv
    use_causal_mask use_causal_mask_bottom_right sliding_window_length diagonal_alignment
    diagonal_band_left_bound diagonal_band_right_bound dropout rng_dump paged_attention_k_table
    paged_attention_v_table paged_attention_max_seq_len_kv max_total_seq_len_q max_total_seq_len_kv
    compute_data_type name score_mod generate_stats implementation score_max score_sum_exp
    sink_token unfuse_fma cu_seq_len_q cu_seq_len_kv stats_use_log2 out_dims
    """,
)
def sdpa() -> None:
    """[O, Stats]: softmax(attn_scale * q @ k^T) @ v; Stats is None if not generated.

    Parameters
    ----------
    q, k, v : tensor
        (b, h, s, d); the heads of k and v divide those of q.
    is_inference, generate_stats : bool
        One of them must be given, and is the opposite of the other.
    dropout : (probability, seed, offset) or (mask, scale)
    implementation : attention_implementation
        UNIFIED is one operation of cuDNN's, without a dropout mask; COMPOSITE is the pattern of
        its parts. AUTO is the latter, unless there is a `block_mask`, or cumulative lengths,
        which only the former takes.
    score_mod : function, optional
        Called with this graph and the scaled scores; returns what takes their place, before the
        bias and the masks.
    score_max, score_sum_exp : tensor, optional
        (b, h, s, 1), FLOAT: receive the two parts of Stats, which is then not generated.
    max_total_seq_len_q, max_total_seq_len_kv : int, optional
        Hints of the front end to its own kernels; they change nothing.
    cu_seq_len_q, cu_seq_len_kv : tensor, optional
        (b + 1, 1, 1, 1), in place of `seq_len_q` and `seq_len_kv`: for each sequence the sum of
        the lengths before it, then that of all. Of UNIFIED alone.
    stats_use_log2
        Layer 3 lacks it, and ``validate`` refuses it.
    unfuse_fma : bool
        Of UNIFIED alone, as in NVIDIA's front end: COMPOSITE has no such choice.
    """


@_attention(
    "dQ dK dV",
    "q k v o dO stats",
    """
    attn_scale bias dBias use_alibi_mask use_padding_mask seq_len_q seq_len_kv max_total_seq_len_q
    max_total_seq_len_kv use_causal_mask use_causal_mask_bottom_right sliding_window_length
    diagonal_alignment diagonal_band_left_bound diagonal_band_right_bound dropout rng_dump
    use_deterministic_algorithm compute_data_type name score_mod score_mod_bprop sink_token
    dSink_token out_dims
    """,
)
def sdpa_backward() -> None:
    """[dQ, dK, dV]: the gradients of `sdpa`, from its results and the gradient `dO`.

    `max_total_seq_len_q` and `max_total_seq_len_kv` may be given and change nothing: they are
    the front end's hints on how large its workspace must be. `score_mod_bprop` is called with
    this graph and the gradient of what `score_mod` returned.
    """


@_attention(
    "O Stats Amax_S Amax_O",
    "q k v descale_q descale_k descale_v descale_s scale_s scale_o",
    """
    is_inference attn_scale bias use_alibi_mask use_padding_mask seq_len_q seq_len_kv
    use_causal_mask use_causal_mask_bottom_right sliding_window diagonal_alignment left_bound
    right_bound dropout rng_dump paged_attention_k_table paged_attention_v_table
    paged_attention_max_seq_len_kv max_total_seq_len_q max_total_seq_len_kv compute_data_type name
    fn generate_stats score_max score_sum_exp sink_token unfuse_fma implementation cu_seq_len_q
    cu_seq_len_kv stats_use_log2 out_dims
    """,
)
def sdpa_fp8() -> None:
    """[O, Stats, Amax_S, Amax_O]: `sdpa` of fp8 operands with their scales.

    `fn`, `score_max` and `score_sum_exp` are refused: cuDNN computes them wrong for 8 bits (see
    ``Graph.sdpa_fp8``).
    """


@_attention(
    "dQ dK dV amax_dQ amax_dK amax_dV amax_dP",
    """
    q k v o dO stats descale_q descale_k descale_v descale_o descale_dO descale_s descale_dP scale_s
    scale_dQ scale_dK scale_dV scale_dP
    """,
    """
    attn_scale use_padding_mask seq_len_q seq_len_kv use_causal_mask use_causal_mask_bottom_right
    diagonal_alignment left_bound right_bound use_deterministic_algorithm dropout compute_data_type
    name sink_token dSink_token max_total_seq_len_q max_total_seq_len_kv out_dims
    """,
)
def sdpa_fp8_backward() -> None:
    """[dQ, dK, dV, amax_dQ, amax_dK, amax_dV, amax_dP]: the gradients of `sdpa_fp8`."""


@_attention(
    "O Stats Amax_O",
    "q k v descale_q descale_k descale_v",
    """
    attn_scale use_causal_mask use_causal_mask_bottom_right diagonal_alignment
    diagonal_band_left_bound diagonal_band_right_bound compute_data_type name generate_stats
    sink_token unfuse_fma implementation use_padding_mask seq_len_q seq_len_kv max_total_seq_len_q
    max_total_seq_len_kv cu_seq_len_q cu_seq_len_kv paged_attention_k_table paged_attention_v_table
    paged_attention_max_seq_len_kv out_dims
    """,
)
def sdpa_mxfp8() -> None:
    """[O, Stats, Amax_O]: `sdpa` of fp8 operands with a scale for each block of 32."""


@_attention(
    "dQ dK dV amax_dQ amax_dK amax_dV",
    """
    q q_T k k_T v o_f16 dO_f16 dO dO_T stats descale_q descale_q_T descale_k descale_k_T descale_v
    descale_dO descale_dO_T
    """,
    """
    attn_scale use_padding_mask seq_len_q seq_len_kv use_causal_mask use_causal_mask_bottom_right
    diagonal_alignment left_bound right_bound use_deterministic_algorithm dropout compute_data_type
    name sink_token dSink_token max_total_seq_len_q max_total_seq_len_kv out_dims
    """,
)
def sdpa_mxfp8_backward() -> None:
    """[dQ, dK, dV, amax_dQ, amax_dK, amax_dV]: the gradients of `sdpa_mxfp8`."""


for _name in ("sdpa", "sdpa_backward"):
    _other = f"scaled_dot_product_flash_attention{_name.removeprefix('sdpa')}"
    METHODS[_other] = METHODS[_name]
