"""The descriptors of a normalization's parameters, which cuDNN derives from that of x."""

from __future__ import annotations

from typing import Any

from .. import raw
from ..arguments import expect
from .enumerators import enumerator
from .tensor import TensorDescriptor

__all__ = ["derive_bn_tensor_descriptor", "derive_norm_tensor_descriptor"]


def derive_bn_tensor_descriptor(
    x_desc: TensorDescriptor, mode: Any = "spatial"
) -> TensorDescriptor:
    """The descriptor of scale, bias, mean and variance; ``cudnnDeriveBNTensorDescriptor``.

    Parameters
    ----------
    x_desc : TensorDescriptor
    mode : cudnnBatchNormMode_t or str
        "per_activation", "spatial" or "spatial_persistent".

    Raises
    ------
    TypeError
        If `x_desc` is no `TensorDescriptor`.
    ValueError
        For an unknown mode.
    BadParamError
        If `x_desc` was never set.

    Examples
    --------
    >>> derive_bn_tensor_descriptor(TensorDescriptor((8, 3, 4, 4), "float16")).shape
    (1, 3, 1, 1)
    """
    expect("x_desc", x_desc, TensorDescriptor)
    mode = enumerator(raw.cudnnBatchNormMode_t, mode, "mode")
    descriptor = TensorDescriptor()
    with descriptor._closed_on_error():
        raw.cudnnDeriveBNTensorDescriptor(descriptor, x_desc, mode)
    return descriptor


def derive_norm_tensor_descriptor(
    x_desc: TensorDescriptor, mode: Any = "per_channel", *, groups: int = 1
) -> tuple[TensorDescriptor, TensorDescriptor]:
    """The descriptors of scale and bias, and of mean and variance.

    Follows ``cudnnDeriveNormTensorDescriptor``.

    Parameters
    ----------
    x_desc : TensorDescriptor
    mode : cudnnNormMode_t or str
        "per_activation" or "per_channel".
    groups : int
        1; cuDNN has the argument for the future.

    Returns
    -------
    scale_bias, mean_variance : TensorDescriptor

    Raises
    ------
    TypeError
        If `x_desc` is no `TensorDescriptor`.
    ValueError
        For an unknown mode.
    BadParamError
        If `x_desc` was never set.
    NotSupportedError
        If `groups` is not 1.

    Examples
    --------
    >>> scale_bias, mean_variance = derive_norm_tensor_descriptor(TensorDescriptor((8, 3, 4, 4)))
    >>> scale_bias.shape
    (1, 3, 1, 1)
    """
    expect("x_desc", x_desc, TensorDescriptor)
    mode = enumerator(raw.cudnnNormMode_t, mode, "mode")
    params = TensorDescriptor()
    with params._closed_on_error():
        statistics = TensorDescriptor()
        with statistics._closed_on_error():
            raw.cudnnDeriveNormTensorDescriptor(params, statistics, x_desc, mode, groups)
    return params, statistics
