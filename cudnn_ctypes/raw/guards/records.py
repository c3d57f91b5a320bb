"""Drops the records of descriptors that a call may change: C takes them without const.

Records are dropped for every status, since a failed call may have set some values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import records
from ..call_source import is_handle
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding, Parameter

__all__ = ["fragment"]


def fragment(binding: Binding) -> Fragment | None:
    destroys = binding.name.startswith("cudnnDestroy")
    # Many functions that only read also lack the const; the headers mark those as [in].
    changed = [
        p.name
        for p in binding.parameters
        if p.changes_descriptor and (destroys or p.direction != "in")
    ]
    by_name = {p.name: p for p in binding.parameters}
    if binding.name in ("cudnnSetStream", "cudnnDestroy"):
        changed.append("handle")
    if not changed and binding.name not in _NOTED:
        return None
    return Fragment(
        after=[line for name in changed for line in _forgetting(by_name[name])],
        success=[f"_noted({names})"] if (names := _noting(binding)) else [],
        scope={
            "_forget_record": records.forget,
            "_records": records.cache,
            "_bytes": bytes,
            "_noted": _noted(binding.name),
        },
    )


def _forgetting(parameter: Parameter) -> list[str]:
    """Lines for `records.forget`, without a Python call for the usual argument."""
    name = parameter.name
    pointer = f"_of_{name}" if is_handle(parameter) else name
    return [
        f"if {pointer}.__class__ is not _kind_{name}: _forget_record({name})",
        f"elif (_known := _records.pop(_bytes({pointer}), None)) is not None: _known.drop()",
    ]


_NOTED = {
    "cudnnSetSpatialTransformerNdDescriptor": "note_spatial_transformer",
    "cudnnSetTensorTransformDescriptor": "note_tensor_transform",
    "cudnnGetFoldedConvBackwardDataDescriptors": "note_folding_transforms",
    "cudnnSetDropoutDescriptor": "note_dropout",
    "cudnnRestoreDropoutDescriptor": "note_dropout",
    "cudnnCreateFusedOpsConstParamPack": "note_fused_operation",
    "cudnnCreateFusedOpsVariantParamPack": "note_fused_operation",
    "cudnnCreateFusedOpsPlan": "note_fused_operation",
    "cudnnDestroyFusedOpsConstParamPack": "note_fused_destroyed",
    "cudnnDestroyFusedOpsVariantParamPack": "note_fused_destroyed",
    "cudnnDestroyFusedOpsPlan": "note_fused_destroyed",
    "cudnnMakeFusedOpsPlan": "note_fused_plan",
    "cudnnSetFusedOpsVariantParamPackAttribute": "note_fused_variant",
}
"""By C function: the function of `descriptors` that stores values which C cannot read back, or only
with a handle. It is called with the same arguments after the C function succeeded."""


def _noting(binding: Binding) -> str:
    return ", ".join(p.name for p in binding.parameters) if binding.name in _NOTED else ""


def _noted(name: str) -> Any:
    def noted(*arguments: Any) -> None:
        from .. import descriptors

        getattr(descriptors, _NOTED[name])(*arguments)

    return noted
