"""Advice for buffers that are too small: the C function that returns the required size."""

from __future__ import annotations

import re

from .failure import Failure

__all__ = ["SIZE_FUNCTIONS", "hint"]

_CONVOLUTION = "cudnnGetConvolution{}WorkspaceSize"

# The function that returns a size, by the start of a function's name and a part of the buffer's.
SIZE_FUNCTIONS: tuple[tuple[str, str, str], ...] = (
    ("cudnnConvolutionForward", "workspace", _CONVOLUTION.format("Forward")),
    ("cudnnConvolutionBiasActivationForward", "workspace", _CONVOLUTION.format("Forward")),
    ("cudnnConvolutionBackwardData", "workspace", _CONVOLUTION.format("BackwardData")),
    ("cudnnConvolutionBackwardFilter", "workspace", _CONVOLUTION.format("BackwardFilter")),
    ("cudnnReduceTensor", "workspace", "cudnnGetReductionWorkspaceSize"),
    ("cudnnReduceTensor", "indices", "cudnnGetReductionIndicesSize"),
    ("cudnnSetDropoutDescriptor", "state", "cudnnDropoutGetStatesSize"),
    ("cudnnRestoreDropoutDescriptor", "state", "cudnnDropoutGetStatesSize"),
    ("cudnnDropout", "reserve", "cudnnDropoutGetReserveSpaceSize"),
    (
        "cudnnBatchNormalizationForwardTrainingEx",
        "workspace",
        "cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize",
    ),
    (
        "cudnnBatchNormalizationBackwardEx",
        "workspace",
        "cudnnGetBatchNormalizationBackwardExWorkspaceSize",
    ),
    ("cudnnBatchNormalization", "reserve", "cudnnGetBatchNormalizationTrainingExReserveSpaceSize"),
    (
        "cudnnNormalizationForwardTraining",
        "workspace",
        "cudnnGetNormalizationForwardTrainingWorkspaceSize",
    ),
    ("cudnnNormalizationBackward", "workspace", "cudnnGetNormalizationBackwardWorkspaceSize"),
    ("cudnnNormalization", "reserve", "cudnnGetNormalizationTrainingReserveSpaceSize"),
    ("cudnnRNN", "weight", "cudnnGetRNNWeightSpaceSize"),
    ("cudnnGetRNNWeightParams", "weight", "cudnnGetRNNWeightSpaceSize"),
    ("cudnnRNN", "workspace", "cudnnGetRNNTempSpaceSizes"),
    ("cudnnRNN", "reserve", "cudnnGetRNNTempSpaceSizes"),
    ("cudnnMultiHeadAttn", "", "cudnnGetMultiHeadAttnBuffers"),
    ("cudnnGetMultiHeadAttnWeights", "weight", "cudnnGetMultiHeadAttnBuffers"),
    ("cudnnLongFFTCausalConv1d", "", "cudnnLongFFTCausalConv1dGetBufferSizes"),
    ("cudnnCTCLoss_v8", "workspace", "cudnnGetCTCLossWorkspaceSize_v8"),
    ("cudnnCTCLoss", "workspace", "cudnnGetCTCLossWorkspaceSize"),
)

_TOO_SMALL = re.compile(r"\b(\w+) = \d+ is less than the (\d+) bytes needed")  # the ref. device
_SPACES = re.compile(r"(?i)(work|reserve|weight)_?space|state_?size")


def hint(failure: Failure) -> str:
    """Advice naming the function that returns a refused buffer's size; "" if none was refused."""
    if match := _TOO_SMALL.search(failure.text):
        return _advice(failure.function, match[1])
    if failure.is_cudnn_s and "BAD_PARAM" in failure.status:
        match = _SPACES.search(failure.text)
        return "" if match is None else _advice(failure.function, match[0])
    return ""


def _advice(function: str, buffer: str) -> str:
    wanted = buffer.lower().replace("_", "")
    for name, part, tells in SIZE_FUNCTIONS:
        if function.startswith(name) and part in wanted:
            like = " and algorithm" if "onvolution" in tells else ""
            return (
                f"{tells} tells how many bytes are needed, for the same descriptors{like}; pass "
                f"that many, and that number"
            )
    return ""
