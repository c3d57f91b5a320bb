"""Records of calls: as data, as text, compared and summed."""

from __future__ import annotations

import difflib
import functools
import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..raw.argument_text import held_text, tensor_text, value_text
from ..raw.describe import aligned


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument.

    - `name`: the parameter's name in C.
    - `value`: plain data, described in this module's docstring.
    - `out`: True if the call wrote the value, on the host.
    """

    name: str
    value: Any
    out: bool = False


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of a C function.

    Attributes
    ----------
    number : int
        Number in the trace, from 1 on; 0 outside of a trace.
    function : str
        The function's name in C.
    arguments : tuple of Argument
        The arguments in C's order.
    status : str
        The status without ``CUDNN_STATUS_``: "SUCCESS", "BAD_PARAM". The result of a function that
        returns no status. The exception's name if an argument was refused before C.
    failed : bool
        True for every status but success.
    reason : str
        The reason for the failure, "" if unknown.
    seconds : float
        Time on the host. Work on the GPU goes on after the call.
    file, line
        The place of the call in the user's program; "" and 0 at exit.
    thread : str
        The thread's name.
    not_finite : dict of str to str
        Names of outputs with NaN or infinity, with the counts as text; only filled with `nan`.

    Examples
    --------
    >>> from cudnn_ctypes import ActivationDescriptor, trace
    >>> with trace(only="cudnnSetActivation*") as t, ActivationDescriptor("relu"):
    ...     call = t.calls[0]
    >>> {each.name: each.value for each in call.arguments if each.name in ("mode", "coef")}
    {'mode': 'CUDNN_ACTIVATION_RELU', 'coef': 0.0}
    """

    number: int
    function: str
    arguments: tuple[Argument, ...]
    status: str
    failed: bool = False
    reason: str = ""
    seconds: float = 0.0
    file: str = ""
    line: int = 0
    thread: str = ""
    not_finite: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The record as plain data for JSON."""
        return {
            "number": self.number,
            "function": self.function,
            "arguments": [_argument(each) for each in self.arguments],
            "status": self.status,
            "failed": self.failed,
            "reason": self.reason,
            "seconds": self.seconds,
            "file": self.file,
            "line": self.line,
            "thread": self.thread,
            "not_finite": dict(self.not_finite),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CallRecord:
        """The record from the result of `as_dict`.

        Parameters
        ----------
        data : dict
            As JSON holds it.

        Raises
        ------
        KeyError, TypeError
            If `data` is something else.
        """
        arguments = tuple(
            Argument(each["name"], each["value"], each.get("out", False))
            for each in data["arguments"]
        )
        return cls(**{**data, "arguments": arguments})


def _argument(argument: Argument) -> dict[str, Any]:
    said = {"name": argument.name, "value": argument.value}
    return {**said, "out": True} if argument.out else said


WIDTH = 100
_INDENT = "    "
_TIME, _PLACE = 11, 22  # columns


def line(call: CallRecord, width: int = WIDTH) -> str:
    """A call as one line, or as several lines of at most `width` columns; 0 for one line always.

    Status, time and place are at the right edge of the last line, aligned over all calls.
    """
    end = _end(call)
    rows = _rows([*_pieces(call)], width) if width else [call_text(call)]
    if width and len(rows[-1]) + 2 + len(end) > width:
        rows.append("")
    space = max(2, width - len(rows[-1]) - len(end)) if width else 2
    rows[-1] = (rows[-1] + " " * space + end).rstrip()
    if call.failed and call.reason:
        first, further = f"{_INDENT}! ", f"{_INDENT}  "
        reason = " ".join(call.reason.split())
        rows += textwrap.wrap(
            reason, width or 1000, initial_indent=first, subsequent_indent=further, max_lines=5
        )
    for name, text in call.not_finite.items():
        rows.append(f"{_INDENT}! not finite: {name}: {text}")
    return "\n".join(rows)


def call_text(call: CallRecord) -> str:
    """A call without status, time and place."""
    return "".join(_pieces(call))


def place_text(file: str, line: int) -> str:
    """The file's name, without its folder, and the line."""
    return f"{os.path.basename(file)}:{line}" if file else "at exit"


