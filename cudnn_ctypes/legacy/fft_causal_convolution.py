"""Causal depthwise convolution by Fourier transforms, for long filters.

These functions of cuDNN 9.26 and later take a stream instead of a handle. The filter's first tap
meets the present: w[j] multiplies x[t - j], the reverse of `causal_convolution_forward`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from ..dtypes import as_data_type
from .dense_operands import DenseOperands
from .descriptor import answer
from .documentation import documented, launched
from .operands import Made


class FFTCausalConvolutionGradients(NamedTuple):
    """Gradients: dx (batch, dim, time), dw (dim, K)."""

    dx: Any
    dw: Any


class LongFFTBufferSizes(NamedTuple):
    """Bytes of memory that the long form needs."""

    workspace: int
    reserve_space: int


class LongFFTResult(NamedTuple):
    """`y` (batch, dim, time), and the spectra in `reserve_space` for the backward pass."""

    y: Any
    reserve_space: Any


@launched
def fft_causal_convolution_forward(
    x: Any, w: Any, y: Made | None = None, *, stream: Any = None
) -> Made:
    """y[t] = sum over j of x[t - j] * w[j]; follows ``cudnnFFTCausalConv1dForward``.

    Parameters
    ----------
    x : tensor
        (batch, dim, time), dense; float32, float64, float16 or bfloat16.
    w : tensor
        (dim, K), dense, of the type of x. K a power of two from 128 to 16384 (float64: to 4096)
        that divides the time.
    y : tensor, optional
        Default: allocated.

    Raises
    ------
    SymbolNotFoundError
        If the loaded library is older than cuDNN 9.26.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 1, 256), 1, "float32")
    >>> w = DeviceTensor.full((1, 256), 1, "float32")
    >>> fft_causal_convolution_forward(x, w).numpy()[0, 0, :4].round(3)
    array([1., 2., 3., 4.], dtype=float32)
    """
    with DenseOperands(stream, raw.cudnnFFTCausalConv1dForward) as operands:
        operands.tensors(x=x, w=w)
        result: Made = operands.result("y", y)
        operands.launch()
    return result


@launched
def fft_causal_convolution_backward(
    *, x: Any, w: Any, dy: Any, dx: Any = None, dw: Any = None, stream: Any = None
) -> FFTCausalConvolutionGradients:
    """The gradients of x and w; follows ``cudnnFFTCausalConv1dBackward``.

    Parameters
    ----------
    dy : tensor
        Gradient of y.
    dx, dw : tensor, optional
        Of the type of x. Default: allocated.

    The other parameters, and the errors, are those of `fft_causal_convolution_forward`.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 1, 256), 1, "float32")
    >>> w = DeviceTensor.full((1, 256), 1, "float32")
    >>> gradients = fft_causal_convolution_backward(x=x, w=w, dy=x)
    >>> gradients.dx.numpy()[0, 0, -4:].round(3)
    array([4., 3., 2., 1.], dtype=float32)
    """
    with DenseOperands(stream, raw.cudnnFFTCausalConv1dBackward) as operands:
        operands.tensors(x=x, w=w, dy=dy)
        gradients = _gradients(operands, dx, dw)
        operands.launch()
    return gradients


@documented
def long_fft_causal_convolution_buffer_sizes(
    batch: int, dim: int, time: int, *, data_type: Any = "float32"
) -> LongFFTBufferSizes:
    """Bytes that the long form needs; follows ``cudnnLongFFTCausalConv1dGetBufferSizes``.

    Parameters
    ----------
    batch, dim, time : int
        Sequences, channels and steps.
    data_type : data type
        Of x, w and y.

    Raises
    ------
    NotSupportedError
        If the time is no power of two from 4096 to 16777216 (float64: to 8388608).

    Examples
    --------
    >>> sizes = long_fft_causal_convolution_buffer_sizes(1, 1, 4096)
    >>> sizes.reserve_space > 2 * 4096 * 4  # it holds the spectra of x and w
    True
    """
    sizes = (batch, dim, time, time, as_data_type(data_type))
    return LongFFTBufferSizes(*answer(raw.cudnnLongFFTCausalConv1dGetBufferSizes, *sizes))


@launched
def long_fft_causal_convolution_forward(
    x: Any,
    w: Any,
    y: Any = None,
    *,
    workspace: Any = None,
    reserve_space: Any = None,
    stream: Any = None,
) -> LongFFTResult:
    """The same for filters as long as the sequence; follows ``cudnnLongFFTCausalConv1dForward``.

    Parameters
    ----------
    w : tensor
        (dim, time).
    reserve_space : DeviceBuffer or tensor, optional
        Where the spectra of x and w are kept. Default: allocated, as a tensor of bytes.

    The other parameters, and the errors, are those of `fft_causal_convolution_forward`.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 1, 4096), 1, "float32")
    >>> w = DeviceTensor.full((1, 4096), 1, "float32")
    >>> result = long_fft_causal_convolution_forward(x, w)
    >>> result.y.numpy()[0, 0, :4].round(2)
    array([1., 2., 3., 4.], dtype=float32)
    >>> gradients = long_fft_causal_convolution_backward(dy=x, reserve_space=result.reserve_space)
    >>> gradients.dx.numpy()[0, 0, -4:].round(2)
    array([4., 3., 2., 1.], dtype=float32)
    """
    with DenseOperands(stream, raw.cudnnLongFFTCausalConv1dForward) as operands:
        operands.tensor("x", x)
        sizes = _sizes(operands)
        operands.tensor("w", w)
        operands.scratch("workspace", workspace, sizes.workspace)
        saved = operands.saved("reserve_space", reserve_space, sizes.reserve_space)
        result = LongFFTResult(operands.result("y", y), saved)
        operands.launch()
    return result


@launched
def long_fft_causal_convolution_backward(
    *,
    dy: Any,
    reserve_space: Any,
    dx: Any = None,
    dw: Any = None,
    workspace: Any = None,
    stream: Any = None,
) -> FFTCausalConvolutionGradients:
    """The gradients of x and w; follows ``cudnnLongFFTCausalConv1dBackward``.

    For an example see `long_fft_causal_convolution_forward`.

    Parameters
    ----------
    reserve_space : tensor or DeviceBuffer
        As the forward pass left it.

    The other parameters, and the errors, are those of `fft_causal_convolution_backward`.
    """
    with DenseOperands(stream, raw.cudnnLongFFTCausalConv1dBackward) as operands:
        operands.tensor("dy", dy)
        sizes = _sizes(operands)
        operands.scratch("workspace", workspace, sizes.workspace)
        operands.buffer("reserve_space", reserve_space, sizes.reserve_space)
        gradients = _gradients(operands, dx, dw)
        operands.launch()
    return gradients


def _sizes(operands: DenseOperands) -> LongFFTBufferSizes:
    """The bytes that filters as long as the sequences need."""
    known = operands.known
    known["kernelSize"] = known["seqLen"]
    sizes = (known[name] for name in ("batch", "dim", "seqLen"))
    return long_fft_causal_convolution_buffer_sizes(*sizes, data_type=known["dataType"])


def _gradients(operands: DenseOperands, dx: Any, dw: Any) -> FFTCausalConvolutionGradients:
    return FFTCausalConvolutionGradients(operands.result("dx", dx), operands.result("dw", dw))
