"""Numbers that users pass, checked before C; errors name the argument."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from ..raw import CUDNN_DATA_DOUBLE, CUDNN_DATA_FLOAT, cudnnDataType_t

__all__ = ["accumulator", "integer", "integers", "real"]


def accumulator(data_type: cudnnDataType_t) -> cudnnDataType_t:
    """The data type in which cuDNN computes: float64 for float64, else float32."""
    return CUDNN_DATA_DOUBLE if data_type == CUDNN_DATA_DOUBLE else CUDNN_DATA_FLOAT


def integer(name: str, value: Any, *, least: int | None = None) -> int:
    """`value`, the argument called `name`, as an int, at least `least`.

    Raises
    ------
    TypeError, ValueError
        If it is none, or less.
    """
    try:
        number = operator.index(value)
    except Exception:  # numbers of other libraries raise errors of any class
        raise TypeError(f"{name}: expected an int, got {value!r}") from None
    if least is not None and number < least:
        raise ValueError(f"{name}: expected at least {least}, got {number}")
    return number


def integers(name: str, values: Any) -> list[int]:
    """`values`, the argument called `name`, as a list of ints of either sign.

    Raises
    ------
    TypeError
        If it is no sequence of ints.
    """
    try:
        if not isinstance(values, Iterable) or isinstance(values, (str, bytes)):
            raise TypeError
        return [operator.index(value) for value in values]
    except Exception:
        raise TypeError(f"{name}: expected ints, got {values!r}") from None


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
