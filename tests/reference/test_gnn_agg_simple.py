"""GNN aggregation and its gradients, against PyTorch."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

from cudnn_ctypes.reference.gnn import (
    GnnCscGraph,
    Operation,
    gnn_agg_simple_backward,
    gnn_agg_simple_forward,
)

from .gnn_graphs import random_graph

OPERATIONS = get_args(Operation)


def reduced(torch: Any, operation: str, values: Any) -> Any:
    if operation in ("max", "min"):
        return getattr(values, operation)(dim=0).values
    return getattr(values, operation)(dim=0)


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_against_pytorch(torch: Any, operation: Any, mapped: bool) -> None:
    rng = np.random.default_rng(1)
    graph = random_graph(rng, mapped=mapped, empty=False)
    nodes, edges = rng.standard_normal((5, 3)), rng.standard_normal((graph.edge_count, 2))
    passed = rng.standard_normal((4, 2))
    leaves = [torch.tensor(array, requires_grad=True) for array in (nodes, edges, passed)]
    rows = []
    for v in range(4):
        arriving = slice(int(graph.offsets[v]), int(graph.offsets[v + 1]))
        parts = [
            reduced(torch, operation, leaves[0][graph.indices[arriving]]),
            reduced(torch, operation, leaves[1][graph.rows[arriving]]),
            leaves[2][v],
        ]
        rows.append(torch.cat(parts))
    expected = torch.stack(rows)
    doutput = rng.standard_normal(expected.shape)
    expected.backward(torch.tensor(doutput))
    actual = gnn_agg_simple_forward(graph, nodes, edges, passed, operation=operation)
    np.testing.assert_allclose(actual.output, expected.detach().numpy(), rtol=1e-12)
    gradients = gnn_agg_simple_backward(
        graph,
        doutput=doutput,
        out_positions=actual.out_positions,
        node_feat_dim=3,
        edge_feat_dim=2,
        operation=operation,
    )
    for one, leaf in zip(gradients, leaves, strict=True):
        np.testing.assert_allclose(one, leaf.grad.numpy(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_gradients_are_added(operation: Any) -> None:
    rng = np.random.default_rng(2)
    graph = random_graph(rng)
    nodes, edges = rng.standard_normal((5, 3)), rng.standard_normal((graph.edge_count, 2))
    forward = gnn_agg_simple_forward(graph, nodes, edges, operation=operation)
    doutput = rng.standard_normal(forward.output.shape)
    arguments: Any = {
        "doutput": doutput,
        "out_positions": forward.out_positions,
        "node_feat_dim": 3,
        "edge_feat_dim": 2,
        "operation": operation,
    }
    alone = gnn_agg_simple_backward(graph, **arguments)
    added = gnn_agg_simple_backward(graph, **arguments, dnode_features=nodes, dedge_features=edges)
    np.testing.assert_allclose(added.dnode_features, alone.dnode_features + nodes)
    np.testing.assert_allclose(added.dedge_features, alone.dedge_features + edges)


def test_reversed() -> None:
    """The same example as in NVIDIA's front end."""
    graph = GnnCscGraph(
        np.array([0, 2, 5]), np.array([0, 2, 1, 2, 3]), 4, np.array([3, 0, 4, 1, 2])
    )
    assert graph.reversed_offsets().tolist() == [0, 1, 2, 4, 5]
    assert graph.reversed_rows().tolist() == [3, 4, 0, 1, 2]
