"""The calls in cuDNN's log as records of calls, like those of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..raw import CUDNN_SEV_ERROR, CUDNN_SEV_INFO, FUNCTIONS
from .messages import LoggedArgument, Message
from .records import Argument, CallRecord, plain

__all__ = ["logged_calls"]


def logged_calls(messages: Iterable[Message]) -> Iterator[CallRecord]:
    """The calls of C functions that a program made, one after the other.

    The place of a call is its process and thread. Its time is known if cuDNN logged its end.
    """
    waiting: dict[tuple[int, int], tuple[Message, CallRecord]] = {}
    for message in messages:
        key = message.process, message.thread
        begun, call = waiting.get(key, (None, None))
        ends = set(message.arguments) == {"status"}
        if begun is not None and call is not None and begun.function == message.function:
            if message.severity == CUDNN_SEV_ERROR:
                status = message.status.name.removeprefix("CUDNN_STATUS_")
                reason = (message.reasons or ("",))[0]
                call = replace(call, status=status, failed=True, reason=reason)
                waiting[key] = begun, call
            elif ends:
                seconds = (message.time - begun.time).total_seconds()
                waiting[key] = begun, replace(call, seconds=max(seconds, 0.0))
        if message.severity != CUDNN_SEV_INFO or ends or message.function not in FUNCTIONS:
            continue
        if call is not None:
            yield call
        arguments = tuple(
            Argument(name, _value(name, each)) for name, each in message.arguments.items()
        )
        record = CallRecord(0, message.function, arguments, "SUCCESS")
        waiting[key] = message, replace(record, file=str(key[0]), line=key[1])
    for _, call in waiting.values():
        yield call


_FIELDS = {
    "dimA": "shape",
    "strideA": "strides",
    "dataType": "data_type",
    "type": "data_type",
    "operation": "operations",
}
"""Names in records of descriptors of the fields of cuDNN's log."""


def _value(name: str, argument: LoggedArgument) -> Any:
    """An argument as plain data, as records of calls have it."""
    if argument.location:
        address = argument.value
        return address and {"allocation": f"{address:#x}", "offset": 0}
    if argument.type == "cudnnHandle_t":
        return {"object": "handle"}
    if not argument.fields:
        return plain(argument.value)
    kind = argument.type.removeprefix("CUDNN_BACKEND_").removesuffix("_DESCRIPTOR").lower()
    operations = [
        each.type.removeprefix("CUDNN_BACKEND_OPERATION_").removesuffix("_DESCRIPTOR").lower()
        for each in argument.fields.values()
        if each.type.startswith("CUDNN_BACKEND_OPERATION_")
    ]
    if operations:
        return {"object": kind, "holds": {"operations": operations}}
    holds = {
        _FIELDS.get(key, key): plain(each.value)
        for key, each in argument.fields.items()
        if not each.fields and key != "nbDims"
    }
    return {"object": name if kind.startswith("cudnn") else kind, "holds": holds}
