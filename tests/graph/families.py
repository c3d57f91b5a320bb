"""All cases: importing this fills `CASES`."""

from __future__ import annotations

import enum
from typing import Any

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

__all__ = ["CASES", "DISTINCT", "FAMILIES", "ONE_OF_EACH", "PLANS", "Case"]

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


def _distinct() -> list[str]:
    """One case of all that differ in sizes and numbers alone."""
    found: dict[str, str] = {}
    for name, case in CASES.items():
        graph = case.graph()
        nodes = [
            (node.operation, [(option, _kind(value)) for option, value in node.options.items()])
            for node in graph.nodes
        ]
        tensors = {(each.data_type, each.dims and len(each.dims)) for each in graph.tensors}
        found.setdefault(f"{nodes} {sorted(map(str, tensors))}", name)
    return list(found.values())


def _kind(value: Any) -> Any:
    """An option's value, or only its type if it is a number or has numbers."""
    told = value is None or isinstance(value, (bool, str, enum.Enum))
    return value if told else type(value).__name__


DISTINCT = _distinct()
"""The cases for what is the same whatever the sizes are."""

PLANS = (
    "convolution",
    "convolution + bias + relu",
    "matmul + bias + gelu",
    "sigmoid(a + b * c)",
    "attention",
)
"""Cases with engines of every sort, that tests compile, store and execute in every way."""
