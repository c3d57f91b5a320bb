"""What the headers do not say, or say wrongly; every table is keyed by C names.

An entry that matches nothing, or that says what the headers say anyway, is an error: the
generator then stops, so that these tables cannot outlive what they correct.
"""

from __future__ import annotations

import csv
from pathlib import Path

from .model import Direction

# --- void * parameters -----------------------------------------------------------------------
# Every name of a `void *` parameter stands in exactly one of these tables.

HOST_SCALARS = frozenset(
    {
        "alpha",
        "alpha1",
        "alpha2",
        "alphaDataDiff",
        "alphaDgrid",
        "alphaParamDiff",
        "beta",
        "betaDataDiff",
        "betaDgrid",
        "betaParamDiff",
        "paddingFill",
        "valuePtr",
    }
)

# Those that have the data type of what they fill, and not that of a scaling factor.

PADDING = frozenset({"paddingFill"})

HOST_MEMORY = frozenset({"arrayOfElements", "udata"})

# What they are, the label before them decides.
LABELLED = frozenset({"param", "ptr"})

# The labels that take a descriptor, by its type.

_POINTEES: dict[str, str] = {
    "cudnnTensorDescriptor_t": """
        CUDNN_PARAM_XDESC CUDNN_PARAM_YDESC CUDNN_PARAM_ZDESC CUDNN_PARAM_DXDESC
        CUDNN_PARAM_DYDESC CUDNN_PARAM_DZDESC CUDNN_PARAM_BN_EQSCALEBIAS_DESC
        CUDNN_PARAM_BN_Z_EQSCALEBIAS_DESC CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC
        CUDNN_PARAM_YSTATS_DESC CUDNN_PARAM_ACTIVATION_BITMASK_DESC""",
    "cudnnFilterDescriptor_t": "CUDNN_PARAM_WDESC CUDNN_PARAM_DWDESC",
    "cudnnConvolutionDescriptor_t": "CUDNN_PARAM_CONV_DESC",
    "cudnnActivationDescriptor_t": "CUDNN_PARAM_ACTIVATION_DESC",
}
POINTEES = {label: kind for kind, labels in _POINTEES.items() for label in labels.split()}

DEVICE_MEMORY = frozenset(
    {
        "A",
        "B",
        "C",
        "x",
        "xData",
        "y",
        "yData",
        "yGated",
        "z",
        "zData",
        "w",
        "dx",
        "dxData",
        "dy",
        "dyData",
        "dzData",
        "dw",
        "db",
        "srcData",
        "destData",
        "indices",
        "temp",
        "temp2",
        "means",
        "dMeans",
        "bias",
        "biasData",
        "dbias",
        "filterData",
        "reorderedFilterData",
        "reorderedBiasData",
        "colBuffer",
        "bnScale",
        "bnScaleData",
        "bnBias",
        "bnBiasData",
        "dBnScaleResult",
        "dBnScaleData",
        "dBnBiasResult",
        "dBnBiasData",
        "normScale",
        "normScaleData",
        "normBias",
        "normBiasData",
        "dNormScaleData",
        "dNormBiasData",
        "estimatedMean",
        "estimatedVariance",
        "resultRunningMean",
        "resultRunningVariance",
        "resultSaveMean",
        "resultSaveInvVariance",
        "savedMean",
        "savedInvVariance",
        "theta",
        "dtheta",
        "grid",
        "dgrid",
        "hx",
        "hy",
        "cx",
        "cy",
        "dhx",
        "dhy",
        "dcx",
        "dcy",
        "weightSpace",
        "dweightSpace",
        "queries",
        "keys",
        "values",
        "residuals",
        "out",
        "dout",
        "dqueries",
        "dkeys",
        "dvalues",
        "weights",
        "dweights",
        "probs",
        "costs",
        "gradients",
        "workSpace",
        "workspace",
        "reserveSpace",
        "states",
        "weight",
        "dweight",
        "weightsProj",
        "weightsMixer",
        "skipBias",
        "dweightsProj",
        "dweightsMixer",
        "dskipBias",
        "nodeFeatures",
        "edgeFeatures",
        "concatFeatures",
        "output",
        "outPositions",
        "gradOutput",
        "gradNodeFeatures",
        "gradEdgeFeatures",
        "gradConcatFeatures",
        "srcFeatures",
        "dstFeatures",
        "attnWeights",
        "smScores",
        "actScores",
        "gradOut",
        "gradSrcFeatures",
        "gradDstFeatures",
        "gradWeights",
        "gradSmScores",
        "gradWspaceFeat",
        "gradWspaceWeights",
    }
)

# --- what says what is in memory ------------------------------------------------------------------
# "function.parameter" or "parameter", in the functions that have the named ones, to the descriptor
# of device memory, or its size in bytes, where the names do not tell; to the descriptors of which
# one that is DOUBLE makes a scalar a double. "" where no parameter tells.

