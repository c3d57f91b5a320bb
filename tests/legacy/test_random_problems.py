"""Random problems of every family on both devices; see `random_problems`.

What cuDNN has no kernel for is counted by its reason and printed at the end of the session; at
least a stated share must run.
"""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes import BadParamError, Handle, NotSupportedError, SymbolNotFoundError

from .conftest import Report
from .random_problems import FAMILIES, Family, errors

by_family = pytest.mark.parametrize("family", FAMILIES, ids=str)


@pytest.mark.thinned(12)
@by_family
def test_random_problems(handle: Handle, report: Report, family: Family) -> None:
    on_reference = handle.on_reference_device
    device = "reference" if on_reference else "GPU"
    key = (device, family.kind, family.operation)
    count, ran, wrong = family.on_reference if on_reference else family.on_gpu, 0, []
    for seed in range(count):
        try:
            results = list(family.carry_out(handle, seed))
        except SymbolNotFoundError as error:
            report.not_supported(key, str(error).split(";")[0])
            pytest.skip(str(error))
        except (NotSupportedError, BadParamError) as error:
            # BAD_PARAM is how the spatial transformer's descriptor refuses bfloat16.
            if isinstance(error, BadParamError) and family.kind != "bfloat16":
                raise
            reason = error.messages[-1] if error.messages else str(error.status)
            report.not_supported(key, f"{error.function}: {reason}"[:160])
            continue
        ran += 1
        for result in results:
            relative, over = errors(result)
            report.ran((device, family.kind, f"{family.operation} {result.name}"), relative, over)
            if not over <= 1:
                wrong.append(f"{seed}: {result.name} {over:.3g} times the bound: {result.about}")
    assert not wrong, f"{len(wrong)} results of {ran} problems:\n" + "\n".join(wrong)
    assert family.least[on_reference] * count <= ran
    if not ran:
        pytest.skip("not supported")


@pytest.mark.thinned(8)
@pytest.mark.parametrize("family", FAMILIES[::4], ids=str)
def test_the_bounds_notice_a_wrong_element(reference_handle: Handle, family: Family) -> None:
    """The largest, off by a tenth and a little; coarse numbers by more."""
    off = 0.4 if "bfloat16" in family.kind or "int8" in family.kind else 0.1
    noticed = tried = 0
    for seed in range(min(6, family.on_reference)):
        try:
            results = list(family.carry_out(reference_handle, seed))
        except (NotSupportedError, BadParamError, SymbolNotFoundError):
            continue
        for result in results:
            wrong = np.array(result.exact, np.float64)
            if wrong.size:
                index = np.unravel_index(np.abs(wrong).argmax(), wrong.shape)
                wrong[index] -= off * (1 + abs(wrong[index]))
                tried += 1
                noticed += errors(result._replace(value=wrong))[1] > 1
    assert noticed >= 0.7 * tried
