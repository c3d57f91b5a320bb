"""Random sequences of calls over all functions, watched for deaths, overruns, hangs and memory.

``python -m tools.fuzz calls --calls 300000 --seed 1`` runs them with made-up handles on the
reference device, and as many without any handle; ``--gpu`` with real ones and memory of the GPU.
What went wrong is printed, and with ``--save FOLDER`` stored as the shortest sequence that shows
it; ``--replay FILE`` runs one of these and prints each call.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from cudnn_ctypes import raw, runtime, use_reference_device
from cudnn_ctypes.graph.backend.children import Outcome, Spent, outcomes

from .arguments import Program
from .canaries import Canaries
from .sequences import Call, Sequences

__all__ = ["MODES", "Failure", "main", "replayed", "survey"]

MODES = ("null", "reference", "gpu")
_SECONDS, _MEGABYTES = 60, 512


class Failure:
    """A call that ended its process, or should not have gone as it went."""

    def __init__(self, outcome: Outcome[Call], result: str, calls: list[Call]) -> None:
        self.outcome, self.result, self.calls = outcome, result, calls

    @property
    def function(self) -> str:
        return self.outcome.case.function

    @property
    def key(self) -> tuple[str, str]:
        return self.function, self.result.partition(":")[0]

    def __str__(self) -> str:
        case = self.outcome.case
        return f"{self.result}: {case.function} (sequence {case.sequence}, call {case.position})"


def _prepare(mode: str) -> Callable[[Any], Callable[[Call], str]]:
    """What a child does first, and with each call."""
    canaries = Canaries()

    def prepare(note: Any) -> Callable[[Call], str]:
        program = Program(canaries, memory=mode != "null")

        def perform(call: Call) -> str:
            labels, outcome = program.perform(call)
            result = f"{','.join(labels)};{outcome}"
            if mode == "gpu":
                try:
                    runtime.synchronize()
                except Exception as error:  # a kernel went wrong, which no process survives
                    raise Spent(f"{','.join(labels)};context lost: {error}") from error
            if call.last:
                raise Spent(result)
            return result

        return perform

    return prepare


def _start(mode: str) -> None:
    raw.load()
    # A callback must not be called in a child that forgot Python's state; nor is it of use there.
    if mode == "reference":
        use_reference_device()


def survey(
    sequences: Sequences, mode: str, *, counts: Counter[tuple[str, str]]
) -> Iterable[Failure]:
    """Run the calls of `sequences`; count them by class of argument and outcome."""
    sequence, begun = -1, 0  # the calls that the child of the latest outcome has behind it
    for outcome in outcomes(sequences, _prepare(mode), seconds=_SECONDS, megabytes=_MEGABYTES):
        case = outcome.case
        if case.sequence != sequence:
            sequence, begun = case.sequence, 0
        labels, _, result = (
            ("", "", outcome.result) if outcome.died else outcome.result.partition(";")
        )
        result = f"died: {result}" if outcome.died else result
        if outcome.died:
            labels = ",".join(sorted({a[0] for a in case.arguments} - {"right"}) or ["right"])
        for label in labels.split(","):
            counts[label, result.partition(":")[0]] += 1
        if ":" in result:
            calls = sequences.sequence(case.sequence)[begun : case.position + 1]
            yield Failure(outcome, result, calls)
        if outcome.died or result.startswith("context lost"):
            begun = case.position + 1


def replayed(calls: Sequence[Call], mode: str) -> list[Outcome[Call]]:
    """Run calls in a child of their own, until one ends it."""
    found = []
    calls = [replace(call, last=False) for call in calls]
    for outcome in outcomes(calls, _prepare(mode), seconds=_SECONDS, megabytes=_MEGABYTES):
        found.append(outcome)
        if outcome.died:
            break
    return found


def minimised(failure: Failure, mode: str) -> list[Call]:
    """The fewest calls that still go wrong in the same way."""

    def fails(calls: list[Call]) -> bool:
        last = replayed(calls, mode)[-1]
        result = f"died: {last.result}" if last.died else last.result.partition(";")[2]
        return (last.case.function, result.partition(":")[0]) == failure.key

    calls, size = failure.calls, max(len(failure.calls) // 2, 1)
    if not fails(calls):
        return calls
    while size:
        start = 0
        while start < len(calls) - 1:
            fewer = calls[:start] + calls[min(start + size, len(calls) - 1) :]
            if fails(fewer):
                calls = fewer
            else:
                start += size
        size //= 2
    return calls


def save(failure: Failure, mode: str, folder: Path) -> Path:
    """Store the shortest sequence that shows `failure`."""
    folder.mkdir(parents=True, exist_ok=True)
    case = failure.outcome.case
    file = folder / f"{case.function}-{mode}-{case.sequence}-{case.position}.json"
    calls = minimised(failure, mode)
    text = {"mode": mode, "result": failure.result, "calls": [asdict(call) for call in calls]}
    file.write_text(json.dumps(text, indent=1))
    return file


def replay(file: Path) -> int:
    """Run a stored sequence and print each call and what became of it."""
    stored = json.loads(file.read_text())
    _start(stored["mode"])
    calls = [
        Call(**{**call, "arguments": tuple(map(tuple, call["arguments"]))})
        for call in stored["calls"]
    ]
    print(f"stored as: {stored['result']}")
    failed = False
    for outcome in replayed(calls, stored["mode"]):
        call = outcome.case
        name = call.function if call.checked else f"{call.function}.unchecked"
        print(
            f"{name}{tuple(a[1:] for a in call.arguments)}\n    {outcome.result}", outcome.printed
        )
        failed = outcome.died or ":" in outcome.result
    return int(failed)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz calls", description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000, help="how many, in each mode")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--length", type=int, default=400, help="calls in a process")
    parser.add_argument("--gpu", action="store_true", help="real handles and device memory only")
    parser.add_argument("--mode", choices=MODES, action="append", help="default: null, reference")
    parser.add_argument("--only", default="", help="functions with this in their names")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="for sequences that failed")
    parser.add_argument("--replay", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    if options.replay:
        return replay(options.replay)
    failures = 0
    for mode in options.mode or (["gpu"] if options.gpu else ["null", "reference"]):
        _start(mode)
        sequences = Sequences(
            options.calls,
            seed=options.seed,
            length=options.length,
            addresses=mode == "reference",
            functions=[name for name in raw.FUNCTIONS if options.only and options.only in name],
        )
        counts: Counter[tuple[str, str]] = Counter()
        seen: Counter[tuple[str, str]] = Counter()
        for failure in survey(sequences, mode, counts=counts):
            seen[failure.key] += 1
            if seen[failure.key] == 1:
                print(f"{mode}: {failure}", flush=True)
                if options.save:
                    print(f"    {save(failure, mode, options.save)}", flush=True)
        failures += sum(seen.values())
        print(_table(mode, len(sequences), counts, seen))
    return int(failures > 0)


def _table(
    mode: str, calls: int, counts: Counter[tuple[str, str]], seen: Counter[tuple[str, str]]
) -> str:
    columns = sorted({result for _, result in counts})
    rows = sorted({label for label, _ in counts})
    lines = [f"{calls} calls, {mode}, cuDNN {raw.load().version_text}"]
    lines.append(f"{'':16}" + "".join(f"{column[:19]:>20}" for column in columns))
    for row in rows:
        lines.append(f"{row:16}" + "".join(f"{counts[row, column]:20}" for column in columns))
    lines += [f"{number:6} {name}: {result}" for (name, result), number in seen.most_common()]
    return "\n".join(lines)
