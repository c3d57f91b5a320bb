"""From a program's variant pack to an execution: addresses, and packs that are used again."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import raw
from ..graph.arguments import pointers
from ..graph.tensor import Tensor
from ..raw import mode
from ..raw.memory import memory_pointer
from .errors import InvalidGraphError

if TYPE_CHECKING:
    from ..graph.descriptor import BackendDescriptor
    from ..graph.plan import ExecutionPlan
    from ..handle import Handle

__all__ = ["Execution"]

_KEPT = 16  # sets of addresses whose variant pack is kept
_LOWEST_ADDRESS = 1 << 16  # no memory lies below, on the host or on a GPU


class Execution:
    """Carries out one plan with whatever a program calls its operands.

    Finalizing a variant pack takes as long as the execution, so that of addresses that come a
    second time is kept: a training loop that uses the same memory again makes one C call.

    Parameters
    ----------
    plan : ExecutionPlan
    tensors : sequence of Tensor
        Of a validated graph.
    """

    def __init__(self, plan: ExecutionPlan, tensors: Sequence[Tensor]) -> None:
        self._plan = plan
        self._tensors = [each for each in tensors if not each.virtual]
        self._operands = {each.uid or 0: each for each in self._tensors}
        self._by_value = any(e.by_value and not _is_fixed(e) for e in self._tensors)
        # Numbers may change between two calls, and some scratch memory is written before each.
        self._keeps = not self._by_value and not plan.scratch.must_write
        self._packs: OrderedDict[tuple[Any, ...], BackendDescriptor | None] = OrderedDict()

    def __call__(self, handle: Handle, memory: Mapping[Any, Any], workspace: Any) -> None:
        """Run the plan on the handle's stream.

        Parameters
        ----------
        memory : mapping
            By tensor, unique id or name; keys that are None or of no operand are left out.
            PyTorch tensors, anything else that ``memory_pointer`` takes, or addresses; for
            operands by value also numbers, and arrays of one element on the host.
        workspace : device memory or None

        Raises
        ------
        InvalidGraphError
            If an operand has no memory, or too little.
        TypeError
            If a value is no memory, or host memory.
        """
        if self._keeps:
            key = (*self._addresses(memory), _address(workspace, "workspace"))
            pack = self._packs.get(key)
            if pack is not None:
                raw.cudnnBackendExecute(handle, self._plan.descriptor, pack)
                return
        found = self._checked(memory)
        if not self._keeps or not self._seen_before(key):
            self._plan.execute(handle, found, workspace)
            return
        self._packs[key] = pack = self._plan.variant_pack(found, workspace)
        raw.cudnnBackendExecute(handle, self._plan.descriptor, pack)

    def _addresses(self, memory: Mapping[Any, Any]) -> list[Any]:
        addresses: list[Any] = []
        for key, value in memory.items():
            if key is not None:
                addresses += (key, _address(value, key))
        return addresses

    def _seen_before(self, key: tuple[Any, ...]) -> bool:
        """Whether these addresses came before; the oldest ones are forgotten."""
        if key in self._packs:
            return True
        self._packs[key] = None
        if len(self._packs) > _KEPT:
            _, oldest = self._packs.popitem(last=False)
            if oldest is not None:
                oldest.close()
        return False

    def _checked(self, memory: Mapping[Any, Any]) -> dict[int, Any]:
        """What the plan takes for each operand."""
        chosen: dict[Tensor | int | str, Any] = {}
        for key, value in memory.items():
            uid = None if key is None else self._uid(key)
            if uid in self._operands and uid is not None:
                chosen[uid] = _host_number(value) if self._operands[uid].by_value else value
        try:
            return pointers(self._tensors, chosen)
        except ValueError as error:
            raise InvalidGraphError(str(error)) from error

    def _uid(self, key: Any) -> int | None:
        if isinstance(key, Tensor):
            return key.uid
        if isinstance(key, str):
            named = [uid for uid, each in self._operands.items() if each.name == key]
            if len(named) > 1:
                raise InvalidGraphError(f"several tensors are called {key!r}: use them, or uids")
            return named[0] if named else None
        if isinstance(key, int):
            return key
        raise TypeError(
            f"keys of a variant pack are tensors, uids or names, got {key!r} ({type(key).__name__})"
        )

    def pack(self, memory: Mapping[Any, Any], workspace: Any) -> BackendDescriptor:
        """A finalized VARIANT_PACK, which the caller closes."""
        return self._plan.variant_pack(self._checked(memory), workspace)

    def close(self) -> None:
        for pack in self._packs.values():
            if pack is not None:
                pack.close()
        self._packs.clear()


def _is_fixed(tensor: Tensor) -> bool:
    """Whether a program need not give it."""
    return tensor.value is not None or tensor.scratch


def _address(value: Any, name: Any) -> int | None:
    # The common case first: the rest of memory_pointer takes longer than all else here.
    if type(value) is int:
        return value
    if getattr(value, "is_cuda", False) and not mode.reference_device_active:
        address: int = value.data_ptr()
        return address
    return memory_pointer(value, str(name))


def _host_number(value: Any) -> Any:
    """A number, or the address where it lies, from what stands for an operand by value."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= _LOWEST_ADDRESS:
        return ctypes.c_void_p(value)
    item = getattr(value, "item", None)  # NumPy and PyTorch: an array of one element
    return item() if callable(item) else value
