"""Warnings of calls that succeed though cuDNN is known to compute wrong numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import FaultWarning
from .. import mode, records
from ..ctypes_support import CudnnEnum, OpaquePointer
from ..faults.calls import CALL_FAULTS
from ..host_blocks import warn
from ..records import Call
from ..types import cudnnHandle_t
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]

_MOST = 512  # calls that are remembered


def fragment(binding: Binding) -> Fragment | None:
    if not any(binding.name in row.calls and not row.only_told for row in CALL_FAULTS):
        return None
    kinds = {p.name: p.type.base for p in binding.parameters if isinstance(p.type.base, type)}
    options = [name for name, kind in kinds.items() if issubclass(kind, CudnnEnum)]
    names = [
        name
        for name, kind in kinds.items()
        if issubclass(kind, OpaquePointer) and kind is not cudnnHandle_t
    ]
    tell = _teller(binding.name, options, names)
    return Fragment(success=[f"_tell({', '.join((*options, *names))})"], scope={"_tell": tell})


def _teller(function: str, options: Sequence[str], names: Sequence[str]) -> Callable[..., None]:
    seen: set[tuple[Any, ...]] = set()

    def tell(*arguments: Any) -> None:
        """Warn of the first call with a fault; entries of descriptors that change are others."""
        values = [getattr(each, "value", each) for each in arguments[: len(options)]]
        descriptors = arguments[len(options) :]
        entries = tuple(map(records.place, descriptors))
        known = (mode.runtime, *values, *entries)
        if known in seen:
            return
        if any(each.record is None for each in entries):
            return
        call = Call(function, dict(zip((*options, *names), (*values, *descriptors), strict=True)))
        for row in mode.runtime.faults(call):
            if not row.fault.only_told:
                warn(row.message, FaultWarning)
        if len(seen) >= _MOST:
            seen.clear()
        seen.add(known)

    return tell
