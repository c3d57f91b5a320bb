"""Tables of the module that implements each C function; the first call imports it.

`dispatch` explains the three kinds: implemented, taken over, followed. A test compares the tables
with the modules' registrations.
"""

from __future__ import annotations

__all__ = ["CARRIED_OUT", "FOLLOWED", "TAKEN_OVER"]


def _by_name(modules: dict[str, tuple[str, ...]]) -> dict[str, str]:
    return {name: module for module, names in modules.items() for name in names}


CARRIED_OUT = _by_name(
    {
        "activation": (
            "cudnnActivationForward",
            "cudnnActivationBackward",
        ),
        "attention": (
            "cudnnGetMultiHeadAttnBuffers",
            "cudnnGetMultiHeadAttnWeights",
            "cudnnMultiHeadAttnForward",
            "cudnnMultiHeadAttnBackwardData",
            "cudnnMultiHeadAttnBackwardWeights",
        ),
        "backend": (
            "cudnnBackendExecute",
            "cudnnGetExecutionPlanWorkspaceSize",
            "cudnnBackendPopulateCudaGraph",
            "cudnnBackendUpdateCudaGraph",
        ),
        "causal_convolution": (
            "cudnnCausalConv1dForward",
            "cudnnCausalConv1dNwhForward",
            "cudnnCausalConv1dBackward",
            "cudnnCausalConv1dNwhBackward",
            "cudnnB2BCausalConv1dForward",
            "cudnnB2BCausalConv1dBackward",
        ),
        "convolution": (
            "cudnnConvolutionForward",
            "cudnnConvolutionBackwardData",
            "cudnnConvolutionBackwardFilter",
            "cudnnConvolutionBackwardBias",
        ),
        "convolution_fused": ("cudnnConvolutionBiasActivationForward",),
        "convolution_queries": (
            "cudnnGetConvolutionForwardAlgorithmMaxCount",
            "cudnnGetConvolutionForwardAlgorithm_v7",
            "cudnnFindConvolutionForwardAlgorithm",
            "cudnnFindConvolutionForwardAlgorithmEx",
            "cudnnGetConvolutionForwardWorkspaceSize",
            "cudnnGetConvolutionBackwardDataAlgorithmMaxCount",
            "cudnnGetConvolutionBackwardDataAlgorithm_v7",
            "cudnnFindConvolutionBackwardDataAlgorithm",
            "cudnnFindConvolutionBackwardDataAlgorithmEx",
            "cudnnGetConvolutionBackwardDataWorkspaceSize",
            "cudnnGetConvolutionBackwardFilterAlgorithmMaxCount",
            "cudnnGetConvolutionBackwardFilterAlgorithm_v7",
            "cudnnFindConvolutionBackwardFilterAlgorithm",
            "cudnnFindConvolutionBackwardFilterAlgorithmEx",
            "cudnnGetConvolutionBackwardFilterWorkspaceSize",
        ),
        "convolution_transforms": (
            "cudnnIm2Col",
            "cudnnReorderFilterAndBias",
            "cudnnGetFoldedConvBackwardDataDescriptors",
        ),
        "ctc": (
            "cudnnGetCTCLossWorkspaceSize",
            "cudnnCTCLoss",
            "cudnnGetCTCLossWorkspaceSize_v8",
            "cudnnCTCLoss_v8",
        ),
        "dropout": (
            "cudnnDropoutGetStatesSize",
            "cudnnSetDropoutDescriptor",
            "cudnnRestoreDropoutDescriptor",
            "cudnnGetDropoutDescriptor",
            "cudnnDropoutForward",
            "cudnnDropoutBackward",
        ),
        "fft_causal_convolution": (
            "cudnnFFTCausalConv1dForward",
            "cudnnFFTCausalConv1dBackward",
            "cudnnLongFFTCausalConv1dForward",
            "cudnnLongFFTCausalConv1dBackward",
        ),
        "fused_operations": (
            "cudnnMakeFusedOpsPlan",
            "cudnnFusedOpsExecute",
        ),
        "gnn_agg_simple": (
            "cudnnGnnAggSimpleForward",
            "cudnnGnnAggSimpleBackward",
        ),
        "gnn_mha_gat": (
            "cudnnGnnMhaGatForward",
            "cudnnGnnMhaGatV2Forward",
            "cudnnGnnMhaGatBackward",
            "cudnnGnnMhaGatV2Backward",
        ),
        "handle": (
            "cudnnDestroy",
            "cudnnQueryRuntimeError",
            "cudnnSetStream",
            "cudnnGetStream",
        ),
        "lrn": (
            "cudnnLRNCrossChannelForward",
            "cudnnLRNCrossChannelBackward",
            "cudnnDivisiveNormalizationForward",
            "cudnnDivisiveNormalizationBackward",
        ),
        "normalization": (
            "cudnnBatchNormalizationForwardInference",
            "cudnnBatchNormalizationForwardTraining",
            "cudnnBatchNormalizationForwardTrainingEx",
            "cudnnBatchNormalizationBackward",
            "cudnnBatchNormalizationBackwardEx",
            "cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize",
            "cudnnGetBatchNormalizationBackwardExWorkspaceSize",
            "cudnnGetBatchNormalizationTrainingExReserveSpaceSize",
            "cudnnNormalizationForwardInference",
            "cudnnNormalizationForwardTraining",
            "cudnnNormalizationBackward",
            "cudnnGetNormalizationForwardTrainingWorkspaceSize",
            "cudnnGetNormalizationBackwardWorkspaceSize",
            "cudnnGetNormalizationTrainingReserveSpaceSize",
        ),
        "pooling": (
            "cudnnPoolingForward",
            "cudnnPoolingBackward",
        ),
        "reduce": (
            "cudnnGetReductionIndicesSize",
            "cudnnGetReductionWorkspaceSize",
            "cudnnReduceTensor",
        ),
        "rnn": (
            "cudnnBuildRNNDynamic",
            "cudnnGetRNNWeightSpaceSize",
            "cudnnGetRNNTempSpaceSizes",
            "cudnnGetRNNWeightParams",
            "cudnnRNNForward",
            "cudnnRNNBackwardData_v8",
            "cudnnRNNBackwardWeights_v8",
        ),
        "softmax": (
            "cudnnSoftmaxForward",
            "cudnnSoftmaxBackward",
        ),
        "spatial_transformer": (
            "cudnnSpatialTfGridGeneratorForward",
            "cudnnSpatialTfGridGeneratorBackward",
            "cudnnSpatialTfSamplerForward",
            "cudnnSpatialTfSamplerBackward",
        ),
        "tensor_operations": (
            "cudnnTransformTensor",
            "cudnnAddTensor",
            "cudnnOpTensor",
            "cudnnSetTensor",
            "cudnnScaleTensor",
        ),
        "transform": (
            "cudnnDestroyTensorTransformDescriptor",
            "cudnnSetTensorTransformDescriptor",
            "cudnnGetTensorTransformDescriptor",
            "cudnnInitTransformDest",
            "cudnnTransformTensorEx",
            "cudnnTransformFilter",
        ),
    }
)

FOLLOWED = _by_name(
    {
        "dropout": ("cudnnCreateDropoutDescriptor",),
        "rnn": (
            "cudnnCreateRNNDescriptor",
            "cudnnSetRNNDescriptor_v8",
        ),
        "transform": ("cudnnCreateTensorTransformDescriptor",),
    }
)

TAKEN_OVER = _by_name(
    {
        "backend": (
            "cudnnBackendCreateDescriptor",
            "cudnnBackendInitialize",
            "cudnnBackendDestroyDescriptor",
            "cudnnBackendFinalize",
            "cudnnBackendSetAttribute",
            "cudnnBackendGetAttribute",
        ),
    }
)
