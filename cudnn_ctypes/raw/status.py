"""From a status code to the exception that explains it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import errors
from . import hints, library, log
from .ctypes_support import OpaquePointer

if TYPE_CHECKING:
    from .function import Parameter

__all__ = ["describe", "error"]

_SHOWN = 200  # characters of one argument


def error(
    function: str, code: int, arguments: Iterable[tuple[Parameter, Any]]
) -> errors.CudnnError:
    """The exception for a call of `function` that returned `code`."""
    from .enums import cudnnStatus_t

    status = cudnnStatus_t(code)
    arguments = list(arguments)
    shown = {parameter.name: describe(value) for parameter, value in arguments}
    same_status = f"{status.name}; Reason: "
    messages = [reason.removeprefix(same_status) for reason in log.take(function)]
    nulls = [p.name for p, value in arguments if p.type.kind == "value" and _is_null(value)]
    if not messages:  # cuDNN gives no reason for missing operands
        nulls += [p.name for p, value in arguments if p.type.kind == "device" and value is None]
    return errors.error_class(code)(
        function,
        status,
        arguments=shown,
        detail=_last_error_string(),
        messages=messages,
        hint=hints.hint(function, status.name, messages, nulls),
    )


def _is_null(value: Any) -> bool:
    handle = getattr(value, "_as_parameter_", value)
    return isinstance(handle, OpaquePointer) and not handle


def describe(value: Any) -> str:
    """An argument as text: what ctypes objects hold, not where they are."""
    value = getattr(value, "_obj", value)  # byref(...)
    if isinstance(value, ctypes.Array):
        text = repr(list(value))
    else:
        text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _last_error_string() -> str:
    get = library.load().optional_symbol("cudnnGetLastErrorString")
    if get is None:  # cuDNN 8
        return ""
    get.restype = None
    get.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    buffer = ctypes.create_string_buffer(4096)
    get(buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")
