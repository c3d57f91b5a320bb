"""A computed table of the C functions: who uses each in this package, and where it has been run.

For every function of the headers the table has the public class or function that uses it; whether
the reference device implements it; and the cuDNN versions with which a test has run it on a GPU,
recorded by the tests.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ... import raw
from ...raw.describe import aligned, uses
from ...raw.function import Function

RECORD = Path(__file__).with_name("gpu_runs.json")


@dataclass(frozen=True)
class GpuRun:
    """The tests' calls on one GPU with one cuDNN.

    - `cudnn`: the version: "9.19.0".
    - `succeeded`: C functions with a successful call in a passed test.
    - `refused`: functions that were called without success, with their statuses.
    - `missing`: functions that this library lacks.
    """

    gpu: str
    driver: str
    cudnn: str
    succeeded: frozenset[str]
    refused: dict[str, tuple[str, ...]]
    missing: frozenset[str]


def gpu_runs(path: Path = RECORD) -> list[GpuRun]:
    """The recorded runs, oldest cuDNN first; empty without a record."""
    if not path.exists():
        return []
    runs = [
        GpuRun(
            gpu=run["gpu"],
            driver=run["driver"],
            cudnn=run["cudnn"],
            succeeded=frozenset(run["succeeded"]),
            refused={name: tuple(statuses) for name, statuses in run["refused"].items()},
            missing=frozenset(run["missing"]),
        )
        for run in json.loads(path.read_text("utf-8"))["runs"]
    ]
    return sorted(runs, key=lambda run: tuple(map(int, run.cudnn.split("."))))


ReferenceDevice = Literal["NumPy", "cuDNN itself", "no"]

_SHARED_CALLBACK = "layer 1 holds the callback for its exceptions; log_messages listens beside it"

_READ_AT_ONCE = "another function reads all of the descriptor"

REASONS: dict[str, str] = {
    **dict.fromkeys(("cudnnSetCallback", "cudnnGetCallback"), _SHARED_CALLBACK),
    "cudnnRNNGetClip_v9": _READ_AT_ONCE,
    "cudnnGetCTCLossDescriptor": _READ_AT_ONCE,
    "cudnnGetCTCLossDescriptorEx": _READ_AT_ONCE,
    "cudnnGetCTCLossDescriptor_v8": _READ_AT_ONCE,
}
"""The reasons why functions have no user, for exactly the functions without one in `table`."""


@dataclass(frozen=True)
class Row:
    """The facts about one C function.

    - `used_by`: public classes, methods and functions that use it; empty if `reason` is given.
    - `reference_device` ("NumPy", "cuDNN itself", "no"): the implementation on the reference
      device; "cuDNN itself" if the function needs no GPU.
    - `succeeded`, `refused`, `missing`: versions of cuDNN with which tests have called it on a GPU:
      with success; refused every time, with the statuses; and versions that lack it.
    - `reason`: the reason for having no user, "" if it has one.
    """

    function: str
    header: str
    since: str
    used_by: tuple[str, ...]
    reference_device: ReferenceDevice
    succeeded: tuple[str, ...]
    refused: tuple[str, ...]
    missing: tuple[str, ...]
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """The row as data for JSON."""
        return dataclasses.asdict(self)

    @property
    def gpu(self) -> str:
        """The results on GPUs as text."""
        parts = [*self.succeeded, *self.refused, *(f"not in {v}" for v in self.missing)]
        return ", ".join(parts)


@functools.cache
def table() -> tuple[Row, ...]:
    """The rows of all functions, in the order of the headers."""
    runs = gpu_runs()
    from ...reference.device.dispatch import implemented

    carried_out = implemented()
    rows = []
    for name, function in raw.FUNCTIONS.items():
        rows.append(
            Row(
                function=name,
                header=function.header,
                since=function.since,
                used_by=tuple(uses()[name][0].split()),
                reference_device=_reference_device(function, name in carried_out),
                succeeded=tuple(run.cudnn for run in runs if name in run.succeeded),
                refused=tuple(
                    f"{run.cudnn}: {' '.join(run.refused[name])}"
                    for run in runs
                    if name in run.refused
                ),
                missing=tuple(run.cudnn for run in runs if name in run.missing),
                reason=REASONS.get(name, ""),
            )
        )
    return tuple(rows)


def _reference_device(function: Function, carried_out: bool) -> ReferenceDevice:
    if carried_out:
        return "NumPy"
    takes_handle = any(p.type.base is raw.cudnnHandle_t for p in function.parameters)
    return "no" if takes_handle else "cuDNN itself"


_COLUMNS = ("function", "used by", "reference device", "tests on a GPU")


def print_table(rows: Sequence[Row]) -> None:
    """Print one table per header, and a summary."""
    for header in dict.fromkeys(row.header for row in rows):
        cells = [
            (row.function, ", ".join(row.used_by) or row.reason, row.reference_device, row.gpu)
            for row in rows
            if row.header == header
        ]
        print(f"{header}\n{aligned([_COLUMNS, *cells])}\n")
    print("\n".join(summary(rows)))


def summary(rows: Sequence[Row]) -> list[str]:
    """The numbers of covered functions, in a few lines."""
    total = len(rows)
    lines = [
        f"{sum(bool(row.used_by) for row in rows)} of {total} functions have a class or function",
        f"reference device: {sum(row.reference_device == 'NumPy' for row in rows)} in NumPy, "
        f"{sum(row.reference_device == 'cuDNN itself' for row in rows)} by cuDNN itself, "
        f"{sum(row.reference_device == 'no' for row in rows)} not",
    ]
    for run in gpu_runs():
        lines.append(
            f"{run.gpu}, driver {run.driver}, cuDNN {run.cudnn}: tests ran {len(run.succeeded)} "
            f"with success; {len(run.refused)} were always refused, {len(run.missing)} are not in "
            f"this library"
        )
    if len(lines) == 2:
        lines.append("no tests on a GPU are recorded")
    return lines
