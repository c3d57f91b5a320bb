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
        after=[f"_forget_record({name})" for name in changed],
        success=_noted(binding),
        scope={"_forget_record": records.forget, "_note_transformer": _note_transformer},
    )


def _noted(binding: Binding) -> list[str]:
    if binding.name != "cudnnSetSpatialTransformerNdDescriptor":
        return []
    names = ", ".join(p.name for p in binding.parameters)
    return [f"_note_transformer({names})"]


def _note_transformer(*arguments: Any) -> None:
    from ..descriptors import note_spatial_transformer

    note_spatial_transformer(*arguments)
