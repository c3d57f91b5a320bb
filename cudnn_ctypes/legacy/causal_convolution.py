"""Causal depthwise convolution of sequences, by direct kernels or Fourier transforms.

These functions of newer libraries (cuDNN 9.22 and later, each says which) take a stream instead of
a handle; an older library gives a ``SymbolNotFoundError`` that names both versions. Operands are
dense tensors of one type; their shape is logical, (batch, dim, time), and the strides tell whether
the time or the channels are innermost in memory. Results are allocated where none are given.

cuDNN compiles each of these kernels on the first call for a type, width, layout and activation in a
process: 3 to 7 s a direction with 9.28 beside an H200, 13 s for convolutions back to back.

Fourier transforms (cuDNN 9.26 and later) are for long filters, whose first tap meets the present:
w[j] multiplies x[t - j], the reverse of `causal_convolution_forward`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from ..arguments import enumerator
from ..dtypes import as_data_type
from .dense_operands import DenseOperands, lies_dense
from .descriptor import answer
from .documentation import documented, launched
from .operands import Made, accumulator


class CausalConvolutionGradients(NamedTuple):
    """Gradients: dx (batch, dim, time), dw (dim, K), db (dim,)."""

    dx: Any
    dw: Any
    db: Any


@launched
def causal_convolution_forward(
    x: Any,
    w: Any,
    bias: Any = None,
    y: Made | None = None,
    *,
    activation: Any = "identity",
    stream: Any = None,
) -> Made:
    """y[t] = act(bias + sum over j of x[t - j] * w[K - 1 - j]).

    Follows ``cudnnCausalConv1dForward`` (cuDNN 9.22), and for channels last
    ``cudnnCausalConv1dNwhForward`` (cuDNN 9.24).

    Parameters
    ----------
    x : tensor
        (batch, dim, time); float32, float64, float16 or bfloat16.
    w : tensor
        (dim, K), in the layout of x. K from 2 to 256; to 128 with channels last.
    bias : tensor, optional
        (dim,). Default: zeros.
    y : tensor, optional
        (batch, dim, time), in the layout of x. Default: allocated.
    activation : cudnnCausalConv1dActivation_t or str
        "identity" or "silu".

    Raises
    ------
    NotSupportedError, BadParamError
        If cuDNN has no kernel for the type or the filter's width.
    SymbolNotFoundError
        If the loaded library is older.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(4, dtype="float32").reshape(1, 1, 4))
    >>> w = DeviceTensor.from_numpy(np.array([[1, 1]], "float32"))
    >>> causal_convolution_forward(x, w).numpy().ravel()
    array([0., 1., 3., 5.], dtype=float32)
    """
    act = enumerator(raw.cudnnCausalConv1dActivation_t, activation, "activation")
    with DenseOperands(stream, raw.cudnnCausalConv1dForward, activation=act) as operands:
        _take(operands, x, w, bias)
        result: Made = operands.result("y", y)
        operands.launch(raw.cudnnCausalConv1dNwhForward if operands.channels_last else None)
    return result


@launched
def causal_convolution_backward(
    *,
    x: Any,
    w: Any,
    dy: Any,
    bias: Any = None,
    dx: Any = None,
    dw: Any = None,
    db: Any = None,
    activation: Any = "identity",
    stream: Any = None,
) -> CausalConvolutionGradients:
    """The gradients of x, w and bias.

    Follows ``cudnnCausalConv1dBackward`` (cuDNN 9.22), and for channels last
    ``cudnnCausalConv1dNwhBackward`` (cuDNN 9.24).

    Parameters
    ----------
    dy : tensor
        Gradient of y, in the layout of x.
    dx : tensor, optional
        Default: allocated.
    dw, db : tensor, optional
        float32, or float64 for float64 data. The gradients are added to what they hold, by atomic
        additions in no fixed order. Default: allocated, of zeros.

    The other parameters, and the errors, are those of `causal_convolution_forward`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(4, dtype="float32").reshape(1, 1, 4))
    >>> w = DeviceTensor.from_numpy(np.array([[1, 2]], "float32"))
    >>> dy = DeviceTensor.full((1, 1, 4), 1, "float32")
    >>> gradients = causal_convolution_backward(x=x, w=w, dy=dy)
    >>> gradients.dx.numpy().ravel(), gradients.dw.numpy().ravel()
    (array([3., 3., 3., 2.], dtype=float32), array([3., 6.], dtype=float32))
    """
    act = enumerator(raw.cudnnCausalConv1dActivation_t, activation, "activation")
    with DenseOperands(stream, raw.cudnnCausalConv1dBackward, activation=act) as operands:
        _take(operands, x, w, bias)
        operands.tensor("dy", dy)
        operands.known["dwDataType"] = accumulator(operands.known["dataType"])
        gradients = CausalConvolutionGradients(
            operands.result("dx", dx),
            operands.result("dw", dw, zeros=True),
            operands.result("db", db, zeros=True),
        )
        operands.launch(raw.cudnnCausalConv1dNwhBackward if operands.channels_last else None)
    return gradients


def _take(operands: DenseOperands, x: Any, w: Any, bias: Any) -> None:
    """Take x, w and the bias, which C wants always, in the layout of x and w."""
    both = operands.imported("x", x), operands.imported("w", w)
    operands.channels_last = not all(map(lies_dense, both))
    if operands.channels_last and not all(lies_dense(each, channels_last=True) for each in both):
        raise ValueError(
            f"x and w: both must be dense, with time and K innermost in both, or the "
            f"channels in both; got strides {both[0].strides} and {both[1].strides}"
        )
    operands.tensors(x=both[0], w=both[1])
    if bias is None:
        operands.temporary("bias", zeros=True)
    else:
        operands.tensor("bias", bias)


class BackToBackResult(NamedTuple):
    """`gated` (batch, dim, time), the result, and `y`, which the backward pass wants."""

    gated: Any
    y: Any


class BackToBackGradients(NamedTuple):
    """Gradients of x (batch, dim, 3, time), of the filters and of skip_bias (dim,)."""

    dx: Any
    dw_proj: Any
    dw_mixer: Any
    dskip_bias: Any


@launched
def back_to_back_convolution_forward(
    x: Any,
    w_proj: Any,
    w_mixer: Any,
    skip_bias: Any,
    gated: Any = None,
    y: Any = None,
    *,
    stream: Any = None,
) -> BackToBackResult:
    """Projection, gate, mixer, gate.

    With p0, p1, p2 the projections of the three channels of a dimension, z = p1 * p2,
    y = causal convolution of z + skip_bias * z, gated = y * p0. Follows
    ``cudnnB2BCausalConv1dForward`` (cuDNN 9.24).

    Parameters
    ----------
    x : tensor
        (batch, dim, 3, time).
    w_proj : tensor
        (dim, 3, K), K from 2 to 32.
    w_mixer : tensor
        (dim, L), L from 2 to 256.
    skip_bias : tensor
        (dim,).
    gated, y : tensor, optional
        (batch, dim, time). Default: allocated.

    The other parameters, and the errors, are those of `causal_convolution_forward`.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 1, 3, 4), 1, "float32")
    >>> w_proj = DeviceTensor.from_numpy(np.array([[[0, 1]] * 3], "float32"))  # projections: x
    >>> w_mixer = DeviceTensor.from_numpy(np.array([[1, 1]], "float32"))
    >>> skip_bias = DeviceTensor.zeros((1,), "float32")
    >>> result = back_to_back_convolution_forward(x, w_proj, w_mixer, skip_bias)
    >>> result.gated.numpy().ravel()
    array([1., 2., 2., 2.], dtype=float32)
    """
    names = {"gated": "yGated"}
    with DenseOperands(stream, raw.cudnnB2BCausalConv1dForward, names) as operands:
        operands.tensors(x=x, w_proj=w_proj, w_mixer=w_mixer, skip_bias=skip_bias)
        result = BackToBackResult(operands.result("gated", gated), operands.result("y", y))
        operands.launch()
    return result


@launched
def back_to_back_convolution_backward(
    *,
    x: Any,
    w_proj: Any,
    w_mixer: Any,
    skip_bias: Any,
    y: Any,
    dgated: Any,
    dx: Any = None,
    dw_proj: Any = None,
    dw_mixer: Any = None,
    dskip_bias: Any = None,
    stream: Any = None,
) -> BackToBackGradients:
    """The gradients of what `back_to_back_convolution_forward` takes.

    Follows ``cudnnB2BCausalConv1dBackward`` (cuDNN 9.24).

    Parameters
    ----------
    y : tensor
        As the forward pass gave it.
    dgated : tensor
        Gradient of its result, (batch, dim, time).
    dx, dw_proj, dw_mixer, dskip_bias : tensor, optional
        Default: allocated, the last three of zeros; those are float32, or float64 for float64 data.

    The other parameters, and the errors, are those of `back_to_back_convolution_forward`.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 1, 3, 4), 1, "float32")
    >>> w_proj = DeviceTensor.from_numpy(np.array([[[0, 1]] * 3], "float32"))
    >>> w_mixer = DeviceTensor.from_numpy(np.array([[1, 1]], "float32"))
    >>> skip_bias = DeviceTensor.zeros((1,), "float32")
    >>> gated, y = back_to_back_convolution_forward(x, w_proj, w_mixer, skip_bias)
    >>> gradients = back_to_back_convolution_backward(
    ...     x=x, w_proj=w_proj, w_mixer=w_mixer, skip_bias=skip_bias, y=y, dgated=gated
    ... )
    >>> gradients.dw_mixer.numpy()
    array([[6., 7.]], dtype=float32)
    """
    names = {"dgated": "dy"}
    with DenseOperands(stream, raw.cudnnB2BCausalConv1dBackward, names) as operands:
        operands.tensors(x=x, w_proj=w_proj, w_mixer=w_mixer, skip_bias=skip_bias)
        operands.tensors(y=y, dgated=dgated)
        operands.known["dwDataType"] = accumulator(operands.known["dataType"])
        gradients = BackToBackGradients(
            operands.result("dx", dx),
            operands.result("dw_proj", dw_proj, zeros=True),
            operands.result("dw_mixer", dw_mixer, zeros=True),
            operands.result("dskip_bias", dskip_bias, zeros=True),
        )
        operands.launch()
    return gradients


# -- by Fourier transforms ------------------------------------------------------------------------


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
