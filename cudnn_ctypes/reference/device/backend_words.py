"""The words in which cuDNN stores the operation graph of a plan, and the attributes behind them.

Their meanings were found by comparing graphs with cuDNN 9.28's JSON for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CONVOLUTION", "IGNORED", "KINDS", "TENSOR", "Kind"]

Words = Mapping[str, str]

IGNORED = {"operation", "mathPrec", "isDeterministic", "nbSpatialDims", "compType", "nanOpt"}


@dataclass(frozen=True)
class Kind:
    """The words of an operation, with the attributes they stand for.

    Attributes
    ----------
    prefix : str
        The prefix of the operation's attributes.
    tensors, options : mapping
        Words to attributes without their prefix.
    inner : str
        The attribute with the descriptor of parameters, "" without one.
    parameters : mapping
        Words to the attributes of that descriptor, with their prefix.
    """

    prefix: str
    tensors: Words
    options: Words = field(default_factory=dict)
    inner: str = ""
    parameters: Words = field(default_factory=dict)


CONVOLUTION = {
    "mode": "CONVOLUTION_CONV_MODE",
    "pad": "CONVOLUTION_PRE_PADDINGS CONVOLUTION_POST_PADDINGS",
    "pad_lower": "CONVOLUTION_PRE_PADDINGS",
    "pad_upper": "CONVOLUTION_POST_PADDINGS",
    "stride": "CONVOLUTION_FILTER_STRIDES",
    "dilation": "CONVOLUTION_DILATIONS",
}
_RESAMPLE = {
    "mode": "RESAMPLE_MODE",
    "paddingMode": "RESAMPLE_PADDING_MODE",
    "windowDim": "RESAMPLE_WINDOW_DIMS",
    "prePad": "RESAMPLE_PRE_PADDINGS",
    "postPad": "RESAMPLE_POST_PADDINGS",
    "stride": "RESAMPLE_STRIDES",
}
_SCALING = {"alpha": "ALPHA", "beta": "BETA"}

KINDS: dict[str, Kind] = {
    "CONVOLUTION_FORWARD": Kind(
        "CONVOLUTION_FORWARD", {"X": "X", "W": "W", "Y": "Y"}, _SCALING, "CONV_DESC", CONVOLUTION
    ),
    "CONVOLUTION_BACKWARD_DATA": Kind(
        "CONVOLUTION_BWD_DATA",
        {"dX": "DX", "W": "W", "dY": "DY"},
        _SCALING,
        "CONV_DESC",
        CONVOLUTION,
    ),
    "CONVOLUTION_BACKWARD_FILTER": Kind(
        "CONVOLUTION_BWD_FILTER",
        {"X": "X", "dW": "DW", "dY": "DY"},
        _SCALING,
        "CONV_DESC",
        CONVOLUTION,
    ),
    "MATMUL": Kind(
        "MATMUL",
        {
            "matA": "ADESC",
            "matB": "BDESC",
            "matC": "CDESC",
            "mOverride": "GEMM_M_OVERRIDE_DESC",
            "nOverride": "GEMM_N_OVERRIDE_DESC",
            "kOverride": "GEMM_K_OVERRIDE_DESC",
        },
        inner="DESC",
    ),
    "POINTWISE": Kind(
        "POINTWISE",
        {"X": "XDESC", "B": "BDESC", "T": "TDESC", "Y": "YDESC", "dX": "DXDESC", "dY": "DYDESC"},
        {"alpha1": "ALPHA1", "alpha2": "ALPHA2"},
        "PW_DESCRIPTOR",
        {
            "pointwiseMode": "POINTWISE_MODE",
            "axis": "POINTWISE_AXIS",
            "upperClip": "POINTWISE_RELU_UPPER_CLIP",
            "lowerClip": "POINTWISE_RELU_LOWER_CLIP",
            "lowerClipSlope": "POINTWISE_RELU_LOWER_CLIP_SLOPE",
            "alpha": "POINTWISE_ELU_ALPHA",
            "beta": "POINTWISE_SOFTPLUS_BETA POINTWISE_SWISH_BETA",  # the mode looks at one
        },
    ),
    "REDUCTION": Kind(
        "REDUCTION",
        {"X": "XDESC", "Y": "YDESC"},
        inner="DESC",
        parameters={"reductionOp": "REDUCTION_OPERATOR"},
    ),
    "GEN_STATS": Kind("GENSTATS", {"X": "XDESC", "Sum": "SUMDESC", "SqSum": "SQSUMDESC"}),
    "RESAMPLE_FWD": Kind(
        "RESAMPLE_FWD", {"X": "XDESC", "Y": "YDESC", "Idx": "IDXDESC"}, _SCALING, "DESC", _RESAMPLE
    ),
    "RESAMPLE_BWD": Kind(
        "RESAMPLE_BWD",
        {"dX": "DXDESC", "dY": "DYDESC", "Idx": "IDXDESC", "X": "XDESC", "Y": "YDESC"},
        _SCALING,
        "DESC",
        _RESAMPLE,
    ),
    "NORM_FORWARD": Kind(
        "NORM_FWD",
        {
            "X": "XDESC",
            "Y": "YDESC",
            "Mean": "MEAN_DESC",
            "InvVariance": "INV_VARIANCE_DESC",
            "Scale": "SCALE_DESC",
            "Bias": "BIAS_DESC",
            "epsilonDesc": "EPSILON_DESC",
            "expavgfactorDesc": "EXP_AVG_FACTOR_DESC",
            "InRunningMean": "INPUT_RUNNING_MEAN_DESC",
            "InRunningVar": "INPUT_RUNNING_VAR_DESC",
            "OutRunningMean": "OUTPUT_RUNNING_MEAN_DESC",
            "OutRunningVar": "OUTPUT_RUNNING_VAR_DESC",
        },
        {"mode": "MODE", "fmode": "PHASE"},
    ),
    "NORM_BACKWARD": Kind(
        "NORM_BWD",
        {
            "X": "XDESC",
            "DY": "DYDESC",
            "DX": "DXDESC",
            "Mean": "MEAN_DESC",
            "InvVariance": "INV_VARIANCE_DESC",
            "Scale": "SCALE_DESC",
            "DScale": "DSCALE_DESC",
            "DBias": "DBIAS_DESC",
            "epsilonDesc": "EPSILON_DESC",
        },
        {"mode": "MODE"},
    ),
    "BN_FINALIZE_STATISTICS": Kind(
        "BN_FINALIZE",
        {
            "ySum": "Y_SUM_DESC",
            "ySqSum": "Y_SQ_SUM_DESC",
            "bnScale": "SCALE_DESC",
            "bnBias": "BIAS_DESC",
            "bnEqScale": "EQ_SCALE_DESC",
            "bnEqBias": "EQ_BIAS_DESC",
            "bnPrevRunningMean": "PREV_RUNNING_MEAN_DESC",
            "bnPrevRunningVar": "PREV_RUNNING_VAR_DESC",
            "bnUpdatedRunningMean": "UPDATED_RUNNING_MEAN_DESC",
            "bnUpdatedRunningVar": "UPDATED_RUNNING_VAR_DESC",
            "bnSavedMean": "SAVED_MEAN_DESC",
            "bnSavedInvStd": "SAVED_INV_STD_DESC",
            "accumCntValTensor": "ACCUM_COUNT_DESC",
            "epsilonValTensor": "EPSILON_DESC",
            "expAverageFactorValTensor": "EXP_AVERATE_FACTOR_DESC",
        },
        {"mode": "STATS_MODE"},
    ),
    "BN_BWD_WEIGHTS": Kind(
        "BN_BWD_WEIGHTS",
        {
            "xDesc": "X_DESC",
            "dyDesc": "DY_DESC",
            "BNmeanDesc": "MEAN_DESC",
            "BNscaleDesc": "BN_SCALE_DESC",
            "BNinvstdDesc": "INVSTD_DESC",
            "dGammaDesc": "DBN_SCALE_DESC",
            "dBetaDesc": "DBN_BIAS_DESC",
            "eqDyScaleDesc": "EQ_DY_SCALE_DESC",
            "eqXScaleDesc": "EQ_X_SCALE_DESC",
            "eqBiasDesc": "EQ_BIAS",
        },
    ),
    "SOFTMAX": Kind("SOFTMAX", {"X": "XDESC", "Y": "YDESC", "statsDesc": "STATS_DESC"}),
    "RESHAPE": Kind("RESHAPE", {"X": "XDESC", "Y": "YDESC"}, {"mode": "MODE"}),
    "SLICE": Kind(
        "SLICE",
        {"X": "XDESC", "Y": "YDESC"},
        {"startIndices": "START_INDICES", "limitIndices": "LIMIT_INDICES", "strides": "STRIDES"},
    ),
    "PAGED_CACHE_LOAD": Kind(
        "PAGED_CACHE_LOAD",
        {
            "container": "CONTAINER_DESC",
            "sequence": "SEQUENCE_DESC",
            "pageTable": "PAGE_TABLE_DESC",
            "Y": "YDESC",
        },
    ),
    "MOE_GROUPED_MATMUL": Kind(
        "MOE_GROUPED_MATMUL",
        {
            "token": "TOKEN_DESC",
            "weight": "WEIGHT_DESC",
            "firstTokenOffset": "FIRST_TOKEN_OFFSET_DESC",
            "tokenIndex": "TOKEN_INDEX_DESC",
            "output": "OUTPUT_DESC",
        },
        {"mode": "MODE"},
    ),
}

TENSOR = {
    "name": "UNIQUE_ID",
    "dataType": "DATA_TYPE",
    "dim": "DIMENSIONS",
    "stride": "STRIDES",
    "isVirtual": "IS_VIRTUAL",
    "isByValue": "IS_BY_VALUE",
    "vectCount": "VECTOR_COUNT",
    "vectDim": "VECTORIZED_DIMENSION",
    "ptrAlignment": "BYTE_ALIGNMENT",
    "reordering": "REORDERING_MODE",
    "isRagged": "RAGGED_OFFSET_DESC",
}
