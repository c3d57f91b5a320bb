"""Softmax of layouts that cuDNN computes wrong.

The guard of layer 1 warns of them, and layer 2 lays operands out anew.
"""

from __future__ import annotations

import math
from typing import Any

from ..enums import CUDNN_DATA_DOUBLE, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE
from ..records import Call
from ..strides import has_strides, is_packed, packed, same_layout

_RANKS = (4, 5)  # of other tensors layouts do not matter, or cuDNN refuses them
_OPERANDS = {
    "cudnnSoftmaxForward": ("xDesc", "yDesc"),
    "cudnnSoftmaxBackward": ("yDesc", "dyDesc", "dxDesc"),
}


def wrong_softmax(algorithm: Any, mode: Any, *operands: Any) -> bool:
    """Whether cuDNN computes a softmax wrong, by the shapes and strides of all operands.

    In mode "channel" it reads planes of pixels as one row, and writes its pixels at equal steps, in
    whatever order the result's axes are, but for the logarithm of a single image. Otherwise it
    takes all strides from one operand.
    """
    *sources, result = operands
    first = sources[0]
    if any(len(each.shape) != len(first.shape) for each in operands):
        return False
    if len(first.shape) == 3:
        packed_alike = all(is_packed(each) for each in operands)
        return bool(mode == CUDNN_SOFTMAX_MODE_INSTANCE) and not packed_alike
    if len(first.shape) not in _RANKS:
        return False
    alike = all(same_layout(first, each) for each in sources)
    if mode == CUDNN_SOFTMAX_MODE_INSTANCE:
        if not alike or not same_layout(first, result):
            return True
        # Between packed images there may be gaps, which this mode does not see.
        return is_packed(first, start=1) and not is_packed(first)
    if alike and _has_planes(first):
        backward = len(sources) > 1
        if (
            algorithm == CUDNN_SOFTMAX_LOG
            and first.shape[0] == 1 != first.shape[1]
            and not backward
        ):
            return not same_layout(first, result)
        return not _at_equal_steps(result)
    if not alike or not same_layout(first, result) or _is_channels_last(first):
        return True
    if first.shape[1] > 1:
        return False
    # Of one channel, strides count that nothing is found by.
    if len(first.shape) == 4:
        return first.strides[1] == 1 and not _at_equal_steps(first)
    leaves = len(sources) > 1 and first.strides[1] == 1 != result.strides[1]
    kernel = _has_kernel(first) and first.data_type != CUDNN_DATA_DOUBLE
    return leaves or (_has_kernel(result) and not kernel)


def _has_planes(tensor: Any) -> bool:
    """Whether each channel is a packed plane, images outermost."""
    images, channels, *sizes = tensor.shape
    between, within, *_ = tensor.strides
    pixels = math.prod(sizes)
    outermost = 1 in (images, channels) or between >= channels * within
    return is_packed(tensor, start=2) and 1 < pixels <= within and outermost


def _at_equal_steps(tensor: Any) -> bool:
    """Whether its pixels are as far from each other as the stride of the last dimension says."""
    step = tensor.strides[-1]
    return has_strides(tensor, [step * each for each in packed(tensor.shape)], 2)


def _is_channels_last(tensor: Any) -> bool:
    """Whether the channels of a 5-dimensional tensor are inside, unless cuDNN has a kernel."""
    _, channels, *sizes = tensor.shape
    inside = tensor.strides[1] < max(tensor.strides[2:]) and (
        channels > 1 or tensor.strides[1] == 1
    )
    if len(sizes) != 3 or not inside:
        return False
    last = is_packed(tensor, "nhwc")
    return (tensor.data_type == CUDNN_DATA_DOUBLE and channels > 1) or not last


def _has_kernel(tensor: Any) -> bool:
    """Whether strides, also of dimensions of size 1, are those of packed channels last."""
    return tuple(tensor.strides) == packed(tensor.shape, (0, 2, 3, 4, 1))


def has_other_layouts(call: Call) -> str:
    operands = {name: call.record(name) for name in _OPERANDS[call.function]}
    how = (call.arguments[name] for name in ("algo", "mode"))
    if None in operands.values() or not wrong_softmax(*how, *operands.values()):
        return ""
    told = (f"{name} {x.shape} with strides {x.strides}" for name, x in operands.items())
    return f"{call.function} of {', '.join(told)}"
