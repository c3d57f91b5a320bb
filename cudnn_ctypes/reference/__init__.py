"""What each operation computes, in plain NumPy; and the reference device that carries it out.

Each name is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_NAMES = {
    "activation": (
        "activate",
        "activation_backward",
        "activation_forward",
    ),
    "attention": (
        "attention_forward",
        "visible_keys",
        "weight_shapes",
    ),
    "attention_backward": (
        "attention_backward_data",
        "attention_backward_weights",
    ),
    "batch_normalization": (
        "batch_normalization_backward",
        "batch_normalization_forward_inference",
        "batch_normalization_forward_training",
        "batch_normalization_parameter_shape",
    ),
    "causal_convolution": (
        "back_to_back_convolution_backward",
        "back_to_back_convolution_forward",
        "causal_convolution_backward",
        "causal_convolution_forward",
    ),
    "columns": ("im2col",),
    "convolution": (
        "convolution_backward_bias",
        "convolution_backward_data",
        "convolution_backward_filter",
        "convolution_forward",
    ),
    "convolution_bias_activation": ("convolution_bias_activation_forward",),
    "ctc": (
        "best_path",
        "collapse",
        "ctc_loss",
    ),
    "divisive_normalization": (
        "divisive_normalization_backward",
        "divisive_normalization_forward",
    ),
    "dropout": (
        "draw_mask",
        "dropout_backward",
        "dropout_forward",
    ),
    "fft_causal_convolution": (
        "fft_causal_convolution_backward",
        "fft_causal_convolution_forward",
    ),
    "folding": (
        "FoldedBackwardData",
        "convolution_backward_data_folded",
        "folded_backward_data",
    ),
    "geometry": ("output_shape",),
    "gnn_agg_simple": (
        "GnnCscGraph",
        "gnn_agg_simple_backward",
        "gnn_agg_simple_forward",
    ),
    "gnn_mha_gat": (
        "GnnMhaParams",
        "gnn_mha_gat_backward",
        "gnn_mha_gat_forward",
        "gnn_mha_gat_v2_backward",
        "gnn_mha_gat_v2_forward",
    ),
    "layout": (
        "pack",
        "packed_strides",
        "unpack",
        "view",
    ),
    "lrn": (
        "lrn_cross_channel_backward",
        "lrn_cross_channel_forward",
    ),
    "pooling": (
        "pooling_backward",
        "pooling_forward",
        "pooling_output_shape",
    ),
    "reduce": (
        "reduce_indices",
        "reduce_tensor",
    ),
    "reorder": (
        "reorder_bias",
        "reorder_filter",
        "restore_bias",
        "restore_filter",
    ),
    "rnn": (
        "rnn_backward_data",
        "rnn_backward_weights",
        "rnn_forward",
    ),
    "rnn_cells": ("Clip",),
    "rnn_network": (
        "RecurrentNetwork",
        "RecurrentWeights",
    ),
    "softmax": (
        "softmax_backward",
        "softmax_forward",
    ),
    "spatial_transformer": (
        "spatial_tf_grid_generator_backward",
        "spatial_tf_grid_generator_forward",
        "spatial_tf_sampler_backward",
        "spatial_tf_sampler_forward",
    ),
    "tensor_operations": (
        "add_tensor",
        "op_tensor",
        "scale_tensor",
        "set_tensor",
    ),
    "transform": (
        "TensorTransform",
        "transform_tensor",
        "transformed_shape",
    ),
}
"""What can be imported from here, by the module that it comes from."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names}

if TYPE_CHECKING:  # the same for type checkers, which cannot read the table; a test compares them
    # isort: off
    from .activation import (
        activate as activate,
        activation_backward as activation_backward,
        activation_forward as activation_forward,
    )
    from .attention import (
        attention_forward as attention_forward,
        visible_keys as visible_keys,
        weight_shapes as weight_shapes,
    )
    from .attention_backward import (
        attention_backward_data as attention_backward_data,
        attention_backward_weights as attention_backward_weights,
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
    )
    from .columns import im2col as im2col
    from .convolution import (
        convolution_backward_bias as convolution_backward_bias,
        convolution_backward_data as convolution_backward_data,
        convolution_backward_filter as convolution_backward_filter,
        convolution_forward as convolution_forward,
    )
    from .convolution_bias_activation import (
        convolution_bias_activation_forward as convolution_bias_activation_forward,
    )
    from .ctc import best_path as best_path, collapse as collapse, ctc_loss as ctc_loss
    from .divisive_normalization import (
        divisive_normalization_backward as divisive_normalization_backward,
        divisive_normalization_forward as divisive_normalization_forward,
    )
    from .dropout import (
        draw_mask as draw_mask,
        dropout_backward as dropout_backward,
        dropout_forward as dropout_forward,
    )
    from .fft_causal_convolution import (
        fft_causal_convolution_backward as fft_causal_convolution_backward,
        fft_causal_convolution_forward as fft_causal_convolution_forward,
    )
    from .folding import (
        FoldedBackwardData as FoldedBackwardData,
        convolution_backward_data_folded as convolution_backward_data_folded,
        folded_backward_data as folded_backward_data,
    )
    from .geometry import output_shape as output_shape
    from .gnn_agg_simple import (
        GnnCscGraph as GnnCscGraph,
        gnn_agg_simple_backward as gnn_agg_simple_backward,
        gnn_agg_simple_forward as gnn_agg_simple_forward,
    )
    from .gnn_mha_gat import (
        GnnMhaParams as GnnMhaParams,
        gnn_mha_gat_backward as gnn_mha_gat_backward,
        gnn_mha_gat_forward as gnn_mha_gat_forward,
        gnn_mha_gat_v2_backward as gnn_mha_gat_v2_backward,
        gnn_mha_gat_v2_forward as gnn_mha_gat_v2_forward,
    )
    from .layout import (
        pack as pack,
        packed_strides as packed_strides,
        unpack as unpack,
        view as view,
    )
    from .lrn import (
        lrn_cross_channel_backward as lrn_cross_channel_backward,
        lrn_cross_channel_forward as lrn_cross_channel_forward,
    )
    from .pooling import (
        pooling_backward as pooling_backward,
        pooling_forward as pooling_forward,
        pooling_output_shape as pooling_output_shape,
    )
    from .reduce import reduce_indices as reduce_indices, reduce_tensor as reduce_tensor
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
    from .rnn_network import (
        RecurrentNetwork as RecurrentNetwork,
        RecurrentWeights as RecurrentWeights,
    )
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
        scale_tensor as scale_tensor,
        set_tensor as set_tensor,
    )
    from .transform import (
        TensorTransform as TensorTransform,
        transform_tensor as transform_tensor,
        transformed_shape as transformed_shape,
    )
    # isort: on
else:
    __all__ = sorted(_HOMES)

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
