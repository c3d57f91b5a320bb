"""``GnnCscGraph``, GNN aggregation and attention: against the reference, and wrong input."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import cudnn_ctypes as cudnn
from cudnn_ctypes import ClosedError, DeviceTensor, GnnCscGraph, GnnMhaParams, raw, reference

from .conftest import Report

DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16]
ROUNDOFF = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
NAMES = ("src_features", "dst_features", "edge_features", "attn_weights")
ACTIVATIONS = ["linear", "relu", "sigmoid", "tanh", "elu", "scalar", "leaky_relu"]


class Case:
    """A random graph on the device and in the reference, and random operands."""

    def __init__(self, seed: int, dtype: Any, index: Any = np.int32, *, empty: bool = False):
        self.rng = np.random.default_rng([seed, DTYPES.index(dtype)])
        self.dtype = np.dtype(dtype)
        sources, destinations = (int(n) for n in self.rng.integers(2, 12, 2))
        degrees = self.rng.integers(0 if empty else 1, 6, destinations)
        ends = self.rng.permutation(np.repeat(np.arange(destinations), degrees))
        starts = self.rng.integers(0, sources, len(ends))
        self.graph = GnnCscGraph.from_edges(starts, ends, sources, destinations, dtype=index)
        self.exact = reference.GnnCscGraph(
            self.graph.offsets.numpy(),
            self.graph.indices.numpy(),
            sources,
            self.graph.edge_rows.numpy(),
        )

    def normal(self, *shape: int) -> NDArray[Any]:
        return self.rng.standard_normal(shape).astype(self.dtype)


def upload(array: NDArray[Any] | None) -> DeviceTensor | None:
    return None if array is None else DeviceTensor.from_numpy(array)


def wide(*arrays: NDArray[Any] | None) -> list[Any]:
    return [None if array is None else array.astype(np.float64) for array in arrays]


def check(
    report: Report, key: tuple[str, str, str], actual: Any, exact: Any, units: float, largest: Any
) -> None:
    """Off by at most `units` roundings of float32 of what is summed, and one of the result."""
    result = actual.numpy().astype(np.float64)
    store = ROUNDOFF[actual.dtype.name]
    allowed = units * ROUNDOFF["float32"] * largest + 2 * store * np.abs(exact) + 1e-30
    error = np.abs(result - exact)
    error = np.where(np.isnan(error), np.inf, error)
    over = float((error / allowed).max(initial=0.0))
    # A destination with one edge has a gradient of zero, of which nothing is a small part.
    scale = np.abs(exact).max(initial=0.0)
    scale = scale if scale > 1e-6 else 1.0
    report.ran(key, float(error.max(initial=0.0) / scale), over)
    assert over <= 1, f"{key}: error {error.max()} where results reach {scale}"


# --- the graph ----------------------------------------------------------------------------------


def test_a_graph_is_its_struct(on_reference: None) -> None:
    graph = GnnCscGraph.from_edges([0, 1], [0, 0], dtype=np.int64)
    struct = graph._as_parameter_.contents
    assert struct.cscOffsets == graph.offsets.ptr
    assert struct.mapRevToCoo == graph.reversed_rows.ptr
    assert (struct.nSrcNodes, struct.nDstNodes, struct.nIndices) == (2, 1, 2)
    assert struct.idxType == raw.CUDNN_DATA_INT64
    nodes, output = DeviceTensor.full((2, 3), 2, "float32"), DeviceTensor.zeros((1, 3), "float32")
    raw.cudnnGnnAggSimpleForward(
        None, graph, nodes, None, None, output, None, 3, 0, 0, raw.CUDNN_DATA_FLOAT, 0
    )
    assert (output.numpy() == 4).all()


def test_other_graphs_share_a_launch(on_reference: None) -> None:
    nodes = DeviceTensor.from_numpy(np.arange(6, dtype=np.float32).reshape(3, 2))
    for ends, expected in (([0, 0, 1], [[2, 4], [4, 5]]), ([1, 0, 1], [[2, 3], [4, 6]])):
        graph = GnnCscGraph.from_edges([0, 1, 2], ends)
        result = cudnn.gnn_agg_simple_forward(graph, nodes)
        np.testing.assert_array_equal(result.output.numpy(), expected)
    graph.indices.close()
    with pytest.raises(ClosedError, match="an array of <GnnCscGraph"):
        cudnn.gnn_agg_simple_forward(graph, nodes)


def test_a_graph_without_edges(on_reference: None) -> None:
    graph = GnnCscGraph.from_edges([], [], 2, 3)
    nodes = DeviceTensor.full((2, 2), 5, "float32")
    for _ in range(2):
        assert (cudnn.gnn_agg_simple_forward(graph, nodes).output.numpy() == np.zeros((3, 2))).all()


# --- aggregation --------------------------------------------------------------------------------


@pytest.mark.thinned(6)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("operation", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_random_aggregation(device, report, dtype, operation, index):
    for seed in range(4):
        case = Case(seed, dtype, index)
        graph, rng = case.graph, case.rng
        widths = [int(n) for n in rng.integers(1, 9, 3)]
        counts = (graph.source_count, graph.edge_count, graph.destination_count)
        present = ((1, 1, 1), (1, 0, 0), (0, 1, 0), (1, 0, 1))[seed]
        tables = [
            case.normal(count, width) if given else None
            for count, width, given in zip(counts, widths, present, strict=True)
        ]
        given, exact = [upload(table) for table in tables], wide(*tables)
        key = (device, case.dtype.name, f"aggregate {operation}")
        made = report.carried_out(
            key,
            lambda given=given, graph=graph: cudnn.gnn_agg_simple_forward(
                graph, *given, operation=operation
            ),
        )
        expected = reference.gnn_agg_simple_forward(case.exact, *exact, operation=operation)
        sums = reference.gnn_agg_simple_forward(
            case.exact, *[None if t is None else np.abs(t) for t in exact], operation="sum"
        ).output
        check(report, key, made.output, expected.output, 16, sums)

        doutput = case.normal(*expected.output.shape)
        arguments: Any = {
            "node_feat_dim": widths[0] * present[0],
            "edge_feat_dim": widths[1] * present[1],
            "operation": operation,
        }
        key = (device, case.dtype.name, f"aggregate {operation} backward")
        gradients = cudnn.gnn_agg_simple_backward(
            graph, doutput=upload(doutput), out_positions=made.out_positions, **arguments
        )
        wanted = reference.gnn_agg_simple_backward(
            case.exact,
            doutput=doutput.astype(np.float64),
            out_positions=expected.out_positions,
            **arguments,
        )
        # Atomic additions are roundings of the stored type, one for each edge.
        units = 16 * ROUNDOFF[case.dtype.name] / ROUNDOFF["float32"]
        for one, other in zip(gradients, wanted, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                check(report, key, one, other, units, np.abs(doutput.astype(np.float64)).max() * 4)


# --- attention ----------------------------------------------------------------------------------


class AttentionCase(Case):
    """Operands of one version of attention, and the reference's account of it."""

    def __init__(self, seed: int, dtype: Any, version: int, activation: str) -> None:
        super().__init__(seed, dtype)
        graph, rng = self.graph, self.rng
        self.heads = int(rng.integers(1, 4))
        self.features = self.heads * int(rng.integers(1, 5))
        with_edges = seed % 2 == 0
        edge_features = self.features if version == 2 else self.heads * int(rng.integers(1, 4))
        count = self.features
        if version == 1:
            count = 2 * self.features + (edge_features if with_edges else 0)
        self.source = self.normal(graph.source_count, self.features)
        self.destination = self.normal(graph.destination_count, self.features)
        self.edges = self.normal(graph.edge_count, edge_features) if with_edges else None
        self.weights = self.normal(count)
        self.mask = rng.choice([0.0, 1.25], (self.heads, graph.edge_count)).astype(np.float32)
        self.dattention = rng.standard_normal(self.mask.shape).astype(np.float32)
        concatenated = seed % 3 != 0
        self.params = GnnMhaParams(self.heads, concatenated, activation, 0.25)
        exact_params = reference.GnnMhaParams(
            self.heads,
            concatenated,
            activation,
            0.25,  # type: ignore[arg-type]
        )
        forward = (
            reference.gnn_mha_gat_forward if version == 1 else reference.gnn_mha_gat_v2_forward
        )
        backward = (
            reference.gnn_mha_gat_backward if version == 1 else reference.gnn_mha_gat_v2_backward
        )
        operands = (self.source, self.destination, self.edges, self.weights)
        self.given = dict(zip(NAMES, map(upload, operands), strict=True))
        named: Any = dict(zip(NAMES, wide(*operands), strict=True))
        named |= {"params": exact_params, "dropout_mask": wide(self.mask)[0]}
        self.expected = forward(self.exact, **named)
        self.doutput = self.normal(*self.expected.output.shape)
        named["sm_scores"] = self.expected.sm_scores
        if version == 2:
            named["act_scores"] = self.expected.act_scores
        doutput, dattention = wide(self.doutput, self.dattention)
        self.gradients = backward(self.exact, **named, doutput=doutput, dattention=dattention)


