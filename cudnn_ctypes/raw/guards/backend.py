"""Backend descriptors: which live, which may be finalized, and what can be executed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import backend, live, mode
from ..attributes import kind_name
from ..enums import cudnnBackendDescriptorType_t as Kind
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]

_BAD_PARAM, _DESCRIPTOR_TYPE = 2000, 2012  # cudnnStatus_t

_EXECUTED = {
    "executionPlan": Kind.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
    "variantPack": Kind.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
}


def fragment(binding: Binding) -> Fragment | None:
    names = [p.name for p in binding.parameters]
    if names[1:3] == list(_EXECUTED):
        return Fragment(
            before=[
                "if _of_executionPlan.__class__ is not _kind_executionPlan or "
                "_of_variantPack.__class__ is not _kind_variantPack or "
                "(_bytes(_of_executionPlan), _bytes(_of_variantPack)) not in _executable:",
                "    _reason = _not_executable(executionPlan, variantPack)",
                f"    if _reason: return _refused({_DESCRIPTOR_TYPE}, {{args}}, _reason)",
            ],
            scope={
                "_bytes": bytes,
                "_executable": _executable,
                "_not_executable": _not_executable,
            },
        )
    return _FRAGMENTS.get(binding.name)


def _refusing(code: int, reason: str) -> Fragment:
    return Fragment(
        before=[f"_reason = {reason}", f"if _reason: return _refused({code}, {{args}}, _reason)"],
        scope={"_not_to_finalize": _not_to_finalize},
    )


def gone(descriptor: Any, name: str = "descriptor") -> str:
    """Why a descriptor does not live; "" if it does, is NULL, or nobody knows."""
    if live.is_destroyed(descriptor):
        return f"{name} was destroyed"
    return f"{name} was never created" if backend.made_up(live.address(descriptor)) else ""


def _not_executable(*descriptors: Any) -> str:
    for (name, wanted), descriptor in zip(_EXECUTED.items(), descriptors, strict=True):
        address = live.address(descriptor)
        if address in mode.plans_without_engine:  # a graph that NumPy executes without a plan
            continue
        if reason := gone(descriptor, name):
            return reason
        found = backend.known(address)
        if found is not None and found.kind not in (wanted, None):
            return f"{name} is a {kind_name(found.kind)}, no {kind_name(wanted)}"
    if len(_executable) >= _MOST:
        _executable.clear()
    handles = [getattr(each, "_as_parameter_", each) for each in descriptors]
    addresses = [*map(live.address, handles)]
    if all(addresses) and mode.plans_without_engine.isdisjoint(addresses):
        _executable.add(tuple(map(bytes, handles)))
    return ""


_MOST = 1024
_executable: set[tuple[bytes, ...]] = set()
"""Pairs of a plan and a variant pack that were seen to be ones, by ``bytes(descriptor)``, until a
backend descriptor is destroyed."""


def _destroyed(address: int | None) -> None:
    _executable.clear()
    backend.destroyed(address)


def _not_to_finalize(descriptor: Any) -> str:
    if reason := gone(descriptor):
        return reason
    found = backend.known(live.address(descriptor))
    return "" if found is None else found.missing()


def _emptied(descriptor: Any) -> None:
    found = backend.known(live.address(descriptor))
    if found is not None:
        found.values.clear()


_IF_GONE = [
    "_reason = _gone(descriptor)",
    f"if _reason: return _refused({_BAD_PARAM}, {{args}}, _reason)",
]
_FRAGMENTS = {
    "cudnnBackendCreateDescriptor": Fragment(
        success=["_note_backend(descriptorType, descriptor)"],
        scope={"_note_backend": backend.created},
    ),
    "cudnnBackendDestroyDescriptor": Fragment(
        before=_IF_GONE,
        success=["_forget_backend(_address_before)"],
        scope={"_forget_backend": backend.destroyed, "_gone": gone},
    ),
    "cudnnBackendInitialize": Fragment(
        before=_IF_GONE,
        success=["_emptied(descriptor)"],
        scope={"_emptied": _emptied, "_gone": gone},
    ),
    "cudnnBackendFinalize": _refusing(_BAD_PARAM, "_not_to_finalize(descriptor)"),
}
