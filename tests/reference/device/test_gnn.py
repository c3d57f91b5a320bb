"""What the C functions of graph neural networks refuse on the reference device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    BadParamError,
    CudnnError,
    DeviceTensor,
    ExecutionFailedError,
    GnnCscGraph,
    NotSupportedError,
    raw,
    use_reference_device,
)

FLOAT = raw.CUDNN_DATA_FLOAT


@pytest.fixture
def graph() -> Iterator[GnnCscGraph]:
    """3 edges from 4 sources to 2 destinations."""
    with use_reference_device():
        yield GnnCscGraph.from_edges([3, 0, 2], [1, 0, 1], 4, 2)


def zeros(*shape: int) -> DeviceTensor:
    """Memory with room for two, so that wrong sizes reach the device, which gives a status."""
    return DeviceTensor.zeros((2, *shape), "float32")


def aggregate(graph: Any, **changes: Any) -> None:
    arguments = {
        "stream": None,
        "graph": graph,
        "nodeFeatures": zeros(4, 3),
        "edgeFeatures": None,
        "concatFeatures": None,
        "output": zeros(2, 3),
        "outPositions": DeviceTensor.zeros((2, 2, 3), np.int32),
        "nodeFeatDim": 3,
        "edgeFeatDim": 0,
        "concatFeatDim": 0,
        "dataType": FLOAT,
        "aggOp": raw.CUDNN_GNN_AGG_MAX,
    }
    raw.cudnnGnnAggSimpleForward(**{**arguments, **changes})


def params(**fields: Any) -> Any:
    made = raw.cudnnGnnMhaParams_t(activationAlpha=0.25, numHeads=2, concatHeads=1)
    made.activation = raw.CUDNN_GNN_ACT_LEAKY_RELU
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def attend(graph: Any, **changes: Any) -> None:
    arguments = {
        "stream": None,
        "graph": graph,
        "srcFeatures": zeros(4, 6),
        "dstFeatures": zeros(2, 6),
        "edgeFeatures": zeros(3, 4),
        "attnWeights": zeros(16),
        "dropoutMask": None,
        "output": zeros(2, 6),
        "smScores": zeros(2, 2, 3),
        "dimNode": 6,
        "dimEdge": 4,
        "params": params(),
        "dataType": FLOAT,
    }
    raw.cudnnGnnMhaGatForward(**{**arguments, **changes})


def attend_backward(graph: Any, **changes: Any) -> None:
    arguments = {
        "stream": None,
        "graph": graph,
        "gradOut": zeros(2, 6),
        "srcFeatures": zeros(4, 6),
        "dstFeatures": zeros(2, 6),
        "edgeFeatures": zeros(3, 4),
        "attnWeights": zeros(16),
        "smScores": zeros(2, 2, 3),
        "dropoutMask": None,
        "gradAttention": None,
        "gradSrcFeatures": zeros(4, 6),
        "gradDstFeatures": zeros(2, 6),
        "gradEdgeFeatures": zeros(3, 4),
        "gradWeights": zeros(16),
        "gradSmScores": zeros(2, 2, 3),
        "gradWspaceFeat": zeros(3, 6),
        "gradWspaceWeights": zeros(2, 16),
        "dimNode": 6,
        "dimEdge": 4,
        "params": params(),
        "dataType": FLOAT,
        "gradDataType": FLOAT,
        "gradWeightType": FLOAT,
    }
    raw.cudnnGnnMhaGatBackward(**{**arguments, **changes})


HALF, DOUBLE = raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_DOUBLE
WRONG: list[tuple[Any, dict[str, Any], type[CudnnError], str]] = [
    (aggregate, {"nodeFeatDim": 0}, BadParamError, "nodeFeatDim 0 or edgeFeatDim 0 must be"),
    (aggregate, {"edgeFeatDim": 2}, BadParamError, "edgeFeatures is NULL with 2 features"),
    (aggregate, {"concatFeatDim": -1}, BadParamError, "none negative"),
    (aggregate, {"dataType": DOUBLE}, NotSupportedError, "CUDNN_DATA_DOUBLE"),
    (attend, {"params": params(numHeads=0)}, BadParamError, "numHeads 0"),
    (attend, {"params": params(numHeads=4)}, BadParamError, "must be multiples of 4 heads"),
    (attend, {"params": params(activation=9)}, BadParamError, "activation 9"),
    (attend, {"params": params(activationAlpha=0)}, BadParamError, "must be positive: 0"),
    (attend, {"dimEdge": 0}, BadParamError, "edgeFeatures is given with 0 features"),
    (attend, {"edgeFeatures": None}, BadParamError, "edgeFeatures is NULL with 4 features"),
    (attend, {"dataType": DOUBLE}, NotSupportedError, "CUDNN_DATA_DOUBLE"),
    (attend_backward, {"gradWspaceFeat": None}, BadParamError, "both be given, or both be NULL"),
    (attend_backward, {"gradEdgeFeatures": None}, BadParamError, "gradEdgeFeatures is NULL"),
    (
        attend_backward,
        {"gradDataType": HALF, "gradWeightType": HALF},
        NotSupportedError,
        "data types",
    ),
    (
        attend_backward,
        {"dataType": HALF, "gradWeightType": HALF},
        NotSupportedError,
        "gradWeightType CUDNN_DATA_HALF with",
    ),
]


@pytest.mark.parametrize(("call", "changes", "error", "message"), WRONG)
def test_wrong_input(
    graph: GnnCscGraph, call: Any, changes: dict[str, Any], error: Any, message: str
) -> None:
    call(graph)
    with pytest.raises(error, match=message):
        call(graph, **changes)


@pytest.mark.parametrize(
    ("call", "field", "value", "error", "message"),
    [
        (aggregate, "nDstNodes", -1, BadParamError, "nDstNodes is -1"),
        (aggregate, "idxType", FLOAT, BadParamError, "idxType must be INT32 or INT64"),
        (aggregate, "cscOffsets", None, BadParamError, "cscOffsets is NULL"),
        (aggregate, "nSrcNodes", 1, ExecutionFailedError, "indices must be sources from 0 to 0"),
        (aggregate, "nIndices", 1, ExecutionFailedError, "offsets must rise from 0 to 1"),
        (attend_backward, "cscRevOffsets", None, BadParamError, "cscRevOffsets is NULL"),
        (attend_backward, "cscRevOffsets", "zeros", ExecutionFailedError, "do not belong to csc"),
    ],
)
def test_wrong_graphs(
    graph: GnnCscGraph, call: Any, field: str, value: Any, error: Any, message: str
) -> None:
    struct = graph._as_parameter_.contents
    other = DeviceTensor.zeros((5,), np.int32)
    setattr(struct, field, other.ptr if value == "zeros" else value)
    with pytest.raises(error, match=message):
        call(struct)


def test_positions_of_another_graph(graph: GnnCscGraph) -> None:
    positions = DeviceTensor.full((2, 3), 99, np.int32)
    arguments = (zeros(2, 3), positions, zeros(4, 3), None, None, 3, 0, 0, FLOAT)
    with pytest.raises(ExecutionFailedError, match="outPositions do not come from"):
        raw.cudnnGnnAggSimpleBackward(None, graph, *arguments, raw.CUDNN_GNN_AGG_MAX)
