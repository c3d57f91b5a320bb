"""Random CTC problems against the reference, computed in float64, on both devices.

The results are poisoned before, and where cuDNN writes nothing the poison must still be there.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cudnn_ctypes import (
    CTCLossDescriptor,
    DeviceTensor,
    Handle,
    NotSupportedError,
    ctc_loss,
    ctc_loss_v8,
)
from cudnn_ctypes.reference import ctc as reference

from .conftest import Report

POISON = 7.0
ON_GPU, ON_REFERENCE = 40, 10


@dataclass
class Problem:
    """One batch, and how it is given to cuDNN."""

    u: NDArray[Any]
    labels: list[list[int]]
    lengths: list[int]
    normalization: str
    strides: tuple[int, ...]

    @property
    def given(self) -> NDArray[Any]:
        """What is passed: activations or probabilities."""
        if self.normalization == "softmax":
            return self.u
        y: NDArray[Any] = np.exp(reference.log_softmax(self.u.astype(np.float64)))
        return y.astype(self.u.dtype)


def random_problem(seed: int, dtype: str) -> Problem:
    rng = np.random.default_rng(seed)
    steps, batch, symbols = (int(rng.integers(*ends)) for ends in ((1, 41), (1, 9), (2, 31)))
    lengths = rng.integers(max(1, steps // 2), steps + 1, batch).tolist()
    labels = []
    for length in lengths:
        sequence = rng.integers(1, symbols, int(rng.integers(1, length + 1))).tolist()
        while reference.required_steps(sequence) > length:
            sequence.pop()
        labels.append(sequence)
    dense = {
        0: (batch * symbols, symbols, 1),
        1: (symbols, steps * symbols, 1),
    }
    return Problem(
        u=(rng.standard_normal((steps, batch, symbols)) * 2).astype(dtype),
        labels=labels,
        lengths=lengths,
        normalization=str(rng.choice(["softmax", "none"])),
        strides=dense[int(rng.integers(2))],
    )


def zeroed(problem: Problem, version: Any) -> NDArray[np.bool_]:
    """(T, N): the steps past a sample's input length where cuDNN 9.14 and 9.19 write zeros.

    These are all samples whose labels need all of their steps; `ctc_loss`, which knows the lengths,
    stops at the longest.
    """
    lengths = np.array(problem.lengths)
    needed = np.array([reference.required_steps(labels) for labels in problem.labels])
    steps = np.arange(len(problem.u))[:, None]
    end = lengths.max() if version is ctc_loss else len(steps)
    return (steps >= lengths) & (steps < end) & (needed >= lengths)


def run(
    handle: Handle, problem: Problem, version: Any, algorithm: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Costs and gradients, in memory that was poisoned."""
    poison = np.full_like(problem.u, POISON)
    with ExitStack() as stack:
        probs, gradients = (
            stack.enter_context(DeviceTensor.from_numpy(array, strides=problem.strides))
            for array in (problem.given, poison)
        )
        costs = stack.enter_context(DeviceTensor.full((len(problem.labels),), POISON, poison.dtype))
        loss = stack.enter_context(
            CTCLossDescriptor(
                poison.dtype,
                normalization=problem.normalization,
                max_label_length=max(5, *map(len, problem.labels)),
            )
        )
        version(
            handle,
            probs,
            problem.labels,
            loss,
            input_lengths=problem.lengths,
            costs=costs,
            gradients=gradients,
            algorithm=algorithm,
        )
        return costs.numpy(), gradients.numpy()


