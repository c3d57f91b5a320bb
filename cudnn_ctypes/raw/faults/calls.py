"""Known faults of C functions, by what their descriptors say; the guards of layer 1 warn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..records import record
from . import Fault, Finding, Range, findings, measured, row
from .layouts import (
    attends_plain_values,
    bias_has_gaps,
    folds_other_layouts,
    keeps_bias,
    normalizes_unpacked,
    packs_losses,
    pads_gaps,
    pools_maxima,
    turns_into_double,
    without_longest_label,
)
from .softmax import SOFTMAX

__all__ = ["CALL_FAULTS", "Call", "faults_of_call"]


class Call(NamedTuple):
    """A C call: the function's name, and arguments by the names of their parameters.

    Of the arguments it has descriptors and enumerators at least.
    """

    function: str
    arguments: Mapping[str, Any]

    def record(self, parameter: str) -> Any:
        """The record of a descriptor; None for one that was never set."""
        return record(self.arguments[parameter])


class _Target(NamedTuple):
    version: int
    capability: int
    beside_another: bool = False


_SEEN = Range(91900)

CALL_FAULTS: tuple[Fault, ...] = (
    SOFTMAX,
    row(
        "largest of infinities below zero",
        "cudnnPoolingForward",
        "wrong numbers",
        "cuDNN gives the lowest finite number, not -inf",
        pools_maxima,
        Range(91400, repaired=92800),
        measured("9.14, 9.19", "-3.4e38 in float32, -65504 in float16; 9.28 gives -inf."),
        data="a window holds only -inf, or lies outside of the image",
        remedy="put -inf for the lowest finite number in y",
    ),
    row(
        "CTC loss of tensors that are not packed",
        "cudnnCTCLoss cudnnCTCLoss_v8",
        "wrong numbers",
        "cuDNN takes probabilities and gradients as packed, whatever their strides are",
        packs_losses,
        _SEEN,
        measured("9.19", cases="340 of 346 calls; of packed tensors none"),
        remedy="make both tensors packed by cudnnTransformTensor, or call ctc_loss or ctc_loss_v8",
    ),
    row(
        "CTC loss without a longest label",
        "cudnnCTCLoss_v8",
        "loses the CUDA context",
        "kernels write behind the workspace",
        without_longest_label,
        _SEEN,
        measured("9.19", cases="53 calls"),
        remedy="set maxLabelLength by cudnnSetCTCLossDescriptor_v8 or _v9",
    ),
    row(
        "convolution with a bias that has gaps",
        "cudnnConvolutionBiasActivationForward",
        "wrong numbers",
        "cuDNN takes the bias as packed, whatever its strides are",
        bias_has_gaps,
        _SEEN,
        measured("9.19", cases="102 of 104 calls"),
        remedy="put the bias into packed memory",
    ),
    row(
        "transform into double",
        "cudnnTransformTensor",
        "wrong numbers",
        "cuDNN gives zeros for another type to DOUBLE in the same layout",
        turns_into_double,
        _SEEN,
        measured("9.19", cases="18 of 27 calls"),
        remedy="give the result another layout, then transform it",
    ),
    row(
        "LRN of three dimensions that are not packed",
        "cudnnLRNCrossChannelForward cudnnLRNCrossChannelBackward",
        "wrong numbers",
        "cuDNN takes the tensors as packed, whatever their strides are",
        normalizes_unpacked,
        _SEEN,
        measured("9.19", cases="53 of 87 calls"),
        remedy="give the tensors a fourth dimension of size 1",
    ),
    row(
        "padding of a destination with gaps",
        "cudnnTransformTensorEx",
        "leaves the memory",
        "cuDNN writes zeros into the gaps between the elements of destData",
        pads_gaps,
        _SEEN,
        measured("9.19", cases="48 of 50 calls; without padding or folding none of 82"),
        remedy="transform into packed memory",
    ),
    row(
        "folding of other layouts",
        "cudnnTransformTensorEx",
        "wrong numbers",
        "cuDNN folds tensors wrong that are neither NCHW nor NHWC",
        folds_other_layouts,
        _SEEN,
        measured("9.19", cases="7 of 24 calls"),
        remedy="lay the tensors out in NCHW",
    ),
    row(
        "bias that is not reordered",
        "cudnnReorderFilterAndBias",
        "wrong numbers",
        "cuDNN copies the first quarter of the bias only",
        keeps_bias,
        _SEEN,
        measured("9.19", cases="11 of 11 calls"),
        data="reorderBias is 1 and the reorder type CUDNN_NO_REORDER",
        remedy="copy the bias by cudaMemcpy",
    ),
    row(
        "attention of unprojected values",
        "cudnnMultiHeadAttnForward cudnnMultiHeadAttnBackwardData "
        "cudnnMultiHeadAttnBackwardWeights",
        "leaves the memory",
        "cuDNN reads behind the values of several heads, NaN there gives NaN",
        attends_plain_values,
        _SEEN,
        measured("9.19", cases="57 of 326 calls, with one head none of 151"),
        remedy="give the values a projection",
    ),
    row(
        "memory off its boundary",
        "cudnnBatchNormalizationForwardTraining cudnnBatchNormalizationForwardTrainingEx "
        "cudnnBatchNormalizationBackward cudnnBatchNormalizationBackwardEx "
        "cudnnNormalizationForwardTraining cudnnNormalizationBackward "
        "cudnnConvolutionForward cudnnConvolutionBiasActivationForward "
        "cudnnConvolutionBackwardBias cudnnTransformTensor cudnnTransformTensorEx",
        "loses the CUDA context",
        "a kernel reads several elements at once, from a misaligned address",
        lambda call: call.function,
        _SEEN,
        measured("9.19", "Vectors of integers, and 16-bit images in NCHW most.", "157 calls"),
        data="an operand does not begin at a multiple of 16 bytes",
        remedy="align memory to 16 bytes",
    ),
    row(
        "call without what it needs",
        "cudnnCTCLoss cudnnCTCLoss_v8 cudnnReduceTensor cudnnFusedOpsExecute",
        "ends the process",
        "cuDNN uses NULL: descriptors on the host, a workspace or a pointer of a pack on the GPU",
        lambda call: call.function,
        _SEEN,
        measured("9.19", cases="18 calls ended the process, 13 lost the context"),
        data="a descriptor, workspace or pointer is NULL that is used",
        remedy="give it",
    ),
)
"""The rows."""


def faults_of_call(call: Call, version: int, capability: int = 0) -> list[Finding]:
    """The known faults that concern a call, with this cuDNN on a GPU of this capability.

    0 is some GPU.
    """
    rows = [each for each in CALL_FAULTS if call.function in each.calls]
    return findings(rows, call, _Target(version, capability))
