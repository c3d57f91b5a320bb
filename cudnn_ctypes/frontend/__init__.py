"""The names of NVIDIA's Python front end, version 1.32, over `cudnn_ctypes.graph`.

A program written for it runs after changing its import line::

    import cudnn_ctypes.frontend as cudnn

Names, arguments, defaults and return values are those of that front end, and those of 1.23 where
they differ and both can be told apart; everything that is done, is done by this package. Beyond it,
variant packs take names too, graphs close and work with ``with``, ``pygraph.explain``, ``autotune``
and ``to_json`` lead to layer 3, and exceptions carry cuDNN's reasons. Not here are the kernels that
it brings itself (``cudnn.ops``, CuTe kernels, engines in Python): ``left_out.LEFT_OUT`` has all
names, with the reasons. Each name is loaded on first use.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

__version__ = "1.32.0"
"""The front end whose names these are."""

# Programs reach through its compiled part for what it does not export, as ``convolution_mode``.
_compiled_module = _pybind_module = sys.modules[__name__]

_MODULES = ("datatypes", "left_out", "wrapper")

_NAMES = {
    "capabilities": "sdpa_capabilities",
    "causal_functions": """
        b2b_causal_conv1d_backward b2b_causal_conv1d_forward causal_conv1d_backward
        causal_conv1d_forward causal_conv1d_nwh_backward causal_conv1d_nwh_forward
        fft_causal_conv1d_backward fft_causal_conv1d_forward long_fft_causal_conv1d_backward
        long_fft_causal_conv1d_forward long_fft_causal_conv1d_get_buffer_sizes
    """,
    # No module has the name of something else: loading it would put it in that one's place.
    "device_info": "DeviceInfo",
    "enums": """
        FRONTEND_KNOB_TYPE_BASE NodeType attention_implementation behavior_note build_plan_policy
        convolution_mode cuda_graph_retention data_type diagonal_alignment gnn_activation_op
        gnn_agg_op heur_mode is_frontend_knob_type knob_type moe_grouped_matmul_mode
        norm_forward_phase numerical_note reduction_mode reshape_mode scalar_type
        tensor_reordering
    """,
    "errors": "InvalidGraphError cudnnGraphNotSupportedError",
    "gnn_attention_functions": """
        gnn_mha_gat_backward gnn_mha_gat_forward gnn_mha_gat_v2_backward gnn_mha_gat_v2_forward
    """,
    "gnn_functions": "gnn_agg_simple_backward gnn_agg_simple_forward",
    "handles": """
        Handle backend_version backend_version_string create_handle destroy_handle
        get_last_error_string get_stream set_stream
    """,
    "decorators": "graph graph_cache jit",
    "knobs": "knob",
    "nodes": "GraphContext Node",
    "properties": "create_device_properties create_kernel_cache device_properties kernel_cache",
    "python_graph": "pygraph",
    "tensors": "tensor",
    "wrapper": "Graph",
}
"""What can be imported from here, by the module that it comes from."""

_ALIASES = {"Tensor": "tensor", "handle": "Handle"}
"""Other names of the same."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

