"""Batch normalization: forward in training and inference, and backward."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from .... import raw
from ....runtime import DeviceTensor
from .arrays import Session, address_of, contiguous, size_of
from .descriptors import (
    Descriptor,
    create_tensor_descriptor,
    create_uninitialized_tensor_descriptor,
    get_handle,
    tensor_4d,
)
from .low_level import low

__all__ = [
    "batch_normalization_backward",
    "batch_normalization_forward_inference",
    "batch_normalization_forward_training",
    "batch_normalization_forward_training_ex",
]

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
