"""Comparison of two recorded runs: calls in one run only, and arguments that differ."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .call_records import CallRecord
from .call_text import argument_text, call_text, line, place_text

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`.

    Attributes
    ----------
    pairs : list of (CallRecord or None, CallRecord or None)
        Calls that differ; None for a call that a run lacks.
    equal : int
        The number of equal calls.
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

    Parameters
    ----------
    one, other : sequence of CallRecord
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
    rows[0] += f"  {place_text(one)}" + (
        f" and {place_text(other)}" if place_text(other) != place_text(one) else ""
    )
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
