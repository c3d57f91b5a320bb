"""Layer 2: cuDNN's legacy API as objects.

Descriptors own their C object, print and compare what the library holds, and can be passed to any
function of ``cudnn_ctypes.raw``. Operations take a ``Handle`` first, then tensors.
"""

from __future__ import annotations

from .activation import ActivationDescriptor, activation_backward, activation_forward
from .algorithm_table import AlgorithmRow, AlgorithmTable
from .attention import (
    AttentionForwardResult,
    attention_forward,
    attention_forward_training,
)
from .attention_descriptor import AttnDescriptor
from .attention_gradients import (
    AttentionGradients,
    attention_backward_data,
    attention_backward_weights,
)
from .attention_weights import (
    AttentionBufferSizes,
    AttentionWeights,
    attention_buffer_sizes,
)
from .back_to_back_convolution import (
    BackToBackGradients,
    BackToBackResult,
    back_to_back_convolution_backward,
    back_to_back_convolution_forward,
)
from .batch_normalization import (
    batch_normalization_backward,
    batch_normalization_forward_inference,
    batch_normalization_forward_training,
)
from .batch_normalization_ex import (
    batch_normalization_backward_ex,
    batch_normalization_ex_sizes,
    batch_normalization_forward_training_ex,
)
from .bound_operation import BoundOperation, bind
from .causal_convolution import (
    CausalConvolutionGradients,
    causal_convolution_backward,
    causal_convolution_forward,
)
from .convolution import ConvolutionDescriptor
from .convolution_columns import im2col
from .convolution_directions import (
    ConvolutionBackwardData,
    ConvolutionBackwardFilter,
    ConvolutionForward,
)
from .convolution_folding import FoldedBackwardData, folded_backward_data
from .convolution_fused import convolution_bias_activation_forward
from .convolution_operations import (
    convolution_backward_bias,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
)
from .convolution_reorder import ReorderResult, reorder_filter_and_bias
from .ctc import (
    CTCLossResult,
    ctc_loss,
    ctc_loss_v8,
    ctc_loss_v8_workspace_size,
    ctc_loss_workspace_size,
)
from .ctc_descriptor import CTCLossDescriptor
from .divisive_normalization import (
    DivisiveNormalizationGradients,
    divisive_normalization_backward,
    divisive_normalization_forward,
)
from .dropout import DropoutResult, dropout_backward, dropout_forward
from .dropout_descriptor import DropoutDescriptor, dropout_reserve_size, dropout_states_size
from .elementwise import OpTensorDescriptor, op_tensor
from .fft_causal_convolution import (
    FFTCausalConvolutionGradients,
    LongFFTBufferSizes,
    LongFFTResult,
    fft_causal_convolution_backward,
    fft_causal_convolution_forward,
    long_fft_causal_convolution_backward,
    long_fft_causal_convolution_buffer_sizes,
    long_fft_causal_convolution_forward,
)
from .filter import FilterDescriptor
from .fused_operations import (
    ConvolutionStatisticsResult,
    scale_bias_activation_backward_filter,
    scale_bias_activation_convolution,
)
from .fused_packs import FusedOpsConstParamPack, FusedOpsVariantParamPack
from .fused_plan import FusedOpsPlan
from .fused_statistics import (
    FinalizedStatisticsResult,
    ScaleBiasResult,
    finalize_statistics_inference,
    finalize_statistics_training,
)
from .gnn_agg_simple import (
    GnnAggSimpleGradients,
    GnnAggSimpleResult,
    gnn_agg_simple_backward,
    gnn_agg_simple_forward,
)
from .gnn_csc_graph import GnnCscGraph
from .gnn_mha_gat import GnnMhaGatResult, gnn_mha_gat_forward, gnn_mha_gat_v2_forward
from .gnn_mha_gat_gradients import GnnMhaGatGradients, gnn_mha_gat_backward, gnn_mha_gat_v2_backward
from .gnn_mha_gat_operands import GnnMhaParams
from .lrn import LRNDescriptor, lrn_cross_channel_backward, lrn_cross_channel_forward
from .normalization import (
    normalization_backward,
    normalization_forward_inference,
    normalization_forward_training,
    normalization_sizes,
)
from .normalization_descriptors import derive_bn_tensor_descriptor, derive_norm_tensor_descriptor
from .normalization_operands import NormalizationGradients, NormalizationResult, NormalizationSizes
from .pooling import PoolingDescriptor
from .pooling_operations import pooling_backward, pooling_forward
from .reduce import ReduceResult, ReduceTensorDescriptor, reduce_tensor
from .rnn import RNN, RNNForwardResult, RNNGradients
from .rnn_data import RNNDataDescriptor
from .rnn_descriptor import RNNDescriptor, RNNTempSpaceSizes
from .rnn_weights import RNNLayerWeights, RNNWeights, rnn_weight_params
from .sequence_data import SeqDataDescriptor
from .softmax import softmax_backward, softmax_forward
from .spatial_transformer import SpatialTransformerDescriptor
from .spatial_transformer_operations import (
    SpatialTfSamplerGradients,
    spatial_tf_grid_generator_backward,
    spatial_tf_grid_generator_forward,
    spatial_tf_sampler_backward,
    spatial_tf_sampler_forward,
)
from .tensor import TensorDescriptor
from .tensor_operations import add_tensor, scale_tensor, set_tensor, transform_tensor
from .tensor_transform import TensorTransformDescriptor
from .transform import transform_filter, transform_tensor_ex

