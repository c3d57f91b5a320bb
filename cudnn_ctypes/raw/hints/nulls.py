"""Advice for NULL arguments: the Python object to pass instead, and how to create it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .. import live
from ..ctypes_support import OpaquePointer, is_null
from ..parameter import Parameter
from .failure import Failure

__all__ = ["creating_function", "hint"]

_CREATING = {
    "cudnnHandle_t": "cudnnCreate",
    "cudnnBackendDescriptor_t": "cudnnBackendCreateDescriptor",
}


def creating_function(kind: str) -> str:
    """The C function that creates a handle or descriptor of a C type."""
    name = kind.removeprefix("cudnn").removesuffix("_t")
    return _CREATING.get(kind, f"cudnnCreate{name}")


def hint(failure: Failure) -> str:
    """Advice about the first NULL that was refused; "" if none was."""
    if not failure.status.startswith("CUDNN_STATUS_BAD_PARAM"):
        return ""
    return next(_remedies(failure), "")


def _remedies(failure: Failure) -> Iterator[str]:
    for parameter, value in failure.arguments.values():
        if not (is_null(value) or (type(value) is int and value == 0)):
            continue
        named = _is_named(parameter.name, failure.text)
        kind = parameter.type.kind
        if kind == "value" and _is_object(parameter):
            if named or not parameter.type.null:
                yield _object(parameter, value)
        elif not named:
            continue
        elif kind == "device":
            yield (
                f"{parameter.name} is {value}: pass device memory, such as a DeviceTensor, a "
                f"tensor of PyTorch, or an address"
            )
        elif kind == "scalar":
            yield f"{parameter.name} is None: pass a number, 1.0 or 0.0 for instance"
        elif kind in ("pointer", "array"):
            verb = "reads from" if parameter.direction == "in" else "writes to"
            yield f"{parameter.name} is None, and C {verb} it: pass a variable or an array"


def _is_object(parameter: Parameter) -> bool:
    base = parameter.type.base
    is_handle = isinstance(base, type) and issubclass(base, OpaquePointer)
    return is_handle and base.__name__.startswith("cudnn")


def _is_named(name: str, reasons: str) -> bool:
    """Whether the reasons say that the argument `name` is NULL, in cuDNN's words or in ours."""
    null = "(?:__null|nullptr|NULL)"
    said = rf"\b{name} (?:is NULL|was destroyed)|\b{name} == {null}|{null} == {name}\b|!{name}\b"
    return re.search(said, reasons) is not None


def _object(parameter: Parameter, value: Any) -> str:
    name, kind = parameter.name, parameter.type.base.__name__
    create = creating_function(kind)
    if live.is_destroyed(value):
        return f"{name} was destroyed earlier; create another with raw.{create}"
    if value is None:
        return f"{name} is None, and C needs a {kind}: raw.{create} creates one"
    return f"{name} is still NULL: raw.{create} has to create it first"
