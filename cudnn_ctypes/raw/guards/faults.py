"""Warnings of calls that succeed though cuDNN computes wrong numbers.

Calls that were looked at are remembered by the entries of their descriptors' records, so the next
call with the same descriptors costs one look at a set.
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

_MOST = 512  # calls remembered


def fragment(binding: Binding) -> Fragment | None:
    names = WRONG_SOFTMAX.functions.get(binding.name)
    if names is None:
        return None
    entry = "_of_{0}.__class__ is _kind_{0} and _entries.get(_as_bytes(_of_{0}))"
    entries = ", ".join(entry.format(name) for name in names)
    known: set[tuple[Any, ...]] = set()
    return Fragment(
        success=[
            f"_looked_at = (mode if mode.__class__ is _kind_mode else None, {entries})",
            f"if _looked_at not in _known: _tell(mode, {', '.join(names)})",
        ],
        scope={
            "_entries": records.cache,
            "_as_bytes": bytes,
            "_known": known,
            "_tell": _teller(binding.name, WRONG_SOFTMAX, names, known),
        },
    )


def _teller(
    function: str, fault: LegacyFault, names: tuple[str, ...], known: set[tuple[Any, ...]]
) -> Callable[..., None]:
    def tell(option: Any, *descriptors: Any) -> None:
        """Warn of a call with the fault, and remember the descriptors."""
        version = library.load().version
        if mode.reference_device_active or version < fault.since:
            return
        if fault.repaired is not None and version >= fault.repaired:
            return
        held = [records.record(each) for each in descriptors]
        if fault.where(getattr(option, "value", option), *held):
            layouts = ", ".join(
                f"{name} {each.shape} with strides {each.strides}"
                for name, each in zip(names, held, strict=True)
            )
            warn(
                f"{function}: {fault.effect} ({fault.evidence}): {layouts}; {fault.remedy}",
                FaultWarning,
            )
        if len(known) >= _MOST:
            known.clear()
        if isinstance(option, cudnnSoftmaxMode_t):
            known.add((option, *map(records.place, descriptors)))

    return tell
