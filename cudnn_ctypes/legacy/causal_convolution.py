"""Causal depthwise convolution of sequences, by direct kernels.

These functions of newer libraries (cuDNN 9.22 and later, each says which) take a stream instead of
a handle; an older library gives a ``SymbolNotFoundError`` that names both versions. Operands are
dense tensors of one type; their shape is logical, (batch, dim, time), and the strides tell whether
the time or the channels are innermost in memory. Results are allocated where none are given.

cuDNN compiles each of these kernels on the first call for a type, width, layout and activation in a
process: 3 to 7 s a direction with 9.28 beside an H200, 13 s for convolutions back to back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import raw
from ..arguments import enumerator
from ..runtime.launching.operation import launched
from .dense_operands import DenseOperands, lies_dense
from .operands import Made

__all__ = [
    "BackToBackGradients",
    "BackToBackResult",
    "CausalConvolutionGradients",
    "CausalOperands",
    "back_to_back_convolution_backward",
    "back_to_back_convolution_forward",
    "causal_convolution_backward",
    "causal_convolution_forward",
    "gradient_type",
]


class CausalConvolutionGradients(NamedTuple):
    """Gradients: dx (batch, dim, time), dw (dim, K), db (dim,).

    For an example see `causal_convolution_backward`.
    """

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
    stream : stream, optional
        Default: the legacy default stream.

    Returns
    -------
    DeviceTensor, or y as it was given

    Raises
    ------
    TypeError
        If an operand is host memory, has no shape, or is of another type.
    ValueError
        If shapes or layouts do not fit together; the message names the argument.
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
    with CausalOperands(stream) as operands:
        operands.inputs(x, w, may_be_channels_last=True)
        operands.bias(bias)
        result: Made = operands.result("y", y, operands.shape, operands.data_type)
        operands.launch_sized(
            raw.cudnnCausalConv1dNwhForward
            if operands.channels_last
            else raw.cudnnCausalConv1dForward,
            activation=act,
        )
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
    with CausalOperands(stream) as operands:
        operands.inputs(x, w, may_be_channels_last=True)
        operands.bias(bias)
        shape, dw_type = operands.shape, gradient_type(operands.data_type)
        operands.tensor("dy", dy, shape, operands.data_type)
        gradients = CausalConvolutionGradients(
            operands.result("dx", dx, shape, operands.data_type),
            operands.result("dw", dw, operands.w_shape, dw_type, zeros=True),
            operands.result("db", db, shape[1:2], dw_type, zeros=True),
        )
        operands.launch_sized(
            raw.cudnnCausalConv1dNwhBackward
            if operands.channels_last
            else raw.cudnnCausalConv1dBackward,
            dwDataType=dw_type,
            activation=act,
        )
    return gradients


class CausalOperands(DenseOperands):
    """The operands of a causal convolution, direct or by Fourier transforms.

    Attributes
    ----------
    shape : tuple of int
        Of x, (batch, dim, time).
    w_shape : tuple of int
        Of w, (dim, K).
    data_type : cudnnDataType_t
        Of x and w.
    """

    shape: tuple[int, ...]
    w_shape: tuple[int, ...]
    data_type: raw.cudnnDataType_t

    def inputs(self, x: Any, w: Any, *, may_be_channels_last: bool = False) -> None:
        """Take x and w, which must fit together."""
        sequences, filters = self.imported("x", x), self.imported("w", w)
        self.sequences("x", sequences)
        if filters.ndim != 2 or filters.shape[0] != self.shape[1]:
            raise ValueError(
                f"w: expected ({self.shape[1]}, K) for x {self.shape}, got {filters.shape}"
            )
        if filters.data_type != self.data_type:
            raise TypeError(f"w: {filters.data_type.name}, but x is {self.data_type.name}")
        self.w_shape = filters.shape
        both = (sequences, filters)
        self.channels_last: bool = may_be_channels_last and not all(map(lies_dense, both))
        if self.channels_last and not all(lies_dense(one, channels_last=True) for one in both):
            raise ValueError(
                f"x and w: both must be dense, with time and K innermost in both, or the "
                f"channels in both; got strides {sequences.strides} and {filters.strides}"
            )
        self.tensor("x", sequences, self.shape, self.data_type)
        self.tensor("w", filters, self.w_shape, self.data_type)

    def sequences(self, name: str, value: Any) -> None:
        """Let the operand `name` say shape and data type."""
        tensor = self.imported(name, value)
        if tensor.ndim != 3:
            raise ValueError(f"{name}: expected (batch, dim, time), got {tensor.shape}")
        self.shape, self.data_type = tensor.shape, tensor.data_type
        self.w_shape = tensor.shape[1:]

    def bias(self, value: Any) -> None:
        """Take the bias; C wants one always."""
        shape = self.shape[1:2]
        if value is None:
            self.temporary(shape, self.data_type, zeros=True, name="bias")
        else:
            self.tensor("bias", value, shape, self.data_type)

    def launch_sized(self, function: Callable[..., Any], **arguments: Any) -> None:
        """Launch with the sizes and the type of x and w."""
        batch, dim, time = self.shape
        arguments |= {"kernelSize": self.w_shape[1], "dataType": self.data_type}
        self.launch(function, batch=batch, dim=dim, seqLen=time, **arguments)


def gradient_type(data_type: raw.cudnnDataType_t) -> raw.cudnnDataType_t:
    """The data type of the gradients of filters and biases."""
    return raw.CUDNN_DATA_DOUBLE if data_type == raw.CUDNN_DATA_DOUBLE else raw.CUDNN_DATA_FLOAT


class BackToBackResult(NamedTuple):
    """`gated` (batch, dim, time), the result, and `y`, which the backward pass wants.

    For an example see `back_to_back_convolution_forward`.
    """

    gated: Any
    y: Any


class BackToBackGradients(NamedTuple):
    """Gradients of x (batch, dim, 3, time), of the filters and of skip_bias (dim,).

    For an example see `back_to_back_convolution_backward`.
    """

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
    with _BackToBack(stream) as operands:
        operands.inputs(x, w_proj, w_mixer, skip_bias)
        result = BackToBackResult(
            operands.result("gated", gated, operands.shape, operands.data_type),
            operands.result("y", y, operands.shape, operands.data_type),
        )
        operands.launch_sized(raw.cudnnB2BCausalConv1dForward, yGated="gated")
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
    with _BackToBack(stream) as operands:
        operands.inputs(x, w_proj, w_mixer, skip_bias)
        operands.tensor("y", y, operands.shape, operands.data_type)
        operands.tensor("dgated", dgated, operands.shape, operands.data_type)
        dw_type = gradient_type(operands.data_type)
        dx_shape, *shapes = operands.shapes
        gradients = BackToBackGradients(
            operands.result("dx", dx, dx_shape, operands.data_type),
            operands.result("dw_proj", dw_proj, shapes[0], dw_type, zeros=True),
            operands.result("dw_mixer", dw_mixer, shapes[1], dw_type, zeros=True),
            operands.result("dskip_bias", dskip_bias, shapes[2], dw_type, zeros=True),
        )
        operands.launch_sized(raw.cudnnB2BCausalConv1dBackward, dy="dgated", dwDataType=dw_type)
    return gradients


class _BackToBack(DenseOperands):
    """The operands of two convolutions back to back.

    Attributes
    ----------
    shape : tuple of int
        (batch, dim, time).
    shapes : tuple of tuple of int
        Of x, of both filters, and of skip_bias.
    data_type : cudnnDataType_t
    """

    shape: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]
    data_type: raw.cudnnDataType_t

    def inputs(self, x: Any, w_proj: Any, w_mixer: Any, skip_bias: Any) -> None:
        """Take the four operands, which must fit together."""
        sequences = self.imported("x", x)
        if sequences.ndim != 4 or sequences.shape[2] != 3:
            raise ValueError(f"x: expected (batch, dim, 3, time), got {sequences.shape}")
        batch, dim, _, time = sequences.shape
        self.shape, self.data_type = (batch, dim, time), sequences.data_type
        proj = self.imported("w_proj", w_proj).shape[-1:]
        mixer = self.imported("w_mixer", w_mixer).shape[-1:]
        self.shapes = (sequences.shape, (dim, 3, *proj), (dim, *mixer), (dim,))
        names = ("x", "w_proj", "w_mixer", "skip_bias")
        operands = (x, w_proj, w_mixer, skip_bias)
        for name, value, shape in zip(names, operands, self.shapes, strict=True):
            self.tensor(name, value, shape, self.data_type)

    def launch_sized(self, function: Callable[..., Any], **arguments: Any) -> None:
        """Launch with the sizes and the type of the operands."""
        batch, dim, time = self.shape
        _, (*_, proj), (*_, mixer), _ = self.shapes
        arguments |= {"kernelSizeProj": proj, "kernelSizeMixer": mixer}
        arguments |= {"batch": batch, "dim": dim, "seqLen": time, "dataType": self.data_type}
        self.launch(function, **arguments)
