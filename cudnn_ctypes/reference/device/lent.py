"""The memory of the arguments of a call, and what the call has used: views and blocks.

A call receives addresses, which do not tell the size of another library's memory. The library's
tensor does, so the caller's own arguments are kept and examined.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ...raw import host_blocks, mode
from ...raw.dlpack import READ_ONLY, DLManagedTensorVersioned, managed_tensor, request_capsule
from ...raw.host_blocks import Block
from ...raw.strides import extent
from ..tiles import Array, overlap


@dataclass(frozen=True, slots=True)
class Owner:
    """An argument with memory: its first address, size in bytes, and description."""

    address: int
    nbytes: int
    readonly: bool
    kind: str

    def __str__(self) -> str:
        return f"the {self.nbytes} bytes of the {self.kind} at {self.address:#x}"


Arguments = Sequence[tuple[str, Any, int | None]]
"""The memory arguments of a call: C name, the caller's object, and its address."""


class _Calls(threading.local):
    def __init__(self) -> None:
        self.arguments: Arguments = ()
        self.blocks: set[Block] = set()
        self.any_contents = False
        self.views: list[tuple[str, Array, bool]] | None = None


_calls = _Calls()


def begin(arguments: Arguments) -> Arguments:
    """Set the memory arguments of the current call; return the previous ones, for `end`."""
    before, _calls.arguments = _calls.arguments, arguments
    _calls.views = []
    return before


def end(before: Arguments) -> None:
    """The call is over.

    Raises RuntimeError if something was written beside a block, as far as `mode.guard_pages` lets
    that be seen.
    """
    _calls.arguments = before
    _calls.views = None
    if _calls.blocks:
        blocks, _calls.blocks = _calls.blocks, set()
        for block in blocks:
            if not block.freed_at and (overrun := block.overrun()):
                raise RuntimeError(f"the reference device went astray: {overrun}")


def called(name: str, address: int) -> str:
    """The C name of the argument with this address, preferably `name`; `name` without one."""
    names = [each for each, _, given in _calls.arguments if given == address]
    return name if name in names or not names else names[0]


def owner(address: int) -> Owner | None:
    """The argument of the current call whose memory contains `address`."""
    for _, given, _ in _calls.arguments:
        found = None if given.__class__ is int else _owner(given)
        if found is not None and found.address <= address < found.address + max(found.nbytes, 1):
            return found
    return None


def overlapped(name: str, view: Array, writes: bool) -> str:
    """The argument of the call, used before, with which this one shares memory; "" if none.

    One of the two is written and the other read, and elements that both have are not at the same
    places in both. Results share memory by intent: gradients of nodes at both ends of edges do.
    """
    if _calls.views is None:  # outside of a call
        return ""
    found = ""
    for other, earlier, written in _calls.views:
        near = other != name and writes != written and overlap(view, earlier)
        if near and not _folded(view, earlier) and _shared(view, earlier):
            found = other
    _calls.views.append((name, view, writes))
    return found


def _folded(one: Array, other: Array) -> bool:
    """Whether the same elements lie in the same memory, in other dimensions."""
    dense = one.flags.c_contiguous and other.flags.c_contiguous
    return dense and one.ctypes.data == other.ctypes.data and one.nbytes == other.nbytes


def _shared(one: Array, other: Array) -> bool:
    try:
        return np.shares_memory(one, other, max_work=10_000)  # type: ignore[arg-type]
    except RuntimeError:  # strides for which that takes long
        return False


@contextmanager
def any_contents() -> Iterator[None]:
    """Allow unwritten memory inside ``with``: the result does not depend on the contents."""
    before, _calls.any_contents = _calls.any_contents, True
    try:
        yield
    finally:
        _calls.any_contents = before


def contents_matter() -> bool:
    """Whether reading unwritten memory is a fault at the moment."""
    return not _calls.any_contents


def used(block: Block) -> None:
    """Look at a block once more when the call is over, with `mode.guard_pages`."""
    if mode.guard_pages:
        _calls.blocks.add(block)


def _owner(value: Any) -> Owner | None:
    if value is None:
        return None
    kind = type(value).__name__
    storage = getattr(value, "untyped_storage", None)
    if storage is not None:  # a PyTorch tensor
        memory = storage()
        return Owner(memory.data_ptr(), memory.nbytes(), False, f"storage of a torch.{kind}")
    readonly = getattr(value, "readonly", None)
    if readonly is not None:  # a DeviceTensor
        if not value.nbytes or host_blocks.find(value.ptr) is not None:
            return None
        return Owner(value.ptr, value.nbytes, readonly, kind)
    if hasattr(value, "__dlpack__"):
        managed = managed_tensor(request_capsule(value, None))
        tensor = managed.dl_tensor
        shape = tuple(tensor.shape[: tensor.ndim])
        strides = tensor.strides[: tensor.ndim] if tensor.strides else ()
        reach = extent(shape, strides) if strides else prod(shape)
        flags = managed.flags if isinstance(managed, DLManagedTensorVersioned) else 0
        nbytes = (reach * tensor.dtype.bits * tensor.dtype.lanes + 7) // 8
        return Owner(tensor.address, nbytes, bool(flags & READ_ONLY), kind)
    return _owner(getattr(value, "_as_parameter_", None))
