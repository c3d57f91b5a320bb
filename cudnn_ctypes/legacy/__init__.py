"""Layer 2: cuDNN's legacy API as objects.

Descriptors own their C object, print and compare what the library holds, and can be passed to any
function of ``cudnn_ctypes.raw``. Operations take a ``Handle`` first, then tensors.
"""

from __future__ import annotations

from .activation import ActivationDescriptor
from .algorithm_table import AlgorithmRow, AlgorithmTable
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
from .convolution_reorder import reorder_filter_and_bias
from .filter import FilterDescriptor
from .tensor import TensorDescriptor
from .tensor_transform import TensorTransformDescriptor

__all__ = [
    "ActivationDescriptor",
    "AlgorithmRow",
    "AlgorithmTable",
    "ConvolutionBackwardData",
    "ConvolutionBackwardFilter",
    "ConvolutionDescriptor",
    "ConvolutionForward",
    "FilterDescriptor",
    "FoldedBackwardData",
    "TensorDescriptor",
    "TensorTransformDescriptor",
    "convolution_backward_bias",
    "convolution_backward_data",
    "convolution_backward_filter",
    "convolution_bias_activation_forward",
    "convolution_forward",
    "folded_backward_data",
    "im2col",
    "reorder_filter_and_bias",
]
