"""What uses the functions of cuDNN 9.28.0.

Read from the source of the package's layers 2 and 3 and of the examples.

Generated from the cuDNN headers by ``python -m tools.generate``; do not edit.
"""

from __future__ import annotations

__all__ = ["USES"]

USES: dict[str, tuple[tuple[str, ...], str]] = {
    "cudnnGetVersion": (
        (
            "Handle.version",
            "library_versions",
        ),
        "26_compiled_elsewhere.py",
    ),
    "cudnnGetMaxDeviceVersion": (
        (
            "DeviceProperties.is_native",
            "library_versions",
        ),
        "",
    ),
    "cudnnGetCudartVersion": (
        ("library_versions",),
        "",
    ),
    "cudnnGetErrorString": (
        ("error_string",),
        "",
    ),
    "cudnnGetLastErrorString": (
        ("last_error_string",),
        "",
    ),
    "cudnnQueryRuntimeError": (
        ("query_runtime_error",),
        "",
    ),
    "cudnnGetProperty": (
        ("library_versions",),
        "",
    ),
    "cudnnCreate": (
        ("Handle",),
        "01_smallest_program.py",
    ),
    "cudnnDestroy": (
        ("Handle",),
        "01_smallest_program.py",
    ),
    "cudnnSetStream": (
        ("Handle.stream",),
        "03_convolution.py",
    ),
    "cudnnGetStream": (
        ("Handle",),
        "03_convolution.py",
    ),
    "cudnnSetCallback": (
        (),
        "",
    ),
    "cudnnGetCallback": (
        (),
        "",
    ),
    "cudnnGraphVersionCheck": (
        ("check_sublibraries",),
        "",
    ),
    "cudnnBackendCreateDescriptor": (
        ("BackendDescriptor",),
        "19_first_graph_raw.py",
    ),
    "cudnnBackendDestroyDescriptor": (
        ("BackendDescriptor",),
        "19_first_graph_raw.py",
    ),
    "cudnnBackendInitialize": (
        ("BackendDescriptor.reset",),
        "",
    ),
    "cudnnBackendFinalize": (
        ("BackendDescriptor.finalize",),
        "19_first_graph_raw.py",
    ),
    "cudnnBackendSetAttribute": (
        ("BackendDescriptor.set",),
        "19_first_graph_raw.py",
    ),
    "cudnnBackendGetAttribute": (
        ("BackendDescriptor",),
        "19_first_graph_raw.py",
    ),
    "cudnnGetExecutionPlanWorkspaceSize": (
        (
            "BoundPlan.workspace_size",
            "ExecutionPlan.workspace_size_for",
        ),
        "",
    ),
    "cudnnBackendExecute": (
        ("BackendDescriptor",),
        "19_first_graph_raw.py",
    ),
    "cudnnBackendPopulateCudaGraph": (
        ("NativeGraph",),
        "",
    ),
    "cudnnBackendUpdateCudaGraph": (
        ("NativeGraph.update",),
        "",
    ),
    "cudnnCreateTensorDescriptor": (
        ("TensorDescriptor",),
        "01_smallest_program.py",
    ),
    "cudnnSetTensor4dDescriptor": (
        ("TensorDescriptor.set_4d",),
        "01_smallest_program.py",
    ),
    "cudnnSetTensor4dDescriptorEx": (
        ("TensorDescriptor.set_4d_ex",),
        "",
    ),
    "cudnnGetTensor4dDescriptor": (
        ("TensorDescriptor.get_4d",),
        "",
    ),
    "cudnnSetTensorNdDescriptor": (
        ("TensorDescriptor.set_nd",),
        "",
    ),
    "cudnnSetTensorNdDescriptorEx": (
        ("TensorDescriptor.set_nd_ex",),
        "",
    ),
    "cudnnGetTensorNdDescriptor": (
        ("TensorDescriptor",),
        "03_convolution.py",
    ),
    "cudnnGetTensorSizeInBytes": (
        ("TensorDescriptor",),
        "03_convolution.py",
    ),
    "cudnnDestroyTensorDescriptor": (
        ("TensorDescriptor",),
        "01_smallest_program.py",
    ),
    "cudnnInitTransformDest": (
        ("TensorTransformDescriptor.destination",),
        "",
    ),
    "cudnnCreateTensorTransformDescriptor": (
        ("TensorTransformDescriptor",),
        "",
    ),
    "cudnnSetTensorTransformDescriptor": (
        ("TensorTransformDescriptor.set",),
        "",
    ),
    "cudnnGetTensorTransformDescriptor": (
        ("TensorTransformDescriptor",),
        "",
    ),
    "cudnnDestroyTensorTransformDescriptor": (
        ("TensorTransformDescriptor",),
        "",
    ),
    "cudnnTransformTensor": (
        ("transform_tensor",),
        "",
    ),
    "cudnnTransformTensorEx": (
        ("transform_tensor_ex",),
        "",
    ),
    "cudnnAddTensor": (
        ("add_tensor",),
        "21_legacy_and_graph.py",
    ),
    "cudnnCreateOpTensorDescriptor": (
        ("OpTensorDescriptor",),
        "12_lenet_digits.py",
    ),
    "cudnnSetOpTensorDescriptor": (
        ("OpTensorDescriptor.set",),
        "",
    ),
    "cudnnGetOpTensorDescriptor": (
        ("OpTensorDescriptor",),
        "12_lenet_digits.py",
    ),
    "cudnnDestroyOpTensorDescriptor": (
        ("OpTensorDescriptor",),
        "12_lenet_digits.py",
    ),
    "cudnnOpTensor": (
        ("op_tensor",),
        "21_legacy_and_graph.py",
    ),
    "cudnnCreateReduceTensorDescriptor": (
        ("ReduceTensorDescriptor",),
        "12_lenet_digits.py",
    ),
    "cudnnSetReduceTensorDescriptor": (
        ("ReduceTensorDescriptor.set",),
        "",
    ),
    "cudnnGetReduceTensorDescriptor": (
        ("ReduceTensorDescriptor",),
        "12_lenet_digits.py",
    ),
    "cudnnDestroyReduceTensorDescriptor": (
        ("ReduceTensorDescriptor",),
        "12_lenet_digits.py",
    ),
    "cudnnGetReductionIndicesSize": (
        ("ReduceTensorDescriptor.indices_size",),
        "",
    ),
    "cudnnGetReductionWorkspaceSize": (
        ("ReduceTensorDescriptor.workspace_size",),
        "",
    ),
    "cudnnReduceTensor": (
        ("reduce_tensor",),
        "21_legacy_and_graph.py",
    ),
    "cudnnSetTensor": (
        ("set_tensor",),
        "",
    ),
    "cudnnScaleTensor": (
        ("scale_tensor",),
        "",
    ),
    "cudnnCreateFilterDescriptor": (
        ("FilterDescriptor",),
        "01_smallest_program.py",
    ),
    "cudnnSetFilter4dDescriptor": (
        ("FilterDescriptor.set_4d",),
        "01_smallest_program.py",
    ),
    "cudnnGetFilter4dDescriptor": (
        ("FilterDescriptor.get_4d",),
        "",
    ),
    "cudnnSetFilterNdDescriptor": (
        ("FilterDescriptor.set_nd",),
        "",
    ),
    "cudnnGetFilterNdDescriptor": (
        ("FilterDescriptor",),
        "03_convolution.py",
    ),
    "cudnnGetFilterSizeInBytes": (
        ("FilterDescriptor",),
        "03_convolution.py",
    ),
    "cudnnTransformFilter": (
        ("transform_filter",),
        "",
    ),
    "cudnnDestroyFilterDescriptor": (
        ("FilterDescriptor",),
        "01_smallest_program.py",
    ),
    "cudnnSoftmaxForward": (
        ("softmax_forward",),
        "07_softmax.py",
    ),
    "cudnnCreatePoolingDescriptor": (
        ("PoolingDescriptor",),
        "06_pooling.py",
    ),
    "cudnnSetPooling2dDescriptor": (
        ("PoolingDescriptor.set_2d",),
        "06_pooling.py",
    ),
    "cudnnGetPooling2dDescriptor": (
        ("PoolingDescriptor.get_2d",),
        "",
    ),
    "cudnnSetPoolingNdDescriptor": (
        ("PoolingDescriptor.set_nd",),
        "",
    ),
    "cudnnGetPoolingNdDescriptor": (
        ("PoolingDescriptor",),
        "06_pooling.py",
    ),
    "cudnnGetPoolingNdForwardOutputDim": (
        ("PoolingDescriptor.output_shape",),
        "",
    ),
    "cudnnGetPooling2dForwardOutputDim": (
        ("PoolingDescriptor.output_shape",),
        "06_pooling.py",
    ),
    "cudnnDestroyPoolingDescriptor": (
        ("PoolingDescriptor",),
        "06_pooling.py",
    ),
    "cudnnPoolingForward": (
        ("pooling_forward",),
        "06_pooling.py",
    ),
    "cudnnCreateActivationDescriptor": (
        ("ActivationDescriptor",),
        "10_gradients.py",
    ),
    "cudnnSetActivationDescriptor": (
        ("ActivationDescriptor.set",),
        "",
    ),
    "cudnnGetActivationDescriptor": (
        ("ActivationDescriptor",),
        "10_gradients.py",
    ),
    "cudnnSetActivationDescriptorSwishBeta": (
        ("ActivationDescriptor.swish_beta",),
        "",
    ),
    "cudnnGetActivationDescriptorSwishBeta": (
        ("ActivationDescriptor",),
        "10_gradients.py",
    ),
    "cudnnDestroyActivationDescriptor": (
        ("ActivationDescriptor",),
        "10_gradients.py",
    ),
    "cudnnActivationForward": (
        ("activation_forward",),
        "21_legacy_and_graph.py",
    ),
    "cudnnCreateLRNDescriptor": (
        ("LRNDescriptor",),
        "",
    ),
    "cudnnSetLRNDescriptor": (
        ("LRNDescriptor.set",),
        "",
    ),
    "cudnnGetLRNDescriptor": (
        ("LRNDescriptor",),
        "",
    ),
    "cudnnDestroyLRNDescriptor": (
        ("LRNDescriptor",),
        "",
    ),
    "cudnnLRNCrossChannelForward": (
        ("lrn_cross_channel_forward",),
        "",
    ),
    "cudnnDivisiveNormalizationForward": (
        ("divisive_normalization_forward",),
        "",
    ),
    "cudnnDeriveBNTensorDescriptor": (
        ("derive_bn_tensor_descriptor",),
        "08_batch_norm.py",
    ),
    "cudnnBatchNormalizationForwardInference": (
        ("batch_normalization_forward_inference",),
        "21_legacy_and_graph.py",
    ),
    "cudnnDeriveNormTensorDescriptor": (
        ("derive_norm_tensor_descriptor",),
        "",
    ),
    "cudnnNormalizationForwardInference": (
        ("normalization_forward_inference",),
        "",
    ),
    "cudnnCreateSpatialTransformerDescriptor": (
        ("SpatialTransformerDescriptor",),
        "",
    ),
    "cudnnSetSpatialTransformerNdDescriptor": (
        ("SpatialTransformerDescriptor.set_nd",),
        "",
    ),
    "cudnnDestroySpatialTransformerDescriptor": (
        ("SpatialTransformerDescriptor",),
        "",
    ),
    "cudnnSpatialTfGridGeneratorForward": (
        ("spatial_tf_grid_generator_forward",),
        "",
    ),
    "cudnnSpatialTfSamplerForward": (
        ("spatial_tf_sampler_forward",),
        "",
    ),
    "cudnnCreateDropoutDescriptor": (
        ("DropoutDescriptor",),
        "09_rnn.py",
    ),
    "cudnnDestroyDropoutDescriptor": (
        ("DropoutDescriptor",),
        "09_rnn.py",
    ),
    "cudnnDropoutGetStatesSize": (
        ("dropout_states_size",),
        "",
    ),
    "cudnnDropoutGetReserveSpaceSize": (
        ("dropout_reserve_size",),
        "",
    ),
    "cudnnSetDropoutDescriptor": (
        (
            "DropoutDescriptor.rate",
            "DropoutDescriptor.set",
        ),
        "09_rnn.py",
    ),
    "cudnnRestoreDropoutDescriptor": (
        ("DropoutDescriptor.restore",),
        "",
    ),
    "cudnnGetDropoutDescriptor": (
        ("DropoutDescriptor",),
        "",
    ),
    "cudnnDropoutForward": (
        ("dropout_forward",),
        "",
    ),
    "cudnnOpsVersionCheck": (
        ("check_sublibraries",),
        "",
    ),
    "cudnnSoftmaxBackward": (
        ("softmax_backward",),
        "07_softmax.py",
    ),
    "cudnnPoolingBackward": (
        ("pooling_backward",),
        "06_pooling.py",
    ),
    "cudnnActivationBackward": (
        ("activation_backward",),
        "10_gradients.py",
    ),
    "cudnnLRNCrossChannelBackward": (
        ("lrn_cross_channel_backward",),
        "",
    ),
    "cudnnDivisiveNormalizationBackward": (
        ("divisive_normalization_backward",),
        "",
    ),
    "cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize": (
        (
            "batch_normalization_backward_ex",
            "batch_normalization_ex_sizes",
            "batch_normalization_forward_training_ex",
        ),
        "14_fused_residual_block.py",
    ),
    "cudnnGetBatchNormalizationBackwardExWorkspaceSize": (
        (
            "batch_normalization_backward_ex",
            "batch_normalization_ex_sizes",
            "batch_normalization_forward_training_ex",
        ),
        "14_fused_residual_block.py",
    ),
    "cudnnGetBatchNormalizationTrainingExReserveSpaceSize": (
        (
            "batch_normalization_backward_ex",
            "batch_normalization_ex_sizes",
            "batch_normalization_forward_training_ex",
        ),
        "14_fused_residual_block.py",
    ),
    "cudnnBatchNormalizationForwardTraining": (
        ("batch_normalization_forward_training",),
        "08_batch_norm.py",
    ),
    "cudnnBatchNormalizationForwardTrainingEx": (
        ("batch_normalization_forward_training_ex",),
        "14_fused_residual_block.py",
    ),
    "cudnnBatchNormalizationBackward": (
        ("batch_normalization_backward",),
        "08_batch_norm.py",
    ),
    "cudnnBatchNormalizationBackwardEx": (
        ("batch_normalization_backward_ex",),
        "14_fused_residual_block.py",
    ),
    "cudnnGetNormalizationForwardTrainingWorkspaceSize": (
        (
            "normalization_backward",
            "normalization_forward_inference",
            "normalization_forward_training",
            "normalization_sizes",
        ),
        "",
    ),
    "cudnnGetNormalizationBackwardWorkspaceSize": (
        (
            "normalization_backward",
            "normalization_forward_inference",
            "normalization_forward_training",
            "normalization_sizes",
        ),
        "",
    ),
    "cudnnGetNormalizationTrainingReserveSpaceSize": (
        (
            "normalization_backward",
            "normalization_forward_inference",
            "normalization_forward_training",
            "normalization_sizes",
        ),
        "",
    ),
    "cudnnNormalizationForwardTraining": (
        ("normalization_forward_training",),
        "",
    ),
    "cudnnNormalizationBackward": (
        ("normalization_backward",),
        "",
    ),
    "cudnnSpatialTfGridGeneratorBackward": (
        ("spatial_tf_grid_generator_backward",),
        "",
    ),
    "cudnnSpatialTfSamplerBackward": (
        ("spatial_tf_sampler_backward",),
        "",
    ),
    "cudnnDropoutBackward": (
        ("dropout_backward",),
        "",
    ),
    "cudnnCreateConvolutionDescriptor": (
        ("ConvolutionDescriptor",),
        "01_smallest_program.py",
    ),
    "cudnnDestroyConvolutionDescriptor": (
        ("ConvolutionDescriptor",),
        "01_smallest_program.py",
    ),
    "cudnnSetConvolutionMathType": (
        ("ConvolutionDescriptor.math_type",),
        "05_algorithms.py",
    ),
    "cudnnGetConvolutionMathType": (
        ("ConvolutionDescriptor",),
        "03_convolution.py",
    ),
    "cudnnSetConvolutionGroupCount": (
        ("ConvolutionDescriptor.groups",),
        "",
    ),
    "cudnnGetConvolutionGroupCount": (
        ("ConvolutionDescriptor",),
        "03_convolution.py",
    ),
    "cudnnSetConvolutionReorderType": (
        ("ConvolutionDescriptor.reorder_type",),
        "",
    ),
    "cudnnGetConvolutionReorderType": (
        ("ConvolutionDescriptor",),
        "03_convolution.py",
    ),
    "cudnnSetConvolution2dDescriptor": (
        ("ConvolutionDescriptor.set_2d",),
        "01_smallest_program.py",
    ),
    "cudnnGetConvolution2dDescriptor": (
        ("ConvolutionDescriptor.get_2d",),
        "",
    ),
    "cudnnSetConvolutionNdDescriptor": (
        ("ConvolutionDescriptor.set_nd",),
        "",
    ),
    "cudnnGetConvolutionNdDescriptor": (
        ("ConvolutionDescriptor",),
        "03_convolution.py",
    ),
    "cudnnGetConvolution2dForwardOutputDim": (
        ("ConvolutionDescriptor.output_shape",),
        "01_smallest_program.py",
    ),
    "cudnnGetConvolutionNdForwardOutputDim": (
        ("ConvolutionDescriptor.output_shape",),
        "03_convolution.py",
    ),
    "cudnnGetConvolutionForwardAlgorithmMaxCount": (
        ("ConvolutionForward",),
        "03_convolution.py",
    ),
    "cudnnGetConvolutionForwardAlgorithm_v7": (
        ("ConvolutionForward",),
        "01_smallest_program.py",
    ),
    "cudnnFindConvolutionForwardAlgorithm": (
        ("ConvolutionForward",),
        "03_convolution.py",
    ),
    "cudnnFindConvolutionForwardAlgorithmEx": (
        ("ConvolutionForward",),
        "03_convolution.py",
    ),
    "cudnnIm2Col": (
        ("im2col",),
        "",
    ),
    "cudnnReorderFilterAndBias": (
        ("reorder_filter_and_bias",),
        "",
    ),
    "cudnnGetConvolutionForwardWorkspaceSize": (
        ("ConvolutionForward",),
        "02_convolution_raw.py",
    ),
    "cudnnConvolutionForward": (
        ("ConvolutionForward",),
        "02_convolution_raw.py",
    ),
    "cudnnConvolutionBiasActivationForward": (
        ("convolution_bias_activation_forward",),
        "21_legacy_and_graph.py",
    ),
    "cudnnGetConvolutionBackwardDataAlgorithmMaxCount": (
        ("ConvolutionBackwardData",),
        "",
    ),
    "cudnnFindConvolutionBackwardDataAlgorithm": (
        ("ConvolutionBackwardData",),
        "",
    ),
    "cudnnFindConvolutionBackwardDataAlgorithmEx": (
        ("ConvolutionBackwardData",),
        "",
    ),
    "cudnnGetConvolutionBackwardDataAlgorithm_v7": (
        ("ConvolutionBackwardData",),
        "",
    ),
    "cudnnGetConvolutionBackwardDataWorkspaceSize": (
        ("ConvolutionBackwardData",),
        "",
    ),
    "cudnnConvolutionBackwardData": (
        ("ConvolutionBackwardData",),
        "",
    ),
    "cudnnGetFoldedConvBackwardDataDescriptors": (
        ("folded_backward_data",),
        "",
    ),
    "cudnnCnnVersionCheck": (
        ("check_sublibraries",),
        "",
    ),
    "cudnnGetConvolutionBackwardFilterAlgorithmMaxCount": (
        ("ConvolutionBackwardFilter",),
        "",
    ),
    "cudnnFindConvolutionBackwardFilterAlgorithm": (
        ("ConvolutionBackwardFilter",),
        "",
    ),
    "cudnnFindConvolutionBackwardFilterAlgorithmEx": (
        ("ConvolutionBackwardFilter",),
        "",
    ),
    "cudnnGetConvolutionBackwardFilterAlgorithm_v7": (
        ("ConvolutionBackwardFilter",),
        "",
    ),
    "cudnnGetConvolutionBackwardFilterWorkspaceSize": (
        ("ConvolutionBackwardFilter",),
        "",
    ),
    "cudnnConvolutionBackwardFilter": (
        ("ConvolutionBackwardFilter",),
        "",
    ),
    "cudnnConvolutionBackwardBias": (
        ("convolution_backward_bias",),
        "11_train_on_digits.py",
    ),
    "cudnnCreateFusedOpsConstParamPack": (
        ("FusedOpsConstParamPack",),
        "",
    ),
    "cudnnDestroyFusedOpsConstParamPack": (
        ("FusedOpsConstParamPack",),
        "",
    ),
    "cudnnSetFusedOpsConstParamPackAttribute": (
        ("FusedOpsConstParamPack.set",),
        "",
    ),
    "cudnnGetFusedOpsConstParamPackAttribute": (
        ("FusedOpsConstParamPack.get",),
        "",
    ),
    "cudnnCreateFusedOpsVariantParamPack": (
        ("FusedOpsVariantParamPack",),
        "",
    ),
    "cudnnDestroyFusedOpsVariantParamPack": (
        ("FusedOpsVariantParamPack",),
        "",
    ),
    "cudnnSetFusedOpsVariantParamPackAttribute": (
        ("FusedOpsVariantParamPack.set",),
        "",
    ),
    "cudnnGetFusedOpsVariantParamPackAttribute": (
        ("FusedOpsVariantParamPack.get",),
        "",
    ),
    "cudnnCreateFusedOpsPlan": (
        ("FusedOpsPlan",),
        "",
    ),
    "cudnnDestroyFusedOpsPlan": (
        ("FusedOpsPlan",),
        "",
    ),
    "cudnnMakeFusedOpsPlan": (
        ("FusedOpsPlan.make",),
        "",
    ),
    "cudnnFusedOpsExecute": (
        ("FusedOpsPlan.execute",),
        "",
    ),
    "cudnnCreateRNNDescriptor": (
        ("RNNDescriptor",),
        "09_rnn.py",
    ),
    "cudnnDestroyRNNDescriptor": (
        ("RNNDescriptor",),
        "09_rnn.py",
    ),
    "cudnnSetRNNDescriptor_v8": (
        ("RNNDescriptor.set",),
        "09_rnn.py",
    ),
    "cudnnGetRNNDescriptor_v8": (
        ("RNNDescriptor",),
        "09_rnn.py",
    ),
    "cudnnRNNSetClip_v8": (
        ("RNNDescriptor.set_clip_v8",),
        "",
    ),
    "cudnnRNNSetClip_v9": (
        ("RNNDescriptor.clip",),
        "",
    ),
    "cudnnRNNGetClip_v8": (
        ("RNNDescriptor",),
        "09_rnn.py",
    ),
    "cudnnRNNGetClip_v9": (
        (),
        "",
    ),
    "cudnnBuildRNNDynamic": (
        ("RNNDescriptor.build_dynamic",),
        "",
    ),
    "cudnnGetRNNTempSpaceSizes": (
        ("RNNDescriptor.temp_space_sizes",),
        "",
    ),
    "cudnnGetRNNWeightSpaceSize": (
        ("RNNDescriptor.weight_space_size",),
        "09_rnn.py",
    ),
    "cudnnGetRNNWeightParams": (
        ("rnn_weight_params",),
        "09_rnn.py",
    ),
    "cudnnCreateRNNDataDescriptor": (
        ("RNNDataDescriptor",),
        "",
    ),
    "cudnnDestroyRNNDataDescriptor": (
        ("RNNDataDescriptor",),
        "",
    ),
    "cudnnSetRNNDataDescriptor": (
        ("RNNDataDescriptor.set",),
        "",
    ),
    "cudnnGetRNNDataDescriptor": (
        ("RNNDataDescriptor",),
        "",
    ),
    "cudnnRNNForward": (
        ("RNN.forward",),
        "09_rnn.py",
    ),
    "cudnnCreateSeqDataDescriptor": (
        ("SeqDataDescriptor",),
        "",
    ),
    "cudnnDestroySeqDataDescriptor": (
        ("SeqDataDescriptor",),
        "",
    ),
    "cudnnSetSeqDataDescriptor": (
        ("SeqDataDescriptor.set",),
        "",
    ),
    "cudnnGetSeqDataDescriptor": (
        ("SeqDataDescriptor",),
        "",
    ),
    "cudnnCreateAttnDescriptor": (
        ("AttnDescriptor",),
        "16_attention_step_by_step.py",
    ),
    "cudnnDestroyAttnDescriptor": (
        ("AttnDescriptor",),
        "16_attention_step_by_step.py",
    ),
    "cudnnSetAttnDescriptor": (
        ("AttnDescriptor.set",),
        "",
    ),
    "cudnnGetAttnDescriptor": (
        ("AttnDescriptor",),
        "16_attention_step_by_step.py",
    ),
    "cudnnGetMultiHeadAttnBuffers": (
        ("attention_buffer_sizes",),
        "",
    ),
    "cudnnGetMultiHeadAttnWeights": (
        ("AttentionWeights",),
        "16_attention_step_by_step.py",
    ),
    "cudnnMultiHeadAttnForward": (
        (
            "attention_forward",
            "attention_forward_training",
        ),
        "16_attention_step_by_step.py",
    ),
    "cudnnAdvVersionCheck": (
        ("check_sublibraries",),
        "",
    ),
    "cudnnRNNBackwardData_v8": (
        ("RNN.backward_data",),
        "15_character_lstm.py",
    ),
    "cudnnRNNBackwardWeights_v8": (
        ("RNN.backward_weights",),
        "15_character_lstm.py",
    ),
    "cudnnMultiHeadAttnBackwardData": (
        ("attention_backward_data",),
        "16_attention_step_by_step.py",
    ),
    "cudnnMultiHeadAttnBackwardWeights": (
        ("attention_backward_weights",),
        "16_attention_step_by_step.py",
    ),
    "cudnnCreateCTCLossDescriptor": (
        ("CTCLossDescriptor",),
        "17_ctc.py",
    ),
    "cudnnSetCTCLossDescriptor": (
        ("CTCLossDescriptor.set",),
        "",
    ),
    "cudnnSetCTCLossDescriptorEx": (
        ("CTCLossDescriptor.set_ex",),
        "",
    ),
    "cudnnSetCTCLossDescriptor_v8": (
        ("CTCLossDescriptor.set_v8",),
        "",
    ),
    "cudnnSetCTCLossDescriptor_v9": (
        ("CTCLossDescriptor.set_v9",),
        "",
    ),
    "cudnnGetCTCLossDescriptor": (
        (),
        "",
    ),
    "cudnnGetCTCLossDescriptorEx": (
        (),
        "",
    ),
    "cudnnGetCTCLossDescriptor_v8": (
        (),
        "",
    ),
    "cudnnGetCTCLossDescriptor_v9": (
        ("CTCLossDescriptor",),
        "17_ctc.py",
    ),
    "cudnnDestroyCTCLossDescriptor": (
        ("CTCLossDescriptor",),
        "17_ctc.py",
    ),
    "cudnnCTCLoss": (
        ("ctc_loss",),
        "17_ctc.py",
    ),
    "cudnnCTCLoss_v8": (
        ("ctc_loss_v8",),
        "",
    ),
    "cudnnGetCTCLossWorkspaceSize": (
        ("ctc_loss_workspace_size",),
        "",
    ),
    "cudnnGetCTCLossWorkspaceSize_v8": (
        ("ctc_loss_v8_workspace_size",),
        "",
    ),
    "cudnnSubquadraticOpsVersionCheck": (
        ("check_sublibraries",),
        "",
    ),
    "cudnnCausalConv1dForward": (
        ("causal_convolution_forward",),
        "",
    ),
    "cudnnCausalConv1dBackward": (
        ("causal_convolution_backward",),
        "",
    ),
    "cudnnCausalConv1dNwhForward": (
        ("causal_convolution_forward",),
        "",
    ),
    "cudnnCausalConv1dNwhBackward": (
        ("causal_convolution_backward",),
        "",
    ),
    "cudnnB2BCausalConv1dForward": (
        ("back_to_back_convolution_forward",),
        "",
    ),
    "cudnnB2BCausalConv1dBackward": (
        ("back_to_back_convolution_backward",),
        "",
    ),
    "cudnnFFTCausalConv1dForward": (
        ("fft_causal_convolution_forward",),
        "",
    ),
    "cudnnFFTCausalConv1dBackward": (
        ("fft_causal_convolution_backward",),
        "",
    ),
    "cudnnLongFFTCausalConv1dGetBufferSizes": (
        ("long_fft_causal_convolution_buffer_sizes",),
        "",
    ),
    "cudnnLongFFTCausalConv1dForward": (
        ("long_fft_causal_convolution_forward",),
        "",
    ),
    "cudnnLongFFTCausalConv1dBackward": (
        ("long_fft_causal_convolution_backward",),
        "",
    ),
    "cudnnGnnAggSimpleForward": (
        ("gnn_agg_simple_forward",),
        "",
    ),
    "cudnnGnnAggSimpleBackward": (
        ("gnn_agg_simple_backward",),
        "",
    ),
    "cudnnGnnMhaGatForward": (
        ("gnn_mha_gat_forward",),
        "",
    ),
    "cudnnGnnMhaGatBackward": (
        ("gnn_mha_gat_backward",),
        "",
    ),
    "cudnnGnnMhaGatV2Forward": (
        ("gnn_mha_gat_v2_forward",),
        "",
    ),
    "cudnnGnnMhaGatV2Backward": (
        ("gnn_mha_gat_v2_backward",),
        "",
    ),
}
"""By C function: objects of layers 2 and 3, the most direct first, and an example."""
