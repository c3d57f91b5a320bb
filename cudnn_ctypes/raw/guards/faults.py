"""Warnings of calls that succeed though cuDNN computes wrong numbers.

A descriptor's entry remembers the entry beside which it is right, so the next call with the same
descriptors costs one look.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import FaultWarning
from .. import library, mode, records
from ..enums import cudnnSoftmaxMode_t
from ..host_blocks import warn
from ..wrong_softmax import WRONG_SOFTMAX, LegacyFault
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]

_MOST = 512  # calls that were warned of


def fragment(binding: Binding) -> Fragment | None:
    names = WRONG_SOFTMAX.functions.get(binding.name)
    if names is None:
        return None
    first, *_, last = names  # the guard of operands has looked at the last one
    look = f"_entries.get(_as_bytes(_of_{first})) is not _at_{last}.beside"
    return Fragment(
        success=[
            f"if _of_{first}.__class__ is not _kind_{first} or {look}: "
            f"_tell(mode, {', '.join(names)})"
        ],
        scope={
            "_entries": records.cache,
            "_as_bytes": bytes,
            "_tell": _teller(binding.name, WRONG_SOFTMAX, names),
        },
    )


def _teller(function: str, fault: LegacyFault, names: tuple[str, ...]) -> Callable[..., None]:
    told: set[tuple[Any, ...]] = set()

    def tell(option: Any, *descriptors: Any) -> None:
        """Warn of the first call with the fault, or remember that the descriptors are right."""
        option = getattr(option, "value", option)
        entries = [records.place(each) for each in descriptors]
        if mode.reference_device_active or (option, *entries) in told:
            return
        held = [each.record for each in entries]
        if None in held or not fault.applies(library.load().version):
            return
        if not any(fault.where(each, *held) for each in cudnnSoftmaxMode_t):
            entries[-1].beside = entries[0]
        elif fault.where(option, *held):
            layouts = ", ".join(
                f"{name} {each.shape} with strides {each.strides}"
                for name, each in zip(names, held, strict=True)
            )
            text = f"{function}: {fault.effect} ({fault.evidence}): {layouts}; {fault.remedy}"
            warn(text, FaultWarning)
            if len(told) >= _MOST:
                told.clear()
            told.add((option, *entries))

    return tell
