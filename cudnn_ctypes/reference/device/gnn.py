"""The GNN functions on the reference device; they take a stream and no handle.

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
from ..gnn_agg_simple import GnnCscGraph, gnn_agg_simple_backward, gnn_agg_simple_forward
from ..gnn_mha_gat import (
    GnnMhaParams,
    gnn_mha_gat_backward,
    gnn_mha_gat_forward,
    gnn_mha_gat_v2_backward,
    gnn_mha_gat_v2_forward,
)
from .call import Call
from .memory import Use, at, require, scribble
from .registry import bad_param, execution_failed, implements, not_supported

__all__ = ["Table", "check_types", "mha_params", "read_graph", "use_workspaces"]

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


_OPERATIONS: dict[int, Any] = {
    raw.CUDNN_GNN_AGG_SUM: "sum",
    raw.CUDNN_GNN_AGG_MEAN: "mean",
    raw.CUDNN_GNN_AGG_MAX: "max",
    raw.CUDNN_GNN_AGG_MIN: "min",
}


class _Aggregation:
    """A call of an aggregation: the graph, the operation's name, and tables of memory."""

    def __init__(self, call: Call) -> None:
        self.call = call
        nodes, edges, passed = (call[f"{of}FeatDim"] for of in ("node", "edge", "concat"))
        if call["aggOp"] not in _OPERATIONS:
            raise bad_param(f"aggOp {int(call['aggOp'])}")
        if min(nodes, edges, passed) < 0 or nodes + edges == 0:
            raise bad_param(
                f"nodeFeatDim {nodes} or edgeFeatDim {edges} must be positive, and none negative, "
                f"concatFeatDim {passed} included"
            )
        self.operation = _OPERATIONS[call["aggOp"]]
        if self.operation in ("max", "min"):
            call.require("outPositions")
        check_types(call["dataType"])
        self.graph = graph = read_graph(call)
        self.nodes = (graph.source_count, nodes)
        self.edges = (graph.edge_count, edges)
        self.passed = (graph.destination_count, passed)
        self.outputs = (graph.destination_count, nodes + edges + passed)
        self.positions = (graph.destination_count, nodes + edges)

    def table(self, name: str, shape: tuple[int, ...]) -> Table:
        return Table(self.call, name, self.call["dataType"], shape)

    def out_positions(self) -> Table:
        kind = self.call["graph"].contents.idxType
        return Table(self.call, "outPositions", kind, self.positions)


@implements("cudnnGnnAggSimpleForward")
def forward(call: Call) -> None:
    here = _Aggregation(call)
    call.require("output")
    result = gnn_agg_simple_forward(
        here.graph,
        here.table("nodeFeatures", here.nodes).optional(),
        here.table("edgeFeatures", here.edges).optional(),
        here.table("concatFeatures", here.passed).optional(),
        operation=here.operation,
        compute_dtype=np.float32,
    )
    here.table("output", here.outputs).store(result.output)
    if result.out_positions is not None:
        here.out_positions().store(result.out_positions)


@implements("cudnnGnnAggSimpleBackward")
def backward(call: Call) -> None:
    here = _Aggregation(call)
    nodes = here.table("gradNodeFeatures", here.nodes)
    edges = here.table("gradEdgeFeatures", here.edges)
    passed = here.table("gradConcatFeatures", here.passed)
    call.require("gradOutput")
    positions = None
    if here.operation in ("max", "min"):
        positions = here.out_positions().load()
        _check_positions(positions, here.nodes[0], here.edges[0], here.nodes[1])
    passed.check()
    gradients = gnn_agg_simple_backward(
        here.graph,
        doutput=here.table("gradOutput", here.outputs).load(),
        out_positions=positions,
        dnode_features=nodes.optional(),
        dedge_features=edges.optional(),
        node_feat_dim=here.nodes[1],
        edge_feat_dim=here.edges[1],
        operation=here.operation,
        compute_dtype=np.float32,
    )
    for table, gradient in zip((nodes, edges, passed), gradients, strict=True):
        if gradient is not None:
            table.store(gradient)


def _check_positions(positions: Any, sources: int, edges: int, node_features: int) -> None:
    """Refuse positions that would make a kernel write elsewhere."""
    for part, count in (
        (positions[:, :node_features], sources),
        (positions[:, node_features:], edges),
    ):
        if part.size and (part.min() < -1 or part.max() >= count):
            raise execution_failed("outPositions do not come from the forward pass of this graph")


FLOAT = raw.CUDNN_DATA_FLOAT