if TYPE_CHECKING:  # the same for type checkers, which cannot read the table; a test compares them
    from . import datatypes as datatypes
    from . import left_out as left_out
    from . import wrapper as wrapper
    from .capabilities import sdpa_capabilities as sdpa_capabilities
    from .causal_functions import (
        b2b_causal_conv1d_backward as b2b_causal_conv1d_backward,
    )
    from .causal_functions import (
        b2b_causal_conv1d_forward as b2b_causal_conv1d_forward,
    )
    from .causal_functions import (
        causal_conv1d_backward as causal_conv1d_backward,
    )
    from .causal_functions import (
        causal_conv1d_forward as causal_conv1d_forward,
    )
    from .causal_functions import (
        causal_conv1d_nwh_backward as causal_conv1d_nwh_backward,
    )
    from .causal_functions import (
        causal_conv1d_nwh_forward as causal_conv1d_nwh_forward,
    )
    from .causal_functions import (
        fft_causal_conv1d_backward as fft_causal_conv1d_backward,
    )
    from .causal_functions import (
        fft_causal_conv1d_forward as fft_causal_conv1d_forward,
    )
    from .causal_functions import (
        long_fft_causal_conv1d_backward as long_fft_causal_conv1d_backward,
    )
    from .causal_functions import (
        long_fft_causal_conv1d_forward as long_fft_causal_conv1d_forward,
    )
    from .causal_functions import (
        long_fft_causal_conv1d_get_buffer_sizes as long_fft_causal_conv1d_get_buffer_sizes,
    )
    from .decorators import graph as graph
    from .decorators import graph_cache as graph_cache
    from .decorators import jit as jit
    from .device_info import DeviceInfo as DeviceInfo
    from .enums import (
        FRONTEND_KNOB_TYPE_BASE as FRONTEND_KNOB_TYPE_BASE,
    )
    from .enums import (
        NodeType as NodeType,
    )
    from .enums import (
        attention_implementation as attention_implementation,
    )
    from .enums import (
        behavior_note as behavior_note,
    )
    from .enums import (
        build_plan_policy as build_plan_policy,
    )
    from .enums import (
        convolution_mode as convolution_mode,
    )
    from .enums import (
        cuda_graph_retention as cuda_graph_retention,
    )
    from .enums import (
        data_type as data_type,
    )
    from .enums import (
        diagonal_alignment as diagonal_alignment,
    )
    from .enums import (
        gnn_activation_op as gnn_activation_op,
    )
    from .enums import (
        gnn_agg_op as gnn_agg_op,
    )
    from .enums import (
        heur_mode as heur_mode,
    )
    from .enums import (
        is_frontend_knob_type as is_frontend_knob_type,
    )
    from .enums import (
        knob_type as knob_type,
    )
    from .enums import (
        moe_grouped_matmul_mode as moe_grouped_matmul_mode,
    )
    from .enums import (
        norm_forward_phase as norm_forward_phase,
    )
    from .enums import (
        numerical_note as numerical_note,
    )
    from .enums import (
        reduction_mode as reduction_mode,
    )
    from .enums import (
        reshape_mode as reshape_mode,
    )
    from .enums import (
        scalar_type as scalar_type,
    )
    from .enums import (
        tensor_reordering as tensor_reordering,
    )
    from .errors import (
        InvalidGraphError as InvalidGraphError,
    )
    from .errors import (
        cudnnGraphNotSupportedError as cudnnGraphNotSupportedError,
    )
    from .gnn_attention_functions import (
        gnn_mha_gat_backward as gnn_mha_gat_backward,
    )
    from .gnn_attention_functions import (
        gnn_mha_gat_forward as gnn_mha_gat_forward,
    )
    from .gnn_attention_functions import (
        gnn_mha_gat_v2_backward as gnn_mha_gat_v2_backward,
    )
    from .gnn_attention_functions import (
        gnn_mha_gat_v2_forward as gnn_mha_gat_v2_forward,
    )
    from .gnn_functions import (
        gnn_agg_simple_backward as gnn_agg_simple_backward,
    )
    from .gnn_functions import (
        gnn_agg_simple_forward as gnn_agg_simple_forward,
    )
    from .handles import (
        Handle as Handle,
    )
    from .handles import (
        backend_version as backend_version,
    )
    from .handles import (
        backend_version_string as backend_version_string,
    )
    from .handles import (
        create_handle as create_handle,
    )
    from .handles import (
        destroy_handle as destroy_handle,
    )
    from .handles import (
        get_last_error_string as get_last_error_string,
    )
    from .handles import (
        get_stream as get_stream,
    )
    from .handles import (
        set_stream as set_stream,
    )
    from .knobs import knob as knob
    from .nodes import GraphContext as GraphContext
    from .nodes import Node as Node
    from .properties import (
        create_device_properties as create_device_properties,
    )
    from .properties import (
        create_kernel_cache as create_kernel_cache,
    )
    from .properties import (
        device_properties as device_properties,
    )
    from .properties import (
        kernel_cache as kernel_cache,
    )
    from .python_graph import pygraph as pygraph
    from .tensors import tensor as tensor
    from .wrapper import Graph as Graph

    Tensor: TypeAlias = tensor
    handle: TypeAlias = Handle
else:
    __all__ = sorted((*_MODULES, *_HOMES, *_ALIASES))

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return importlib.import_module(f".{name}", __name__)
        home = _HOMES.get(_ALIASES.get(name, name))
        if home is None:
            from .left_out import missing

            raise AttributeError(missing(f"module {__name__!r}", name))
        module = importlib.import_module(f".{home}", __name__)
        value = globals()[name] = getattr(module, _ALIASES.get(name, name))
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_HOMES, *_ALIASES})