DESCRIBED_BY: dict[str, str] = {
    # The type that is computed in decides, and either tensor of a transform (cuDNN 9.14, 9.19).
    "cudnnOpTensor.alpha1": "opTensorDesc",
    "cudnnOpTensor.alpha2": "opTensorDesc",
    "cudnnOpTensor.beta": "opTensorDesc",
    "cudnnTransformTensor.alpha": "xDesc yDesc",
    "cudnnTransformTensor.beta": "xDesc yDesc",
    "cudnnTransformTensorEx.alpha": "srcDesc destDesc",
    "cudnnTransformTensorEx.beta": "srcDesc destDesc",
    "cudnnTransformFilter.alpha": "srcDesc destDesc",
    "cudnnTransformFilter.beta": "srcDesc destDesc",
    **{
        f"{function}.{name}": described_by
        for function, described_by in {
            "cudnnDivisiveNormalizationForward": "yDesc",
            "cudnnDivisiveNormalizationBackward": "dXdMeansDesc",
            "cudnnNormalizationForwardTraining": "yDesc",
        }.items()
        for name in ("alpha", "beta")
    },
    **{
        f"{function}.{name}": "dxDesc"
        for function in ("cudnnBatchNormalizationBackwardEx", "cudnnNormalizationBackward")
        for name in ("alphaDataDiff", "betaDataDiff", "alphaParamDiff", "betaParamDiff")
    },
    "cudnnSetRNNDataDescriptor.paddingFill": "dataType",
    "cudnnSetSeqDataDescriptor.paddingFill": "dataType",
    "cudnnGetRNNDataDescriptor.paddingFill": "rnnDataDesc",
    "cudnnGetSeqDataDescriptor.paddingFill": "seqDataDesc",
    # convolution, local normalization
    "cudnnFindConvolutionBackwardFilterAlgorithmEx.y": "dyDesc",
    "reorderedFilterData": "filterDesc",
    "means": "xDesc",
    "temp": "xDesc",
    "temp2": "xDesc",
    "cudnnDivisiveNormalizationBackward.dy": "xDesc",
    "cudnnDivisiveNormalizationBackward.dx": "dXdMeansDesc",
    "dMeans": "dXdMeansDesc",
    # batch normalization
    **dict.fromkeys(
        ("bnScale", "bnBias", "estimatedMean", "estimatedVariance"), "bnScaleBiasMeanVarDesc"
    ),
    **dict.fromkeys(
        ("resultRunningMean", "resultRunningVariance", "resultSaveMean", "resultSaveInvVariance"),
        "bnScaleBiasMeanVarDesc",
    ),
    "cudnnBatchNormalizationBackward.bnScale": "dBnScaleBiasDesc",
    **dict.fromkeys(
        ("bnScaleData", "bnBiasData", "dBnScaleData", "dBnBiasData", "dBnScaleResult"),
        "dBnScaleBiasDesc",
    ),
    **dict.fromkeys(("dBnBiasResult", "savedMean", "savedInvVariance"), "dBnScaleBiasDesc"),
    # normalization
    "normScale": "normScaleBiasDesc",
    "normBias": "normScaleBiasDesc",
    **dict.fromkeys(
        ("normScaleData", "normBiasData", "dNormScaleData", "dNormBiasData"), "dNormScaleBiasDesc"
    ),
    **{
        f"cudnnNormalization{function}.{name}": "normMeanVarDesc"
        for function, names in {
            "ForwardInference": ("estimatedMean", "estimatedVariance"),
            "ForwardTraining": (
                "resultRunningMean",
                "resultRunningVariance",
                "resultSaveMean",
                "resultSaveInvVariance",
            ),
            "Backward": ("savedMean", "savedInvVariance"),
        }.items()
        for name in names
    },
    # sequences
    "cudnnRNNBackwardData_v8.dy": "yDesc",
    "cudnnRNNBackwardData_v8.dx": "xDesc",
    "dweightSpace": "weightSpaceSize",
    "states": "stateSizeInBytes",
    "queries": "qDesc",
    "keys": "kDesc",
    "values": "vDesc",
    "out": "oDesc",
    "dout": "doDesc",
    "weights": "weightSizeInBytes",
    "dweights": "weightSizeInBytes",
    **{
        f"cudnnMultiHeadAttnBackwardData.{name}": f"d{name.removeprefix('d')[0]}Desc"
        for name in ("queries", "dqueries", "keys", "dkeys", "values", "dvalues")
    },
}

# --- typed pointers that refer to device memory --------------------------------------------------
# "function.parameter", or "parameter" wherever it occurs.

DEVICE_ARRAYS = frozenset(
    {
        "devSeqLengths",
        "devSeqLengthsQO",
        "devSeqLengthsKV",
        "devSeqLengthsDQDO",
        "devSeqLengthsDKDV",
        "dropoutMask",
        "gradAttention",
        # cudnnCTCLoss takes these on the host, and its successor on the device.
        "cudnnCTCLoss_v8.labels",
        "cudnnCTCLoss_v8.labelLengths",
        "cudnnCTCLoss_v8.inputLengths",
    }
)

# --- arrays -----------------------------------------------------------------------------------
# "function.parameter" or "parameter" to the length: an expression of the function's parameters,
# or None where no parameter gives it. Pointers that are not listed point to one object.
# "2 <= nbDims": cuDNN writes or reads 2 elements even if asked for fewer (tools/fuzz, cuDNN 9.28).
# "nbDims <= 8": it writes more on its stack or over the end of the descriptor: with 9 dims of a
# tensor the process ends on aarch64, with 200 on x86-64. TOO_LONG has the status of the refusal.

LENGTHS: dict[str, str | None] = {
    "cudnnGetLastErrorString.message": "max_size",
    # tensors, filters
    "cudnnSetTensorNdDescriptor.dimA": "nbDims",
    "cudnnSetTensorNdDescriptor.strideA": "nbDims",
    "cudnnSetTensorNdDescriptorEx.dimA": "nbDims <= 8",
    "cudnnGetTensorNdDescriptor.dimA": "nbDimsRequested",
    "cudnnGetTensorNdDescriptor.strideA": "nbDimsRequested",
    "cudnnSetFilterNdDescriptor.filterDimA": "nbDims",
    "cudnnGetFilterNdDescriptor.filterDimA": "nbDimsRequested",
    # Folding concerns the spatial dimensions only.
    "cudnnSetTensorTransformDescriptor.padBeforeA": "nbDims",
    "cudnnSetTensorTransformDescriptor.padAfterA": "nbDims",
    "cudnnSetTensorTransformDescriptor.foldA": "nbDims - 2",
    "cudnnGetTensorTransformDescriptor.padBeforeA": "nbDimsRequested",
    "cudnnGetTensorTransformDescriptor.padAfterA": "nbDimsRequested",
    "cudnnGetTensorTransformDescriptor.foldA": "nbDimsRequested - 2",
    "cudnnSetSpatialTransformerNdDescriptor.dimA": "1 <= nbDims <= 8",
    # pooling: nbDims counts the spatial dimensions, except for the output's shape
    "cudnnSetPoolingNdDescriptor.windowDimA": "nbDims",
    "cudnnSetPoolingNdDescriptor.paddingA": "nbDims",
    "cudnnSetPoolingNdDescriptor.strideA": "nbDims",
    "cudnnGetPoolingNdDescriptor.windowDimA": "nbDimsRequested",
    "cudnnGetPoolingNdDescriptor.paddingA": "nbDimsRequested",
    "cudnnGetPoolingNdDescriptor.strideA": "nbDimsRequested",
    "cudnnGetPoolingNdForwardOutputDim.outputTensorDimA": "nbDims",
    # convolution
    "cudnnSetConvolutionNdDescriptor.padA": "arrayLength",
    "cudnnSetConvolutionNdDescriptor.filterStrideA": "arrayLength",
    "cudnnSetConvolutionNdDescriptor.dilationA": "arrayLength",
    "cudnnGetConvolutionNdDescriptor.padA": "arrayLengthRequested",
    "cudnnGetConvolutionNdDescriptor.strideA": "arrayLengthRequested",
    "cudnnGetConvolutionNdDescriptor.dilationA": "arrayLengthRequested",
    "cudnnGetConvolutionNdForwardOutputDim.tensorOuputDimA": "2 <= nbDims",
    "perfResults": "requestedAlgoCount",
    # sequences
    "cudnnSetRNNDataDescriptor.seqLengthArray": "batchSize",
    "cudnnGetRNNDataDescriptor.seqLengthArray": "arrayLengthRequested",
    "cudnnSetSeqDataDescriptor.dimA": "nbDims",
    "cudnnSetSeqDataDescriptor.axes": "nbDims",
    "cudnnSetSeqDataDescriptor.seqLengthArray": "seqLengthArraySize",
    "cudnnGetSeqDataDescriptor.dimA": "nbDimsRequested",
    "cudnnGetSeqDataDescriptor.axes": "nbDimsRequested",
    "cudnnGetSeqDataDescriptor.seqLengthArray": "seqLengthSizeRequested",
    # One window per time step of the query: its number stands in the attention descriptor.
    "loWinIdx": None,
    "hiWinIdx": None,
    # PER_SAMPLE and SUM_OF say how many.
    "cudnnCTCLoss.hostLabels": None,
    "cudnnCTCLoss.hostLabelLengths": None,
    "cudnnCTCLoss.hostInputLengths": None,
    "cudnnGetCTCLossWorkspaceSize.labels": None,
    "cudnnGetCTCLossWorkspaceSize.labelLengths": None,
    "cudnnGetCTCLossWorkspaceSize.inputLengths": None,
}

