"""Errors that name the refused argument of a call, with the reason."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from .ctypes_support import CudnnEnum
from .parameter import Parameter, c_type

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
    """Raise for a call without all arguments; a number where C has an enum tells which one."""
    pairs = list(zip(binding.parameters, args, strict=True))
    lacks = ", ".join(repr(p.name) for p, value in pairs if value is MISSING)
    text = f"{binding.name}() lacks {lacks}"
    for parameter, value in pairs:
        base = parameter.type.base
        is_enum = isinstance(base, type) and issubclass(base, CudnnEnum)
        if is_enum and value is not MISSING and not isinstance(value, base):
            text += f"; is {parameter.name!r} forgotten? It got {value!r}, no {base.__name__}"
            break
    raise TypeError(f"{text}; it takes ({', '.join(p.name for p, _ in pairs)})")


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
