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
    from ..function import Binding
    from ..parameter import Parameter

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
            "_is_zero": _is_zero,
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
    """The parameters that may not be NULL, some if another argument is given."""
    return [p for p in binding.parameters if p.type.null is False or p.type.needed_by]


def _condition(parameter: Parameter) -> str:
    name, needed_by = parameter.name, parameter.type.needed_by
    if parameter.type.kind == "value":  # arrays and tensors have no truth value
        null = f"not _of_{name}" if is_handle(parameter) else f"not {name}"
    else:
        null = f"({name} is None or {name}.__class__ is _pointer_{name} and not {name})"
    if isinstance(parameter.length, str):  # NULL is accepted for 0 elements
        null = f"{null} and {parameter.length}"
    return f"{null} and not _is_zero({needed_by})" if needed_by else null


def _is_zero(argument: Any) -> bool:
    """Whether a number is 0, or a pointer NULL."""
    number = getattr(argument, "value", argument)
    return is_null(argument) or (isinstance(number, int) and number == 0)


def _pointer(parameter: Parameter) -> Any:
    """The ctypes pointer type of a parameter, whose objects may be NULL."""
    base = parameter.type.base
    return ctypes.POINTER(storage_type(base)) if base else ctypes.c_void_p


def _null_names(
    parameters: Sequence[Parameter], never_null: Sequence[Parameter]
) -> Callable[[tuple[Any, ...]], list[str]]:
    names = [p.name for p in parameters]
    positions = {
        names.index(p.name): names.index(p.type.needed_by) if p.type.needed_by else None
        for p in never_null
    }

    def null_names(arguments: tuple[Any, ...]) -> list[str]:
        # Empty for 0, False and other objects that are no pointers: ctypes refuses them.
        return [
            f"{parameters[i].name} {_what_it_is(arguments[i])}"
            for i, other in positions.items()
            if is_null(arguments[i]) and (other is None or not _is_zero(arguments[other]))
        ]

    return null_names


def _what_it_is(null: Any) -> str:
    return "was destroyed" if live.is_destroyed(null) else "is NULL"
