"""Checks of one tensor's fields: whatever a program or a stored graph has put into them."""

from __future__ import annotations

import ctypes
import math
import numbers
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from ... import arguments
from ...raw import cudnnBackendTensorReordering_t, cudnnDataType_t
from ...raw.ctypes_support import CudnnEnum
from ...raw.values import described
from .tensor import Tensor

__all__ = ["check_memory", "check_number", "check_tensor", "integer"]

_MOST = (1 << 63) - 1  # cuDNN's numbers have 64 bits
_INTEGERS = ("uid", "vector_dimension", "alignment", "ragged_offset_multiplier", "vector_count")
_OPTIONAL = ("uid", "vector_dimension")


def check_tensor(tensor: Any) -> None:
    """Refuse what no tensor can be, and put dims and strides into tuples of int.

    Raises
    ------
    TypeError, ValueError
        The message names the tensor and its field.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tensors: expected a Tensor, got {described(tensor)}")
    place = f"tensor {tensor.name!r}"
    if not isinstance(tensor.name, str):
        raise TypeError(f"{place}: name: expected text, got {described(tensor.name)}")
    for name, least in (("dims", 1), ("strides", 0)):
        given = getattr(tensor, name)
        if given is not None:
            setattr(tensor, name, _sizes(f"{place}: {name}", given, least))
    dims, strides = tensor.dims, tensor.strides
    if dims is not None and strides is not None and len(dims) != len(strides):
        raise ValueError(f"{place}: {len(dims)} dims {dims}, but {len(strides)} strides {strides}")
    for name in _INTEGERS:
        value = getattr(tensor, name)
        if value is not None or name not in _OPTIONAL:
            setattr(tensor, name, integer(f"{place}: {name}", value))
    for name in ("ragged_offset_multiplier", "vector_count"):
        if getattr(tensor, name) < 1:
            raise ValueError(f"{place}: {name} must be positive, got {getattr(tensor, name)}")
    for name in ("virtual", "by_value", "scratch"):
        _check_type(f"{place}: {name}", getattr(tensor, name), bool)
    _check_type(f"{place}: data_type", tensor.data_type, (cudnnDataType_t, type(None)))
    _check_type(f"{place}: reordering", tensor.reordering, cudnnBackendTensorReordering_t)
    _check_type(f"{place}: ragged_offset", tensor.ragged_offset, (Tensor, type(None)))
    if tensor.uid == -1:  # cuDNN 9.28 refuses element-wise graphs with it, for other reasons
        raise ValueError(f"{place}: uid: -1 is cuDNN's own; any other int will do")
    if tensor.ragged_offset is not None and tensor.ragged_offset.ragged_offset is not None:
        raise ValueError(f"{place}: its ragged_offset has one itself")
    if tensor.value is not None:
        _check_value(tensor, place)


def check_memory(tensor: Tensor, made: bool) -> None:
    """Refuse a complete tensor whose memory cannot be as it says.

    Parameters
    ----------
    made : bool
        Whether it is the result of an operation.

    Raises
    ------
    ValueError
    """
    dims, strides = tensor.dims or (), tensor.strides or ()
    if not dims or tensor.data_type is None:
        _refuse(tensor, f"has no {'data type' if dims else 'dims'}")
    if math.prod(dims) > _MOST or sum(a * b for a, b in zip(dims, strides, strict=True)) > _MOST:
        _refuse(tensor, f"strides {strides}: it has more elements than 64 bits can count")
    if tensor.virtual and tensor.by_value:
        _refuse(tensor, "cannot be both virtual and by value")
    if tensor.by_value and any(size != 1 for size in dims):
        _refuse(tensor, "is passed by value, so it can only be one number")
    if tensor.by_value and made:
        _refuse(tensor, "is a result, which cannot be passed by value")
    if tensor.scratch and (tensor.virtual or tensor.by_value):
        _refuse(tensor, "lies in the workspace, and can neither be virtual nor by value")
    if tensor.scratch and (tensor.vector_count > 1 or tensor.ragged_offset is not None):
        _refuse(tensor, "lies in the workspace, and has neither vectors nor a ragged_offset")
    if tensor.scratch and _elements(tensor) > math.prod(dims):
        _refuse(tensor, f"lies in the workspace without gaps, so strides {strides} do not fit")
    if isinstance(tensor.value, (tuple, list)) and len(tensor.value) != math.prod(dims):
        _refuse(tensor, f"has {math.prod(dims)} elements, but {len(tensor.value)} values")
    if tensor.alignment < 1 or tensor.alignment & (tensor.alignment - 1):
        _refuse(tensor, f"alignment {tensor.alignment} is no power of two")
    if tensor.vector_count > 1 and tensor.vector_dimension is None:
        _refuse(tensor, "vector_count without vector_dimension")
    if tensor.vector_dimension is not None and not 0 <= tensor.vector_dimension < len(dims):
        _refuse(tensor, f"vector_dimension {tensor.vector_dimension} is none of its dimensions")


def check_number(place: str, value: Any) -> None:
    """Refuse what is neither a number that fits in 64 bits nor a C variable.

    Raises
    ------
    TypeError, ValueError
    """
    if isinstance(value, ctypes._SimpleCData) and isinstance(value.value, (int, float)):
        return
    is_number = isinstance(value, numbers.Real) or (
        isinstance(value, np.generic) and value.dtype.kind not in "cSUOMm"
    )
    if not is_number or isinstance(value, CudnnEnum):
        raise TypeError(f"{place}: expected a number, got {described(value)}")
    if isinstance(value, (int, Fraction)) and not -(1 << 64) < value < 1 << 64:
        raise ValueError(f"{place}: a number of more than 64 bits")


def integer(place: str, value: Any) -> int:
    """An int of 64 bits.

    Raises
    ------
    TypeError, ValueError
    """
    number = arguments.integer(place, value)
    if not -_MOST <= number <= _MOST:
        raise ValueError(f"{place}: {number} has more than 64 bits")
    return number


def _sizes(place: str, values: Any, least: int) -> tuple[int, ...]:
    if not isinstance(values, (Sequence, np.ndarray)) or isinstance(values, (str, bytes)):
        raise TypeError(f"{place}: expected ints, got {described(values)}")
    sizes = tuple(integer(f"{place}[{i}]", each) for i, each in enumerate(values))
    if not sizes:
        raise ValueError(f"{place}: expected at least one, got none")
    if min(sizes) < least:
        wanted = "positive" if least else "at least 0"
        raise ValueError(f"{place} must be {wanted}, got {sizes}")
    return sizes


def _check_type(place: str, value: Any, wanted: Any) -> None:
    if not isinstance(value, wanted):
        first = wanted[0] if isinstance(wanted, tuple) else wanted
        raise TypeError(f"{place}: expected a {first.__name__}, got {described(value)}")


def _check_value(tensor: Tensor, place: str) -> None:
    if not tensor.by_value and not tensor.scratch:
        raise ValueError(f"{place}: has a value, but is neither by_value nor scratch")
    several = isinstance(tensor.value, (tuple, list)) and tensor.scratch
    for each in tensor.value if several else [tensor.value]:
        check_number(f"{place}: value", each)


def _elements(tensor: Tensor) -> int:
    """From the first to the last."""
    span = zip(tensor.dims or (), tensor.strides or (), strict=True)
    return 1 + sum((size - 1) * stride for size, stride in span)


def _refuse(tensor: Tensor, reason: str) -> NoReturn:
    raise ValueError(f"{tensor!r} {reason}")
