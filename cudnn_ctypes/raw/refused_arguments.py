"""Errors that name the refused argument of a call, with the reason."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from .ctypes_support import CudnnEnum, OpaquePointer
from .parameter import Parameter, c_type
from .values import described

if TYPE_CHECKING:
    from .function import Binding


def explain(binding: Binding, error: Exception, args: tuple[Any, ...]) -> None:
    """Raise what the converter of an argument raises, with its name; else `error` itself."""
    for position, (parameter, argtype) in enumerate(
        zip(binding.parameters, binding.argtypes, strict=True)
    ):
        if parameter.type.kind == "scalar" and isinstance(args[position], numbers.Real):
            continue  # the guard stores the number in memory
        try:
            argtype.from_param(args[position])
        except (TypeError, ValueError) as reason:
            text = _explanation(binding, position, parameter, args, str(reason))
            cls = TypeError if isinstance(reason, TypeError) else type(reason)
            raise cls(text) from None
    raise error


MISSING: Any = object()
"""The default of parameters, which all have to be given."""


def too_few(binding: Binding, *args: Any) -> None:
    """Raise for a call without all arguments; what is no enum or descriptor tells which one."""
    names = [parameter.name for parameter in binding.parameters]
    lacks = ", ".join(repr(n) for n, value in zip(names, args, strict=True) if value is MISSING)
    text = f"{binding.name}() lacks {lacks}"
    for parameter, argtype, value in zip(binding.parameters, binding.argtypes, args, strict=True):
        base = parameter.type.base
        is_typed = isinstance(base, type) and issubclass(base, (CudnnEnum, OpaquePointer))
        if is_typed and value is not MISSING and not _accepts(argtype, value):
            got = f"{described(value)}, no {c_type(base)}"
            text += f"; is {parameter.name!r} forgotten? It got {got}"
            break
    raise TypeError(f"{text}; it takes ({', '.join(names)})")


def _explanation(
    binding: Binding, position: int, parameter: Parameter, args: tuple[Any, ...], reason: str
) -> str:
    value = args[position]
    if reason.startswith("expected LP_") or "instance instead of" in reason:
        reason = f"expected {_expected(parameter)}, got {value!r} ({type(value).__name__})"
    text = f"{binding.name}() argument {parameter.name!r} ({position + 1} of {len(args)}): {reason}"
    argtypes = binding.argtypes
    for other, argtype in enumerate(argtypes):
        if other == position:
            continue
        if _accepts(argtype, value) and _accepts(argtypes[position], args[other]):
            swapped = binding.parameters[other].name
            return f"{text}; are {parameter.name!r} and {swapped!r} swapped?"
    return text


def _accepts(argtype: Any, value: Any) -> bool:
    try:
        argtype.from_param(value)
    except Exception:
        return False
    return not isinstance(value, int) or isinstance(value, CudnnEnum)


def _expected(parameter: Parameter) -> str:
    base = c_type(parameter.type.base)
    match parameter.type.kind:
        case "pointer":
            return f"a pointer to {base}: the object itself or byref(...)"
        case "array":
            return f"an array of {base}"
        case _:
            return f"a {base}"
