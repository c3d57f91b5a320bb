"""Comparing tensors of PyTorch with earlier ones: classes, types, shapes, strides and devices.

PyTorch compares them in one call, for its own compiler. To read as much from Python takes ten times
as long. If a version of PyTorch lacks the comparison, or it fails a test, they are read.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["alike"]

Alike = Callable[..., bool]


def alike(tensors: Sequence[Any]) -> Alike:
    """A function of the same number of tensors: true if each is like the one of these.

    It keeps none of them, and is false for one object given twice. It may ignore whether they
    require gradients.
    """
    return _guard(tensors) if _guards_work() else _read(tensors)


def _guard(tensors: Sequence[Any]) -> Alike:
    check: Alike = (
        sys.modules["torch"]
        ._C._dynamo.guards.TensorGuards(
            *tensors,
            dynamic_dims_sizes=[list(each.shape) for each in tensors],
            dynamic_dims_strides=[list(each.stride()) for each in tensors],
        )
        .check
    )
    return check


def _read(tensors: Sequence[Any]) -> Alike:
    forms = list(map(_form, tensors))

    def check(*tensors: Any) -> bool:
        # Only tensors have a form.
        if [*map(type, tensors)] != kinds or len(set(map(id, tensors))) != len(kinds):
            return False
        return [*map(_form, tensors)] == forms

    kinds = [*map(type, tensors)]
    return check


def _form(tensor: Any) -> tuple[Any, ...]:
    is_conjugated = tensor.dtype.is_complex and tensor.is_conj()
    flags = tensor.layout, tensor.is_neg(), is_conjugated
    return tensor.dtype, tensor.shape, tensor.stride(), tensor.device, flags


@functools.cache
def _guards_work() -> bool:
    torch = sys.modules["torch"]
    x = torch.zeros(2, 3, device="cpu")
    others = x.t(), x[:1], x.double(), x.new_zeros(2, 6)[:, ::2], x.to("meta"), torch._neg_view(x)
    try:
        check = _guard([x])
        return bool(check(x)) and not any(map(check, (*others, None)))
    except (AttributeError, TypeError, RuntimeError):
        return False
