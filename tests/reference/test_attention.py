"""Attention and its gradients, against PyTorch's attention and autograd."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes.reference.attention import (
    WEIGHT_NAMES,
    attention_backward_data,
    attention_backward_weights,
    attention_forward,
    visible_keys,
    weight_shapes,
)
from tests.legacy.attentions import KINDS, random_problem

(FLOAT64,) = (kind for kind in KINDS if kind.name == "float64")


def factors(rng, shape, rate=0.3):
    return (rng.random(shape) >= rate) / (1 - rate)


def by_autograd(torch, case, visible, residuals, attention_dropout, output_dropout):
    """The result and its gradients by PyTorch."""
    leaves = {"q": case.q, "k": case.k, "v": case.v, **case.weights}
    leaves = {name: torch.from_numpy(x.copy()).requires_grad_() for name, x in leaves.items()}
    beam = case.q.shape[2]

    def projected(name):
        x = leaves[name].permute(1, 2, 0, 3)  # (N, B, T, V)
        x = x.expand(-1, beam, -1, -1).unsqueeze(2)
        if f"{name}_weights" in leaves:
            x = x @ leaves[f"{name}_weights"].transpose(1, 2)
            if f"{name}_biases" in leaves:
                x = x + leaves[f"{name}_biases"].transpose(1, 2)
        return x.expand(-1, -1, case.heads, -1, -1)

    visible = torch.from_numpy(visible).unsqueeze(2).expand(-1, -1, case.heads, -1, -1)
    # A row without any visible key has no softmax: let it see everything, and take the result out.
    some = visible.any(-1, keepdim=True)
    scores = case.scaler * projected("q") @ projected("k").transpose(-1, -2)
    attention = torch.softmax(torch.where(visible | ~some, scores, -torch.inf), -1)
    if attention_dropout is not None:  # (H, N, B, TQ, TK)
        attention = attention * torch.from_numpy(attention_dropout).permute(1, 2, 0, 3, 4)
    heads = attention @ projected("v")
    heads = torch.where(some, heads, 0.0)
    if "o_weights" in leaves:
        out = (heads @ leaves["o_weights"].transpose(1, 2)).sum(2)
        if "o_biases" in leaves:
            out = out + leaves["o_biases"].squeeze(2)
    else:
        out = heads.transpose(2, 3).flatten(3)
    out = out.permute(2, 0, 1, 3)
    if output_dropout is not None:
        out = out * torch.from_numpy(output_dropout)
    out.backward(torch.from_numpy(case.dy))
    out = out.detach().numpy()
    out = out if residuals is None else out + residuals
    return out, {name: leaf.grad.numpy() for name, leaf in leaves.items()}


def close(actual, expected, message=""):
    # Sums of at most a few dozen products of numbers around 1, in another order.
    np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-12, err_msg=message)


@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_against_torch(torch, seed, dropout):
    case, rng = random_problem(100 + seed, FLOAT64), np.random.default_rng(seed)
    if seed % 2:  # keys and values of each sequence in a beam
        case.k, case.v = (
            rng.standard_normal((len(x), *case.q.shape[1:3], x.shape[3])) for x in (case.k, case.v)
        )
    scores = (case.heads, *case.q.shape[1:3], len(case.q), len(case.k))
    attention_dropout, output_dropout = (
        factors(rng, shape) if dropout else None for shape in (scores, case.dy.shape)
    )
    residuals = rng.standard_normal(case.dy.shape) if case.with_residuals else None
    added = {"attention_dropout": attention_dropout, "output_dropout": output_dropout}
    out, expected = by_autograd(torch, case, case.visible, residuals, **added)

    operands = {"q": case.q, "k": case.k, "v": case.v, "weights": case.weights}
    options = {"scaler": case.scaler, **added}
    attended = attention_forward(
        **operands, heads=case.heads, visible=case.visible, residuals=residuals, **options
    )
    close(attended.y, out)
    given = {**operands, "dy": case.dy, "attended": attended}
    data = attention_backward_data(**given, **options)
    actual = attention_backward_weights(**given, gradients=data, output_dropout=output_dropout)
    actual |= {"q": data.dq, "k": data.dk, "v": data.dv}
    assert actual.keys() == expected.keys()
    for name, gradient in expected.items():
        close(actual[name], gradient, name)


def test_against_torchs_multi_head_attention(torch):
    rng = np.random.default_rng(1)
    heads, each, steps, batch = 3, 4, 5, 2
    size = heads * each
    shapes = weight_shapes(heads, (size, size, size), (each, each, each, size), biases=True)
    weights = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    x, y = (rng.standard_normal((t, batch, 1, size)) for t in (steps, steps + 2))
    stacked = {name: torch.from_numpy(a.reshape(-1, a.shape[2])) for name, a in weights.items()}
    expected, _ = torch.nn.functional.multi_head_attention_forward(
        torch.from_numpy(x[:, :, 0]),
        torch.from_numpy(y[:, :, 0]),
        torch.from_numpy(y[:, :, 0]),
        size,
        heads,
        torch.cat([stacked["q_weights"], stacked["k_weights"], stacked["v_weights"]]),
        torch.cat([stacked["q_biases"], stacked["k_biases"], stacked["v_biases"]]).squeeze(1),
        None,
        None,
        False,
        0.0,
        # PyTorch has the heads' matrices side by side: (O, H P).
        torch.from_numpy(np.concatenate(list(weights["o_weights"]), axis=1)),
        stacked["o_biases"].squeeze(1),
    )
    out = attention_forward(x, y, y, weights, heads=heads, scaler=each**-0.5).y
    close(out[:, :, 0], expected.numpy())


def test_windows():
    lengths = np.array([[3]])
    causal = visible_keys(np.zeros(3), [1, 2, 3], lengths, lengths, 3)[0, 0]
    np.testing.assert_array_equal(causal, np.tri(3, dtype=bool))
    cut = visible_keys([0, 1, 0], [9, 9, 9], np.array([[2]]), lengths - 1, 3)[0, 0]
    np.testing.assert_array_equal(
        cut, [[True, True, False], [False, True, False], [False, False, False]]
    )


def test_weight_names_follow_the_enum():
    from cudnn_ctypes.raw import cudnnMultiHeadAttnWeightKind_t

    kinds = [
        kind.name.removeprefix("CUDNN_MH_ATTN_").lower() for kind in cudnnMultiHeadAttnWeightKind_t
    ]
    assert tuple(kinds) == WEIGHT_NAMES
