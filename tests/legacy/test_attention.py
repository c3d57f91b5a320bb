"""Multi-head attention and its gradients, with fixed problems; random ones are next door."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle
from cudnn_ctypes.reference.attention import attention_forward as attention_reference

from .attentions import KINDS, POISON, Kind, Run, kept, random_problem, tolerance
from .attentions import expected as attention_expected
from .small_attention import CLOSE, FMA_CLOSE, HEADS, OPTIONS, TK, TQ, N, expected, normal


@pytest.fixture
def operands(handle: Handle) -> tuple[DeviceTensor, ...]:
    host = normal(TQ, N, 6), normal(TK, N, 5, seed=1), normal(TK, N, 4, seed=2)
    return tuple(DeviceTensor.from_numpy(array) for array in host)


def saved(operands: Any, **others: Any) -> dict[str, Any]:
    """Operands of the gradients."""
    return {**dict(zip("qkv", operands, strict=True)), **others}


def test_one_time_step_after_the_other(handle, attn, weights, operands):
    high = [1, 2, 3, 4]
    at_once = cudnn.attention_forward(
        handle, *operands, attn, weights, high=high, residuals=operands[0]
    ).numpy()
    out = DeviceTensor.full((TQ, N, 6), 7, "float32")
    for current in range(TQ):
        step = {"current": current, "high": high[: current + 1], "residuals": operands[0]}
        cudnn.attention_forward(handle, *operands, attn, weights, out, **step)
        result = out.numpy()
        np.testing.assert_allclose(result[: current + 1], at_once[: current + 1], **CLOSE)
        assert (result[current + 1 :] == 7).all()


def test_training_and_gradients(handle: Handle, attn: Any, weights: Any, operands: Any) -> None:
    """What is made by default is right, by finite differences of the library's own forward."""
    out, reserve = cudnn.attention_forward_training(handle, *operands, attn, weights)
    np.testing.assert_allclose(out.numpy(), expected(), **CLOSE)
    dy = DeviceTensor.from_numpy(normal(TQ, N, 6, seed=9))
    given = saved(operands, dy=dy, weights=weights, reserve_space=reserve)
    data = cudnn.attention_backward_data(handle, attn, **given)
    with cudnn.attention_backward_weights(handle, attn, **given) as dweights:
        first = dweights.numpy()
        again = cudnn.attention_backward_weights(
            handle, attn, **given, dweights=dweights, mode="add"
        )
        assert again is dweights
        for name, gradient in dweights.numpy().items():
            np.testing.assert_allclose(gradient, 2 * first[name], rtol=1e-3, atol=1e-4)
    for gradient, operand in zip(data, operands, strict=True):
        assert gradient.shape == operand.shape
    v, direction = operands[2].numpy(), normal(TK, N, 4, seed=5)
    losses = [
        (
            cudnn.attention_forward(
                handle, *operands[:2], DeviceTensor.from_numpy(v + sign * direction), attn, weights
            ).numpy()
            * dy.numpy()
        ).sum()
        for sign in (1, -1)
    ]  # linear in v: the difference is exact but for rounding
    np.testing.assert_allclose(
        (data.dv.numpy() * direction).sum(), (losses[0] - losses[1]) / 2, rtol=5e-3, atol=5e-2
    )


def test_dropout_of_rate_zero_changes_nothing(handle: Handle, weights: Any, operands: Any) -> None:
    with (
        cudnn.DropoutDescriptor(handle, 0.0) as dropout,
        cudnn.AttnDescriptor(
            HEADS, **OPTIONS, attention_dropout=dropout, output_dropout=dropout
        ) as attn,
    ):
        assert attn.attention_dropout is dropout
        out, _ = cudnn.attention_forward_training(handle, *operands, attn, weights)
        np.testing.assert_allclose(out.numpy(), expected(), **CLOSE)


def test_dropout_of_attention(handle: Handle) -> None:
    """With one-hot values the output is the attention itself, and shows what was dropped."""
    keys, batch, rate = 8, 16, 0.25
    q, k = normal(4, batch, 3), normal(keys, batch, 3, seed=1)
    v = np.tile(np.eye(keys, dtype=np.float32)[:, None], (1, batch, 1))
    sizes = {"q_size": 3, "v_size": keys, "qo_max_length": 4, "kv_max_length": keys}
    on_device = [DeviceTensor.from_numpy(x) for x in (q, k, v)]
    with (
        cudnn.DropoutDescriptor(handle, rate, seed=5) as dropout,
        cudnn.AttnDescriptor(**sizes, max_batch=batch, attention_dropout=dropout) as attn,
    ):
        plain = cudnn.attention_forward(handle, *on_device, attn).numpy()
        out, reserve = cudnn.attention_forward_training(handle, *on_device, attn)
        factors = out.numpy() / plain
        dropped = np.abs(factors) < 1e-3
        assert 0.15 < dropped.mean() < 0.35
        np.testing.assert_allclose(factors[~dropped], 1 / (1 - rate), rtol=5e-3)
        # The gradient by the values goes through the same mask: dv[j] is a column of the result.
        ones = DeviceTensor.full(out.shape, 1, "float32")
        given = saved(on_device, dy=ones, reserve_space=reserve)
        dv = cudnn.attention_backward_data(handle, attn, **given).dv.numpy()
        np.testing.assert_allclose(dv[..., 0], out.numpy().sum(axis=0).T, **CLOSE)
        again, _ = cudnn.attention_forward_training(handle, *on_device, attn)
        assert (again.numpy() != out.numpy()).any(), "the next mask is another one"