def time_text(seconds: float) -> str:
    """A time in milliseconds, as text."""
    return f"{seconds * 1e3:.3f} ms" if seconds < 1 else f"{seconds:.3f} s"


def _end(call: CallRecord) -> str:
    place = place_text(call.file, call.line)
    if len(place) > _PLACE:
        place = f"…{place[1 - _PLACE :]}"
    return f"{call.status}  {time_text(call.seconds):>{_TIME}}  {place:<{_PLACE}}"


def _pieces(call: CallRecord) -> Iterator[str]:
    """The parts of a call's text between which a line may be broken."""
    if not call.arguments:
        yield f"{call.function}()"
        return
    yield f"{call.function}("
    described = _described(call)
    for position, argument in enumerate(call.arguments):
        last = position == len(call.arguments) - 1
        text = argument_text(argument, beside_descriptor=argument.name in described)
        yield text + (")" if last else ", ")


def _rows(parts: list[str], width: int) -> list[str]:
    rows = [""]
    longest = width - len(_INDENT)
    fitting = [
        each
        for part in parts
        for each in (
            [part] if len(part.rstrip()) <= longest else part.replace(", ", ", \0").split("\0")
        )
    ]
    for part in fitting:
        if rows[-1].strip() and len(rows[-1]) + len(part.rstrip()) > width:
            rows[-1] = rows[-1].rstrip()
            rows.append(_INDENT)
        rows[-1] += part
    return rows


def _described(call: CallRecord) -> set[str]:
    """Names of memory arguments whose descriptor is also an argument of the call."""
    shown = {
        argument.name
        for argument in call.arguments
        if isinstance(argument.value, dict) and "shape" in argument.value.get("holds", {})
    }
    describers = _describers(call.function)
    names = (argument.name for argument in call.arguments)
    return {name for name in names if shown.intersection(describers.get(name, ()))}


@functools.cache
def _describers(function: str) -> dict[str, tuple[str, ...]]:
    """The parameters that describe memory, by the name of the memory's parameter."""
    from .. import raw

    known = raw.FUNCTIONS.get(function)
    return {} if known is None else {p.name: p.described_by for p in known.parameters}


def argument_text(argument: Argument, *, beside_descriptor: bool = False) -> str:
    """``name=value``; ``name -> value`` for a value that the call wrote on the host."""
    value = argument.value
    if isinstance(value, dict) and value.get("object") == argument.name == "handle":
        return "handle"
    sign = " -> " if argument.out else "="
    return f"{argument.name}{sign}{_value(value, beside_descriptor)}"


def _value(value: Any, beside_descriptor: bool = False) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if not isinstance(value, dict):
        return value_text(value)
    if "object" in value:
        holds = value.get("holds")
        return value["object"] if holds is None else held_text(holds)
    if "allocation" in value:
        return _memory(value, beside_descriptor)
    if "host" in value:
        return f"<host, {_bytes(value['host'])}>"
    return value_text(value.get("struct", value))


