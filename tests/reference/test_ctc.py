"""CTC costs and gradients, against enumerated paths and PyTorch."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cudnn_ctypes.reference import ctc
from cudnn_ctypes.reference.ctc import best_path, collapse, ctc_loss
from tests.legacy.ctc_problems import random_problem


def softmax(u):
    return np.exp(ctc.log_softmax(u))


def paths_to(labels, steps, symbols):
    every = itertools.product(range(symbols), repeat=steps)
    return [list(path) for path in every if collapse(path) == labels]


@pytest.mark.parametrize("labels", [[], [1], [2, 1], [1, 1], [2, 2, 1], [1, 2, 1, 2]])
def test_cost_is_the_sum_over_all_paths_that_collapse_to_the_labels(labels):
    rng = np.random.default_rng(len(labels))
    u = rng.standard_normal((5, 1, 3))
    y = softmax(u)[:, 0]
    paths = paths_to(labels, 5, 3)
    assert paths, "the case must be feasible"
    total = sum(np.prod(y[np.arange(5), path]) for path in paths)
    costs = ctc_loss(u, [labels]).costs
    np.testing.assert_allclose(costs, [-np.log(total)], rtol=1e-13)


def test_best_path_of_labels_that_do_not_fit_has_no_probability():
    assert best_path(np.full((2, 3), 1 / 3), [1, 1])[1] == 0


@pytest.mark.parametrize("seed", range(20))
def test_against_torch(torch, seed):
    problem = random_problem(seed, "float64")
    u, labels, input_lengths = problem.u, problem.labels, problem.lengths
    labels[0] = labels[0] if seed % 4 else []
    activations = torch.from_numpy(u).requires_grad_()
    costs = torch.nn.functional.ctc_loss(
        torch.log_softmax(activations, dim=-1),
        torch.tensor([label for sequence in labels for label in sequence], dtype=torch.int32),
        torch.tensor(input_lengths),
        torch.tensor([len(sequence) for sequence in labels]),
        reduction="none",
    )
    costs.sum().backward()
    result = ctc_loss(u, labels, input_lengths)
    np.testing.assert_allclose(result.costs, costs.detach().numpy(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(result.gradients, activations.grad.numpy(), rtol=0, atol=1e-12)


def test_gradients_by_probabilities_give_those_by_activations():
    problem = random_problem(7, "float64")
    u, labels, input_lengths = problem.u, problem.labels, problem.lengths
    by_activations = ctc_loss(u, labels, input_lengths)
    by_probabilities = ctc_loss(softmax(u), labels, input_lengths, normalization="none")
    np.testing.assert_allclose(by_probabilities.costs, by_activations.costs, rtol=1e-12)
    for n, length in enumerate(input_lengths):
        y, dy = softmax(u)[:length, n], by_probabilities.gradients[:length, n]
        np.testing.assert_allclose(dy[dy > 0], y[dy > 0], rtol=1e-14)  # no path comes there
        dy = np.minimum(dy, 0)
        du = y * (dy - (y * dy).sum(axis=-1, keepdims=True))
        np.testing.assert_allclose(du, by_activations.gradients[:length, n], atol=1e-12)
