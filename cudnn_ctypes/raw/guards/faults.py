"""Calls that cuDNN is known to compute wrong: a warning, or a refusal where the GPU is lost."""

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

_MOST = 512  # calls that are remembered
_NOT_SUPPORTED = 3000  # cudnnStatus_t


def fragment(binding: Binding) -> Fragment | None:
    rows = [row for row in CALL_FAULTS if binding.name in row.calls and not row.only_told]
    if not rows:
        return None
    kinds = {p.name: p.type.base for p in binding.parameters if isinstance(p.type.base, type)}
    options = [name for name, kind in kinds.items() if issubclass(kind, CudnnEnum)]
    names = [
        name
        for name, kind in kinds.items()
        if issubclass(kind, OpaquePointer) and kind is not cudnnHandle_t
    ]
    given = ", ".join((*options, *names))
    before: list[str] = []
    success: list[str] = []
    scope: dict[str, Any] = {}
    if any(row.refused for row in rows):
        scope["_lost"] = _teller(binding.name, options, names, refused=True)
        before = [
            f"for _row in _lost({given}):",
            f"    return _refused({_NOT_SUPPORTED}, {{args}}, _row.message)",
        ]
    if not all(row.refused for row in rows):
        scope["_tell"] = _told(_teller(binding.name, options, names, refused=False))
        success = [f"_tell({given})"]
    return Fragment(before=before, success=success, scope=scope)


def _told(found: Callable[..., Sequence[Any]]) -> Callable[..., None]:
    def tell(*arguments: Any) -> None:
        for row in found(*arguments):
            warn(row.message, FaultWarning)

    return tell


def _teller(
    function: str, options: Sequence[str], names: Sequence[str], *, refused: bool
) -> Callable[..., Sequence[Any]]:
    seen: set[tuple[Any, ...]] = set()

    def found(*arguments: Any) -> Sequence[Any]:
        """The faults of a call that is refused for them, or at the first call of one that is not.

        Entries of descriptors that change are others.
        """
        values = [getattr(each, "value", each) for each in arguments[: len(options)]]
        descriptors = arguments[len(options) :]
        entries = tuple(map(records.place, descriptors))
        known = (mode.runtime, *values, *entries)
        given = zip(descriptors, entries, strict=True)
        if known in seen or any(at.record is None and each is not None for each, at in given):
            return ()
        call = Call(function, dict(zip((*options, *names), (*values, *descriptors), strict=True)))
        rows = [
            each
            for each in mode.runtime.faults(call)
            if not each.fault.only_told and each.fault.refused == refused
        ]
        if not (rows and refused):
            if len(seen) >= _MOST:
                seen.clear()
            seen.add(known)
        return rows

    return found
