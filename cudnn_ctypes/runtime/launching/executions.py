"""Executions of a plan of the graph API like those before: a generated function, and the C call.

The first execution of a kind goes the long way, which says what is wrong with the operands. What it
takes after that is written out as source: the operands by their places, each read by what its class
needs, no loops. Whatever is not as it was goes the long way again.

A finalized variant pack refuses other pointers, so other addresses want another pack. Five calls of
``raw`` make one, which is as long as the execution itself takes. Here packs are kept by their
addresses, and once there are many, they are initialized again for new addresses, which spares
creating and destroying them; the C functions are called bare, with arguments made in this file.
Threads share a plan: each takes a pack out while it uses it, so no two ever have the same.
"""

from __future__ import annotations

import ctypes
import struct
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from cudnn_ctypes import raw
from cudnn_ctypes.raw import cudnnBackendDescriptor_t, cudnnHandle_t
from cudnn_ctypes.raw.bare import bare
from cudnn_ctypes.raw.call_source import function_of
from cudnn_ctypes.raw.function import binding, watched
from cudnn_ctypes.raw.gpus import ordinals
from cudnn_ctypes.raw.log import forget, logged, set_aside
from cudnn_ctypes.raw.memory import memory_pointer
from cudnn_ctypes.raw.torch_forms import alike
from cudnn_ctypes.raw.typed_memory import by_class
from cudnn_ctypes.resource import Uncopied

