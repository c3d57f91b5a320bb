"""Where the tests of operators run, by which back end of torch.compile, and two operators."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from cudnn_ctypes.graph import Tensor

GPU = pytest.mark.gpu
PLACES = ["cpu", pytest.param("cuda", marks=GPU)]
BACKENDS = {"cpu": "aot_eager", "cuda": "inductor"}
"""PyTorch's own code generator on a GPU only: on a CPU it takes most of a minute."""


def _convolution(
    graph: Any, x: Tensor, w: Tensor, b: Tensor, residual: Tensor | None = None, padding: int = 1
) -> Any:
    """relu(convolution + b + residual)."""
    y = graph.conv_fprop(x, w, padding=padding) + b
    return graph.relu(y if residual is None else y + residual)


@functools.cache
def conv_bias_relu() -> Any:
    """The operator: x, w, b, perhaps a residual, and a padding."""
    from cudnn_ctypes.torch_ops import custom_op

    return custom_op(
        "cudnn_ctypes_tests::conv_bias_relu",
        _convolution,
        backward={
            "dz": lambda graph, dy, y: graph.relu_backward(dy, y),
            "dresidual": "dz",
            "dx": lambda graph, dz, w, x, padding: graph.conv_dgrad(
                dz, w, padding=padding
            ).set_output(dims=x.dims),
            "dw": lambda graph, x, dz, w, padding: graph.conv_wgrad(
                x, dz, padding=padding
            ).set_output(dims=w.dims),
            "db": lambda graph, dz, b: graph.reduction(dz, "add").set_output(
                dims=b.dims, data_type="float32"
            ),
        },
    )


def sdpa(q: Any, k: Any, v: Any, causal: bool = False) -> Any:
    """The ready operator: attention and its statistics."""
    from cudnn_ctypes.torch_ops.graphs import OPERATORS

    right = 0 if causal else None
    return OPERATORS["attention"](q, k, v, *[None] * 8, 0.2, None, right, False, False, 0.0)


def expected_convolution(x: Any, w: Any, b: Any, residual: Any = None, padding: int = 1) -> Any:
    """The same by PyTorch."""
    import torch

    y = torch.nn.functional.conv2d(x, w, padding=padding) + b
    return torch.relu(y if residual is None else y + residual)
