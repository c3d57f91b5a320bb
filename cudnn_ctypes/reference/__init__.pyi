from .activation import (
    activate as activate,
    activation_backward as activation_backward,
    activation_forward as activation_forward,
)
from .attention import (
    attention_backward_data as attention_backward_data,
    attention_backward_weights as attention_backward_weights,
    attention_forward as attention_forward,
    visible_keys as visible_keys,
    weight_shapes as weight_shapes,
)
from .batch_normalization import (
    batch_normalization_backward as batch_normalization_backward,
    batch_normalization_forward_inference as batch_normalization_forward_inference,
    batch_normalization_forward_training as batch_normalization_forward_training,
    batch_normalization_parameter_shape as batch_normalization_parameter_shape,
)
from .causal_convolution import (
    back_to_back_convolution_backward as back_to_back_convolution_backward,
    back_to_back_convolution_forward as back_to_back_convolution_forward,
    causal_convolution_backward as causal_convolution_backward,
    causal_convolution_forward as causal_convolution_forward,
    fft_causal_convolution_backward as fft_causal_convolution_backward,
    fft_causal_convolution_forward as fft_causal_convolution_forward,
)
from .geometry import im2col as im2col
from .convolution import (
    convolution_backward_bias as convolution_backward_bias,
    convolution_backward_data as convolution_backward_data,
    convolution_backward_filter as convolution_backward_filter,
    convolution_bias_activation_forward as convolution_bias_activation_forward,
    convolution_forward as convolution_forward,
)
from .ctc import best_path as best_path, collapse as collapse, ctc_loss as ctc_loss
from .dropout import (
    draw_mask as draw_mask,
    dropout_backward as dropout_backward,
    dropout_forward as dropout_forward,
)
from .transform import (
    FoldedBackwardData as FoldedBackwardData,
    folded_backward_data as folded_backward_data,
)
from .geometry import output_shape as output_shape
from .gnn import (
    GnnCscGraph as GnnCscGraph,
    GnnMhaParams as GnnMhaParams,
    gnn_agg_simple_backward as gnn_agg_simple_backward,
    gnn_agg_simple_forward as gnn_agg_simple_forward,
    gnn_mha_gat_backward as gnn_mha_gat_backward,
    gnn_mha_gat_forward as gnn_mha_gat_forward,
    gnn_mha_gat_v2_backward as gnn_mha_gat_v2_backward,
    gnn_mha_gat_v2_forward as gnn_mha_gat_v2_forward,
)
from .lrn import (
    divisive_normalization_backward as divisive_normalization_backward,
    divisive_normalization_forward as divisive_normalization_forward,
    lrn_cross_channel_backward as lrn_cross_channel_backward,
    lrn_cross_channel_forward as lrn_cross_channel_forward,
)
from .pooling import (
    pooling_backward as pooling_backward,
    pooling_forward as pooling_forward,
    pooling_output_shape as pooling_output_shape,
)
from .reorder import (
    reorder_bias as reorder_bias,
    reorder_filter as reorder_filter,
    restore_bias as restore_bias,
    restore_filter as restore_filter,
)
from .rnn import (
    rnn_backward_data as rnn_backward_data,
    rnn_backward_weights as rnn_backward_weights,
    rnn_forward as rnn_forward,
)
from .rnn_cells import Clip as Clip
from .rnn_network import RecurrentNetwork as RecurrentNetwork, RecurrentWeights as RecurrentWeights
from .softmax import softmax_backward as softmax_backward, softmax_forward as softmax_forward
from .spatial_transformer import (
    spatial_tf_grid_generator_backward as spatial_tf_grid_generator_backward,
    spatial_tf_grid_generator_forward as spatial_tf_grid_generator_forward,
    spatial_tf_sampler_backward as spatial_tf_sampler_backward,
    spatial_tf_sampler_forward as spatial_tf_sampler_forward,
)
from .tensor_operations import (
    add_tensor as add_tensor,
    op_tensor as op_tensor,
    reduce_indices as reduce_indices,
    reduce_tensor as reduce_tensor,
    scale_tensor as scale_tensor,
    set_tensor as set_tensor,
)
from .transform import (
    TensorTransform as TensorTransform,
    transform_tensor as transform_tensor,
    transformed_shape as transformed_shape,
)
