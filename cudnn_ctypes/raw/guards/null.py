"""Refusals of NULL where cuDNN would follow the pointer, with the status of its own refusals."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import live
from ..call_source import is_handle
from ..ctypes_support import is_null, storage_type
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding, Parameter

__all__ = ["NOT_NULL", "array_lines", "fragment", "may_be_null"]

_NULL_POINTER = 2002  # CUDNN_STATUS_BAD_PARAM_NULL_POINTER

# Parameters that cuDNN does not compare with NULL before it follows them; found by
# ``tools.fuzz nulls`` with cuDNN 9.1 to 9.28, and with 9.14 and
# 9.19 on a GPU. A NULL cudnnHandle_t is refused everywhere.
NOT_NULL: dict[str, str] = {
    "cudnnGetLastErrorString": "message",
    "cudnnGetStream": "streamId",
    "cudnnBackendCreateDescriptor": "descriptor",
    "cudnnSetTensorNdDescriptor": "dimA strideA",
    "cudnnSetTensorNdDescriptorEx": "dimA",
    "cudnnGetTensorNdDescriptor": "dataType dimA strideA",
    "cudnnGetTensorSizeInBytes": "tensorDesc size",
    "cudnnInitTransformDest": "srcDesc",
    "cudnnGetTensorTransformDescriptor": "direction",
    "cudnnGetOpTensorDescriptor": "opTensorOp opTensorCompType opTensorNanOpt",
    "cudnnOpTensor": "opTensorDesc",
    "cudnnGetReduceTensorDescriptor": "reduceTensorOp reduceTensorCompType reduceTensorNanOpt "
    "reduceTensorIndices reduceTensorIndicesType",
    "cudnnGetReductionIndicesSize": "reduceTensorDesc cDesc sizeInBytes",
    "cudnnGetReductionWorkspaceSize": "reduceTensorDesc aDesc cDesc sizeInBytes",
    "cudnnReduceTensor": "reduceTensorDesc",
    "cudnnGetFilter4dDescriptor": "dataType format k c h w",
    "cudnnSetFilterNdDescriptor": "filterDimA",
    "cudnnGetFilterNdDescriptor": "dataType format nbDims filterDimA",
    "cudnnGetFilterSizeInBytes": "size",
    "cudnnTransformFilter": "srcDesc destDesc",
    "cudnnGetPooling2dDescriptor": "mode maxpoolingNanOpt windowHeight windowWidth verticalPadding "
    "horizontalPadding verticalStride horizontalStride",
    "cudnnSetPoolingNdDescriptor": "windowDimA paddingA strideA",
    "cudnnGetPoolingNdDescriptor": "mode maxpoolingNanOpt nbDims windowDimA paddingA strideA",
    "cudnnGetPoolingNdForwardOutputDim": "inputTensorDesc outputTensorDimA",
    "cudnnGetPooling2dForwardOutputDim": "inputTensorDesc n c h w",
    "cudnnGetActivationDescriptor": "mode reluNanOpt coef",
    "cudnnCreateLRNDescriptor": "normDesc",
    "cudnnSetLRNDescriptor": "normDesc",
    "cudnnGetLRNDescriptor": "normDesc",
    "cudnnLRNCrossChannelForward": "normDesc alpha xDesc beta yDesc",
    "cudnnDivisiveNormalizationForward": "normDesc xDesc yDesc",
    "cudnnDeriveBNTensorDescriptor": "xDesc",
    "cudnnBatchNormalizationForwardInference": "xDesc yDesc bnScaleBiasMeanVarDesc",
    "cudnnDeriveNormTensorDescriptor": "xDesc",
    "cudnnNormalizationForwardInference": "xDesc normScaleBiasDesc normMeanVarDesc yDesc",
    "cudnnSpatialTfGridGeneratorForward": "stDesc",
    "cudnnSpatialTfSamplerForward": "stDesc alpha xDesc beta yDesc",
    "cudnnDropoutGetStatesSize": "sizeInBytes",
    "cudnnDropoutGetReserveSpaceSize": "sizeInBytes",
    "cudnnDropoutForward": "xdesc ydesc",
    "cudnnDropoutBackward": "dydesc dxdesc",
    "cudnnLRNCrossChannelBackward": "normDesc alpha dyDesc xDesc beta dxDesc",
    "cudnnDivisiveNormalizationBackward": "normDesc xDesc dXdMeansDesc",
    "cudnnBatchNormalizationBackward": "xDesc dyDesc dxDesc dBnScaleBiasDesc",
    "cudnnBatchNormalizationBackwardEx": "xDesc dyDesc dxDesc dBnScaleBiasDesc",
    "cudnnNormalizationBackward": "xDesc dyDesc dxDesc dNormScaleBiasDesc normMeanVarDesc",
    "cudnnSpatialTfGridGeneratorBackward": "stDesc",
    "cudnnSpatialTfSamplerBackward": "stDesc xDesc dxDesc dyDesc",
    "cudnnGetConvolutionMathType": "mathType",
    "cudnnGetConvolutionGroupCount": "groupCount",
    "cudnnGetConvolution2dDescriptor": "pad_h pad_w u v dilation_h dilation_w mode computeType",
    "cudnnSetConvolutionNdDescriptor": "padA filterStrideA dilationA",
    "cudnnGetConvolutionNdDescriptor": "arrayLength padA strideA dilationA mode computeType",
    "cudnnGetConvolution2dForwardOutputDim": "n c h w",
    "cudnnGetConvolutionForwardAlgorithmMaxCount": "count",
    "cudnnGetConvolutionForwardAlgorithm_v7": "perfResults",
    "cudnnIm2Col": "xDesc wDesc convDesc",
    "cudnnGetConvolutionBackwardDataAlgorithmMaxCount": "count",
    "cudnnGetConvolutionBackwardDataAlgorithm_v7": "perfResults",
    "cudnnGetConvolutionBackwardFilterAlgorithmMaxCount": "count",
    "cudnnGetConvolutionBackwardFilterAlgorithm_v7": "perfResults",
    "cudnnFusedOpsExecute": "plan",
    "cudnnSetRNNDataDescriptor": "seqLengthArray",
    "cudnnSetSeqDataDescriptor": "dimA axes seqLengthArray",
    "cudnnCTCLoss": "probsDesc hostLabelLengths hostInputLengths",
    "cudnnCTCLoss_v8": "ctcLossDesc probsDesc",
    "cudnnGetCTCLossWorkspaceSize": "probsDesc labelLengths inputLengths",
    "cudnnGetCTCLossWorkspaceSize_v8": "ctcLossDesc probsDesc",
}

# Descriptors that may be NULL, by a part of the function's name.
_OPTIONAL = (
    ("Destroy", {"*"}),
    ("Convolution", {"zDesc"}),
    ("SetRNNDescriptor", {"dropoutDesc"}),
    ("SetAttnDescriptor", {"attnDropoutDesc", "postDropoutDesc"}),
)


def may_be_null(function: str, name: str) -> bool:
    """Whether C may accept NULL for a handle or descriptor, as far as is known.

    Functions without a handle refuse NULL, and so do convolutions. Among other launching functions,
    those listed in `NOT_NULL` refuse it.
    """
    from ..function import binding

    parameters = {p.name: p for p in binding(function).parameters}
    if _is_handle(parameters[name]) or name in NOT_NULL.get(function, "").split():
        return False
    optional = {p for part, names in _OPTIONAL if part in function for p in names}
    launches = any(map(_is_handle, parameters.values()))
    refuses = not launches or ("Convolution" in function and parameters[name].direction == "in")
    return not refuses or bool({"*", name} & optional)


def fragment(binding: Binding) -> Fragment | None:
    never_null = _never_null(binding.name, binding.parameters)
    if not never_null:
        return None
    return Fragment(
        before=_lines([p for p in never_null if not _has_length(p)]),
        scope={
            "_null_names": _null_names(binding.parameters, never_null),
            **{f"_pointer_{p.name}": _pointer(p) for p in never_null},
        },
    )


def array_lines(binding: Binding) -> list[str]:
    """Lines that refuse NULL for arrays whose length is another argument.

    They run in calls whose arrays are not known to be long enough.
    """
    return _lines([p for p in _never_null(binding.name, binding.parameters) if _has_length(p)])


def _has_length(parameter: Parameter) -> bool:
    return parameter.type.kind == "array" and isinstance(parameter.length, str)


def _lines(never_null: Sequence[Parameter]) -> list[str]:
    if not never_null:
        return []
    return [
        f"if {' or '.join(map(_condition, never_null))}:",
        "    _nulls = _null_names({args})",
        f"    if _nulls: return _refused({_NULL_POINTER}, {{args}}, *_nulls)",
    ]


def _never_null(name: str, parameters: Sequence[Parameter]) -> list[Parameter]:
    listed = NOT_NULL.get(name, "").split()
    return [p for p in parameters if p.name in listed or _is_handle(p)]


def _is_handle(parameter: Parameter) -> bool:
    base = parameter.type.base
    return parameter.type.kind == "value" and getattr(base, "__name__", "") == "cudnnHandle_t"


def _condition(parameter: Parameter) -> str:
    if parameter.type.kind == "value":  # arrays and tensors have no truth value
        return f"not _of_{parameter.name}" if is_handle(parameter) else f"not {parameter.name}"
    name = parameter.name
    null = f"{name} is None or {name}.__class__ is _pointer_{name} and not {name}"
    if isinstance(parameter.length, str):  # NULL is accepted for 0 elements
        return f"({null}) and {parameter.length}"
    return null


def _pointer(parameter: Parameter) -> Any:
    """The ctypes pointer type of a parameter, whose objects may be NULL."""
    base = parameter.type.base
    return ctypes.POINTER(storage_type(base)) if base else ctypes.c_void_p


def _null_names(
    parameters: Sequence[Parameter], never_null: Sequence[Parameter]
) -> Callable[[tuple[Any, ...]], list[str]]:
    positions = [parameters.index(p) for p in never_null]

    def null_names(arguments: tuple[Any, ...]) -> list[str]:
        # Empty for 0, False and other objects that are no pointers: ctypes refuses them.
        return [
            f"{parameters[i].name} {_what_it_is(arguments[i])}"
            for i in positions
            if is_null(arguments[i])
        ]

    return null_names


def _what_it_is(null: Any) -> str:
    return "was destroyed" if live.is_destroyed(null) else "is NULL"
