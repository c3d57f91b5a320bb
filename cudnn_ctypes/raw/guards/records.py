"""What a call may change is forgotten: C takes those descriptors without const.

Records are dropped whatever the call returned, since one that fails may have set a part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import records
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]


def fragment(binding: Binding) -> Fragment | None:
    destroys = binding.name.startswith("cudnnDestroy")
    # Many functions that only read leave out the const: the headers' directions tell.
    changed = [
        p.name
        for p in binding.parameters
        if p.changes_descriptor and (destroys or p.direction != "in")
    ]
    if binding.name in ("cudnnSetStream", "cudnnDestroy"):
        changed.append("handle")
    if not changed:
        return None
    return Fragment(
        after=[line for name in changed for line in _forgetting(name)],
        success=_noted(binding),
        scope={
            "_forget_record": records.forget,
            "_records": records.cache,
            "_bytes": bytes,
            "_Pointer": {p.name: p.type.base for p in binding.parameters},
            "_note_transformer": _note_transformer,
        },
    )


def _forgetting(name: str) -> list[str]:
    """`records.forget`, without a call for the usual argument."""
    return [
        f"if {name}.__class__ is _Pointer['{name}']: _records.pop(_bytes({name}), None)",
        f"else: _forget_record({name})",
    ]


def _noted(binding: Binding) -> list[str]:
    if binding.name != "cudnnSetSpatialTransformerNdDescriptor":
        return []
    names = ", ".join(p.name for p in binding.parameters)
    return [f"_note_transformer({names})"]


def _note_transformer(*arguments: Any) -> None:
    from ..descriptors import note_spatial_transformer

    note_spatial_transformer(*arguments)
