"""Random problems of LRN, divisive normalization and the spatial transformer, in float64.

On the reference device this tests how layer 2 describes its operands; on a GPU, cuDNN. What cuDNN
does not support is counted by its reason and printed at the end of the session.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cudnn_ctypes import BadParamError, Handle, NotSupportedError

from .conftest import Report
from .local_normalizations import DATA_TYPES, Result, divisive, lrn, spatial

ON_GPU, ON_REFERENCE = 40, 10
OPERATIONS = {"lrn": lrn, "divisive": divisive, "spatial_tf": spatial}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("data_type", DATA_TYPES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_random_problems(handle: Handle, report: Report, operation: str, data_type: str) -> None:
    on_reference = handle.on_reference_device
    device = "reference" if on_reference else "GPU"
    carry_out: Callable[..., list[Result]] = OPERATIONS[operation]
    count, ran, wrong = ON_REFERENCE if on_reference else ON_GPU, 0, []
    for seed in range(count):
        try:
            results = carry_out(handle, data_type, seed)
        except (NotSupportedError, BadParamError) as error:
            # BAD_PARAM is how the spatial transformer's descriptor refuses bfloat16.
            if isinstance(error, BadParamError) and data_type != "bfloat16":
                raise
            reason = f"{error.function}: {error.status!s}"
            report.not_supported((device, data_type, operation), reason)
            continue
        ran += 1
        for name, value, exact, allowed in results:
            error = np.abs(value - exact)
            error = np.where(np.isnan(error), np.inf, error)
            over = float(np.where(error == 0, 0.0, error / np.maximum(allowed, 1e-300)).max())
            relative = float(error.max() / max(np.abs(exact).max(), 1e-30))
            report.ran((device, data_type, f"{operation} {name}"), relative, over)
            if not over <= 1:
                wrong.append(f"{name}: {over:.3g} times the bound: seed {seed}")
    assert not wrong, f"{len(wrong)} results of {ran} problems:\n" + "\n".join(wrong)
    assert ran == (0 if data_type == "bfloat16" else count)
