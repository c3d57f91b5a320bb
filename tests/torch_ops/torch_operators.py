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


def _attention(graph: Any, q: Any, k: Any, v: Any, causal: bool = False) -> Any:
    o, stats = graph.sdpa(q, k, v, use_causal_mask=causal, generate_stats=True)
    return o, stats.set_output(data_type="float32")


def _attention_gradients(
    graph: Any, q: Any, k: Any, v: Any, o: Any, do: Any, stats: Any, causal: bool
) -> Any:
    return graph.sdpa_backward(q, k, v, o, do, stats, use_causal_mask=causal)


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


@functools.cache
def sdpa() -> Any:
    """The operator: q, k, v (batch, heads, tokens, size), and whether keys after a query count."""
    from cudnn_ctypes.torch_ops import custom_op

    return custom_op(
        "cudnn_ctypes_tests::sdpa",
        _attention,
        backward={("dq", "dk", "dv"): _attention_gradients},
        outputs=("o", "stats"),
    )


def expected_convolution(x: Any, w: Any, b: Any, residual: Any = None, padding: int = 1) -> Any:
    """The same by PyTorch."""
    import torch

    y = torch.nn.functional.conv2d(x, w, padding=padding) + b
    return torch.relu(y if residual is None else y + residual)
