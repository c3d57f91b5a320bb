"""GNN attention, GAT and GATv2, on the reference device."""

from __future__ import annotations

from typing import Any

from ... import raw
from ..gnn_mha_gat import (
    gnn_mha_gat_backward,
    gnn_mha_gat_forward,
    gnn_mha_gat_v2_backward,
    gnn_mha_gat_v2_forward,
)
from .dispatch import Refused, implements
from .gnn_call import Table, check_types, use_workspaces
from .gnn_mha_gat_call import AttentionCall, AttentionResults
from .memory import require

FLOAT = raw.CUDNN_DATA_FLOAT


@implements("cudnnGnnMhaGatForward")
def gat(
    stream: Any,
    graph: Any,
    srcFeatures: int | None,
    dstFeatures: int | None,
    edgeFeatures: int | None,
    attnWeights: int | None,
    dropoutMask: int | None,
    output: int | None,
    smScores: int | None,
    dimNode: int,
    dimEdge: int,
    params: Any,
    dataType: raw.cudnnDataType_t,
) -> None:
    call = AttentionCall.read(graph, params, dimNode, dimEdge, 2 * dimNode + dimEdge, dataType)
    given = call.given(srcFeatures, dstFeatures, edgeFeatures, attnWeights)
    call.forward(gnn_mha_gat_forward, given, dropoutMask, output, smScores)


@implements("cudnnGnnMhaGatV2Forward")
def gat_v2(
    stream: Any,
    graph: Any,
    srcFeatures: int | None,
    dstFeatures: int | None,
    edgeFeatures: int | None,
    attnWeights: int | None,
    dropoutMask: int | None,
    output: int | None,
    smScores: int | None,
    actScores: int | None,
    dimNode: int,
    params: Any,
    dataType: raw.cudnnDataType_t,
) -> None:
    dimEdge = dimNode if edgeFeatures else 0
    call = AttentionCall.read(graph, params, dimNode, dimEdge, dimNode, dataType)
    given = call.given(srcFeatures, dstFeatures, edgeFeatures, attnWeights)
    require(actScores=actScores)
    made = call.forward(gnn_mha_gat_v2_forward, given, dropoutMask, output, smScores)
    assert made.act_scores is not None
    call.activated(actScores).store(made.act_scores)


@implements("cudnnGnnMhaGatBackward")
def gat_gradients(
    stream: Any,
    graph: Any,
    gradOut: int | None,
    srcFeatures: int | None,
    dstFeatures: int | None,
    edgeFeatures: int | None,
    attnWeights: int | None,
    smScores: int | None,
    dropoutMask: int | None,
    gradAttention: int | None,
    gradSrcFeatures: int | None,
    gradDstFeatures: int | None,
    gradEdgeFeatures: int | None,
    gradWeights: int | None,
    gradSmScores: int | None,
    gradWspaceFeat: int | None,
    gradWspaceWeights: int | None,
    dimNode: int,
    dimEdge: int,
    params: Any,
    dataType: raw.cudnnDataType_t,
    gradDataType: raw.cudnnDataType_t,
    gradWeightType: raw.cudnnDataType_t,
) -> None:
    """FLOAT gradients of features go with FLOAT gradients of weights only, says NVIDIA's manual."""
    call = AttentionCall.read(graph, params, dimNode, dimEdge, 2 * dimNode + dimEdge, dataType)
    check_types(dataType, gradDataType, gradWeightType)
    if gradDataType == FLOAT != gradWeightType:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"gradWeightType {gradWeightType.name} with gradDataType {gradDataType.name}",
        )
    given = call.given(srcFeatures, dstFeatures, edgeFeatures, attnWeights)
    require(gradWeights=gradWeights)
    results = AttentionResults(
        call,
        gradSrcFeatures,
        gradDstFeatures,
        gradEdgeFeatures,
        gradWeights,
        gradSmScores,
        gradDataType,
        gradWeightType,
    )
    use_workspaces(
        call.graph,
        graph,
        Table("gradWspaceFeat", gradWspaceFeat, gradDataType, (call.graph.edge_count, dimNode)),
        Table(
            "gradWspaceWeights",
            gradWspaceWeights,
            gradWeightType,
            (call.graph.destination_count, call.weight_count),
        ),
    )
    call.backward(
        gnn_mha_gat_backward,
        given,
        smScores,
        gradOut,
        dropoutMask,
        gradAttention,
        results,
    )


@implements("cudnnGnnMhaGatV2Backward")
def gat_v2_gradients(
    stream: Any,
    graph: Any,
    gradOut: int | None,
    srcFeatures: int | None,
    dstFeatures: int | None,
    edgeFeatures: int | None,
    attnWeights: int | None,
    smScores: int | None,
    actScores: int | None,
    dropoutMask: int | None,
    gradAttention: int | None,
    gradSrcFeatures: int | None,
    gradDstFeatures: int | None,
    gradEdgeFeatures: int | None,
    gradWeights: int | None,
    gradSmScores: int | None,
    gradWspaceFeat: int | None,
    gradWspaceWeights: int | None,
    dimNode: int,
    params: Any,
    dataType: raw.cudnnDataType_t,
    gradType: raw.cudnnDataType_t,
) -> None:
    dimEdge = dimNode if edgeFeatures else 0
    call = AttentionCall.read(graph, params, dimNode, dimEdge, dimNode, dataType)
    check_types(dataType, gradType)
    given = call.given(srcFeatures, dstFeatures, edgeFeatures, attnWeights)
    results = AttentionResults(
        call,
        gradSrcFeatures,
        gradDstFeatures,
        gradEdgeFeatures,
        gradWeights,
        gradSmScores,
        gradType,
        gradType,
    )
    use_workspaces(
        call.graph,
        graph,
        Table("gradWspaceFeat", gradWspaceFeat, gradType, (call.graph.edge_count, dimNode)),
        Table(
            "gradWspaceWeights",
            gradWspaceWeights,
            gradType,
            (call.graph.destination_count, call.weight_count),
        ),
    )
    given["act_scores"] = call.activated(actScores).load()
    call.backward(
        gnn_mha_gat_v2_backward, given, smScores, gradOut, dropoutMask, gradAttention, results
    )
