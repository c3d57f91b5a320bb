"""Causal depthwise convolution by Fourier transforms, for long filters.

These functions of cuDNN 9.26 and later take a stream instead of a handle. The filter's first tap
meets the present: weight[j] multiplies x[t - j], the reverse of `causal_convolution_forward`.
"""

from __future__ import annotations

from ctypes import c_size_t
from typing import Any, NamedTuple

from .. import raw
from ..device import DeviceTensor
from ..dtypes import as_data_type
from .dense_operands import DenseOperands, as_given
from .operands import Made

__all__ = [
    "FFTCausalConvolutionGradients",
    "LongFFTBufferSizes",
    "LongFFTResult",
    "fft_causal_convolution_backward",
    "fft_causal_convolution_forward",
    "long_fft_causal_convolution_backward",
    "long_fft_causal_convolution_buffer_sizes",
    "long_fft_causal_convolution_forward",
]


class FFTCausalConvolutionGradients(NamedTuple):
    """Gradients: dx (batch, dim, time), dweight (dim, K)."""

    dx: Any
    dweight: Any


class LongFFTBufferSizes(NamedTuple):
    """Bytes of memory that the long form needs."""

    workspace: int
    reserve_space: int


class LongFFTResult(NamedTuple):
    """`y` (batch, dim, time), and the spectra in `reserve_space` for the backward pass."""

    y: Any
    reserve_space: Any


def fft_causal_convolution_forward(
    x: Any, weight: Any, y: Made | None = None, *, stream: Any = None
) -> Made:
    """y[t] = sum over j of x[t - j] * weight[j]; follows ``cudnnFFTCausalConv1dForward``.

    Parameters
    ----------
    x : tensor
        (batch, dim, time), dense; float32, float64, float16 or bfloat16.
    weight : tensor
        (dim, K), dense, of the type of x. K a power of two from 128 to 16384 (float64: to 4096)
        that divides the time.
    y : tensor, optional
        Left out: made.
    stream : stream, optional
        Left out: the legacy default stream.

    Returns
    -------
    DeviceTensor, or y as it was given

    Raises
    ------
    TypeError
        If an operand is host memory, has no shape, or is of another type.
    ValueError
        If shapes do not fit together; the message names the argument.
    NotSupportedError
        If cuDNN has no kernel for the sizes or the type.
    SymbolNotFoundError
        If the loaded library is older than cuDNN 9.26.
    """
    with DenseOperands(stream) as operands:
        x_memory, w_memory = _given(operands, x, weight)
        data_type = x_memory.data_type
        result: Any = operands.result("y", y, x_memory.shape, data_type)
        batch, dim, time = x_memory.shape
        taps = w_memory.shape[1]
        raw.cudnnFFTCausalConv1dForward(
            stream, x_memory, w_memory, result, batch, dim, time, taps, data_type
        )
    return result if y is None else y


def fft_causal_convolution_backward(
    x: Any, weight: Any, dy: Any, dx: Any = None, dweight: Any = None, *, stream: Any = None
) -> FFTCausalConvolutionGradients:
    """The gradients of x and weight; follows ``cudnnFFTCausalConv1dBackward``.

    Parameters
    ----------
    dy : tensor
        Gradient of y.
    dx, dweight : tensor, optional
        Of the type of x. Left out: made.

    The other parameters, and the errors, are those of `fft_causal_convolution_forward`.
    """
    with DenseOperands(stream) as operands:
        x_memory, w_memory = _given(operands, x, weight)
        data_type = x_memory.data_type
        dy_memory = operands.tensor("dy", dy, x_memory.shape, data_type)
        dx_memory = operands.result("dx", dx, x_memory.shape, data_type)
        dw_memory = operands.result("dweight", dweight, w_memory.shape, data_type)
        batch, dim, time = x_memory.shape
        raw.cudnnFFTCausalConv1dBackward(
            stream,
            x_memory,
            w_memory,
            dy_memory,
            dx_memory,
            dw_memory,
            batch,
            dim,
            time,
            w_memory.shape[1],
            data_type,
        )
    return FFTCausalConvolutionGradients(*as_given((dx, dweight), (dx_memory, dw_memory)))


