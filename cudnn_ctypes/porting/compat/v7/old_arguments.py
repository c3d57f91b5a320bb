"""The arguments of a call of an old function, and their refusal."""

from __future__ import annotations

import ctypes
from typing import Any

from .... import raw
from ....raw.call_source import is_handle
from ....raw.ctypes_support import storage_type
from ....raw.parameter import Parameter

__all__ = ["Arguments", "Refused", "decoded"]


class Refused(Exception):
    """Raised by an implementation for arguments that cuDNN refused: a status and a reason."""

    def __init__(self, code: raw.cudnnStatus_t, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Arguments:
    """The arguments of one call as attributes, under their names in C.

    Numbers are Python numbers and enumerators are members; a pointer to one value is the variable
    behind it; input arrays are lists; handles and memory are the caller's objects. NULL is None.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def put(self, **results: Any) -> None:
        """Write results through those pointers that are not NULL."""
        for name, value in results.items():
            if self._values[name] is not None:
                self._values[name].value = value

    def require(self, *names: str) -> None:
        """Refuse NULL with BAD_PARAM."""
        for name in names:
            if self._values[name] is None:
                raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL")


_REFERENCE = type(ctypes.byref(ctypes.c_int()))
_COUNTS = ("seqLength", "arrayLength", "nbDims")
"""The parameters with the number of an array's elements."""


def decoded(parameter: Parameter, converted: Any, given: Any, before: dict[str, Any]) -> Any:
    """An argument in an implementation's form; `before` has the earlier arguments by name."""
    match parameter.type.kind:
        case "value" if is_handle(parameter):
            return given
        case "value" if isinstance(converted, ctypes._SimpleCData):
            return converted.value
        case "value":
            return converted
        case "pointer":
            return None if given is None else _variable(given)
        case "array" if parameter.direction == "in":
            given = given.tolist() if hasattr(given, "tolist") else given
            if isinstance(given, (ctypes._Pointer, _REFERENCE)):  # as C does, without a length
                count = next(before[name] for name in _COUNTS if name in before)
                given = ctypes.cast(given, ctypes.POINTER(storage_type(parameter.type.base)))[
                    :count
                ]
            return None if given is None else list(given)
        case _:
            return given


def _variable(pointer: Any) -> Any:
    """The ctypes variable behind a pointer, ``byref`` or array argument."""
    target = getattr(pointer, "_obj", pointer)  # byref(...)
    if isinstance(target, ctypes.Array):
        return target[0]
    if isinstance(target, ctypes._Pointer) and not hasattr(target, "value"):
        return target.contents
    return target
