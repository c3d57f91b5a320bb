"""Transforms of tensors and filters: to other layouts, padded, folded, reordered, as columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from ctypes import c_size_t
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from .. import raw
from ..arguments import enumerator, expect, integers
from ..dtypes import storage_bytes
from ..handle import Handle
from ..raw import operand_rules
from ..raw.ctypes_support import short_name
from ..raw.descriptors import TensorTransform
from ..raw.faults.calls import folds_other_layouts, unfolds_partial_blocks
from ..raw.operand_rules import refuse
from ..raw.operand_rules.language import equal, shaped
from ..raw.records import record
from ..resource import Closing, Uncopied
from .convolution import ConvolutionDescriptor
from .convolution_directions import ConvolutionBackwardData
from .descriptor import Descriptor, read_back
from .documentation import launched
from .layouts import as_format
from .operands import AnyDescriptor, Made, Operands, check_memory, refuse_beta
from .tensor import FilterDescriptor, TensorDescriptor


class TensorTransformDescriptor(Descriptor[raw.cudnnTensorTransformDescriptor_t]):
    """Padding, folding and a new layout; follows ``cudnnSetTensorTransformDescriptor``.

    Parameters
    ----------
    pad_before, pad_after : sequence of int, optional
        Elements added on both sides of each dimension, (N, C, spatial...); negative ones crop.
        Default: not set yet.
    fold : sequence of int, optional
        Pixels along each spatial dimension that become channels of one pixel; default: 1.
    direction : cudnnFoldingDirection_t or str
        "fold", or "unfold" for the way back.
    layout : {"NCHW", "NHWC"} or cudnnTensorFormat_t
        Of the result.

    Examples
    --------
    >>> padding = TensorTransformDescriptor((0, 0, 1, 1), (0, 0, 1, 1))
    >>> padding.destination(TensorDescriptor((1, 3, 8, 8))).shape
    (1, 3, 10, 10)
    """

    def __init__(
        self,
        pad_before: Sequence[int] | None = None,
        pad_after: Sequence[int] | None = None,
        *,
        fold: Sequence[int] | None = None,
        direction: Any = "fold",
        layout: Any = "NCHW",
    ) -> None:
        super().__init__(raw.cudnnTensorTransformDescriptor_t())
        with self._closed_on_error():
            if pad_before is not None:
                pad_before = integers("pad_before", pad_before)
                pad_after = (0,) * len(pad_before) if pad_after is None else pad_after
                fold = (1,) * (len(pad_before) - 2) if fold is None else fold
                self.set(layout, pad_before, pad_after, fold, direction)
            elif pad_after is not None or fold is not None:
                raise ValueError("pad_before: needed with pad_after or fold")

    def set(
        self,
        layout: Any,
        pad_before: Sequence[int],
        pad_after: Sequence[int],
        fold: Sequence[int],
        direction: Any,
    ) -> None:
        """Set all; follows ``cudnnSetTensorTransformDescriptor``."""
        pad_before = integers("pad_before", pad_before)
        pad_after, fold = integers("pad_after", pad_after), integers("fold", fold)
        ndim = len(pad_before)
        if len(pad_after) != ndim or len(fold) != ndim - 2:
            raise ValueError(
                f"{ndim} entries of pad_before need {ndim} of pad_after, got {len(pad_after)}, and "
                f"{ndim - 2} of fold, got {len(fold)}"
            )
        direction = enumerator(raw.cudnnFoldingDirection_t, direction, "direction")
        raw.cudnnSetTensorTransformDescriptor(
            self, ndim, as_format(layout), pad_before, pad_after, fold, direction
        )

    pad_before: tuple[int, ...] = read_back(
        TensorTransform, "Elements added before each dimension; negative ones crop."
    )
    pad_after: tuple[int, ...] = read_back(
        TensorTransform, "Elements added after each dimension; negative ones crop."
    )
    fold: tuple[int, ...] = read_back(
        TensorTransform, "Pixels along each spatial dimension that become channels."
    )
    direction: raw.cudnnFoldingDirection_t = read_back(TensorTransform, "Folding, or the way back.")
    format: raw.cudnnTensorFormat_t = read_back(
        TensorTransform, "Layout of the result, as cuDNN names it."
    )

    def _arguments(self) -> dict[str, Any]:
        arguments = self._held()
        if arguments:
            arguments["layout"] = arguments.pop("format")
        return arguments

    # -- what it makes -------------------------------------------------------------------------

    def destination(self, x_desc: TensorDescriptor) -> TensorDescriptor:
        """A new descriptor of x transformed, dense in `format`; ``cudnnInitTransformDest``.

        Raises
        ------
        BadParamError
            If nothing is left of a dimension.
        NotSupportedError
            For more than 5 dimensions, and layouts other than NCHW and NHWC.
        """
        descriptor = TensorDescriptor()
        with descriptor._closed_on_error():
            raw.cudnnInitTransformDest(self, x_desc, descriptor, c_size_t())
        return descriptor


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

    Examples
    --------
    >>> x = DeviceTensor.full((1, 1, 2, 2), 1, "float32")
    >>> with Handle() as handle, TensorTransformDescriptor((0, 0, 1, 1), (0, 0, 0, 0)) as transform:
    ...     y = transform_tensor_ex(handle, x, transform)
    >>> y.numpy()[0, 0]
    array([[0., 0., 0.],
           [0., 1., 1.],
           [0., 1., 1.]], dtype=float32)
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        x_desc = operands.describe("x")
        return _transform(raw.cudnnTransformTensorEx, operands, x_desc, transform, y, alpha, beta)


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

    The other parameters, and the errors, are those of `transform_tensor_ex`.

    Examples
    --------
    >>> w = DeviceTensor.from_numpy(np.array([1, 2], "float32").reshape(1, 1, 1, 2))
    >>> with Handle() as handle, TensorTransformDescriptor((0, 0, 0, 1), (0, 0, 0, 1)) as padding:
    ...     y = transform_filter(handle, w, padding)
    >>> y.numpy().ravel()
    array([0., 1., 2., 0.], dtype=float32)
    """
    with Operands(handle, w=(w, w_desc), y=(y, y_desc)) as operands:
        w_desc = operands.describe_filter("w")
        return _transform(raw.cudnnTransformFilter, operands, w_desc, transform, y, alpha, beta)


