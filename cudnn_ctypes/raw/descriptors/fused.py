"""Records of the parameter packs and plans of fused operations.

cuDNN has no function that returns the operation of a pack or plan, the contents of a plan, or the
contents of one operation's variant packs. So the guards note the calls that create, set and make
them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from ctypes import byref, c_int
from dataclasses import dataclass
from typing import Any

from .. import live, types
from ..enums import (
    cudnnFusedOps_t,
    cudnnFusedOpsConstParamLabel_t,
    cudnnFusedOpsPointerPlaceHolder_t,
    cudnnFusedOpsVariantParamLabel_t,
)
from ..function import binding
from ..memory import memory_pointer
from ..origins import POINTEES
from ..records import forget, reader, record
from ..types import (
    cudnnFusedOpsConstParamPack_t,
    cudnnFusedOpsPlan_t,
    cudnnFusedOpsVariantParamPack_t,
)
from .reading import call


@dataclass(frozen=True, slots=True)
class ConstantPack:
    """A constant pack.

    - `held`: by C's labels without ``CUDNN_PARAM_``: records of descriptors, and ints for the mode
      and the placeholders. Labels that are not set are absent.
    """

    operation: cudnnFusedOps_t
    held: Mapping[str, Any]

    @property
    def placeholders(self) -> dict[str, cudnnFusedOpsPointerPlaceHolder_t]:
        """The placeholders of the pointers that will not be NULL, by labels of a variant pack.

        The labels are in lower case, without ``CUDNN_``.
        """
        return {
            f"ptr_{label.removesuffix('_PLACEHOLDER').lower()}": (
                cudnnFusedOpsPointerPlaceHolder_t(value)
            )
            for label, value in self.held.items()
            if label.endswith("_PLACEHOLDER") and value
        }


@dataclass(frozen=True, slots=True)
class VariantPack:
    """A variant pack.

    - `held`: by C's labels without ``CUDNN_``: addresses, None for NULL, and numbers.
    """

    operation: cudnnFusedOps_t
    held: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FusedPlan:
    """A plan: `constants` is the constant pack it was made from, None for a plan not yet made."""

    operation: cudnnFusedOps_t
    constants: ConstantPack | None


_operations: dict[int, cudnnFusedOps_t] = {}  # by the address of a pack or a plan
_variants: dict[int, dict[str, Any]] = {}
_plans: dict[int, ConstantPack] = {}


def note_fused_operation(created: Any, operation: Any) -> None:
    """Store the operation for which a pack or a plan was created."""
    address = live.address(live.out_variable(created)) or 0
    _operations[address] = cudnnFusedOps_t(getattr(operation, "value", operation))
    _variants[address] = {}


def note_fused_destroyed(destroyed: Any) -> None:
    """Drop the notes about a destroyed pack or plan: another may get its address."""
    address = live.address(destroyed) or 0
    for noted in (_operations, _variants, _plans):
        noted.pop(address, None)


def note_fused_plan(handle: Any, plan: Any, constants: Any, size: Any) -> None:
    """Store the constant pack from which a plan was made."""
    _plans[live.address(plan) or 0] = record(constants)
    forget(plan)


def note_fused_variant(pack: Any, label: Any, value: Any) -> None:
    """Store the value that a call set in a variant pack: an address, or the number pointed to."""
    label = cudnnFusedOpsVariantParamLabel_t(getattr(label, "value", label))
    name = label.name.removeprefix("CUDNN_")
    if name.startswith("PTR_"):
        held: Any = memory_pointer(value, "ptr")
    else:
        kind = ctypes.c_double if "DOUBLE" in name else ctypes.c_int64
        address = ctypes.cast(_as_pointer(value), ctypes.c_void_p).value
        held = None if address is None else kind.from_address(address).value
    _variants.setdefault(live.address(pack) or 0, {})[name] = held


def _as_pointer(value: Any) -> Any:
    return binding("cudnnSetFusedOpsVariantParamPackAttribute").argtypes[2].from_param(value)


@reader(cudnnFusedOpsVariantParamPack_t)
def _variant_pack(pack: Any) -> VariantPack | None:
    operation = _operations.get(pack.value)
    return None if operation is None else VariantPack(operation, dict(_variants[pack.value]))


@reader(cudnnFusedOpsPlan_t)
def _plan(plan: Any) -> FusedPlan | None:
    operation = _operations.get(plan.value)
    return None if operation is None else FusedPlan(operation, _plans.get(plan.value))


@reader(cudnnFusedOpsConstParamPack_t)
def _constants(pack: Any) -> ConstantPack | None:
    if pack.value not in _operations:
        return None
    held: dict[str, Any] = {}
    for label in cudnnFusedOpsConstParamLabel_t:
        kind = POINTEES.get(label.name)
        value = _number(pack, label) if kind is None else _descriptor(pack, label, kind)
        if value is not None:
            held[label.name.removeprefix("CUDNN_PARAM_")] = value
    return ConstantPack(_operations[pack.value], held)


def _number(pack: Any, label: int) -> int | None:
    value, is_null = c_int(), c_int()
    about = (byref(value), byref(is_null))
    code = call("cudnnGetFusedOpsConstParamPackAttribute", pack, int(label), *about)
    return None if code or is_null.value else value.value


def _descriptor(pack: Any, label: int, kind: str) -> Any:
    """The record of the pack's descriptor, read from a copy that cuDNN makes of it."""
    copy, is_null = getattr(types, kind)(), c_int()
    if call(f"cudnnCreate{kind.removeprefix('cudnn').removesuffix('_t')}", byref(copy)):
        return None
    try:
        about = (copy, byref(is_null))
        code = call("cudnnGetFusedOpsConstParamPackAttribute", pack, int(label), *about)
        return None if code or is_null.value else record(copy)
    finally:
        forget(copy)
        call(f"cudnnDestroy{kind.removeprefix('cudnn').removesuffix('_t')}", copy)
