"""The front end's options of attention in layer 3's terms."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from .attention_rules import fault
from .c_members import c_data_type
from .described import Described
from .enums import attention_implementation, diagonal_alignment, named
from .errors import InvalidGraphError, not_supported
from .tensors import tensor

__all__ = ["TOP_LEFT", "AttentionOptions", "band", "of_unified", "padding", "wants_stats"]

TOP_LEFT = diagonal_alignment.TOP_LEFT
_alignment = diagonal_alignment


class AttentionOptions(Described):
    """Adds attention with whatever options were given."""

    def _attend(
        self,
        operation: str,
        results: str,
        operands: tuple[tensor, ...],
        options: dict[str, Any],
        compute_data_type: Any,
        name: str,
        out_dims: Any,
    ) -> list[Any]:
        """Have layer 3 add the operations; an option that it lacks is refused by ``validate``."""
        pygraph_method = operation.removesuffix("_unified")
        method = getattr(self._graph, operation, None)
        wanted = {
            key: value
            for key, value in options.items()
            if value is not None and (value is not False or key == "generate_stats")
        }
        if not any(f"paged_attention_{each}_table" in wanted for each in "kv"):
            # Programs give it whether or not there are pages; then nobody reads it.
            wanted.pop("paged_attention_max_seq_len_kv", None)
        if c_data_type(compute_data_type) not in (None, self._graph.compute_data_type):
            wanted["compute_data_type"] = compute_data_type
        wrong = fault(pygraph_method, *_heads(operation, operands), wanted)
        wanted.pop("use_padding_mask", None)
        known = {} if method is None else inspect.signature(method).parameters
        lacking = [key for key in wanted if key not in known]
        if method is None or lacking:
            wrong = not_carried_out(operation, lacking)
        if wrong is not None:
            stem = str(name) or self._graph.node_name(pygraph_method)
            return self._refused(wrong, stem, results)
        for key in ("score_mod", "score_mod_bprop"):
            if callable(wanted.get(key)):
                wanted[key] = self._called_with_this(wanted[key])
        return self._described(
            operation,
            results,
            *operands,
            name=name,
            method=pygraph_method,
            out_dims=out_dims,
            **wanted,
        )

    def _called_with_this(self, modify: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Layer 3 calls `modify` with its graph; the front end's programs expect the `pygraph`."""

        def modified(_: Any, scores: Any) -> Any:
            before = len(self._graph.calls)
            result = modify(self, scores)
            del self._graph.calls[before:]  # they are a part of the attention
            return result

        return modified


def _heads(operation: str, operands: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """q, k and v among the operands."""
    places = (0, 2, 4) if operation == "sdpa_mxfp8_backward" else (0, 1, 2)
    q, k, v = (operands[place] for place in places)
    return q, k, v


def not_carried_out(operation: str, names: Iterable[str]) -> Exception:
    """The exception for arguments that an operation of layer 3 lacks."""
    method = operation.removesuffix("_unified")
    how = "here" if method == operation else "with implementation UNIFIED"
    what = ", ".join(names) or "this attention"
    return not_supported(f"pygraph.{method}", f"not carried out {how}: {what}")


def of_unified(implementation: Any, unfuse_fma: bool) -> dict[str, Any]:
    """Options of attention on 8-bit numbers as one operation, which layer 3 lacks."""
    way = named(attention_implementation, implementation, "implementation")
    if way is not attention_implementation.UNIFIED:
        return {}
    return {"implementation": way, "unfuse_fma": unfuse_fma}


def wants_stats(is_inference: bool | None, generate_stats: bool | None) -> bool:
    if generate_stats is not None:
        return bool(generate_stats)
    if is_inference is None:
        raise InvalidGraphError("sdpa: give generate_stats, or is_inference")
    return not is_inference


def padding(wanted: bool, seq_len_q: Any, seq_len_kv: Any) -> dict[str, Any]:
    return {"use_padding_mask": wanted, "seq_len_q": seq_len_q, "seq_len_kv": seq_len_kv}


def band(
    causal: bool, bottom_right: bool, left: int | None, right: int | None, alignment: Any
) -> dict[str, Any]:
    """The mask around the diagonal: from which corner, how far to the left and to the right."""
    corner = named(_alignment, alignment, "diagonal_alignment")
    if causal and bottom_right:
        raise InvalidGraphError(
            "use_causal_mask and use_causal_mask_bottom_right exclude each other"
        )
    if causal or bottom_right:
        corner = _alignment.BOTTOM_RIGHT if bottom_right else TOP_LEFT
        right = 0
    return {
        "diagonal_band_left_bound": left,
        "diagonal_band_right_bound": right,
        "diagonal_alignment": None if corner is TOP_LEFT else "bottom_right",
    }
