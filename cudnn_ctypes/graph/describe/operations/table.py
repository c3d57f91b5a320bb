"""The methods of a graph that describe an operation, from one table."""

from __future__ import annotations

from . import (
    attention,
    attention_fp8,
    attention_unified,
    batch_normalization,
    blocks,
    convolutions,
    normalizations,
    pointwise,
    reductions,
    resampling,
    sequences,
    shapes,
)
from .base import OPERATIONS, Operations

__all__ = ["FAMILIES", "GraphOperations"]

FAMILIES = (
    convolutions,
    attention,
    attention_fp8,
    attention_unified,
    normalizations,
    resampling,
    batch_normalization,
    sequences,
    blocks,
    pointwise,
    reductions,
    shapes,
)
"""The modules whose functions the table has."""


class GraphOperations(Operations):
    """A graph's tensors and nodes with all operations; the stub has their signatures."""


for _name, _method in OPERATIONS.items():
    setattr(GraphOperations, _name, _method)