from .likeness import kinds

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

    def execute(self, handle: Any, plan: Any, key: Addresses, numbers: object = False) -> None:
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
            alone, (with_uids, with_pointers, with_workspace) = pack.alone, pack.attributes
            if (
                initialize(*alone)
                or set_attribute(*with_uids)
                or set_attribute(*with_pointers)
                or (key[-1] and set_attribute(*with_workspace))
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
    - `alone`, `attributes`: arguments of the C functions; of attributes those for unique ids,
      pointers and the workspace. Whole tuples spare ctypes making one at each call.
    """

    def __init__(self, uids: Sequence[int]) -> None:
        self.descriptor: cudnnBackendDescriptor_t = cudnnBackendDescriptor_t()
        raw.cudnnBackendCreateDescriptor(_KIND, self.descriptor)
        self.argument: Any = ctypes.c_void_p.from_param(self.descriptor.value)
        self.key: Addresses = ()
        size = len(uids)
        self.addresses: Any = (ctypes.c_uint64 * (size + 1))()
        ids, space = (ctypes.c_int64 * size)(*uids), ctypes.byref(self.addresses, size * _SIZE)
        self._attributes: list[tuple[Any, ...]] = [
            (_UIDS, _INT64, size, ctypes.byref(ids)),
            (_POINTERS, _VOID_PTR, size, ctypes.byref(self.addresses)),
            (_WORKSPACE, _VOID_PTR, 1, space),
        ]
        self.alone: tuple[Any, ...] = (self.argument,)
        self.attributes: list[tuple[Any, ...]] = [
            (self.argument, name, kind, ctypes.c_int64.from_param(count), values)
            for name, kind, count, values in self._attributes
        ]

    def fill(self) -> None:
        """Fill it with `addresses`, by calls that say what is refused, and why."""
        set_attribute: Any = raw.cudnnBackendSetAttribute
        raw.cudnnBackendInitialize(self.descriptor)
        for attribute in self._attributes if self.addresses[-1] else self._attributes[:2]:
            set_attribute(self.descriptor, *attribute)
        raw.cudnnBackendFinalize(self.descriptor)

    def __del__(
        self, destroy: Any = raw.cudnnBackendDestroyDescriptor.unchecked, aside: Any = set_aside
    ) -> None:
        if getattr(self, "descriptor", None):
            with aside():
                destroy(self.descriptor)


_MOST = 16

_EXECUTE = """\
def execute(handle, memory, workspace):
    {known}
    if watched or ordinals:
        return False
    try:
        {reads}
        to_handle, to_plan = handle._as_parameter_, plan["_as_parameter_"]
        if to_handle.__class__ is not handle_t or not to_handle or len(memory) != {count}{others}:
            return False
    except Exception:  # the long way says what is wrong
        return False
    key = ({key})
    try:
        pack = last.pop()
    except IndexError:
        pack = exchanged(key)
    else:
        if pack.key != key:
            pack = exchanged(key, pack)
    if logged:
        forget()
    code = native(to_handle, to_plan, pack.argument)
    if code:
        settle(code, (handle, descriptor, pack.descriptor))
    last.append(pack)
    return True
"""

# Tensors of PyTorch are compared only if they are not the objects of the last time, where those
# were: PyTorch gives addresses again, to tensors of other shapes too.
_READINGS = {
    "torch": """\
v{0} = {1}
        a{0} = data_ptr{0}(v{0})
        if known{0}[0]() is not v{0} or known{0}[1] != a{0}:
            if v{0}.is_nested or not like{0}(v{0}) or not a{0}: return False
            known{0} = weak(v{0}), a{0}""",
    "own": """\
v{0} = {1}
        k{0} = v{0}._keyed or v{0}.keyed()
        if k{0}[0] != like{0}: return False
        a{0} = k{0}[1].value""",
    "address": """\
a{0} = {1}
        if a{0}.__class__ is not int or not 0 < a{0} < highest: return False""",
}
_OTHER = """\
v{0} = {1}
        if v{0}.__class__ is not class{0} or form(v{0}) != like{0}: return False
        a{0} = address(v{0})
        if not 0 < a{0} < highest: return False"""
_HIGHEST_ADDRESS = 1 << 62  # so far that of a part of this memory has 64 bits, too

Execute = Callable[[Any, dict[Any, Any], Any], bool]
"""Takes the handle, the mapping and the workspace; False: nothing was executed."""


class Operand(NamedTuple):
    """One of the addresses of an execution.

    - `base`, `offset`: the place of the operand of which this one is a part, and the bytes before
      it.
    - `number`: the address of a number that is fixed in the graph.
    - `tensor`, `value`: whose number it is, as long as its value is this one.
    """

    base: int | None = None
    offset: int = 0
    number: int | None = None
    tensor: Any = None
    value: Any = None


class Executions:
    """Executions of one plan, known by the classes and forms of their memory.

    - `execute`: of the last kind of execution; call this one first.
    """

    def __init__(self, plan: Any) -> None:
        self._plan = plan
        self._known: list[Execute] = []
        self.execute: Execute = _nothing

    def tried(self, handle: Any, memory: dict[Any, Any], workspace: Any) -> bool:
        """Execute as one of the kinds that `execute` is not for, if one fits."""
        for each in self._known[1:]:
            if each(handle, memory, workspace):
                self._put_first(each)
                return True
        return False

    def _put_first(self, execute: Execute) -> None:
        self._known = [execute, *(each for each in self._known if each is not execute)][:_MOST]
        self.execute = execute

    def clear(self) -> None:
        self._known, self.execute = [], _nothing

    def learn(
        self,
        memory: Mapping[Any, Any],
        workspace: Any,
        packs: VariantPacks,
        operands: Sequence[Operand],
        places: Sequence[int],
    ) -> None:
        """Know executions like the one that was just made.

        - `memory`: what was given.
        - `workspace`: None: none is needed.
        - `operands`: by place.
        - `places`: of what was given, in the order of the keys.
        """
        scope = {
            "watched": watched,
            "ordinals": ordinals,
            "descriptor": self._plan,
            "plan": vars(self._plan),
            "handle_t": cudnnHandle_t,
            "last": packs.last,
            "exchanged": packs.exchanged,
            "logged": logged,
            "forget": forget,
            "native": bare.cudnnBackendExecute,
            "settle": binding("cudnnBackendExecute").settle,
            "address": memory_pointer,
            "form": _form,
            "weak": weakref.ref,
            "highest": _HIGHEST_ADDRESS,
        }
        known: list[str] = []
        reads, others = [], []
        for place, (key, value) in zip(places, memory.items(), strict=True):
            scope[f"key{place}"] = key
            reads.append(_read(place, value, f"memory[key{place}]", scope, known))
        space = len(operands)
        if workspace is not None:
            reads.append(_read(space, workspace, "workspace", scope, known))
        addresses = []
        for place, operand in enumerate(operands):
            found = f"a{place}"
            if operand.number is not None:
                found = str(operand.number)
                scope |= {f"tensor{place}": operand.tensor, f"value{place}": operand.value}
                others.append(f" or tensor{place}.value is not value{place}")
            elif operand.base is not None:
                found = f"a{operand.base} + {operand.offset}"
            addresses.append(found)
        source = _EXECUTE.format(
            known=f"global {', '.join(known)}" if known else "pass",
            reads="\n        ".join(reads) or "pass",
            count=len(memory),
            others="".join(others),
            key=", ".join([*addresses, f"a{space}" if workspace is not None else "0"]),
        )
        self._put_first(function_of(source, "a plan", scope))


def _read(place: int, value: Any, expression: str, scope: dict[str, Any], known: list[str]) -> str:
    """Statements that read memory like `value`; adds the names that they need to `scope`."""
    kind = "address" if type(value) is int else kinds[type(value)]
    scope[f"class{place}"] = type(value)
    if kind == "torch":
        known.append(f"known{place}")
        scope[f"known{place}"] = weakref.ref(value), value.data_ptr()
        scope[f"data_ptr{place}"], scope[f"like{place}"] = type(value).data_ptr, alike([value])
    elif kind == "own":
        scope[f"like{place}"] = value.keyed()[0]
    elif kind != "address":
        scope[f"like{place}"] = _form(value)
    return _READINGS.get(kind, _OTHER).format(place, expression)


def _form(value: Any) -> Any:
    """Equal for objects of a class whose memory is of one type, shape and size."""
    return by_class.of(value).identity(value), getattr(value, "nbytes", None)


def _nothing(handle: Any, memory: dict[Any, Any], workspace: Any) -> bool:
    return False