def _transform(
    function: Callable[..., Any],
    operands: Operands,
    x_desc: AnyDescriptor,
    transform: TensorTransformDescriptor,
    y: Made | None,
    alpha: float,
    beta: float,
) -> Made:
    """Launch with the tensor x, or the filters w, which `x_desc` describes; returns y."""
    expect("transform", transform, TensorTransformDescriptor)
    is_filter = isinstance(x_desc, FilterDescriptor)
    name, ndim = "w" if is_filter else "x", len(transform.pad_before)
    if len(x_desc.shape) != ndim:
        raise ValueError(
            f"{name}: expected {ndim} dimensions, those of the transform, got shape {x_desc.shape}"
        )
    if isinstance(x_desc, TensorDescriptor):
        source = x_desc
    else:
        like_w = TensorDescriptor(x_desc.shape, x_desc.data_type, layout=x_desc.layout)
        source = operands.enter_context(like_w)
    descriptor = operands.enter_context(transform.destination(source))
    if y is None:
        refuse_beta("y", beta)
        y = operands.make("y", descriptor.shape, descriptor.data_type, layout=descriptor.layout)
    # Where the strides fit two layouts, the transform says which one.
    operands.layout = descriptor.layout
    y_desc = operands.describe_filter("y") if is_filter else operands.describe("y")
    destination = operand_rules.Operand("y", record(y_desc))
    refuse(shaped(destination, descriptor.shape, f"that of {name} transformed"))
    refuse(equal("data_type", operand_rules.Operand(name, record(x_desc)), destination))
    records = [record(each) for each in (transform, x_desc, y_desc)]
    if not is_filter and (folds_other_layouts(*records) or unfolds_partial_blocks(*records)):
        name = operands.packed(name)
    source_and_destination = {"srcDesc": name, "srcData": name, "destDesc": "y", "destData": "y"}
    operands.launch(function, transDesc=transform, alpha=alpha, beta=beta, **source_and_destination)
    return y


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
