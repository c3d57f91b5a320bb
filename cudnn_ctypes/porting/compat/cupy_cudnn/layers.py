"""Activation, softmax, pooling, dropout and CTC."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from .... import raw
from ....runtime import DeviceBuffer
from .arrays import Session, contiguous
from .descriptors import (
    Descriptor,
    create_activation_descriptor,
    create_dropout_descriptor,
    create_pooling_descriptor,
    create_tensor_descriptor,
    create_tensor_nd_descriptor,
    get_data_type,
    get_handle,
    set_dropout_descriptor,
    tensor_4d,
)
from .low_level import low

__all__ = [
    "DropoutStates",
    "activation_backward",
    "activation_forward",
    "create_dropout_states",
    "ctc_loss",
    "pooling_backward",
    "pooling_forward",
    "softmax_backward",
    "softmax_forward",
]

_NO_NAN = int(raw.CUDNN_NOT_PROPAGATE_NAN)


def as_4d(array: Any) -> Descriptor:
    """A descriptor (first size, all others, 1, 1), for element-wise operations."""
    first = array.shape[0] if len(array.shape) else 1
    return tensor_4d((first, math.prod(array.shape) // first, 1, 1), array.dtype)


def activation_forward(x: Any, mode: int, coef: float = 0.0) -> Any:
    """The activation of every element; a new array."""
    x = contiguous(x, "x")
    desc, activation = as_4d(x), create_activation_descriptor(mode, _NO_NAN, coef)
    with Session(x) as s:
        y = s.empty(x.shape, x.dtype)
        operands = 1.0, desc.value, s.read(x), 0.0, desc.value, s.write(y)
        low.activationForward_v4(get_handle(), activation.value, *operands)
    return y


def activation_backward(x: Any, y: Any, gy: Any, mode: int, coef: float = 0.0) -> Any:
    """The gradient of x; a new array."""
    x, y, gy = contiguous(x, "x"), contiguous(y, "y"), contiguous(gy, "gy")
    desc, activation = as_4d(y), create_activation_descriptor(mode, _NO_NAN, coef)
    with Session(x) as s:
        gx = s.empty(x.shape, x.dtype)
        operands = [each for array in (y, gy, x) for each in (desc.value, s.read(array))]
        result = 0.0, desc.value, s.write(gx)
        low.activationBackward_v4(get_handle(), activation.value, 1.0, *operands, *result)
    return gx


def _softmax(array: Any, axis: int) -> tuple[Descriptor, int]:
    """(before, axis, after, 1) and the mode."""
    shape = array.shape
    axis += len(shape) if axis < 0 else 0
    before, after = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    single = shape[axis] == 1 and after == 1
    mode = raw.CUDNN_SOFTMAX_MODE_INSTANCE if single else raw.CUDNN_SOFTMAX_MODE_CHANNEL
    return tensor_4d((before, shape[axis], after, 1), array.dtype), int(mode)


def softmax_forward(x: Any, axis: int, algorithm: int) -> Any:
    """The softmax along an axis; a new array."""
    x = contiguous(x, "x")
    desc, mode = _softmax(x, axis)
    with Session(x) as s:
        y = s.empty(x.shape, x.dtype)
        operands = 1.0, desc.value, s.read(x), 0.0, desc.value, s.write(y)
        low.softmaxForward(get_handle(), algorithm, mode, *operands)
    return y


def softmax_backward(y: Any, gy: Any, axis: int, algorithm: int) -> Any:
    """The gradient of the softmax's input; a new array."""
    y, gy = contiguous(y, "y"), contiguous(gy, "gy")
    desc, mode = _softmax(y, axis)
    with Session(y) as s:
        gx = s.empty(y.shape, y.dtype)
        operands = 1.0, desc.value, s.read(y), desc.value, s.read(gy), 0.0, desc.value, s.write(gx)
        low.softmaxBackward(get_handle(), algorithm, mode, *operands)
    return gx


def pooling_forward(
    x: Any, y: Any, ksize: Sequence[int], stride: Sequence[int], pad: Sequence[int], mode: int
) -> Any:
    """Pool x into y, which is returned."""
    x = contiguous(x, "x")
    x_desc, y_desc = create_tensor_nd_descriptor(x), create_tensor_nd_descriptor(y)
    pooling = create_pooling_descriptor(ksize, stride, pad, mode)
    with Session(x) as s:
        operands = 1.0, x_desc.value, s.read(x), 0.0, y_desc.value, s.write(y)
        low.poolingForward(get_handle(), pooling.value, *operands)
    return y


