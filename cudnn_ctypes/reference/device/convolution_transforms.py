"""What goes with convolutions on the reference device: im2col, reordered filters, folded strides.

Conditions and statuses were read off cuDNN 9.19 on an H200. Where cuDNN takes what it cannot make
sense of, descriptors that do not fit each other for im2col and convolutions that cannot be folded,
the calls are refused here.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from ...raw.descriptors import Convolution, Filter, Tensor
from ..columns import im2col
from ..folding import folded_backward_data
from ..layout import packed_strides
from ..reorder import reorder_bias, reorder_filter
from ..transform import TensorTransform
from .convolution_problem import Problem, fitting
from .dispatch import Refused, implements
from .held import read
from .memory import Operand, at, require

_FLOATING = (
    raw.CUDNN_DATA_FLOAT,
    raw.CUDNN_DATA_DOUBLE,
    raw.CUDNN_DATA_HALF,
    raw.CUDNN_DATA_BFLOAT16,
)
_INT8x32 = raw.CUDNN_DATA_INT8x32


@implements("cudnnIm2Col")
def im2col_(
    handle: Any, xDesc: Any, x: int | None, wDesc: Any, convDesc: Any, colBuffer: int | None
) -> None:
    """x of 4 dimensions, a floating type, one group; the columns are packed, in the type of x."""
    require(x=x, colBuffer=colBuffer)
    image = read(Tensor, xDesc, "xDesc")
    w = read(Filter, wDesc, "wDesc")
    convolution = read(Convolution, convDesc, "convDesc")
    if len(image.shape) != 4 or image.data_type not in _FLOATING or convolution.groups != 1:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"cuDNN has no im2col for {len(image.shape)} dimensions of {image.data_type.name} in "
            f"{convolution.groups} groups, only for 4 of a floating type in one",
        )
    names = ("xDesc", "wDesc", "convDesc")
    geometry = fitting(image, w, convolution, names)
    columns = im2col(
        Operand("x", image, x).load(),
        geometry.w_shape,
        padding=geometry.padding,
        stride=geometry.stride,
        dilation=geometry.dilation,
        mode=geometry.mode,
    )
    strides = packed_strides(columns.shape)
    at(colBuffer, image.data_type, columns.shape, strides, "colBuffer", "write")[...] = columns


@implements("cudnnReorderFilterAndBias")
def reorder_filter_and_bias(
    handle: Any,
    filterDesc: Any,
    reorderType: raw.cudnnReorderType_t,
    filterData: int | None,
    reorderedFilterData: int | None,
    reorderBias: int,
    biasData: int | None,
    reorderedBiasData: int | None,
) -> None:
    """INT8x32 filters of 4 dimensions are reordered, others copied; the bias holds K floats."""
    require(filterData=filterData, reorderedFilterData=reorderedFilterData)
    if reorderBias:
        require(biasData=biasData, reorderedBiasData=reorderedBiasData)
    w = read(Filter, filterDesc, "filterDesc")
    default = reorderType == raw.CUDNN_DEFAULT_REORDER
    if default and (w.data_type != _INT8x32 or len(w.shape) != 4 or w.shape[0] % 32):
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"only INT8x32 filters of 4 dimensions with a multiple of 32 outputs are reordered, "
            f"filterDesc holds {w.data_type.name} {w.shape}",
        )
    stored = Operand("filterData", w, filterData).stored()
    target = Operand("reorderedFilterData", w, reorderedFilterData).stored("write")
    target[...] = reorder_filter(stored) if default else stored.copy()
    if reorderBias:
        float32, size = raw.CUDNN_DATA_FLOAT, w.shape[:1]
        bias = at(biasData, float32, size, (1,), "biasData")
        result = at(reorderedBiasData, float32, size, (1,), "reorderedBiasData", "write")
        result[...] = reorder_bias(bias) if default else bias.copy()


@implements("cudnnGetFoldedConvBackwardDataDescriptors")
def folded_backward_data_descriptors(
    handle: Any,
    filterDesc: Any,
    diffDesc: Any,
    convDesc: Any,
    gradDesc: Any,
    transformFormat: raw.cudnnTensorFormat_t,
    foldedFilterDesc: Any,
    paddedDiffDesc: Any,
    foldedConvDesc: Any,
    foldedGradDesc: Any,
    filterFoldTransDesc: Any,
    diffPadTransDesc: Any,
    gradFoldTransDesc: Any,
    gradUnfoldTransDesc: Any,
) -> None:
    """4 dimensions, cross-correlation, dilation 1 and one group: what folding is correct for."""
    problem = Problem.read(
        gradDesc=gradDesc, filterDesc=filterDesc, convDesc=convDesc, diffDesc=diffDesc
    )
    geometry, convolution = problem.geometry, problem.convolution
    if geometry.spatial != 2:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, "cuDNN folds exactly 2 spatial dimensions")
    if (
        geometry.mode != "cross-correlation"
        or set(geometry.dilation) != {1}
        or geometry.groups != 1
        or transformFormat not in (raw.CUDNN_TENSOR_NCHW, raw.CUDNN_TENSOR_NHWC)
    ):
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            "only cross-correlation with dilation 1 and one group can be folded, to NCHW or NHWC",
        )
    folded = folded_backward_data(
        geometry.w_shape, geometry.x_shape, padding=geometry.padding, stride=geometry.stride
    )
    data_type = problem.x.data_type
    for name, descriptor, function, arguments in (
        (
            "foldedFilterDesc",
            foldedFilterDesc,
            raw.cudnnSetFilterNdDescriptor,
            (data_type, transformFormat, 4, folded.w_shape),
        ),
        (
            "paddedDiffDesc",
            paddedDiffDesc,
            raw.cudnnSetTensorNdDescriptorEx,
            (transformFormat, data_type, 4, folded.dy_shape),
        ),
        (
            "foldedConvDesc",
            foldedConvDesc,
            raw.cudnnSetConvolutionNdDescriptor,
            (2, folded.padding, (1, 1), (1, 1), convolution.mode, convolution.compute_type),
        ),
        (
            "foldedGradDesc",
            foldedGradDesc,
            raw.cudnnSetTensorNdDescriptorEx,
            (transformFormat, data_type, 4, folded.dx_shape),
        ),
        ("filterFoldTransDesc", filterFoldTransDesc, *_transform(transformFormat, folded.fold_w)),
        ("diffPadTransDesc", diffPadTransDesc, *_transform(transformFormat, folded.pad_dy)),
        ("gradFoldTransDesc", gradFoldTransDesc, *_transform(transformFormat, folded.fold_dx)),
        (
            "gradUnfoldTransDesc",
            gradUnfoldTransDesc,
            *_transform(transformFormat, folded.unfold_dx),
        ),
    ):
        if not descriptor:
            raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL")
        status = function.unchecked(descriptor, *arguments)
        if status != raw.CUDNN_STATUS_SUCCESS:
            raise Refused(status, f"{name} cannot be set: {function.__name__} gave {status}")


def _transform(layout: raw.cudnnTensorFormat_t, transform: TensorTransform) -> tuple[Any, Any]:
    """The function that sets a transform descriptor, and what it is set to."""
    direction = (
        raw.CUDNN_TRANSFORM_FOLD if transform.direction == "fold" else raw.CUDNN_TRANSFORM_UNFOLD
    )
    arguments = (4, layout, transform.pad_before, transform.pad_after, transform.fold, direction)
    return raw.cudnnSetTensorTransformDescriptor, arguments
