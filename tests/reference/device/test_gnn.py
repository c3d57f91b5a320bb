"""GNN aggregation and attention on the reference device, through C's own calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import (
    BadParamError,
    DeviceTensor,
    ExecutionFailedError,
    NotSupportedError,
    raw,
    use_reference_device,
)
from cudnn_ctypes.dtypes import as_data_type
from cudnn_ctypes.reference import gnn_mha_gat as attention
from cudnn_ctypes.reference.gnn_agg_simple import (
    GnnCscGraph,
    gnn_agg_simple_backward,
    gnn_agg_simple_forward,
)

from ..gnn_graphs import random_graph

FLOAT = raw.CUDNN_DATA_FLOAT
DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16]
# Of values of size 1 to 10: a few roundings of the stored type.
TOLERANCE = {"float32": 2e-5, "float16": 1e-2, "bfloat16": 1e-1}
HEADS, FEATURES = 2, 6
NAMES = ("src_features", "dst_features", "edge_features", "attn_weights")


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    with use_reference_device():
        yield


class Uploaded:
    """A graph in device memory, with its struct."""

    def __init__(self, graph: GnnCscGraph) -> None:
        self.graph = graph
        arrays = {
            "cscOffsets": graph.offsets,
            "cscIndices": graph.indices,
            "mapCscToCoo": graph.edge_rows,
            "mapRevToCoo": graph.reversed_rows(),
            "cscRevOffsets": graph.reversed_offsets(),
        }
        self.memory = {
            name: DeviceTensor.from_numpy(array)
            for name, array in arrays.items()
            if array is not None
        }
        self.struct = raw.cudnnGnnCscGraph_t(
            nSrcNodes=graph.source_count,
            nDstNodes=graph.destination_count,
            nIndices=graph.edge_count,
            **{name: tensor.ptr for name, tensor in self.memory.items()},
        )
        self.struct.idxType = as_data_type(graph.offsets.dtype)


def normal(seed: int, *shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def upload(array: np.ndarray | None) -> DeviceTensor | None:
    return None if array is None else DeviceTensor.from_numpy(array)


def poison(shape: Any, dtype: Any) -> DeviceTensor:
    return DeviceTensor.full(shape, np.nan, dtype)


def close(actual: Any, expected: np.ndarray, factor: float = 1) -> None:
    values = actual.numpy()
    tolerance = factor * TOLERANCE[values.dtype.name]
    np.testing.assert_allclose(
        values.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operation", ["sum", "mean", "max", "min"])
def test_aggregation(operation: Any, dtype: Any, index: Any) -> None:
    graph = random_graph(np.random.default_rng(1), dtype=index)
    uploaded = Uploaded(graph)
    nodes, edges = normal(1, 5, 3, dtype=dtype), normal(2, graph.edge_count, 2, dtype=dtype)
    passed = normal(3, 4, 2, dtype=dtype)
    code = getattr(raw, f"CUDNN_GNN_AGG_{operation.upper()}")
    data_type = as_data_type(dtype)
    extreme = operation in ("max", "min")
    output = poison((4, 7), dtype)
    positions = DeviceTensor.full((4, 5), 77, index) if extreme else None
    given = [upload(array) for array in (nodes, edges, passed)]
    raw.cudnnGnnAggSimpleForward(
        None, uploaded.struct, *given, output, positions, 3, 2, 2, data_type, code
    )
    wide = [array.astype(np.float64) for array in (nodes, edges, passed)]
    expected = gnn_agg_simple_forward(graph, *wide, operation=operation)
    close(output, expected.output)
    if positions is not None:
        np.testing.assert_array_equal(positions.numpy(), expected.out_positions)

    doutput = normal(4, 4, 7, dtype=dtype)
    prior = normal(5, 5, 3, dtype=dtype), normal(6, graph.edge_count, 2, dtype=dtype)
    results = [upload(prior[0]), upload(prior[1]), poison((4, 2), dtype)]
    raw.cudnnGnnAggSimpleBackward(
        None, uploaded.struct, upload(doutput), positions, *results, 3, 2, 2, data_type, code
    )
    gradients = gnn_agg_simple_backward(
        graph,
        doutput=doutput.astype(np.float64),
        out_positions=expected.out_positions,
        dnode_features=prior[0].astype(np.float64),
        dedge_features=prior[1].astype(np.float64),
        node_feat_dim=3,
        edge_feat_dim=2,
        operation=operation,
    )
    for result, gradient in zip(results, gradients, strict=True):
        close(result, gradient)


def test_edges_alone() -> None:
    graph = random_graph(np.random.default_rng(2))
    uploaded = Uploaded(graph)
    edges = normal(1, graph.edge_count, 2)
    output = poison((4, 2), np.float32)
    raw.cudnnGnnAggSimpleForward(
        None, uploaded.struct, None, upload(edges), None, output, None, 0, 2, 0, FLOAT, 0
    )
    close(output, gnn_agg_simple_forward(graph, None, edges).output)


class Attention:
    """Operands of one call of attention in a type, and the reference's account of it."""

    def __init__(self, version: int, dtype: Any, *, homogeneous: bool = False) -> None:
        count = 5 if homogeneous else 4
        self.graph = random_graph(np.random.default_rng(3), sources=5, destinations=count)
        self.uploaded = Uploaded(self.graph)
        self.params = raw.cudnnGnnMhaParams_t(activationAlpha=0.25, numHeads=HEADS, concatHeads=1)
        self.params.activation = raw.CUDNN_GNN_ACT_LEAKY_RELU
        self.edge_features = 4 if version == 1 else FEATURES
        weights = 2 * FEATURES + 4 if version == 1 else FEATURES
        source = normal(1, 5, FEATURES, dtype=dtype)
        self.operands = [
            source,
            source if homogeneous else normal(2, count, FEATURES, dtype=dtype),
            normal(3, self.graph.edge_count, self.edge_features, dtype=dtype),
            normal(4, weights, dtype=dtype),
        ]
        self.mask = np.random.default_rng(5).choice([0, 1.25], (HEADS, self.graph.edge_count))
        self.dattention = normal(6, HEADS, self.graph.edge_count)
        self.doutput = normal(7, count, FEATURES, dtype=dtype)
        wide = [array.astype(np.float64) for array in self.operands]
        named: Any = dict(zip(NAMES, wide, strict=True))
        named["params"] = attention.GnnMhaParams(HEADS, True, "leaky_relu", 0.25)
        named["dropout_mask"] = self.mask
        forward = (
            attention.gnn_mha_gat_forward if version == 1 else attention.gnn_mha_gat_v2_forward
        )
        backward = (
            attention.gnn_mha_gat_backward if version == 1 else attention.gnn_mha_gat_v2_backward
        )
        self.expected = forward(self.graph, **named)
        named["sm_scores"] = self.expected.sm_scores
        if version == 2:
            named["act_scores"] = self.expected.act_scores
        self.gradients = backward(
            self.graph,
            **named,
            doutput=self.doutput.astype(np.float64),
            dattention=self.dattention.astype(np.float64),
        )

    @property
    def scores_shape(self) -> tuple[int, ...]:
        return (2, HEADS, self.graph.edge_count)


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_attention(dtype: Any, version: int, deterministic: bool) -> None:
    case = Attention(version, dtype)
    graph, data_type = case.graph, as_data_type(dtype)
    given = [upload(array) for array in case.operands]
    mask = upload(case.mask.astype(np.float32))
    output, scores = poison((4, FEATURES), dtype), poison(case.scores_shape, np.float32)
    activated = [poison((graph.edge_count, FEATURES), dtype)] if version == 2 else []
    dims = (FEATURES,) if version == 2 else (FEATURES, case.edge_features)
    forward = raw.cudnnGnnMhaGatForward if version == 1 else raw.cudnnGnnMhaGatV2Forward
    struct = case.uploaded.struct
    forward(None, struct, *given, mask, output, scores, *activated, *dims, case.params, data_type)
    close(output, case.expected.output, 3)
    close(scores, case.expected.sm_scores, 3)
    if activated:
        close(activated[0], case.expected.act_scores, 3)

    shapes = [array.shape for array in case.operands]
    results = [poison(shape, np.float32) for shape in shapes]
    dscores = poison(case.scores_shape, np.float32)
    spaces: list[Any] = [None, None]
    if deterministic:
        spaces = [
            poison((graph.edge_count, FEATURES), np.float32),
            poison((4, *shapes[3]), np.float32),
        ]
    backward = raw.cudnnGnnMhaGatBackward if version == 1 else raw.cudnnGnnMhaGatV2Backward
    types = (data_type, FLOAT, FLOAT) if version == 1 else (data_type, FLOAT)
    backward(
        None,
        struct,
        upload(case.doutput),
        *given,
        scores,
        *activated,
        mask,
        upload(case.dattention),
        *results,
        dscores,
        *spaces,
        *dims,
        case.params,
        *types,
    )
    # Results are FLOAT; what the half types add comes from what the forward pass saved.
    factor = {np.float32: 10, np.float16: 1000}.get(dtype, 5000)
    for result, gradient in zip(results, case.gradients, strict=False):
        close(result, gradient, factor)
    close(dscores, case.gradients.dsm_scores, factor)
    if deterministic:
        assert not np.isnan(spaces[0].numpy()).all(), "workspaces are overwritten"


