"""Checks of the causal convolutions on the reference device.

The refused sizes and types, and their statuses, were measured with cuDNN 9.28.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import raw
from ...raw.operand_rules.language import FLOATING
from .call import Call
from .registry import bad_param, not_supported

__all__ = ["check_activation", "check_aligned", "check_sizes", "check_width", "types"]

_ACTIVATIONS: Mapping[int, Any] = {
    raw.CUDNN_CAUSAL_CONV1D_ACTIVATION_IDENTITY: "identity",
    raw.CUDNN_CAUSAL_CONV1D_ACTIVATION_SILU: "silu",
}


def check_sizes(call: Call) -> tuple[int, int, int]:
    """batch, dim and seqLen; refused if one is not positive."""
    for name in ("batch", "dim", "seqLen"):
        if call[name] < 1:
            raise bad_param(f"{name} must be at least 1, got {call[name]}")
    return call["batch"], call["dim"], call["seqLen"]


def check_width(call: Call, name: str, largest: int) -> int:
    """The length of a filter; refused if shorter than 2 or longer than cuDNN has kernels for."""
    width: int = call[name]
    if not 2 <= width <= largest:
        raise bad_param(f"{name} must be from 2 to {largest}, got {width}")
    return width


def types(call: Call) -> tuple[raw.cudnnDataType_t, np.dtype[Any]]:
    """The data type, and the dtype of sums.

    All but FLOAT, DOUBLE, HALF and BFLOAT16 are refused, and gradients of filters that are not
    DOUBLE for DOUBLE and FLOAT for the others.
    """
    data_type = call["dataType"]
    if data_type not in FLOATING:
        raise not_supported(f"dataType {data_type.name}")
    double = data_type == raw.CUDNN_DATA_DOUBLE
    wanted = raw.CUDNN_DATA_DOUBLE if double else raw.CUDNN_DATA_FLOAT
    if "dwDataType" in call and call["dwDataType"] != wanted:
        raise not_supported(
            f"dwDataType must be {wanted.name} for dataType {data_type.name}, got "
            f"{call['dwDataType'].name}"
        )
    return data_type, np.dtype(np.float64 if double else np.float32)


def check_activation(call: Call) -> Any:
    """The activation's name in the reference."""
    if call["activation"] not in _ACTIVATIONS:
        raise bad_param(f"activation {int(call['activation'])}")
    return _ACTIVATIONS[call["activation"]]


def check_aligned(call: Call) -> None:
    """Refuse NULL, and memory not aligned to 16 bytes, which the FFT kernels require."""
    call.require_memory()
    for name, _, address in call.memory:
        if address and address % 16:
            raise bad_param(f"{name} must be aligned to 16 bytes, is {address:#x}")
