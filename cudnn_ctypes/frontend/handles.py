"""Handles as addresses, and the handle of graphs that were given none."""

from __future__ import annotations

import ctypes
from typing import Any

from .. import raw
from ..device import current_device
from ..errors import ClosedError
from ..handle import Handle
from ..raw import mode

__all__ = [
    "as_handle",
    "backend_version",
    "backend_version_string",
    "create_handle",
    "default_handle",
    "destroy_handle",
    "get_last_error_string",
    "get_stream",
    "set_stream",
]

# By address: what create_handle made.
_created: dict[int, Handle] = {}
# By device: the handles of graphs without one, made on first use. None of them is ever replaced.
_default: dict[tuple[bool, int], Handle] = {}


def create_handle() -> int:
    """A cuDNN handle on the current device; follows ``cudnnCreate``.

    Returns
    -------
    int
        Its address. `destroy_handle` destroys it.
    """
    handle = Handle()
    address = handle._as_parameter_.value or 0
    _created[address] = handle
    return address


def destroy_handle(handle: int | Handle) -> None:
    """Destroy a handle; follows ``cudnnDestroy``.

    Raises
    ------
    ValueError
        If it is not one of `create_handle`, or was destroyed before.
    """
    owner = as_handle(handle)
    _created.pop(owner._as_parameter_.value or 0, None)
    owner.close()


def as_handle(handle: int | Handle) -> Handle:
    """The object behind what a program uses as a handle.

    Raises
    ------
    TypeError, ValueError
        If it is none, or is destroyed. An unknown address would crash cuDNN.
    """
    if isinstance(handle, Handle):
        if handle.closed:
            raise ClosedError("this Handle is closed")
        return handle
    if isinstance(handle, bool) or not isinstance(handle, int):
        raise TypeError(
            f"handle: expected what create_handle() returns or a cudnn_ctypes.Handle, got "
            f"{handle!r} ({type(handle).__name__})"
        )
    if handle not in _created:
        raise ValueError(
            f"handle: {handle:#x} is no handle of create_handle(), or was destroyed; a handle of "
            "another library cannot be checked and is not taken"
        )
    return _created[handle]


def default_handle() -> Handle:
    """That of the current device, on its default stream, for graphs that were given none."""
    key = (mode.reference_device_active, int(current_device().device_id))
    if key not in _default or _default[key].closed:
        _default[key] = Handle()
    return _default[key]


def set_stream(handle: int | Handle, stream: Any) -> None:
    """Have all work of a handle done on `stream`; follows ``cudnnSetStream``.

    Parameters
    ----------
    stream : int, or object with ``__cuda_stream__``
        ``torch.cuda.current_stream().cuda_stream``, for instance.
    """
    as_handle(handle).stream = stream


def get_stream(handle: int | Handle) -> int:
    """The address of a handle's stream; follows ``cudnnGetStream``."""
    stream = raw.cudaStream_t()
    raw.cudnnGetStream(as_handle(handle), stream)
    return stream.value or 0


def backend_version() -> int:
    """The loaded cuDNN's version as one number: 91900 for 9.19.0."""
    return int(raw.cudnnGetVersion())


def backend_version_string() -> str:
    """The loaded cuDNN's version: "9.19.0"."""
    version = backend_version()
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


def get_last_error_string() -> str:
    """What cuDNN said about this thread's last failure; follows ``cudnnGetLastErrorString``."""
    buffer = ctypes.create_string_buffer(4096)
    raw.cudnnGetLastErrorString(buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")
