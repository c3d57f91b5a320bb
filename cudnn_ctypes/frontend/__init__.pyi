import cudnn_ctypes.torch_ops.front_end as _front_end

from . import datatypes as datatypes, left_out as left_out, wrapper as wrapper
from .handles import sdpa_capabilities as sdpa_capabilities
from .functions import (
    b2b_causal_conv1d_backward as b2b_causal_conv1d_backward,
    b2b_causal_conv1d_forward as b2b_causal_conv1d_forward,
    causal_conv1d_backward as causal_conv1d_backward,
    causal_conv1d_forward as causal_conv1d_forward,
    causal_conv1d_nwh_backward as causal_conv1d_nwh_backward,
    causal_conv1d_nwh_forward as causal_conv1d_nwh_forward,
    fft_causal_conv1d_backward as fft_causal_conv1d_backward,
    fft_causal_conv1d_forward as fft_causal_conv1d_forward,
    long_fft_causal_conv1d_backward as long_fft_causal_conv1d_backward,
    long_fft_causal_conv1d_forward as long_fft_causal_conv1d_forward,
    long_fft_causal_conv1d_get_buffer_sizes as long_fft_causal_conv1d_get_buffer_sizes,
)
from .wrapper import graph as graph, graph_cache as graph_cache, jit as jit
from .handles import DeviceInfo as DeviceInfo
from .enums import (
    FRONTEND_KNOB_TYPE_BASE as FRONTEND_KNOB_TYPE_BASE,
    NodeType as NodeType,
    attention_implementation as attention_implementation,
    behavior_note as behavior_note,
    build_plan_policy as build_plan_policy,
    convolution_mode as convolution_mode,
    cuda_graph_retention as cuda_graph_retention,
    data_type as data_type,
    diagonal_alignment as diagonal_alignment,
    gnn_activation_op as gnn_activation_op,
    gnn_agg_op as gnn_agg_op,
    heur_mode as heur_mode,
    is_frontend_knob_type as is_frontend_knob_type,
    knob_type as knob_type,
    moe_grouped_matmul_mode as moe_grouped_matmul_mode,
    norm_forward_phase as norm_forward_phase,
    numerical_note as numerical_note,
    reduction_mode as reduction_mode,
    reshape_mode as reshape_mode,
    scalar_type as scalar_type,
    tensor_reordering as tensor_reordering,
)
from .errors import (
    InvalidGraphError as InvalidGraphError,
    cudnnGraphNotSupportedError as cudnnGraphNotSupportedError,
)
from .functions import (
    gnn_mha_gat_backward as gnn_mha_gat_backward,
    gnn_mha_gat_forward as gnn_mha_gat_forward,
    gnn_mha_gat_v2_backward as gnn_mha_gat_v2_backward,
    gnn_mha_gat_v2_forward as gnn_mha_gat_v2_forward,
)
from .functions import (
    gnn_agg_simple_backward as gnn_agg_simple_backward,
    gnn_agg_simple_forward as gnn_agg_simple_forward,
)
from .handles import (
    Handle as Handle,
    Handle as handle,
    backend_version as backend_version,
    backend_version_string as backend_version_string,
    create_handle as create_handle,
    destroy_handle as destroy_handle,
    get_last_error_string as get_last_error_string,
    get_stream as get_stream,
    set_stream as set_stream,
)
from .plans import knob as knob
from .tensors import GraphContext as GraphContext, Node as Node
from .handles import (
    create_device_properties as create_device_properties,
    create_kernel_cache as create_kernel_cache,
    device_properties as device_properties,
    kernel_cache as kernel_cache,
)
from .python_graph import pygraph as pygraph
from .tensors import tensor as Tensor, tensor as tensor
from .wrapper import Graph as Graph

__version__: str

# Not imported from here, so that they are no part of __all__: they import PyTorch.
mask_to_kv_lengths = _front_end.mask_to_kv_lengths
prefix_mask_to_kv_lengths = _front_end.prefix_mask_to_kv_lengths
sdpa_torch = _front_end.sdpa_torch
triangle_attention = _front_end.triangle_attention
triangle_multiplicative_update = _front_end.triangle_multiplicative_update
