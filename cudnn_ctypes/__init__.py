"""All of cuDNN 9's C API from Python.

``cudnn_ctypes.raw`` is the C API one to one; the classes named here stand on it. Importing this
package loads neither libcudnn nor CUDA: each name is loaded on first use.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

_MODULES = ("cublas", "cudart", "frontend", "graph", "legacy", "raw", "reference")

_NAMES = {
    "device": (
        "DeviceBuffer",
        "DeviceTensor",
        "StreamLike",
        "TensorLike",
        "as_tensor",
    ),
    "device.allocation": ("OutOfDeviceMemoryError",),
    "device.cuda": ("CudaError",),
    "dtypes": ("DataTypeLike", "as_data_type"),
    "errors": (
        "BadParamError",
        "CleanUpWarning",
        "ClosedError",
        "CudnnError",
        "CudnnWarning",
        "DeviceMemoryWarning",
        "ExecutionFailedError",
        "InternalError",
        "LibraryNotFoundError",
        "NoDeviceError",
        "NotInitializedError",
        "NotSupportedError",
        "PlanCacheWarning",
        "SymbolNotFoundError",
        "UnclosedWarning",
    ),
    "graph.backend.descriptor": ("BackendDescriptor",),
    "graph.backend.device_properties": ("DeviceProperties",),
    "graph.backend.engine": (
        "Engine",
        "EngineChoice",
        "EngineConfig",
    ),
    "graph.compilation": ("compile_graphs",),
    "graph.engines.cache": ("PlanCache",),
    "graph.engines.heuristics": ("heuristics",),
    "graph.engines.selection": ("Selection",),
    "graph.graph": ("Graph",),
    "graph.run.cuda_graph": (
        "CapturedGraph",
        "NativeGraph",
        "capture",
    ),
    "graph.run.kernel_cache": ("KernelCache",),
    "graph.run.plan": (
        "BoundPlan",
        "ExecutionPlan",
    ),
    "graph.tracing": ("graph_function",),
    "handle": ("Handle",),
    "information": (
        "LibraryVersions",
        "check_sublibraries",
        "error_string",
        "last_error_string",
        "library_versions",
        "query_runtime_error",
    ),
    "introspect.call_records": ("CallRecord",),
    "introspect.describe": (
        "Description",
        "describe",
    ),
    "introspect.tracing": (
        "Trace",
        "read_trace",
        "trace",
    ),
    "legacy": (
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
        "NormalizationResult",
        "NormalizationGradients",
        "NormalizationSizes",
        "OpTensorDescriptor",
        "PoolingDescriptor",
        "RNN",
        "RNNDataDescriptor",
        "RNNDescriptor",
        "RNNForwardResult",
        "RNNGradients",
        "RNNLayerWeights",
        "RNNTempSpaceSizes",
        "RNNWeights",
        "ReduceTensorDescriptor",
        "ReduceResult",
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
    ),
    "messages": (
        "LoggedArgument",
        "Message",
        "log_messages",
    ),
    "reference.device.dispatch": ("use_reference_device",),
}
"""What can be imported from here, by the module that it comes from."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names}

if TYPE_CHECKING:  # the same for type checkers, which cannot read the table; a test compares them
    # isort: off
    from . import cublas as cublas
    from . import cudart as cudart
    from . import frontend as frontend
    from . import graph as graph
    from . import legacy as legacy
    from . import raw as raw
    from . import reference as reference
    from .device import (
        DeviceBuffer as DeviceBuffer,
        DeviceTensor as DeviceTensor,
        StreamLike as StreamLike,
        TensorLike as TensorLike,
        as_tensor as as_tensor,
    )
    from .device.allocation import (
        OutOfDeviceMemoryError as OutOfDeviceMemoryError,
    )
    from .device.cuda import (
        CudaError as CudaError,
    )
    from .dtypes import (
        DataTypeLike as DataTypeLike,
        as_data_type as as_data_type,
    )
    from .errors import (
        BadParamError as BadParamError,
        CleanUpWarning as CleanUpWarning,
        ClosedError as ClosedError,
        CudnnError as CudnnError,
        CudnnWarning as CudnnWarning,
        DeviceMemoryWarning as DeviceMemoryWarning,
        ExecutionFailedError as ExecutionFailedError,
        InternalError as InternalError,
        LibraryNotFoundError as LibraryNotFoundError,
        NoDeviceError as NoDeviceError,
        NotInitializedError as NotInitializedError,
        NotSupportedError as NotSupportedError,
        PlanCacheWarning as PlanCacheWarning,
        SymbolNotFoundError as SymbolNotFoundError,
        UnclosedWarning as UnclosedWarning,
    )
    from .graph.backend.descriptor import BackendDescriptor as BackendDescriptor
    from .graph.backend.device_properties import DeviceProperties as DeviceProperties
    from .graph.backend.engine import (
        Engine as Engine,
        EngineChoice as EngineChoice,
        EngineConfig as EngineConfig,
    )
    from .graph.compilation import compile_graphs as compile_graphs
    from .graph.engines.cache import PlanCache as PlanCache
    from .graph.engines.heuristics import heuristics as heuristics
    from .graph.engines.selection import Selection as Selection
    from .graph.graph import Graph as Graph
    from .graph.run.cuda_graph import (
        CapturedGraph as CapturedGraph,
        NativeGraph as NativeGraph,
        capture as capture,
    )
    from .graph.run.kernel_cache import KernelCache as KernelCache
    from .graph.run.plan import BoundPlan as BoundPlan, ExecutionPlan as ExecutionPlan
    from .graph.tracing import graph_function as graph_function
    from .handle import Handle as Handle
    from .information import (
        LibraryVersions as LibraryVersions,
        check_sublibraries as check_sublibraries,
        error_string as error_string,
        last_error_string as last_error_string,
        library_versions as library_versions,
        query_runtime_error as query_runtime_error,
    )
    from .introspect.call_records import CallRecord as CallRecord
    from .introspect.describe import Description as Description, describe as describe
    from .introspect.tracing import Trace as Trace, read_trace as read_trace, trace as trace
    from .legacy import *  # noqa: F403
    from .messages import (
        LoggedArgument as LoggedArgument,
        Message as Message,
        log_messages as log_messages,
    )
    from .reference.device.dispatch import use_reference_device as use_reference_device
    # isort: on
else:
    __all__ = sorted((*_MODULES, *_HOMES))

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return importlib.import_module(f".{name}", __name__)
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_HOMES})


if os.environ.get("CUDNN_CTYPES_DEVICE", "").strip().lower() not in ("", "cuda"):
    importlib.import_module(".reference.device.dispatch", __name__).use_requested_device()

if os.environ.get("CUDNN_CTYPES_TRACE", "").strip() not in ("", "0"):
    importlib.import_module(".introspect.environment", __name__).start(
        os.environ["CUDNN_CTYPES_TRACE"].strip()
    )
