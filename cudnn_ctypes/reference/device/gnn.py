"""The GNN functions on the reference device; they take a stream and no handle.

cuDNN checks the GPU before its arguments, so the statuses for wrong arguments were not measured:
BAD_PARAM for pointers and sizes follows its header.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import raw
from ...dtypes import numpy_dtype
from ..arithmetic import round_to
from ..gnn import (
    GnnCscGraph,
    GnnMhaParams,
    gnn_agg_simple_backward,
    gnn_agg_simple_forward,
    gnn_mha_gat_backward,
    gnn_mha_gat_forward,
    gnn_mha_gat_v2_backward,
    gnn_mha_gat_v2_forward,
)
from ..tiles import Array
from .call import Call, word
from .memory import at, scribble
from .registry import bad_param, execution_failed, implements, not_supported

_INDEX_TYPES = (raw.CUDNN_DATA_INT32, raw.CUDNN_DATA_INT64)
_FEATURE_TYPES = (raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16)


class _Table:
    """Dense memory of a call, as its declaration describes it."""

    def __init__(self, call: Call, name: str) -> None:
        self.call, self.name = call, name
        self.data_type, self.shape = call.layout(name)
        self.address: int | None = call[name]

    def load(self) -> Array:
        """A view in float32 or integers; NULL is refused unless the table is empty."""
        if 0 in self.shape:
            return np.zeros(self.shape, np.float32)
        view = self.call.dense(self.name)
        return view.astype(np.float32) if view.dtype.kind != "i" else view

    def check(self) -> None:
        """Refuse NULL for a table with features, and an address for a table without."""
        if self.shape[0] and bool(self.address) != bool(self.shape[1]):
            given = "given" if self.address else "NULL"
            raise bad_param(f"{self.name} is {given} with {self.shape[1]} features")

    def optional(self) -> Array | None:
        """None without features."""
        self.check()
        return self.load() if self.shape[1] else None

    def store(self, values: Array | None) -> None:
        """Write values, unless there are none, or no memory for them."""
        if values is not None and self.address and 0 not in self.shape:
            view = self.call.dense(self.name, "write")
            view[...] = round_to(values.reshape(self.shape), view.dtype)

    def overwrite(self) -> None:
        """Overwrite a workspace, as the GPU does."""
        count = math.prod(self.shape)
        scribble(self.address, count * numpy_dtype(self.data_type).itemsize, self.name)


def _read_graph(call: Call) -> GnnCscGraph:
    """The graph that the call's ``cudnnGnnCscGraph_t`` describes.

    Raises Refused BAD_PARAM for NULL and for invalid sizes; EXECUTION_FAILED for indices outside
    the tables.
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


def _check_types(*kinds: raw.cudnnDataType_t) -> None:
    """Refuse unsupported feature types, and gradients of another type than the features or FLOAT.

    The first type is the features'; the others are the gradients'.
    """
    for kind in kinds:
        if kind not in _FEATURE_TYPES or kind not in (kinds[0], raw.CUDNN_DATA_FLOAT):
            names = ", ".join(each.name for each in kinds)
            raise not_supported(f"data types {names}")


def _mha_params(call: Call, edge_features: int) -> GnnMhaParams:
    """The call's ``cudnnGnnMhaParams_t``, whose heads the sizes must be multiples of."""
    call.require("params")
    params, node_features = call["params"].contents, call["dimNode"]
    heads = params.numHeads
    if heads < 1 or node_features < 1 or edge_features < 0:
        raise bad_param(f"numHeads {heads}, dimNode {node_features}, dimEdge {edge_features}")
    if node_features % heads or edge_features % heads:
        raise bad_param(
            f"dimNode {node_features} and dimEdge {edge_features} must be multiples of {heads} "
            f"heads"
        )
    known = raw.cudnnGnnActivationOp_t(params.activation)
    if not known.known:
        raise bad_param(f"activation {int(known)}")
    activation = word(known, "CUDNN_GNN_ACT_")
    if activation == "leaky_relu" and params.activationAlpha <= 0:
        raise bad_param(f"activationAlpha must be positive: {params.activationAlpha}")
    return GnnMhaParams(heads, bool(params.concatHeads), activation, params.activationAlpha)


