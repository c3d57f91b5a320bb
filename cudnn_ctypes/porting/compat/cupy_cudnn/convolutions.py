"""Convolutions and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import raw
from .algorithms import Algorithm, Problem, algorithm_for
from .arrays import Session, contiguous
from .descriptors import (
    Descriptor,
    create_convolution_descriptor,
    create_filter_descriptor,
    create_tensor_descriptor,
    get_handle,
    is_tensor_core_available,
    tensor,
)
from .low_level import low

__all__ = ["convolution_backward_data", "convolution_backward_filter", "convolution_forward"]

_NCHW = int(raw.CUDNN_TENSOR_NCHW)


def _convolution(
    pad: Sequence[int],
    stride: Sequence[int],
    dtype: Any,
    dilation: Sequence[int] | None,
    cores: bool,
    groups: int,
) -> Descriptor:
    mode = int(raw.CUDNN_CROSS_CORRELATION)
    return create_convolution_descriptor(pad, stride, dtype, mode, dilation, cores, groups)


def _tensor_cores(mode: str, dtype: Any, dilation: Sequence[int] | None) -> bool:
    if mode not in ("auto", "always", "never"):
        raise ValueError('tensor_core_mode must be either of "always", "auto", or "never".')
    dilated = any(each > 1 for each in dilation or ())
    return mode != "never" and not dilated and is_tensor_core_available(dtype)


def _run(problem: Problem, session: Session, algorithm: Algorithm) -> None:
    name = f"convolution{problem.direction}"
    name += "" if problem.direction == "Forward" else "_v3"
    low.setConvolutionMathType(problem.convolution.value, algorithm.math_type)
    first, second, result = problem.addresses
    getattr(low, name)(
        get_handle(),
        1.0,
        *(problem.first.value, first),
        *(problem.second.value, second),
        problem.convolution.value,
        algorithm.algo,
        *(session.workspace(algorithm.memory), algorithm.memory),
        0.0,
        *(problem.result.value, result),
    )


def _add_bias(session: Session, b: Any, y: Any, y_desc: Descriptor, address: int) -> None:
    if b is None:
        return
    b = contiguous(b, "b")
    channels = int(np.prod(b.shape))
    desc = tensor((1, channels, *(1,) * (len(y.shape) - 2)), b.dtype)
    low.addTensor_v3(get_handle(), 1.0, desc.value, session.read(b), 1.0, y_desc.value, address)


def convolution_forward(
    x: Any,
    W: Any,
    b: Any,
    y: Any,
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    *,
    auto_tune: bool,
    tensor_core: str,
    d_layout: int = _NCHW,
    w_layout: int = _NCHW,
) -> None:
    """Convolve x with W into y, and add the bias b of (channels,) if it is not None.

    Parameters
    ----------
    auto_tune : bool
        Time the algorithms, once for each problem.
    tensor_core : {"auto", "always", "never"}
    """
    x, W = contiguous(x, "x"), contiguous(W, "W")
    cores = _tensor_cores(tensor_core, x.dtype, dilation)
    about = pad, stride, x.dtype, dilation, cores, groups
    with Session(x) as s:
        problem = Problem(
            "Forward",
            create_tensor_descriptor(x, d_layout),
            create_filter_descriptor(W, w_layout),
            _convolution(*about),
            create_tensor_descriptor(y, d_layout),
            (s.read(x), s.read(W), s.write(y)),
        )
        key = ("Forward", x.shape, W.shape, y.shape, d_layout, w_layout, *map(str, about))
        _run(problem, s, algorithm_for(problem, key, s, cores, auto_tune, False))
        _add_bias(s, b, y, problem.result, problem.addresses[2])


def convolution_backward_filter(
    x: Any,
    gy: Any,
    gW: Any,
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    *,
    deterministic: bool,
    auto_tune: bool,
    tensor_core: str,
    d_layout: int = _NCHW,
    w_layout: int = _NCHW,
) -> None:
    """Write the gradient of the filter into gW."""
    x, gy = contiguous(x, "x"), contiguous(gy, "gy")
    cores = _tensor_cores(tensor_core, x.dtype, None)
    about = pad, stride, x.dtype, dilation, cores, groups
    with Session(x) as s:
        problem = Problem(
            "BackwardFilter",
            create_tensor_descriptor(x, d_layout),
            create_tensor_descriptor(gy, d_layout),
            _convolution(*about),
            create_filter_descriptor(gW, w_layout),
            (s.read(x), s.read(gy), s.write(gW)),
        )
        key = ("BackwardFilter", x.shape, gW.shape, gy.shape, d_layout, w_layout, *map(str, about))
        _run(problem, s, algorithm_for(problem, key, s, cores, auto_tune, deterministic))


def convolution_backward_data(
    W: Any,
    x: Any,
    b: Any,
    y: Any,
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    *,
    deterministic: bool,
    auto_tune: bool,
    tensor_core: str,
    d_layout: int = _NCHW,
    w_layout: int = _NCHW,
) -> None:
    """Write the gradient of a convolution's input into y, for the gradient x of its output.

    This is a transposed convolution of x, whose bias b is added if it is not None.
    """
    x, W = contiguous(x, "x"), contiguous(W, "W")
    cores = _tensor_cores(tensor_core, x.dtype, dilation)
    about = pad, stride, x.dtype, dilation, cores, groups
    with Session(x) as s:
        problem = Problem(
            "BackwardData",
            create_filter_descriptor(W, w_layout),
            create_tensor_descriptor(x, d_layout),
            _convolution(*about),
            create_tensor_descriptor(y, d_layout),
            (s.read(W), s.read(x), s.write(y)),
        )
        key = ("BackwardData", x.shape, W.shape, y.shape, d_layout, w_layout, *map(str, about))
        _run(problem, s, algorithm_for(problem, key, s, cores, auto_tune, deterministic))
        _add_bias(s, b, y, problem.result, problem.addresses[2])
