"""What the causal convolutions of the reference device check, and how they look at memory.

Which sizes and types cuDNN refuses, and with which status, was measured with cuDNN 9.28.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ..layout import packed_strides
from .dispatch import Refused
from .memory import Use, at, require

__all__ = [
    "ACTIVATIONS",
    "check_activation",
    "check_aligned",
    "check_sizes",
    "check_types",
    "check_width",
    "compute_type",
    "dense",
    "filter_gradient_type",
]

ACTIVATIONS: Mapping[int, Any] = {
    raw.CUDNN_CAUSAL_CONV1D_ACTIVATION_IDENTITY: "identity",
    raw.CUDNN_CAUSAL_CONV1D_ACTIVATION_SILU: "silu",
}

_TYPES = (
    raw.CUDNN_DATA_FLOAT,
    raw.CUDNN_DATA_DOUBLE,
    raw.CUDNN_DATA_HALF,
    raw.CUDNN_DATA_BFLOAT16,
)


def check_sizes(**sizes: int) -> None:
    """Refuse sizes that are not positive."""
    for name, size in sizes.items():
        if size < 1:
            raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} must be at least 1, got {size}")


def check_width(name: str, width: int, largest: int) -> None:
    """Refuse filters that cuDNN has no kernel for: shorter than 2, or longer than `largest`."""
    if not 2 <= width <= largest:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, f"{name} must be from 2 to {largest}, got {width}"
        )


def check_types(
    dataType: raw.cudnnDataType_t, dwDataType: raw.cudnnDataType_t | None = None
) -> None:
    """Refuse all but FLOAT, DOUBLE, HALF and BFLOAT16, with the gradients' type that belongs."""
    if dataType not in _TYPES:
        raise Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, f"dataType {dataType.name}")
    wanted = filter_gradient_type(dataType)
    if dwDataType is not None and dwDataType != wanted:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"dwDataType must be {wanted.name} for dataType {dataType.name}, got {dwDataType.name}",
        )


def check_activation(activation: raw.cudnnCausalConv1dActivation_t) -> Any:
    """The activation's name in the reference."""
    if activation not in ACTIVATIONS:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"activation {int(activation)}")
    return ACTIVATIONS[activation]


def check_aligned(**addresses: int | None) -> None:
    """Refuse NULL, and what is not aligned to the 16 bytes that the FFT kernels ask for."""
    require(**addresses)
    for name, address in addresses.items():
        if address and address % 16:
            raise Refused(
                raw.CUDNN_STATUS_BAD_PARAM, f"{name} must be aligned to 16 bytes, is {address:#x}"
            )


def filter_gradient_type(dataType: raw.cudnnDataType_t) -> raw.cudnnDataType_t:
    """The type of the gradients of filters and biases."""
    return raw.CUDNN_DATA_DOUBLE if dataType == raw.CUDNN_DATA_DOUBLE else raw.CUDNN_DATA_FLOAT


def compute_type(dataType: raw.cudnnDataType_t) -> np.dtype[Any]:
    """In which sums are formed."""
    return np.dtype(np.float64 if dataType == raw.CUDNN_DATA_DOUBLE else np.float32)


def dense(
    name: str,
    address: int | None,
    dataType: raw.cudnnDataType_t,
    *shape: int,
    use: Use = "read",
) -> NDArray[Any]:
    """A view of dense memory, the last dimension contiguous."""
    return at(address, dataType, shape, packed_strides(shape, "NCHW"), name, use)
