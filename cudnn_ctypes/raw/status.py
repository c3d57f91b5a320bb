"""Builds the exception for a status code, with the reasons and the arguments."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import errors
from . import callback, hints, library, log, typed_memory
from .argument_text import descriptor_text, value_text
from .ctypes_support import CudnnEnum, is_null

if TYPE_CHECKING:
    from .parameter import Parameter

_SHOWN = 10_000  # characters of one argument that are kept


def error(
    function: str, code: int, arguments: Iterable[tuple[Parameter, Any]]
) -> errors.CudnnError:
    """The exception for a call of `function` that returned `code`."""
    from .enums import cudnnStatus_t

    status = cudnnStatus_t(code)
    messages, source = _reasons(status.name)
    arguments = list(arguments)
    with callback.quiet():
        detail = _last_error_string() if source == log.CUDNN else ""
        # After taking the reasons: reading descriptors for the text calls cuDNN again.
        sets = function.startswith("cudnnSet")
        shown = {
            parameter.name: f"<{type(value).__name__}>"  # its values may be half set
            if sets and parameter.changes_descriptor and not is_null(value)
            else describe(value, parameter)
            for parameter, value in arguments
        }
        failure = hints.Failure.of(function, status.name, messages or [detail], source, arguments)
        hint = hints.hint(failure)
    return errors.error_class(code)(
        function,
        status,
        arguments=shown,
        detail=detail,
        messages=messages,
        source=source,
        hint=hint,
    )


def _reasons(status: str) -> tuple[list[str], str]:
    """The logged reasons without the call's own status or messages of success, and their origin."""
    given, source = log.take()
    reasons = [reason.removeprefix(f"{status}; Reason: ") for reason in given]
    return [reason for reason in reasons if not reason.startswith("CUDNN_STATUS_SUCCESS")], source


def describe(value: Any, parameter: Parameter) -> str:
    """An argument as a trace shows it: a descriptor by what it holds, a variable by its value."""
    value = getattr(value, "_obj", value)  # byref(...)
    base = parameter.type.base
    if type(value) is int and isinstance(base, type) and issubclass(base, CudnnEnum):
        value = base(value)
    try:
        if is_null(value):
            return "NULL"
        if parameter.type.kind == "value" and (holds := descriptor_text(value)):
            return holds
        if isinstance(value, (ctypes._SimpleCData, float)):
            number = getattr(value, "value", value)
            is_address = isinstance(value, ctypes.c_void_p)
            return f"{number:#x}" if is_address else value_text(number)
        # Type and dims of another library's tensor: its repr would copy numbers from the device.
        says = typed_memory.typed(value) if parameter.type.kind == "device" else None
        if says is not None and type(value).__module__.partition(".")[0] != "cudnn_ctypes":
            text = f"<{type(value).__name__}: {says}>"
        elif isinstance(value, ctypes.Array):
            text = repr(list(value))
        else:
            text = str(value) if isinstance(value, CudnnEnum) else repr(value)
    except Exception as error:  # the call's error matters more than a repr that fails
        text = f"<{type(value).__name__}, whose repr failed: {error}>"
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
