"""Random batch normalizations against the reference, computed in float64.

On the reference device this tests how layer 2 describes its operands; on a GPU, cuDNN. What cuDNN
does not support is counted by its reason and printed at the end of the session.
"""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes import Handle, NotSupportedError

from .conftest import Report
from .normalizations import (
    DATA_TYPES,
    FAMILIES,
    expected,
    random_operands,
    random_problem,
    run,
)

ON_GPU, ON_REFERENCE = 40, 15
CASES = [
    (data_type, family)
    for data_type in DATA_TYPES
    for family in FAMILIES
    if data_type != "float64" or not family.startswith("fused")
]
# The least share of problems that must run on a GPU.
SHARE = {"float64": 0.5, "float32": 0.5, "float16": 0.5, "bfloat16": 0.0}


@pytest.mark.thinned(6)
@pytest.mark.parametrize(("data_type", "family"), CASES)
def test_random_problems(handle: Handle, report: Report, data_type: str, family: str) -> None:
    on_reference = handle.on_reference_device
    device = "reference" if on_reference else "GPU"
    count, ran, wrong = ON_REFERENCE if on_reference else ON_GPU, 0, []
    for seed in range(count):
        problem = random_problem(data_type, family, seed)
        given = random_operands(problem)
        try:
            results = run(handle, problem, given)
        except NotSupportedError as error:
            how = f"{problem.mode}, {problem.layout}, {len(problem.shape)} dimensions"
            reason = f"{error.function}: {error.status!s} ({how})"
            report.not_supported((device, data_type, family), reason)
            continue
        ran += 1
        exact, allowed = expected(problem, given)
        for name, result in results.items():
            error = np.abs(result.astype(np.float64).reshape(exact[name].shape) - exact[name])
            error = np.where(np.isnan(error), np.inf, error)
            bound = np.broadcast_to(allowed[name], error.shape)
            over = float(np.where(error == 0, 0.0, error / np.maximum(bound, 1e-300)).max())
            relative = float(error.max() / max(np.abs(exact[name]).max(), 1e-30))
            report.ran((device, data_type, f"{family} {name}"), relative, over)
            if not over <= 1:
                wrong.append(f"{name}: {over:.3g} times the bound: {problem}")
    assert not wrong, f"{len(wrong)} results of {ran} problems:\n" + "\n".join(wrong)
    assert ran >= (1 if on_reference else SHARE[data_type]) * count


@pytest.mark.parametrize("data_type", DATA_TYPES)
def test_the_bound_notices_a_wrong_statistic(data_type: str) -> None:
    """A variance over m - 1 in the place of m must not hide in the bound."""
    for seed in range(20):
        problem = random_problem(data_type, "batch", seed)
        given = random_operands(problem)
        exact, allowed = expected(problem, given)
        count = given["x"].size // given["scale"].size
        wrong = exact["saved_inv_variance"] * np.sqrt(1 - 1 / count)
        assert (abs(wrong - exact["saved_inv_variance"]) > allowed["saved_inv_variance"]).all()
