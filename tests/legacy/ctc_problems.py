"""Random CTC problems, with results that are poisoned: where cuDNN writes nothing it must stay."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes import CTCLossDescriptor, DeviceTensor, Handle, ctc_loss
from cudnn_ctypes.reference import ctc as reference

POISON = 7.0


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
    dense = {0: (batch * symbols, symbols, 1), 1: (symbols, steps * symbols, 1)}
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
