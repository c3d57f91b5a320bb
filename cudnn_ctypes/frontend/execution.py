"""From a program's variant pack to an execution: addresses, and packs that are used again."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import raw
from ..graph.arguments import check_size, host_value, memory_bytes
from ..graph.tensor import Tensor
from ..raw import mode
from ..raw.memory import memory_pointer
from .errors import InvalidGraphError

if TYPE_CHECKING:
    from ..graph.arguments import Shape
    from ..graph.plan import ExecutionPlan
    from ..handle import Handle

__all__ = ["Execution"]

_KEPT = 64  # sets of addresses whose variant pack is kept
_LOWEST_ADDRESS = 1 << 16  # no memory lies below, on the host or on a GPU

_VARIANT_PACK = raw.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR
_UIDS = raw.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS
_POINTERS = raw.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS
_WORKSPACE = raw.CUDNN_ATTR_VARIANT_PACK_WORKSPACE
_INT64, _VOID_PTR = raw.CUDNN_TYPE_INT64, raw.CUDNN_TYPE_VOID_PTR


class Execution:
    """Carries out one plan with whatever a program calls its operands.

    To make a variant pack takes longer than to execute it. So packs are kept, the newest ones: a
    training loop that comes back to the same memory makes one C call.

    Parameters
    ----------
    plan : ExecutionPlan
    tensors : sequence of Tensor
        Of a validated graph.
    """

    def __init__(self, plan: ExecutionPlan, tensors: Sequence[Tensor]) -> None:
        self._plan = plan
        self._operands = [each for each in tensors if not each.virtual and not each.scratch]
        uids = [each.uid or 0 for each in self._operands]
        self._uids = (ctypes.c_int64 * len(uids))(*uids)
        self._places = _places(self._operands)
        # What a program need not give: the numbers that are fixed in the graph.
        self._fixed = [
            None if each.value is None else bytes(host_value(each.value, each))
            for each in self._operands
        ]
        self._views = _views(self._operands)
        # From the first element to the last, in bytes; numbers on the host are not measured.
        self._spans = [0 if each.by_value else memory_bytes(each) for each in self._operands]
        self._workspace_size = plan.workspace_size
        self._packs: dict[tuple[Any, ...], _Pack] = {}
        self._lock = threading.Lock()

    def __call__(
        self,
        handle: Handle,
        memory: Mapping[Any, Any],
        workspace: Any,
        shapes: Mapping[int, Shape] | None = None,
    ) -> None:
        """Run the plan on the handle's stream.

        Parameters
        ----------
        memory : mapping
            By tensor, unique id or name; keys that are None or of no operand are left out.
            PyTorch tensors, anything else that ``memory_pointer`` takes, or addresses; for
            operands by value also numbers, and arrays of one element on the host.
        workspace : device memory or None
        shapes : mapping of int to (dims, strides), optional
            Of operands, by unique id, that have others this time.

        Raises
        ------
        InvalidGraphError
            If an operand has no memory, or it or the workspace has too little.
        TypeError
            If a value is no memory, or host memory.
        """
        given = self._given(memory)
        space = _address(workspace, "workspace") if self._workspace_size else None
        pack = None if shapes else self._packs.get((*given, space))
        if pack is None:
            self._check(given, memory, workspace, space, shapes or {})
            if self._plan.scratch or shapes:
                self._plan.execute(handle, self._by_uid(given), workspace, shapes=shapes)
                return
            pack = self._keep(_Pack(self._uids, given, space), (*given, space))
        raw.cudnnBackendExecute(handle, self._plan.descriptor, pack.descriptor)

    def _given(self, memory: Mapping[Any, Any]) -> list[Any]:
        """For each operand an address, or the bytes of a number; None if there is nothing."""
        if type(memory) is not dict and not isinstance(memory, Mapping):
            raise TypeError(f"variant pack: expected a mapping, got a {type(memory).__name__}")
        given: list[Any] = self._fixed.copy()
        for key, value in memory.items():
            place = self._places.get(key)
            if place is None:
                _check_key(key, self._operands)
                continue
            operand = self._operands[place]
            given[place] = _number(value, operand) if operand.by_value else _address(value, key)
        for place, base, offset in self._views:
            given[place] = given[base] and given[base] + offset
        return given

    def _check(
        self,
        given: list[Any],
        memory: Mapping[Any, Any],
        workspace: Any,
        space: int | None,
        shapes: Mapping[int, Shape],
    ) -> None:
        missing = [
            f"{each.name!r} (uid {each.uid})"
            for each, address in zip(self._operands, given, strict=True)
            if not address
        ]
        if missing:
            raise InvalidGraphError(f"no memory was given for {', '.join(missing)}")
        try:
            for key, value in memory.items():
                place = self._places.get(key)
                if place is not None and (shapes or _tells_less(value, self._spans[place])):
                    check_size(value, _with_shape(self._operands[place], shapes))
        except ValueError as error:
            raise InvalidGraphError(str(error)) from error
        if self._workspace_size:
            held = getattr(workspace, "nbytes", None)
            too_small = isinstance(held, int) and held < self._workspace_size
            if not space or too_small:
                raise InvalidGraphError(
                    f"workspace: this plan needs {self._workspace_size} bytes, got "
                    f"{held if too_small else 'none'}"
                )

    def _keep(self, pack: _Pack, key: tuple[Any, ...]) -> _Pack:
        with self._lock:
            while len(self._packs) >= _KEPT:
                # Another thread may be executing it: it goes when nobody has it any more.
                del self._packs[next(iter(self._packs))]
            self._packs[key] = pack
        return pack

    def _by_uid(self, given: list[Any]) -> dict[int, Any]:
        """What the plan's own methods take."""
        return {
            each.uid or 0: host_value(_read(value, each), each) if each.by_value else value
            for each, value in zip(self._operands, given, strict=True)
        }

    def pack(self, memory: Mapping[Any, Any], workspace: Any) -> Any:
        """A finalized VARIANT_PACK, which the caller closes."""
        given = self._given(memory)
        space = _address(workspace, "workspace")
        self._check(given, memory, workspace, space, {})
        return self._plan.variant_pack(self._by_uid(given), workspace)

    def close(self) -> None:
        self._packs.clear()


