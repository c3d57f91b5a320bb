"""Attention and CTC of layer 2 with PyTorch's tensors, against PyTorch's own on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    AttnDescriptor,
    CTCLossDescriptor,
    Handle,
    attention_forward,
    ctc_loss_v8,
)

HEADS, EACH, STEPS, BATCH = 3, 4, 5, 2
SIZE = HEADS * EACH


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(reference_handle: Handle, torch: Any, dtype: str) -> None:
    x = torch.randn(STEPS, BATCH, SIZE).to(getattr(torch, dtype))
    out = torch.full_like(x, 7)
    with AttnDescriptor(
        q_size=SIZE,
        qo_max_length=STEPS,
        kv_max_length=STEPS,
        max_batch=BATCH,
        scaler=0.25,
        data_type=dtype,
    ) as attn:
        assert attention_forward(reference_handle, x, x, x, attn, None, out) is out
    wide = x.transpose(0, 1).to(torch.float64)
    exact = torch.nn.functional.scaled_dot_product_attention(wide, wide, wide, scale=0.25)
    torch.testing.assert_close(out.double(), exact.transpose(0, 1), rtol=1e-2, atol=1e-2)


def test_ctc_with_labels_of_torch(reference_handle: Handle, torch: Any) -> None:
    u = torch.randn(5, 2, 4)

    def ints(*numbers: int) -> Any:
        return torch.tensor(numbers, dtype=torch.int32)

    with CTCLossDescriptor(max_label_length=5) as loss:
        on_host = ctc_loss_v8(reference_handle, u, [[1, 2], [3]], loss)
        on_device = ctc_loss_v8(reference_handle, u, ints(1, 2, 3), loss, label_lengths=ints(2, 1))
    np.testing.assert_array_equal(on_device.costs.numpy(), on_host.costs.numpy())