class _Attention:
    """A call of GNN attention: the graph, the sizes, and tables of memory."""

    def __init__(self, call: Call) -> None:
        self.call, self.v2 = call, "V2" in call.name
        self.data_type = call["dataType"]
        check_types(self.data_type)
        self.size = call["dimNode"]
        if self.v2:
            self.edge_size = self.size if call["edgeFeatures"] else 0
            self.weight_count = self.size
        else:
            self.edge_size = call["dimEdge"]
            self.weight_count = 2 * self.size + self.edge_size
        self.params = mha_params(call, self.size, self.edge_size)
        self.graph = graph = read_graph(call)
        self.sources = (graph.source_count, self.size)
        self.destinations = (graph.destination_count, self.size)
        self.edges = (graph.edge_count, self.edge_size)
        whole = self.params.concat_heads
        out_size = self.size if whole else self.size // self.params.num_heads
        self.outputs = (graph.destination_count, out_size)
        self.activated = (graph.edge_count, self.size)
        self.scores = (2, self.params.num_heads, graph.edge_count)

    def table(self, name: str, *shape: int, data_type: Any = None) -> Table:
        return Table(self.call, name, self.data_type if data_type is None else data_type, shape)

    def required(self, name: str, *shape: int, data_type: Any = None) -> Table:
        """A table that must not be NULL."""
        self.call.require(name)
        return self.table(name, *shape, data_type=data_type)

    def given(self) -> dict[str, Any]:
        """The features and the weights, as the reference takes them."""
        self.call.require("srcFeatures", "dstFeatures", "attnWeights")
        return {
            "src_features": self.table("srcFeatures", *self.sources).load(),
            "dst_features": self.table("dstFeatures", *self.destinations).load(),
            "attn_weights": self.table("attnWeights", self.weight_count).load(),
            "edge_features": self.table("edgeFeatures", *self.edges).optional(),
            "params": self.params,
        }

    def per_head(self, name: str) -> NDArray[Any] | None:
        """An optional table (heads, edges) of FLOAT."""
        if not self.call[name]:
            return None
        return self.table(name, *self.scores[1:], data_type=FLOAT).load()


@implements("cudnnGnnMhaGatForward", "cudnnGnnMhaGatV2Forward")
def attention_forward(call: Call) -> None:
    here = _Attention(call)
    function = gnn_mha_gat_v2_forward if here.v2 else gnn_mha_gat_forward
    operands = here.given()
    output = here.required("output", *here.outputs)
    scores = here.required("smScores", *here.scores, data_type=FLOAT)
    activated = here.required("actScores", *here.activated) if here.v2 else None
    results = function(here.graph, **operands, dropout_mask=here.per_head("dropoutMask"))
    output.store(results.output)
    scores.store(results.sm_scores)
    if activated is not None and results.act_scores is not None:
        activated.store(results.act_scores)


@implements("cudnnGnnMhaGatBackward", "cudnnGnnMhaGatV2Backward")
def attention_backward(call: Call) -> None:
    """FLOAT gradients of features go with FLOAT gradients of weights only, says NVIDIA's manual."""
    here = _Attention(call)
    kind = call[call.named("gradType", "gradDataType")]
    weight_kind = call[call.named("gradType", "gradWeightType")]
    check_types(here.data_type, kind, weight_kind)
    if kind == FLOAT != weight_kind:
        raise not_supported(f"gradWeightType {weight_kind.name} with gradDataType {kind.name}")
    operands = here.given()
    if not here.v2:
        call.require("gradWeights")
    dsource = here.required("gradSrcFeatures", *here.sources, data_type=kind)
    ddestination = here.required("gradDstFeatures", *here.destinations, data_type=kind)
    dedges = here.table("gradEdgeFeatures", *here.edges, data_type=kind)
    dedges.check()
    dweights = here.table("gradWeights", here.weight_count, data_type=weight_kind)
    dscores = here.required("gradSmScores", *here.scores, data_type=FLOAT)
    destinations, edges = here.graph.destination_count, here.graph.edge_count
    use_workspaces(
        here.graph,
        here.table("gradWspaceFeat", edges, here.size, data_type=kind),
        here.table("gradWspaceWeights", destinations, here.weight_count, data_type=weight_kind),
    )
    if here.v2:
        operands["act_scores"] = here.required("actScores", *here.activated).load()
    gradients = (gnn_mha_gat_v2_backward if here.v2 else gnn_mha_gat_backward)(
        here.graph,
        **operands,
        doutput=here.required("gradOut", *here.outputs).load(),
        sm_scores=here.required("smScores", *here.scores, data_type=FLOAT).load(),
        dropout_mask=here.per_head("dropoutMask"),
        dattention=here.per_head("gradAttention"),
    )
    by_source, by_destination = gradients.dsrc_features, gradients.ddst_features
    if dsource.address == ddestination.address:  # one set of nodes: both together
        count = min(len(by_source), len(by_destination))
        by_source, by_destination = by_source.copy(), by_destination.copy()
        by_source[:count] += gradients.ddst_features[:count]
        by_destination[:count] += gradients.dsrc_features[:count]
    dsource.store(by_source)
    ddestination.store(by_destination)
    if gradients.dedge_features is not None:
        dedges.store(gradients.dedge_features)
    if dweights.address:
        dweights.store(gradients.dattn_weights)
    dscores.store(gradients.dsm_scores)
