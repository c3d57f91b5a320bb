"""Operators of PyTorch that run as graphs, with gradients: for autograd and torch.compile.

This package imports PyTorch, and nothing else in cudnn_ctypes imports it.

`attention`, `linear`, `convolution`, norms and others are ready; `custom_op` makes others of
functions that describe graphs, as those that `cudnn_ctypes.graph.graph_function` decorates. Each is
a custom operator of ``torch.library``, which torch.compile and torch.export put into their own
graphs without looking inside: what shapes, strides and types it gives follows from the
description, without a GPU. A plan is built for each form of operands and kept. On the reference
device the operators take tensors in host memory.

``torch.compile(backend="cudnn_ctypes")`` puts the ready ones in place of PyTorch's; `explain` lists
where.

Provisional: names and arguments may change in any release.
"""

from .backend import Region, Regions, explain
from .functions import (
    attention,
    attention_packed,
    batch_norm,
    causal_conv1d,
    conv_batch_norm,
    convolution,
    group_norm,
    layer_norm,
    linear,
    mixture_of_experts,
    rms_norm,
    rope,
    swiglu,
)
from .gradients import custom_op

__all__ = [
    "Region",
    "Regions",
    "attention",
    "attention_packed",
    "batch_norm",
    "causal_conv1d",
    "conv_batch_norm",
    "convolution",
    "custom_op",
    "explain",
    "group_norm",
    "layer_norm",
    "linear",
    "mixture_of_experts",
    "rms_norm",
    "rope",
    "swiglu",
]
