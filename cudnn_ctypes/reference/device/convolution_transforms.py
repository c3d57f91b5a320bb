"""Transforms for convolutions on the reference device: im2col, filter reordering, folded strides.

Conditions and statuses were read off cuDNN 9.19 on an H200. cuDNN accepts im2col descriptors that
do not fit together, and convolutions that cannot be folded; these calls are refused here.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from ...raw.descriptors import Convolution, Filter, Tensor
from ..columns import im2col
from ..folding import folded_backward_data
from ..reorder import reorder_bias, reorder_filter
from ..transform import TensorTransform
from .call import Call
from .convolution_problem import Problem, fitting
from .registry import Refused, bad_param, implements, not_supported

_INT8x32 = raw.CUDNN_DATA_INT8x32


@implements("cudnnIm2Col")
def im2col_(call: Call) -> None:
    """x of 4 dimensions, a floating type, one group; the columns are packed, in the type of x."""
    call.require("colBuffer")
    x, image, w = call.operand("x"), call.record("xDesc", Tensor), call.record("wDesc", Filter)
    convolution = call.record("convDesc", Convolution)
    call.check()
    if w.data_type == raw.CUDNN_DATA_INT8:
        raise not_supported("wDesc is INT8")
    geometry = fitting(image, w, convolution, ("xDesc", "wDesc", "convDesc"))
    columns = im2col(
        x.load(),
        geometry.w_shape,
        padding=geometry.padding,
        stride=geometry.stride,
        dilation=geometry.dilation,
        mode=geometry.mode,
    )
    call.array("colBuffer", x.data_type, *columns.shape)[...] = columns


@implements("cudnnReorderFilterAndBias")
def reorder_filter_and_bias(call: Call) -> None:
    """INT8x32 filters of 4 dimensions are reordered, others copied; the bias holds K floats."""
    default = call["reorderType"] == raw.CUDNN_DEFAULT_REORDER
    described = call.record("filterDesc", Filter)
    if default and not described.shape[1]:
        reason = f"filterDesc has fewer channels than a vector: {described.shape}"
        raise Refused(raw.CUDNN_STATUS_EXECUTION_FAILED_CUDART, reason)
    w, result = call.operands("filterData", "reorderedFilterData")
    if len(w.shape) > 4:
        raise bad_param(f"filterDesc has more than 4 dimensions: {w.shape}")
    if call["reorderBias"]:
        call.require("biasData", "reorderedBiasData")
    if default and (w.data_type != _INT8x32 or len(w.shape) != 4 or w.shape[0] % 32):
        raise not_supported(
            f"only INT8x32 filters of 4 dimensions with a multiple of 32 outputs are reordered, "
            f"filterDesc holds {w.data_type.name} {w.shape}"
        )
    stored = w.stored()
    result.stored("write")[...] = reorder_filter(stored) if default else stored.copy()
    if call["reorderBias"]:
        bias = call.array("biasData", raw.CUDNN_DATA_FLOAT, w.shape[0])
        reordered = call.array("reorderedBiasData", raw.CUDNN_DATA_FLOAT, w.shape[0])
        reordered[...] = reorder_bias(bias) if default else bias.copy()


@implements("cudnnGetFoldedConvBackwardDataDescriptors")
def folded_backward_data_descriptors(call: Call) -> None:
    """Folding is correct for 4 dimensions, cross-correlation, dilation 1 and one group only."""
    problem = Problem.read(call, "gradDesc", "filterDesc", "convDesc", "diffDesc")
    geometry, convolution, layout = problem.geometry, problem.convolution, call["transformFormat"]
    if geometry.spatial != 2:
        raise bad_param("cuDNN folds exactly 2 spatial dimensions")
    if (
        geometry.mode != "cross_correlation"
        or set(geometry.dilation) != {1}
        or geometry.groups != 1
        or layout not in (raw.CUDNN_TENSOR_NCHW, raw.CUDNN_TENSOR_NHWC)
    ):
        raise not_supported(
            "only cross-correlation with dilation 1 and one group can be folded, to NCHW or NHWC"
        )
    folded = folded_backward_data(
        geometry.w_shape, geometry.x_shape, padding=geometry.padding, stride=geometry.stride
    )
    data_type = problem.x.data_type
    options = (2, folded.padding, (1, 1), (1, 1), convolution.mode, convolution.compute_data_type)
    for name, function, arguments in (
        (
            "foldedFilterDesc",
            raw.cudnnSetFilterNdDescriptor,
            (data_type, layout, 4, folded.w_shape),
        ),
        (
            "paddedDiffDesc",
            raw.cudnnSetTensorNdDescriptorEx,
            (layout, data_type, 4, folded.dy_shape),
        ),
        ("foldedConvDesc", raw.cudnnSetConvolutionNdDescriptor, options),
        (
            "foldedGradDesc",
            raw.cudnnSetTensorNdDescriptorEx,
            (layout, data_type, 4, folded.dx_shape),
        ),
        ("filterFoldTransDesc", *_transform(layout, folded.fold_w)),
        ("diffPadTransDesc", *_transform(layout, folded.pad_dy)),
        ("gradFoldTransDesc", *_transform(layout, folded.fold_dx)),
        ("gradUnfoldTransDesc", *_transform(layout, folded.unfold_dx)),
    ):
        call.require(name)
        status = function.unchecked(call[name], *arguments)
        if status != raw.CUDNN_STATUS_SUCCESS:
            raise Refused(status, f"{name} cannot be set: {function.__name__} gave {status}")


def _transform(layout: raw.cudnnTensorFormat_t, transform: TensorTransform) -> tuple[Any, Any]:
    """The function that sets a transform descriptor, and its arguments."""
    direction = (
        raw.CUDNN_TRANSFORM_FOLD if transform.direction == "fold" else raw.CUDNN_TRANSFORM_UNFOLD
    )
    arguments = (4, layout, transform.pad_before, transform.pad_after, transform.fold, direction)
    return raw.cudnnSetTensorTransformDescriptor, arguments
