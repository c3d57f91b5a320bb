"""The old names without an implementation, each with the reason."""

from __future__ import annotations

import functools
import re

from ....raw.gone import find, gone_names

__all__ = ["left_out"]

# By a pattern of the name.
_REASONS = {
    r"cudnnFindRNN\w+AlgorithmEx|cudnnGetRNN\w+AlgorithmMaxCount": (
        "no function of cuDNN 9 times the algorithms of an RNN: set each cudnnRNNAlgo_t with "
        "cudnnSetRNNDescriptor_v6 and time it"
    ),
    r"cudnn(Save|Restore)Algorithm|cudnnGetAlgorithmSpaceSize": (
        "cuDNN 9 has no stored form of an algorithm, and no program can use one of another release"
    ),
    r"CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_DENOM_FACTOR_MODE": (
        "only cuDNN 9.7 had it, and no later library takes its number"
    ),
}


@functools.cache
def left_out() -> dict[str, str]:
    """The reason for every name of `gone_names` that `v7` lacks.

    >>> left_out()["cudnnSetPoolingDescriptor"]
    'only cuDNN 1 had it'
    """
    return {name: reason for name in gone_names() if (reason := _reason(name))}


def _reason(name: str) -> str:
    gone = find(name)
    if gone is not None and gone.gone == "2.0":
        return "only cuDNN 1 had it"
    matching = (reason for pattern, reason in _REASONS.items() if re.fullmatch(pattern, name))
    return next(matching, "")
