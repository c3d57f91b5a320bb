from .activation import (
    ActivationDescriptor as ActivationDescriptor,
    activation_backward as activation_backward,
    activation_forward as activation_forward,
)
from .convolution_algorithms import AlgorithmRow as AlgorithmRow, AlgorithmTable as AlgorithmTable
from .attention import (
    AttentionForwardResult as AttentionForwardResult,
    attention_forward as attention_forward,
    attention_forward_training as attention_forward_training,
    AttentionGradients as AttentionGradients,
    attention_backward_data as attention_backward_data,
    attention_backward_weights as attention_backward_weights,
)
from .attention_descriptor import (
    AttnDescriptor as AttnDescriptor,
    AttentionBufferSizes as AttentionBufferSizes,
    AttentionWeights as AttentionWeights,
    attention_buffer_sizes as attention_buffer_sizes,
    SeqDataDescriptor as SeqDataDescriptor,
)
from .causal_convolution import (
    BackToBackGradients as BackToBackGradients,
    BackToBackResult as BackToBackResult,
    back_to_back_convolution_backward as back_to_back_convolution_backward,
    back_to_back_convolution_forward as back_to_back_convolution_forward,
    CausalConvolutionGradients as CausalConvolutionGradients,
    causal_convolution_backward as causal_convolution_backward,
    causal_convolution_forward as causal_convolution_forward,
    FFTCausalConvolutionGradients as FFTCausalConvolutionGradients,
    LongFFTBufferSizes as LongFFTBufferSizes,
    LongFFTResult as LongFFTResult,
    fft_causal_convolution_backward as fft_causal_convolution_backward,
    fft_causal_convolution_forward as fft_causal_convolution_forward,
    long_fft_causal_convolution_backward as long_fft_causal_convolution_backward,
    long_fft_causal_convolution_buffer_sizes as long_fft_causal_convolution_buffer_sizes,
    long_fft_causal_convolution_forward as long_fft_causal_convolution_forward,
)
from .batch_normalization import (
    batch_normalization_backward as batch_normalization_backward,
    batch_normalization_forward_inference as batch_normalization_forward_inference,
    batch_normalization_forward_training as batch_normalization_forward_training,
    batch_normalization_backward_ex as batch_normalization_backward_ex,
    batch_normalization_ex_sizes as batch_normalization_ex_sizes,
    batch_normalization_forward_training_ex as batch_normalization_forward_training_ex,
    normalization_backward as normalization_backward,
    normalization_forward_inference as normalization_forward_inference,
    normalization_forward_training as normalization_forward_training,
    normalization_sizes as normalization_sizes,
)
from ..runtime.launching.bound import BoundOperation as BoundOperation, bind as bind
from ..runtime.launching.bound import sequence as sequence
from .convolution import ConvolutionDescriptor as ConvolutionDescriptor
from .transform import (
    im2col as im2col,
    FoldedBackwardData as FoldedBackwardData,
    folded_backward_data as folded_backward_data,
    ReorderResult as ReorderResult,
    reorder_filter_and_bias as reorder_filter_and_bias,
)
from .convolution_directions import (
    ConvolutionBackwardData as ConvolutionBackwardData,
    ConvolutionBackwardFilter as ConvolutionBackwardFilter,
    ConvolutionForward as ConvolutionForward,
)
from .convolution_operations import (
    convolution_bias_activation_forward as convolution_bias_activation_forward,
    convolution_backward_bias as convolution_backward_bias,
    convolution_backward_data as convolution_backward_data,
    convolution_backward_filter as convolution_backward_filter,
    convolution_forward as convolution_forward,
)
from .ctc import (
    CTCLossResult as CTCLossResult,
    ctc_loss as ctc_loss,
    ctc_loss_v8 as ctc_loss_v8,
    ctc_loss_v8_workspace_size as ctc_loss_v8_workspace_size,
    ctc_loss_workspace_size as ctc_loss_workspace_size,
    CTCLossDescriptor as CTCLossDescriptor,
)
from .lrn import (
    DivisiveNormalizationGradients as DivisiveNormalizationGradients,
    divisive_normalization_backward as divisive_normalization_backward,
    divisive_normalization_forward as divisive_normalization_forward,
    LRNDescriptor as LRNDescriptor,
    lrn_cross_channel_backward as lrn_cross_channel_backward,
    lrn_cross_channel_forward as lrn_cross_channel_forward,
)
from .dropout import (
    DropoutResult as DropoutResult,
    dropout_backward as dropout_backward,
    dropout_forward as dropout_forward,
    DropoutDescriptor as DropoutDescriptor,
    dropout_reserve_size as dropout_reserve_size,
    dropout_states_size as dropout_states_size,
)
from .tensor_operations import (
    OpTensorDescriptor as OpTensorDescriptor,
    op_tensor as op_tensor,
    ReduceResult as ReduceResult,
    ReduceTensorDescriptor as ReduceTensorDescriptor,
    reduce_tensor as reduce_tensor,
    add_tensor as add_tensor,
    scale_tensor as scale_tensor,
    set_tensor as set_tensor,
    transform_tensor as transform_tensor,
)
from .tensor import FilterDescriptor as FilterDescriptor
from .fused_operations import (
    ConvolutionStatisticsResult as ConvolutionStatisticsResult,
    scale_bias_activation_backward_filter as scale_bias_activation_backward_filter,
    scale_bias_activation_convolution as scale_bias_activation_convolution,
    FinalizedStatisticsResult as FinalizedStatisticsResult,
    ScaleBiasResult as ScaleBiasResult,
    finalize_statistics_inference as finalize_statistics_inference,
    finalize_statistics_training as finalize_statistics_training,
)
from .fused_packs import (
    FusedOpsConstParamPack as FusedOpsConstParamPack,
    FusedOpsVariantParamPack as FusedOpsVariantParamPack,
    FusedOpsPlan as FusedOpsPlan,
)
from .gnn import (
    GnnAggSimpleGradients as GnnAggSimpleGradients,
    GnnAggSimpleResult as GnnAggSimpleResult,
    gnn_agg_simple_backward as gnn_agg_simple_backward,
    gnn_agg_simple_forward as gnn_agg_simple_forward,
    GnnMhaGatResult as GnnMhaGatResult,
    gnn_mha_gat_forward as gnn_mha_gat_forward,
    gnn_mha_gat_v2_forward as gnn_mha_gat_v2_forward,
    GnnMhaGatGradients as GnnMhaGatGradients,
    gnn_mha_gat_backward as gnn_mha_gat_backward,
    gnn_mha_gat_v2_backward as gnn_mha_gat_v2_backward,
    GnnMhaParams as GnnMhaParams,
)
from .gnn_csc_graph import GnnCscGraph as GnnCscGraph
from .normalization_operands import (
    derive_bn_tensor_descriptor as derive_bn_tensor_descriptor,
    derive_norm_tensor_descriptor as derive_norm_tensor_descriptor,
    NormalizationGradients as NormalizationGradients,
    NormalizationResult as NormalizationResult,
    NormalizationSizes as NormalizationSizes,
)
from .pooling import (
    PoolingDescriptor as PoolingDescriptor,
    pooling_backward as pooling_backward,
    pooling_forward as pooling_forward,
)
from .rnn import (
    RNN as RNN,
    RNNForwardResult as RNNForwardResult,
    RNNGradients as RNNGradients,
    RNNLayerWeights as RNNLayerWeights,
    RNNWeights as RNNWeights,
    rnn_weight_params as rnn_weight_params,
)
from .rnn_descriptor import (
    RNNDataDescriptor as RNNDataDescriptor,
    RNNDescriptor as RNNDescriptor,
    RNNTempSpaceSizes as RNNTempSpaceSizes,
)
from .softmax import softmax_backward as softmax_backward, softmax_forward as softmax_forward
from .spatial_transformer import (
    SpatialTransformerDescriptor as SpatialTransformerDescriptor,
    SpatialTfSamplerGradients as SpatialTfSamplerGradients,
    spatial_tf_grid_generator_backward as spatial_tf_grid_generator_backward,
    spatial_tf_grid_generator_forward as spatial_tf_grid_generator_forward,
    spatial_tf_sampler_backward as spatial_tf_sampler_backward,
    spatial_tf_sampler_forward as spatial_tf_sampler_forward,
)
from .tensor import TensorDescriptor as TensorDescriptor
from .transform import (
    TensorTransformDescriptor as TensorTransformDescriptor,
    transform_filter as transform_filter,
    transform_tensor_ex as transform_tensor_ex,
)
