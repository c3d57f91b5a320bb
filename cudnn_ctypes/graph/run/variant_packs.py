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
from ...raw.log import forget, logged

if TYPE_CHECKING:
    from ...handle import Handle
    from ..backend.descriptor import BackendDescriptor

from ...resource import Uncopied

__all__ = ["VariantPacks"]

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
        self.key = struct.Struct(f"{len(uids) + 1}Q").pack
        """The addresses, then that of the workspace or 0, as the bytes that cuDNN reads.

        Raises ``struct.error`` for what is no address of 64 bits.
        """
        self._kept: dict[bytes, _Pack] = {}  # the one not used for longest first

    def __len__(self) -> int:
        return len(self._kept)

    def execute(
        self,
        handle: Handle,
        plan: BackendDescriptor,
        key: bytes,
        workspace: int | None,
        numbers: object = False,
    ) -> None:
        """Run the plan with the addresses of `key`, which end with that of `workspace`.

        With true `numbers` a pack that has these addresses is filled all the same: at one of them
        is a number on the host, which may have been another one.
        """
        kept = self._kept
        pack = kept.pop(key, None)
        if pack is None or numbers:
            if pack is None:
                pack = _Pack() if len(kept) < _KEPT else self._oldest()
            if self._fill(bare, pack.argument, key, workspace):
                self._fill(raw, pack.descriptor, key, workspace)  # says what was refused, and why
        pointer = getattr(handle, "_as_parameter_", handle)
        if pointer.__class__ is not cudnnHandle_t or not pointer:
            raw.cudnnBackendExecute(pointer, plan, pack.descriptor)  # refuses it
        if logged:
            forget()
        code = bare.cudnnBackendExecute(pointer, plan._as_parameter_, pack.argument)
        if code:
            raise binding("cudnnBackendExecute").error(code, (handle, plan, pack.descriptor))
        kept[key] = pack

    def _oldest(self) -> _Pack:
        """The one not used for longest, to be filled anew."""
        try:
            return self._kept.pop(next(iter(self._kept)))
        except (KeyError, RuntimeError, StopIteration):  # another thread was faster
            return _Pack()

    def _fill(self, functions: Any, pack: Any, key: bytes, workspace: int | None) -> Any:
        """The first status that is no success, if there is one."""
        set_attribute, count = functions.cudnnBackendSetAttribute, self._count
        return (
            functions.cudnnBackendInitialize(pack)
            or set_attribute(pack, _UIDS, _INT64, count, self._uids)
            or set_attribute(pack, _POINTERS, _VOID_PTR, count, key)
            or (workspace and set_attribute(pack, _WORKSPACE, _VOID_PTR, _ONE, key[-_SIZE:]))
            or functions.cudnnBackendFinalize(pack)
        )

    def close(self) -> None:
        self._kept.clear()


class _Pack:
    """A VARIANT_PACK without the typed descriptor; destroyed with the last reference to it."""

    __slots__ = ("argument", "descriptor")

    def __init__(self) -> None:
        self.descriptor = cudnnBackendDescriptor_t()
        raw.cudnnBackendCreateDescriptor(_KIND, self.descriptor)
        self.argument = ctypes.c_void_p.from_param(self.descriptor.value)

    def __del__(self, destroy: Any = raw.cudnnBackendDestroyDescriptor.unchecked) -> None:
        if getattr(self, "descriptor", None):
            destroy(self.descriptor)