def test_one_set_of_nodes() -> None:
    """Gradients of sources and destinations in the same memory: both together."""
    case = Attention(1, np.float32, homogeneous=True)
    given = [upload(array) for array in case.operands]
    mask = upload(case.mask.astype(np.float32))
    output, scores = poison((5, FEATURES), np.float32), poison(case.scores_shape, np.float32)
    common = (FEATURES, 4, case.params)
    struct = case.uploaded.struct
    raw.cudnnGnnMhaGatForward(None, struct, *given, mask, output, scores, *common, FLOAT)
    dnodes = poison((5, FEATURES), np.float32)
    raw.cudnnGnnMhaGatBackward(
        None,
        struct,
        upload(case.doutput),
        *given,
        scores,
        mask,
        upload(case.dattention),
        dnodes,
        dnodes,
        poison(case.operands[2].shape, np.float32),
        poison(case.operands[3].shape, np.float32),
        poison(case.scores_shape, np.float32),
        None,
        None,
        *common,
        FLOAT,
        FLOAT,
        FLOAT,
    )
    close(dnodes, case.gradients.dsrc_features + case.gradients.ddst_features, 10)


# --- wrong input --------------------------------------------------------------------------------


def aggregate(uploaded: Uploaded, **changes: Any) -> None:
    graph = uploaded.graph
    arguments = {
        "stream": None,
        "graph": uploaded.struct,
        "nodeFeatures": DeviceTensor.zeros((5, 3), "float32"),
        "edgeFeatures": None,
        "concatFeatures": None,
        "output": DeviceTensor.zeros((4, 3), "float32"),
        "outPositions": DeviceTensor.zeros((4, 3), graph.offsets.dtype),
        "nodeFeatDim": 3,
        "edgeFeatDim": 0,
        "concatFeatDim": 0,
        "dataType": FLOAT,
        "aggOp": raw.CUDNN_GNN_AGG_MAX,
    }
    raw.cudnnGnnAggSimpleForward(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"graph": None}, BadParamError, "graph is NULL"),
        ({"nodeFeatures": None}, BadParamError, "nodeFeatures is NULL with 3 features"),
        ({"nodeFeatDim": 0}, BadParamError, "nodeFeatDim 0 or edgeFeatDim 0 must be positive"),
        ({"edgeFeatDim": 2}, BadParamError, "edgeFeatures is NULL with 2 features"),
        ({"concatFeatDim": -1}, BadParamError, "none negative"),
        ({"output": None}, BadParamError, "output is NULL"),
        ({"outPositions": None}, BadParamError, "outPositions is NULL"),
        ({"dataType": raw.CUDNN_DATA_DOUBLE}, NotSupportedError, "CUDNN_DATA_DOUBLE"),
        ({"aggOp": 9}, BadParamError, "aggOp 9"),
    ],
)
def test_wrong_input(changes: dict[str, Any], error: Any, message: str) -> None:
    uploaded = Uploaded(random_graph(np.random.default_rng(1)))
    aggregate(uploaded)
    with pytest.raises(error, match=message):
        aggregate(uploaded, **changes)


