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


def _kind(value: Any) -> Any:
    """An option's value, or only its type if it is a number or has numbers."""
    told = value is None or isinstance(value, (bool, str, enum.Enum))
    return value if told else type(value).__name__


def _chosen() -> tuple[list[str], list[str]]:
    """`ONE_OF_EACH` and `DISTINCT`: of each case a graph is described once."""
    by_operations: dict[str, str] = {}
    by_options: dict[str, str] = {}
    for name, case in CASES.items():
        graph = case.graph()
        if case.here:
            by_operations.setdefault(" ".join(node.operation for node in graph.nodes), name)
        nodes = [
            (node.operation, [(option, _kind(value)) for option, value in node.options.items()])
            for node in graph.nodes
        ]
        tensors = {(each.data_type, each.dims and len(each.dims)) for each in graph.tensors}
        by_options.setdefault(f"{nodes} {sorted(map(str, tensors))}", name)
    return list(by_operations.values()), list(by_options.values())


ONE_OF_EACH, DISTINCT = _chosen()
"""Of the cases that cuDNN builds without a GPU, on the reference device, which is an H200, too, one
for each sequence of operations; and one of all that differ in sizes and numbers alone."""

PLANS = (
    "convolution",
    "convolution + bias + relu",
    "matmul + bias + gelu",
    "sigmoid(a + b * c)",
    "attention",
)
"""Cases with engines of every sort, that tests compile, store and execute in every way."""
