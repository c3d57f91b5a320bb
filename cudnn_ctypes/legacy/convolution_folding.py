"""Strided backward data as backward data with stride 1, on folded tensors."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from .. import raw
from ..arguments import expect
from ..handle import Handle
from ..resource import Closing, Uncopied
from .convolution import ConvolutionDescriptor
from .convolution_directions import ConvolutionBackwardData
from .enumerators import short_name
from .filter import FilterDescriptor
from .layouts import as_format
from .tensor import TensorDescriptor
from .tensor_transform import TensorTransformDescriptor

__all__ = ["FoldedBackwardData", "folded_backward_data"]


@dataclass(frozen=True)
class FoldedBackwardData(Closing, Uncopied):
    """Descriptors of a backward data convolution with stride 1, and of the way there and back.

    For an example see `folded_backward_data`.

    Attributes
    ----------
    backward_data : ConvolutionBackwardData
        From the folded filters and the padded dy to the folded dx.
    fold_w, pad_dy : TensorTransformDescriptor
        Make its operands, with ``cudnnTransformFilter`` and ``cudnnTransformTensorEx``.
    fold_dx, unfold_dx : TensorTransformDescriptor
        From dx to the folded dx (where dx is to be added to), and back.
    """

    backward_data: ConvolutionBackwardData
    fold_w: TensorTransformDescriptor
    pad_dy: TensorTransformDescriptor
    fold_dx: TensorTransformDescriptor
    unfold_dx: TensorTransformDescriptor

    def close(self) -> None:
        """Close all descriptors; a second call does nothing."""
        for descriptor in (
            *self.backward_data.descriptors,
            self.fold_w,
            self.pad_dy,
            self.fold_dx,
            self.unfold_dx,
        ):
            descriptor.close()


def folded_backward_data(
    handle: Handle, backward_data: ConvolutionBackwardData, *, layout: Any = "NHWC"
) -> FoldedBackwardData:
    """Fold the stride into the channels; follows ``cudnnGetFoldedConvBackwardDataDescriptors``.

    Parameters
    ----------
    backward_data : ConvolutionBackwardData
        With a stride; cross-correlation, 2 spatial dimensions, no dilation, no groups.
    layout : {"NCHW", "NHWC"} or cudnnTensorFormat_t
        Of the folded tensors.

    Raises
    ------
    ValueError
        For convolutions that cannot be folded. cuDNN 9.19 reports success for them, with
        descriptors that do not lead to dx.

    Examples
    --------
    >>> w_desc, dy_desc = FilterDescriptor((8, 4, 3, 3)), TensorDescriptor((1, 8, 4, 4))
    >>> conv = ConvolutionDescriptor(1, 2)
    >>> strided = ConvolutionBackwardData(w_desc, dy_desc, conv, TensorDescriptor((1, 4, 8, 8)))
    >>> with Handle() as handle:
    ...     folded = folded_backward_data(handle, strided)
    >>> folded.backward_data.conv.stride, folded.backward_data.dx_desc.shape
    ((1, 1), (1, 16, 4, 4))
    """
    expect("backward_data", backward_data, ConvolutionBackwardData)
    w_desc, dy_desc = backward_data.w_desc, backward_data.dy_desc
    conv, dx_desc = backward_data.conv, backward_data.dx_desc
    _refuse_unfoldable(conv)
    with ExitStack() as stack:
        w = stack.enter_context(FilterDescriptor())
        dy, dx = (stack.enter_context(TensorDescriptor()) for _ in range(2))
        conv_folded = stack.enter_context(ConvolutionDescriptor())
        transforms = [stack.enter_context(TensorTransformDescriptor()) for _ in range(4)]
        raw.cudnnGetFoldedConvBackwardDataDescriptors(
            handle,
            w_desc,
            dy_desc,
            conv,
            dx_desc,
            as_format(layout),
            w,
            dy,
            conv_folded,
            dx,
            *transforms,
        )
        folded = ConvolutionBackwardData(w, dy, conv_folded, dx)
        stack.pop_all()  # they belong to the result now
    return FoldedBackwardData(folded, *transforms)


def _refuse_unfoldable(conv: ConvolutionDescriptor) -> None:
    if conv.mode != raw.CUDNN_CROSS_CORRELATION:
        raise ValueError(f"conv: {short_name(conv.mode)} cannot be folded, cross_correlation can")
    if max(conv.dilation) > 1 or conv.groups > 1:
        raise ValueError(
            f"conv: dilation {conv.dilation} or {conv.groups} groups cannot be folded, only 1 can"
        )
