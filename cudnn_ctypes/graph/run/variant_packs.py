"""Executions at the cost of the C calls: variant packs that are used again, and bare C functions.

A finalized variant pack refuses other pointers, so other addresses want another pack. Five calls of
``raw`` make one, which is as long as the execution itself takes. Here packs are kept by their
addresses, and the one not used for longest is initialized again for new addresses, which spares
creating and destroying it; the C functions are called bare, with arguments made in this file.

Threads share a plan: each takes a pack out while it uses it, so no two ever have the same.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ... import raw
from ...raw import cudnnBackendDescriptor_t, cudnnHandle_t
from ...raw.bare import bare
from ...raw.function import binding
from ...raw.log import forget, logged, set_aside

if TYPE_CHECKING:
    from ...handle import Handle
    from ..backend.descriptor import BackendDescriptor

from ...resource import Uncopied

__all__ = ["Addresses", "Pack", "VariantPacks"]

Addresses = tuple[int, ...]
"""Addresses of the operands, then the workspace's or 0."""

_KEPT = 64  # sets of addresses whose variant pack is kept

# As ctypes passes them on fastest: ints that C takes as int, and int64_t.
_KIND = raw.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR
_UIDS = int(raw.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS)
_POINTERS = int(raw.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
_WORKSPACE = int(raw.CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
_INT64, _VOID_PTR = int(raw.CUDNN_TYPE_INT64), int(raw.CUDNN_TYPE_VOID_PTR)
_ONE = ctypes.c_int64(1)
_SIZE = ctypes.sizeof(ctypes.c_void_p)


class VariantPacks(Uncopied):
    """The finalized variant packs of one plan, for memory of the same tensors.

    Parameters
    ----------
    uids : sequence of int
        The tensors' unique ids, in the order in which their addresses will come.
    """

    def __init__(self, uids: Sequence[int]) -> None:
        self._uids = struct.pack(f"{len(uids)}q", *uids)
        self._count = ctypes.c_int64(len(uids))
        # A variant pack belongs to no GPU: what may stand before these functions is not for it.
        self._initialize = bare.cudnnBackendInitialize
        self._set_attribute = bare.cudnnBackendSetAttribute
        self._finalize = bare.cudnnBackendFinalize
        self._as_bytes = struct.Struct(f"{len(uids) + 1}Q").pack
        self.kept: dict[Addresses, Pack] = {}
        """Packs that no execution uses now, by their addresses; the oldest first."""

    def __len__(self) -> int:
        return len(self.kept)

    def execute(
        self,
        handle: Handle,
        plan: BackendDescriptor,
        key: Addresses,
        numbers: object = False,
    ) -> None:
        """Run the plan with the addresses of `key`.

        With true `numbers` a pack that has these addresses is filled all the same: at one of them
        is a number on the host, which may have been another one.

        Raises
        ------
        ValueError
            If one is no address of 64 bits.
        """
        kept = self.kept
        pack = kept.pop(key, None)
        if pack is None or numbers:
            pack = self.filled(key, pack)
        pointer = getattr(handle, "_as_parameter_", handle)
        if pointer.__class__ is not cudnnHandle_t or not pointer:
            raw.cudnnBackendExecute(pointer, plan, pack.descriptor)  # refuses it
        if logged:
            forget()
        code = bare.cudnnBackendExecute(pointer, plan._as_parameter_, pack.argument)
        if code:
            raise binding("cudnnBackendExecute").error(code, (handle, plan, pack.descriptor))
        kept[key] = pack

    def filled(self, key: Addresses, pack: Pack | None = None) -> Pack:
        """`pack`, or the one not used for longest, with the addresses of `key`; not among `kept`.

        Raises
        ------
        ValueError
            If one is no address of 64 bits.
        """
        try:
            data = self._as_bytes(*key)
        except struct.error:
            raise ValueError(f"expected addresses of 64 bits, got {key}") from None
        if pack is None:
            pack = self._new() if len(self.kept) < _KEPT else self._oldest()
        space = data[-_SIZE:] if key[-1] else None
        argument, set_attribute = pack.argument, self._set_attribute
        if (
            self._initialize(*pack.alone)
            or set_attribute(*pack.with_uids)
            or set_attribute(argument, _POINTERS, _VOID_PTR, self._count, data)
            or (space and set_attribute(argument, _WORKSPACE, _VOID_PTR, _ONE, space))
            or self._finalize(*pack.alone)
        ):
            self._fill(pack.descriptor, data, space)
        return pack

    def _oldest(self) -> Pack:
        """The pack that was not used for longest, to be filled anew."""
        try:
            return self.kept.pop(next(iter(self.kept)))
        except (KeyError, RuntimeError, StopIteration):  # another thread was faster
            return self._new()

    def _new(self) -> Pack:
        return Pack(_UIDS, _INT64, self._count, self._uids)

    def _fill(self, pack: Any, data: bytes, space: bytes | None) -> None:
        """Fill a pack by checked calls, whose errors say what is refused, and why."""
        set_attribute: Any = raw.cudnnBackendSetAttribute
        raw.cudnnBackendInitialize(pack)
        set_attribute(pack, _UIDS, _INT64, self._count, self._uids)
        set_attribute(pack, _POINTERS, _VOID_PTR, self._count, data)
        if space:
            set_attribute(pack, _WORKSPACE, _VOID_PTR, _ONE, space)
        raw.cudnnBackendFinalize(pack)

    def close(self) -> None:
        self.kept.clear()


class Pack:
    """A VARIANT_PACK without the typed descriptor; destroyed with the last reference to it."""

    # Whole tuples of arguments spare ctypes making one at each call.
    __slots__ = ("alone", "argument", "descriptor", "with_uids")

    def __init__(self, *uids: Any) -> None:
        """`uids` are the arguments that set them."""
        self.descriptor: cudnnBackendDescriptor_t = cudnnBackendDescriptor_t()
        raw.cudnnBackendCreateDescriptor(_KIND, self.descriptor)
        self.argument: Any = ctypes.c_void_p.from_param(self.descriptor.value)
        self.alone: tuple[Any, ...] = (self.argument,)
        self.with_uids: tuple[Any, ...] = (self.argument, *uids)

    def __del__(
        self, destroy: Any = raw.cudnnBackendDestroyDescriptor.unchecked, aside: Any = set_aside
    ) -> None:
        if getattr(self, "descriptor", None):
            with aside():
                destroy(self.descriptor)
