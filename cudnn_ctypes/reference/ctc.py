"""Connectionist temporal classification: `cudnnCTCLoss`, after Graves et al. (ICML 2006).

A network emits, for each of T time steps, a probability y[t, k] for every symbol k of an alphabet
whose symbol 0 is the blank. A path is one symbol per step; collapsing it (drop repeats, then
blanks) gives a labelling. The cost of a labelling is -log of the sum of the probabilities of all
paths that collapse to it.

The sum runs over a lattice. Its states s are the labels with blanks around them::

    labels    [3, 5, 5]
    extended  [0, 3, 0, 5, 0, 5, 0]           2 L + 1 states

From a state one may stay, go to the next, or skip the blank between two different labels::

    alpha[t, s] = y[t, extended[s]] * (alpha[t-1, s] + alpha[t-1, s-1]
                                       + alpha[t-1, s-2] if a skip to s is allowed)
    beta[t, s]  = sum over the states r that s may go to of  y[t+1, extended[r]] * beta[t+1, r]

alpha[t, s] counts the beginnings of paths that are in s at step t, beta[t, s] their ends, so
alpha * beta / p is the probability that the path of this labelling is in s at step t. With it the
gradient of the cost by the activations u, where y = softmax(u), is::

    du[t, k] = y[t, k] - sum over the states s with extended[s] == k of  alpha[t, s] beta[t, s] / p

Where y itself is given ("none"), cuDNN 9.14 and 9.19 return the gradient by y instead::

    dy[t, k] = -sum over the states s with extended[s] == k of  alpha[t, s] beta[t, s] / p / y[t, k]

but y[t, k] where no path of the labelling has symbol k at step t, where that sum is 0.

Everything is done with logarithms: the probabilities of long paths underflow.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .tiles import Array

Normalization = Literal["none", "softmax"]

BLANK = 0


@dataclass(frozen=True)
class CTCLossResult:
    """The result of `ctc_loss`.

    Attributes
    ----------
    costs
        (N,): -log of the labelling's probability; infinite if no path collapses to it, for which
        cuDNN returns 0.
    gradients
        (T, N, A): gradients of the costs, by u or by y. Zero at steps past a sequence's
        length, and for sequences that are too short for their labels.
    """

    costs: Array
    gradients: Array


def ctc_loss(
    probs: Array,
    labels: Sequence[Sequence[int]],
    input_lengths: Sequence[int] | None = None,
    *,
    normalization: Normalization = "softmax",
    compute_dtype: DTypeLike = np.float64,
) -> CTCLossResult:
    """Costs and gradients of a batch.

    `cudnnCTCLoss` and `cudnnCTCLoss_v8` compute them; the text of this module has the formulas.

    Parameters
    ----------
    probs
        (T, N, A). With `normalization` "softmax" the activations u; with "none" the probabilities
        y, and the gradients are by y, with cuDNN's exception.
    labels
        One sequence of labels in 1..A-1 for each of the N samples; it may be empty.
    input_lengths
        Time steps of each sample, 1..T; default: T.
    compute_dtype
        float32 or float64.

    Returns
    -------
    CTCLossResult
        Costs and gradients in the dtype of `probs`.

    Raises
    ------
    ValueError
        For shapes, labels or lengths that do not fit; the message names the argument.
    """
    steps, batch, symbols = _check_probs(probs)
    lengths = _check_lengths(input_lengths, steps, batch)
    _check_labels(labels, batch, symbols)
    if normalization not in ("none", "softmax"):
        raise ValueError(f"normalization must be 'none' or 'softmax', got {normalization!r}")
    dtype = np.dtype(compute_dtype)
    log = log_softmax if normalization == "softmax" else _log
    log_y = log(probs.astype(dtype))
    costs = np.zeros(batch, dtype)
    gradients = np.zeros(probs.shape, dtype)
    for n, length in enumerate(lengths):
        costs[n], gradients[:length, n] = _one_sequence(
            log_y[:length, n], labels[n], by_y=normalization == "none"
        )
    return CTCLossResult(costs.astype(probs.dtype), gradients.astype(probs.dtype))


def _one_sequence(log_y: Array, labels: Sequence[int], *, by_y: bool) -> tuple[float, Array]:
    """The cost, and the gradients (T, A), of one sequence of log probabilities (T, A)."""
    extended = extend(labels)
    alpha = forward_variables(log_y, extended)
    beta = backward_variables(log_y, extended)
    log_p = np.logaddexp.reduce(alpha[-1, -2:])
    gradients = np.zeros_like(log_y)
    if np.isneginf(log_p):
        return np.inf, gradients
    y = np.exp(log_y)
    in_state = np.exp(alpha + beta - log_p)
    with_symbol = np.zeros_like(log_y)
    for s, symbol in enumerate(extended):
        with_symbol[:, symbol] += in_state[:, s]
    if not by_y:
        return -log_p, y - with_symbol
    visited = with_symbol > 0
    return -log_p, np.where(visited, -with_symbol / np.where(visited, y, 1), y)


def forward_variables(log_y: Array, extended: NDArray[np.intp]) -> Array:
    """log alpha[t, s]: all beginnings of paths that are in state s at step t."""
    emitted = log_y[:, extended]
    skip = _may_skip(extended)
    alpha = np.full_like(emitted, -np.inf)
    alpha[0, :2] = emitted[0, :2]
    for t in range(1, len(alpha)):
        before = alpha[t - 1]
        arrived = np.logaddexp(before, _shifted(before, 1))
        arrived = np.logaddexp(arrived, np.where(skip, _shifted(before, 2), -np.inf))
        alpha[t] = arrived + emitted[t]
    return alpha


def backward_variables(log_y: Array, extended: NDArray[np.intp]) -> Array:
    """log beta[t, s]: all ends, after step t, of paths that are in state s at step t."""
    # Reversed in time and along the labels, the lattice is the same; beta excludes the symbol
    # emitted at step t itself.
    reverse = forward_variables(log_y[::-1], extended[::-1])[::-1, ::-1]
    emitted = log_y[:, extended]
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(reverse), -np.inf, reverse - emitted)


def best_path(y: Array, labels: Sequence[int]) -> tuple[NDArray[np.intp], float]:
    """The most probable path of one sequence that collapses to `labels`, and its probability.

    Parameters
    ----------
    y
        (T, A): probabilities.
    labels
        Labels in 1..A-1.

    Returns
    -------
    path
        (T,): a symbol for each step.
    probability
        The probability of this path alone; 0 if no path exists, and `path` is meaningless then.
    """
    extended = extend(labels)
    emitted = _log(y.astype(np.float64))[:, extended]
    skip = _may_skip(extended)
    score = np.full(len(extended), -np.inf)
    score[:2] = emitted[0, :2]
    came_by = np.zeros(emitted.shape, np.intp)  # 0 stayed, 1 next state, 2 skipped a blank
    for t in range(1, len(emitted)):
        ways = np.stack([score, _shifted(score, 1), np.where(skip, _shifted(score, 2), -np.inf)])
        came_by[t] = ways.argmax(axis=0)
        score = ways.max(axis=0) + emitted[t]
    last = len(extended) - min(2, len(extended))
    state = last + int(score[last:].argmax())
    probability = float(np.exp(score[state]))
    states = np.zeros(len(emitted), np.intp)
    for t in reversed(range(len(emitted))):
        states[t] = state
        state -= came_by[t, state]
    return extended[states], probability


def extend(labels: Sequence[int]) -> NDArray[np.intp]:
    """The labels with a blank before, between and after them: 2 L + 1 symbols."""
    extended = np.full(2 * len(labels) + 1, BLANK, np.intp)
    extended[1::2] = labels
    return extended


def collapse(path: Iterable[int]) -> list[int]:
    """The labelling of a path: repeats dropped, then blanks.

    Examples
    --------
    >>> collapse([0, 3, 3, 0, 5, 0, 5, 5])
    [3, 5, 5]
    """
    labels, before = [], BLANK
    for symbol in path:
        if symbol not in (before, BLANK):
            labels.append(int(symbol))
        before = symbol
    return labels


def required_steps(labels: Sequence[int]) -> int:
    """The fewest time steps for these labels: one each, and a blank between two equal ones.

    cuDNN calls a sample with fewer steps out of bounds (OOB).
    """
    repeats = sum(a == b for a, b in itertools.pairwise(labels))
    return len(labels) + repeats


def split_labels(concatenated: Sequence[int], lengths: Sequence[int]) -> list[list[int]]:
    """The labels of each sample, out of cuDNN's one array of all of them."""
    ends = np.cumsum([0, *lengths])
    return [
        [int(label) for label in concatenated[start:end]] for start, end in itertools.pairwise(ends)
    ]