def long_fft_causal_convolution_buffer_sizes(
    batch: int, dim: int, time: int, *, data_type: Any = "float32"
) -> LongFFTBufferSizes:
    """Bytes that the long form needs; follows ``cudnnLongFFTCausalConv1dGetBufferSizes``.

    Raises
    ------
    NotSupportedError
        If the time is no power of two from 4096 to 16777216 (float64: to 8388608).
    """
    workspace, reserve_space = c_size_t(), c_size_t()
    raw.cudnnLongFFTCausalConv1dGetBufferSizes(
        batch, dim, time, time, as_data_type(data_type), workspace, reserve_space
    )
    return LongFFTBufferSizes(workspace.value, reserve_space.value)


def long_fft_causal_convolution_forward(
    x: Any,
    weight: Any,
    y: Any = None,
    *,
    workspace: Any = None,
    reserve_space: Any = None,
    stream: Any = None,
) -> LongFFTResult:
    """The same for filters as long as the sequence; follows ``cudnnLongFFTCausalConv1dForward``.

    Parameters
    ----------
    weight : tensor
        (dim, time).
    workspace : DeviceBuffer or tensor, optional
        Left out: allocated for the call.
    reserve_space : DeviceBuffer or tensor, optional
        Where the spectra of x and weight are kept. Left out: made, as a tensor of bytes.

    The other parameters, and the errors, are those of `fft_causal_convolution_forward`.
    """
    with DenseOperands(stream) as operands:
        x_memory, w_memory = _given(operands, x, weight)
        data_type, shape = x_memory.data_type, x_memory.shape
        batch, dim, time = shape
        operands.tensor("weight", w_memory, (dim, time), data_type)
        sizes = long_fft_causal_convolution_buffer_sizes(*shape, data_type=data_type)
        result = operands.result("y", y, shape, data_type)
        scratch = operands.scratch("workspace", workspace, sizes.workspace)
        kept = operands.saved("reserve_space", reserve_space, sizes.reserve_space)
        raw.cudnnLongFFTCausalConv1dForward(
            stream,
            x_memory,
            w_memory,
            result,
            batch,
            dim,
            time,
            time,
            data_type,
            scratch,
            scratch.nbytes,
            kept,
            kept.nbytes,
        )
    return LongFFTResult(*as_given((y, reserve_space), (result, kept)))


def long_fft_causal_convolution_backward(
    dy: Any,
    reserve_space: Any,
    dx: Any = None,
    dweight: Any = None,
    *,
    workspace: Any = None,
    stream: Any = None,
) -> FFTCausalConvolutionGradients:
    """The gradients of x and weight; follows ``cudnnLongFFTCausalConv1dBackward``.

    Parameters
    ----------
    reserve_space : tensor or DeviceBuffer
        As the forward pass left it.

    The other parameters, and the errors, are those of `fft_causal_convolution_backward`.
    """
    with DenseOperands(stream) as operands:
        given = operands.imported("dy", dy)
        if given.ndim != 3:
            raise ValueError(f"dy: expected (batch, dim, time), got {given.shape}")
        data_type, shape = given.data_type, given.shape
        batch, dim, time = shape
        dy_memory = operands.tensor("dy", given, shape, data_type)
        sizes = long_fft_causal_convolution_buffer_sizes(*shape, data_type=data_type)
        dx_memory = operands.result("dx", dx, shape, data_type)
        dw_memory = operands.result("dweight", dweight, shape[1:], data_type)
        scratch = operands.scratch("workspace", workspace, sizes.workspace)
        kept = operands.buffer("reserve_space", reserve_space, sizes.reserve_space)
        raw.cudnnLongFFTCausalConv1dBackward(
            stream,
            dy_memory,
            dx_memory,
            dw_memory,
            batch,
            dim,
            time,
            time,
            data_type,
            scratch,
            scratch.nbytes,
            kept,
            kept.nbytes,
        )
    return FFTCausalConvolutionGradients(*as_given((dx, dweight), (dx_memory, dw_memory)))


def _given(operands: DenseOperands, x: Any, weight: Any) -> tuple[DeviceTensor, DeviceTensor]:
    """x and weight as tensors, which fit together."""
    sequences, filters = operands.imported("x", x), operands.imported("weight", weight)
    if sequences.ndim != 3:
        raise ValueError(f"x: expected (batch, dim, time), got {sequences.shape}")
    shape, data_type = sequences.shape, sequences.data_type
    return (
        operands.tensor("x", sequences, shape, data_type),
        operands.tensor("weight", filters, (shape[1], *filters.shape[-1:]), data_type),
    )
