"""Warnings of calls that succeed though cuDNN is known to compute wrong numbers.

A descriptor's entry remembers the entry beside which it is right, so the next call with the same
descriptors costs one look.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import FaultWarning
from .. import library, mode, records
from ..ctypes_support import CudnnEnum, OpaquePointer
from ..faults.calls import CALL_FAULTS, Call, faults_of_call
from ..host_blocks import warn
from ..types import cudnnHandle_t
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]

_MOST = 512  # calls that were warned of


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
    first, *_, last = names  # the guard of operands has looked at the last one
    look = f"_entries.get(_as_bytes(_of_{first})) is not _at_{last}.beside"
    return Fragment(
        success=[
            f"if _of_{first}.__class__ is not _kind_{first} or {look}: "
            f"_tell({', '.join((*options, *names))})"
        ],
        scope={
            "_entries": records.cache,
            "_as_bytes": bytes,
            "_tell": _teller(binding.name, {name: kinds[name] for name in options}, names),
        },
    )


def _teller(function: str, options: dict[str, Any], names: Sequence[str]) -> Callable[..., None]:
    told: set[tuple[Any, ...]] = set()

    def tell(*arguments: Any) -> None:
        """Warn of the first call with a fault, or remember that the descriptors are right."""
        values = [getattr(each, "value", each) for each in arguments[: len(options)]]
        descriptors = arguments[len(options) :]
        entries = [records.place(each) for each in descriptors]
        if mode.reference_device_active or (*values, *entries) in told:
            return
        if any(each.record is None for each in entries):
            return
        version, held = library.load().version, dict(zip(names, descriptors, strict=True))

        def found(chosen: Sequence[Any]) -> list[str]:
            call = Call(function, {**dict(zip(options, chosen, strict=True)), **held})
            rows = faults_of_call(call, version)
            return [each.message for each in rows if not each.fault.only_told]

        if texts := found(values):
            for text in texts:
                warn(text, FaultWarning)
            if len(told) >= _MOST:
                told.clear()
            told.add((*values, *entries))
        elif not any(map(found, itertools.product(*options.values()))):
            entries[-1].beside = entries[0]

    return tell
