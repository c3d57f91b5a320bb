"""Backend descriptors: which live, which may be finalized, and what can be executed.

Without cuBLASLt, which cuDNN's packages require, a question about engines may end the process:
cuDNN aborts when an engine, or the model that chooses kernels, opens a library that is not there.
So nothing is asked then. Reduced builds do without it.
"""

from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING, Any

from .. import backend, library, live, mode
from ..attributes import kind_name
from ..enums import cudnnBackendDescriptorType_t as Kind
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

_BAD_PARAM, _DESCRIPTOR_TYPE, _PREREQUISITE_MISSING = 2000, 2012, 3008  # cudnnStatus_t
_LONGEST = 1 << 30  # bytes of a stored plan
_LEFT_OPEN = re.compile(rb'"CUDNN_KNOB_TYPE_KERNEL_CFG"\s*:\s*-1\b')

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
                "_of_variantPack._executable is not _of_executionPlan._executable or "
                "not _of_variantPack._executable[0]:",
                "    _reason = _not_executable(executionPlan, variantPack)",
                f"    if _reason: return _refused({_DESCRIPTOR_TYPE}, {{args}}, _reason)",
            ],
            scope={"_not_executable": _not_executable},
        )
    return _FRAGMENTS.get(binding.name)


def _no_heuristics(kind: Any) -> str:
    """Why the heuristics' descriptor must not be created; "" if it may be."""
    if kind != Kind.CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
        return ""
    library.load().load_cuda_libraries()  # which finalizing does too, but that comes later
    return library.load().lacks_cublas


def _no_engine(descriptor: Any) -> str:
    """Why an engine must not be finalized; "" if it may be, and for others."""
    found = backend.known(live.address(descriptor))
    is_engine = found is not None and found.kind == Kind.CUDNN_BACKEND_ENGINE_DESCRIPTOR
    return library.load().lacks_cublas if is_engine else ""


def refused_plan(address: int, length: int) -> tuple[int, str] | None:
    """The refusal (status and reason) of a stored plan whose kernel cuDNN would choose anew."""
    reason = library.load().lacks_cublas
    if not reason or not 0 < length < _LONGEST:
        return None
    text = ctypes.string_at(address, length)
    return (_PREREQUISITE_MISSING, reason) if _LEFT_OPEN.search(text) else None


def _refusing(code: int, reason: str) -> list[str]:
    return [f"_reason = {reason}", f"if _reason: return _refused({code}, {{args}}, _reason)"]


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
    plan, pack = (getattr(each, "_as_parameter_", each) for each in descriptors)
    addresses = live.address(plan), live.address(pack)
    are_pointers = hasattr(plan, "_executable") and hasattr(pack, "_executable")
    if all(addresses) and are_pointers and mode.plans_without_engine.isdisjoint(addresses):
        if not plan._executable[0]:
            if len(_executable) >= _MOST:
                _forget_executable()
            plan._executable = [True]
            _executable.append(plan._executable)
        pack._executable = plan._executable
    return ""


_MOST = 1024
_executable: list[list[bool]] = []
"""For each plan that was seen executable a list that it shares with the variant packs that it was
executed with. True is in it until a backend descriptor is created or destroyed."""


def _forget_executable() -> None:
    while _executable:
        _executable.pop()[0] = False


def _created(*arguments: Any) -> None:
    _forget_executable()
    backend.created(*arguments)


def _destroyed(address: int | None) -> None:
    _forget_executable()
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


_IF_GONE = _refusing(_BAD_PARAM, "_gone(descriptor)")
_FRAGMENTS = {
    "cudnnBackendCreateDescriptor": Fragment(
        before=_refusing(_PREREQUISITE_MISSING, "_no_heuristics(descriptorType)"),
        success=["_note_backend(descriptorType, descriptor)"],
        scope={"_note_backend": _created, "_no_heuristics": _no_heuristics},
    ),
    "cudnnBackendDestroyDescriptor": Fragment(
        before=_IF_GONE,
        success=["_forget_backend(_address_before)"],
        scope={"_forget_backend": _destroyed, "_gone": gone},
    ),
    "cudnnBackendInitialize": Fragment(
        before=_IF_GONE,
        success=["_emptied(descriptor)"],
        scope={"_emptied": _emptied, "_gone": gone},
    ),
    "cudnnBackendFinalize": Fragment(
        before=[
            *_refusing(_BAD_PARAM, "_not_to_finalize(descriptor)"),
            *_refusing(_PREREQUISITE_MISSING, "_no_engine(descriptor)"),
        ],
        scope={"_not_to_finalize": _not_to_finalize, "_no_engine": _no_engine},
    ),
}
