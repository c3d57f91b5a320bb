"""Two causal convolutions back to back, with gates: a Hyena block in one kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import raw
from .causal_convolution import gradient_type
from .dense_operands import DenseOperands
from .launch import launched

__all__ = [
    "BackToBackGradients",
    "BackToBackResult",
    "back_to_back_convolution_backward",
    "back_to_back_convolution_forward",
]


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