def test_wrong_graphs() -> None:
    uploaded = Uploaded(random_graph(np.random.default_rng(1)))
    for field, value, error, message in (
        ("nDstNodes", -1, BadParamError, "nDstNodes is -1"),
        ("idxType", FLOAT, BadParamError, "idxType must be INT32 or INT64"),
        ("cscOffsets", None, BadParamError, "cscOffsets is NULL"),
        ("nSrcNodes", 1, ExecutionFailedError, "indices must be sources from 0 to 0"),
        ("nIndices", 1, ExecutionFailedError, "offsets must rise from 0 to 1"),
    ):
        before = getattr(uploaded.struct, field)
        setattr(uploaded.struct, field, value)
        with pytest.raises(error, match=message):
            aggregate(uploaded)
        setattr(uploaded.struct, field, before)


def test_positions_of_another_graph() -> None:
    uploaded = Uploaded(random_graph(np.random.default_rng(1)))
    with pytest.raises(ExecutionFailedError, match="outPositions do not come from"):
        raw.cudnnGnnAggSimpleBackward(
            None,
            uploaded.struct,
            DeviceTensor.zeros((4, 3), "float32"),
            DeviceTensor.full((4, 3), 99, np.int32),
            DeviceTensor.zeros((5, 3), "float32"),
            None,
            None,
            3,
            0,
            0,
            FLOAT,
            raw.CUDNN_GNN_AGG_MAX,
        )