# Arrays with one element for each sample of the batch, which stands in the named descriptor, and
# those with as many as the named array adds up to: the labels of all samples follow one another.

PER_SAMPLE: dict[str, str] = {
    "cudnnCTCLoss.hostLabelLengths": "probsDesc",
    "cudnnCTCLoss.hostInputLengths": "probsDesc",
    "cudnnGetCTCLossWorkspaceSize.labelLengths": "probsDesc",
    "cudnnGetCTCLossWorkspaceSize.inputLengths": "probsDesc",
}
SUM_OF: dict[str, str] = {
    "cudnnCTCLoss.hostLabels": "hostLabelLengths",
    "cudnnGetCTCLossWorkspaceSize.labels": "labelLengths",
}

# Elements that cuDNN 9.28 changes even if asked for fewer: the second one is multiplied by the
# length of a vector.

LENT: dict[str, str] = {
    "cudnnGetTensorNdDescriptor.dimA": "2",
    "cudnnGetTensorNdDescriptor.strideA": "2",
}

TOO_LONG: dict[str, str] = {
    "cudnnSetTensorNdDescriptorEx.dimA": "CUDNN_STATUS_NOT_SUPPORTED",
    "cudnnSetSpatialTransformerNdDescriptor.dimA": "CUDNN_STATUS_BAD_PARAM",
}

# Dense memory of functions that take sizes in place of descriptors: its shape, an expression of the
# function's parameters for each size, and the parameter with its data type, by default "dataType".

_SEQUENCES, _FILTERS = ("batch, dim, seqLen",), ("dim, kernelSize",)
_SEQUENCES_LAST, _FILTERS_LAST = ("batch, seqLen, dim",), ("kernelSize, dim",)
_SUMMED = {"dbias": ("dim", "dwDataType")}
_TWO_FILTERS = {
    "x": ("batch, dim, 3, seqLen",),
    "weightsProj": ("dim, 3, kernelSizeProj",),
    "weightsMixer": ("dim, kernelSizeMixer",),
    "skipBias": ("dim",),
    "y": _SEQUENCES,
}
_POSITIONS = {"outPositions": ("graph.nDstNodes, nodeFeatDim + edgeFeatDim", "graph.idxType")}
_AGGREGATED = "graph.nDstNodes, nodeFeatDim + edgeFeatDim + concatFeatDim"
_TABLES = {
    "odeFeatures": "graph.nSrcNodes, nodeFeatDim",
    "dgeFeatures": "graph.nIndices, edgeFeatDim",
    "oncatFeatures": "graph.nDstNodes, concatFeatDim",
}
_ATTENDED = "graph.nDstNodes, dimNode // params.numHeads ** (not params.concatHeads)"
_HEADS, _SCORES = "params.numHeads, graph.nIndices", "2, params.numHeads, graph.nIndices"


