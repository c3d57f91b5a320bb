"""Memory that a program passes to a graph: its owner and its GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...handle import Handle
from ...raw import mode
from ...raw.memory import memory_pointer
from ...runtime import DeviceBuffer, DeviceTensor, as_tensor, cuda, current_device, pytorch
from ...runtime.launching.likeness import kinds

# The handles of launches that were given none: kept for each GPU, each used by one thread at once.
#
# They live until the process ends. The reference device's are not kept: while one lives, calls are
# followed.

Lent = tuple[Handle, int]
"""A handle, and the address of its stream."""

_free: dict[int, list[Lent]] = {}
"""Handles that no thread uses now, by GPU."""


@contextmanager
def default_handle(ordinal: int, stream: int = 0) -> Iterator[Handle]:
    """``with default_handle(0) as handle``: a handle for the calling thread alone, on a stream.

    - `ordinal`: the GPU; of no effect on the reference device.
    - `stream`: the stream's address; 0 is the legacy default stream.
    """
    if mode.runtime.on_host:
        with Handle() as handle:
            yield handle
        return
    lent = taken(ordinal, stream)
    try:
        yield lent[0]
    finally:
        give_back(ordinal, lent)


def taken(ordinal: int, stream: int) -> Lent:
    """A handle of a GPU, not of the reference device, to be given back; `default_handle` does."""
    try:
        lent = _free[ordinal].pop()  # one call, so no two threads get the same handle
    except (KeyError, IndexError):
        with cuda.current_context(ordinal):  # the caller's current device stays what it is
            lent = Handle(), 0
    if stream == lent[1]:
        return lent
    try:
        lent[0].stream = stream
        lent = lent[0], stream
    except BaseException:
        give_back(ordinal, lent)
        raise
    return lent


def give_back(ordinal: int, lent: Lent) -> None:
    """Have others use what `taken` returned."""
    _free.setdefault(ordinal, []).append(lent)


class GivenMemory:
    """Memory and numbers by what a graph's tensors are called.

    The handle's stream, or the legacy default stream, waits for what libraries other than PyTorch
    have under way with their memory. With `check`, tensors through which gradients are to be
    computed are refused.

    - `memory`: as it was given, with a `DeviceTensor` for memory of libraries other than PyTorch.
    - `torch`: a tensor of PyTorch among it.
    """

    __slots__ = ("memory", "torch")

    def __init__(
        self, memory: Mapping[Any, Any], handle: Handle | None = None, *, check: bool = True
    ) -> None:
        if type(memory) is not dict and not isinstance(memory, Mapping):
            raise TypeError(f"memory: expected a mapping, got a {type(memory).__name__}")
        self.memory: Mapping[Any, Any] = memory
        self.torch: Any = None
        foreign: dict[Any, Any] = {}
        for key, value in memory.items():
            kind = kinds[value.__class__]
            if kind == "torch":
                if check and value.requires_grad:
                    _refuse_gradients(key, value)
                if self.torch is None:
                    self.torch = value
                    memory_pointer(value, getattr(key, "name", key))  # says what is wrong with it
            elif kind == "foreign":
                foreign[key] = imported(key, value, handle)
        if foreign:
            self.memory = {**memory, **foreign}

    @property
    def ordinal(self) -> int:
        """The GPU that has the memory; the current one where only addresses are given."""
        if self.torch is not None:
            return int(mode.runtime.ordinal_of(self.torch))
        for value in self.memory.values():
            if isinstance(value, (DeviceTensor, DeviceBuffer)):
                return value.device_id
        return int(current_device().device_id)

    @property
    def stream(self) -> int:
        """The address of the stream in whose order the memory is used."""
        if self.torch is None or not self.torch.is_cuda:
            return 0
        return pytorch.current_stream(self.torch.get_device())

    @contextmanager
    def on(self, handle: Handle | None) -> Iterator[Handle]:
        """A handle for work on this memory: the one given, else a default one for a while."""
        if handle is not None:
            yield handle
            return
        with default_handle(self.ordinal, self.stream) as lent:
            yield lent


def imported(key: Any, value: Any, handle: Handle | None) -> DeviceTensor:
    """Memory of another library, for use on the handle's stream or the legacy default stream.

    Raises TypeError if it is no device memory; the message begins with the name of `key`.
    """
    try:
        return as_tensor(value, stream=None if handle is None else handle.stream)
    except (TypeError, BufferError) as error:
        raise TypeError(f"{getattr(key, 'name', key)}: {error}") from None


def _refuse_gradients(key: Any, value: Any) -> None:
    if pytorch.computes_gradients(value):
        raise ValueError(
            f"{getattr(key, 'name', key)}: this tensor requires gradients, and a graph computes "
            "none: run it under torch.no_grad(), pass x.detach(), or make an operation with a "
            "backward graph (cudnn_ctypes.torch_ops)"
        )
