"""The parameter packs of fused operations: the value for each label is checked before C.

C declares ``void *`` for all of them. A descriptor of another kind, or a variable that is too
small, would be read or written beyond its end.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ctypes_support import room
from ..memory import memory_pointer, on_gpu
from ..values import described
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["descriptor_name", "fragment"]

_LABELLED = frozenset(
    {
        "cudnnSetFusedOpsConstParamPackAttribute",
        "cudnnGetFusedOpsConstParamPackAttribute",
        "cudnnSetFusedOpsVariantParamPackAttribute",
        "cudnnGetFusedOpsVariantParamPackAttribute",
    }
)

_OTHER_DESCRIPTORS = {
    "CUDNN_PARAM_CONV_DESC": "cudnnConvolutionDescriptor_t",
    "CUDNN_PARAM_ACTIVATION_DESC": "cudnnActivationDescriptor_t",
    "CUDNN_PARAM_WDESC": "cudnnFilterDescriptor_t",
    "CUDNN_PARAM_DWDESC": "cudnnFilterDescriptor_t",
}


def descriptor_name(label: str) -> str | None:
    """C name of the descriptor that a constant's label takes; None if it takes an enum."""
    if not label.endswith("DESC"):
        return None
    return _OTHER_DESCRIPTORS.get(label, "cudnnTensorDescriptor_t")


def fragment(binding: Binding) -> Fragment | None:
    if binding.name not in _LABELLED:
        return None
    value = binding.parameters[2].name
    return Fragment(
        before=[f"if {value} is not None: _check_label(paramLabel, {value})"],
        scope={"_check_label": _check_label(binding.name)},
    )


def _check_label(name: str) -> Callable[[Any, Any], None]:
    from .. import enums

    sets = name.startswith("cudnnSet")
    constant = "Const" in name
    labels = (
        enums.cudnnFusedOpsConstParamLabel_t if constant else enums.cudnnFusedOpsVariantParamLabel_t
    )

    def check_constant(label: Any, value: Any) -> None:
        wanted = descriptor_name(label.name)
        _check_address(name, "param", label, value)
        if wanted is None:
            _check_room(name, "param", label, value, 4)
            return
        pointer = getattr(value, "_as_parameter_", value)
        if type(pointer).__name__ != wanted and not isinstance(pointer, (int, ctypes.c_void_p)):
            raise TypeError(
                f"{name}() argument 'param': {label.name} takes a {wanted}, got {described(value)}"
            )

    def check_variant(label: Any, value: Any) -> None:
        if sets and label.name.startswith("CUDNN_PTR_"):
            memory_pointer(value, "ptr")
        else:
            _check_address(name, "ptr", label, value)
            _check_room(name, "ptr", label, value, 8)

    check_value = check_constant if constant else check_variant

    def check(label: Any, value: Any) -> None:
        label = labels(label) if type(label) is int else label
        if isinstance(label, labels):
            check_value(label, value)

    return check


def _check_address(name: str, parameter: str, label: Any, value: Any) -> None:
    if isinstance(value, int) and value <= 0xFFFF:  # no system maps memory there
        raise TypeError(
            f"{name}() argument {parameter!r}: {label.name} takes a pointer, as in C byref(...), "
            f"got {described(value)}"
        )
    if on_gpu(value):
        raise TypeError(
            f"{name}() argument {parameter!r}: {label.name} takes host memory, got "
            f"{described(value)}"
        )


def _check_room(name: str, parameter: str, label: Any, value: Any, wanted: int) -> None:
    size = room(value)
    if size is not None and size < wanted:
        raise ValueError(
            f"{name}() argument {parameter!r}: {label.name} takes {wanted} bytes, got {size}"
        )
