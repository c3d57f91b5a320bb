"""The arguments of cuDNN's functions on graphs of nodes: structs in place of single values."""

from __future__ import annotations

import ctypes
from typing import Any

from .. import raw
from ..arguments import c_integer
from ..raw.memory import memory_pointer
from .c_members import c_member
from .causal_functions import c_argument
from .enums import Named

__all__ = ["csc_graph", "enumerator", "memory", "mha_params", "set_reverse", "type_or_like"]


def memory(value: Any) -> Any:
    """The address as layer 1 takes it: None for 0."""
    return None if type(value) is int and value == 0 else value


def csc_graph(
    offsets: Any, indices: Any, rows: Any, sources: int, destinations: int, edges: int, kind: Any
) -> raw.cudnnGnnCscGraph_t:
    """The struct of a graph of nodes, from the addresses of its arrays and its sizes."""
    return raw.cudnnGnnCscGraph_t(
        cscOffsets=memory_pointer(offsets, "cscOffsets") or None,
        cscIndices=memory_pointer(indices, "cscIndices") or None,
        mapCscToCoo=memory_pointer(rows, "mapCscToCoo") or None,
        nSrcNodes=c_integer("nSrcNodes", sources, ctypes.c_int64),
        nDstNodes=c_integer("nDstNodes", destinations, ctypes.c_int64),
        nIndices=c_integer("nIndices", edges, ctypes.c_int64),
        idxType=c_argument("idxType", kind),
    )


def set_reverse(graph: raw.cudnnGnnCscGraph_t, offsets: Any, rows: Any) -> None:
    """Give the struct the graph in reverse, for gradients in a fixed order."""
    graph.cscRevOffsets = memory_pointer(offsets, "cscRevOffsets") or None
    graph.mapRevToCoo = memory_pointer(rows, "mapRevToCoo") or None


def mha_params(activation: Any, alpha: float, heads: int, concat: bool) -> raw.cudnnGnnMhaParams_t:
    """The struct of what attention is told."""
    kind = enumerator(raw.cudnnGnnActivationOp_t, activation)
    return raw.cudnnGnnMhaParams_t(kind, alpha, heads, int(concat))


def enumerator(cls: Any, value: Any) -> Any:
    """An enumerator of C's, from its number or a member of the front end."""
    return c_member(value) if isinstance(value, Named) else cls(value)


def type_or_like(given: Any, data_type: Any) -> Any:
    """A data type; that of the features for -1."""
    return c_argument("dataType", data_type if given == -1 else given)
