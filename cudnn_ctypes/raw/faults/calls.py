"""Known faults of C functions, by what their descriptors say; the guards of layer 1 warn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..enums import CUDNN_POOLING_MAX, CUDNN_POOLING_MAX_DETERMINISTIC
from ..records import record
from . import Fault, Finding, Range, findings, measured, row
from .softmax import SOFTMAX

__all__ = ["CALL_FAULTS", "Call", "faults_of_call"]


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


def _pools_maxima(call: Call) -> str:
    pooling = call.record("poolingDesc")
    found = pooling is not None and pooling.mode in _MAXIMA
    return f"{call.function} of {pooling.mode.name}" if found else ""


_MAXIMA = (CUDNN_POOLING_MAX, CUDNN_POOLING_MAX_DETERMINISTIC)

CALL_FAULTS: tuple[Fault, ...] = (
    SOFTMAX,
    row(
        "largest of infinities below zero",
        "cudnnPoolingForward",
        "wrong numbers",
        "cuDNN gives the lowest finite number, not -inf",
        _pools_maxima,
        Range(91400, repaired=92800),
        measured("9.14, 9.19", "-3.4e38 in float32, -65504 in float16; 9.28 gives -inf."),
        data="a window holds only -inf, or lies outside of the image",
        remedy="put -inf for the lowest finite number in y",
    ),
)
"""The rows."""


def faults_of_call(call: Call, version: int, capability: int = 0) -> list[Finding]:
    """The known faults that concern a call, with this cuDNN on a GPU of this capability.

    0 is some GPU.
    """
    rows = [each for each in CALL_FAULTS if call.function in each.calls]
    return findings(rows, call, _Target(version, capability))
