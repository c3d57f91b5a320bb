"""What the parameter packs and plans of fused operations hold.

Constants are read from cuDNN. Not so the rest: cuDNN tells of no pack for which operation it
was created, and of a variant pack for BN_FINALIZE_STATISTICS_INFERENCE it gives nothing back (9.28:
BAD_PARAM). So this module notes, by address, what create and set functions were given.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ... import raw
from ...raw.descriptors import ConstantPack
from ...raw.function import binding
from .dispatch import Refused, follows
from .held import read

__all__ = ["Constants", "keep_plan", "made_of", "operation", "read_constants", "variants"]


@dataclass(frozen=True)
class Constants:
    """What a constant pack holds, by C's labels without ``CUDNN_PARAM_``; what is unset is absent.

    Descriptors are their records, the mode and the placeholders ints.
    """

    operation: raw.cudnnFusedOps_t
    held: Mapping[str, Any] = field(default_factory=dict)

    def needed(self, *labels: str) -> list[Any]:
        """The values of these labels.

        Raises
        ------
        Refused
            BAD_PARAM if one is not set.
        """
        for label in labels:
            if label not in self.held:
                raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"CUDNN_PARAM_{label} is not set")
        return [self.held[label] for label in labels]

    def get(self, label: str) -> Any:
        """The value, None if it is not set."""
        return self.held.get(label)

    def given(self, label: str) -> bool:
        """Whether the pointer of this name will be one: its placeholder is set, and not to NULL."""
        return bool(self.held.get(f"{label}_PLACEHOLDER", 0))


def read_constants(pack: Any, name: str) -> Constants:
    """What a constant pack holds.

    Raises
    ------
    Refused
        BAD_PARAM if it is NULL.
    """
    return Constants(operation(pack, name), read(ConstantPack, pack, name).held)


# --- what is noted ------------------------------------------------------------------------------

_operations: dict[int, raw.cudnnFusedOps_t] = {}  # by the address of a pack or a plan
_variants: dict[int, dict[str, Any]] = {}
_made: dict[int, Constants] = {}


def operation(handle: Any, name: str) -> raw.cudnnFusedOps_t:
    """For which operation a pack or a plan was created.

    Raises
    ------
    Refused
        BAD_PARAM if it is NULL, or older than the first use of the reference device.
    """
    if not handle:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL")
    if handle.value not in _operations:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"{name} was created before the reference device was first used",
        )
    return _operations[handle.value]


def variants(pack: Any) -> Mapping[str, Any]:
    """What a variant pack holds, by C's labels without ``CUDNN_``: addresses and numbers."""
    operation(pack, "varPack")
    return _variants.get(pack.value, {})


def keep_plan(plan: Any, constants: Constants) -> None:
    """Note that a plan was made of these constants."""
    _made[plan.value] = constants


def made_of(plan: Any) -> Constants:
    """The constants that a plan was made of.

    Raises
    ------
    Refused
        NOT_INITIALIZED if it was not made yet.
    """
    operation(plan, "plan")
    if plan.value not in _made:
        raise Refused(raw.CUDNN_STATUS_NOT_INITIALIZED, "plan was created, but never made")
    return _made[plan.value]


def _member(enum: Any, value: Any) -> Any:
    return enum(getattr(value, "value", value))


def _address(created: Any) -> int:
    address: int = getattr(created, "value", None) or created.contents.value
    return address


@follows("cudnnCreateFusedOpsConstParamPack")
def created_constants(constPack: Any, ops: Any) -> None:
    _operations[_address(constPack)] = _member(raw.cudnnFusedOps_t, ops)


@follows("cudnnCreateFusedOpsPlan")
def created_plan(plan: Any, ops: Any) -> None:
    _operations[_address(plan)] = _member(raw.cudnnFusedOps_t, ops)
    _made.pop(_address(plan), None)  # an earlier plan may have had this address


@follows("cudnnCreateFusedOpsVariantParamPack")
def created_variants(varPack: Any, ops: Any) -> None:
    _operations[_address(varPack)] = _member(raw.cudnnFusedOps_t, ops)
    _variants[_address(varPack)] = {}


@follows("cudnnSetFusedOpsVariantParamPackAttribute")
def set_variant(varPack: Any, paramLabel: Any, ptr: Any) -> None:
    member = _member(raw.cudnnFusedOpsVariantParamLabel_t, paramLabel)
    label = member.name.removeprefix("CUDNN_")
    convert = binding("cudnnSetFusedOpsVariantParamPackAttribute").argtypes[2].from_param
    address = ctypes.cast(convert(ptr), ctypes.c_void_p).value if ptr is not None else None
    owner = getattr(varPack, "_as_parameter_", varPack)
    held = _variants.setdefault(owner.value, {})
    if address is None or label.startswith("PTR_"):
        held[label] = address
    else:
        kind = ctypes.c_double if "DOUBLE" in label else ctypes.c_int64
        held[label] = kind.from_address(address).value