def _use_workspaces(call: Call, graph: GnnCscGraph) -> None:
    """Check and overwrite the workspaces of a deterministic backward pass."""
    spaces = [_Table(call, name) for name in ("gradWspaceFeat", "gradWspaceWeights")]
    features, weights = (bool(space.address) for space in spaces)
    if features != weights:
        raise bad_param("gradWspaceFeat and gradWspaceWeights must both be given, or both be NULL")
    if features:
        _check_reversed(graph, call["graph"].contents)
        for space in spaces:
            space.overwrite()


def _check_reversed(graph: GnnCscGraph, buffer: Any) -> None:
    """Refuse a graph without its reverse, or with another graph's."""
    offsets = _integers(buffer, "cscRevOffsets", graph.source_count + 1)
    rows = _integers(buffer, "mapRevToCoo", graph.edge_count)
    sources = np.empty(graph.edge_count, np.int64)
    sources[graph.rows] = graph.indices
    if (
        not np.array_equal(offsets, graph.reversed_offsets())
        or not np.array_equal(np.sort(rows), np.arange(graph.edge_count))
        or (np.diff(sources[rows]) < 0).any()
    ):
        raise execution_failed(
            "graph: cscRevOffsets and mapRevToCoo do not belong to cscOffsets and cscIndices"
        )


def _integers(buffer: Any, name: str, count: int) -> Array:
    if count == 0:
        return np.zeros(0, numpy_dtype(buffer.idxType))
    return at(getattr(buffer, name), buffer.idxType, (count,), (1,), f"graph: {name}")


def _aggregation(call: Call) -> tuple[GnnCscGraph, dict[str, Any]]:
    """The graph of an aggregation, and its options."""
    nodes, edges, passed = (call[f"{of}FeatDim"] for of in ("node", "edge", "concat"))
    operation = call.word("aggOp", "CUDNN_GNN_AGG_")
    if min(nodes, edges, passed) < 0 or nodes + edges == 0:
        raise bad_param(
            f"nodeFeatDim {nodes} or edgeFeatDim {edges} must be positive, and none negative, "
            f"concatFeatDim {passed} included"
        )
    if operation in ("max", "min"):
        call.require("outPositions")
    _check_types(call["dataType"])
    return _read_graph(call), {"operation": operation, "compute_dtype": np.float32}


@implements("cudnnGnnAggSimpleForward")
def forward(call: Call) -> None:
    graph, options = _aggregation(call)
    call.require("output")
    names = ("nodeFeatures", "edgeFeatures", "concatFeatures")
    features = [_Table(call, name).optional() for name in names]
    result = gnn_agg_simple_forward(graph, *features, **options)
    _Table(call, "output").store(result.output)
    _Table(call, "outPositions").store(result.out_positions)


@implements("cudnnGnnAggSimpleBackward")
def backward(call: Call) -> None:
    graph, options = _aggregation(call)
    names = ("gradNodeFeatures", "gradEdgeFeatures", "gradConcatFeatures")
    nodes, edges, passed = (_Table(call, name) for name in names)
    call.require("gradOutput")
    positions = None
    if options["operation"] in ("max", "min"):
        positions = _Table(call, "outPositions").load()
        _check_positions(positions, nodes.shape[0], edges.shape[0], nodes.shape[1])
    passed.check()
    gradients = gnn_agg_simple_backward(
        graph,
        doutput=_Table(call, "gradOutput").load(),
        out_positions=positions,
        dnode_features=nodes.optional(),
        dedge_features=edges.optional(),
        node_feat_dim=nodes.shape[1],
        edge_feat_dim=edges.shape[1],
        **options,
    )
    for table, gradient in zip((nodes, edges, passed), gradients, strict=True):
        table.store(gradient)


def _check_positions(positions: Any, sources: int, edges: int, node_features: int) -> None:
    """Refuse positions that would make a kernel write elsewhere."""
    for part, count in (
        (positions[:, :node_features], sources),
        (positions[:, node_features:], edges),
    ):
        if part.size and (part.min() < -1 or part.max() >= count):
            raise execution_failed("outPositions do not come from the forward pass of this graph")


