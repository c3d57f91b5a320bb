"""Refusals of NULL where cuDNN would follow the pointer, with the status of its own refusals."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import live
from ..call_source import is_handle
from ..ctypes_support import is_null, storage_type
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding, Parameter

__all__ = ["array_lines", "fragment"]

_NULL_POINTER = 2002  # CUDNN_STATUS_BAD_PARAM_NULL_POINTER


def fragment(binding: Binding) -> Fragment | None:
    never_null = _never_null(binding)
    if not never_null:
        return None
    return Fragment(
        before=_lines([p for p in never_null if not _has_length(p)]),
        scope={
            "_null_names": _null_names(binding.parameters, never_null),
            **{f"_pointer_{p.name}": _pointer(p) for p in never_null},
        },
    )


def array_lines(binding: Binding) -> list[str]:
    """Lines that refuse NULL for arrays whose length is another argument.

    They run in calls whose arrays are not known to be long enough.
    """
    return _lines([p for p in _never_null(binding) if _has_length(p)])


def _has_length(parameter: Parameter) -> bool:
    return parameter.type.kind == "array" and isinstance(parameter.length, str)


def _lines(never_null: Sequence[Parameter]) -> list[str]:
    if not never_null:
        return []
    return [
        f"if {' or '.join(map(_condition, never_null))}:",
        "    _nulls = _null_names({args})",
        f"    if _nulls: return _refused({_NULL_POINTER}, {{args}}, *_nulls)",
    ]


def _never_null(binding: Binding) -> list[Parameter]:
    return [p for p in binding.parameters if p.type.null is False]


def _condition(parameter: Parameter) -> str:
    if parameter.type.kind == "value":  # arrays and tensors have no truth value
        return f"not _of_{parameter.name}" if is_handle(parameter) else f"not {parameter.name}"
    name = parameter.name
    null = f"{name} is None or {name}.__class__ is _pointer_{name} and not {name}"
    if isinstance(parameter.length, str):  # NULL is accepted for 0 elements
        return f"({null}) and {parameter.length}"
    return null


def _pointer(parameter: Parameter) -> Any:
    """The ctypes pointer type of a parameter, whose objects may be NULL."""
    base = parameter.type.base
    return ctypes.POINTER(storage_type(base)) if base else ctypes.c_void_p


def _null_names(
    parameters: Sequence[Parameter], never_null: Sequence[Parameter]
) -> Callable[[tuple[Any, ...]], list[str]]:
    positions = [parameters.index(p) for p in never_null]

    def null_names(arguments: tuple[Any, ...]) -> list[str]:
        # Empty for 0, False and other objects that are no pointers: ctypes refuses them.
        return [
            f"{parameters[i].name} {_what_it_is(arguments[i])}"
            for i in positions
            if is_null(arguments[i])
        ]

    return null_names


def _what_it_is(null: Any) -> str:
    return "was destroyed" if live.is_destroyed(null) else "is NULL"
