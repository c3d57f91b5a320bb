"""What each operation computes, in plain NumPy; and the reference device that carries it out."""

from __future__ import annotations

from .activation import activate
from .columns import im2col
from .convolution import (
    convolution_backward_bias,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
)
from .convolution_bias_activation import convolution_bias_activation_forward
from .folding import (
    FoldedBackwardData,
    TensorTransform,
    convolution_backward_data_folded,
    folded_backward_data,
    transform_tensor,
)
from .geometry import output_shape
from .layout import pack, packed_strides, unpack, view
from .reorder import reorder_bias, reorder_filter, restore_bias, restore_filter

__all__ = [
    "FoldedBackwardData",
    "TensorTransform",
    "activate",
    "convolution_backward_bias",
    "convolution_backward_data",
    "convolution_backward_data_folded",
    "convolution_backward_filter",
    "convolution_bias_activation_forward",
    "convolution_forward",
    "folded_backward_data",
    "im2col",
    "output_shape",
    "pack",
    "packed_strides",
    "reorder_bias",
    "reorder_filter",
    "restore_bias",
    "restore_filter",
    "transform_tensor",
    "unpack",
    "view",
]
