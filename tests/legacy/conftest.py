"""The devices that operations are tested on, and a report of how exact they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from cudnn_ctypes import Handle, use_reference_device


@pytest.fixture(params=["reference", pytest.param("gpu", marks=pytest.mark.gpu)])
def handle(request: pytest.FixtureRequest) -> Iterator[Handle]:
    """A handle on the reference device, and, where there is one, on the GPU."""
    with use_reference_device(request.param == "reference"), Handle() as made:
        yield made


@pytest.fixture
def reference_handle() -> Iterator[Handle]:
    """A handle on the reference device."""
    with use_reference_device(), Handle() as made:
        yield made


@pytest.fixture
def gpu_handle() -> Iterator[Handle]:
    """A handle on the GPU."""
    with use_reference_device(False), Handle() as made:
        yield made


@dataclass
class Errors:
    """How exact the runs of one operation with one kind of data were."""

    runs: int = 0
    relative: float = 0.0  # largest error over the largest element of the result
    of_tolerance: float = 0.0  # largest error over what was allowed there


@dataclass
class Report:
    """What the random problems of this session gave, by device, kind and operation."""

    errors: dict[tuple[str, str, str], Errors] = field(default_factory=dict)
    refused: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)

    def ran(self, key: tuple[str, str, str], relative: float, of_tolerance: float) -> None:
        errors = self.errors.setdefault(key, Errors())
        errors.runs += 1
        errors.relative = max(errors.relative, relative)
        errors.of_tolerance = max(errors.of_tolerance, of_tolerance)

    def not_supported(self, key: tuple[str, str, str], reason: str) -> None:
        self.refused[(*key, reason)] += 1


_REPORT = pytest.StashKey[Report]()


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """The session's report, printed at its end."""
    return request.config.stash.setdefault(_REPORT, Report())


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    made = config.stash.get(_REPORT, None)
    if made is None:
        return
    write = terminalreporter.write_line
    terminalreporter.section("random problems against the reference in float64")
    write(
        f"{'device':<10} {'data':<18} {'operation':<24} {'runs':>5} {'largest error':>14} of bound"
    )
    for (device, kind, operation), errors in sorted(made.errors.items()):
        write(
            f"{device:<10} {kind:<18} {operation:<24} {errors.runs:>5} {errors.relative:>14.2e} "
            f"{errors.of_tolerance:>8.3f}"
        )
    for (device, kind, operation, reason), count in sorted(made.refused.items()):
        write(f"{device:<10} {kind:<18} {operation:<24} {count:>5} not supported: {reason}")
