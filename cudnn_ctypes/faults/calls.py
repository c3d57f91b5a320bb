"""Known faults of C functions, by what their descriptors say.

A row names its functions, and its predicate looks at a `Call`:

    def between_layouts(call: Call) -> str:
        x, y = call.record("xDesc"), call.record("yDesc")
        return f"x has strides {x.strides}, y {y.strides}" if x.strides != y.strides else ""
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..raw.records import record
from . import Fault, Finding, Target, findings

__all__ = ["CALL_FAULTS", "Call", "faults_of_call"]


class Call(NamedTuple):
    """A C call: the function's name, and its arguments by the names of their parameters."""

    function: str
    arguments: Mapping[str, Any]

    def record(self, parameter: str) -> Any:
        """What a descriptor says; None for one that was never set."""
        return record(self.arguments[parameter])


CALL_FAULTS: tuple[Fault, ...] = ()


def faults_of_call(call: Call, target: Target) -> list[Finding]:
    """The known faults that concern a call, with this cuDNN on this GPU."""
    rows = [row for row in CALL_FAULTS if call.function in row.calls]
    return findings(rows, call, target)
