"""Dropout, forward and backward.

Operands and results as for convolutions: ``DeviceTensor``s, tensors of other libraries, or a
``DeviceBuffer`` or an address together with its descriptor.
"""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any, NamedTuple

from .. import raw
from ..device import DeviceBuffer, DeviceTensor
from ..handle import Handle
from .dropout_descriptor import DropoutDescriptor, dropout_reserve_size
from .launch import Memory, launch, launched
from .operands import Made, Operands, check_memory, expect, imported
from .tensor import TensorDescriptor

__all__ = ["DropoutForward", "dropout_backward", "dropout_forward"]


class DropoutForward(NamedTuple):
    """What `dropout_forward` returns.

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
) -> DropoutForward:
    """y = mask * x / (1 - rate), with a new mask; follows ``cudnnDropoutForward``.

    Parameters
    ----------
    x : tensor
        Of any shape of 2 dimensions or more, and any strides; float16, float32 or float64.
    y : tensor, optional
        As many elements of the same type; may be x. Left out: made, in the layout of x.
    reserve_space : DeviceBuffer or tensor, optional
        At least `dropout_reserve_size` bytes, for the mask. Left out: made.
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
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        described = x_desc is not None
        x_memory, x_desc = operands.tensor("x")
        expect("dropout", dropout, DropoutDescriptor)
        if y is None:
            shape = x_desc.shape if described else x_memory.shape
            y = operands.make("y", shape, x_desc.data_type)
        y_memory, y_desc = operands.tensor("y")
        _check_fit("x", x_desc, "y", y_desc)
        needed = dropout_reserve_size(x_desc)
        if reserve_space is None:
            reserve_space = operands.result_memory(
                DeviceTensor.empty((needed,), "uint8", device=handle.device, stream=handle.stream)
            )
        reserve = _reserve(handle, reserve_space, needed)
        launch(
            raw.cudnnDropoutForward,
            handle,
            dropout,
            x_desc,
            check_memory("x", x_memory, x_desc, handle),
            y_desc,
            check_memory("y", y_memory, y_desc, handle, written=True),
            Memory("reserve_space", reserve, written=True),
            reserve.nbytes,
        )
    return DropoutForward(y, reserve_space)


@launched
def dropout_backward(
    handle: Handle,
    dy: Any,
    dropout: DropoutDescriptor,
    reserve_space: Any,
    dx: Made | None = None,
    *,
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
        Gradient of x; may be dy. Left out: made, in the layout of dy.

    Returns
    -------
    DeviceTensor, or dx as it was given

    The errors are those of `dropout_forward`.
    """
    with Operands(handle, dy=(dy, dy_desc), dx=(dx, dx_desc)) as operands:
        described = dy_desc is not None
        dy_memory, dy_desc = operands.tensor("dy")
        expect("dropout", dropout, DropoutDescriptor)
        if dx is None:
            shape = dy_desc.shape if described else dy_memory.shape
            dx = operands.make("dx", shape, dy_desc.data_type)
        dx_memory, dx_desc = operands.tensor("dx")
        _check_fit("dy", dy_desc, "dx", dx_desc)
        reserve = _reserve(handle, reserve_space, dropout_reserve_size(dy_desc))
        launch(
            raw.cudnnDropoutBackward,
            handle,
            dropout,
            dy_desc,
            check_memory("dy", dy_memory, dy_desc, handle),
            dx_desc,
            check_memory("dx", dx_memory, dx_desc, handle, written=True),
            Memory("reserve_space", reserve, written=True),
            reserve.nbytes,
        )
    return dx


def _check_fit(
    source: str, source_desc: TensorDescriptor, target: str, target_desc: TensorDescriptor
) -> None:
    # Dimensions of size 1, which a descriptor may have more of, change nothing.
    expected, given = ([n for n in d.shape if n != 1] for d in (source_desc, target_desc))
    if expected != given:
        raise ValueError(
            f"{target}: expected shape {source_desc.shape}, that of {source}, got "
            f"{target_desc.shape}"
        )
    if target_desc.data_type != source_desc.data_type:
        raise ValueError(
            f"{target}: expected the type of {source}, {source_desc.data_type.name}, got "
            f"{target_desc.data_type.name}"
        )


def _reserve(handle: Handle, reserve_space: Any, needed: int) -> Any:
    if reserve_space is None:
        raise TypeError("reserve_space: needed, as dropout_forward returned it")
    if isinstance(reserve_space, (int, c_void_p)):
        raise TypeError("reserve_space: the size behind an address is not known")
    if isinstance(reserve_space, DeviceBuffer):
        memory: Any = reserve_space
    else:
        memory = imported("reserve_space", reserve_space, handle)
    if memory.nbytes < needed:
        raise ValueError(f"reserve_space: {memory.nbytes} bytes, {needed} are needed")
    return memory