@pytest.mark.thinned(6)
@pytest.mark.parametrize("version", [ctc_loss, ctc_loss_v8])
@pytest.mark.parametrize("algorithm", ["deterministic", "non_deterministic"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_random_problems(
    handle: Handle, report: Report, dtype: str, algorithm: str, version: Any
) -> None:
    on_reference = handle.on_reference_device
    device = "reference" if on_reference else "GPU"
    kind = f"{dtype}, {algorithm}"
    wrong, ran, refused = [], 0, set()
    for seed in range(ON_REFERENCE if on_reference else ON_GPU):
        problem = random_problem(seed, dtype)
        try:
            costs, gradients = run(handle, problem, version, algorithm)
        except NotSupportedError as error:
            reason = error.messages[-1] if error.messages else str(error.status)
            report.not_supported((device, kind, version.__name__), reason)
            refused.add(reason)
            continue
        ran += 1
        exact = reference.ctc_loss(
            problem.given.astype(np.float64),
            problem.labels,
            problem.lengths,
            normalization=problem.normalization,
        )
        written = np.arange(len(problem.u))[:, None] < np.array(problem.lengths)
        # Gradients are exponentials of sums of logarithms, whose errors are relative to them. The
        # probabilities that are given are rounded too.
        tolerance = 32 * float(np.finfo(dtype).eps) * (1 + exact.costs.max())
        largest = max(1.0, float(np.abs(exact.gradients).max()))  # 1 / y, by probabilities
        for name, actual, expected in (
            ("costs", costs, exact.costs),
            ("gradients", gradients[written], exact.gradients[written]),
        ):
            error = np.abs(actual.astype(np.float64) - expected).max()
            key = (device, kind, f"{version.__name__} {name}")
            allowed = tolerance * (largest if name == "gradients" else 1)
            report.ran(key, error / max(np.abs(expected).max(), 1e-30), error / allowed)
            if not error <= allowed:
                wrong.append(f"seed {seed}: {name} wrong by {error:.3g}, {allowed:.3g} allowed")
        left = np.where(zeroed(problem, version), 0, POISON)
        if not (gradients == left[..., None])[~written].all():
            wrong.append(f"seed {seed}: past the samples' input lengths")
    assert not wrong, f"{len(wrong)} of {ran}:\n" + "\n".join(wrong)
    assert ran or refused, "nothing ran"
    if not ran:
        pytest.skip(f"not supported: {', '.join(sorted(refused))}")


def test_the_tolerance_notices_a_wrong_label() -> None:
    for seed in range(10):
        problem = random_problem(seed, "float32")
        if problem.u.shape[2] < 3:
            continue
        exact = reference.ctc_loss(problem.u, problem.labels, problem.lengths)
        changed = [list(sequence) for sequence in problem.labels]
        changed[0][0] = changed[0][0] % (problem.u.shape[2] - 1) + 1
        wrong = reference.ctc_loss(problem.u, changed, problem.lengths)
        tolerance = 32 * float(np.finfo(np.float32).eps) * (1 + exact.costs.max())
        assert np.abs(wrong.gradients - exact.gradients).max() > tolerance


@pytest.mark.parametrize("mode", ["zero_oob_gradients", "skip_oob_gradients"])
@pytest.mark.parametrize("version", [ctc_loss, ctc_loss_v8])
def test_labels_that_need_more_steps(handle: Handle, version: Any, mode: str) -> None:
    """[1, 1, 1] needs 5 steps, and has 4: cuDNN's OOB sample."""
    rng = np.random.default_rng(0)
    u = rng.standard_normal((6, 3, 4)).astype(np.float32)
    labels, lengths = [[1, 2], [1, 1, 1], [3]], [6, 4, 5]
    gradients = DeviceTensor.full(u.shape, POISON, "float32")
    with CTCLossDescriptor(gradient_mode=mode, max_label_length=5) as loss:
        result = version(
            handle,
            DeviceTensor.from_numpy(u),
            labels,
            loss,
            input_lengths=lengths,
            gradients=gradients,
        )
    costs, actual = result.costs.numpy(), gradients.numpy()
    exact = reference.ctc_loss(u, labels, lengths)
    assert np.isposinf(exact.costs[1])
    print(f"{version.__name__}, {mode}: the cost out of bounds is {costs[1]}")
    for n in (0, 2):
        np.testing.assert_allclose(costs[n], exact.costs[n], rtol=1e-5)
        np.testing.assert_allclose(
            actual[: lengths[n], n], exact.gradients[: lengths[n], n], atol=1e-5
        )
    left = 0 if mode == "zero_oob_gradients" else POISON
    assert (actual[:, 1] == left).all(), "also past its input length"
    assert (actual[5:, 2] == POISON).all()


def test_a_sample_without_labels_is_wrong_in_cudnn(handle: Handle) -> None:
    """Why layer 2 refuses it: the only path is blanks all the way, and its cost is not 0.

    Its labels are on the device here, where they are not checked. The others are right.
    """
    u = np.random.default_rng(1).standard_normal((5, 3, 3)).astype(np.float32)
    labels, lengths = np.array([2, 1, 2], np.int32), np.array([1, 0, 2], np.int32)
    with CTCLossDescriptor(max_label_length=5) as loss:
        costs, gradients = ctc_loss_v8(
            handle,
            DeviceTensor.from_numpy(u),
            DeviceTensor.from_numpy(labels),
            loss,
            label_lengths=DeviceTensor.from_numpy(lengths),
        )
    exact = reference.ctc_loss(u, [[2], [], [1, 2]])
    np.testing.assert_allclose(costs.numpy()[::2], exact.costs[::2], rtol=1e-5)
    np.testing.assert_allclose(gradients.numpy()[:, ::2], exact.gradients[:, ::2], atol=1e-5)
    right = bool(abs(costs.numpy()[1] - exact.costs[1]) < 1e-4)
    assert right == handle.on_reference_device


def test_labels_of_256_symbols(handle: Handle) -> None:
    u = np.random.default_rng(2).standard_normal((600, 1, 5)).astype(np.float32)
    labels = [([1, 2, 3, 4] * 64)]
    with CTCLossDescriptor() as loss, pytest.raises(NotSupportedError):
        ctc_loss(handle, DeviceTensor.from_numpy(u), labels, loss)
    labels[0].pop()
    with CTCLossDescriptor() as loss:
        costs = ctc_loss(handle, DeviceTensor.from_numpy(u), labels, loss).costs.numpy()
    np.testing.assert_allclose(costs, reference.ctc_loss(u, labels).costs, rtol=1e-4)
