"""Attention and its gradients, against PyTorch's attention and autograd."""

from __future__ import annotations

import dataclasses

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
from tests.legacy.attentions import match_lengths


@dataclasses.dataclass
class Case:
    """Random operands of one configuration."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    weights: dict
    heads: int
    scaler: float
    visible: np.ndarray
    residuals: np.ndarray | None
    attention_dropout: np.ndarray | None
    output_dropout: np.ndarray | None

    @property
    def options(self):
        return {
            "heads": self.heads,
            "scaler": self.scaler,
            "visible": self.visible,
            "residuals": self.residuals,
            "attention_dropout": self.attention_dropout,
            "output_dropout": self.output_dropout,
        }

    @property
    def backward_options(self):
        names = ("scaler", "attention_dropout", "output_dropout")
        return {name: getattr(self, name) for name in names}

    def forward(self, **changes):
        case = dataclasses.replace(self, **changes)
        return attention_forward(case.q, case.k, case.v, case.weights, **case.options)


def random_case(seed, *, dropout=False):
    """Projections there or not, biases, beams, windows that may be empty, padding."""
    rng = np.random.default_rng(seed)
    heads, t_q, t_k, batch, beam = (int(rng.integers(1, high)) for high in (4, 5, 6, 4, 4))
    k_beam = beam if rng.random() < 0.5 else 1
    projections = [int(rng.integers(1, 5)) if rng.random() < 0.7 else 0 for _ in range(4)]
    sizes = [int(rng.integers(1, 6)) for _ in range(3)]
    match_lengths(sizes, projections)
    shapes = weight_shapes(heads, sizes, projections, biases=bool(rng.random() < 0.5))
    steps = ((t_q, beam), (t_k, k_beam), (t_k, k_beam))
    q, k, v = (
        rng.standard_normal((t, batch, b, size)) for (t, b), size in zip(steps, sizes, strict=True)
    )
    length = projections[3] or heads * (projections[2] or sizes[2])
    out_shape = (t_q, batch, beam, length)
    low = rng.integers(0, t_k, t_q)
    high = low + rng.integers(0, t_k + 1, t_q)  # sometimes empty, sometimes past the end
    visible = visible_keys(
        low,
        high,
        rng.integers(1, t_q + 1, (batch, beam)),
        rng.integers(1, t_k + 1, (batch, k_beam)),
        t_k,
    )
    return Case(
        q=q,
        k=k,
        v=v,
        weights={name: rng.standard_normal(shape) for name, shape in shapes.items()},
        heads=heads,
        scaler=float(rng.uniform(0.2, 1.5)),
        visible=visible,
        residuals=rng.standard_normal(out_shape) if rng.random() < 0.5 else None,
        attention_dropout=factors(rng, (heads, batch, beam, t_q, t_k)) if dropout else None,
        output_dropout=factors(rng, out_shape) if dropout else None,
    )


def factors(rng, shape, rate=0.3):
    return (rng.random(shape) >= rate) / (1 - rate)


def by_autograd(torch, case, dy):
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

    visible = torch.from_numpy(case.visible).unsqueeze(2).expand(-1, -1, case.heads, -1, -1)
    # A row without any visible key has no softmax: let it see everything, and take the result out.
    some = visible.any(-1, keepdim=True)
    scores = case.scaler * projected("q") @ projected("k").transpose(-1, -2)
    attention = torch.softmax(torch.where(visible | ~some, scores, -torch.inf), -1)
    if case.attention_dropout is not None:  # (H, N, B, TQ, TK)
        attention = attention * torch.from_numpy(case.attention_dropout).permute(1, 2, 0, 3, 4)
    heads = attention @ projected("v")
    heads = torch.where(some, heads, 0.0)
    if "o_weights" in leaves:
        out = (heads @ leaves["o_weights"].transpose(1, 2)).sum(2)
        if "o_biases" in leaves:
            out = out + leaves["o_biases"].squeeze(2)
    else:
        out = heads.transpose(2, 3).flatten(3)
    out = out.permute(2, 0, 1, 3)
    if case.output_dropout is not None:
        out = out * torch.from_numpy(case.output_dropout)
    out.backward(torch.from_numpy(dy))
    out = out.detach().numpy()
    out = out if case.residuals is None else out + case.residuals
    return out, {name: leaf.grad.numpy() for name, leaf in leaves.items()}


def gradients_of(case, dy):
    attended = case.forward()
    given = {"q": case.q, "k": case.k, "v": case.v, "dy": dy, "attended": attended}
    given["weights"] = case.weights
    data = attention_backward_data(**given, **case.backward_options)
    by_weights = attention_backward_weights(
        **given, gradients=data, output_dropout=case.output_dropout
    )
    return attended, {"q": data.dq, "k": data.dk, "v": data.dv, **by_weights}


def close(actual, expected, message=""):
    # Sums of at most a few dozen products of numbers around 1, in another order.
    np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-12, err_msg=message)


@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_against_torch(torch, seed, dropout):
    case = random_case(100 + seed, dropout=dropout)
    dy = np.random.default_rng(seed).standard_normal(case.forward().y.shape)
    out, expected = by_autograd(torch, case, dy)
    attended, actual = gradients_of(case, dy)
    close(attended.y, out)
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
