"""The names of NVIDIA's Python front end, version 1.23, over `cudnn_ctypes.graph`.

A program written for it runs after changing its import line::

    import cudnn_ctypes.frontend as cudnn

Names, arguments, defaults and return values are those of that front end; everything that is done,
is done by this package. Beyond it, variant packs take names too, graphs close and work with
``with``, and exceptions carry cuDNN's reasons. Not here are the kernels that it brings itself
(``cudnn.ops``, its CuTe kernels, ``heur_mode.OPENSOURCE``).
"""

from __future__ import annotations

import sys

from . import datatypes
from .enums import (
    attention_implementation,
    behavior_note,
    build_plan_policy,
    convolution_mode,
    data_type,
    diagonal_alignment,
    heur_mode,
    knob_type,
    moe_grouped_matmul_mode,
    norm_forward_phase,
    numerical_note,
    reduction_mode,
    reshape_mode,
    scalar_type,
    tensor_reordering,
)
from .errors import InvalidGraphError, cudnnGraphNotSupportedError
from .handles import (
    backend_version,
    backend_version_string,
    create_handle,
    destroy_handle,
    get_last_error_string,
    get_stream,
    set_stream,
)
from .jit import graph, graph_cache, jit
from .knobs import knob
from .properties import (
    create_device_properties,
    create_kernel_cache,
    device_properties,
    kernel_cache,
)
from .pygraph import pygraph
from .tensors import tensor
from .wrapper import Graph

__version__ = "1.23.0"
"""The front end whose names these are."""

# Programs reach through its compiled part for what it does not export, as ``convolution_mode``.
_compiled_module = _pybind_module = sys.modules[__name__]

__all__ = [
    "Graph",
    "InvalidGraphError",
    "attention_implementation",
    "backend_version",
    "backend_version_string",
    "behavior_note",
    "build_plan_policy",
    "convolution_mode",
    "create_device_properties",
    "create_handle",
    "create_kernel_cache",
    "cudnnGraphNotSupportedError",
    "data_type",
    "datatypes",
    "destroy_handle",
    "device_properties",
    "diagonal_alignment",
    "get_last_error_string",
    "get_stream",
    "graph",
    "graph_cache",
    "heur_mode",
    "jit",
    "kernel_cache",
    "knob",
    "knob_type",
    "moe_grouped_matmul_mode",
    "norm_forward_phase",
    "numerical_note",
    "pygraph",
    "reduction_mode",
    "reshape_mode",
    "scalar_type",
    "set_stream",
    "tensor",
    "tensor_reordering",
]