class _Pack:
    """A finalized VARIANT_PACK and the numbers that it points to, without the typed descriptor.

    It is destroyed with the last reference to it.
    """

    def __init__(self, uids: Any, given: list[Any], workspace: int | None) -> None:
        # Numbers lie in memory of this pack: cuDNN may read them at each execution.
        self.numbers = [ctypes.create_string_buffer(v, len(v)) for v in given if type(v) is bytes]
        numbers = iter(self.numbers)
        addresses = (ctypes.c_void_p * len(uids))(
            *(ctypes.addressof(next(numbers)) if type(v) is bytes else v for v in given)
        )
        self.descriptor = pack = raw.cudnnBackendDescriptor_t()
        raw.cudnnBackendCreateDescriptor(_VARIANT_PACK, pack)
        raw.cudnnBackendSetAttribute(pack, _UIDS, _INT64, len(uids), uids)
        raw.cudnnBackendSetAttribute(pack, _POINTERS, _VOID_PTR, len(uids), addresses)
        if workspace is not None:
            space = ctypes.byref(ctypes.c_void_p(workspace))
            raw.cudnnBackendSetAttribute(pack, _WORKSPACE, _VOID_PTR, 1, space)
        raw.cudnnBackendFinalize(pack)

    def __del__(self, destroy: Any = raw.cudnnBackendDestroyDescriptor.unchecked) -> None:
        descriptor = getattr(self, "descriptor", None)
        if descriptor:
            destroy(descriptor)


def _views(operands: Sequence[Tensor]) -> list[tuple[int, int, int]]:
    """The operands that are views: their place, that of the other one, and the offset in bytes."""
    places = {each.uid: place for place, each in enumerate(operands)}
    found = []
    for place, each in enumerate(operands):
        view = getattr(each, "view_of", None)
        if view is not None:
            found.append((place, places[view[0]], view[1]))
    return found


def _places(operands: Sequence[Tensor]) -> dict[Any, int]:
    """Where each operand is, by tensor, by unique id, and by name if no other has it."""
    places: dict[Any, int] = {}
    names = [each.name for each in operands]
    for place, each in enumerate(operands):
        places[each] = places[each.uid or 0] = place
        if names.count(each.name) == 1:
            places[each.name] = place
    return places


def _check_key(key: Any, operands: Sequence[Tensor]) -> None:
    if isinstance(key, str) and any(each.name == key for each in operands):
        raise InvalidGraphError(f"several tensors are called {key!r}: give them by uid")
    if not (key is None or isinstance(key, (Tensor, int, str))):
        raise TypeError(
            f"keys of a variant pack are tensors, uids or names, got {key!r} ({type(key).__name__})"
        )


def _tells_less(value: Any, span: int) -> bool:
    held = getattr(value, "nbytes", None)
    return isinstance(held, int) and held < span


def _with_shape(operand: Tensor, shapes: Mapping[int, Shape]) -> Tensor:
    if operand.uid is None or operand.uid not in shapes:
        return operand
    dims, strides = shapes[operand.uid]
    return replace(operand, dims=tuple(dims), strides=tuple(strides))


def _address(value: Any, name: Any) -> int | None:
    # The common cases first: the rest of memory_pointer takes longer than all else here.
    if type(value) is int:
        return value
    if getattr(value, "is_cuda", False) and not mode.reference_device_active:
        address: int = value.data_ptr()
        return address
    return memory_pointer(value, str(name))


def _number(value: Any, operand: Tensor) -> bytes:
    """The bytes of a number: from it, from an array of one element, or from an address of one."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= _LOWEST_ADDRESS:
        return ctypes.string_at(value, memory_bytes(operand))
    item = getattr(value, "item", None)  # NumPy and PyTorch
    return bytes(host_value(item() if callable(item) else value, operand))


def _read(value: bytes, operand: Tensor) -> Any:
    """The C variable that has these bytes."""
    ctype = type(host_value(0, operand))
    return ctype.from_buffer_copy(value)
