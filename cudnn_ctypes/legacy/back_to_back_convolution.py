"""Two causal convolutions back to back, with gates: a Hyena block in one kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import raw
from ..device import DeviceTensor
from .causal_convolution import gradient_type
from .dense_operands import DenseOperands, as_given

__all__ = [
    "BackToBackGradients",
    "BackToBackResult",
    "back_to_back_convolution_backward",
    "back_to_back_convolution_forward",
]


class BackToBackResult(NamedTuple):
    """`gated` (batch, dim, time), the result, and `y`, which the backward pass wants."""

    gated: Any
    y: Any


class BackToBackGradients(NamedTuple):
    """Gradients of x (batch, dim, 3, time), of the filters and of skip_bias (dim,)."""

    dx: Any
    dweights_proj: Any
    dweights_mixer: Any
    dskip_bias: Any


def back_to_back_convolution_forward(
    x: Any,
    weights_proj: Any,
    weights_mixer: Any,
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
    weights_proj : tensor
        (dim, 3, K), K from 2 to 32.
    weights_mixer : tensor
        (dim, L), L from 2 to 256.
    skip_bias : tensor
        (dim,).
    gated, y : tensor, optional
        (batch, dim, time). Left out: made.

    The other parameters, and the errors, are those of `causal_convolution_forward`.
    """
    with DenseOperands(stream) as operands:
        given, sizes = _back_to_back_operands(operands, x, weights_proj, weights_mixer, skip_bias)
        data_type = given[0].data_type
        y_memory = operands.result("y", y, sizes[:3], data_type)
        gated_memory = operands.result("gated", gated, sizes[:3], data_type)
        launch: Callable[..., object] = raw.cudnnB2BCausalConv1dForward
        launch(stream, *given, y_memory, gated_memory, *sizes, data_type)
    return BackToBackResult(*as_given((gated, y), (gated_memory, y_memory)))


def back_to_back_convolution_backward(
    x: Any,
    weights_proj: Any,
    weights_mixer: Any,
    skip_bias: Any,
    y: Any,
    dgated: Any,
    dx: Any = None,
    dweights_proj: Any = None,
    dweights_mixer: Any = None,
    dskip_bias: Any = None,
    *,
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
    dx, dweights_proj, dweights_mixer, dskip_bias : tensor, optional
        Left out: made; the last three, which are float32, or float64 for float64 data, of zeros.

    The other parameters, and the errors, are those of `back_to_back_convolution_forward`.
    """
    with DenseOperands(stream) as operands:
        given, sizes = _back_to_back_operands(operands, x, weights_proj, weights_mixer, skip_bias)
        data_type = given[0].data_type
        dw_type = gradient_type(data_type)
        y_memory = operands.tensor("y", y, sizes[:3], data_type)
        dgated_memory = operands.tensor("dgated", dgated, sizes[:3], data_type)
        dims = [tensor.shape for tensor in given]
        results = (
            operands.result("dx", dx, dims[0], data_type),
            operands.result("dweights_proj", dweights_proj, dims[1], dw_type, zeros=True),
            operands.result("dweights_mixer", dweights_mixer, dims[2], dw_type, zeros=True),
            operands.result("dskip_bias", dskip_bias, dims[3], dw_type, zeros=True),
        )
        launch: Callable[..., object] = raw.cudnnB2BCausalConv1dBackward
        launch(stream, *given, y_memory, dgated_memory, *results, *sizes, data_type, dw_type)
    given_results = (dx, dweights_proj, dweights_mixer, dskip_bias)
    return BackToBackGradients(*as_given(given_results, results))


def _back_to_back_operands(
    operands: DenseOperands, x: Any, weights_proj: Any, weights_mixer: Any, skip_bias: Any
) -> tuple[tuple[DeviceTensor, ...], tuple[int, ...]]:
    """The four operands, and the sizes as C takes them."""
    sequences = operands.imported("x", x)
    if sequences.ndim != 4 or sequences.shape[2] != 3:
        raise ValueError(f"x: expected (batch, dim, 3, time), got {sequences.shape}")
    batch, dim, _, time = sequences.shape
    proj = operands.imported("weights_proj", weights_proj).shape[-1:]
    mixer = operands.imported("weights_mixer", weights_mixer).shape[-1:]
    data_type = sequences.data_type
    given = (
        operands.tensor("x", sequences, sequences.shape, data_type),
        operands.tensor("weights_proj", weights_proj, (dim, 3, *proj), data_type),
        operands.tensor("weights_mixer", weights_mixer, (dim, *mixer), data_type),
        operands.tensor("skip_bias", skip_bias, (dim,), data_type),
    )
    return given, (batch, dim, time, *proj, *mixer)
