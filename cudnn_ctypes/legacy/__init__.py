"""Layer 2: cuDNN's legacy API as objects.

Descriptors own their C object, print and compare what the library holds, and can be passed to any
function of ``cudnn_ctypes.raw``. Operations take a ``Handle`` first, then tensors.
"""

from __future__ import annotations

from .activation import ActivationDescriptor
from .algorithm_table import AlgorithmRow, AlgorithmTable
from .attention import (
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
from .ctc import (
    CTCLoss,
    ctc_loss,
    ctc_loss_v8,
    ctc_loss_v8_workspace_size,
    ctc_loss_workspace_size,
)
from .ctc_descriptor import CTCLossDescriptor
from .dropout import (
    DropoutDescriptor,
    DropoutForward,
    dropout_backward,
    dropout_forward,
    dropout_reserve_size,
    dropout_states_size,
)
from .filter import FilterDescriptor
from .rnn import RNN, RNNBackwardData, RNNForward
from .rnn_data import RNNDataDescriptor
from .rnn_descriptor import RNNDescriptor, RNNTempSpaceSizes
from .rnn_weights import RNNLayerWeights, RNNWeights, rnn_weight_params
from .sequence_data import SeqDataDescriptor
from .tensor import TensorDescriptor
from .tensor_transform import TensorTransformDescriptor

__all__ = [
    "RNN",
    "ActivationDescriptor",
    "AlgorithmRow",
    "AlgorithmTable",
    "AttentionBufferSizes",
    "AttentionForward",
    "AttentionGradients",
    "AttentionWeights",
    "AttnDescriptor",
    "CTCLoss",
    "CTCLossDescriptor",
    "ConvolutionBackwardData",
    "ConvolutionBackwardFilter",
    "ConvolutionDescriptor",
    "ConvolutionForward",
    "DropoutDescriptor",
    "DropoutForward",
    "FilterDescriptor",
    "FoldedBackwardData",
    "RNNBackwardData",
    "RNNDataDescriptor",
    "RNNDescriptor",
    "RNNForward",
    "RNNLayerWeights",
    "RNNTempSpaceSizes",
    "RNNWeights",
    "SeqDataDescriptor",
    "TensorDescriptor",
    "TensorTransformDescriptor",
    "attention_backward_data",
    "attention_backward_weights",
    "attention_buffer_sizes",
    "attention_forward",
    "attention_forward_training",
    "convolution_backward_bias",
    "convolution_backward_data",
    "convolution_backward_filter",
    "convolution_bias_activation_forward",
    "convolution_forward",
    "ctc_loss",
    "ctc_loss_v8",
    "ctc_loss_v8_workspace_size",
    "ctc_loss_workspace_size",
    "dropout_backward",
    "dropout_forward",
    "dropout_reserve_size",
    "dropout_states_size",
    "folded_backward_data",
    "im2col",
    "reorder_filter_and_bias",
    "rnn_weight_params",
]
