"""Activations, pooling, softmax, dropout, reductions and batch normalization of ``cupy.cudnn``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import raw
from ....runtime import DeviceBuffer, DeviceTensor
from .descriptors import (
    Descriptor,
    Session,
    address_of,
    contiguous,
    create_activation_descriptor,
    create_dropout_descriptor,
    create_pooling_descriptor,
    create_tensor_descriptor,
    create_tensor_nd_descriptor,
    create_uninitialized_tensor_descriptor,
    get_data_type,
    get_handle,
    set_dropout_descriptor,
    size_of,
    tensor_4d,
)
from .low_level import low

__all__ = [
    "DropoutStates",
    "activation_backward",
    "activation_forward",
    "batch_normalization_backward",
    "batch_normalization_forward_inference",
    "batch_normalization_forward_training",
    "batch_normalization_forward_training_ex",
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


_NCHW, _NHWC = int(raw.CUDNN_TENSOR_NCHW), int(raw.CUDNN_TENSOR_NHWC)
_PERSISTENT = int(raw.CUDNN_BATCHNORM_SPATIAL_PERSISTENT)
_OPS = int(raw.CUDNN_BATCHNORM_OPS_BN)
_DTYPES = {
    int(raw.CUDNN_DATA_FLOAT): np.dtype(np.float32),
    int(raw.CUDNN_DATA_DOUBLE): np.dtype(np.float64),
    int(raw.CUDNN_DATA_HALF): np.dtype(np.float16),
}


def _descriptors(
    x: Any, is_for_conv2d: bool, mode: int, layout: int
) -> tuple[Descriptor, Descriptor, Any]:
    """The descriptors of x and of the parameters, and the parameters' data type."""
    if is_for_conv2d:
        x_desc = create_tensor_descriptor(x, layout)
    else:
        last = x.shape[-1] if x.shape else 1
        x_desc = tensor_4d((math.prod(x.shape) // last, last, 1, 1), x.dtype)
    derived = create_uninitialized_tensor_descriptor()
    low.deriveBNTensorDescriptor(derived.value, x_desc.value, mode)
    return x_desc, derived, _DTYPES[low.getTensor4dDescriptor(derived.value)[0]]


def _cast(array: Any, dtype: Any) -> Any:
    """The array, or a copy of another data type, contiguous in C order."""
    if np.dtype(array.dtype) == dtype:
        return contiguous(array)
    if isinstance(array, DeviceTensor):
        raise TypeError(f"parameters: expected a DeviceTensor of {dtype}, got {array.dtype}")
    return contiguous(array.astype(dtype))


def _check_overflow(debug: bool, mode: int) -> None:
    if debug and mode == _PERSISTENT:
        status = low.queryRuntimeError(get_handle(), int(raw.CUDNN_ERRQUERY_BLOCKING))
        if status:
            warnings.warn(
                f"A numerical overflow might have happened in cuDNN batch normalization "
                f"(status:{status})",
                stacklevel=4,
            )


def _extra_spaces(x: Any, mode: int, layout: int) -> bool:
    """Whether cuDNN has faster kernels with a workspace and reserve space: halves in NHWC."""
    fits = mode == _PERSISTENT and np.dtype(x.dtype) == np.float16 and layout == _NHWC
    return fits and x.shape[3] % 4 == 0


def batch_normalization_forward_training(
    x: Any,
    gamma: Any,
    beta: Any,
    running_mean: Any,
    running_var: Any,
    mean: Any,
    inv_std: Any,
    eps: float,
    decay: float,
    is_for_conv2d: bool,
    cudnn_mode: int,
    debug: bool,
    d_layout: int = _NCHW,
) -> Any:
    """y, and the batch's mean and inverse deviation unless there are arrays for them.

    The running statistics are updated: decay times the old ones plus 1 - decay times the batch's.
    """
    _, y, *saved = batch_normalization_forward_training_ex(
        x,
        gamma,
        beta,
        running_mean,
        running_var,
        mean,
        inv_std,
        eps,
        decay,
        is_for_conv2d,
        cudnn_mode,
        debug,
        d_layout,
    )
    return (y, *saved) if mean is None else y


def batch_normalization_forward_training_ex(
    x: Any,
    gamma: Any,
    beta: Any,
    running_mean: Any,
    running_var: Any,
    mean: Any,
    inv_std: Any,
    eps: float,
    decay: float,
    is_for_conv2d: bool,
    cudnn_mode: int,
    debug: bool,
    d_layout: int = _NCHW,
) -> Any:
    """`batch_normalization_forward_training` that returns a reserve space (or None) before y."""
    if (mean is None) != (inv_std is None):
        raise ValueError("Both mean and inv_std must be None if one is.")
    x = contiguous(x, "x")
    x_desc, derived, dtype = _descriptors(x, is_for_conv2d, cudnn_mode, d_layout)
    gamma, beta = _cast(gamma, dtype), _cast(beta, dtype)
    running = [_cast(each, dtype) for each in (running_mean, running_var)]
    with Session(x) as s:
        y = s.empty(x.shape, x.dtype)
        saved = [s.empty(gamma.shape, dtype) if mean is None else mean]
        saved.append(s.empty(gamma.shape, dtype) if inv_std is None else inv_std)
        parameters = (
            *(derived.value, s.read(gamma), s.read(beta), 1.0 - decay),
            *(s.write(running[0]), s.write(running[1]), eps),
            *(s.write(saved[0]), s.write(saved[1])),
        )
        reserve_space = _forward(s, x, y, x_desc.value, cudnn_mode, d_layout, parameters)
        _check_overflow(debug, cudnn_mode)
    for given, used in zip((running_mean, running_var), running, strict=True):
        if used is not given:
            given[...] = used.astype(given.dtype)
    return (reserve_space, y, *saved) if mean is None else (reserve_space, y)


def _forward(
    s: Session, x: Any, y: Any, desc: int, mode: int, layout: int, parameters: tuple[Any, ...]
) -> Any:
    """Launch; return the reserve space, or None without one."""
    derived, handle = parameters[0], get_handle()
    operands = desc, s.read(x), desc, s.write(y)
    if not _extra_spaces(x, mode, layout):
        low.batchNormalizationForwardTraining(handle, mode, 1.0, 0.0, *operands, *parameters)
        return None
    ask = low.getBatchNormalizationForwardTrainingExWorkspaceSize
    size = ask(handle, mode, _OPS, desc, desc, desc, derived, 0)
    reserve_space = s.room(
        low.getBatchNormalizationTrainingExReserveSpaceSize(handle, mode, _OPS, 0, desc)
    )
    low.batchNormalizationForwardTrainingEx(
        *(handle, mode, _OPS, 1.0, 0.0),
        *(*operands[:2], desc, 0, *operands[2:]),
        *parameters,
        *(0, s.workspace(size), size, address_of(reserve_space), size_of(reserve_space)),
    )
    return reserve_space


def batch_normalization_forward_inference(
    x: Any,
    gamma: Any,
    beta: Any,
    mean: Any,
    var: Any,
    eps: float,
    is_for_conv2d: bool,
    cudnn_mode: int,
    d_layout: int = _NCHW,
) -> Any:
    """y with given statistics."""
    x = contiguous(x, "x")
    desc, derived, dtype = _descriptors(x, is_for_conv2d, cudnn_mode, d_layout)
    arrays = [_cast(each, dtype) for each in (gamma, beta, mean, var)]
    with Session(x) as s:
        y = s.empty(x.shape, x.dtype)
        operands = desc.value, s.read(x), desc.value, s.write(y), derived.value
        addresses = [s.read(each) for each in arrays]
        low.batchNormalizationForwardInference(
            get_handle(), cudnn_mode, 1.0, 0.0, *operands, *addresses, eps
        )
    return y


def batch_normalization_backward(
    x: Any,
    gamma: Any,
    gy: Any,
    mean: Any,
    inv_std: Any,
    eps: float,
    is_for_conv2d: bool,
    cudnn_mode: int,
    debug: bool,
    d_layout: int = _NCHW,
    *,
    reserve_space: Any = None,
) -> tuple[Any, Any, Any]:
    """The gradients of x, gamma and beta; new arrays."""
    x, gy, given = contiguous(x, "x"), contiguous(gy, "gy"), np.dtype(gamma.dtype)
    x_desc, derived, dtype = _descriptors(x, is_for_conv2d, cudnn_mode, d_layout)
    gamma, desc, handle = _cast(gamma, dtype), x_desc.value, get_handle()
    with Session(x) as s:
        gx = s.empty(x.shape, x.dtype)
        ggamma, gbeta = s.empty(gamma.shape, dtype), s.empty(gamma.shape, dtype)
        operands = (desc, s.read(x)), (desc, s.read(gy)), (desc, s.write(gx))
        parameters = s.read(gamma), s.write(ggamma), s.write(gbeta)
        saved = eps, s.read(mean), s.read(inv_std)
        factors = 1.0, 0.0, 1.0, 0.0
        if reserve_space is None:
            low.batchNormalizationBackward(
                *(handle, cudnn_mode, *factors),
                *(each for pair in operands for each in pair),
                *(derived.value, *parameters, *saved),
            )
        else:
            ask = low.getBatchNormalizationBackwardExWorkspaceSize
            size = ask(handle, cudnn_mode, _OPS, desc, desc, desc, desc, desc, derived.value, 0)
            low.batchNormalizationBackwardEx(
                *(handle, cudnn_mode, _OPS, *factors),
                *(*operands[0], desc, 0, *operands[1], desc, 0, *operands[2]),
                *(derived.value, parameters[0], 0, *parameters[1:], *saved, 0),
                *(s.workspace(size), size, address_of(reserve_space), size_of(reserve_space)),
            )
        _check_overflow(debug, cudnn_mode)
    if given != dtype:
        ggamma, gbeta = ggamma.astype(x.dtype), gbeta.astype(x.dtype)
    return gx, ggamma, gbeta
