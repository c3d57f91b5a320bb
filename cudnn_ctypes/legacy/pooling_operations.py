"""Pooling, forward and backward.

Operands and results as for convolutions: ``DeviceTensor``s, tensors of other libraries, or a
``DeviceBuffer`` or an address together with its descriptor. Tensors (N, C, W) are taken as
(N, C, 1, W), with a pooling descriptor over 1 or 2 spatial dimensions.
"""

from __future__ import annotations

from typing import Any

from .. import raw
from ..arguments import expect
from ..handle import Handle
from .launch import launched
from .operand_memory import refuse_beta
from .operands import Made, Operands
from .pooling import PoolingDescriptor
from .tensor import TensorDescriptor

__all__ = ["pooling_backward", "pooling_forward"]


@launched
def pooling_forward(
    handle: Handle,
    x: Any,
    pooling: PoolingDescriptor,
    y: Made | None = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * pool(x) + beta * y; follows ``cudnnPoolingForward``.

    Parameters
    ----------
    x : tensor
        (N, C, spatial sizes...), with 1 to 3 spatial dimensions.
    y : tensor, optional
        (N, C, output sizes...), of the type of x; the sizes may differ from
        `PoolingDescriptor.output_shape`. Default: allocated, in the layout of x.
    alpha, beta : float
        Factors; with beta = 0 what y held is not read.
    x_desc, y_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    DeviceTensor, or y as it was given

    Raises
    ------
    TypeError
        If an operand is host memory or has no shape.
    ValueError
        If shapes or types do not fit together, or memory is too small; the message names the
        argument.
    NotSupportedError
        If cuDNN has no kernel for the combination.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(16, dtype="float32").reshape(1, 1, 4, 4))
    >>> with Handle() as handle, PoolingDescriptor(2) as pooling:
    ...     y = pooling_forward(handle, x, pooling)
    >>> y.numpy()[0, 0]
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        x_desc = operands.describe("x")
        expect("pooling", pooling, PoolingDescriptor)
        if y is None:
            refuse_beta("y", beta)
            shape = operands.shape_like("x", pooling.output_shape(x_desc))
            y = operands.make("y", shape, x_desc.data_type)
        operands.launch(raw.cudnnPoolingForward, poolingDesc=pooling, alpha=alpha, beta=beta)
    return y


@launched
def pooling_backward(
    handle: Handle,
    pooling: PoolingDescriptor,
    *,
    y: Any,
    dy: Any,
    x: Any,
    dx: Made | None = None,
    alpha: float = 1,
    beta: float = 0,
    y_desc: TensorDescriptor | None = None,
    dy_desc: TensorDescriptor | None = None,
    x_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
) -> Made:
    """dx = alpha * (gradient of x) + beta * dx; follows ``cudnnPoolingBackward``.

    Parameters
    ----------
    y, x : tensor
        As in `pooling_forward`, with alpha = 1 and beta = 0 there.
    dy : tensor
        Gradient of y, with the strides of y.
    dx : tensor, optional
        Gradient of x, with the strides of x. Default: allocated.

    The other parameters, and the errors, are those of `pooling_forward`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(16, dtype="float32").reshape(1, 1, 4, 4))

    >>> with Handle() as handle, PoolingDescriptor(2) as pooling:
    ...     y = pooling_forward(handle, x, pooling)
    ...     dy = DeviceTensor.full(y.shape, 1, "float32")
    ...     dx = pooling_backward(handle, pooling, y=y, dy=dy, x=x)
    >>> dx.numpy()[0, 0]
    array([[0., 0., 0., 0.],
           [0., 1., 0., 1.],
           [0., 0., 0., 0.],
           [0., 1., 0., 1.]], dtype=float32)
    """
    with Operands(
        handle, x=(x, x_desc), y=(y, y_desc), dy=(dy, dy_desc), dx=(dx, dx_desc)
    ) as operands:
        expect("pooling", pooling, PoolingDescriptor)
        if dx is None:
            dx = operands.make_like("dx", "x", beta=beta)
        operands.launch(raw.cudnnPoolingBackward, poolingDesc=pooling, alpha=alpha, beta=beta)
    return dx
