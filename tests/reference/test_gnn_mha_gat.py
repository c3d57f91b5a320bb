"""GNN attention and its gradients, against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import reference
from tests.legacy.gnn_problems import NAMES, Attention

from .gnn_graphs import attention_by_torch

pytestmark = pytest.mark.usefixtures("reference_device")


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("number", range(28))
def test_against_pytorch(torch: Any, number: int, version: int) -> None:
    case = Attention(version, "float64", number, masked=number % 5 != 0, empty=number % 3 == 0)
    leaves = [None if a is None else torch.tensor(a, requires_grad=True) for a in case.operands]
    mask = None if case.mask is None else torch.tensor(case.mask.astype(np.float64))
    output, kept = attention_by_torch(
        torch, case.exact, *leaves, case.params, mask, version=version
    )
    expected = case.expected
    np.testing.assert_allclose(expected.output, output.detach().numpy(), atol=1e-12)
    after_dropout = expected.sm_scores[1] * (1 if case.mask is None else case.mask)
    np.testing.assert_allclose(after_dropout, kept.detach().numpy(), atol=1e-12)
    loss = (output * torch.tensor(case.doutput)).sum()
    loss = loss + (kept * torch.tensor(case.dattention.astype(np.float64))).sum()
    loss.backward()
    for one, leaf in zip(case.gradients, leaves, strict=False):
        if leaf is None:
            assert one is None
        else:
            np.testing.assert_allclose(one, leaf.grad.numpy(), atol=1e-11)


def test_large_logits_do_not_overflow() -> None:
    case = Attention(1, "float64", 0)
    named = dict(zip(NAMES, case.operands, strict=True))
    named["attn_weights"] = named["attn_weights"] * 1e4
    made = reference.gnn_mha_gat_forward(case.exact, **named, params=case.params)
    assert np.isfinite(made.output).all()
