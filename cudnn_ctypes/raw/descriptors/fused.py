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

from .. import enums, live, types
from ..function import binding
from ..memory import memory_pointer
from ..origins import POINTEES
from ..records import forget, reader, record
from .reading import call, check_set


@dataclass(frozen=True, slots=True)
class ConstantPack:
    """A constant pack.

    - `held`: by C's labels without ``CUDNN_PARAM_``: records of descriptors, and ints for the mode
      and the placeholders. Labels that are not set are absent.
    """

    operation: enums.cudnnFusedOps_t
    held: Mapping[str, Any]

    @property
    def placeholders(self) -> dict[str, enums.cudnnFusedOpsPointerPlaceHolder_t]:
        """The placeholders of the pointers that will not be NULL, by labels of a variant pack.

        The labels are in lower case, without ``CUDNN_``.
        """
        return {
            f"ptr_{label.removesuffix('_PLACEHOLDER').lower()}": (
                enums.cudnnFusedOpsPointerPlaceHolder_t(value)
            )
            for label, value in self.held.items()
            if label.endswith("_PLACEHOLDER") and value
        }


@dataclass(frozen=True, slots=True)
class VariantPack:
    """A variant pack.

    - `held`: by C's labels without ``CUDNN_``: addresses, None for NULL, and numbers.
    """

    operation: enums.cudnnFusedOps_t
    held: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FusedPlan:
    """A plan: `constants` is the constant pack it was made from, None for a plan not yet made."""

    operation: enums.cudnnFusedOps_t
    constants: ConstantPack | None


_operations: dict[int, enums.cudnnFusedOps_t] = {}  # by the address of a pack or a plan
_variants: dict[int, dict[str, Any]] = {}
_plans: dict[int, ConstantPack] = {}


def note_fused_operation(created: Any, operation: Any) -> None:
    """Store the operation for which a pack or a plan was created."""
    address = live.address(live.out_variable(created)) or 0
    _operations[address] = enums.cudnnFusedOps_t(getattr(operation, "value", operation))
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
    label = enums.cudnnFusedOpsVariantParamLabel_t(getattr(label, "value", label))
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


@reader(types.cudnnFusedOpsVariantParamPack_t)
def _variant_pack(pack: Any) -> VariantPack:
    return VariantPack(_operation(pack), dict(_variants[pack.value]))


@reader(types.cudnnFusedOpsPlan_t)
def _plan(plan: Any) -> FusedPlan:
    return FusedPlan(_operation(plan), _plans.get(plan.value))


@reader(types.cudnnFusedOpsConstParamPack_t)
def _constants(pack: Any) -> ConstantPack:
    operation, held = _operation(pack), {}
    for label in enums.cudnnFusedOpsConstParamLabel_t:
        kind = POINTEES.get(label.name)
        value = _number(pack, label) if kind is None else _descriptor(pack, label, kind)
        if value is not None:
            held[label.name.removeprefix("CUDNN_PARAM_")] = value
    return ConstantPack(operation, held)


def _operation(noted: Any) -> enums.cudnnFusedOps_t:
    check_set(noted.value in _operations)
    return _operations[noted.value]


def _number(pack: Any, label: int) -> int | None:
    value = c_int()
    return value.value if _get(pack, label, byref(value)) else None


def _get(pack: Any, label: int, value: Any) -> bool:
    """Read what belongs to a label; False if it is not set."""
    is_null = c_int()
    name, about = "cudnnGetFusedOpsConstParamPackAttribute", (value, byref(is_null))
    return not (call(name, pack, int(label), *about) or is_null.value)


def _descriptor(pack: Any, label: int, kind: str) -> Any:
    """The record of the pack's descriptor, read from a copy that cuDNN makes of it."""
    copy, stem = getattr(types, kind)(), kind.removeprefix("cudnn").removesuffix("_t")
    if call(f"cudnnCreate{stem}", byref(copy)):
        return None
    try:
        return record(copy) if _get(pack, label, copy) else None
    finally:
        forget(copy)
        call(f"cudnnDestroy{stem}", copy)