def pooling_backward(
    x: Any,
    y: Any,
    gy: Any,
    ksize: Sequence[int],
    stride: Sequence[int],
    pad: Sequence[int],
    mode: int,
) -> Any:
    """The gradient of x; a new array."""
    x, y, gy = contiguous(x, "x"), contiguous(y, "y"), contiguous(gy, "gy")
    x_desc, y_desc = create_tensor_nd_descriptor(x), create_tensor_nd_descriptor(y)
    pooling = create_pooling_descriptor(ksize, stride, pad, mode)
    with Session(x) as s:
        gx = s.empty(x.shape, x.dtype)
        low.poolingBackward(
            get_handle(),
            pooling.value,
            1.0,
            *(y_desc.value, s.read(y)),
            *(y_desc.value, s.read(gy)),
            *(x_desc.value, s.read(x)),
            0.0,
            *(x_desc.value, s.write(gx)),
        )
    return gx


def ctc_loss(
    probs: Any, labels: Any, label_length: Any, input_length: Any, algo: int
) -> tuple[Any, Any]:
    """The losses (batch,) and the gradient of `probs`, (time, batch, labels).

    `labels`, `label_length` and `input_length` are NumPy arrays of int32.
    """
    probs, handle = contiguous(probs, "probs"), get_handle()
    ctc = Descriptor(low.createCTCLossDescriptor(), low.destroyCTCLossDescriptor)
    low.setCTCLossDescriptor(ctc.value, get_data_type(probs.dtype))
    desc = create_tensor_descriptor(probs)
    host = labels.ctypes.data, label_length.ctypes.data, input_length.ctypes.data
    size = low.getCTCLossWorkspaceSize(handle, desc.value, desc.value, *host, algo, ctc.value)
    with Session(probs) as s:
        gradients = s.empty(probs.shape, probs.dtype)
        loss = s.empty((probs.shape[1],), "float32")
        low.CTCLoss(
            handle,
            *(desc.value, s.read(probs)),
            *host,
            s.write(loss),
            *(desc.value, s.write(gradients)),
            *(algo, ctc.value, s.workspace(size), size),
        )
    return loss, gradients


# -- dropout -----------------------------------------------------------------------------------


class DropoutStates:
    """The states of a random generator, and dropout with them.

    Parameters
    ----------
    handle : int or None
    seed : int
    """

    def __init__(self, handle: int | None, seed: int) -> None:
        handle = get_handle() if handle is None else handle
        size = low.dropoutGetStatesSize(handle)
        self._states = DeviceBuffer(size)
        self._desc = create_dropout_descriptor(handle, 0.0, self._states.ptr, size, seed)

    def set_dropout_ratio(self, dropout_ratio: float) -> None:
        """Set the rate, for recurrent networks."""
        set_dropout_descriptor(self._desc, get_handle(), dropout_ratio)

    def forward(self, handle: int | None, x: Any, dropout_ratio: float) -> tuple[Any, Any]:
        """The reserve space for `backward`, and the result."""
        handle, x = get_handle() if handle is None else handle, contiguous(x, "x")
        set_dropout_descriptor(self._desc, handle, dropout_ratio)
        desc = as_4d(x)
        size = low.getDropoutReserveSpaceSize(desc.value)
        with Session(x) as s:
            y, reserve_space = s.empty(x.shape, x.dtype), s.empty((size,), "int8")
            operands = desc.value, s.read(x), desc.value, s.write(y)
            room = s.write(reserve_space), size
            low.dropoutForward(handle, self._desc.value, *operands, *room)
        return reserve_space, y

    def backward(
        self, handle: int | None, dy: Any, dropout_ratio: float, reserve_space: Any
    ) -> Any:
        """The gradient of x; a new array."""
        handle, dy = get_handle() if handle is None else handle, contiguous(dy, "dy")
        set_dropout_descriptor(self._desc, handle, dropout_ratio)
        desc = as_4d(dy)
        with Session(dy) as s:
            dx = s.empty(dy.shape, dy.dtype)
            operands = desc.value, s.read(dy), desc.value, s.write(dx)
            room = s.read(reserve_space), reserve_space.nbytes
            low.dropoutBackward(handle, self._desc.value, *operands, *room)
        return dx


def create_dropout_states(handle: int) -> Any:
    """Memory for the states of a dropout descriptor."""
    warnings.warn(
        "create_dropout_states is deprecated. Please use DropoutStates class instead.",
        DeprecationWarning,
        stacklevel=2,
    )
    return DeviceBuffer(low.dropoutGetStatesSize(handle))
