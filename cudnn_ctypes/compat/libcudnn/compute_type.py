"""The type that a convolution computes in, which the wrapper could not give.

cuDNN 2 to 5 took it from the tensors. So a descriptor that says float is set again to double before
it meets tensors of doubles.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from ...raw.descriptors import Convolution, Tensor, record

__all__ = ["settle"]


def settle(convolution: Any, tensor: Any) -> None:
    """Let a convolution descriptor compute in the type that a tensor needs."""
    held, of_tensor = record(convolution), record(tensor)
    if not isinstance(held, Convolution) or not isinstance(of_tensor, Tensor):
        return  # the call that follows refuses it
    double = of_tensor.data_type == raw.CUDNN_DATA_DOUBLE
    if (held.compute_data_type == raw.CUDNN_DATA_DOUBLE) == double:
        return
    raw.cudnnSetConvolutionNdDescriptor(
        convolution,
        len(held.padding),
        held.padding,
        held.stride,
        held.dilation,
        held.mode,
        raw.CUDNN_DATA_DOUBLE if double else raw.CUDNN_DATA_FLOAT,
    )