def _attention(edges: str, weights: str, **others: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    return {
        "srcFeatures": ("graph.nSrcNodes, dimNode",),
        "dstFeatures": ("graph.nDstNodes, dimNode",),
        "edgeFeatures": (f"graph.nIndices, {edges}",),
        "attnWeights": (weights,),
        "smScores": (_SCORES, "FLOAT"),
        "dropoutMask": (_HEADS, "FLOAT"),
        **others,
    }


def _gradients(edges: str, weights: str, of: str, of_weights: str) -> dict[str, tuple[str, ...]]:
    return {
        "gradOut": (_ATTENDED,),
        "gradAttention": (_HEADS, "FLOAT"),
        "gradSrcFeatures": ("graph.nSrcNodes, dimNode", of),
        "gradDstFeatures": ("graph.nDstNodes, dimNode", of),
        "gradEdgeFeatures": (f"graph.nIndices, {edges}", of),
        "gradWeights": (weights, of_weights),
        "gradSmScores": (_SCORES, "FLOAT"),
        "gradWspaceFeat": ("graph.nIndices, dimNode", of),
        "gradWspaceWeights": (f"graph.nDstNodes, {weights}", of_weights),
    }


_GAT, _GAT_V2 = ("dimEdge", "2 * dimNode + dimEdge"), ("dimNode", "dimNode")
_ACTIVATED = {"actScores": ("graph.nIndices, dimNode",)}
_SHAPES: dict[str, dict[str, tuple[str, ...]]] = {
    "cudnnCausalConv1dForward": {"x y": _SEQUENCES, "weight": _FILTERS, "bias": ("dim",)},
    "cudnnCausalConv1dNwhForward": {
        "x y": _SEQUENCES_LAST,
        "weight": _FILTERS_LAST,
        "bias": ("dim",),
    },
    "cudnnCausalConv1dBackward": {
        "x dy dx": _SEQUENCES,
        "weight": _FILTERS,
        "bias": ("dim",),
        "dweight": (*_FILTERS, "dwDataType"),
        **_SUMMED,
    },
    "cudnnCausalConv1dNwhBackward": {
        "x dy dx": _SEQUENCES_LAST,
        "weight": _FILTERS_LAST,
        "bias": ("dim",),
        "dweight": (*_FILTERS_LAST, "dwDataType"),
        **_SUMMED,
    },
    "cudnnB2BCausalConv1dForward": {**_TWO_FILTERS, "yGated": _SEQUENCES},
    "cudnnB2BCausalConv1dBackward": {
        **_TWO_FILTERS,
        "dy": _SEQUENCES,
        "dx": _TWO_FILTERS["x"],
        **{
            f"d{name}": (*_TWO_FILTERS[name], "dwDataType")
            for name in ("weightsProj", "weightsMixer", "skipBias")
        },
    },
    "cudnnFFTCausalConv1dForward": {"x y": _SEQUENCES, "weight": _FILTERS},
    "cudnnLongFFTCausalConv1dForward": {"x y": _SEQUENCES, "weight": _FILTERS},
    "cudnnFFTCausalConv1dBackward": {"x dy dx": _SEQUENCES, "weight dweight": _FILTERS},
    "cudnnLongFFTCausalConv1dBackward": {"dy dx": _SEQUENCES, "dweight": _FILTERS},
    "cudnnGnnAggSimpleForward": {
        **{f"{of}{name}": (_TABLES[name],) for of, name in zip("nec", _TABLES, strict=True)},
        "output": (_AGGREGATED,),
        **_POSITIONS,
    },
    "cudnnGnnAggSimpleBackward": {
        **{f"grad{of}{name}": (_TABLES[name],) for of, name in zip("NEC", _TABLES, strict=True)},
        "gradOutput": (_AGGREGATED,),
        **_POSITIONS,
    },
    "cudnnGnnMhaGatForward": _attention(*_GAT, output=(_ATTENDED,)),
    "cudnnGnnMhaGatV2Forward": _attention(*_GAT_V2, output=(_ATTENDED,), **_ACTIVATED),
    "cudnnGnnMhaGatBackward": {
        **_attention(*_GAT),
        **_gradients(*_GAT, "gradDataType", "gradWeightType"),
    },
    "cudnnGnnMhaGatV2Backward": {
        **_attention(*_GAT_V2, **_ACTIVATED),
        **_gradients(*_GAT_V2, "gradType", "gradType"),
    },
}
SHAPES = {
    f"{function}.{name}": shape
    for function, shapes in _SHAPES.items()
    for names, shape in shapes.items()
    for name in names.split()
}

# --- sizes ---------------------------------------------------------------------------------------
# By function, the parameters whose product is a number of elements. cuDNN 9.28 refuses tensors of
# more bytes than 64 bits count, but accepts filters and reports 0 bytes for them.

_FACTORS: dict[str, str] = {
    "cudnnSetFilter4dDescriptor": "k c h w",
    "cudnnSetFilterNdDescriptor": "filterDimA",
    "cudnnSetSpatialTransformerNdDescriptor": "dimA",
    "cudnnSetSeqDataDescriptor": "dimA",
    "cudnnSetRNNDataDescriptor": "maxSeqLength batchSize vectorSize",
    "cudnnSetRNNDescriptor_v8": "inputSize hiddenSize numLayers",
    "cudnnSetAttnDescriptor": "nHeads qoMaxSeqLength kvMaxSeqLength maxBatchSize",
}
FACTORS = frozenset(f"{f}.{name}" for f, names in _FACTORS.items() for name in names.split())

# Those that are added to the sizes of a tensor. For a padding of 2147483647 cuDNN computes an
# output of one element.

_EXTENTS: dict[str, str] = {
    "cudnnSetConvolution2dDescriptor": "pad_h pad_w dilation_h dilation_w",
    "cudnnSetConvolutionNdDescriptor": "padA dilationA",
    "cudnnSetPooling2dDescriptor": "windowHeight windowWidth verticalPadding horizontalPadding",
    "cudnnSetPoolingNdDescriptor": "windowDimA paddingA",
}
EXTENTS = frozenset(f"{f}.{name}" for f, names in _EXTENTS.items() for name in names.split())

# By C function that tells how many bytes are needed: the parameters that pass this number.

_TELLS: dict[str, str] = {
    "cudnnGetReductionIndicesSize": "cudnnReduceTensor.indicesSizeInBytes",
    "cudnnGetReductionWorkspaceSize": "cudnnReduceTensor.workspaceSizeInBytes",
    "cudnnDropoutGetStatesSize": """
        cudnnSetDropoutDescriptor.stateSizeInBytes
        cudnnRestoreDropoutDescriptor.stateSizeInBytes""",
    "cudnnDropoutGetReserveSpaceSize": """
        cudnnDropoutForward.reserveSpaceSizeInBytes
        cudnnDropoutBackward.reserveSpaceSizeInBytes""",
    "cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize": """
        cudnnBatchNormalizationForwardTrainingEx.workSpaceSizeInBytes""",
    "cudnnGetBatchNormalizationTrainingExReserveSpaceSize": """
        cudnnBatchNormalizationForwardTrainingEx.reserveSpaceSizeInBytes
        cudnnBatchNormalizationBackwardEx.reserveSpaceSizeInBytes""",
    "cudnnGetBatchNormalizationBackwardExWorkspaceSize": """
        cudnnBatchNormalizationBackwardEx.workSpaceSizeInBytes""",
    "cudnnGetNormalizationForwardTrainingWorkspaceSize": """
        cudnnNormalizationForwardTraining.workSpaceSizeInBytes""",
    "cudnnGetNormalizationTrainingReserveSpaceSize": """
        cudnnNormalizationForwardTraining.reserveSpaceSizeInBytes
        cudnnNormalizationBackward.reserveSpaceSizeInBytes""",
    "cudnnGetNormalizationBackwardWorkspaceSize": "cudnnNormalizationBackward.workSpaceSizeInBytes",
    "cudnnGetConvolutionForwardWorkspaceSize": """
        cudnnConvolutionForward.workSpaceSizeInBytes
        cudnnConvolutionBiasActivationForward.workSpaceSizeInBytes""",
    "cudnnGetConvolutionBackwardDataWorkspaceSize": """
        cudnnConvolutionBackwardData.workSpaceSizeInBytes""",
    "cudnnGetConvolutionBackwardFilterWorkspaceSize": """
        cudnnConvolutionBackwardFilter.workSpaceSizeInBytes""",
    "cudnnGetRNNWeightSpaceSize": """
        cudnnGetRNNWeightParams.weightSpaceSize cudnnRNNForward.weightSpaceSize
        cudnnRNNBackwardData_v8.weightSpaceSize
        cudnnRNNBackwardWeights_v8.weightSpaceSize""",
    "cudnnGetRNNTempSpaceSizes": """
        cudnnRNNForward.workSpaceSize cudnnRNNForward.reserveSpaceSize
        cudnnRNNBackwardData_v8.workSpaceSize cudnnRNNBackwardData_v8.reserveSpaceSize
        cudnnRNNBackwardWeights_v8.workSpaceSize
        cudnnRNNBackwardWeights_v8.reserveSpaceSize""",
    "cudnnGetMultiHeadAttnBuffers": """
        cudnnGetMultiHeadAttnWeights.weightSizeInBytes
        cudnnMultiHeadAttnForward.weightSizeInBytes
        cudnnMultiHeadAttnForward.workSpaceSizeInBytes
        cudnnMultiHeadAttnForward.reserveSpaceSizeInBytes
        cudnnMultiHeadAttnBackwardData.weightSizeInBytes
        cudnnMultiHeadAttnBackwardData.workSpaceSizeInBytes
        cudnnMultiHeadAttnBackwardData.reserveSpaceSizeInBytes
        cudnnMultiHeadAttnBackwardWeights.weightSizeInBytes
        cudnnMultiHeadAttnBackwardWeights.workSpaceSizeInBytes
        cudnnMultiHeadAttnBackwardWeights.reserveSpaceSizeInBytes""",
    "cudnnGetCTCLossWorkspaceSize": "cudnnCTCLoss.workSpaceSizeInBytes",
    "cudnnGetCTCLossWorkspaceSize_v8": "cudnnCTCLoss_v8.workSpaceSizeInBytes",
    "cudnnLongFFTCausalConv1dGetBufferSizes": """
        cudnnLongFFTCausalConv1dForward.workspaceSizeInBytes
        cudnnLongFFTCausalConv1dForward.reserveSpaceSizeInBytes
        cudnnLongFFTCausalConv1dBackward.workspaceSizeInBytes
        cudnnLongFFTCausalConv1dBackward.reserveSpaceSizeInBytes""",
}
TOLD_BY = {name: function for function, names in _TELLS.items() for name in names.split()}

# --- NULL ---------------------------------------------------------------------------------------
# Parameters that cuDNN, or its kernel, does not compare with NULL before it follows them; found by
# ``tools.fuzz nulls`` with cuDNN 9.1 to 9.28, and with 9.14 and 9.19 on a GPU, there by
# ``tools.fuzz devices`` as well. A NULL cudnnHandle_t is refused everywhere.

_NOT_NULL: dict[str, str] = {
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
    "cudnnCTCLoss": "probsDesc probs hostLabelLengths hostInputLengths costs ctcLossDesc",
    "cudnnCTCLoss_v8": "ctcLossDesc probsDesc probs labels labelLengths inputLengths costs",
    "cudnnRNNForward": "x y",
    "cudnnRNNBackwardWeights_v8": "x y",
    "cudnnGetCTCLossWorkspaceSize": "probsDesc labelLengths inputLengths",
    "cudnnGetCTCLossWorkspaceSize_v8": "ctcLossDesc probsDesc",
}
NOT_NULL = frozenset(
    f"{function}.{name}" for function, names in _NOT_NULL.items() for name in names.split()
)

# Those that may only be NULL if another argument is 0 or NULL.

NEEDED_BY: dict[str, str] = {
    "cudnnBatchNormalizationBackwardEx.bnBiasData": "bnOps",
    "cudnnCTCLoss.gradientsDesc": "gradients",
    "cudnnCTCLoss_v8.gradientsDesc": "gradients",
    "cudnnCTCLoss_v8.workspace": "workSpaceSizeInBytes",
    "cudnnNormalizationBackward.normBiasData": "normOps",
    "cudnnReduceTensor.indices": "indicesSizeInBytes",
    "cudnnReduceTensor.workspace": "workspaceSizeInBytes",
}

# Descriptors that may be NULL where others of the function may not: `facts` has the rule.

NULLABLE = frozenset(
    {
        "cudnnConvolutionBiasActivationForward.zDesc",
        "cudnnSetRNNDescriptor_v8.dropoutDesc",
        "cudnnSetAttnDescriptor.attnDropoutDesc",
        "cudnnSetAttnDescriptor.postDropoutDesc",
    }
)

# --- descriptors that are not set ---------------------------------------------------------------
# Kinds that are not usable when new. New LRN and CTC loss descriptors have cuDNN's defaults, and a
# new dropout descriptor drops nothing.

MUST_BE_SET = frozenset(
    f"cudnn{kind}Descriptor_t"
    for kind in [
        *("Activation", "Attn", "Convolution", "Filter", "OpTensor", "Pooling", "RNN", "RNNData"),
        *("ReduceTensor", "SeqData", "SpatialTransformer", "Tensor", "TensorTransform"),
    ]
)

# Kinds in which a refused call may leave some of its values (measured with cuDNN 9.28).

HALF_SET = frozenset(
    f"cudnn{kind}Descriptor_t"
    for kind in ("Convolution", "Filter", "Pooling", "SpatialTransformer", "Tensor")
)

# "function.parameter" or "parameter": descriptors that a call may receive unset, and leaves so;
# where a value is given, in the functions that have one of these parameters, and if it is 0.

MAY_BE_UNSET: dict[str, str] = {
    # They change one value of a descriptor, or values that cuDNN keeps beside it.
    "cudnnRNNSetClip_v8.rnnDesc": "",
    "cudnnRNNSetClip_v9.rnnDesc": "",
    "cudnnSetActivationDescriptorSwishBeta.activationDesc": "",
    "cudnnSetConvolutionGroupCount.convDesc": "",
    "cudnnSetConvolutionMathType.convDesc": "",
    "cudnnSetConvolutionReorderType.convDesc": "",
    # Optional operands.
    "gradientsDesc": "",
    "hDesc": "",
    "cudnnRNNForward.cDesc": "",
    "cudnnRNNBackwardData_v8.cDesc": "",
    "dzDesc": "",
    "cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize.zDesc": "",
    "cudnnBatchNormalizationForwardTrainingEx.zDesc": "",
    "cudnnGetNormalizationForwardTrainingWorkspaceSize.zDesc": "",
    "cudnnNormalizationForwardInference.zDesc": "",
    "cudnnNormalizationForwardTraining.zDesc": "",
    # A normalization with ops 0 has no activation and ignores the activation descriptor.
    "activationDesc": "bnOps normOps",
}

# --- directions -------------------------------------------------------------------------------
# "function.parameter", or "parameter" for every non-const pointer of that name.

DIRECTIONS: dict[str, Direction] = {
    # Scratch space: some headers call it in, some out.
    "workSpace": Direction.INOUT,
    "workspace": Direction.INOUT,
    "gradWspaceFeat": Direction.INOUT,
    "gradWspaceWeights": Direction.INOUT,
    # The states live on in the dropout descriptor, and every dropout call advances them.
    "cudnnRestoreDropoutDescriptor.states": Direction.INOUT,
    # Blended with their old values: y = alpha * ... + beta * y.
    "cudnnBatchNormalizationForwardTraining.y": Direction.INOUT,
    "cudnnBatchNormalizationForwardTrainingEx.yData": Direction.INOUT,
    "cudnnNormalizationForwardTraining.yData": Direction.INOUT,
    "cudnnBatchNormalizationBackward.dBnScaleResult": Direction.INOUT,
    "cudnnBatchNormalizationBackward.dBnBiasResult": Direction.INOUT,
    "cudnnBatchNormalizationBackwardEx.dBnScaleData": Direction.INOUT,
    "cudnnBatchNormalizationBackwardEx.dBnBiasData": Direction.INOUT,
    "cudnnNormalizationBackward.dNormScaleData": Direction.INOUT,
    "cudnnNormalizationBackward.dNormBiasData": Direction.INOUT,
    # Not const in C, yet only read.
    "cudnnSetRNNDataDescriptor.paddingFill": Direction.IN,
    "cudnnSetSeqDataDescriptor.paddingFill": Direction.IN,
    # Descriptors that a Get function sets.
    "cudnnGetMultiHeadAttnWeights.wDesc": Direction.OUT,
    # Reserve space of a training pass: written forward, read and reused backward.
    "cudnnMultiHeadAttnForward.reserveSpace": Direction.INOUT,
    "cudnnMultiHeadAttnBackwardData.reserveSpace": Direction.INOUT,
    "cudnnMultiHeadAttnBackwardWeights.reserveSpace": Direction.INOUT,
    # Gradients that are added to what is there, always or when the caller asks for it.
    "cudnnMultiHeadAttnBackwardWeights.dweights": Direction.INOUT,
    "cudnnCausalConv1dNwhBackward.dweight": Direction.INOUT,
    "cudnnCausalConv1dNwhBackward.dbias": Direction.INOUT,
    "cudnnB2BCausalConv1dBackward.dweightsProj": Direction.INOUT,
    "cudnnB2BCausalConv1dBackward.dweightsMixer": Direction.INOUT,
    "cudnnB2BCausalConv1dBackward.dskipBias": Direction.INOUT,
    "cudnnGnnAggSimpleBackward.gradNodeFeatures": Direction.INOUT,
    "cudnnGnnAggSimpleBackward.gradEdgeFeatures": Direction.INOUT,
}

# --- versions ----------------------------------------------------------------------------------
# The first version whose headers have the name, where the headers say otherwise or nothing; found
# by tools/since_versions.py in the headers of 30 releases, 9.0.0 to 9.27.0, and those of 9.28.0. An
# enumerator without a version of its own has its enum's.

SINCE: dict[str, str] = {
    "cudnnAdvVersionCheck": "9.0.0",
    "CUDNN_KNOB_TYPE_IDX_MODE": "9.0.0",
    "CUDNN_ATTR_OPERATION_SDPA_FWD_UNFUSE_FMA": "9.21.0",
    "cudnnCausalConv1dNwhForward": "9.24.0",
    "cudnnCausalConv1dNwhBackward": "9.24.0",
    "cudnnB2BCausalConv1dForward": "9.24.0",
    "cudnnB2BCausalConv1dBackward": "9.24.0",
    # Its own headers say 9.25 already; the library of 9.24.0 creates the descriptor, 9.23.0 not.
    "CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR": "9.24.0",
    "CUDNN_ATTR_OPERATION_ROPE_BWD_DYDESC": "9.24.0",
    "CUDNN_ATTR_OPERATION_ROPE_BWD_DXDESC": "9.24.0",
    "CUDNN_ATTR_OPERATION_ROPE_BWD_FREQSDESC": "9.24.0",
    "CUDNN_ATTR_OPERATION_ROPE_BWD_OUTPUT_SCALE": "9.24.0",
    "CUDNN_ATTR_OPERATION_ROPE_BWD_ROPE_DIM": "9.24.0",
    "cudnnGnnAggOp_t": "9.26.0",
    "cudnnGnnCscGraph_t": "9.26.0",
    "cudnnGnnAggSimpleForward": "9.26.0",
    "cudnnGnnAggSimpleBackward": "9.26.0",
    "CUDNN_ATTR_ENGINEHEUR_SHARED_MEMORY_LIMIT": "9.27.0",
    "CUDNN_ATTR_ENGINE_SHARED_MEMORY_LIMIT": "9.27.0",
    "cudnnGnnActivationOp_t": "9.28.0",
    "cudnnGnnMhaParams_t": "9.28.0",
    "cudnnGnnMhaGatForward": "9.28.0",
    "cudnnGnnMhaGatBackward": "9.28.0",
    "cudnnGnnMhaGatV2Forward": "9.28.0",
    "cudnnGnnMhaGatV2Backward": "9.28.0",
}

# Headers say 9.0.0 of all that is older. These were held against the headers of 12 releases, 8.5.0
# to 8.9.7.
with Path(__file__).with_name("first_releases.csv").open(encoding="ascii") as _names:
    FIRST_RELEASES: dict[str, str] = {row["name"]: row["release"] for row in csv.DictReader(_names)}

# What replaces deprecated names of the legacy API, where the headers only say "the graph API": the
# backend descriptor that states the operation, or the function that answers the question.

_REPLACEMENTS: dict[str, str] = {
    "CUDNN_BACKEND_TENSOR_DESCRIPTOR": """
        cudnnCreateFilterDescriptor cudnnSetFilter4dDescriptor cudnnGetFilter4dDescriptor
        cudnnSetFilterNdDescriptor cudnnGetFilterNdDescriptor cudnnGetFilterSizeInBytes
        cudnnDestroyFilterDescriptor cudnnFilterDescriptor_t cudnnDeriveBNTensorDescriptor
        cudnnDeriveNormTensorDescriptor cudnnCreateSeqDataDescriptor cudnnSetSeqDataDescriptor
        cudnnGetSeqDataDescriptor cudnnDestroySeqDataDescriptor cudnnSeqDataDescriptor_t""",
    "CUDNN_BACKEND_POINTWISE_DESCRIPTOR": """
        cudnnCreateActivationDescriptor cudnnSetActivationDescriptor cudnnGetActivationDescriptor
        cudnnSetActivationDescriptorSwishBeta cudnnGetActivationDescriptorSwishBeta
        cudnnDestroyActivationDescriptor cudnnActivationDescriptor_t cudnnCreateOpTensorDescriptor
        cudnnSetOpTensorDescriptor cudnnGetOpTensorDescriptor cudnnDestroyOpTensorDescriptor
        cudnnOpTensorDescriptor_t""",
    "CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR": """
        cudnnActivationForward cudnnActivationBackward cudnnAddTensor cudnnOpTensor cudnnScaleTensor
        cudnnTransformTensor""",
    "cudnnPointwiseMode_t": "cudnnActivationMode_t",
    "CUDNN_BACKEND_REDUCTION_DESCRIPTOR": """
        cudnnCreateReduceTensorDescriptor cudnnSetReduceTensorDescriptor
        cudnnGetReduceTensorDescriptor cudnnDestroyReduceTensorDescriptor
        cudnnReduceTensorDescriptor_t""",
    "CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR": """
        cudnnReduceTensor cudnnConvolutionBackwardBias""",
    "CUDNN_BACKEND_RESAMPLE_DESCRIPTOR": """
        cudnnCreatePoolingDescriptor cudnnSetPooling2dDescriptor cudnnGetPooling2dDescriptor
        cudnnSetPoolingNdDescriptor cudnnGetPoolingNdDescriptor cudnnDestroyPoolingDescriptor
        cudnnPoolingDescriptor_t""",
    "CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR": "cudnnPoolingForward",
    "CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR": "cudnnPoolingBackward",
    "cudnnResampleMode_t": "cudnnPoolingMode_t",
    "CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR": """
        cudnnBatchNormalizationForwardInference cudnnBatchNormalizationForwardTraining
        cudnnBatchNormalizationForwardTrainingEx cudnnNormalizationForwardInference
        cudnnNormalizationForwardTraining""",
    "CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR": """
        cudnnBatchNormalizationBackward cudnnBatchNormalizationBackwardEx
        cudnnNormalizationBackward""",
    "cudnnBackendNormMode_t": "cudnnBatchNormMode_t cudnnNormMode_t",
    "CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR": """
        cudnnCreateConvolutionDescriptor cudnnDestroyConvolutionDescriptor
        cudnnConvolutionDescriptor_t cudnnSetConvolution2dDescriptor cudnnGetConvolution2dDescriptor
        cudnnSetConvolutionNdDescriptor cudnnGetConvolutionNdDescriptor""",
    "CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR": """
        cudnnConvolutionForward cudnnConvolutionBiasActivationForward""",
    "CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR": "cudnnConvolutionBackwardData",
    "CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR": """
        cudnnConvolutionBackwardFilter""",
    "CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR": """
        cudnnGetConvolutionForwardAlgorithmMaxCount cudnnGetConvolutionForwardAlgorithm_v7
        cudnnFindConvolutionForwardAlgorithm cudnnFindConvolutionForwardAlgorithmEx
        cudnnGetConvolutionBackwardDataAlgorithmMaxCount
        cudnnGetConvolutionBackwardDataAlgorithm_v7 cudnnFindConvolutionBackwardDataAlgorithm
        cudnnFindConvolutionBackwardDataAlgorithmEx
        cudnnGetConvolutionBackwardFilterAlgorithmMaxCount
        cudnnGetConvolutionBackwardFilterAlgorithm_v7 cudnnFindConvolutionBackwardFilterAlgorithm
        cudnnFindConvolutionBackwardFilterAlgorithmEx cudnnConvolutionFwdAlgoPerf_t
        cudnnConvolutionBwdDataAlgoPerf_t cudnnConvolutionBwdFilterAlgoPerf_t""",
    "CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE": """
        cudnnGetConvolutionForwardWorkspaceSize cudnnGetConvolutionBackwardDataWorkspaceSize
        cudnnGetConvolutionBackwardFilterWorkspaceSize cudnnGetReductionWorkspaceSize
        cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize
        cudnnGetBatchNormalizationBackwardExWorkspaceSize
        cudnnGetNormalizationForwardTrainingWorkspaceSize
        cudnnGetNormalizationBackwardWorkspaceSize""",
    "CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR": """
        cudnnCreateFusedOpsConstParamPack cudnnDestroyFusedOpsConstParamPack
        cudnnSetFusedOpsConstParamPackAttribute cudnnGetFusedOpsConstParamPackAttribute
        cudnnFusedOpsConstParamPack_t cudnnFusedOps_t cudnnFusedOpsConstParamLabel_t""",
    "CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR": """
        cudnnCreateFusedOpsVariantParamPack cudnnDestroyFusedOpsVariantParamPack
        cudnnSetFusedOpsVariantParamPackAttribute cudnnGetFusedOpsVariantParamPackAttribute
        cudnnFusedOpsVariantParamPack_t cudnnFusedOpsVariantParamLabel_t""",
    "CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR": """
        cudnnCreateFusedOpsPlan cudnnDestroyFusedOpsPlan cudnnMakeFusedOpsPlan
        cudnnFusedOpsPlan_t""",
    "cudnnBackendExecute": "cudnnFusedOpsExecute",
    "CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR": """
        cudnnCreateAttnDescriptor cudnnDestroyAttnDescriptor cudnnSetAttnDescriptor
        cudnnGetAttnDescriptor cudnnAttnDescriptor_t cudnnMultiHeadAttnForward""",
    "CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR": """
        cudnnMultiHeadAttnBackwardData cudnnMultiHeadAttnBackwardWeights""",
    "cudnnBackendTensorReordering_t": "cudnnReorderType_t",
}
REPLACED_BY = {old: new for new, names in _REPLACEMENTS.items() for old in names.split()}

# Enumerators that a release numbers differently than the installed headers: {release: value}; the
# ..._COUNT enumerators aside, which grow. Found like the versions. No function has gone since
# 9.0.0, and one enumerator: CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_DENOM_FACTOR_MODE (2505),
# which 9.7.0 alone had.

RENUMBERED: dict[str, dict[str, int]] = {
    "CUDNN_ATTR_KERNEL_CACHE_IS_ENGINECFG_KERNEL_CACHED": {"9.4.0": 2400},
    "CUDNN_BACKEND_OPERATION_EXPAND_BAND_MATRIX_DESCRIPTOR": {"9.10.0": 36},
    "CUDNN_BACKEND_OPERATION_CONTRACT_BAND_MATRIX_DESCRIPTOR": {"9.10.0": 37},
    "CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR": {"9.10.0": 38},
    "CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR": {"9.10.0": 39},
    "CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR": {"9.10.0": 40},
}

# --- the reference device ------------------------------------------------------------------------
# The modules of ``cudnn_ctypes/reference/device/`` that carry a C function out, that follow its
# successful calls, and that take it over in both modes.


def _by_function(modules: dict[str, str]) -> dict[str, str]:
    return {name: module for module, names in modules.items() for name in names.split()}


CARRIED_OUT = _by_function(
    {
        "attention": """
            cudnnGetMultiHeadAttnBuffers cudnnGetMultiHeadAttnWeights cudnnMultiHeadAttnForward
            cudnnMultiHeadAttnBackwardData cudnnMultiHeadAttnBackwardWeights""",
        "backend": """
            cudnnBackendExecute cudnnGetExecutionPlanWorkspaceSize cudnnBackendPopulateCudaGraph
            cudnnBackendUpdateCudaGraph""",
        "causal_convolution": """
            cudnnCausalConv1dForward cudnnCausalConv1dNwhForward cudnnCausalConv1dBackward
            cudnnCausalConv1dNwhBackward cudnnB2BCausalConv1dForward
            cudnnB2BCausalConv1dBackward cudnnFFTCausalConv1dForward cudnnFFTCausalConv1dBackward
            cudnnLongFFTCausalConv1dForward cudnnLongFFTCausalConv1dBackward""",
        "convolution": """
            cudnnConvolutionForward cudnnConvolutionBackwardData cudnnConvolutionBackwardFilter
            cudnnConvolutionBackwardBias cudnnConvolutionBiasActivationForward
            cudnnGetConvolutionForwardAlgorithmMaxCount cudnnGetConvolutionForwardAlgorithm_v7
            cudnnFindConvolutionForwardAlgorithm cudnnFindConvolutionForwardAlgorithmEx
            cudnnGetConvolutionForwardWorkspaceSize cudnnGetConvolutionBackwardDataAlgorithmMaxCount
            cudnnGetConvolutionBackwardDataAlgorithm_v7 cudnnFindConvolutionBackwardDataAlgorithm
            cudnnFindConvolutionBackwardDataAlgorithmEx cudnnGetConvolutionBackwardDataWorkspaceSize
            cudnnGetConvolutionBackwardFilterAlgorithmMaxCount
            cudnnGetConvolutionBackwardFilterAlgorithm_v7
            cudnnFindConvolutionBackwardFilterAlgorithm
            cudnnFindConvolutionBackwardFilterAlgorithmEx
            cudnnGetConvolutionBackwardFilterWorkspaceSize
            cudnnIm2Col cudnnReorderFilterAndBias cudnnGetFoldedConvBackwardDataDescriptors""",
        "ctc": """
            cudnnGetCTCLossWorkspaceSize cudnnCTCLoss cudnnGetCTCLossWorkspaceSize_v8
            cudnnCTCLoss_v8""",
        "dropout": """
            cudnnDropoutGetStatesSize cudnnSetDropoutDescriptor cudnnRestoreDropoutDescriptor
            cudnnGetDropoutDescriptor cudnnDropoutForward cudnnDropoutBackward""",
        "fused_operations": "cudnnMakeFusedOpsPlan cudnnFusedOpsExecute",
        "gnn": """
            cudnnGnnAggSimpleForward cudnnGnnAggSimpleBackward cudnnGnnMhaGatForward
            cudnnGnnMhaGatV2Forward cudnnGnnMhaGatBackward cudnnGnnMhaGatV2Backward""",
        "handle": "cudnnCreate cudnnDestroy cudnnQueryRuntimeError cudnnSetStream cudnnGetStream",
        "images": """
            cudnnActivationForward cudnnActivationBackward cudnnSoftmaxForward cudnnSoftmaxBackward
            cudnnPoolingForward cudnnPoolingBackward cudnnLRNCrossChannelForward
            cudnnLRNCrossChannelBackward cudnnDivisiveNormalizationForward
            cudnnDivisiveNormalizationBackward cudnnSpatialTfGridGeneratorForward
            cudnnSpatialTfGridGeneratorBackward cudnnSpatialTfSamplerForward
            cudnnSpatialTfSamplerBackward""",
        "normalization": """
            cudnnBatchNormalizationForwardInference cudnnBatchNormalizationForwardTraining
            cudnnBatchNormalizationForwardTrainingEx cudnnBatchNormalizationBackward
            cudnnBatchNormalizationBackwardEx
            cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize
            cudnnGetBatchNormalizationBackwardExWorkspaceSize
            cudnnGetBatchNormalizationTrainingExReserveSpaceSize cudnnNormalizationForwardInference
            cudnnNormalizationForwardTraining cudnnNormalizationBackward
            cudnnGetNormalizationForwardTrainingWorkspaceSize
            cudnnGetNormalizationBackwardWorkspaceSize
            cudnnGetNormalizationTrainingReserveSpaceSize""",
        "rnn": """
            cudnnBuildRNNDynamic cudnnGetRNNWeightSpaceSize cudnnGetRNNTempSpaceSizes
            cudnnGetRNNWeightParams cudnnRNNForward cudnnRNNBackwardData_v8
            cudnnRNNBackwardWeights_v8""",
        "tensor_operations": """
            cudnnTransformTensor cudnnAddTensor cudnnOpTensor cudnnSetTensor cudnnScaleTensor
            cudnnGetReductionIndicesSize cudnnGetReductionWorkspaceSize cudnnReduceTensor""",
        "transform": """
            cudnnDestroyTensorTransformDescriptor cudnnSetTensorTransformDescriptor
            cudnnGetTensorTransformDescriptor cudnnInitTransformDest cudnnTransformTensorEx
            cudnnTransformFilter""",
    }
)

FOLLOWED = _by_function(
    {
        "dropout": "cudnnCreateDropoutDescriptor",
        "rnn": "cudnnCreateRNNDescriptor cudnnSetRNNDescriptor_v8",
        "transform": "cudnnCreateTensorTransformDescriptor",
    }
)

TAKEN_OVER = _by_function(
    {
        "backend": """
            cudnnBackendCreateDescriptor cudnnBackendInitialize cudnnBackendDestroyDescriptor
            cudnnBackendFinalize cudnnBackendSetAttribute cudnnBackendGetAttribute""",
    }
)

# The function ``note_...`` of ``cudnn_ctypes/raw/descriptors.py`` that stores values which C cannot
# read back, or only with a handle, after the C function succeeded.

NOTED = _by_function(
    {
        "spatial_transformer": "cudnnSetSpatialTransformerNdDescriptor",
        "tensor_transform": "cudnnSetTensorTransformDescriptor",
        "folding_transforms": "cudnnGetFoldedConvBackwardDataDescriptors",
        "dropout": "cudnnSetDropoutDescriptor cudnnRestoreDropoutDescriptor",
        "fused_operation": """
            cudnnCreateFusedOpsConstParamPack cudnnCreateFusedOpsVariantParamPack
            cudnnCreateFusedOpsPlan""",
        "fused_destroyed": """
            cudnnDestroyFusedOpsConstParamPack cudnnDestroyFusedOpsVariantParamPack
            cudnnDestroyFusedOpsPlan""",
        "fused_plan": "cudnnMakeFusedOpsPlan",
        "fused_variant": "cudnnSetFusedOpsVariantParamPackAttribute",
    }
)
