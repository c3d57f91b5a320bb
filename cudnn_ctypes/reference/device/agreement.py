"""Checks shared by functions: equal shapes, types and strides of tensors."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ... import raw
from ...raw.ctypes_support import CudnnEnum
from ..arithmetic import scaling_dtype
from ..layout import packed_strides
from .memory import Operand
from .registry import Refused, bad_param, not_supported

__all__ = [
    "FLOATING",
    "accumulation_dtype",
    "compute_dtype",
    "overlaps",
    "require_dimensions",
    "require_equal",
    "require_in_place",
    "require_known",
    "require_layout",
    "require_rank",
    "require_type",
    "word",
]

FLOATING = (
    raw.CUDNN_DATA_FLOAT,
    raw.CUDNN_DATA_DOUBLE,
    raw.CUDNN_DATA_HALF,
    raw.CUDNN_DATA_BFLOAT16,
)


def compute_dtype(operand: Operand) -> np.dtype[Any]:
    """In which its elements are computed with: float64 for DOUBLE, float32 for the other types."""
    return scaling_dtype(operand.dtype)


def accumulation_dtype(operand: Operand) -> np.dtype[Any]:
    """int32 for integers, which stay exact if only moved; else `compute_dtype`."""
    return np.dtype(np.int32) if operand.dtype.kind in "iu" else compute_dtype(operand)


def require_equal(
    first: Operand,
    *others: Operand,
    fields: tuple[str, ...] = ("data_type", "shape"),
    status: raw.cudnnStatus_t = raw.CUDNN_STATUS_BAD_PARAM,
) -> None:
    """Refuse tensors whose descriptors differ in `fields`: "data_type", "shape", "strides"."""
    for other in others:
        for field in fields:
            wanted, actual = getattr(first.described, field), getattr(other.described, field)
            if actual != wanted:
                raise Refused(
                    status,
                    f"{first.name} and {other.name} must have the same {field}, got "
                    f"{_shown(wanted)} and {_shown(actual)}",
                )


def require_in_place(source: Operand, target: Operand) -> None:
    """Refuse a result at the address of an operand unless it has the operand's strides."""
    if source.address == target.address:
        require_equal(source, target, fields=("strides",))


def require_known(**enumerators: CudnnEnum) -> None:
    """Refuse codes that no enumerator has: the arguments under their names in C."""
    for name, value in enumerators.items():
        if not value.known:
            raise bad_param(f"{name}: {type(value).__name__} has no {int(value)}")


def require_type(operand: Operand, types: Collection[raw.cudnnDataType_t], function: str) -> None:
    """Refuse data types that cuDNN has no kernel for, with NOT_SUPPORTED."""
    if operand.data_type not in types:
        raise not_supported(f"cuDNN has no {function} of {_shown(operand.data_type)} tensors")


def require_layout(function: str, first: Operand, *others: Operand) -> None:
    """Refuse layouts of pointwise functions: any of 4 or 5 dimensions, else equal, packed images.

    Dimensions of size 1 do not count, nor what is between images. NOT_SUPPORTED for others.
    """
    shape = first.shape
    if len(shape) in (4, 5):
        return
    wanted = packed_strides(shape)[1:]
    steps = zip(shape[1:], first.strides[1:], wanted, strict=True)
    if any(size > 1 and step != packed for size, step, packed in steps) or any(
        each.strides != first.strides for each in others
    ):
        raise not_supported(
            f"{function} of {len(shape)} dimensions is for equal and packed layouts, {first.name} "
            f"of shape {shape} has the strides {first.strides}"
        )


def require_rank(function: str, operand: Operand, *others: Operand) -> None:
    """Refuse fewer than 3 dimensions, with BAD_PARAM, and strides of 0, with NOT_SUPPORTED."""
    if len(operand.shape) < 3:
        raise bad_param(
            f"{function} is for 3 dimensions or more, {operand.name} has {len(operand.shape)}"
        )
    for each in (operand, *others):
        if 0 in each.strides:
            raise not_supported(f"{each.name} has a stride of 0: {each.strides}")


def overlaps(operand: Operand) -> bool:
    """Whether elements share addresses, by the order of the strides."""
    end = 0
    for stride, size in sorted(zip(operand.strides, operand.shape, strict=True)):
        if size > 1 and stride <= end:
            return True
        end += (size - 1) * stride
    return False


def require_dimensions(operand: Operand, least: int, most: int, function: str) -> None:
    """Refuse numbers of dimensions that cuDNN has no kernel for, with NOT_SUPPORTED."""
    count = len(operand.shape)
    if not least <= count <= most:
        raise not_supported(
            f"{function} is for {least} to {most} dimensions, {operand.name} has {count}"
        )


def word(member: Any, prefix: str) -> Any:
    """An enumerator as the reference functions spell it: lower case, without C's prefix."""
    return member.name.removeprefix(prefix).lower()


def _shown(value: object) -> str:
    return str(getattr(value, "name", value))