def _memory(place: dict[str, Any], beside_descriptor: bool) -> str:
    where = f"{place['allocation']}+{place['offset']}"
    if "shape" in place and not beside_descriptor:
        return f"<{tensor_text(place)} at {where}>"
    return f"<{where}, {_bytes(place['nbytes'])}>" if "nbytes" in place else f"<{where}>"


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            number = count / size
            return f"{number:.0f} {unit}" if number == int(number) else f"{number:.1f} {unit}"
    return f"{count} B"


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`.

    - `pairs`: calls that differ; None for a call that a run lacks.
    - `equal`: the number of equal calls.
    """

    pairs: list[tuple[CallRecord | None, CallRecord | None]]
    equal: int

    def text(self, width: int) -> str:
        """The differences: ``-`` a call of the first run, ``+`` of the second, ``~`` of both."""
        parts = [_pair(one, other, width) for one, other in self.pairs]
        return "\n".join([*parts, f"{self.equal} calls equal, {len(self.pairs)} different"])


def compare(one: Sequence[CallRecord], other: Sequence[CallRecord]) -> Comparison:
    """Compare the calls of two runs, in order.

    Two calls are equal if they have the same function, equal arguments and the same status. Times,
    threads, places in the program and addresses are not compared; allocations are.
    """
    matcher = difflib.SequenceMatcher(
        None, [_key(call) for call in one], [_key(call) for call in other], autojunk=False
    )
    pairs: list[tuple[CallRecord | None, CallRecord | None]] = []
    equal = 0
    for tag, start, stop, other_start, other_stop in matcher.get_opcodes():
        if tag == "equal":
            equal += stop - start
        else:
            pairs += _paired(one[start:stop], other[other_start:other_stop])
    return Comparison(pairs, equal)


def _key(call: CallRecord) -> str:
    finite = sorted(call.not_finite.items())
    return f"{call_text(call)} {call.status} {finite}"


def _paired(
    one: Sequence[CallRecord], other: Sequence[CallRecord]
) -> Iterator[tuple[CallRecord | None, CallRecord | None]]:
    """Pair different calls: calls of the same function belong together, in order."""
    matcher = difflib.SequenceMatcher(
        None, [call.function for call in one], [call.function for call in other], autojunk=False
    )
    for tag, start, stop, other_start, other_stop in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(one[start:stop], other[other_start:other_stop], strict=True)
        else:
            yield from ((call, None) for call in one[start:stop])
            yield from ((None, call) for call in other[other_start:other_stop])


def _pair(one: CallRecord | None, other: CallRecord | None, width: int) -> str:
    if one is None or other is None:
        call = one or other
        assert call is not None
        text = line(call, max(width - 2, 0)).replace("\n", "\n  ")
        return f"{'+' if one is None else '-'} {text}"
    rows = [f"~ {one.function}  call {one.number} and {other.number}"]
    here, there = (place_text(call.file, call.line) for call in (one, other))
    rows[0] += f"  {here}" + (f" and {there}" if there != here else "")
    rows += [f"    - {first}\n    + {second}" for first, second in _differences(one, other)]
    return "\n".join(rows)


def _differences(one: CallRecord, other: CallRecord) -> Iterator[tuple[str, str]]:
    """Arguments and status that differ, as pairs of texts."""
    others = {argument.name: argument for argument in other.arguments}
    for argument in one.arguments:
        counterpart = others.get(argument.name)
        text = argument_text(argument)
        against = "" if counterpart is None else argument_text(counterpart)
        if text != against:
            yield text, against
    ends = [(call.status + (f": {call.reason}" if call.reason else "")) for call in (one, other)]
    if one.status != other.status:
        yield ends[0], ends[1]
    if one.not_finite != other.not_finite:
        first, second = (
            "; ".join(f"{name}: {text}" for name, text in call.not_finite.items()) or "finite"
            for call in (one, other)
        )
        yield first, second


class Sums:
    """Calls, failures and times by C function; `add` adds one call."""

    def __init__(self) -> None:
        self._sums: dict[str, list[float]] = {}

    def add(self, call: CallRecord) -> None:
        sums = self._sums.setdefault(call.function, [0, 0, 0.0, 0.0])
        sums[0] += 1
        sums[1] += call.failed
        sums[2] += call.seconds
        sums[3] = max(sums[3], call.seconds)

    def __str__(self) -> str:
        """A table, the slowest function first; times are the host's."""
        rows = sorted(self._sums.items(), key=lambda item: -item[1][2])
        whole = sum(sums[2] for _, sums in rows)
        cells: list[tuple[str, ...]] = [
            ("function", "calls", "failed", "total ms", "mean ms", "max ms", "share")
        ]
        for name, (calls, failed, total, longest) in rows:
            times = [f"{1e3 * each:.3f}" for each in (total, total / calls, longest)]
            share = f"{total / whole:.0%}" if whole else ""
            cells.append((name, f"{calls:.0f}", f"{failed:.0f}", *times, share))
        count = sum(sums[0] for _, sums in rows)
        failures = sum(sums[1] for _, sums in rows)
        cells.append(("all", f"{count:.0f}", f"{failures:.0f}", f"{1e3 * whole:.3f}", "", "", ""))
        return aligned(cells, right=cells[0][1:])


def config_text(engine: int | str, knobs: Mapping[str, int | str]) -> str:
    """An engine with its knobs: "22 (tile_size=4)"."""
    text = ", ".join(f"{name}={value}" for name, value in knobs.items())
    return f"{engine} ({text})" if text else str(engine)
