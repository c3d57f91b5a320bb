"""Known faults of C functions, by what their descriptors say; the guards of layer 1 warn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..records import record
from . import Fault, Finding, findings
from .softmax import SOFTMAX

__all__ = ["CALL_FAULTS", "Call", "faults_of_call"]

CALL_FAULTS: tuple[Fault, ...] = (SOFTMAX,)


class Call(NamedTuple):
    """A C call: the function's name, and arguments by the names of their parameters.

    Of the arguments it has descriptors and enumerators at least.
    """

    function: str
    arguments: Mapping[str, Any]

    def record(self, parameter: str) -> Any:
        """The record of a descriptor; None for one that was never set."""
        return record(self.arguments[parameter])


class _Target(NamedTuple):
    version: int
    capability: int
    beside_another: bool = False


def faults_of_call(call: Call, version: int, capability: int = 0) -> list[Finding]:
    """The known faults that concern a call, with this cuDNN on a GPU of this capability.

    0 is some GPU.
    """
    rows = [row for row in CALL_FAULTS if call.function in row.calls]
    return findings(rows, call, _Target(version, capability))
