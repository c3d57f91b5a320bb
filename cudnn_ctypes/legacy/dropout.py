"""Dropout, forward and backward.

Operands and results as for convolutions: ``DeviceTensor``s, tensors of other libraries, or a
``DeviceBuffer`` or an address together with its descriptor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from ..arguments import expect
from ..handle import Handle
from .dropout_descriptor import DropoutDescriptor, dropout_reserve_size
from .launch import launched
from .operands import Made, Operands
from .tensor import TensorDescriptor

__all__ = ["DropoutResult", "dropout_backward", "dropout_forward"]


class DropoutResult(NamedTuple):
    """Result of `dropout_forward`.

    For an example see `dropout_forward`.

    Attributes
    ----------
    y : DeviceTensor, or y as it was given
    reserve_space : DeviceTensor of bytes, or as it was given
        The mask, for `dropout_backward`.
    """

    y: Any
    reserve_space: Any


@launched
def dropout_forward(
    handle: Handle,
    x: Any,
    dropout: DropoutDescriptor,
    y: Any = None,
    *,
    reserve_space: Any = None,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> DropoutResult:
    """y = mask * x / (1 - rate), with a new mask; follows ``cudnnDropoutForward``.

    Parameters
    ----------
    x : tensor
        Of any shape of 2 dimensions or more, and any strides; float16, float32 or float64.
    y : tensor, optional
        As many elements of the same type; may be x. Default: allocated, in the layout of x.
    reserve_space : DeviceBuffer or tensor, optional
        At least `dropout_reserve_size` bytes, for the mask. Default: allocated.
    x_desc, y_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Raises
    ------
    TypeError
        If an operand is host memory or has no shape.
    ValueError
        If shapes or types do not fit together, or memory is too small; the message names the
        argument.
    NotSupportedError
        For other types, bfloat16 among them (cuDNN 9.14 and 9.19).

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(16, dtype="float32").reshape(1, 1, 4, 4))

    >>> with Handle() as handle, DropoutDescriptor(handle, 0.5, seed=1) as dropout:
    ...     y, reserve_space = dropout_forward(handle, x, dropout)
    >>> bool(np.isin(y.numpy() / np.maximum(x.numpy(), 1), (0, 2)).all())
    True
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        expect("dropout", dropout, DropoutDescriptor)
        if y is None:
            y = _make_like(operands, "y", "x")
        operands.check(raw.cudnnDropoutForward)
        needed = dropout_reserve_size(operands.describe("x"))
        if reserve_space is None:
            reserve_space = operands.new((needed,), "uint8")
        operands.launch(
            raw.cudnnDropoutForward,
            dropoutDesc=dropout,
            reserveSpace=operands.room("reserve_space", reserve_space, needed),
        )
    return DropoutResult(y, reserve_space)


@launched
def dropout_backward(
    handle: Handle,
    dropout: DropoutDescriptor,
    *,
    dy: Any,
    reserve_space: Any,
    dx: Made | None = None,
    dy_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
) -> Made:
    """dx = mask * dy / (1 - rate), with the mask of forward; follows ``cudnnDropoutBackward``.

    Parameters
    ----------
    dy : tensor
        Gradient of y.
    reserve_space : DeviceBuffer or tensor
        What `dropout_forward` returned.
    dx : tensor, optional
        Gradient of x; may be dy. Default: allocated, in the layout of dy.

    Returns
    -------
    DeviceTensor, or dx as it was given

    The errors are those of `dropout_forward`.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 1, 4, 4), 1, "float32")
    >>> with Handle() as handle, DropoutDescriptor(handle, 0.5, seed=1) as dropout:
    ...     y, reserve_space = dropout_forward(handle, x, dropout)
    ...     dx = dropout_backward(handle, dropout, dy=x, reserve_space=reserve_space)
    >>> np.array_equal(dx.numpy(), y.numpy())
    True
    """
    with Operands(handle, dy=(dy, dy_desc), dx=(dx, dx_desc)) as operands:
        expect("dropout", dropout, DropoutDescriptor)
        if dx is None:
            dx = _make_like(operands, "dx", "dy")
        operands.check(raw.cudnnDropoutBackward)
        needed = dropout_reserve_size(operands.describe("dy"))
        operands.launch(
            raw.cudnnDropoutBackward,
            dropoutDesc=dropout,
            reserveSpace=operands.room("reserve_space", reserve_space, needed),
        )
    return dx


def _make_like(operands: Operands, name: str, source: str) -> Any:
    """Make the result `name` in the plain layout, whatever the strides of `source` are."""
    desc = operands.describe(source)
    return operands.make(name, operands.shape_of(source), desc.data_type)
