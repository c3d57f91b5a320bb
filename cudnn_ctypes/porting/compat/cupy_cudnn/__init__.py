"""The names of ``cupy.cudnn`` (also ``cupyx.cudnn``) and of ``cupy_backends.cuda.libs.cudnn``.

CuPy 14 has dropped both. A program for them runs with the import line changed::

    from cudnn_ctypes.compat import cupy_cudnn as cudnn  # was: from cupy import cudnn
    from cudnn_ctypes.compat import cupy_cudnn as libcudnn  # was: from cupy.cuda import cudnn

    y = cudnn.activation_forward(x, libcudnn.CUDNN_ACTIVATION_RELU)

The arrays are CuPy's, and work goes to CuPy's current stream. On the reference device NumPy arrays
stand in for them, and `DeviceTensor`s on both; reserve spaces are then `DeviceTensor`s. NumPy
arrays are copied to the device for each call, so fused operations, which keep addresses, take
`DeviceTensor`s.

Two things differ: halves may use tensor cores on every GPU since Volta where CuPy asked for Volta
itself, and a failed call tells why.
"""

from __future__ import annotations

import importlib
from typing import Any

from .... import raw
from ....raw.ctypes_support import CudnnEnum
from ....raw.gone import find
from .. import warn_once
from ..v7 import old_status_number
from .low_level import FUNCTIONS

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

_MODULES = ("low_level", "descriptors", "convolutions", "layers", "rnn")

available = True
"""Always True, as in ``cupy.cuda.cudnn``; the library is loaded by the first call."""

__all__ = sorted({*MODERN, *FUNCTIONS, "available"})


def __getattr__(name: str) -> Any:
    if name in MODERN:
        value, modern = _high_level(name), f"with cudnn_ctypes: {MODERN[name]}"
    elif name in FUNCTIONS:
        value, modern = FUNCTIONS[name], f"now: {FUNCTIONS[name].modern}"
    elif name.startswith("CUDNN_"):
        value, modern = _constant(name), f"now: {find(name) or f'cudnn_ctypes.raw.{name}'}"
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn_once(f"cupy_cudnn.{name}", f"cupy_cudnn.{name} is of CuPy before 14; {modern}")
    globals()[name] = value
    return value


def _high_level(name: str) -> Any:
    for each in _MODULES:
        module = importlib.import_module(f".{each}", __name__)
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(name)


def _constant(name: str) -> Any:
    """The number of an enumerator or macro in cuDNN 8."""
    if find(name):
        from ..v7.declarations import old_enumerator

        found: Any = old_enumerator(name)
        if found is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}: {find(name)}")
    else:
        found = getattr(raw, name)
    if isinstance(found, raw.cudnnStatus_t):
        return old_status_number(found)
    return int(found) if isinstance(found, CudnnEnum) else found


def __dir__() -> list[str]:
    return __all__
