"""Rules by which NVIDIA's front end calls an attention unsupported or invalid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import InvalidGraphError, not_supported

__all__ = ["fault"]


def fault(method: str, q: Any, k: Any, v: Any, options: Mapping[str, Any]) -> Exception | None:
    """The exception that ``validate`` raises for these operands and options, or None.

    Parameters
    ----------
    method : str
        Name of the method of ``pygraph``.
    q, k, v : tensor
        Their dims may be unknown.
    options : mapping
        Options of the call, by the front end's names.
    """
    sides = [[f"{form}seq_len_{side}" for form in ("", "cu_")] for side in ("q", "kv")]
    lengths = [name for names in sides for name in names if name in options]
    padded = options.get("use_padding_mask", False)
    if padded and not all(any(name in options for name in names) for names in sides):
        return InvalidGraphError(f"{method}: use_padding_mask needs seq_len_q and seq_len_kv")
    pages = [name for name in options if name.startswith("paged_attention_") and "table" in name]
    if pages and not padded:
        reason = f"{pages[0]} needs use_padding_mask=True, seq_len_q and seq_len_kv"
        return not_supported(f"pygraph.{method}", reason)
    if lengths and not padded and "score_mod" not in options:
        return InvalidGraphError(f"{method}: {' and '.join(lengths)} need use_padding_mask=True")
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
