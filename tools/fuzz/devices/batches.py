"""Batches of cases in children, one for each of the two devices; their results in files."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cudnn_ctypes import use_reference_device
from cudnn_ctypes.graph.backend.children import Spent, outcomes

from . import catalogue
from .comparison import Difference, differences, spread
from .machine import Machine, Result

__all__ = ["DEVICES", "Judged", "judge", "results"]

DEVICES = ("gpu", "reference", "planted")
"""A GPU, the reference device, and the reference device with a fault that must be found."""

_WOBBLES = 4


def results(
    cases: Sequence[Any], device: str, *, seconds: float = 60, wobbles: int = 0, twice: bool = True
) -> list[Any]:
    """What each case gave on a device: a `Result`, or how it ended its child, as a text.

    A case is a family with a seed, or what `Draw.case` gives. With `wobbles` a case gives so many
    results for operands that are rounded otherwise.
    """
    with tempfile.TemporaryDirectory(prefix="cudnn_ctypes-") as folder:
        file = Path(folder) / "results"
        numbered = list(enumerate(cases))
        ended: dict[int, str] = {}

        def prepare(note: Callable[[str], None]) -> Callable[[Any], str]:
            if device != "gpu":
                use_reference_device()
            machine = Machine()
            stream = open(file, "ab")  # noqa: SIM115

            def perform(item: Any) -> str:
                number, case = item
                lost = ""
                try:
                    found = _performed(case, machine, device, twice and not wobbles, wobbles)
                    machine.synchronize()
                except Exception as error:
                    lost = f"{type(error).__name__}: {error}"[:300]
                    found = lost
                pickle.dump((number, found), stream, protocol=5)
                stream.flush()
                if not lost and device == "gpu" and _failed(found):
                    lost = "an execution failed"  # its kernels may still write
                if lost:
                    raise Spent(lost)
                return ""

            return perform

        for each in outcomes(
            numbered, prepare, seconds=seconds, megabytes=8192, maps_a_gpu=device == "gpu"
        ):
            if each.died:
                ended[each.case[0]] = f"died: {each.result} {each.printed[-300:]}"
        found: dict[int, Any] = {}
        if file.exists():
            with open(file, "rb") as stream:
                while True:
                    try:
                        number, result = pickle.load(stream)
                    except EOFError:
                        break
                    found[number] = result
        return [found.get(n, ended.get(n, "died: unknown")) for n in range(len(cases))]


def _failed(found: Any) -> bool:
    """Whether cuDNN said of a call that its execution failed."""
    runs = found if isinstance(found, list) else [found]
    return any(status.startswith("EXECUTION_FAILED") for run in runs for _, status in run.statuses)


def program_of(case: Any) -> tuple[Any, Any]:
    """The draw and the program of a case."""
    return catalogue.draw(*case) if isinstance(case, tuple) else catalogue.redraw(case)


def _performed(case: Any, machine: Machine, device: str, twice: bool, wobbles: int) -> Any:
    _, program = program_of(case)
    with np.errstate(all="ignore"):
        if wobbles:
            return [program.run(machine, wobble=n + 1) for n in range(wobbles)]
        result = program.run(machine, twice=twice and device == "gpu")
    if device == "planted":
        _plant(program, result)
    return result


def _plant(program: Any, result: Result) -> None:
    """A fault: one element of strided pooling, and of sums over more than eight numbers."""
    pools = any(function == "cudnnPoolingForward" for function, _ in program.steps)
    strided = any(
        option.value == 2 for name, option in program.draw.options.items() if "stride" in name
    )
    if pools and strided and "y" in result.outputs and result.succeeded:
        result.outputs["y"].reshape(-1)[-1:] = 50


@dataclass
class Judged:
    """A case with the results of two devices, and what differs.

    Attributes
    ----------
    one, other : Result or str
        A text says how the case ended its child.
    """

    draw: Any
    program: Any
    one: Any
    other: Any
    differences: list[Difference]

    def key(self, difference: Difference) -> str:
        """The same for differences that are probably of one fault."""
        types = [
            str(option.value)
            for name, option in self.draw.options.items()
            if name in ("type", "types", "mode", "op", "operation", "algo")
        ]
        where = difference.where
        if difference.kind == "status":
            where = f"{where}, {difference.text}"
        return "|".join((self.draw.family, difference.kind, where, " ".join(types)))

    def numbers(self, difference: Difference) -> list[Any]:
        """The first numbers of an operand on both devices, as texts."""
        if not difference.decided_by_rounding:
            return []
        return [
            [f"{number:.6g}" for number in result.outputs[difference.where].ravel()[:48].tolist()]
            for result in (self.one, self.other)
        ]


def judge(cases: Sequence[Any], pair: Sequence[str], *, seconds: float = 60) -> list[Judged]:
    """Run cases on both devices; numbers that differ are looked at again by their spread."""
    ones = results(cases, pair[0], seconds=seconds)
    others = results(cases, pair[1], seconds=seconds)
    judged: list[Judged] = []
    for case, one, other in zip(cases, ones, others, strict=True):
        draw, program = program_of(case)
        judged.append(Judged(draw, program, one, other, _differ(program, one, other)))
    again = [
        n for n, each in enumerate(judged) if any(d.decided_by_rounding for d in each.differences)
    ]
    if again:
        wobbled = results([cases[n] for n in again], pair[0], seconds=seconds, wobbles=_WOBBLES)
        for n, runs in zip(again, wobbled, strict=True):
            if not isinstance(runs, str):
                each = judged[n]
                spreads = spread(each.one, runs)
                each.differences = differences(each.program, each.one, each.other, spreads)
    return judged


def _differ(program: Any, one: Any, other: Any) -> list[Difference]:
    if isinstance(one, str):
        return [Difference("died", "reference", one)]
    if isinstance(other, str):
        if one.faults:
            return []
        kind = "died" if other.startswith("died") else "lost"
        return [Difference(kind, program.steps[-1][0], other)]
    return differences(program, one, other)
