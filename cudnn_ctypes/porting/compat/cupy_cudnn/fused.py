"""Fused operations: plans and packs of parameters."""

from __future__ import annotations

from collections.abc import Iterable
from ctypes import addressof, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any

from .... import raw
from ..plain_calls import handle_of
from .arrays import Session
from .descriptors import Descriptor, get_handle
from .low_level import low

__all__ = [
    "create_fused_ops_const_param_pack",
    "create_fused_ops_plan",
    "create_fused_ops_variant_param_pack",
    "fused_ops_execute",
    "get_fused_ops_const_param_pack_attribute",
    "get_fused_ops_variant_param_pack_attribute",
    "make_fused_ops_plan",
    "set_fused_ops_const_param_pack_attribute",
    "set_fused_ops_variant_param_pack_attribute",
]


def create_fused_ops_plan(ops: int) -> Descriptor:
    """A plan that is not made."""
    return Descriptor(low.createFusedOpsPlan(ops), low.destroyFusedOpsPlan)


def create_fused_ops_const_param_pack(
    ops: int, list_attr_param: Iterable[tuple[int, Any]]
) -> Descriptor:
    """A pack of descriptors and modes, by pairs of a label and its value."""
    pack = Descriptor(low.createFusedOpsConstParamPack(ops), low.destroyFusedOpsConstParamPack)
    for label, value in list_attr_param:
        set_fused_ops_const_param_pack_attribute(pack, label, value)
    return pack


def create_fused_ops_variant_param_pack(
    ops: int, list_attr_param: Iterable[tuple[int, Any]]
) -> Descriptor:
    """A pack of memory and numbers, by pairs of a label and its value."""
    pack = Descriptor(low.createFusedOpsVariantParamPack(ops), low.destroyFusedOpsVariantParamPack)
    for label, value in list_attr_param:
        set_fused_ops_variant_param_pack_attribute(pack, label, value)
    return pack


def make_fused_ops_plan(plan: Descriptor, const_pack: Descriptor) -> int:
    """Make a plan; the bytes of workspace that it needs."""
    size: int = low.makeFusedOpsPlan(get_handle(), plan.value, const_pack.value)
    return size


def fused_ops_execute(plan: Descriptor, var_pack: Descriptor) -> None:
    """Execute a plan."""
    low.fusedOpsExecute(get_handle(), plan.value, var_pack.value)


# -- attributes --------------------------------------------------------------------------------


def _is_number(label: raw.cudnnFusedOpsConstParamLabel_t) -> bool:
    return label.name.endswith("_PLACEHOLDER") or label == raw.CUDNN_PARAM_BN_MODE


_KINDS = {
    raw.CUDNN_PARAM_ACTIVATION_DESC: "Activation",
    raw.CUDNN_PARAM_CONV_DESC: "Convolution",
    raw.CUDNN_PARAM_WDESC: "Filter",
    raw.CUDNN_PARAM_DWDESC: "Filter",
}
"""Kinds of descriptors by label; other labels take tensors."""


def _kind(label: raw.cudnnFusedOpsConstParamLabel_t) -> str:
    return f"{_KINDS.get(label, 'Tensor')}Descriptor"


def set_fused_ops_const_param_pack_attribute(
    const_pack: Descriptor, param_label: int, desc_or_scalar: Any
) -> None:
    """Set a placeholder or mode, an int, or a descriptor."""
    label = raw.cudnnFusedOpsConstParamLabel_t(param_label)
    if _is_number(label):
        value: Any = c_int(int(desc_or_scalar))
    else:
        value = handle_of(getattr(raw, f"cudnn{_kind(label)}_t"), desc_or_scalar.value)
    low.setFusedOpsConstParamPackAttribute(const_pack.value, param_label, value)


def get_fused_ops_const_param_pack_attribute(
    const_pack: Descriptor, param_label: int
) -> tuple[int, int]:
    """The number or the address of a new descriptor, and whether the value is NULL."""
    label = raw.cudnnFusedOpsConstParamLabel_t(param_label)
    if _is_number(label):
        number = c_int()
        is_null = low.getFusedOpsConstParamPackAttribute(const_pack.value, param_label, number)
        return number.value, is_null
    address = getattr(low, f"create{_kind(label)}")()
    typed = handle_of(getattr(raw, f"cudnn{_kind(label)}_t"), address)
    is_null = low.getFusedOpsConstParamPackAttribute(const_pack.value, param_label, typed)
    return address, is_null


_NUMBERS = {
    "CUDNN_SCALAR_SIZE_T_": c_size_t,
    "CUDNN_SCALAR_INT64_T_": c_int64,
    "CUDNN_SCALAR_DOUBLE_": c_double,
}


def _number_type(param_label: int) -> Any:
    """The C type of a number, None for the label of memory."""
    name = raw.cudnnFusedOpsVariantParamLabel_t(param_label).name
    return next((kind for prefix, kind in _NUMBERS.items() if name.startswith(prefix)), None)


def set_fused_ops_variant_param_pack_attribute(
    var_pack: Descriptor, param_label: int, arr_or_scaler: Any
) -> None:
    """Set a number or an array. NumPy arrays cannot stand in here: the pack keeps the address."""
    kind = _number_type(param_label)
    if kind is not None:
        value: Any = kind(arr_or_scaler)
    else:
        with Session(arr_or_scaler) as session:
            value = c_void_p(session.read(arr_or_scaler))
    low.setFusedOpsVariantParamPackAttribute(var_pack.value, param_label, value)


def get_fused_ops_variant_param_pack_attribute(var_pack: int, param_label: int) -> Any:
    """The number, or the address."""
    variable = (_number_type(param_label) or c_size_t)()
    low.getFusedOpsVariantParamPackAttribute(var_pack, param_label, addressof(variable))
    return variable.value
