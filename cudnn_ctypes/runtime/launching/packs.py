"""Executions at the cost of the C calls: variant packs that are used again, and bare C functions.

A finalized variant pack refuses other pointers, so other addresses want another pack. Five calls of
``raw`` make one, which is as long as the execution itself takes. Here packs are kept by their
addresses, and once there are many, they are initialized again for new addresses, which spares
creating and destroying them; the C functions are called bare, with arguments made in this file.

Threads share a plan: each takes a pack out while it uses it, so no two ever have the same.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from cudnn_ctypes import raw
from cudnn_ctypes.raw import cudnnBackendDescriptor_t, cudnnHandle_t
from cudnn_ctypes.raw.bare import bare
from cudnn_ctypes.raw.function import binding
from cudnn_ctypes.raw.log import forget, logged, set_aside
from cudnn_ctypes.resource import Uncopied

Addresses = tuple[int, ...]
"""Addresses of the operands, then the workspace's or 0."""

_KEPT = 64  # sets of addresses whose variant packs are kept; then all are free for others

# As ctypes passes them on fastest: ints that C takes as int, and int64_t.
_KIND = raw.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR
_UIDS = int(raw.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS)
_POINTERS = int(raw.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
_WORKSPACE = int(raw.CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
_INT64, _VOID_PTR = int(raw.CUDNN_TYPE_INT64), int(raw.CUDNN_TYPE_VOID_PTR)
_SIZE = ctypes.sizeof(ctypes.c_void_p)


class VariantPacks(Uncopied):
    """The finalized variant packs of one plan, for memory of the same tensors.

    - `uids`: the tensors' unique ids, in the order in which their addresses will come.

    - `last`: the pack of the latest execution. It is empty while a thread uses that pack, and has
      several after executions at the same time.
    """

    def __init__(self, uids: Sequence[int]) -> None:
        self._check = struct.Struct(f"{len(uids) + 1}Q").pack
        self.last: list[Pack] = []
        self._kept: dict[Addresses, Pack] = {}
        self._free: list[Pack] = []  # to be filled with other addresses
        self.exchanged: Callable[..., Pack] = _exchanging(uids, self._kept, self._free)
        """Gives the pack for other addresses; a pack that is its second argument is kept."""

    def __len__(self) -> int:
        return len(self.last) + len(self._kept) + len(self._free)

    def execute(
        self,
        handle: Any,
        plan: Any,
        key: Addresses,
        numbers: object = False,
    ) -> None:
        """Run the plan with the addresses of `key`.

        With true `numbers` a pack that has these addresses is filled all the same: at one of them
        is a number on the host, which may have been another one.

        Raises ValueError if one is no address of 64 bits.
        """
        try:
            self._check(*key)
        except struct.error:
            raise ValueError(f"expected addresses of 64 bits, got {key}") from None
        pack = self.taken(key)
        if numbers:
            self._free.append(pack)
            pack = self.exchanged(key)
        pointer = getattr(handle, "_as_parameter_", handle)
        if pointer.__class__ is not cudnnHandle_t or not pointer:
            raw.cudnnBackendExecute(pointer, plan, pack.descriptor)  # refuses it
        if logged:
            forget()
        code = bare.cudnnBackendExecute(pointer, plan._as_parameter_, pack.argument)
        if code:
            binding("cudnnBackendExecute").settle(code, (handle, plan, pack.descriptor))
        self.last.append(pack)

    def taken(self, key: Addresses) -> Pack:
        """The pack for addresses of 64 bits; no other thread gets it until `last` has it."""
        try:
            pack = self.last.pop()
        except IndexError:
            return self.exchanged(key)
        return pack if pack.key == key else self.exchanged(key, pack)

    def close(self) -> None:
        for packs in (self.last, self._kept, self._free):
            packs.clear()


def _exchanging(
    uids: Sequence[int], kept: dict[Addresses, Pack], free: list[Pack]
) -> Callable[..., Pack]:
    # A variant pack belongs to no GPU: what may stand before these functions is not for it.
    initialize, finalize = bare.cudnnBackendInitialize, bare.cudnnBackendFinalize
    set_attribute = bare.cudnnBackendSetAttribute

    def exchanged(key: Addresses, pack: Pack | None = None) -> Pack:
        if pack is not None:
            kept[pack.key] = pack
        pack = kept.pop(key, None)
        if pack is None:
            try:
                pack = free.pop()
            except IndexError:
                pack = unused()
            pack.addresses[:] = key
            alone = pack.alone
            if (
                initialize(*alone)
                or set_attribute(*pack.with_uids)
                or set_attribute(*pack.with_pointers)
                or (key[-1] and set_attribute(*pack.with_workspace))
                or finalize(*alone)
            ):
                pack.fill()
        pack.key = key
        return pack

    def unused() -> Pack:
        if len(kept) >= _KEPT:
            with suppress(KeyError):
                while True:
                    free.append(kept.popitem()[1])
        try:
            return free.pop()
        except IndexError:
            return Pack(uids)

    return exchanged


class Pack:
    """A VARIANT_PACK without the typed descriptor; destroyed with the last reference to it.

    - `key`: the addresses that cuDNN has.
    - `addresses`: memory from which cuDNN copies them when the pack is filled.
    - `alone`, `with_uids`, `with_pointers`, `with_workspace`: arguments of the C functions. Whole
      tuples spare ctypes making one at each call.
    """

    def __init__(self, uids: Sequence[int]) -> None:
        self.descriptor: cudnnBackendDescriptor_t = cudnnBackendDescriptor_t()
        raw.cudnnBackendCreateDescriptor(_KIND, self.descriptor)
        self.argument: Any = ctypes.c_void_p.from_param(self.descriptor.value)
        self.key: Addresses = ()
        size = len(uids)
        self.addresses: Any = (ctypes.c_uint64 * (size + 1))()
        ids, space = (ctypes.c_int64 * size)(*uids), ctypes.byref(self.addresses, size * _SIZE)
        count, one = ctypes.c_int64.from_param(size), ctypes.c_int64.from_param(1)
        self.alone: tuple[Any, ...] = (self.argument,)
        self.with_uids: tuple[Any, ...] = (self.argument, _UIDS, _INT64, count, ctypes.byref(ids))
        places = ctypes.byref(self.addresses)
        self.with_pointers: tuple[Any, ...] = (self.argument, _POINTERS, _VOID_PTR, count, places)
        self.with_workspace: tuple[Any, ...] = (self.argument, _WORKSPACE, _VOID_PTR, one, space)

    def fill(self) -> None:
        """Fill it with `addresses`, by calls that say what is refused, and why."""
        set_attribute: Any = raw.cudnnBackendSetAttribute
        size = len(self.addresses) - 1
        raw.cudnnBackendInitialize(self.descriptor)
        for _, name, kind, _, values in (self.with_uids, self.with_pointers):
            set_attribute(self.descriptor, name, kind, size, values)
        if self.addresses[-1]:
            set_attribute(self.descriptor, *self.with_workspace[1:3], 1, self.with_workspace[4])
        raw.cudnnBackendFinalize(self.descriptor)

    def __del__(
        self, destroy: Any = raw.cudnnBackendDestroyDescriptor.unchecked, aside: Any = set_aside
    ) -> None:
        if getattr(self, "descriptor", None):
            with aside():
                destroy(self.descriptor)
