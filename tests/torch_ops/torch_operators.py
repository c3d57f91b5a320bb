"""Where the tests of operators run, by which back end of torch.compile, and two operators."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from cudnn_ctypes.graph import Tensor

torch: Any = pytest.importorskip("torch")
nn = torch.nn.functional

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
    y = nn.conv2d(x, w, padding=padding) + b
    return torch.relu(y if residual is None else y + residual)


def attended(q: Any, k: Any, v: Any, *, bias: Any = 0, hidden: Any = None, cap: float = 0) -> Any:
    """Attention of (..., heads, tokens, size); a query without a key gets nothing."""
    k, v = (each.repeat_interleave(q.shape[-3] // each.shape[-3], -3) for each in (k, v))
    scores = q @ k.mT * q.shape[-1] ** -0.5
    scores = (cap * torch.tanh(scores / cap) if cap else scores) + bias
    if hidden is not None:
        scores = scores.masked_fill(hidden.to(q.device), -float("inf"))
    return scores.softmax(-1).nan_to_num(0) @ v


def behind_each_other(
    q: Any, k: Any, v: Any, begins: Sequence[int], *, causal: bool = True, cap: float = 0
) -> Any:
    """Attention of sequences of (tokens, heads, size), each on its own."""
    parts = []
    for begin, end in pairwise(begins):
        one = (each[begin:end].transpose(0, 1) for each in (q, k, v))
        hidden = torch.ones(end - begin, end - begin).triu(1).bool() if causal else None
        parts.append(attended(*one, hidden=hidden, cap=cap).transpose(0, 1))
    return torch.cat(parts)


def convolved(x: Any, w: Any, b: Any, past: Any = None) -> Any:
    """The SiLU of each channel's convolution with its own filter, without a look ahead."""
    whole = nn.pad(x, (w.shape[1] - 1, 0)) if past is None else torch.cat((past, x), -1)
    return nn.silu(nn.conv1d(whole, w[:, None], b, groups=x.shape[1]))


def check(function: Any, theirs: Any, operands: Any, place: str, near: float) -> None:
    """Hold result and gradients against those in float64, relative to the largest of each."""
    operands = [each.to(place).requires_grad_() for each in operands]
    exact = [each.detach().double().requires_grad_() for each in operands]
    y, right = function(*operands), theirs(*exact)
    dy = torch.randn(y.shape).to(place, y.dtype)
    gradients = torch.autograd.grad(y, operands, dy)
    wanted = torch.autograd.grad(right, exact, dy.double())
    for got, expected in zip((y, *gradients), (right, *wanted), strict=True):
        scale = float(expected.detach().abs().max())
        torch.testing.assert_close(got.double(), expected, rtol=0, atol=near * scale)
