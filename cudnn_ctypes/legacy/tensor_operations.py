"""Whole tensors: copy to another layout, add, set, scale.

Operands and results as for convolutions: ``DeviceTensor``s, tensors of other libraries, or a
``DeviceBuffer`` or an address together with its descriptor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import raw
from ..dtypes import data_type_name, host_scalar, numpy_dtype
from ..handle import Handle
from .agreement import check_broadcast, check_same
from .launch import launch, launched
from .operands import Made, Operands, check_memory, refuse_beta
from .tensor import TensorDescriptor

__all__ = ["add_tensor", "scale_tensor", "set_tensor", "transform_tensor"]


@launched
def transform_tensor(
    handle: Handle,
    x: Any,
    y: Made | None = None,
    *,
    layout: Any = None,
    data_type: Any = None,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * x + beta * y, in another layout; follows ``cudnnTransformTensor``.

    Parameters
    ----------
    x : tensor
    y : tensor, optional
        Of the shape of x, with any strides, in other memory. Left out: made.
    layout : {"NCHW", "NHWC", "NCHW_VECT_C4", "NCHW_VECT_C32"}, optional
        Of y, if y is not given; default: that of x.
    data_type : data type, optional
        Of y, if y is not given; default: that of x.
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
        If shapes differ, or memory is too small; the message names the argument.
    NotSupportedError
        If cuDNN has no kernel for the combination.
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        x_memory, x_desc = operands.tensor("x")
        if y is None:
            refuse_beta("y", beta)
            shape = operands.shape_like("x", x_desc.shape)
            y = operands.make("y", shape, data_type or x_desc.data_type, layout=layout)
        y_memory, y_desc = operands.tensor("y")
        check_same("x", x_desc, "y", y_desc, types=False)
        scalar_type = y_desc.data_type
        if x_desc.data_type == raw.CUDNN_DATA_DOUBLE:  # cuDNN reads doubles then too
            scalar_type = x_desc.data_type
        launch(
            raw.cudnnTransformTensor,
            handle,
            host_scalar(alpha, scalar_type),
            x_desc,
            check_memory("x", x_memory, x_desc, handle),
            host_scalar(beta, scalar_type),
            y_desc,
            check_memory("y", y_memory, y_desc, handle, written=True),
        )
    return y


@launched
def add_tensor(
    handle: Handle,
    a: Any,
    c: Made,
    *,
    alpha: float = 1,
    beta: float = 1,
    a_desc: TensorDescriptor | None = None,
    c_desc: TensorDescriptor | None = None,
) -> Made:
    """c = alpha * a + beta * c, as for a bias; follows ``cudnnAddTensor``.

    Parameters
    ----------
    a : tensor
        Of the shape of c, with ones where it is repeated, (1, C, 1, 1) for a bias; or (C,).
    c : tensor
        Changed in place.
    alpha, beta : float
        Factors; with beta = 0 what c held is not read.
    a_desc, c_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    c as it was given

    The errors are those of `transform_tensor`.
    """
    with Operands(handle, a=(a, a_desc), c=(c, c_desc)) as operands:
        c_memory, c_desc = operands.tensor("c")
        if a_desc is None and getattr(a, "ndim", 0) == 1:
            a_memory, a_desc = operands.channels("a", c_desc.shape)
        else:
            a_memory, a_desc = operands.tensor("a")
        check_broadcast("a", a_desc, "c", c_desc)
        launch(
            raw.cudnnAddTensor,
            handle,
            host_scalar(alpha, c_desc.data_type),
            a_desc,
            check_memory("a", a_memory, a_desc, handle),
            host_scalar(beta, c_desc.data_type),
            c_desc,
            check_memory("c", c_memory, c_desc, handle, written=True),
        )
    return c


@launched
def set_tensor(
    handle: Handle, y: Made, value: Any, *, y_desc: TensorDescriptor | None = None
) -> Made:
    """Every element of y = value; follows ``cudnnSetTensor``.

    Parameters
    ----------
    y : tensor
        Changed in place; gaps between elements are not.
    value : number
        Rounded to the type of y.
    y_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    y as it was given

    Raises
    ------
    TypeError
        If y is host memory or has no shape, or `value` is no number.
    ValueError
        If `value` does not fit in the type, or the memory is too small.
    """
    with Operands(handle, y=(y, y_desc)) as operands:
        y_memory, y_desc = operands.tensor("y")
        element = _element(value, y_desc.data_type)
        memory = check_memory("y", y_memory, y_desc, handle, written=True)
        launch(raw.cudnnSetTensor, handle, y_desc, memory, element)
    return y


@launched
def scale_tensor(
    handle: Handle, y: Made, alpha: float, *, y_desc: TensorDescriptor | None = None
) -> Made:
    """y = alpha * y; follows ``cudnnScaleTensor``.

    Parameters
    ----------
    y : tensor
        Changed in place.
    y_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    y as it was given

    The errors are those of `transform_tensor`.
    """
    with Operands(handle, y=(y, y_desc)) as operands:
        y_memory, y_desc = operands.tensor("y")
        memory = check_memory("y", y_memory, y_desc, handle, written=True)
        scalar = host_scalar(alpha, y_desc.data_type)
        launch(raw.cudnnScaleTensor, handle, y_desc, memory, scalar)
    return y


def _element(value: Any, data_type: raw.cudnnDataType_t) -> Any:
    """The number as cuDNN reads it: a float, for double data a double (cuDNN 9.14, 9.19)."""
    number = host_scalar(value, data_type)  # a TypeError for what is none
    dtype = numpy_dtype(data_type)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if number.value != int(number.value) or not limits.min <= number.value <= limits.max:
            raise ValueError(
                f"value: expected an int from {limits.min} to {limits.max} for "
                f"{data_type_name(data_type)}, got {value!r}"
            )
    return number
