"""Softmax of layouts that cuDNN computes wrong: where, in which versions, and what helps.

The guard of layer 1 warns by it, and layer 2 lays operands out anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .enums import CUDNN_DATA_DOUBLE, CUDNN_SOFTMAX_MODE_INSTANCE

__all__ = ["WRONG_SOFTMAX", "LegacyFault", "same_layout", "wrong_softmax"]

_RANKS = (4, 5)  # cuDNN refuses other tensors unless they are packed


@dataclass(frozen=True)
class LegacyFault:
    """A fault of C functions with a handle.

    Attributes
    ----------
    name : str
    functions : dict of str to tuple of str
        C functions, with the parameters whose records `where` receives after the mode.
    where : callable
        Whether a call has the fault.
    effect, remedy : str
    since : int
        The first version of cuDNN in which it was seen.
    repaired : int, optional
        The first version that is known to be without it.
    evidence : str
        GPUs and versions, and the numbers.
    """

    name: str
    functions: dict[str, tuple[str, ...]]
    where: Callable[..., bool]
    effect: str
    remedy: str
    since: int
    evidence: str
    repaired: int | None = None

    def applies(self, version: int) -> bool:
        """Whether this cuDNN has the fault, as far as is known."""
        return self.since <= version and (self.repaired is None or version < self.repaired)


def wrong_softmax(mode: Any, *operands: Any) -> bool:
    """Whether cuDNN computes a softmax wrong, by the shapes and strides of all operands."""
    first, *others = operands
    if len(first.shape) not in _RANKS:
        return False
    if not all(same_layout(first, each) for each in others):
        return True
    return _has_gaps(first) if mode == CUDNN_SOFTMAX_MODE_INSTANCE else _is_channels_last(first)


def same_layout(one: Any, other: Any) -> bool:
    """Whether strides are equal; those of dimensions of size 1 do not count."""
    pairs = zip(one.shape, one.strides, other.strides, strict=True)
    return all(n == 1 or a == b for n, a, b in pairs)


def _has_gaps(tensor: Any) -> bool:
    """Whether packed images have gaps between them, which the mode "instance" does not see."""
    shape, strides = tensor.shape, tensor.strides
    axes = range(1, len(shape))
    packed = all(shape[i] == 1 or strides[i] == math.prod(shape[i + 1 :]) for i in axes)
    return packed and shape[0] > 1 and strides[0] != math.prod(shape[1:])


def _is_channels_last(tensor: Any) -> bool:
    """Whether it is a 5-dimensional float64 tensor whose channels are inside of its rows."""
    shape, strides = tensor.shape, tensor.strides
    return bool(
        tensor.data_type == CUDNN_DATA_DOUBLE
        and len(shape) == 5
        and shape[1] > 1
        and shape[4] > 1
        and strides[1] < strides[4]
    )


WRONG_SOFTMAX = LegacyFault(
    "softmax between layouts",
    {
        "cudnnSoftmaxForward": ("xDesc", "yDesc"),
        "cudnnSoftmaxBackward": ("yDesc", "dyDesc", "dxDesc"),
    },
    wrong_softmax,
    "cuDNN computes wrong numbers for these strides",
    "give all operands equal strides and packed images, by cudnnTransformTensor, or call "
    "softmax_forward or softmax_backward, which do so",
    since=91400,
    evidence="H200, 9.19",
)
