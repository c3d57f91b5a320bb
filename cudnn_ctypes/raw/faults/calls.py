"""Known faults of C functions, by what their descriptors say; the guards of layer 1 warn."""

from __future__ import annotations

from typing import NamedTuple

from ..records import Call
from . import Fault, Finding, Range, findings, measured, row
from .layouts import (
    attends_plain_values,
    bias_has_gaps,
    differs_from_pooled,
    divides_halves,
    folds_other_layouts,
    gradients_of_another_type,
    keeps_bias,
    lacks_bias,
    lacks_other_tensor,
    normalizes_unpacked,
    packs_losses,
    pads_gaps,
    pools_maxima,
    samples_another_type,
    samples_other_channels,
    states_of_another_size,
    strides_bias_gradient,
    transforms_other_batch,
    turns_into_double,
    turns_out_of_double,
    unfolds_partial_blocks,
    without_longest_label,
)
from .softmax import SOFTMAX


class _Target(NamedTuple):
    version: int
    capability: int
    beside_another: bool = False


_SEEN, _NEWER = Range(91400), Range(91900)

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
        "activation gradient of three dimensions without a tensor",
        "cudnnActivationBackward",
        "ends the process",
        "cuDNN reads the descriptor that the gradient does not need",
        lacks_other_tensor,
        Range(91400, repaired=91900),
        measured("9.14", cases="1 of 1 call; 9.19 refuses it"),
        remedy="give both descriptors",
    ),
    row(
        "CTC loss of tensors that are not packed",
        "cudnnCTCLoss cudnnCTCLoss_v8",
        "wrong numbers",
        "cuDNN takes probabilities and gradients as packed, whatever their strides are",
        packs_losses,
        _SEEN,
        measured("9.14, 9.19", cases="340 of 346 calls; of packed tensors none"),
        remedy="make both tensors packed by cudnnTransformTensor, or call ctc_loss or ctc_loss_v8",
    ),
    row(
        "CTC loss without a longest label",
        "cudnnCTCLoss_v8",
        "loses the CUDA context",
        "kernels write behind the workspace",
        without_longest_label,
        _SEEN,
        measured("9.14, 9.19", cases="53 calls"),
        remedy="set maxLabelLength by cudnnSetCTCLossDescriptor_v8 or _v9",
    ),
    row(
        "CTC gradients of another type",
        "cudnnCTCLoss cudnnCTCLoss_v8",
        "leaves the memory",
        "cuDNN writes gradients in the type of the probabilities, whatever gradientsDesc says",
        gradients_of_another_type,
        _SEEN,
        measured("9.14, 9.19", cases="7 calls", gpu="H100"),
        remedy="give both descriptors one type",
    ),
    row(
        "recurrent states of another type",
        "cudnnRNNForward cudnnRNNBackwardData_v8 cudnnRNNBackwardWeights_v8",
        "leaves the memory",
        "cuDNN finds the states of unpacked sequences, batch-major or of different lengths, by the "
        "size of their descriptor's type",
        states_of_another_size,
        _SEEN,
        measured("9.14, 9.19", cases="12 of 12 calls; of other sequences none of 7", gpu="H100"),
        remedy="give hDesc and cDesc the type of rnnDesc",
    ),
    row(
        "pooling gradient of another type",
        "cudnnPoolingBackward",
        "loses the CUDA context",
        "cuDNN takes gradients for numbers of the type of x, whatever dyDesc and dxDesc say",
        differs_from_pooled,
        _SEEN,
        measured("9.14, 9.19", cases="3 calls", gpu="H100"),
        remedy="give all tensors one type",
    ),
    row(
        "sampling of another type",
        "cudnnSpatialTfSamplerForward",
        "loses the CUDA context",
        "cuDNN takes grid and y for numbers of the type of x",
        samples_another_type,
        _NEWER,
        measured("9.19", cases="3 calls", gpu="H100"),
        remedy="give both tensors the type of the transformer",
    ),
    row(
        "sampling of more channels than y has",
        "cudnnSpatialTfSamplerForward",
        "leaves the memory",
        "cuDNN writes the channels of x, whatever yDesc says",
        samples_other_channels,
        _NEWER,
        measured("9.19", cases="1 call", gpu="H100"),
        remedy="give xDesc and yDesc the same channels",
    ),
    row(
        "transform into fewer samples",
        "cudnnTransformTensorEx",
        "leaves the memory",
        "cuDNN writes the samples of srcData, whatever destDesc says",
        transforms_other_batch,
        _NEWER,
        measured("9.19", cases="1 call", gpu="H100"),
        remedy="set destDesc by cudnnInitTransformDest",
    ),
    row(
        "divisive normalization of large halves",
        "cudnnDivisiveNormalizationForward cudnnDivisiveNormalizationBackward",
        "NaN",
        "cuDNN keeps squares in half precision",
        divides_halves,
        _NEWER,
        measured("9.19", cases="4 calls", gpu="H100"),
        data="x - means is above 255 or below -255",
        remedy="compute in float",
    ),
    row(
        "convolution with a bias that has gaps",
        "cudnnConvolutionBiasActivationForward",
        "wrong numbers",
        "cuDNN takes the bias as packed, whatever its strides are",
        bias_has_gaps,
        _SEEN,
        measured("9.14, 9.19", cases="102 of 104 calls"),
        remedy="put the bias into packed memory",
    ),
    row(
        "transform out of double",
        "cudnnTransformTensor cudnnTransformTensorEx",
        "wrong numbers",
        "cuDNN takes beta for 0 for DOUBLE to another type, between layouts, unless they are NCHW "
        "and NHWC",
        turns_out_of_double,
        _SEEN,
        measured("9.14, 9.19", cases="18 of 18 calls", gpu="H100"),
        data="beta is not 0",
        remedy="add with cudnnAddTensor",
    ),
    row(
        "transform into double",
        "cudnnTransformTensor cudnnTransformTensorEx",
        "wrong numbers",
        "cuDNN reads doubles as float factors, or floats as doubles, for another type to DOUBLE, "
        "between layouts, unless they are NCHW and NHWC of 4 dimensions",
        turns_into_double,
        _SEEN,
        measured("9.14, 9.19", cases="9 of 13 calls"),
        remedy="transform to DOUBLE first, in the same layout",
    ),
    row(
        "gradient of a bias between vectors",
        "cudnnConvolutionBackwardBias",
        "loses the CUDA context",
        "cuDNN reads dense samples in vectors of up to 4 elements, whatever lies between samples",
        strides_bias_gradient,
        _SEEN,
        measured("9.14, 9.19", cases="9 of 9 calls, none of 14 others", gpu="H100"),
        remedy="give dyDesc's samples a stride that is a multiple of 4, or call "
        "convolution_backward_bias",
    ),
    row(
        "unfolding of channels that fill no block",
        "cudnnTransformTensorEx cudnnTransformFilter",
        "wrong numbers",
        "cuDNN reads the next pixel's channels for those that are not there",
        unfolds_partial_blocks,
        _SEEN,
        measured(
            "9.14, 9.19",
            "NHWC to NCHW; other layouts and whole blocks: none of 336.",
            "46 of 80 calls",
            gpu="H100",
        ),
        remedy="put the source into NCHW, or call transform_tensor_ex",
    ),
    row(
        "LRN of three dimensions that are not packed",
        "cudnnLRNCrossChannelForward cudnnLRNCrossChannelBackward",
        "wrong numbers",
        "cuDNN takes the tensors as packed, whatever their strides are; windows of 5 floats fail",
        normalizes_unpacked,
        _SEEN,
        measured("9.14, 9.19", cases="53 of 87 calls"),
        remedy="give the tensors a fourth dimension of size 1",
    ),
    row(
        "padding of a destination with gaps",
        "cudnnTransformTensorEx",
        "leaves the memory",
        "cuDNN writes zeros into the gaps between the elements of destData",
        pads_gaps,
        _SEEN,
        measured("9.14, 9.19", cases="48 of 50 calls; without padding or folding none of 82"),
        remedy="transform into packed memory",
    ),
    row(
        "folding of other layouts",
        "cudnnTransformTensorEx",
        "wrong numbers",
        "cuDNN folds and unfolds tensors wrong that are neither NCHW nor NHWC",
        folds_other_layouts,
        _SEEN,
        measured("9.14, 9.19", cases="8 of 25 calls"),
        remedy="lay the tensors out in NCHW",
    ),
    row(
        "bias that is not reordered",
        "cudnnReorderFilterAndBias",
        "wrong numbers",
        "cuDNN copies as many bytes of the bias as the filters' type has: of INT8 a quarter, of "
        "INT8x32 eight times what there is",
        keeps_bias,
        _SEEN,
        measured("9.14, 9.19", cases="11 of 11 calls"),
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
        measured("9.14, 9.19", cases="57 of 326 calls, with one head none of 151"),
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
        _NEWER,
        measured("9.19", "Vectors of integers, and 16-bit images in NCHW most.", "157 calls"),
        data="an operand does not begin at a multiple of 16 bytes",
        remedy="align memory to 16 bytes",
    ),
    row(
        "fused gradient without a bias",
        "cudnnBatchNormalizationBackwardEx cudnnNormalizationBackward",
        "loses the CUDA context",
        "kernels read the bias, from which they compute again what the activation passed",
        lacks_bias,
        _NEWER,
        measured("9.19", cases="2 calls"),
        data="an activation followed, and bnBiasData or normBiasData is NULL",
        remedy="give the bias",
    ),
    row(
        "call without what it needs",
        "cudnnFusedOpsExecute",
        "ends the process",
        "cuDNN uses NULL on the GPU",
        lambda call: call.function,
        _NEWER,
        measured("9.19"),
        data="a pointer of the pack is NULL that is used",
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
