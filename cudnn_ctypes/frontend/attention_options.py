"""The front end's options of attention in layer 3's terms."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from .enums import c_data_type, diagonal_alignment, named
from .errors import InvalidGraphError, not_supported
from .front_graph import Described
from .tensors import tensor

__all__ = ["TOP_LEFT", "AttentionOptions", "band", "padding", "wants_stats", "without_band"]

TOP_LEFT = diagonal_alignment.TOP_LEFT
_alignment = diagonal_alignment


class AttentionOptions(Described):
    """Adds attention with whatever options were given."""

    def _attend(
        self,
        operation: str,
        ports: str,
        operands: tuple[tensor, ...],
        options: dict[str, Any],
        compute_data_type: Any,
        name: str,
    ) -> list[Any]:
        """Have layer 3 add the operations; an option that it lacks is refused by its name."""
        method = getattr(self._graph, operation, None)
        if method is None:
            raise not_supported(f"pygraph.{operation}", "this attention is not carried out here")
        if not any(options.get(f"paged_attention_{each}_table") for each in "kv"):
            # Programs give it whether or not there are pages; then nobody reads it.
            options.pop("paged_attention_max_seq_len_kv", None)
        for key in ("score_mod", "score_mod_bprop"):
            if callable(options.get(key)):
                options[key] = self._called_with_this(options[key])
        known = inspect.signature(method).parameters
        precision = c_data_type(compute_data_type)
        if precision not in (None, self._graph.compute_data_type):
            options["compute_data_type"] = precision
        wanted = {
            key: value for key, value in options.items() if value is not None and value is not False
        }
        lacking = [key for key in wanted if key not in known]
        if lacking:
            raise not_carried_out(operation, lacking)
        return self._described(operation, ports, *operands, name=name, **wanted)

    def _called_with_this(self, modify: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Layer 3 calls `modify` with its graph; the front end's programs expect the `pygraph`."""
        return lambda _, scores: modify(self, scores)


def not_carried_out(operation: str, names: Iterable[str]) -> Exception:
    """The exception for arguments that an operation of layer 3 lacks."""
    method = operation.removesuffix("_unified")
    how = "here" if method == operation else "with implementation UNIFIED"
    return not_supported(f"pygraph.{method}", f"not carried out {how}: {', '.join(names)}")


def without_band(operation: str, **given: Any) -> None:
    """Refuse masks around the diagonal by the names of their arguments."""
    names = [name for name, value in given.items() if value is not None and value is not False]
    if names:
        raise not_carried_out(operation, names)


def wants_stats(is_inference: bool | None, generate_stats: bool | None) -> bool:
    if generate_stats is not None:
        return bool(generate_stats)
    if is_inference is None:
        raise InvalidGraphError("sdpa: give generate_stats, or is_inference")
    return not is_inference


def padding(wanted: bool, seq_len_q: Any, seq_len_kv: Any) -> dict[str, Any]:
    given = seq_len_q is not None and seq_len_kv is not None
    if wanted and not given:
        raise InvalidGraphError("use_padding_mask needs seq_len_q and seq_len_kv")
    if not wanted and (seq_len_q is not None or seq_len_kv is not None):
        raise InvalidGraphError("seq_len_q and seq_len_kv need use_padding_mask=True")
    return {"seq_len_q": seq_len_q, "seq_len_kv": seq_len_kv} if wanted else {}


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
