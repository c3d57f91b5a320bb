"""What each operation computes, in plain NumPy; and the reference device that carries it out."""

from __future__ import annotations

from .activation import activate, activation_backward, activation_forward
from .attention import attention_forward, visible_keys, weight_shapes
from .attention_backward import attention_backward_data, attention_backward_weights
from .batch_normalization import (
    batch_normalization_backward,
    batch_normalization_forward_inference,
    batch_normalization_forward_training,
    batch_normalization_parameter_shape,
)
from .causal_convolution import (
    back_to_back_backward,
    back_to_back_forward,
    causal_convolution_backward,
    causal_convolution_forward,
)
from .columns import im2col
from .convolution import (
    convolution_backward_bias,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
)
from .convolution_bias_activation import convolution_bias_activation_forward
from .ctc import best_path, collapse, ctc_loss
from .divisive_normalization import (
    divisive_normalization_backward,
    divisive_normalization_forward,
)
from .dropout import draw_mask, dropout_backward, dropout_forward
from .fft_causal_convolution import fft_causal_convolution_backward, fft_causal_convolution_forward
from .folding import (
    FoldedBackwardData,
    convolution_backward_data_folded,
    folded_backward_data,
)
from .geometry import output_shape
from .graph_aggregation import Graph, aggregate_backward, aggregate_forward
from .graph_attention import (
    AttentionOptions,
    gat_backward,
    gat_forward,
    gat_v2_backward,
    gat_v2_forward,
)
from .layout import pack, packed_strides, unpack, view
from .lrn import lrn_cross_channel_backward, lrn_cross_channel_forward
from .pooling import pooling_backward, pooling_forward, pooling_output_shape
from .reduce import reduce_indices, reduce_tensor
from .reorder import reorder_bias, reorder_filter, restore_bias, restore_filter
from .rnn import rnn_backward_data, rnn_backward_weights, rnn_forward
from .rnn_cells import Clip
from .rnn_network import RecurrentNetwork, RecurrentWeights
from .softmax import softmax_backward, softmax_forward
from .spatial_transformer import (
    spatial_tf_grid_generator_backward,
    spatial_tf_grid_generator_forward,
    spatial_tf_sampler_backward,
    spatial_tf_sampler_forward,
)
from .tensor_operations import add_tensor, op_tensor, scale_tensor, set_tensor
from .transform import TensorTransform, transform_tensor, transformed_shape

__all__ = [
    "AttentionOptions",
    "Clip",
    "FoldedBackwardData",
    "Graph",
    "RecurrentNetwork",
    "RecurrentWeights",
    "TensorTransform",
    "activate",
    "activation_backward",
    "activation_forward",
    "add_tensor",
    "aggregate_backward",
    "aggregate_forward",
    "attention_backward_data",
    "attention_backward_weights",
    "attention_forward",
    "back_to_back_backward",
    "back_to_back_forward",
    "batch_normalization_backward",
    "batch_normalization_forward_inference",
    "batch_normalization_forward_training",
    "batch_normalization_parameter_shape",
    "best_path",
    "causal_convolution_backward",
    "causal_convolution_forward",
    "collapse",
    "convolution_backward_bias",
    "convolution_backward_data",
    "convolution_backward_data_folded",
    "convolution_backward_filter",
    "convolution_bias_activation_forward",
    "convolution_forward",
    "ctc_loss",
    "divisive_normalization_backward",
    "divisive_normalization_forward",
    "draw_mask",
    "dropout_backward",
    "dropout_forward",
    "fft_causal_convolution_backward",
    "fft_causal_convolution_forward",
    "folded_backward_data",
    "gat_backward",
    "gat_forward",
    "gat_v2_backward",
    "gat_v2_forward",
    "im2col",
    "lrn_cross_channel_backward",
    "lrn_cross_channel_forward",
    "op_tensor",
    "output_shape",
    "pack",
    "packed_strides",
    "pooling_backward",
    "pooling_forward",
    "pooling_output_shape",
    "reduce_indices",
    "reduce_tensor",
    "reorder_bias",
    "reorder_filter",
    "restore_bias",
    "restore_filter",
    "rnn_backward_data",
    "rnn_backward_weights",
    "rnn_forward",
    "scale_tensor",
    "set_tensor",
    "softmax_backward",
    "softmax_forward",
    "spatial_tf_grid_generator_backward",
    "spatial_tf_grid_generator_forward",
    "spatial_tf_sampler_backward",
    "spatial_tf_sampler_forward",
    "transform_tensor",
    "transformed_shape",
    "unpack",
    "view",
    "visible_keys",
    "weight_shapes",
]
