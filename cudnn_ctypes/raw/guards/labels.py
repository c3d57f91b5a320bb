"""The parameter packs of fused operations: the value for each label is checked before C.

C declares ``void *`` for all of them. A descriptor of another kind, or a variable that is too
small, would be read or written beyond its end.
"""

from __future__ import annotations

import ctypes
import itertools
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ctypes_support import CudnnEnum, room
from ..enums import cudnnFusedOpsConstParamLabel_t
from ..memory import memory_pointer, on_gpu
from ..origins import POINTEES
from ..values import described
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding
    from ..parameter import Parameter


def fragment(binding: Binding) -> Fragment | None:
    for label, value in itertools.pairwise(binding.parameters):
        if value.type.kind == "labelled":
            return Fragment(
                before=[f"if {value.name} is not None: _check_label({label.name}, {value.name})"],
                scope={"_check_label": _check_label(binding.name, label.type.base, value)},
            )
    return None


def _check_label(
    name: str, labels: type[CudnnEnum], parameter: Parameter
) -> Callable[[Any, Any], None]:
    constant = labels is cudnnFusedOpsConstParamLabel_t
    sets = parameter.direction == "in"

    def check_constant(label: Any, value: Any) -> None:
        wanted = POINTEES.get(label.name)
        _check_address(name, parameter.name, label, value)
        if wanted is None:
            _check_room(name, parameter.name, label, value, 4)
            return
        pointer = getattr(value, "_as_parameter_", value)
        if type(pointer).__name__ != wanted and not isinstance(pointer, ctypes.c_void_p):
            raise TypeError(
                f"{name}() argument {parameter.name!r}: {label.name} takes a {wanted}, "
                f"got {described(value)}"
            )

    def check_variant(label: Any, value: Any) -> None:
        if sets and label.name.startswith("CUDNN_PTR_"):
            memory_pointer(value, parameter.name)
        else:
            _check_address(name, parameter.name, label, value)
            _check_room(name, parameter.name, label, value, 8)

    check_value = check_constant if constant else check_variant

    def check(label: Any, value: Any) -> None:
        label = labels(label) if type(label) is int else label
        if isinstance(label, labels):
            check_value(label, value)

    return check


def _check_address(name: str, parameter: str, label: Any, value: Any) -> None:
    if isinstance(value, numbers.Integral):
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
