"""Warnings of calls that succeed though cuDNN computes wrong numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import FaultWarning
from .. import library, mode, records
from ..host_blocks import warn
from ..wrong_softmax import WRONG_SOFTMAX, LegacyFault
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]

_MOST = 512  # calls that are remembered


def fragment(binding: Binding) -> Fragment | None:
    names = WRONG_SOFTMAX.functions.get(binding.name)
    if names is None:
        return None
    tell = _teller(binding.name, WRONG_SOFTMAX, names)
    return Fragment(success=[f"_tell(mode, {', '.join(names)})"], scope={"_tell": tell})


def _teller(function: str, fault: LegacyFault, names: tuple[str, ...]) -> Callable[..., None]:
    seen: set[tuple[Any, ...]] = set()

    def tell(option: Any, *descriptors: Any) -> None:
        """Warn of the first call with the fault; entries of descriptors that change are others."""
        option = getattr(option, "value", option)
        entries = tuple(map(records.place, descriptors))
        if mode.reference_device_active or (option, entries) in seen:
            return
        held = [each.record for each in entries]
        if None in held or not fault.applies(library.load().version):
            return
        if fault.where(option, *held):
            layouts = ", ".join(
                f"{name} {each.shape} with strides {each.strides}"
                for name, each in zip(names, held, strict=True)
            )
            text = f"{function}: {fault.effect} ({fault.evidence}): {layouts}; {fault.remedy}"
            warn(text, FaultWarning)
        if len(seen) >= _MOST:
            seen.clear()
        seen.add((option, entries))

    return tell
