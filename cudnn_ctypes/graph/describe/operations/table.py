"""The methods of a graph that describe an operation, from one table."""

from __future__ import annotations

import copyreg
from typing import Any

from ..node import Kind
from . import (
    attention,
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

FAMILIES = (
    convolutions,
    attention,
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


def _kind(name: str) -> Kind:
    return next(vars(family)[name] for family in FAMILIES if name in vars(family))


def _reduced(kind: Kind) -> Any:
    """A kind by its name: code asks which kind it is by identity, also in another process."""
    for family in FAMILIES:
        for name, value in vars(family).items():
            if value is kind:
                return _kind, (name,)
    return object.__reduce_ex__(kind, 2)


copyreg.pickle(Kind, _reduced)
