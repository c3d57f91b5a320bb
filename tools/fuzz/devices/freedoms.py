"""What cuDNN leaves open: where two devices may differ, with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

__all__ = ["FREEDOMS", "Freedom", "freedom"]


@dataclass(frozen=True)
class Freedom:
    """A difference that is no fault.

    Attributes
    ----------
    function : str
        A pattern of C names.
    kind : str
        "value", "number", "bits": of values returned through pointers, of numbers in memory, of
        two runs on the same device.
    name : str
        A pattern of parameters.
    reason : str
    """

    function: str
    kind: str
    name: str
    reason: str


_SIZES = "the size of scratch memory belongs to the implementation"
_ATOMICS = "atomic additions come in any order, so the lowest bits change from run to run"

FREEDOMS: tuple[Freedom, ...] = (
    *(
        Freedom("*", "value", name, _SIZES)
        for name in ("*orkspaceSize*", "*orkSpaceSize*", "*eserveSpaceSize*")
    ),
    Freedom("*WorkspaceSize*", "value", "sizeInBytes", _SIZES),
    Freedom("*ReserveSpaceSize", "value", "sizeInBytes", _SIZES),
    Freedom("cudnnDropoutGetStatesSize", "value", "sizeInBytes", "one state for each GPU thread"),
    Freedom("*Algorithm*", "value", "perfResults", "which algorithm is fastest, and its time"),
    Freedom("*Algorithm*", "value", "returnedAlgoCount", "how many algorithms a device has"),
    Freedom("cudnnDivisiveNormalization*", "number", "temp*", "scratch memory"),
    Freedom("cudnnConvolutionBackward*", "bits", "*", _ATOMICS),
    Freedom("cudnnSpatialTfSamplerBackward", "bits", "*", _ATOMICS),
    Freedom("cudnnPoolingBackward", "bits", "*", _ATOMICS + " (but max_deterministic)"),
    Freedom("cudnnCTCLoss*", "bits", "*", _ATOMICS + " (but the deterministic algorithm)"),
    Freedom("cudnnDropoutForward", "number", "y", "which elements are dropped"),
)


def freedom(function: str, kind: str, name: str) -> str:
    """Why this may differ, "" if it must not."""
    for each in FREEDOMS:
        of = each.kind == kind and fnmatchcase(function, each.function)
        if of and fnmatchcase(name, each.name):
            return each.reason
    return ""