__all__ = [
    "RNN",
    "ActivationDescriptor",
    "AlgorithmRow",
    "AlgorithmTable",
    "AttentionBufferSizes",
    "AttentionForwardResult",
    "AttentionGradients",
    "AttentionWeights",
    "AttnDescriptor",
    "BackToBackGradients",
    "BackToBackResult",
    "BoundOperation",
    "CTCLossDescriptor",
    "CTCLossResult",
    "CausalConvolutionGradients",
    "ConvolutionBackwardData",
    "ConvolutionBackwardFilter",
    "ConvolutionDescriptor",
    "ConvolutionForward",
    "ConvolutionStatisticsResult",
    "DivisiveNormalizationGradients",
    "DropoutDescriptor",
    "DropoutResult",
    "FFTCausalConvolutionGradients",
    "FilterDescriptor",
    "FinalizedStatisticsResult",
    "FoldedBackwardData",
    "FusedOpsConstParamPack",
    "FusedOpsPlan",
    "FusedOpsVariantParamPack",
    "GnnAggSimpleGradients",
    "GnnAggSimpleResult",
    "GnnCscGraph",
    "GnnMhaGatGradients",
    "GnnMhaGatResult",
    "GnnMhaParams",
    "LRNDescriptor",
    "LongFFTBufferSizes",
    "LongFFTResult",
    "NormalizationGradients",
    "NormalizationResult",
    "NormalizationSizes",
    "OpTensorDescriptor",
    "PoolingDescriptor",
    "RNNDataDescriptor",
    "RNNDescriptor",
    "RNNForwardResult",
    "RNNGradients",
    "RNNLayerWeights",
    "RNNTempSpaceSizes",
    "RNNWeights",
    "ReduceResult",
    "ReduceTensorDescriptor",
    "ReorderResult",
    "ScaleBiasResult",
    "SeqDataDescriptor",
    "SpatialTfSamplerGradients",
    "SpatialTransformerDescriptor",
    "TensorDescriptor",
    "TensorTransformDescriptor",
    "activation_backward",
    "activation_forward",
    "add_tensor",
    "attention_backward_data",
    "attention_backward_weights",
    "attention_buffer_sizes",
    "attention_forward",
    "attention_forward_training",
    "back_to_back_convolution_backward",
    "back_to_back_convolution_forward",
    "batch_normalization_backward",
    "batch_normalization_backward_ex",
    "batch_normalization_ex_sizes",
    "batch_normalization_forward_inference",
    "batch_normalization_forward_training",
    "batch_normalization_forward_training_ex",
    "bind",
    "causal_convolution_backward",
    "causal_convolution_forward",
    "convolution_backward_bias",
    "convolution_backward_data",
    "convolution_backward_filter",
    "convolution_bias_activation_forward",
    "convolution_forward",
    "ctc_loss",
    "ctc_loss_v8",
    "ctc_loss_v8_workspace_size",
    "ctc_loss_workspace_size",
    "derive_bn_tensor_descriptor",
    "derive_norm_tensor_descriptor",
    "divisive_normalization_backward",
    "divisive_normalization_forward",
    "dropout_backward",
    "dropout_forward",
    "dropout_reserve_size",
    "dropout_states_size",
    "fft_causal_convolution_backward",
    "fft_causal_convolution_forward",
    "finalize_statistics_inference",
    "finalize_statistics_training",
    "folded_backward_data",
    "gnn_agg_simple_backward",
    "gnn_agg_simple_forward",
    "gnn_mha_gat_backward",
    "gnn_mha_gat_forward",
    "gnn_mha_gat_v2_backward",
    "gnn_mha_gat_v2_forward",
    "im2col",
    "long_fft_causal_convolution_backward",
    "long_fft_causal_convolution_buffer_sizes",
    "long_fft_causal_convolution_forward",
    "lrn_cross_channel_backward",
    "lrn_cross_channel_forward",
    "normalization_backward",
    "normalization_forward_inference",
    "normalization_forward_training",
    "normalization_sizes",
    "op_tensor",
    "pooling_backward",
    "pooling_forward",
    "reduce_tensor",
    "reorder_filter_and_bias",
    "rnn_weight_params",
    "scale_bias_activation_backward_filter",
    "scale_bias_activation_convolution",
    "scale_tensor",
    "set_tensor",
    "softmax_backward",
    "softmax_forward",
    "spatial_tf_grid_generator_backward",
    "spatial_tf_grid_generator_forward",
    "spatial_tf_sampler_backward",
    "spatial_tf_sampler_forward",
    "transform_filter",
    "transform_tensor",
    "transform_tensor_ex",
]
