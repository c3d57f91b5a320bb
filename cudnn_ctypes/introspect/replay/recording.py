"""A program's calls as a Python program: raw calls one by one, with the data beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...raw import live, records
from ...raw.ctypes_support import OpaquePointer
from ..call_records import CallRecord
from ..call_text import place_text
from ..moment import Moment
from ..session import listen, stop
from .allocations import Allocation, Allocations
from .expressions import Expressions
from .memory_of_calls import outputs, used

__all__ = ["Recording", "recorded"]

_COLUMNS = 92

_HEAD = '''\
"""The cuDNN calls of {program}, recorded by cudnn_ctypes.

Run it: it makes the same calls, with the data in {data}, and compares
what they write with what was recorded.
"""

import ctypes
import sys
from pathlib import Path

import numpy as np

from cudnn_ctypes import DeviceBuffer, raw

data = np.load(Path(__file__).with_name("{data}"))
'''

_CHECK = '''\

different = 0


def check(name, memory, dtype, key):
    """Compare the elements of an output with the recorded ones."""
    global different
    expected = data[key].view(dtype)
    found = memory.copy_to_host()[: expected.nbytes].view(dtype)
    if np.array_equal(found.view(np.uint8), expected.view(np.uint8)):
        print(f"{name}: equal")
    elif expected.dtype.kind == "f" and np.allclose(found, expected, 1e-3, 1e-5, equal_nan=True):
        print(f"{name}: largest difference {np.nanmax(np.abs(found - expected)):.2g}")
    else:
        different += 1
        print(f"{name}: DIFFERENT")


'''


_Pending = tuple[Expressions | None, str, list[Allocation], int | None]
"""The arguments, or why there are none; the memory that is used, and the stream."""


class Recording:
    """A listener that writes down all calls.

    Attributes
    ----------
    skipped : list of str
        Calls that could not be written down, and why.
    """

    looks_at_numbers = False

    def __init__(self) -> None:
        self.skipped: list[str] = []
        self._lines: list[str | Allocation] = []
        self._data: dict[str, NDArray[Any]] = {}
        self._objects: set[str] = set()
        self._allocations = Allocations()
        self._outputs: dict[tuple[str, int], tuple[int, str]] = {}
        self._place = ""
        self._pending: _Pending | None = None

    def wants(self, function: str) -> bool:
        """All of them: none can be left out."""
        return True

    # --- before a call ---------------------------------------------------------------------------

    def prepare(self, moment: Moment) -> None:
        """Note the arguments, and the memory that the call is going to find."""
        lines = len(self._lines)
        try:
            self._pending = self._noted(moment)
        except Exception as reason:  # a trace never stops a program
            del self._lines[lines:]
            self._pending = None, str(reason), [], None

    def _noted(self, moment: Moment) -> _Pending:
        allocations = self._used(moment)
        expressions = Expressions(
            moment,
            self._objects,
            lambda address, given, name: self._memory(moment, address, given, name),
            self._text,
        )
        handle = moment.given.get("handle")
        stream = records.record(handle) if live.address(handle) else None
        for allocation in allocations:
            self._allocations.bring(allocation, stream, self._upload)
        return expressions, "", allocations, stream

    def _used(self, moment: Moment) -> list[Allocation]:
        """The allocations that a call reads or writes."""
        found: dict[str, Allocation] = {}
        for address, given, name, nbytes in used(moment):
            allocation, _ = self._allocation(moment, address, given, name, nbytes)
            found[allocation.name] = allocation
        return list(found.values())

    def _allocation(
        self, moment: Moment, address: int, given: Any, name: str, nbytes: int = 0
    ) -> tuple[Allocation, int]:
        known = len(self._allocations.by_name)
        allocation, offset = self._allocations.at(address, given, name, moment.names.places, nbytes)
        if len(self._allocations.by_name) > known:
            self._lines.append(allocation)
        return allocation, offset

    def _memory(self, moment: Moment, address: int, given: Any, name: str) -> str:
        allocation, offset = self._allocation(moment, address, given, name)
        return _variable(allocation) + (f" + {offset}" if offset else "")

    def _text(self, text: bytes) -> str:
        if len(text) <= 60:
            return repr(text)
        key = f"text{len(self._data)}"
        self._data[key] = np.frombuffer(text, np.uint8).copy()
        return f'data["{key}"].tobytes()'

    def _upload(self, allocation: Allocation) -> None:
        key = f"{allocation.name}_{len(self._data)}"
        assert allocation.held is not None
        self._data[key] = allocation.held
        self._lines.append(f'{_variable(allocation)}.copy_from_host(data["{key}"])')

    # --- after a call ----------------------------------------------------------------------------

    def hear(self, call: CallRecord, moment: Moment) -> None:
        """Write the call down."""
        assert self._pending is not None
        expressions, reason, allocations, stream = self._pending
        if place_text(call) != self._place:
            self._place = place_text(call)
            self._lines += ["", f"# {self._place}"]
        if expressions is None:
            self.skipped.append(f"{call.function}: {reason}")
            self._lines.append(f"# left out: {call.function}: {reason}")
            return
        arguments = dict(expressions.by_name)
        if not call.failed:
            self._create(call, moment, arguments)
        if call.failed:
            self._lines.append(f"# {call.status}")
            self._lines.append(_call(f"{call.function}.unchecked", [*arguments.values()]))
            return
        self._lines.append(_call(call.function, [*arguments.values()]))
        for allocation in allocations:
            self._allocations.take(allocation, stream)
        for address, given, name, nbytes, dtype in outputs(moment):
            allocation, offset = self._allocation(moment, address, given, name)
            whole = allocation.nbytes - offset
            self._outputs[allocation.name, offset] = (whole if nbytes is None else nbytes, dtype)

    def _create(self, call: CallRecord, moment: Moment, arguments: dict[str, str]) -> None:
        """Name what a call created, before the line that creates it."""
        for parameter, argument in zip(moment.function.parameters, call.arguments, strict=True):
            base, value = parameter.type.base, argument.value
            is_new = parameter.type.kind == "pointer" and argument.out
            if is_new and isinstance(value, dict) and issubclass(base, OpaquePointer):
                name = str(value["object"])
                self._objects.add(name)
                self._lines.append(f"{name} = raw.{base.__name__}()")
                arguments[parameter.name] = name

    # --- the program -----------------------------------------------------------------------------

    def write(self, path: str | os.PathLike[str], program: str) -> None:
        """Write the program, and its data beside it.

        Parameters
        ----------
        path
            Of the program; its data have the same name with ".npz".
        program : str
            What was recorded.

        Raises
        ------
        OSError
            If they cannot be written.
        """
        path = Path(path)
        data = path.with_suffix(".npz")
        checks = [*self._checks()]
        body = [each if isinstance(each, str) else _made(each) for each in self._lines]
        text = _HEAD.format(program=program, data=data.name) + "\n" + "\n".join(body) + "\n"
        if checks:
            text += _CHECK + "\n".join(checks) + "\nsys.exit(1 if different else 0)\n"
        path.write_text(text)
        arrays: dict[str, Any] = self._data
        np.savez_compressed(data, **arrays)

    def _checks(self) -> list[str]:
        """Lines that compare what was written last with what was recorded."""
        lines = []
        for (name, offset), (nbytes, dtype) in self._outputs.items():
            allocation = self._allocations.by_name[name]
            key = f"expected{len(self._data)}"
            if allocation.held is None:  # it could not be read
                continue
            self._data[key] = allocation.held[offset : offset + nbytes]
            place = _variable(allocation) + (f" + {offset}" if offset else "")
            lines.append(f'check("{name}+{offset}", {place}, "{dtype}", "{key}")')
        return lines


def _call(function: str, arguments: list[str]) -> str:
    """A call, broken into lines that are not too long."""
    whole = f"raw.{function}({', '.join(arguments)})"
    if len(whole) <= _COLUMNS:
        return whole
    rows = [""]
    for argument in arguments:
        if rows[-1] and len(rows[-1]) + len(argument) > _COLUMNS:
            rows.append("")
        rows[-1] += f"{argument}, "
    rows[-1] = rows[-1].removesuffix(", ")
    return "\n    ".join([f"raw.{function}(", *(row.rstrip() for row in rows)]) + "\n)"


def _variable(allocation: Allocation) -> str:
    """Other than the names of handles and descriptors."""
    return f"{allocation.name}_memory"


def _made(allocation: Allocation) -> str:
    return f"{_variable(allocation)} = DeviceBuffer({allocation.nbytes})"


@contextmanager
def recorded(recording: Recording | None) -> Iterator[None]:
    """Have a recording hear the calls in ``with``; nothing happens without one."""
    if recording is None:
        yield
        return
    listen(recording)
    try:
        yield
    finally:
        stop(recording)
