"""Convolution and its gradients.

Operands are ``DeviceTensor``s, tensors of other libraries (PyTorch, CuPy, JAX, ...), or a
``DeviceBuffer`` or an address together with its descriptor (``x_desc=...``), which then says how
the memory is read. Results and workspaces are made where none are given; all work goes to the
handle's stream. Tensors (N, C, W) are taken as (N, C, 1, W), with a convolution descriptor over 1
or 2 spatial dimensions.

Each call describes its operands anew. To launch the same convolution many times, make a
`ConvolutionForward`, `ConvolutionBackwardData` or `ConvolutionBackwardFilter` once, and ``run`` it.
"""

from __future__ import annotations

from typing import Any

from .. import raw
from ..dtypes import host_scalar
from ..handle import Handle
from .convolution import ConvolutionDescriptor
from .convolution_directions import (
    ConvolutionBackwardData,
    ConvolutionBackwardFilter,
    ConvolutionForward,
)
from .filter import FilterDescriptor
from .launch import launch, launched
from .operands import Made, Operands, check_memory, expect, refuse_beta
from .tensor import TensorDescriptor

__all__ = [
    "convolution_backward_bias",
    "convolution_backward_data",
    "convolution_backward_filter",
    "convolution_forward",
]


@launched
def convolution_forward(
    handle: Handle,
    x: Any,
    w: Any,
    conv: ConvolutionDescriptor,
    y: Made | None = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    algorithm: Any = None,
    workspace: Any = None,
    data_type: Any = None,
    x_desc: TensorDescriptor | None = None,
    w_desc: FilterDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * conv(x, w) + beta * y; follows ``cudnnConvolutionForward``.

    Parameters
    ----------
    x : tensor
        (N, C, spatial sizes...).
    w : tensor
        (K, C / groups, filter sizes...), dense, in the layout of x.
    y : tensor, optional
        (N, K, output sizes...). Left out: made, in the layout of x.
    alpha, beta : float
        Factors; with beta = 0 what y held is not read.
    algorithm : AlgorithmRow, cudnnConvolutionFwdAlgo_t or str, optional
        Left out: the heuristic's best one, for the size of `workspace` if that is given.
    workspace : DeviceBuffer or tensor, optional
        Left out: allocated for the call.
    data_type : data type, optional
        Of y, if y is not given; default: that of x.
    x_desc, w_desc, y_desc : optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    DeviceTensor, or y as it was given

    Raises
    ------
    TypeError
        If an operand is host memory or has no shape.
    ValueError
        If shapes do not fit together, or memory is too small; the message names the argument.
    NotSupportedError
        If cuDNN has no kernel for the combination.

    Examples
    --------
    >>> conv = ConvolutionDescriptor(padding=1)
    >>> y = convolution_forward(handle, x, w, conv)  # doctest: +SKIP
    """
    with Operands(handle, x=(x, x_desc), w=(w, w_desc), y=(y, y_desc)) as operands:
        x_memory, x_desc = operands.tensor("x")
        w_memory, w_desc = operands.filter("w")
        expect("conv", conv, ConvolutionDescriptor)
        if y is None:
            refuse_beta("y", beta)
            shape = operands.shape_like("x", conv.output_shape(x_desc, w_desc))
            y = operands.make("y", shape, data_type or x_desc.data_type)
        y_memory, y_desc = operands.tensor("y")
        ConvolutionForward(x_desc, w_desc, conv, y_desc).run(
            handle,
            x_memory,
            w_memory,
            y_memory,
            alpha=alpha,
            beta=beta,
            algorithm=algorithm,
            workspace=workspace,
        )
    return y


@launched
def convolution_backward_data(
    handle: Handle,
    w: Any,
    dy: Any,
    conv: ConvolutionDescriptor,
    dx: Made | None = None,
    *,
    dx_shape: tuple[int, ...] | None = None,
    alpha: float = 1,
    beta: float = 0,
    algorithm: Any = None,
    workspace: Any = None,
    data_type: Any = None,
    w_desc: FilterDescriptor | None = None,
    dy_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
) -> Made:
    """dx = alpha * (gradient of x) + beta * dx; follows ``cudnnConvolutionBackwardData``.

    Parameters
    ----------
    dy : tensor
        Gradient of y, (N, K, output sizes...).
    dx : tensor, optional
        Gradient of x, (N, C, spatial sizes...). Left out: made, in the layout of dy.
    dx_shape : tuple of int, optional
        Shape of x, needed if dx is not given: with a stride, images of several sizes give the same
        output size.

    The other parameters, and the errors, are those of `convolution_forward`.
    """
    operands = Operands(handle, dy=(dy, dy_desc), w=(w, w_desc), dx=(dx, dx_desc))
    with operands:
        w_memory, w_desc = operands.filter("w")
        dy_memory, dy_desc = operands.tensor("dy")
        if dx is None:
            refuse_beta("dx", beta)
            shape = _shape_for("dx", dx_shape, dx_desc)
            dx = operands.make("dx", shape, data_type or dy_desc.data_type)
        dx_memory, dx_desc = operands.tensor("dx")
        ConvolutionBackwardData(w_desc, dy_desc, conv, dx_desc).run(
            handle,
            w_memory,
            dy_memory,
            dx_memory,
            alpha=alpha,
            beta=beta,
            algorithm=algorithm,
            workspace=workspace,
        )
    return dx


@launched
def convolution_backward_filter(
    handle: Handle,
    x: Any,
    dy: Any,
    conv: ConvolutionDescriptor,
    dw: Made | None = None,
    *,
    dw_shape: tuple[int, ...] | None = None,
    alpha: float = 1,
    beta: float = 0,
    algorithm: Any = None,
    workspace: Any = None,
    data_type: Any = None,
    x_desc: TensorDescriptor | None = None,
    dy_desc: TensorDescriptor | None = None,
    dw_desc: FilterDescriptor | None = None,
) -> Made:
    """dw = alpha * (gradient of w) + beta * dw; follows ``cudnnConvolutionBackwardFilter``.

    Parameters
    ----------
    dy : tensor
        Gradient of y, (N, K, output sizes...).
    dw : tensor, optional
        Gradient of w, (K, C / groups, filter sizes...). Left out: made, in the layout of x.
    dw_shape : tuple of int, optional
        Shape of w, needed if dw is not given.

    The other parameters, and the errors, are those of `convolution_forward`.
    """
    with Operands(handle, x=(x, x_desc), dy=(dy, dy_desc), dw=(dw, dw_desc)) as operands:
        x_memory, x_desc = operands.tensor("x")
        dy_memory, dy_desc = operands.tensor("dy")
        if dw is None:
            refuse_beta("dw", beta)
            shape = _shape_for("dw", dw_shape, dw_desc)
            dw = operands.make("dw", shape, data_type or x_desc.data_type)
        dw_memory, dw_desc = operands.filter("dw")
        ConvolutionBackwardFilter(x_desc, dy_desc, conv, dw_desc).run(
            handle,
            x_memory,
            dy_memory,
            dw_memory,
            alpha=alpha,
            beta=beta,
            algorithm=algorithm,
            workspace=workspace,
        )
    return dw


@launched
def convolution_backward_bias(
    handle: Handle,
    dy: Any,
    db: Made | None = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    dy_desc: TensorDescriptor | None = None,
    db_desc: TensorDescriptor | None = None,
) -> Made:
    """db = alpha * (dy summed over all but the channels) + beta * db.

    Follows ``cudnnConvolutionBackwardBias``.

    Parameters
    ----------
    dy : tensor
        Gradient of y, (N, K, output sizes...).
    db : tensor, optional
        Gradient of the bias, (K,) or (1, K, 1...). Left out: (K,) is made, of the type of dy.

    The other parameters, and the errors, are those of `convolution_forward`.
    """
    with Operands(handle, dy=(dy, dy_desc), db=(db, db_desc)) as operands:
        dy_memory, dy_desc = operands.tensor("dy")
        dy_shape = dy_desc.shape
        if db is None:
            refuse_beta("db", beta)
            db = operands.make("db", (dy_shape[1],), dy_desc.data_type)
        db_memory, db_desc = operands.channels("db", dy_shape)
        data_type = db_desc.data_type
        launch(
            raw.cudnnConvolutionBackwardBias,
            handle,
            host_scalar(alpha, data_type),
            dy_desc,
            check_memory("dy", dy_memory, dy_desc, handle),
            host_scalar(beta, data_type),
            db_desc,
            check_memory("db", db_memory, db_desc, handle, written=True),
        )
    return db


def _shape_for(
    name: str, shape: tuple[int, ...] | None, desc: TensorDescriptor | FilterDescriptor | None
) -> tuple[int, ...]:
    if shape is not None:
        return tuple(shape)
    if desc is not None:
        return desc.shape
    raise ValueError(
        f"{name}: pass {name}_shape or {name} itself: its shape does not follow from the others"
    )
