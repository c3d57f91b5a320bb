"""Numbers that users pass, checked before C; errors name the argument."""

from __future__ import annotations

from typing import Any

from ..raw import CUDNN_DATA_DOUBLE, CUDNN_DATA_FLOAT, cudnnDataType_t

__all__ = ["accumulator", "real"]


def accumulator(data_type: cudnnDataType_t) -> cudnnDataType_t:
    """The data type in which cuDNN computes: float64 for float64, else float32."""
    return CUDNN_DATA_DOUBLE if data_type == CUDNN_DATA_DOUBLE else CUDNN_DATA_FLOAT


def real(name: str, value: Any) -> float:
    """`value`, the argument called `name`, as a float.

    Raises
    ------
    TypeError
        If it is no number.
    """
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except Exception:  # numbers of other libraries raise errors of any class
        raise TypeError(f"{name}: expected a number, got {value!r}") from None
