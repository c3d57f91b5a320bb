"""``python -m tools.fuzz.attributes``: every backend attribute with every kind of descriptor.

Systematically: descriptors of all kinds in all states; all attributes, their own and those of
other kinds; all types of value, right and wrong; counts that are negative, right, too large and
huge; arrays that are missing, and values that are extreme; descriptors of a wrong kind or state as
values; finalizing what is incomplete; executing what is no plan. Prints every case that ended its
process, wrote beyond its array, did not end or ate the memory, and how many cases had which result.

``--bare`` goes past the guards, to the library itself; ``--objects`` asks `BackendDescriptor`.
``--sample 5000`` takes that many of the cases, by chance but always the same. Needs no GPU; with
one, calls that take a handle get a real one.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import struct
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from cudnn_ctypes import raw
from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver
from cudnn_ctypes.errors import CudnnError, SymbolNotFoundError
from cudnn_ctypes.graph.backend.children import Spent, outcomes
from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor
from cudnn_ctypes.raw import cudnnBackendAttributeType_t as Type
from cudnn_ctypes.raw.attributes import Attribute, element_type, kind_name
from cudnn_ctypes.raw.function import binding

from . import objects
from .attribute_cases import ROOM, TEXTS, Case, attributes_of, cases
from .descriptors import CREATABLE, Workshop

_CANARY = b"\xa5" * 64
_DESCRIPTOR = Type.CUDNN_TYPE_BACKEND_DESCRIPTOR


class Calls:
    """Carries cases out through `raw`, or with `bare` in the library itself."""

    def __init__(self, *, bare: bool) -> None:
        self.bare = bare
        self.shop = Workshop()
        self.handle = raw.cudnnHandle_t()
        raw.cudnnCreate.unchecked(self.handle)
        self.by_code: dict[int, tuple[str, Attribute]] = {
            int(known.name): (kind, known) for kind in CREATABLE for known in attributes_of(kind)
        }
        self.kept: list[Any] = []  # what must live until the case is over

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not name.startswith("cudnn"):
            raise AttributeError(name)
        known = binding(name)
        function: Callable[..., Any] = known.native if self.bare else known.checked.unchecked
        setattr(self, name, function)
        return function

    def perform(self, case: Case) -> str:
        self.kept = []
        method = getattr(self, case.call) if not case.call.startswith("cudnn") else self.execution
        try:
            status = method(case)
        except CudnnError as error:  # of a call that prepares
            return error.status.name
        except (SymbolNotFoundError, TypeError, ValueError, ctypes.ArgumentError) as error:
            return type(error).__name__
        return status if isinstance(status, str) else raw.cudnnStatus_t(status).name

    # --- operands ---

    def descriptor(self, kind: str, state: str, *, shared: bool = True) -> Any:
        """A handle. A finalized one may be `shared` with other cases."""
        if state == "null":
            return raw.cudnnBackendDescriptor_t()
        if state == "final" and kind == "layout_info":  # no engine here tells of any
            kind = "knob_info"
        if state == "final" and (shared or kind == "knob_info"):
            return self.shop.final(kind)._as_parameter_
        made = self.shop.make(kind, "new" if state == "destroyed" else state)
        self.kept.append(made)
        return _closed_alias(made) if state == "destroyed" else made._as_parameter_

    def array(self, case: Case) -> Any:
        """The elements, with canaries behind them."""
        if case.memory == "null":
            return None
        size = ctypes.sizeof(element_type(Type(case.type))) * ROOM
        value = (b"\xff" if case.memory == "ones" else b"\0") * size
        if case.memory == "usual":
            value = self.usual(case)
        elif case.memory == "big":
            value = _big(Type(case.type)) * ROOM
        elif case.memory.startswith("code "):
            value = int(case.memory[5:]).to_bytes(4, "little", signed=True) * ROOM
        elif case.memory.startswith("text "):
            value = TEXTS[int(case.memory[5:])]
        elif " " in case.memory:
            state, kind = case.memory.split()
            value = bytes(self.descriptor(kind, state)) * ROOM
        self.block = ctypes.create_string_buffer(value.ljust(size, b"\0")[:size] + _CANARY)
        return (ctypes.c_char * size).from_buffer(self.block)

    def usual(self, case: Case) -> bytes:
        """A value that fits the attribute, repeated where it is a single one."""
        if case.attribute not in self.by_code:
            return b"\1" * 8
        kind, known = self.by_code[case.attribute]
        if case.call.startswith("get") and case.type == _DESCRIPTOR:
            made = [BackendDescriptor(min(known.wants)) for _ in range(ROOM)]
            self.kept += made
            return b"".join(each._as_parameter_.value.to_bytes(8, "little") for each in made)
        value = self.shop.settings(kind).get(known.short_name)
        value = self.shop.usual(known) if value is None else value
        encoded = BackendDescriptor._encoded(known, value)
        self.kept.append(encoded)
        return bytes(encoded.array) * (1 if known.is_array else ROOM)

    # --- what cases are called by ---

    def create(self, case: Case) -> Any:
        return self.cudnnBackendCreateDescriptor(case.attribute, raw.cudnnBackendDescriptor_t())

    def set(self, case: Case) -> Any:
        return self._set(self.descriptor(case.kind, case.state), case)

    def set_finalize(self, case: Case) -> Any:
        descriptor = self.descriptor(case.kind, case.state)
        return self._set(descriptor, case) or self.cudnnBackendFinalize(descriptor)

    def _set(self, descriptor: Any, case: Case) -> Any:
        array = self.array(case)
        return self.cudnnBackendSetAttribute(
            descriptor, case.attribute, case.type, case.count, array
        )

    def get(self, case: Case) -> Any:
        return self._get(case, ctypes.c_int64(-7))

    def get_uncounted(self, case: Case) -> Any:
        return self._get(case, None)

    def _get(self, case: Case, count: Any) -> Any:
        descriptor, array = self.descriptor(case.kind, case.state), self.array(case)
        status = self.cudnnBackendGetAttribute(
            descriptor, case.attribute, case.type, case.count, count, array
        )
        if array is not None and not self.block.raw.endswith(_CANARY + b"\0"):
            raise Spent("overrun")
        return status

    def finalize(self, case: Case) -> Any:
        return self.cudnnBackendFinalize(self.descriptor(case.kind, case.state, shared=False))

    def finalize_twice(self, case: Case) -> Any:
        descriptor = self.descriptor(case.kind, case.state, shared=False)
        self.cudnnBackendFinalize(descriptor)
        return self.cudnnBackendFinalize(descriptor)

    def initialize(self, case: Case) -> Any:
        descriptor = self.descriptor(case.kind, case.state, shared=False)
        status = self.cudnnBackendInitialize(descriptor)
        self.cudnnBackendFinalize(descriptor)
        return status

    def destroy_twice(self, case: Case) -> Any:
        descriptor = self.descriptor(case.kind, case.state, shared=False)
        for made in self.kept:
            made._finalizer.detach()
        alias = type(descriptor).from_buffer_copy(descriptor)
        self.cudnnBackendDestroyDescriptor(descriptor)
        return self.cudnnBackendDestroyDescriptor(alias)

    def finalize_with_only(self, case: Case) -> Any:
        return self._finalize_some(case, lambda name, only: name == only)

    def finalize_without(self, case: Case) -> Any:
        return self._finalize_some(case, lambda name, missing: name != missing)

    def _finalize_some(self, case: Case, chosen: Callable[[str, str], bool]) -> Any:
        _, named = self.by_code[case.attribute]
        settings = dict(self.shop.settings(case.kind))
        if named.settable:
            settings.setdefault(named.short_name, self.shop.usual(named))
        made = BackendDescriptor(case.kind)
        self.kept.append(made)
        for name, value in settings.items():
            if chosen(name, named.short_name):
                made.set(name, value)
        return self.cudnnBackendFinalize(made._as_parameter_)

    def finalize_orphan(self, case: Case) -> Any:
        """Finalize after the descriptor that an attribute holds was destroyed."""
        _, named = self.by_code[case.attribute]
        made = self.shop.make(case.kind, "complete")
        (wanted,) = [kind_name(kind) for kind in named.wants][:1]
        child = self.shop.make(wanted, "final")
        made.set(named.short_name, [child] if named.is_array else child)
        self.kept.append(made)
        _closed_alias(child)
        return self.cudnnBackendFinalize(made._as_parameter_)

    def execution(self, case: Case) -> Any:
        plan = self.descriptor(case.kind, case.state)
        state, _, kind = case.memory.partition(" ")
        pack = self.descriptor(kind or "variant_pack", state)
        more = {
            "cudnnBackendExecute": [],
            "cudnnGetExecutionPlanWorkspaceSize": [ctypes.c_size_t()],
        }.get(case.call, [raw.cudaGraph_t()])
        return getattr(self, case.call)(self.handle, plan, pack, *more)


def _big(type_: Type) -> bytes:
    """A number near the largest of its type."""
    if type_ in (Type.CUDNN_TYPE_FLOAT, Type.CUDNN_TYPE_DOUBLE):
        return struct.pack("f" if type_ == Type.CUDNN_TYPE_FLOAT else "d", float("inf"))
    size = ctypes.sizeof(element_type(type_))
    return (1 << (8 * size - 2)).to_bytes(size, "little")


def _closed_alias(made: BackendDescriptor) -> Any:
    """Another variable with the address, as an array of handles would have it."""
    alias = raw.cudnnBackendDescriptor_t.from_buffer_copy(made._as_parameter_)
    made.close()
    return alias


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz.attributes", description=__doc__)
    parser.add_argument("--bare", action="store_true", help="call the library itself")
    parser.add_argument("--objects", action="store_true", help="call `BackendDescriptor`")
    parser.add_argument("--sample", type=int, default=0, help="take so many cases")
    parser.add_argument("--only", default="", help="take cases whose text contains this")
    parser.add_argument("--seconds", type=float, default=60, help="after which a case hangs")
    options = parser.parse_args(arguments)
    if "MALLOC_PERTURB_" not in os.environ:  # freed memory is overwritten: its use shows
        os.environ["MALLOC_PERTURB_"] = "165"
        given = sys.argv[1:] if arguments is None else arguments
        os.execv(sys.executable, [sys.executable, "-m", "tools.fuzz.attributes", *given])
    warnings.simplefilter("ignore", ResourceWarning)
    ensure_driver()
    raw.cudnnSetCallback(0, None, None)
    everything = objects.cases() if options.objects else cases()
    todo: list[Any] = [case for case in everything if not options.only or options.only in str(case)]
    if 0 < options.sample < len(todo):
        todo = random.Random(9).sample(todo, options.sample)

    def prepare(note: Callable[[str], None]) -> Callable[[Any], str]:
        return objects.Uses().perform if options.objects else Calls(bare=options.bare).perform

    results: dict[str, Counter[str]] = defaultdict(Counter)
    bad = 0
    for outcome in outcomes(todo, prepare, seconds=options.seconds, megabytes=256):
        results[outcome.case.call][outcome.result] += 1
        if outcome.died or outcome.result == "overrun":
            bad += 1
            last = outcome.printed.strip().splitlines()[-1:]
            print(f"{outcome.result}: {outcome.case}", *last, sep="  | ", flush=True)
    print(f"{len(todo)} cases of cuDNN {raw.load().version_text}, {bad} bad")
    for call, counts in results.items():
        print(f"  {call}: " + ", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if bad and not options.bare else 0


if __name__ == "__main__":
    sys.exit(main())
