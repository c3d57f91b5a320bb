"""Attention and CTC of layer 2 with PyTorch's tensors, against PyTorch's own on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    AttentionWeights,
    AttnDescriptor,
    CTCLossDescriptor,
    Handle,
    attention_backward_data,
    attention_backward_weights,
    attention_forward,
    attention_forward_training,
    ctc_loss,
    ctc_loss_v8,
)

HEADS, EACH, STEPS, BATCH = 3, 4, 5, 2
SIZE = HEADS * EACH


def test_multi_head_attention(reference_handle: Handle, torch: Any) -> None:
    """torch.nn.MultiheadAttention with its own weights, and their gradients."""
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(SIZE, HEADS, dtype=torch.float64)
    torch.nn.init.normal_(layer.in_proj_bias)
    torch.nn.init.normal_(layer.out_proj.bias)
    x = torch.randn(STEPS, BATCH, SIZE, dtype=torch.float64, requires_grad=True)
    mask = torch.ones(STEPS, STEPS, dtype=torch.bool).triu(1)  # True: not seen
    expected, _ = layer(x, x, x, attn_mask=mask, need_weights=False)
    dy = torch.randn_like(expected)
    expected.backward(dy)

    # PyTorch stacks the three input matrices, and has the heads' output matrices side by side.
    inputs = layer.in_proj_weight.detach().numpy().reshape(3, HEADS, EACH, SIZE)
    biases = layer.in_proj_bias.detach().numpy().reshape(3, HEADS, EACH, 1)
    arrays = {f"{name}_weights": inputs[i] for i, name in enumerate("qkv")}
    arrays |= {f"{name}_biases": biases[i] for i, name in enumerate("qkv")}
    arrays["o_weights"] = by_head(layer.out_proj.weight.detach().numpy())
    arrays["o_biases"] = layer.out_proj.bias.detach().numpy().reshape(1, SIZE, 1)

    handle, high = reference_handle, range(1, STEPS + 1)
    data = x.detach()
    with (
        AttnDescriptor(
            HEADS,
            q_size=SIZE,
            q_projection=EACH,
            k_projection=EACH,
            v_projection=EACH,
            o_projection=SIZE,
            qo_max_length=STEPS,
            kv_max_length=STEPS,
            max_batch=BATCH,
            scaler=EACH**-0.5,
            biases=True,
            data_type=torch.float64,
        ) as attn,
        AttentionWeights(handle, attn, arrays) as weights,
    ):
        operands = (data, data, data, attn, weights)
        out, reserve = attention_forward_training(handle, *operands, high=list(high))
        np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-12)
        given = {"q": data, "k": data, "v": data, "dy": dy, "weights": weights}
        given |= {"reserve_space": reserve}
        gradients = attention_backward_data(handle, attn, **given, high=list(high))
        dx = sum(gradient.numpy() for gradient in gradients)
        np.testing.assert_allclose(dx, x.grad.numpy(), rtol=1e-10, atol=1e-12)
        with attention_backward_weights(handle, attn, **given) as dweights:
            by_name = dweights.numpy()
    stacked = np.concatenate([by_name[f"{name}_weights"].reshape(SIZE, SIZE) for name in "qkv"])
    np.testing.assert_allclose(stacked, layer.in_proj_weight.grad.numpy(), atol=1e-11)
    flat = np.concatenate([by_name[f"{name}_biases"].ravel() for name in "qkv"])
    np.testing.assert_allclose(flat, layer.in_proj_bias.grad.numpy(), atol=1e-11)
    of_output = by_head(layer.out_proj.weight.grad.numpy())
    np.testing.assert_allclose(by_name["o_weights"], of_output, atol=1e-11)
    np.testing.assert_allclose(
        by_name["o_biases"].ravel(), layer.out_proj.bias.grad.numpy(), atol=1e-11
    )


def by_head(matrix: Any) -> Any:
    """PyTorch's (O, H P) as cuDNN's (H, O, P)."""
    return np.moveaxis(matrix.reshape(SIZE, HEADS, EACH), 1, 0)


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


@pytest.mark.parametrize("version", [ctc_loss, ctc_loss_v8])
def test_ctc(reference_handle: Handle, torch: Any, version: Any) -> None:
    torch.manual_seed(1)
    u = torch.randn(9, 4, 6, dtype=torch.float64, requires_grad=True)
    labels, lengths = [[1, 2, 2], [5], [3, 1, 4, 1], [2, 2]], [9, 5, 8, 7]
    expected = torch.nn.functional.ctc_loss(
        u.log_softmax(-1),
        torch.tensor([label for sequence in labels for label in sequence]),
        torch.tensor(lengths),
        torch.tensor([len(sequence) for sequence in labels]),
        reduction="none",
    )
    expected.sum().backward()
    with CTCLossDescriptor("float64", max_label_length=4) as loss:
        costs, gradients = version(
            reference_handle, u.detach(), labels, loss, input_lengths=lengths
        )
    np.testing.assert_allclose(costs.numpy(), expected.detach().numpy(), rtol=1e-12)
    np.testing.assert_allclose(gradients.numpy(), u.grad.numpy(), atol=1e-12)


def test_ctc_with_labels_of_torch(reference_handle: Handle, torch: Any) -> None:
    u = torch.randn(5, 2, 4)

    def ints(*numbers: int) -> Any:
        return torch.tensor(numbers, dtype=torch.int32)

    with CTCLossDescriptor(max_label_length=5) as loss:
        on_host = ctc_loss_v8(reference_handle, u, [[1, 2], [3]], loss)
        on_device = ctc_loss_v8(reference_handle, u, ints(1, 2, 3), loss, label_lengths=ints(2, 1))
    np.testing.assert_array_equal(on_device.costs.numpy(), on_host.costs.numpy())
