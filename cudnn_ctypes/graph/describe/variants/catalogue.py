"""All that is tried for a graph, in the order in which a user would rather do it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .data_types import data_type_remedies
from .folds import fold_remedies
from .layouts import layout_remedies
from .remedy import Remedy
from .results import result_remedies
from .widths import width_remedies

if TYPE_CHECKING:
    from ...graph import Graph

__all__ = ["remedies"]


def remedies(graph: Graph) -> Iterator[Remedy]:
    """Remedies that change a validated graph; those that lose something come last."""
    families = layout_remedies, fold_remedies, data_type_remedies, width_remedies, result_remedies
    found = [each for family in families for each in family(graph) if each.edit(graph)]
    yield from sorted(found, key=lambda each: each.loses)
