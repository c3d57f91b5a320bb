"""Handles of the reference device: create, destroy, streams."""

from __future__ import annotations

from ... import raw
from .call import Call
from .dispatch import forget
from .made_up_handles import create
from .registry import bad_param, implements

_streams: dict[int, int | None] = {}  # made-up handle -> address of its stream


@implements("cudnnCreate")
def create_handle(call: Call) -> int | None:
    if not call["handle"]:
        return call.native()  # which refuses NULL
    call.put(handle=create())
    return None


@implements("cudnnDestroy")
def destroy(call: Call) -> None:
    _streams.pop(call["handle"].value, None)
    forget(call["handle"])


@implements("cudnnQueryRuntimeError")
def query_runtime_error(call: Call) -> None:
    # Each call reports its own errors: none remain to be reported later.
    if not call["mode"].known:
        raise bad_param(f"mode is {int(call['mode'])}")
    call.put(rstatus=raw.CUDNN_STATUS_SUCCESS)


@implements("cudnnSetStream")
def set_stream(call: Call) -> None:
    # Work is done when a call returns, so every stream is in order.
    stream = call["streamId"]
    _streams[call["handle"].value] = None if stream is None else stream.value


@implements("cudnnGetStream")
def get_stream(call: Call) -> None:
    call.put(streamId=_streams.get(call["handle"].value))
