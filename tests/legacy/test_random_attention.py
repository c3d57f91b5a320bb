"""Random attention problems against the reference, computed in float64, on both devices.

Inference, training and all gradients are compared, at padding too: there the output holds what an
empty window gives, and the gradients are 0. What cuDNN refuses is counted by its reason.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import Handle, NotSupportedError

from .attentions import KINDS, POISON, ROUNDINGS, Kind, Run, expected, random_problem, tolerance
from .conftest import Report

ON_GPU, ON_REFERENCE = 40, 8


def kept(name: str, problem: Any) -> Any:
    """The elements of a result that belong to no padding."""
    lengths = problem.q_lengths if name in ("y", "dq") else problem.k_lengths
    if name not in ("y", "dq", "dk", "dv"):
        return ...
    steps = len(problem.q if name in ("y", "dq") else problem.k)
    return np.arange(steps)[:, None, None] < lengths


@pytest.mark.thinned(6)
@pytest.mark.parametrize("padding", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_random_problems(handle: Handle, report: Report, kind: Kind, padding: bool) -> None:
    on_reference = handle.on_reference_device
    device = "reference" if on_reference else "GPU"
    wrong, ran, refused = [], 0, Counter[str]()
    for seed in range(ON_REFERENCE if on_reference else ON_GPU):
        problem = random_problem(seed, kind, padding=padding)
        try:
            with Run(handle, problem, kind) as run:
                results = {"inference": run.forward(), **run.train()}
        except NotSupportedError as error:
            reason = f"{error.function}: {error.status!s} {'; '.join(error.messages)}"
            report.not_supported((device, str(kind), "attention"), reason)
            refused[reason] += 1
            continue
        ran += 1
        exact = expected(problem)
        allowed = tolerance(problem, kind, exact)
        for name, actual in results.items():
            source = "y" if name == "inference" else name
            where = kept(source, problem)
            error = np.abs(actual.astype(np.float64) - exact[source])[where].max(initial=0.0)
            over = error / float(allowed[source])
            relative = over * ROUNDINGS * kind.epsilon
            operation = "weights" if name in problem.weights else name
            report.ran((device, str(kind), f"attention {operation}"), relative, over)
            if not over <= 1:
                wrong.append(f"seed {seed}: {name} wrong by {error:.3g}, {over:.2g} x: {problem}")
    assert not wrong, f"{len(wrong)} of {ran} runs:\n" + "\n".join(wrong)
    if not ran:
        pytest.skip(f"not supported: {', '.join(refused)}")
    assert ran > refused.total(), f"only {ran} ran: {refused}"


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
        exact = expected(problem)
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


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_tolerance_notices_a_missing_key(kind: Kind) -> None:
    noticed = changed = 0
    for seed in range(30):
        problem = random_problem(seed, kind)
        exact = expected(problem)
        allowed = tolerance(problem, kind, exact)
        problem.high = [end - 1 for end in problem.high]
        wrong = expected(problem)
        difference = np.abs(wrong["y"] - exact["y"]).max()
        changed += bool(difference > 1e-3)
        noticed += bool(difference > allowed["y"])
    assert changed >= 10
    assert noticed >= 0.8 * changed
