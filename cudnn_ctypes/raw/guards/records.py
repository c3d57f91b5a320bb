"""What a call may change is forgotten: C takes those descriptors without const.

Records are dropped whatever the call returned, since one that fails may have set a part.
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
    # Many functions that only read leave out the const: the headers' directions tell.
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
    """`records.forget`, without a call for the usual argument."""
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
"""What C lets nobody read back, or not without a handle, is noted when it succeeds: by which
function of `descriptors`, called with the same arguments."""


def _noting(binding: Binding) -> str:
    return ", ".join(p.name for p in binding.parameters) if binding.name in _NOTED else ""


def _noted(name: str) -> Any:
    def noted(*arguments: Any) -> None:
        from .. import descriptors

        getattr(descriptors, _NOTED[name])(*arguments)

    return noted
