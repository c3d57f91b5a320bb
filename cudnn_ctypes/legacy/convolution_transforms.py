"""Other forms of convolutions' operands: columns of patches, folded strides, int8's order."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from .. import raw
from ..arguments import enumerator, expect
from ..dtypes import storage_bytes
from ..handle import Handle
from ..raw.ctypes_support import short_name
from ..resource import Closing, Uncopied
from .convolution import ConvolutionDescriptor
from .convolution_directions import ConvolutionBackwardData
from .documentation import launched
from .layouts import as_format
from .operand_memory import check_memory
from .operands import Made, Operands
from .tensor import FilterDescriptor, TensorDescriptor
from .transform import TensorTransformDescriptor


@launched
def im2col(
    handle: Handle,
    x: Any,
    w_desc: FilterDescriptor,
    conv: ConvolutionDescriptor,
    columns: Made | None = None,
    *,
    x_desc: TensorDescriptor | None = None,
) -> Made:
    """The patches of x under every position of the filter; follows ``cudnnIm2Col``.

    One row for every tap of the filter, one column for every output position: a convolution is the
    product of the filters as a matrix (K, C * R) with this one.

    Parameters
    ----------
    x : tensor
        (N, C, spatial sizes...).
    w_desc : FilterDescriptor
        The filters' shape; their number K does not matter.
    columns : DeviceTensor or DeviceBuffer, optional
        Memory for C * R * N * Y elements of the type of x. Default: allocated.
    x_desc : TensorDescriptor, optional
        How x is to be read; needed for addresses and buffers.

    Returns
    -------
    DeviceTensor of shape (C, filter sizes..., N, output sizes...), or columns as it was given

    Raises
    ------
    ValueError
        If shapes do not fit together, or `columns` is too small.
    NotSupportedError
        For groups, and for more than 2 spatial dimensions (cuDNN 9.19).

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(9, dtype="float32").reshape(1, 1, 3, 3))
    >>> with Handle() as handle, ConvolutionDescriptor() as conv:
    ...     columns = im2col(handle, x, FilterDescriptor((1, 1, 2, 2)), conv)
    >>> columns.numpy().reshape(4, 4)
    array([[0., 1., 3., 4.],
           [1., 2., 4., 5.],
           [3., 4., 6., 7.],
           [4., 5., 7., 8.]], dtype=float32)
    """
    with Operands(handle, x=(x, x_desc), columns=(None, None)) as operands:
        x_desc = operands.describe("x")
        expect("w_desc", w_desc, FilterDescriptor)
        expect("conv", conv, ConvolutionDescriptor)
        batch, _, *output_sizes = conv.output_shape(x_desc, w_desc)
        shape = (*w_desc.shape[1:], batch, *output_sizes)
        if columns is None:
            columns = operands.make("columns", shape, x_desc.data_type, layout="NCHW")
        memory, _ = operands.room("columns", columns, storage_bytes(x_desc.data_type, prod(shape)))
        operands.launch(raw.cudnnIm2Col, wDesc=w_desc, convDesc=conv, colBuffer=memory)
    return columns


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


class ReorderResult(NamedTuple):
    """Filters and bias in the kernels' own order; the bias is None if none was given."""

    w: Any
    bias: Any


@launched
def reorder_filter_and_bias(
    handle: Handle,
    w: Any,
    bias: Any = None,
    *,
    reordered_w: Any = None,
    reordered_bias: Any = None,
    reorder_type: Any = "default_reorder",
    w_desc: FilterDescriptor | None = None,
    bias_desc: TensorDescriptor | None = None,
) -> ReorderResult:
    """Filters and bias in the kernels' own order; follows ``cudnnReorderFilterAndBias``.

    A convolution reorders its filters anew in every call, unless they were reordered here and its
    descriptor has ``reorder_type="no_reorder"``.

    Parameters
    ----------
    w : tensor
        int8x32 filters, layout NCHW_VECT_C32, (K, C, R, S) with K a multiple of 32.
    bias : tensor, optional
        (K,) or (1, K, 1, 1), float32.
    reordered_w, reordered_bias : tensor, optional
        Where the results go, like w and bias. Default: allocated.
    reorder_type : cudnnReorderType_t or str
        "no_reorder" copies.

    Returns
    -------
    ReorderResult
        Shapes and types are those of w and bias, but no longer say what lies where.

    Raises
    ------
    NotSupportedError
        If w is not int8x32 (except for "no_reorder").

    Examples
    --------
    >>> w = DeviceTensor.zeros((32, 32, 1, 1), "int8x32")
    >>> with Handle() as handle:
    ...     result = reorder_filter_and_bias(handle, w)
    >>> result.w.shape, result.bias
    ((32, 32, 1, 1), None)
    """
    reorder_type = enumerator(raw.cudnnReorderType_t, reorder_type, "reorder_type")
    with Operands(
        handle,
        w=(w, w_desc),
        bias=(bias, bias_desc),
        reordered_w=(reordered_w, w_desc),
        reordered_bias=(reordered_bias, bias_desc),
    ) as operands:
        w_desc = operands.describe_filter("w")
        if reordered_w is None:
            reordered_w = operands.make("reordered_w", w_desc.shape, w_desc.data_type)
        biases: dict[str, Any] = {"biasData": None, "reorderedBiasData": None}
        copies = bias is not None and reorder_type == raw.CUDNN_NO_REORDER
        if bias is not None:
            bias_desc = operands.describe_channels("bias", (1, *w_desc.shape))
            if reordered_bias is None:
                shape = w_desc.shape[:1] if getattr(bias, "ndim", 1) == 1 else bias_desc.shape
                reordered_bias = operands.make("reordered_bias", shape, bias_desc.data_type)
            memory = check_memory("reordered_bias", reordered_bias, bias_desc, handle, written=True)
            if copies:  # cuDNN would copy as many bytes as the type of w has
                both = {"xDesc": "bias", "x": "bias", "yDesc": "bias", "y": memory}
                operands.launch(raw.cudnnTransformTensor, alpha=1, beta=0, **both)
            else:
                biases = {"biasData": "bias", "reorderedBiasData": memory}
        operands.launch(
            raw.cudnnReorderFilterAndBias,
            filterDesc="w",
            reorderType=reorder_type,
            filterData="w",
            reorderedFilterData=check_memory(
                "reordered_w", reordered_w, w_desc, handle, written=True
            ),
            reorderBias=int(bias is not None and not copies),
            **biases,
        )
    return ReorderResult(reordered_w, reordered_bias)
