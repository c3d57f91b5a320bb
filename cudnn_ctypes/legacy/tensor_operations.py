"""Whole tensors: copy to another layout, add, set, scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import raw
from ..dtypes import data_type_name, host_scalar, numpy_dtype
from ..handle import Handle
from .documentation import launched
from .operand_memory import refuse_beta
from .operands import Made, Operands
from .tensor import TensorDescriptor


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
        Of any rank and strides.
    y : tensor, optional
        Of the shape of x, with any strides, in other memory. Default: allocated.
    layout : {"NCHW", "NHWC", "NCHW_VECT_C4", "NCHW_VECT_C32"}, optional
        Of y, if y is not given; default: that of x.
    data_type : data type, optional
        Of y, if y is not given; default: that of x.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(-2, 2, dtype="float32").reshape(1, 1, 2, 2))

    >>> with Handle() as handle:
    ...     y = transform_tensor(handle, x, layout="NHWC", data_type="float16")
    >>> y.strides, y.dtype.name
    ((4, 1, 2, 1), 'float16')
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        x_desc = operands.describe("x")
        if y is None:
            refuse_beta("y", beta)
            shape = operands.shape_like("x", x_desc.shape)
            y = operands.make("y", shape, data_type, layout=layout, default=x_desc.data_type)
        operands.launch(raw.cudnnTransformTensor, alpha=alpha, beta=beta)
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

    Returns
    -------
    c as it was given

    The errors are those of `transform_tensor`.

    Examples
    --------
    >>> y = DeviceTensor.zeros((1, 2, 1, 3), "float32")
    >>> bias = DeviceTensor.from_numpy(np.array([1, 2], "float32").reshape(1, 2, 1, 1))
    >>> with Handle() as handle:
    ...     _ = add_tensor(handle, bias, y)
    >>> y.numpy().ravel()
    array([1., 1., 1., 2., 2., 2.], dtype=float32)
    """
    with Operands(handle, a=(a, a_desc), c=(c, c_desc)) as operands:
        operands.describe_repeated("a", "c")
        operands.launch(raw.cudnnAddTensor, alpha=alpha, beta=beta)
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

    Returns
    -------
    y as it was given

    Raises
    ------
    TypeError
        If y is host memory or has no shape, or `value` is no number.
    ValueError
        If `value` does not fit in the type, or the memory is too small.

    Examples
    --------
    >>> y = DeviceTensor.empty((1, 1, 1, 3), "float32")
    >>> with Handle() as handle:
    ...     _ = set_tensor(handle, y, 2.5)
    >>> y.numpy().ravel()
    array([2.5, 2.5, 2.5], dtype=float32)
    """
    with Operands(handle, y=(y, y_desc)) as operands:
        element = _element(value, operands.describe("y").data_type)
        operands.launch(raw.cudnnSetTensor, valuePtr=element)
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

    Returns
    -------
    y as it was given

    The errors are those of `transform_tensor`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(-2, 2, dtype="float32").reshape(1, 1, 2, 2))

    >>> with Handle() as handle:
    ...     _ = scale_tensor(handle, x, 0.5)
    >>> x.numpy().ravel()
    array([-1. , -0.5,  0. ,  0.5], dtype=float32)
    """
    with Operands(handle, y=(y, y_desc)) as operands:
        operands.launch(raw.cudnnScaleTensor, alpha=alpha)
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
