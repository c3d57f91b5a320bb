"""Tensors and filters padded, folded and laid out anew, as a transform descriptor says.

Operands and results as for convolutions: ``DeviceTensor``s, tensors of other libraries, or a
``DeviceBuffer`` or an address together with its descriptor.
"""

from __future__ import annotations

from typing import Any

from .. import raw
from ..handle import Handle
from .filter import FilterDescriptor
from .launch import launched
from .operand_memory import refuse_beta
from .operands import AnyDescriptor, Made, Operands, expect
from .tensor import TensorDescriptor
from .tensor_transform import TensorTransformDescriptor

__all__ = ["transform_filter", "transform_tensor_ex"]


@launched
def transform_tensor_ex(
    handle: Handle,
    x: Any,
    transform: TensorTransformDescriptor,
    y: Made | None = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * transform(x) + beta * y; follows ``cudnnTransformTensorEx``.

    Unfolding to more channels than there are, by `pad_after`, cuDNN 9.14 and 9.19 take other
    channels of x than the reference device; factors other than 1 and 0 are for packed NCHW tensors.

    Parameters
    ----------
    x : tensor
        Of as many dimensions as the transform has.
    y : tensor, optional
        Of the shape of `TensorTransformDescriptor.destination`. Default: allocated.
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
        If shapes do not fit together, or memory is too small; the message names the argument.
    NotSupportedError
        If cuDNN has no kernel for the combination.
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        x_desc = operands.describe("x")
        made = _destination(operands, transform, "x", x_desc)
        if y is None:
            refuse_beta("y", beta)
            y = operands.make("y", made.shape, made.data_type, layout=made.layout)
        _check_fit("x", x_desc, made, "y", operands.describe("y"))
        operands.launch(
            raw.cudnnTransformTensorEx,
            transDesc=transform,
            alpha=alpha,
            beta=beta,
            srcDesc="x",
            srcData="x",
            destDesc="y",
            destData="y",
        )
    return y


@launched
def transform_filter(
    handle: Handle,
    w: Any,
    transform: TensorTransformDescriptor,
    y: Made | None = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    w_desc: FilterDescriptor | None = None,
    y_desc: FilterDescriptor | None = None,
) -> Made:
    """y = alpha * transform(w) + beta * y for filters; follows ``cudnnTransformFilter``.

    Parameters
    ----------
    w : tensor
        (K, C, filter sizes...), dense.
    y : tensor, optional
        The transformed filters, in the layout of the transform. Default: allocated.
    w_desc, y_desc : FilterDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    The other parameters, and the errors, are those of `transform_tensor_ex`.
    """
    with Operands(handle, w=(w, w_desc), y=(y, y_desc)) as operands:
        w_desc = operands.describe_filter("w")
        like_w = TensorDescriptor(w_desc.shape, w_desc.data_type, layout=w_desc.layout)
        made = _destination(operands, transform, "w", operands.enter_context(like_w))
        if y is None:
            refuse_beta("y", beta)
            y = operands.make("y", made.shape, made.data_type, layout=made.layout)
        # Where the strides fit two layouts, the transform says which one.
        operands.layout = made.layout
        _check_fit("w", w_desc, made, "y", operands.describe_filter("y"))
        operands.launch(
            raw.cudnnTransformFilter,
            transDesc=transform,
            alpha=alpha,
            beta=beta,
            srcDesc="w",
            srcData="w",
            destDesc="y",
            destData="y",
        )
    return y


def _destination(
    operands: Operands,
    transform: TensorTransformDescriptor,
    name: str,
    x_desc: TensorDescriptor,
) -> TensorDescriptor:
    """Where the transformed tensor goes, closed with the operands."""
    expect("transform", transform, TensorTransformDescriptor)
    ndim = len(transform.pad_before)
    if len(x_desc.shape) != ndim:
        raise ValueError(
            f"{name}: expected {ndim} dimensions, those of the transform, got shape {x_desc.shape}"
        )
    return operands.enter_context(transform.destination(x_desc))


def _check_fit(
    name: str, x_desc: AnyDescriptor, made: TensorDescriptor, target: str, y_desc: AnyDescriptor
) -> None:
    if y_desc.shape != made.shape:
        raise ValueError(
            f"{target}: expected shape {made.shape}, that of {name} transformed, got {y_desc.shape}"
        )
    if y_desc.data_type != x_desc.data_type:
        raise ValueError(
            f"{target}: expected the type of {name}, {x_desc.data_type.name}, got "
            f"{y_desc.data_type.name}"
        )
