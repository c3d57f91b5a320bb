"""How exact the tests of this session found cuDNN and the reference, printed at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from cudnn_ctypes import NotSupportedError, SymbolNotFoundError

__all__ = ["Report", "report_of", "write"]


@dataclass
class Errors:
    """How exact the runs of one operation with one kind of data were."""

    runs: int = 0
    relative: float = 0.0  # largest error over the largest element of the result
    of_tolerance: float = 0.0  # largest error over what was allowed there


@dataclass
class Report:
    """What the problems of this session gave, by device, kind of data and operation."""

    errors: dict[tuple[str, str, str], Errors] = field(default_factory=dict)
    refused: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)

    def ran(self, key: tuple[str, str, str], relative: float, of_tolerance: float) -> None:
        errors = self.errors.setdefault(key, Errors())
        errors.runs += 1
        errors.relative = max(errors.relative, relative)
        errors.of_tolerance = max(errors.of_tolerance, of_tolerance)

    def add(self, other: Report) -> None:
        """Add what another process found."""
        for key, errors in other.errors.items():
            self.ran(key, errors.relative, errors.of_tolerance)
            self.errors[key].runs += errors.runs - 1
        self.refused += other.refused

    def not_supported(self, key: tuple[str, str, str], reason: str) -> None:
        self.refused[(*key, reason)] += 1

    def carried_out(self, key: tuple[str, str, str], function: Callable[[], Any]) -> Any:
        """The function's result; the test is skipped, with the reason, if cuDNN has none."""
        try:
            return function()
        except SymbolNotFoundError as error:
            self.not_supported(key, str(error).split(";")[0])
            pytest.skip(str(error))
        except NotSupportedError as error:
            self.not_supported(key, f"{error.function}: {error.status!s}")
            pytest.skip(str(error))


_REPORT = pytest.StashKey[Report]()


def report_of(config: pytest.Config) -> Report:
    """The session's report."""
    return config.stash.setdefault(_REPORT, Report())


def write(terminal: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the session's report, if any test has one."""
    made = config.stash.get(_REPORT, None)
    if made is None:
        return
    write_line = terminal.write_line
    terminal.section("largest errors against float64")
    write_line(
        f"{'device':<10} {'data':<18} {'operation':<48} {'runs':>5} {'largest error':>14} of bound"
    )
    for (device, kind, operation), errors in sorted(made.errors.items()):
        write_line(
            f"{device:<10} {kind:<18} {operation:<48} {errors.runs:>5} {errors.relative:>14.2e} "
            f"{errors.of_tolerance:>8.3f}"
        )
    for (device, kind, operation, reason), count in sorted(made.refused.items()):
        write_line(f"{device:<10} {kind:<18} {operation:<48} {count:>5} not supported: {reason}")