@pytest.mark.thinned(8)
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_random_attention(device, report, dtype, activation, version, deterministic):
    for seed in range(4):
        case = AttentionCase(seed, dtype, version, activation)
        forward = cudnn.gnn_mha_gat_forward if version == 1 else cudnn.gnn_mha_gat_v2_forward
        name = "GAT" if version == 1 else "GATv2"
        key = (device, case.dtype.name, name)
        given: Any = {**case.given, "params": case.params, "dropout_mask": upload(case.mask)}
        made = report.carried_out(
            key, lambda case=case, forward=forward, given=given: forward(case.graph, **given)
        )
        # Logits of size 10 and exponentials: 60 roundings; more where data are stored in less.
        coarse = 2 * ROUNDOFF[case.dtype.name] / ROUNDOFF["float32"]
        check(report, key, made.output, case.expected.output, 60 + coarse, 10)
        check(report, key, made.sm_scores, case.expected.sm_scores, 60 + coarse, 10)
        given["sm_scores"] = made.sm_scores
        backward: Any = cudnn.gnn_mha_gat_backward
        types = {"gradient_type": "float32", "weight_gradient_type": "float32"}
        if version == 2:
            check(report, key, made.act_scores, case.expected.act_scores, 60 + coarse, 10)
            given["act_scores"] = made.act_scores
            backward, types = cudnn.gnn_mha_gat_v2_backward, {"gradient_type": "float32"}
        key = (device, case.dtype.name, f"{name} backward")
        gradients = backward(
            case.graph,
            **given,
            **types,
            doutput=upload(case.doutput),
            dattention=upload(case.dattention),
            deterministic=deterministic,
        )
        for one, other in zip(gradients, case.gradients, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                largest = 20 * max(1.0, np.abs(other).max(initial=0))
                check(report, key, one, other, 100 + 4 * coarse, largest)


def test_one_set_of_nodes(on_reference: None) -> None:
    graph = GnnCscGraph.from_edges([0, 1, 2, 0], [1, 1, 0, 2])
    rng = np.random.default_rng(1)
    nodes, weights = (upload(rng.standard_normal(s).astype(np.float32)) for s in ((3, 4), (8,)))
    params = GnnMhaParams(2)
    one = cudnn.gnn_mha_gat_forward(graph, nodes, None, weights, params=params)
    two = cudnn.gnn_mha_gat_forward(graph, nodes, nodes, weights, params=params)
    np.testing.assert_array_equal(one.output.numpy(), two.output.numpy())
    doutput = upload(rng.standard_normal((3, 4)).astype(np.float32))
    given = {"attn_weights": weights, "sm_scores": one.sm_scores, "params": params}
    for _ in range(2):  # the second is found by its key
        together = cudnn.gnn_mha_gat_backward(
            graph, doutput=doutput, src_features=nodes, dst_features=None, **given
        )
        apart = cudnn.gnn_mha_gat_backward(
            graph, doutput=doutput, src_features=nodes, dst_features=nodes, **given
        )
        assert together.ddst_features is None
        np.testing.assert_allclose(
            together.dsrc_features.numpy(),
            apart.dsrc_features.numpy() + apart.ddst_features.numpy(),
            atol=1e-6,
        )
