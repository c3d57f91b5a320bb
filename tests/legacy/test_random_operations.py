"""Random activations, softmaxes, poolings, reductions and tensor operations.

They are compared with the reference in float64 (see `draws`): on the reference device this
tests layer 2, on a GPU cuDNN. What cuDNN has no kernel for is counted by its reason and printed at
the end of the session; at least a stated share must run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
import pytest

from cudnn_ctypes import Handle, NotSupportedError

from .conftest import Report
from .draws import FLOATING, Case, Draw
from .operations import families

ON_GPU, ON_REFERENCE = 48, 18
FAMILIES = list(families())
NAMES = [f"{operation}-{kind}".replace(" ", "_") for operation, kind, _ in FAMILIES]
# The least share of problems that must run, where it is not this.
USUAL_SHARE = 0.9
SHARE: dict[tuple[str, str], float] = {
    # No reduction of bfloat16 (cuDNN 9.14, 9.19).
    ("reduce", "bfloat16"): 0,
    ("reduce indices", "bfloat16"): 0,
    # Factors other than 1 and 0 only between packed NCHW tensors (cuDNN 9.14, 9.19).
    **{("transform ex", kind): 0.6 for kind in (*FLOATING, "int8")},
}


def problem(operation: str, kind: str, make: Callable[[Draw], Case], number: int) -> Case:
    seed = (number, zlib.crc32(f"{operation} {kind}".encode()))
    return make(Draw(seed, kind.split(" to ")[0]))


def errors(case: Case, result: np.ndarray) -> tuple[float, float]:
    """The largest error over the largest element, and over what is allowed there."""
    assert result.shape == case.exact.shape
    error = np.abs(result.astype(np.float64) - case.exact)
    error = np.where(np.isnan(error), np.inf, error)
    over = np.where(error == 0, 0.0, error / np.where(case.allowed > 0, case.allowed, 1e-300))
    return float(error.max() / max(np.abs(case.exact).max(), 1e-30)), float(over.max())


@pytest.mark.thinned(5)
@pytest.mark.parametrize(("operation", "kind", "make"), FAMILIES, ids=NAMES)
def test_random_problems(
    handle: Handle, report: Report, operation: str, kind: str, make: Callable[[Draw], Case]
) -> None:
    on_reference = handle.on_reference_device
    key = ("reference" if on_reference else "GPU", kind, operation)
    count, ran, wrong = ON_REFERENCE if on_reference else ON_GPU, 0, []
    for number in range(count):
        case = problem(operation, kind, make, number)
        try:
            result = case.run(handle)
        except NotSupportedError as error:
            report.not_supported(key, f"{error.function}: {error.status!s}")
            continue
        relative, over = errors(case, result)
        ran += 1
        report.ran(key, relative, over)
        if not over <= 1:
            wrong.append(f"{over:.3g} times the tolerance, number {number}: {case.about}")
    assert not wrong, f"{len(wrong)} of {ran}:\n" + "\n".join(wrong)
    assert ran >= SHARE.get((operation, kind), USUAL_SHARE) * count


@pytest.mark.thinned(5)
@pytest.mark.parametrize(("operation", "kind", "make"), FAMILIES, ids=NAMES)
def test_the_tolerance_notices_a_wrong_element(
    operation: str, kind: str, make: Callable[[Draw], Case]
) -> None:
    noticed = 0
    for number in range(20):
        case = problem(operation, kind, make, number)
        wrong = case.exact.copy()
        index = np.unravel_index(np.abs(wrong).argmax(), wrong.shape)
        wrong[index] = 0.9 * wrong[index] - 0.1
        noticed += errors(case, wrong)[1] > 1
    assert noticed >= 15
