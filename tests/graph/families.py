"""All cases: importing this fills `CASES`."""

from __future__ import annotations

from . import (
    attention_cases,
    convolution_cases,
    fusion_cases,
    matmul_cases,
    norm_cases,
    pointwise_cases,
    resample_cases,
)
from .cases import CASES, Case

__all__ = ["CASES", "FAMILIES", "ONE_OF_EACH", "PLANS", "Case"]

FAMILIES = (
    attention_cases,
    convolution_cases,
    fusion_cases,
    matmul_cases,
    norm_cases,
    pointwise_cases,
    resample_cases,
)


def _one_of_each() -> list[str]:
    """One case of each sequence of operations, of those that cuDNN builds without a GPU."""
    found: dict[str, str] = {}
    for name, case in CASES.items():
        if case.here:
            found.setdefault(" ".join(node.operation for node in case.graph().nodes), name)
    return list(found.values())


ONE_OF_EACH = _one_of_each()
"""The cases that are executed on the reference device, which is an H200, too."""

PLANS = (
    "convolution",
    "convolution + bias + relu",
    "matmul + bias + gelu",
    "sigmoid(a + b * c)",
    "attention",
)
"""Cases with engines of every sort, that tests compile, store and execute in every way."""
