"""Known faults of C functions, by what their descriptors say; layer 2 heeds them.

A row names its functions, and its predicate looks at a `Call`:

    def between_layouts(call: Call) -> str:
        x, y = call.record("xDesc"), call.record("yDesc")
        return f"x has strides {x.strides}, y {y.strides}" if x.strides != y.strides else ""
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..raw.library import load
from ..raw.records import record
from . import Fault, Finding, findings, heed

__all__ = ["CALL_FAULTS", "Call", "faults_of_call", "heed_call"]

CALL_FAULTS: tuple[Fault, ...] = ()


class Call(NamedTuple):
    """A C call: the function's name, and its arguments by the names of their parameters."""

    function: str
    arguments: Mapping[str, Any]

    def record(self, parameter: str) -> Any:
        """The record of a descriptor; None for one that was never set."""
        return record(self.arguments[parameter])


class _Target(NamedTuple):
    version: int
    capability: int
    beside_another: bool = False


def faults_of_call(call: Call, version: int, capability: int) -> list[Finding]:
    """The known faults that concern a call, with this cuDNN on a GPU of this capability."""
    rows = [row for row in CALL_FAULTS if call.function in row.calls]
    return findings(rows, call, _Target(version, capability))


def heed_call(function: Any, arguments: Sequence[Any]) -> None:
    """Refuse a call, or warn of it, as `heed`; the first argument is a `Handle`.

    A handle of the reference device has no faults.
    """
    name, (handle, *_) = function.__name__, arguments
    if any(name in row.calls for row in CALL_FAULTS) and not handle.on_reference_device:
        names = (parameter.name for parameter in function.parameters)
        call = Call(name, dict(zip(names, arguments, strict=True)))
        major, minor = handle.device.compute_capability
        heed(name, faults_of_call(call, load().version, 10 * major + minor))
