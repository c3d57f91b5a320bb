"""All of cuDNN 9's C API from Python.

``cudnn_ctypes.raw`` is the C API one to one; the classes named here stand on it. Importing this
package loads neither libcudnn nor CUDA: each name is loaded on first use.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import raw, reference
    from .device import DeviceBuffer, DeviceTensor, as_tensor
    from .dtypes import as_data_type
    from .errors import (
        BadParamError,
        ClosedError,
        CudnnError,
        ExecutionFailedError,
        InternalError,
        LibraryNotFoundError,
        NoDeviceError,
        NotInitializedError,
        NotSupportedError,
        SymbolNotFoundError,
    )
    from .handle import Handle
    from .legacy import (
        ActivationDescriptor,
        AlgorithmRow,
        AlgorithmTable,
        AttentionBufferSizes,
        AttentionForward,
        AttentionGradients,
        AttentionWeights,
        AttnDescriptor,
        ConvolutionBackwardData,
        ConvolutionBackwardFilter,
        ConvolutionDescriptor,
        ConvolutionForward,
        CTCLoss,
        CTCLossDescriptor,
        DropoutDescriptor,
        DropoutForward,
        FilterDescriptor,
        FoldedBackwardData,
        SeqDataDescriptor,
        TensorDescriptor,
        TensorTransformDescriptor,
        attention_backward_data,
        attention_backward_weights,
        attention_buffer_sizes,
        attention_forward,
        attention_forward_training,
        convolution_backward_bias,
        convolution_backward_data,
        convolution_backward_filter,
        convolution_bias_activation_forward,
        convolution_forward,
        ctc_loss,
        ctc_loss_v8,
        ctc_loss_v8_workspace_size,
        ctc_loss_workspace_size,
        dropout_backward,
        dropout_forward,
        dropout_reserve_size,
        dropout_states_size,
        folded_backward_data,
        im2col,
        reorder_filter_and_bias,
    )
    from .reference.dispatch import use_reference_device

__version__ = "0.1.0"

_HOMES = {
    "raw": "raw",
    "reference": "reference",
    "DeviceBuffer": "device",
    "DeviceTensor": "device",
    "as_tensor": "device",
    "as_data_type": "dtypes",
    "BadParamError": "errors",
    "ClosedError": "errors",
    "CudnnError": "errors",
    "ExecutionFailedError": "errors",
    "InternalError": "errors",
    "LibraryNotFoundError": "errors",
    "NoDeviceError": "errors",
    "NotInitializedError": "errors",
    "NotSupportedError": "errors",
    "SymbolNotFoundError": "errors",
    "Handle": "handle",
    "ActivationDescriptor": "legacy",
    "AlgorithmRow": "legacy",
    "AlgorithmTable": "legacy",
    "AttentionBufferSizes": "legacy",
    "AttentionForward": "legacy",
    "AttentionGradients": "legacy",
    "AttentionWeights": "legacy",
    "AttnDescriptor": "legacy",
    "CTCLoss": "legacy",
    "CTCLossDescriptor": "legacy",
    "ConvolutionBackwardData": "legacy",
    "ConvolutionBackwardFilter": "legacy",
    "ConvolutionDescriptor": "legacy",
    "ConvolutionForward": "legacy",
    "DropoutDescriptor": "legacy",
    "DropoutForward": "legacy",
    "FilterDescriptor": "legacy",
    "FoldedBackwardData": "legacy",
    "SeqDataDescriptor": "legacy",
    "TensorDescriptor": "legacy",
    "TensorTransformDescriptor": "legacy",
    "attention_backward_data": "legacy",
    "attention_backward_weights": "legacy",
    "attention_buffer_sizes": "legacy",
    "attention_forward": "legacy",
    "attention_forward_training": "legacy",
    "convolution_backward_bias": "legacy",
    "convolution_backward_data": "legacy",
    "convolution_backward_filter": "legacy",
    "convolution_bias_activation_forward": "legacy",
    "convolution_forward": "legacy",
    "ctc_loss": "legacy",
    "ctc_loss_v8": "legacy",
    "ctc_loss_v8_workspace_size": "legacy",
    "ctc_loss_workspace_size": "legacy",
    "dropout_backward": "legacy",
    "dropout_forward": "legacy",
    "dropout_reserve_size": "legacy",
    "dropout_states_size": "legacy",
    "folded_backward_data": "legacy",
    "im2col": "legacy",
    "reorder_filter_and_bias": "legacy",
    "use_reference_device": "reference.dispatch",
}

__all__ = [
    "ActivationDescriptor",
    "AlgorithmRow",
    "AlgorithmTable",
    "AttentionBufferSizes",
    "AttentionForward",
    "AttentionGradients",
    "AttentionWeights",
    "AttnDescriptor",
    "BadParamError",
    "CTCLoss",
    "CTCLossDescriptor",
    "ClosedError",
    "ConvolutionBackwardData",
    "ConvolutionBackwardFilter",
    "ConvolutionDescriptor",
    "ConvolutionForward",
    "CudnnError",
    "DeviceBuffer",
    "DeviceTensor",
    "DropoutDescriptor",
    "DropoutForward",
    "ExecutionFailedError",
    "FilterDescriptor",
    "FoldedBackwardData",
    "Handle",
    "InternalError",
    "LibraryNotFoundError",
    "NoDeviceError",
    "NotInitializedError",
    "NotSupportedError",
    "SeqDataDescriptor",
    "SymbolNotFoundError",
    "TensorDescriptor",
    "TensorTransformDescriptor",
    "as_data_type",
    "as_tensor",
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
    "raw",
    "reference",
    "reorder_filter_and_bias",
    "use_reference_device",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f".{home}", __name__)
    value = module if home == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if os.environ.get("CUDNN_CTYPES_DEVICE", "").strip().lower() not in ("", "cuda"):
    __getattr__("use_reference_device")()
