"""The modern form of each name."""

from __future__ import annotations

__all__ = ["MODERN"]

_RNN = "network = cudnn_ctypes.RNN(RNNDescriptor(...), x_desc); network."
_DESCRIPTORS = {
    "activation": "ActivationDescriptor(mode)",
    "convolution": "ConvolutionDescriptor(padding=..., stride=..., dilation=..., groups=...)",
    "dropout": "DropoutDescriptor(handle, rate, seed=...)",
    "filter": "FilterDescriptor(shape, dtype)",
    "op_tensor": "OpTensorDescriptor(op, compute_data_type=...)",
    "pooling": "PoolingDescriptor(mode, window, padding=..., stride=...)",
    "reduce_tensor": "ReduceTensorDescriptor(op, compute_data_type=...)",
    "rnn": "RNNDescriptor(cell, input_size=..., hidden_size=...)",
    "spatial_transformer": "SpatialTransformerDescriptor(...)",
    "tensor": "TensorDescriptor(shape, dtype)",
    "tensor_nd": "TensorDescriptor(shape, dtype)",
    "uninitialized_tensor": "TensorDescriptor()",
}
_BATCH_NORMALIZATION = "batch_normalization_{}(handle, ...)"

MODERN: dict[str, str] = {
    **{f"create_{kind}_descriptor": text for kind, text in _DESCRIPTORS.items()},
    "CuDNNAlgoPerf": "raw.cudnnConvolutionFwdAlgoPerf_t, and those of the gradients",
    "CuDNNError": "CudnnError",
    "Descriptor": "the descriptor classes, TensorDescriptor for example",
    "DropoutStates": "DropoutDescriptor(handle, rate, seed=...), dropout_forward and _backward",
    "activation_backward": "activation_backward(handle, mode, y=y, dy=gy, x=x)",
    "activation_forward": "activation_forward(handle, x, mode)",
    "add_tensor": "add_tensor(handle, bias, y)",
    "batch_normalization_backward": _BATCH_NORMALIZATION.format("backward"),
    "batch_normalization_forward_inference": _BATCH_NORMALIZATION.format("forward_inference"),
    "batch_normalization_forward_training": _BATCH_NORMALIZATION.format("forward_training"),
    "batch_normalization_forward_training_ex": _BATCH_NORMALIZATION.format("forward_training_ex"),
    "check_status": "a call of layer 1 or 2 raises CudnnError by itself",
    "convolution_backward_data": "convolution_backward_data(handle, convolution, w=W, dy=x)",
    "convolution_backward_filter": "convolution_backward_filter(handle, convolution, x=x, dy=gy)",
    "convolution_forward": "convolution_forward(handle, x, W, convolution)",
    "create_dropout_states": "DropoutDescriptor(handle, rate, seed=...)",
    "create_fused_ops_const_param_pack": "FusedOpsConstParamPack(ops)",
    "create_fused_ops_plan": "FusedOpsPlan(handle, const_pack)",
    "create_fused_ops_variant_param_pack": "FusedOpsVariantParamPack(ops)",
    "ctc_loss": "ctc_loss(handle, probs, labels, ...)",
    "fused_ops_execute": "FusedOpsPlan.execute(variant_pack)",
    "get_data_type": "as_data_type(dtype)",
    "get_fused_ops_const_param_pack_attribute": "FusedOpsConstParamPack",
    "get_fused_ops_variant_param_pack_attribute": "FusedOpsVariantParamPack",
    "get_handle": "Handle()",
    "get_max_workspace_size": "the size of the workspace that is given to a call",
    "get_rnn_lin_layer_bias_params": "RNNWeights(handle, rnn)[layer]",
    "get_rnn_lin_layer_matrix_params": "RNNWeights(handle, rnn)[layer]",
    "is_tensor_core_available": "Handle().device.compute_capability",
    "make_fused_ops_plan": "FusedOpsPlan(handle, const_pack)",
    "pooling_backward": "pooling_backward(handle, pooling, y=y, dy=gy, x=x)",
    "pooling_forward": "pooling_forward(handle, x, pooling)",
    "reset_handles": "Handle.close()",
    **{
        f"rnn_{name}{ex}": _RNN + now
        for name, now in (
            ("forward_inference", "forward(handle, x, weights, training=False)"),
            ("forward_training", "forward(handle, x, weights)"),
            ("backward_data", "backward_data(handle, ...)"),
            ("backward_weights", "backward_weights(handle, ...)"),
        )
        for ex in ("", "_ex")
    },
    "set_dropout_descriptor": "DropoutDescriptor.set",
    "set_fused_ops_const_param_pack_attribute": "FusedOpsConstParamPack",
    "set_fused_ops_variant_param_pack_attribute": "FusedOpsVariantParamPack",
    "set_max_workspace_size": "the size of the workspace that is given to a call",
    "softmax_backward": "softmax_backward(handle, y=y, dy=gy)",
    "softmax_forward": "softmax_forward(handle, x)",
}
"""The modern forms, with names of ``cudnn_ctypes``, by CuPy's names."""
