"""Hundreds of random convolutions against the reference, computed in float64.

On the reference device this tests how layer 2 describes its operands, and a few of them against
PyTorch, which shares no code with it; on a GPU, cuDNN. What cuDNN has no kernel for is counted by
its reason and printed at the end of the session; at least a stated share must run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cudnn_ctypes import Handle, NotSupportedError

from .conftest import Report
from .convolutions import (
    KINDS,
    Kind,
    Operands,
    Problem,
    expected,
    random_operands,
    random_problem,
    tolerance,
)
from .runs import Run

ON_GPU, ON_REFERENCE = 40, 12
CASES = [(kind, operation) for kind in KINDS for operation in kind.operations]
# The least share of problems that must run, where it is not this.
USUAL_SHARE = 0.9
SHARE = {
    ("bfloat16", "backward_bias"): 0.0,  # cuDNN 9.19 has no kernel
    ("float64", "backward_data"): 0.3,  # none for NHWC
    ("float64", "backward_filter"): 0.3,
    ("float64", "forward"): 0.7,  # none for NHWC in 3 spatial dimensions
    ("float64", "fused"): 0.7,
}


def outcome(
    handle: Handle, problem: Problem, operation: str
) -> tuple[float, float, str] | NotSupportedError:
    """Error over the largest element and over the tolerance, and the algorithm."""
    given, identity = random_operands(problem, operation), problem.seed % 2 == 1
    try:
        with Run(handle, problem, given) as run:
            result, algorithm = run.carry_out(operation, identity=identity)
    except NotSupportedError as error:
        return error
    exact = expected(problem, operation, given, identity=identity)
    allowed = tolerance(problem, operation, given, exact, algorithm)
    error = np.abs(result.astype(np.float64) - exact)
    error = np.where(np.isnan(error), np.inf, error)
    over = np.where(error == 0, 0.0, error / np.where(allowed > 0, allowed, 1e-300))
    return float(error.max() / max(np.abs(exact).max(), 1e-30)), float(over.max()), algorithm


def reason(error: NotSupportedError) -> str:
    return error.hint if "Algorithm" in error.function else f"{error.function}: {error.status!s}"


@pytest.mark.thinned(6)
@pytest.mark.parametrize(("kind", "operation"), CASES, ids=lambda value: str(value))
def test_random_problems(handle: Handle, report: Report, kind: Kind, operation: str) -> None:
    on_reference = handle.on_reference_device
    key = ("reference" if on_reference else "GPU", str(kind), operation)
    count, ran, wrong = ON_REFERENCE if on_reference else ON_GPU, 0, []
    for seed in range(count):
        problem = random_problem(kind, seed, operation)
        result = outcome(handle, problem, operation)
        if isinstance(result, NotSupportedError):
            report.not_supported(key, reason(result))
            continue
        relative, over, algorithm = result
        ran += 1
        report.ran(key, relative, over)
        if not over <= 1:
            wrong.append(f"{over:.3g} times the tolerance, with {algorithm}: {problem}")
    assert not wrong, f"{len(wrong)} of {ran}:\n" + "\n".join(wrong)
    assert ran >= SHARE.get((kind.x, operation), USUAL_SHARE) * count


class TestAgainstTorch:
    """An oracle that shares nothing with the reference."""

    @pytest.mark.thinned(6)
    @pytest.mark.parametrize("operation", ["forward", "backward_data", "backward_filter"])
    @pytest.mark.parametrize("seed", range(20))
    def test_float64(self, reference_handle: Handle, torch: Any, operation: str, seed: int) -> None:
        problem = random_problem(KINDS[0], 100 + seed, operation)
        given = random_operands(problem, operation)
        exact = self.expected(torch, problem, operation, given)
        try:
            with Run(reference_handle, problem, given) as run:
                result, _ = run.carry_out(operation)
        except NotSupportedError:
            assert problem.layout == "NHWC"
            return
        np.testing.assert_allclose(result, exact, rtol=1e-10, atol=1e-10)

    @staticmethod
    def expected(torch: Any, problem: Problem, operation: str, given: Operands) -> NDArray[Any]:
        x, w, dy = (torch.from_numpy(array.copy()) for array in (given.x, given.w, given.dy))
        spatial = tuple(range(2, x.ndim))
        x.requires_grad_()
        w.requires_grad_()
        taps = w.flip(spatial) if problem.mode == "convolution" else w
        convolve = getattr(torch.nn.functional, f"conv{len(spatial)}d")
        y = convolve(
            x,
            taps,
            stride=problem.stride,
            padding=problem.padding,
            dilation=problem.dilation,
            groups=problem.groups,
        )
        y.backward(dy)
        result = {"forward": y, "backward_data": x.grad, "backward_filter": w.grad}[operation]
        prior = given.prior if problem.beta else np.zeros_like(given.prior)
        total: NDArray[Any] = problem.alpha * result.detach().numpy() + problem.beta * prior
        return total


class TestTheToleranceNotices:
    """A wrong result must not hide in the tolerance."""

    @pytest.mark.parametrize("kind", KINDS, ids=str)
    def test_a_missing_product(self, kind: Kind) -> None:
        changed = noticed = 0
        for seed in range(20):
            problem = random_problem(kind, seed)
            given = random_operands(problem, "forward")
            exact = expected(problem, "forward", given, identity=False)
            given.x[..., 0] = 0  # as if the first column had been skipped
            wrong = expected(problem, "forward", given, identity=False)
            allowed = tolerance(problem, "forward", given, exact, "IMPLICIT_GEMM")
            changed += bool((wrong != exact).any())
            noticed += bool((np.abs(wrong - exact) > allowed).any())
        assert noticed >= 0.9 * changed
        assert changed >= 10