def attend(case: Attention, **changes: Any) -> None:
    arguments = {
        "stream": None,
        "graph": case.uploaded.struct,
        "srcFeatures": upload(case.operands[0]),
        "dstFeatures": upload(case.operands[1]),
        "edgeFeatures": upload(case.operands[2]),
        "attnWeights": upload(case.operands[3]),
        "dropoutMask": None,
        "output": poison((4, FEATURES), np.float32),
        "smScores": poison(case.scores_shape, np.float32),
        "dimNode": FEATURES,
        "dimEdge": 4,
        "params": case.params,
        "dataType": FLOAT,
    }
    raw.cudnnGnnMhaGatForward(**{**arguments, **changes})


def params(**fields: Any) -> Any:
    made = raw.cudnnGnnMhaParams_t(activationAlpha=0.25, numHeads=HEADS, concatHeads=1)
    made.activation = raw.CUDNN_GNN_ACT_LEAKY_RELU
    for name, value in fields.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"params": None}, BadParamError, "params is NULL"),
        ({"params": params(numHeads=0)}, BadParamError, "numHeads 0"),
        ({"params": params(numHeads=4)}, BadParamError, "must be multiples of 4 heads"),
        ({"params": params(activation=9)}, BadParamError, "activation 9"),
        ({"params": params(activationAlpha=0)}, BadParamError, "must be positive: 0"),
        ({"dimEdge": 0}, BadParamError, "edgeFeatures is given with 0 features"),
        ({"edgeFeatures": None}, BadParamError, "edgeFeatures is NULL with 4 features"),
        ({"srcFeatures": None}, BadParamError, "srcFeatures is NULL"),
        ({"smScores": None}, BadParamError, "smScores is NULL"),
        ({"dataType": raw.CUDNN_DATA_DOUBLE}, NotSupportedError, "CUDNN_DATA_DOUBLE"),
    ],
)
def test_wrong_attention(changes: dict[str, Any], error: Any, message: str) -> None:
    case = Attention(1, np.float32)
    attend(case)
    with pytest.raises(error, match=message):
        attend(case, **changes)


def attend_backward(case: Attention, **changes: Any) -> None:
    shapes = [array.shape for array in case.operands]
    arguments = {
        "stream": None,
        "graph": case.uploaded.struct,
        "gradOut": upload(case.doutput),
        "srcFeatures": upload(case.operands[0]),
        "dstFeatures": upload(case.operands[1]),
        "edgeFeatures": upload(case.operands[2]),
        "attnWeights": upload(case.operands[3]),
        "smScores": DeviceTensor.zeros(case.scores_shape, "float32"),
        "dropoutMask": None,
        "gradAttention": None,
        "gradSrcFeatures": poison(shapes[0], np.float32),
        "gradDstFeatures": poison(shapes[1], np.float32),
        "gradEdgeFeatures": poison(shapes[2], np.float32),
        "gradWeights": poison(shapes[3], np.float32),
        "gradSmScores": poison(case.scores_shape, np.float32),
        "gradWspaceFeat": poison((case.graph.edge_count, FEATURES), np.float32),
        "gradWspaceWeights": poison((4, 16), np.float32),
        "dimNode": FEATURES,
        "dimEdge": 4,
        "params": case.params,
        "dataType": FLOAT,
        "gradDataType": FLOAT,
        "gradWeightType": FLOAT,
    }
    raw.cudnnGnnMhaGatBackward(**{**arguments, **changes})


def test_wrong_gradients() -> None:
    case = Attention(1, np.float32)
    attend_backward(case)
    half = raw.CUDNN_DATA_HALF
    for changes, error, message in (
        ({"gradWspaceFeat": None}, BadParamError, "must both be given, or both be NULL"),
        ({"gradSmScores": None}, BadParamError, "gradSmScores is NULL"),
        ({"gradEdgeFeatures": None}, BadParamError, "gradEdgeFeatures is NULL"),
        ({"gradDataType": half, "gradWeightType": half}, NotSupportedError, "data types"),
    ):
        with pytest.raises(error, match=message):
            attend_backward(case, **changes)
    case.uploaded.struct.cscRevOffsets = None
    with pytest.raises(BadParamError, match="cscRevOffsets is NULL"):
        attend_backward(case)
    other = DeviceTensor.zeros((6,), np.int32)
    case.uploaded.struct.cscRevOffsets = other.ptr
    with pytest.raises(ExecutionFailedError, match="do not belong to cscOffsets"):
        attend_backward(case)


def test_types_of_gradients() -> None:
    case = Attention(1, np.float16)
    half = raw.CUDNN_DATA_HALF
    with pytest.raises(NotSupportedError, match="gradWeightType CUDNN_DATA_HALF with"):
        attend_backward(case, dataType=half, gradDataType=FLOAT, gradWeightType=half)
