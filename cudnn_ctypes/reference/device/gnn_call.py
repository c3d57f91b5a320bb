"""Checks of the GNN functions on the reference device, and views of their memory.

cuDNN checks the GPU before its arguments, so the statuses for wrong arguments were not measured:
BAD_PARAM for pointers and sizes follows its header.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...dtypes import numpy_dtype
from ..arithmetic import round_to
from ..gnn_agg_simple import GnnCscGraph
from ..gnn_mha_gat import GnnMhaParams
from .call import Call
from .memory import Use, at, require, scribble
from .registry import bad_param, execution_failed, not_supported

__all__ = [
    "Table",
    "check_types",
    "mha_params",
    "read_graph",
    "use_workspaces",
]

_INDEX_TYPES = (raw.CUDNN_DATA_INT32, raw.CUDNN_DATA_INT64)
_FEATURE_TYPES = (raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16)

_ACTIVATIONS: dict[int, Any] = {
    raw.CUDNN_GNN_ACT_LINEAR: "linear",
    raw.CUDNN_GNN_ACT_RELU: "relu",
    raw.CUDNN_GNN_ACT_SIGMOID: "sigmoid",
    raw.CUDNN_GNN_ACT_TANH: "tanh",
    raw.CUDNN_GNN_ACT_ELU: "elu",
    raw.CUDNN_GNN_ACT_SCALAR: "scalar",
    raw.CUDNN_GNN_ACT_LEAKY_RELU: "leaky_relu",
}


@dataclass(frozen=True)
class Table:
    """Dense memory as C passes it: a name, a type and a shape."""

    call: Call
    name: str
    data_type: raw.cudnnDataType_t
    shape: tuple[int, ...]

    @property
    def address(self) -> int | None:
        address: int | None = self.call[self.name]
        return address

    def load(self) -> NDArray[Any]:
        """A view in float32 or integers; NULL is refused unless the table is empty."""
        if 0 in self.shape:
            return np.zeros(self.shape, np.float32)
        view = self.view()
        return view.astype(np.float32) if view.dtype.kind != "i" else view

    def check(self) -> None:
        """Refuse NULL for a table with features, and an address for a table without."""
        if self.shape[0] and bool(self.address) != bool(self.shape[1]):
            given = "given" if self.address else "NULL"
            raise bad_param(f"{self.name} is {given} with {self.shape[1]} features")

    def optional(self) -> NDArray[Any] | None:
        """None without features."""
        self.check()
        return self.load() if self.shape[1] else None

    def store(self, values: NDArray[Any]) -> None:
        if 0 not in self.shape:
            self.view("write")[...] = round_to(
                values.reshape(self.shape), numpy_dtype(self.data_type)
            )

    def view(self, use: Use = "read") -> NDArray[Any]:
        return self.call.array(self.name, self.data_type, *self.shape, use=use)

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape)) * numpy_dtype(self.data_type).itemsize


def read_graph(call: Call) -> GnnCscGraph:
    """The graph that the call's ``cudnnGnnCscGraph_t`` describes.

    Raises
    ------
    Refused
        BAD_PARAM for NULL and for invalid sizes; EXECUTION_FAILED for indices outside the tables.
    """
    call.require("graph")
    graph = call["graph"].contents
    for name in ("nSrcNodes", "nDstNodes", "nIndices"):
        if getattr(graph, name) < 0:
            raise bad_param(f"graph: {name} is {getattr(graph, name)}")
    if graph.idxType not in _INDEX_TYPES:
        raise bad_param(f"graph: idxType must be INT32 or INT64, is {graph.idxType}")
    edges = graph.nIndices
    offsets = _integers(graph, "cscOffsets", graph.nDstNodes + 1)
    indices = _integers(graph, "cscIndices", edges)
    rows = _integers(graph, "mapCscToCoo", edges) if graph.mapCscToCoo else None
    try:
        return GnnCscGraph(offsets, indices, graph.nSrcNodes, rows)
    except ValueError as error:
        raise execution_failed(f"graph: {error}") from None


def check_types(*kinds: raw.cudnnDataType_t) -> None:
    """Refuse unsupported feature types, and gradients of another type than the features or FLOAT.

    The first type is the features'; the others are the gradients'.
    """
    for kind in kinds:
        if kind not in _FEATURE_TYPES or kind not in (kinds[0], raw.CUDNN_DATA_FLOAT):
            names = ", ".join(each.name for each in kinds)
            raise not_supported(f"data types {names}")


def mha_params(call: Call, node_features: int, edge_features: int) -> GnnMhaParams:
    """The call's ``cudnnGnnMhaParams_t``, with the sizes that must be multiples of its heads."""
    call.require("params")
    params = call["params"].contents
    heads = params.numHeads
    if heads < 1 or node_features < 1 or edge_features < 0:
        raise bad_param(f"numHeads {heads}, dimNode {node_features}, dimEdge {edge_features}")
    if node_features % heads or edge_features % heads:
        raise bad_param(
            f"dimNode {node_features} and dimEdge {edge_features} must be multiples of {heads} "
            f"heads"
        )
    if params.activation not in _ACTIVATIONS:
        raise bad_param(f"activation {int(params.activation)}")
    activation = _ACTIVATIONS[params.activation]
    if activation == "leaky_relu" and params.activationAlpha <= 0:
        raise bad_param(f"activationAlpha must be positive: {params.activationAlpha}")
    return GnnMhaParams(heads, bool(params.concatHeads), activation, params.activationAlpha)


def use_workspaces(graph: GnnCscGraph, features: Table, weights: Table) -> None:
    """Check and overwrite the workspaces of a deterministic backward pass."""
    if bool(features.address) != bool(weights.address):
        raise bad_param(f"{features.name} and {weights.name} must both be given, or both be NULL")
    if features.address:
        _check_reversed(graph, features.call["graph"].contents)
        for space in (features, weights):
            scribble(space.address, space.nbytes, space.name)


def _check_reversed(graph: GnnCscGraph, buffer: Any) -> None:
    """Refuse a graph without its reverse, or with another graph's."""
    require(cscRevOffsets=buffer.cscRevOffsets, mapRevToCoo=buffer.mapRevToCoo)
    offsets = _integers(buffer, "cscRevOffsets", graph.source_count + 1)
    rows = _integers(buffer, "mapRevToCoo", graph.edge_count)
    sources = np.empty(graph.edge_count, np.int64)
    sources[graph.rows] = graph.indices
    in_range = not len(rows) or (rows.min() >= 0 and rows.max() < graph.edge_count)
    if (
        not np.array_equal(offsets, graph.reversed_offsets())
        or not in_range
        or len(set(rows.tolist())) != len(rows)
        or (np.diff(sources[rows]) < 0).any()
    ):
        raise execution_failed(
            "graph: cscRevOffsets and mapRevToCoo do not belong to cscOffsets and cscIndices"
        )


def _integers(buffer: Any, name: str, count: int) -> NDArray[Any]:
    if count == 0:
        return np.zeros(0, numpy_dtype(buffer.idxType))
    return at(getattr(buffer, name), buffer.idxType, (count,), (1,), f"graph: {name}")
