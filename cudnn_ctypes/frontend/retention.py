"""How CUDA graphs keep alive what they need of a graph's plans."""

from __future__ import annotations

import os

from .. import raw
from .enums import cuda_graph_retention, named

__all__ = ["chosen_retention", "retention_attribute"]

_VARIABLE = "CUDNN_CUDA_GRAPH_RETENTION"
_HAS_ATTRIBUTE = 92800  # the first version with a choice; older ones keep nothing alive


def chosen_retention(retention: cuda_graph_retention | None) -> cuda_graph_retention:
    """The graph's retention, or else the environment's; PER_GRAPH by default.

    Raises
    ------
    ValueError
        If the variable is neither "per_graph" nor "none".
    """
    if retention is not None:
        return named(cuda_graph_retention, retention, "cuda_graph_retention")
    said = os.environ.get(_VARIABLE, "").strip()
    if not said:
        return cuda_graph_retention.PER_GRAPH
    members = {each.name.lower(): each for each in cuda_graph_retention}
    if said.lower() not in members:
        raise ValueError(f"{_VARIABLE}={said!r}: expected {' or '.join(members)}")
    return members[said.lower()]


def retention_attribute(chosen: cuda_graph_retention) -> str | None:
    """The attribute of an execution plan; None for cuDNN's default, and before cuDNN 9.28."""
    if chosen is cuda_graph_retention.PER_GRAPH or raw.cudnnGetVersion() < _HAS_ATTRIBUTE:
        return None
    return chosen.name.lower()