def _attention(call: Call) -> tuple[bool, GnnMhaParams, GnnCscGraph]:
    """Whether it is GATv2; how heads attend; the graph."""
    _check_types(call["dataType"])
    v2 = "V2" in call.name
    return v2, _mha_params(call, 0 if v2 else call["dimEdge"]), _read_graph(call)


def _attended(call: Call, v2: bool, params: GnnMhaParams) -> dict[str, Any]:
    """The features and the weights, as the reference takes them."""
    call.require("srcFeatures", "dstFeatures", "attnWeights")
    edges = _Table(call, "edgeFeatures")
    return {
        "src_features": _Table(call, "srcFeatures").load(),
        "dst_features": _Table(call, "dstFeatures").load(),
        "attn_weights": _Table(call, "attnWeights").load(),
        # GATv2 has features of edges where they are given.
        "edge_features": None if v2 and not edges.address else edges.optional(),
        "params": params,
    }


def _per_head(call: Call, name: str) -> Array | None:
    """An optional table (heads, edges)."""
    return _Table(call, name).load() if call[name] else None


@implements("cudnnGnnMhaGatForward", "cudnnGnnMhaGatV2Forward")
def attention_forward(call: Call) -> None:
    v2, params, graph = _attention(call)
    operands = _attended(call, v2, params)
    results = {"output": "output", "smScores": "sm_scores"}
    results |= {"actScores": "act_scores"} if v2 else {}
    call.require(*results)
    mask = _per_head(call, "dropoutMask")
    function = gnn_mha_gat_v2_forward if v2 else gnn_mha_gat_forward
    done = function(graph, **operands, dropout_mask=mask)
    for name, ours in results.items():
        _Table(call, name).store(getattr(done, ours))


@implements("cudnnGnnMhaGatBackward", "cudnnGnnMhaGatV2Backward")
def attention_backward(call: Call) -> None:
    """FLOAT gradients of features go with FLOAT gradients of weights only, says NVIDIA's manual."""
    v2, params, graph = _attention(call)
    kind = call[call.named("gradType", "gradDataType")]
    weight_kind = call[call.named("gradType", "gradWeightType")]
    _check_types(call["dataType"], kind, weight_kind)
    if kind == raw.CUDNN_DATA_FLOAT != weight_kind:
        raise not_supported(f"gradWeightType {weight_kind.name} with gradDataType {kind.name}")
    operands = _attended(call, v2, params)
    if not v2:
        call.require("gradWeights")
    call.require("gradSrcFeatures", "gradDstFeatures", "gradSmScores")
    dsource, ddestination = (_Table(call, f"grad{of}Features") for of in ("Src", "Dst"))
    dedges = _Table(call, "gradEdgeFeatures")
    if not v2 or operands["edge_features"] is not None:
        dedges.check()
    elif dedges.shape[0] and dedges.address:
        raise bad_param("gradEdgeFeatures is given with 0 features")
    _use_workspaces(call, graph)
    if v2:
        call.require("actScores")
        operands["act_scores"] = _Table(call, "actScores").load()
    call.require("gradOut", "smScores")
    gradients = (gnn_mha_gat_v2_backward if v2 else gnn_mha_gat_backward)(
        graph,
        **operands,
        doutput=_Table(call, "gradOut").load(),
        sm_scores=_Table(call, "smScores").load(),
        dropout_mask=_per_head(call, "dropoutMask"),
        dattention=_per_head(call, "gradAttention"),
    )
    by_source, by_destination = gradients.dsrc_features, gradients.ddst_features
    if dsource.address == ddestination.address:  # one set of nodes: both together
        count = min(len(by_source), len(by_destination))
        by_source, by_destination = by_source.copy(), by_destination.copy()
        by_source[:count] += gradients.ddst_features[:count]
        by_destination[:count] += gradients.dsrc_features[:count]
    dsource.store(by_source)
    ddestination.store(by_destination)
    dedges.store(gradients.dedge_features)
    _Table(call, "gradWeights").store(gradients.dattn_weights)
    _Table(call, "gradSmScores").store(gradients.dsm_scores)