def log_softmax(u: Array) -> Array:
    """log(exp(u) / sum(exp(u))) along the last axis, without overflow."""
    shifted = u - u.max(axis=-1, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result


def _log(y: Array) -> Array:
    with np.errstate(divide="ignore"):
        result: Array = np.log(y)
    return result


def _may_skip(extended: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether a path may come to state s straight from s - 2."""
    result = np.zeros(len(extended), np.bool_)
    result[2:] = (extended[2:] != BLANK) & (extended[2:] != extended[:-2])
    return result


def _shifted(row: Array, by: int) -> Array:
    """`row` moved `by` states ahead; the first states become -inf."""
    return np.concatenate([np.full(min(by, len(row)), -np.inf, row.dtype), row[:-by]])


def _check_probs(probs: Array) -> tuple[int, int, int]:
    if probs.ndim != 3 or 0 in probs.shape:
        raise ValueError(f"probs must be (T, N, A), each at least 1, got shape {probs.shape}")
    steps, batch, labels = probs.shape
    return steps, batch, labels


def _check_lengths(lengths: Sequence[int] | None, steps: int, batch: int) -> list[int]:
    checked = [steps] * batch if lengths is None else [int(length) for length in lengths]
    if len(checked) != batch or not all(1 <= length <= steps for length in checked):
        raise ValueError(f"input_lengths must be {batch} ints from 1 to {steps}, got {checked}")
    return checked


def _check_labels(labels: Sequence[Sequence[int]], batch: int, symbols: int) -> None:
    if len(labels) != batch:
        raise ValueError(f"labels must have one sequence for each of {batch} samples")
    for n, sequence in enumerate(labels):
        if not all(1 <= label < symbols for label in sequence):
            raise ValueError(
                f"labels[{n}] must be from 1 to {symbols - 1} (0 is the blank), got {sequence}"
            )
