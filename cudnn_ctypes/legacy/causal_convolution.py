"""Causal depthwise convolution of sequences, by direct kernels.

These functions of newer libraries (cuDNN 9.22 and later, each says which) take a stream instead of
a handle; an older library gives a ``SymbolNotFoundError`` that names both versions. Operands are
dense tensors of one type; their shape is logical, (batch, dim, time), and the strides tell whether
the time or the channels are innermost in memory. Results are made where none are given.

cuDNN compiles each of these kernels on the first call for a type, width, layout and activation in a
process: 3 to 7 s a direction with 9.28 beside an H200, 13 s for convolutions back to back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .. import raw
from ..device import DeviceTensor
from .dense_operands import DenseOperands, as_given, lies_dense
from .enumerators import enumerator
from .operands import Made

__all__ = [
    "CausalConvolutionGradients",
    "causal_convolution_backward",
    "causal_convolution_forward",
    "gradient_type",
]


class CausalConvolutionGradients(NamedTuple):
    """Gradients: dx (batch, dim, time), dweight (dim, K), dbias (dim,)."""

    dx: Any
    dweight: Any
    dbias: Any


def causal_convolution_forward(
    x: Any,
    weight: Any,
    bias: Any = None,
    y: Made | None = None,
    *,
    activation: Any = "identity",
    stream: Any = None,
) -> Made:
    """y[t] = act(bias + sum over j of x[t - j] * weight[K - 1 - j]).

    Follows ``cudnnCausalConv1dForward`` (cuDNN 9.22), and for channels last
    ``cudnnCausalConv1dNwhForward`` (cuDNN 9.24).

    Parameters
    ----------
    x : tensor
        (batch, dim, time); float32, float64, float16 or bfloat16.
    weight : tensor
        (dim, K), in the layout of x. K from 2 to 256; to 128 with channels last.
    bias : tensor, optional
        (dim,). Left out: zeros.
    y : tensor, optional
        (batch, dim, time), in the layout of x. Left out: made.
    activation : cudnnCausalConv1dActivation_t or str
        "identity" or "silu".
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
        If shapes or layouts do not fit together; the message names the argument.
    NotSupportedError, BadParamError
        If cuDNN has no kernel for the type or the filter's width.
    SymbolNotFoundError
        If the loaded library is older.

    Examples
    --------
    >>> y = causal_convolution_forward(x, weight, activation="silu")  # doctest: +SKIP
    """
    kind = enumerator(raw.cudnnCausalConv1dActivation_t, activation, "activation")
    with _sequence_operands(x, weight, stream) as (operands, x_memory, w_memory):
        shape, data_type = x_memory.shape, x_memory.data_type
        batch, dim, time = shape
        launch = (
            raw.cudnnCausalConv1dNwhForward
            if operands.channels_last
            else raw.cudnnCausalConv1dForward
        )
        bias_memory = _bias(operands, bias, shape[1], data_type)
        result: Any = operands.result("y", y, shape, data_type)
        launch(
            stream,
            x_memory,
            w_memory,
            bias_memory,
            result,
            batch,
            dim,
            time,
            w_memory.shape[1],
            data_type,
            kind,
        )
    return result if y is None else y


def causal_convolution_backward(
    x: Any,
    weight: Any,
    dy: Any,
    bias: Any = None,
    dx: Any = None,
    dweight: Any = None,
    dbias: Any = None,
    *,
    activation: Any = "identity",
    stream: Any = None,
) -> CausalConvolutionGradients:
    """The gradients of x, weight and bias.

    Follows ``cudnnCausalConv1dBackward`` (cuDNN 9.22), and for channels last
    ``cudnnCausalConv1dNwhBackward`` (cuDNN 9.24).

    Parameters
    ----------
    dy : tensor
        Gradient of y, in the layout of x.
    dx : tensor, optional
        Left out: made.
    dweight, dbias : tensor, optional
        float32, or float64 for float64 data. The gradients are added to what they hold, by atomic
        additions in no fixed order. Left out: made, of zeros.

    The other parameters, and the errors, are those of `causal_convolution_forward`.
    """
    kind = enumerator(raw.cudnnCausalConv1dActivation_t, activation, "activation")
    with _sequence_operands(x, weight, stream) as (operands, x_memory, w_memory):
        shape, data_type = x_memory.shape, x_memory.data_type
        batch, dim, time = shape
        dw_type = gradient_type(data_type)
        launch = (
            raw.cudnnCausalConv1dNwhBackward
            if operands.channels_last
            else raw.cudnnCausalConv1dBackward
        )
        bias_memory = _bias(operands, bias, shape[1], data_type)
        dy_memory = operands.tensor("dy", dy, shape, data_type)
        results = (
            operands.result("dx", dx, shape, data_type),
            operands.result("dweight", dweight, w_memory.shape, dw_type, zeros=True),
            operands.result("dbias", dbias, shape[1:2], dw_type, zeros=True),
        )
        launch(
            stream,
            x_memory,
            w_memory,
            bias_memory,
            dy_memory,
            *results,
            batch,
            dim,
            time,
            w_memory.shape[1],
            data_type,
            dw_type,
            kind,
        )
    return CausalConvolutionGradients(*as_given((dx, dweight, dbias), results))


@contextmanager
def _sequence_operands(
    x: Any, weight: Any, stream: Any
) -> Iterator[tuple[DenseOperands, DeviceTensor, DeviceTensor]]:
    """x and weight as tensors, which fit together, and the layout that both lie in."""
    with DenseOperands(stream) as operands:
        sequences, filters = operands.imported("x", x), operands.imported("weight", weight)
        if sequences.ndim != 3:
            raise ValueError(f"x: expected (batch, dim, time), got {sequences.shape}")
        if filters.ndim != 2 or filters.shape[0] != sequences.shape[1]:
            raise ValueError(
                f"weight: expected ({sequences.shape[1]}, K) for x {sequences.shape}, got "
                f"{filters.shape}"
            )
        if filters.data_type != sequences.data_type:
            raise TypeError(
                f"weight: {filters.data_type.name}, but x is {sequences.data_type.name}"
            )
        for channels_last in (False, True):
            if all(lies_dense(one, channels_last=channels_last) for one in (sequences, filters)):
                operands.channels_last = channels_last
                break
        else:
            raise ValueError(
                f"x and weight: both must be dense, with time and K innermost in both, or the "
                f"channels in both; got strides {sequences.strides} and {filters.strides}"
            )
        yield operands, sequences, filters


def _bias(
    operands: DenseOperands, bias: Any, dim: int, data_type: raw.cudnnDataType_t
) -> DeviceTensor:
    """C wants a bias always."""
    if bias is None:
        return operands.temporary((dim,), data_type, zeros=True)
    return operands.tensor("bias", bias, (dim,), data_type)


def gradient_type(data_type: raw.cudnnDataType_t) -> raw.cudnnDataType_t:
    """Of the gradients of filters and biases."""
    return raw.CUDNN_DATA_DOUBLE if data_type == raw.CUDNN_DATA_DOUBLE else raw.CUDNN_DATA_FLOAT
