"""Attention as an operator of PyTorch, against PyTorch's own and float64."""

from __future__ import annotations

from typing import Any

import pytest
from torch_operators import BACKENDS, PLACES

torch: Any = pytest.importorskip("torch")
nn = torch.nn.functional

from tools.bench_torch_ops import Attention, sdpa  # noqa: E402


def heads(place: str, *, tokens: int = 64) -> list[Any]:
    torch.manual_seed(5)
    shape = (2, tokens, 4, 32)  # in memory; (batch, heads, tokens, head size) as they are seen
    made = [torch.randn(shape, device=place).half().transpose(1, 2) for _ in range(3)]
    return [each.requires_grad_() for each in made]


def exact_attention(q: Any, k: Any, v: Any, causal: bool) -> Any:
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(
            torch.ones_like(scores, dtype=torch.bool).triu(1), -float("inf")
        )
    return scores.softmax(-1) @ v


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.thinned(2)
@pytest.mark.parametrize("compiled", [False, True])
def test_attention_is_pytorch_s(place: str, causal: bool, compiled: bool) -> None:
    operator = sdpa()

    def block(q: Any, k: Any, v: Any) -> Any:
        return operator(q, k, v, causal=causal)[0]

    if compiled:
        block = torch.compile(block, fullgraph=True, backend=BACKENDS[place])
    operands = heads(place)
    exact = [each.detach().double().requires_grad_() for each in operands]
    expected = exact_attention(*exact, causal)
    theirs = nn.scaled_dot_product_attention(*operands, is_causal=causal)
    o = block(*operands)
    assert o.stride() == operands[0].stride()
    dy = torch.randn_like(o)
    gradients = torch.autograd.grad(o, operands, dy)
    wanted = torch.autograd.grad(expected, exact, dy.double())
    for each, their, right in zip(
        (o, *gradients),
        (theirs, *torch.autograd.grad(theirs, operands, dy)),
        (expected, *wanted),
        strict=True,
    ):
        error, bound = (
            float((one.detach().double() - right.detach()).abs().max()) for one in (each, their)
        )
        assert error <= 3 * bound + 1e-3  # of PyTorch's own attention in float16


def test_an_output_without_a_gradient_is_not_differentiable() -> None:
    o, stats = sdpa()(*heads("cpu"))
    assert o.requires_grad
    assert not stats.requires_grad


@pytest.mark.parametrize("place", PLACES)
def test_what_pytorch_checks_of_attention(place: str) -> None:
    torch.library.opcheck(sdpa(), tuple(heads(place)), {"causal": True})


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("compiled", [False, True])
def test_an_attention_block(place: str, compiled: bool) -> None:
    """q, k and v are parts of one product's memory."""
    operator = sdpa()
    torch.manual_seed(4)
    own = Attention(64, 2, lambda *qkv: operator(*qkv, causal=True)[0]).to(place, torch.float16)
    theirs = Attention(64, 2, lambda *qkv: exact_attention(*qkv, causal=True))
    theirs = theirs.to(place, torch.float64)
    theirs.load_state_dict(own.state_dict())
    step = torch.compile(own, fullgraph=True, backend=BACKENDS[place]) if compiled else own
    x = torch.randn(2, 64, 64, device=place).half()
    y, right = step(x), theirs(x.double())
    torch.testing.assert_close(y.double(), right, rtol=1e-2, atol=1e-2)
    dy = torch.randn_like(y)
    y.backward(dy)
    right.backward(dy.double())
    for one, other in zip(own.parameters(), theirs.parameters(), strict=True):
        scale = float(other.grad.abs().max())
        torch.testing.assert_close(one.grad.double(), other.grad, rtol=0, atol=1e-2 * scale)
