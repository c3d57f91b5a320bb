"""A listener that records a program's calls, with their input and output data.

A recording belongs to no language; `python_program` and `c_program` write it as source.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...dtypes import data_type_name, storage_bytes
from ...raw import cudnnDataType_t, cudnnStatus_t, live, records
from ...raw.ctypes_support import OpaquePointer
from ..call_records import CallRecord
from ..call_text import place_text
from ..moment import Moment
from ..regions import Region
from ..session import stop
from .allocations import Allocation, Bytes, NotReproducible, read
from .memory_of_calls import outputs, used
from .naming import Identifiers
from .restoring import creation
from .steps import (
    Allocate,
    Assign,
    Call,
    Compare,
    Free,
    LeftOut,
    Memory,
    Object,
    Place,
    Step,
    Stream,
    Text,
    Upload,
    Value,
    Variable,
)
from .values import Values

__all__ = ["RELATIVE", "RELATIVE_BFLOAT16", "TOLERANCE", "Recording"]

TOLERANCE, RELATIVE, RELATIVE_BFLOAT16 = 1e-5, 1e-3, 2.0**-7
"""Allowed differences of an element of a replay's output: relative to the largest recorded element,
but 1 at least, and to that very element. Another order of summation rounds differently, in bfloat16
by one step of 2^-7 at most."""

_SHORT_TEXT = 60  # longer texts go to a data file


@dataclass
class _Pending:
    """A call in progress: its arguments, or the reason for lacking them; its memory and stream."""

    values: Values | None
    reason: str = ""
    allocations: tuple[Allocation, ...] = ()
    stream: int | None = None


class Recording:
    """Records the steps of a program.

    Parameters
    ----------
    first : int, optional
        The number of calls to record; default: all.
    before : callable, optional
        Called before each call with the steps so far, in case the call ends the process.

    Attributes
    ----------
    steps : list of Step
    data : dict of str to array of bytes
        The data of the steps, by name.
    skipped : list of str
        Calls that could not be recorded, with the reasons.
    """

    looks_at_numbers = False

    def __init__(
        self, first: int | None = None, before: Callable[[list[Step]], None] | None = None
    ) -> None:
        self._left, self._before = first, before
        self.steps: list[Step] = []
        self.data: dict[str, Bytes] = {}
        self.skipped: list[str] = []
        self._names_of_data: dict[bytes, str] = {}
        self._words = Identifiers()
        self._objects: set[str] = set()
        self._allocations: dict[str, Allocation] = {}
        self._place = ""
        self._pending: dict[int, _Pending] = {}

    def wants(self, function: str) -> bool:
        """True: a replay needs all calls."""
        return True

    # --- memory ----------------------------------------------------------------------------------

    def allocated(self, region: Region) -> None:
        """Do nothing: memory is allocated by a step before its first use."""

    def freed(self, region: Region) -> None:
        """Add steps that compare the outputs in freed memory, and free it."""
        allocation = self._allocations.pop(region.name, None)
        if allocation is not None:
            self.steps += [*self._comparisons(allocation), Free(allocation)]
            allocation.held = None

    def _comparisons(self, allocation: Allocation) -> Iterator[Compare]:
        for offset, (nbytes, data_type) in allocation.outputs.items():
            if allocation.held is not None:  # None if it could not be read
                part = allocation.held[offset : offset + nbytes]
                yield Compare(allocation, offset, data_type, self._saved("expected", part))

    def _saved(self, word: str, data: Bytes) -> str:
        """Store bytes under a new name and return the name; equal bytes share one."""
        digest = hashlib.sha256(data.tobytes()).digest()
        if digest not in self._names_of_data:
            name = self._words.unique(word)
            self.data[name], self._names_of_data[digest] = data, name
        return self._names_of_data[digest]

    def _allocation(
        self, moment: Moment, address: int, memory: Any, name: str, nbytes: int = 0
    ) -> tuple[Allocation, int]:
        """The allocation that contains an address, and the offset in it."""
        region = moment.names.places.region(address, memory, name)
        if region.name not in self._allocations:
            self._allocations[region.name] = Allocation.of(region)
            self.steps.append(Allocate(self._allocations[region.name]))
        allocation, offset = self._allocations[region.name], address - region.address
        if region.nbytes is None:
            allocation.grow(offset + nbytes)
        return allocation, offset

    # --- before a call ---------------------------------------------------------------------------

    def prepare(self, moment: Moment) -> None:
        """Record the arguments, and the memory's contents before the call."""
        if place_text(moment) != self._place:
            self._place = place_text(moment)
            self.steps.append(Place(self._place))
        try:
            pending = self._noted(moment)
        except Exception as reason:  # a trace never stops a program
            pending = _Pending(None, str(reason))
        self._pending[id(moment)] = pending  # other threads may call at the same time
        if self._before is not None and pending.values is not None:
            coming = Call(moment.function, pending.values.by_name)
            with suppress(OSError):  # reported at the end
                self._before([*self.steps, coming])

    def _noted(self, moment: Moment) -> _Pending:
        handle = moment.arguments.get("handle")
        stream = records.record(handle) if live.address(handle) else None
        found: dict[str, Allocation] = {}
        for address, memory, name, nbytes in used(moment):
            allocation, _ = self._allocation(moment, address, memory, name, nbytes)
            allocation.role = allocation.role or name
            found[allocation.name] = allocation
        values = Values(
            moment,
            lambda kind, address, name: self._known(moment, kind, address, name),
            lambda address, memory, name: Memory(*self._allocation(moment, address, memory, name)),
            self._text,
        )
        for allocation in found.values():
            self._bring(allocation, stream)
        if moment.execution is not None:
            for info, address in moment.execution.values:
                role = moment.execution.roles.get(info.uid, "value")
                self._assign(moment, address, role, info.data_type)
        return _Pending(values, "", tuple(found.values()), stream)

    def _bring(self, allocation: Allocation, stream: int | None) -> None:
        """Add a step that copies the allocation's present contents, if the replay lacks them."""
        now = read(allocation, stream)
        if allocation.held is not None and np.array_equal(now, allocation.held):
            return
        allocation.held = now
        byte = int(now[0]) if now.size and (now == now[0]).all() else None
        data = "" if byte is not None else self._saved(allocation.word, now)
        self.steps.append(Upload(allocation, data, byte or 0))

    def _assign(self, moment: Moment, address: int, role: str, data_type: cudnnDataType_t) -> None:
        """Add a step that sets a number on the host."""
        allocation, _ = self._allocation(moment, address, None, "value")
        kind = data_type_name(data_type)
        if allocation.host_type not in ("", kind):
            raise NotReproducible(f"a {kind} is where a {allocation.host_type} was")
        allocation.host_type, allocation.role = kind, role
        value = ctypes.string_at(address, storage_bytes(data_type, 1))
        if allocation.held is None or allocation.held.tobytes() != value:
            allocation.held = np.frombuffer(value, np.uint8)
            self.steps.append(Assign(allocation, value))

    def _known(self, moment: Moment, kind: Any, address: int, parameter: str) -> Value:
        """A handle or descriptor; steps create it first if it is older than the recording."""
        name = str(moment.names.objects.name(kind, address))
        if name not in self._objects:
            try:
                self._restore(moment, kind, address, name)
            except NotReproducible as reason:
                raise NotReproducible(f"{parameter} was {reason}") from None
        return Object(name, kind)

    def _restore(self, moment: Moment, kind: Any, address: int, name: str) -> None:
        steps: list[Step] = []
        with creation(kind, address) as (made, calls):

            def known(other: Any, at: int, parameter: str) -> Value:
                is_own = at == made
                return Object(name, kind) if is_own else self._known(moment, other, at, parameter)

            for function, arguments in calls:
                values = Values(
                    replace(moment, function=function, arguments=arguments), known
                ).by_name
                if function.__name__.startswith("cudnnCreate"):
                    (parameter,) = values
                    values[parameter] = Variable(kind, parameter, created=name)
                steps.append(Call(function, values))
        self.steps += steps
        self._objects.add(name)

    def _text(self, text: bytes) -> Text:
        if len(text) <= _SHORT_TEXT:
            return Text(text)
        return Text(text, self._saved("text", np.frombuffer(text, np.uint8).copy()))

    # --- after a call ----------------------------------------------------------------------------

    def hear(self, call: CallRecord, moment: Moment) -> None:
        """Record a finished call."""
        pending = self._pending.pop(id(moment))
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                stop(self)
        refused = call.failed and not hasattr(cudnnStatus_t, f"CUDNN_STATUS_{call.status}")
        if pending.values is None or refused:
            reason = pending.reason or f"{call.status}: {call.reason}"
            self.skipped.append(f"{call.function}: {reason}")
            self.steps.append(LeftOut(call.function, reason))
            return
        arguments = dict(pending.values.by_name)
        if not call.failed:
            self._create(call, moment, arguments)
        self.steps.append(
            Call(
                moment.function,
                arguments,
                f"CUDNN_STATUS_{call.status}" if call.failed else "",
                moment.refused,
                Stream(pending.stream or 0) if pending.allocations else None,
            )
        )
        if call.failed:
            return
        for allocation in pending.allocations:
            allocation.take(pending.stream)
        for address, memory, name, nbytes, data_type in outputs(moment):
            allocation, offset = self._allocation(moment, address, memory, name)
            whole = allocation.nbytes - offset
            allocation.outputs[offset] = (whole if nbytes is None else nbytes, data_type)

    def _create(self, call: CallRecord, moment: Moment, arguments: dict[str, Value]) -> None:
        """Name the object that a call created."""
        for parameter, argument in zip(moment.function.parameters, call.arguments, strict=True):
            base, value = parameter.type.base, argument.value
            is_new = parameter.type.kind == "pointer" and "Create" in moment.function.__name__
            if is_new and isinstance(value, dict) and issubclass(base, OpaquePointer):
                name = str(value["object"])
                self._objects.add(name)
                arguments[parameter.name] = Variable(base, parameter.name, created=name)

    def finished(self) -> list[Step]:
        """All steps, and comparisons of the outputs in memory that was not freed."""
        living = [*self._allocations.values()]
        return [*self.steps, *(each for one in living for each in self._comparisons(one))]
