"""A length check of a CTC loss's host labels, against the batch size and the label lengths.

C has no parameter for their number. cuDNN reads one length for each sample of the batch, and all
labels one after another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import records
from . import Fragment
from .lengths import elements

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]


def fragment(binding: Binding) -> Fragment | None:
    batched = [p for p in binding.parameters if p.type.per_sample or p.type.sum_of]
    if not batched:
        return None
    names, base = [p.name for p in batched], batched[0].type.base
    described_by = batched[-1].type.per_sample

    def check(probs: Any, *arrays: Any) -> None:
        tensor = records.record(probs)
        if tensor is None or len(tensor.shape) < 2:
            return
        batch = tensor.shape[1]
        labels, label_lengths, _ = arrays
        for name, array in zip(names[1:], arrays[1:], strict=True):
            _require(name, array, batch, "one for each sample of the batch")
        if hasattr(label_lengths, "__getitem__"):
            lengths = [int(length) for length in label_lengths[:batch]]
            # cuDNN refuses negative lengths before it reads labels.
            if min(lengths, default=0) >= 0:
                _require(names[0], labels, sum(lengths), f"the sum of {names[1]}")

    def _require(name: str, array: Any, wanted: int, why: str) -> None:
        numbers = elements(array, base)
        if numbers is not None and numbers < wanted:
            raise ValueError(
                f"{binding.name}() argument {name!r}: {wanted} elements expected, {why}, "
                f"got {numbers}"
            )

    lines = [
        "try:",
        f"    _check_labels({described_by}, {', '.join(names)})",
        "except (AttributeError, TypeError):  # of another type: its converter says so",
        "    pass",
    ]
    return Fragment(before=lines, scope={"_check_labels": check})
