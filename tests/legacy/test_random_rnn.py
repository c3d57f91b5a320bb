"""Random recurrent networks against the reference, computed in float64.

On the reference device this tests how layer 2 describes its operands; on a GPU, cuDNN. What cuDNN
has no kernel for is counted by its reason and printed at the end of the session; all that these
problems ask for has one.
"""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes import Handle, NotSupportedError

from .conftest import Report
from .recurrent import (
    KINDS,
    RESULTS,
    Kind,
    Problem,
    Run,
    expected,
    named,
    random_operands,
    random_problem,
    weights_in,
)
from .recurrent_rounding import tolerances
from .test_rnn_descriptors import types

ON_GPU, ON_REFERENCE = 60, 12
PERSISTENT = ("persist_static", "persist_static_small_h", "persist_dynamic")


def errors(handle: Handle, problem: Problem) -> dict[str, tuple[float, float]] | NotSupportedError:
    """For each result its error over the largest element, and over the tolerance."""
    given = random_operands(problem)
    try:
        with Run(handle, problem, given) as run:
            got = run.training_step()
    except NotSupportedError as error:
        return error
    exact = expected(problem, given)
    allowed = tolerances(problem, given, exact)
    result = {}
    for name, array in exact.items():
        difference = np.abs(got[name] - array)
        if name in ("y", "dx"):
            difference = difference[problem.valid]
        worst = float(np.where(np.isnan(difference), np.inf, difference).max())
        result[name] = (worst / max(float(np.abs(array).max()), 1e-30), worst / allowed[name])
    return result


def reason(error: NotSupportedError) -> str:
    return f"{error.function}: {error.messages[0] if error.messages else error.status!s}"


def run_problems(
    handle: Handle, report: Report, kind: Kind, algorithm: str, count: int
) -> tuple[int, list[str]]:
    """How many ran, and a line for each result that is wrong."""
    device = "reference" if handle.on_reference_device else "GPU"
    label = str(kind) if algorithm == "standard" else f"{kind} {algorithm}"
    ran, wrong = 0, []
    for seed in range(count):
        problem = random_problem(kind, seed, algorithm)
        found = errors(handle, problem)
        if isinstance(found, NotSupportedError):
            report.not_supported((device, label, "rnn"), reason(found))
            continue
        ran += 1
        for name, (relative, over) in found.items():
            report.ran((device, label, f"rnn {name}"), relative, over)
            if not over <= 1:
                wrong.append(f"{name}: {over:.3g} times the tolerance ({relative:.3g}): {problem}")
    return ran, wrong


@pytest.mark.thinned(6)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_random_problems(handle: Handle, report: Report, kind: Kind) -> None:
    count = ON_REFERENCE if handle.on_reference_device else ON_GPU
    ran, wrong = run_problems(handle, report, kind, "standard", count)
    assert not wrong, f"{len(wrong)} results in {ran} runs:\n" + "\n".join(wrong)
    assert ran == (count if kind.data_type in types() else 0)


@pytest.mark.thinned(9)
@pytest.mark.parametrize("algorithm", PERSISTENT)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_persistent_algorithms(handle: Handle, report: Report, kind: Kind, algorithm: str) -> None:
    if kind.data_type == "float64" and algorithm != "persist_dynamic":
        pytest.skip("cuDNN refuses the descriptor: tested with the descriptors")
    count = 3 if handle.on_reference_device else 20
    ran, wrong = run_problems(handle, report, kind, algorithm, count)
    assert not wrong, f"{len(wrong)} results in {ran} runs:\n" + "\n".join(wrong)
    refused = kind.compute_data_type == "float16" or kind.data_type not in types()
    assert ran == (0 if refused else count)


class TestTheToleranceNotices:
    """A wrong result must not hide in the tolerance."""

    @pytest.mark.thinned(6)
    @pytest.mark.parametrize("kind", KINDS, ids=str)
    def test_a_weight_that_is_not_used(self, kind: Kind) -> None:
        noticed = tried = 0
        for seed in range(20):
            problem = random_problem(kind, seed)
            given = random_operands(problem)
            exact = expected(problem, given)
            allowed = tolerances(problem, given, exact)
            first = named(problem.network, weights_in(problem.network, given.weights))[0]
            first[f"r_{problem.network.gates[0]}"][...] = 0  # a view of given.weights
            wrong = expected(problem, given)
            for name in RESULTS:
                if name in exact and (wrong[name] != exact[name]).any():
                    tried += 1
                    noticed += bool(np.abs(wrong[name] - exact[name]).max() > allowed[name])
        assert tried > 40
        # Eight bits see less.
        assert noticed >= (0.5 if kind.data_type == "bfloat16" else 0.75) * tried