def test_dropout_of_the_output_leaves_residuals_alone(handle, weights, operands):
    rate = 0.5
    with (
        cudnn.DropoutDescriptor(handle, rate, seed=6) as dropout,
        cudnn.AttnDescriptor(HEADS, **OPTIONS, output_dropout=dropout) as attn,
    ):
        out, _ = cudnn.attention_forward_training(
            handle, *operands, attn, weights, residuals=operands[0]
        )
        factors = (out.numpy() - normal(TQ, N, 6)) / expected()
        dropped = np.abs(factors) < 0.5
        assert 0.2 < dropped.mean() < 0.8
        np.testing.assert_allclose(factors[~dropped], 2, rtol=0.05)


@pytest.mark.parametrize("kind", KINDS[:1], ids=str)
def test_padding(handle: Handle, kind: Kind) -> None:
    """At padding: what an empty window gives; gradients of 0.

    If queries are not projected, cuDNN 9.14 and 9.19 leave dq alone past the longest sequence.
    """
    different = []
    for seed in range(20):
        problem = random_problem(seed, kind)
        with Run(handle, problem, kind) as run:
            results = {"inference": run.forward(), **run.train()}
        exact = attention_expected(problem)
        allowed = tolerance(problem, kind, exact)
        for name in ("inference", "y", "dq", "dk", "dv"):
            source = "y" if name == "inference" else name
            padding = ~kept(source, problem)
            if name == "dq" and not (problem.projections[0] or handle.on_reference_device):
                longest = int(problem.q_lengths.max())
                assert (results[name][longest:] == POISON).all(), f"seed {seed}: {problem}"
                padding[longest:] = False
            actual, wanted = results[name][padding], exact[source][padding]
            if actual.size and not np.abs(actual - wanted).max() <= allowed[source]:
                untouched = "untouched" if (actual == POISON).all() else str(actual.ravel()[:4])
                different.append(f"seed {seed}: {name} {untouched}, {wanted.ravel()[:4]}")
    assert not different, "\n".join(different)


@pytest.mark.parametrize(
    ("axes", "batch", "beam"), [("TNBV", 2, 1), ("NTBV", 1, 1), ("NTBV", 2, 1), ("TNBV", 2, 2)]
)
def test_several_heads_without_a_projection_of_values(handle, axes, batch, beam):
    """cuDNN takes the wrong memory for the values of the second head in some orders."""
    steps = 3

    def sequences(beam: int, seed: int) -> DeviceTensor:
        with cudnn.SeqDataDescriptor((steps, batch, beam, 4), axes=axes) as desc:
            array = normal(steps, batch, beam, 4, seed=seed)
            return DeviceTensor.from_numpy(array, strides=desc.strides)

    q, k, v = sequences(beam, 0), sequences(1, 1), sequences(1, 2)
    limits = {"qo_max_length": 3, "kv_max_length": 3, "max_batch": batch, "max_beam": beam}
    o_weights = normal(2, 5, 4, seed=3)
    with (
        cudnn.AttnDescriptor(2, q_size=4, o_projection=5, math_type="fma_math", **limits) as attn,
        cudnn.AttentionWeights(handle, attn, {"o_weights": o_weights}) as weights,
    ):
        if (axes, batch, beam) in (("NTBV", 2, 1), ("TNBV", 2, 2)):
            out = cudnn.attention_forward(handle, q, k, v, attn, weights).numpy()
            exact = attention_reference(
                *(x.numpy().astype(np.float64) for x in (q, k, v)),
                {"o_weights": o_weights},
                heads=2,
            ).y
            np.testing.assert_allclose(out, exact, **FMA_CLOSE)
            return
        with pytest.raises(ValueError, match="attn: with several heads and an output projection"):
            cudnn.attention_forward(handle, q, k, v, attn, weights)


def test_residuals_of_another_length(handle: Handle, operands: Any) -> None:
    options = {**OPTIONS, "o_projection": 7}
    with (
        cudnn.AttnDescriptor(HEADS, **options) as attn,
        cudnn.AttentionWeights(handle, attn) as weights,
        pytest.raises(ValueError, match="residuals: are like q"),
    ):
        cudnn.attention_forward(handle, *operands, attn, weights, residuals=operands[0])
