"""Handles of the reference device: create, destroy, streams."""

from __future__ import annotations

from typing import Any

from ... import raw
from .dispatch import forget, implements

_streams: dict[int, int | None] = {}  # made-up handle -> address of its stream


@implements("cudnnDestroy")
def destroy(handle: Any) -> None:
    _streams.pop(handle.value, None)
    forget(handle)


@implements("cudnnQueryRuntimeError")
def query_runtime_error(
    handle: Any, rstatus: Any, mode: raw.cudnnErrQueryMode_t, tag: Any
) -> raw.cudnnStatus_t | None:
    # Errors come with the call that makes them: none is left to be found later.
    if not rstatus or not mode.known:
        return raw.CUDNN_STATUS_BAD_PARAM
    rstatus.contents.value = raw.CUDNN_STATUS_SUCCESS
    return None


@implements("cudnnSetStream")
def set_stream(handle: Any, streamId: Any) -> None:
    # Work is done when a call returns, so every stream is in order.
    _streams[handle.value] = None if streamId is None else streamId.value


@implements("cudnnGetStream")
def get_stream(handle: Any, streamId: Any) -> raw.cudnnStatus_t | None:
    if not streamId:
        return raw.CUDNN_STATUS_BAD_PARAM
    streamId.contents.value = _streams.get(handle.value)
    return None
