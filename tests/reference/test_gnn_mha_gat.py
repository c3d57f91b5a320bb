"""GNN attention and its gradients, against PyTorch."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

from cudnn_ctypes.reference import gnn as reference
from cudnn_ctypes.reference.gnn import GnnActivation

from .gnn_graphs import attention_by_torch, random_graph

ACTIVATIONS = get_args(GnnActivation)
HEADS, FEATURES = 2, 6
NAMES = ("src_features", "dst_features", "edge_features", "attn_weights")


def operands(rng: np.random.Generator, graph: Any, version: int, with_edges: bool) -> list[Any]:
    """Features of sources, destinations, edges; weights."""
    edge_features = FEATURES if version == 2 else 4
    edges = rng.standard_normal((graph.edge_count, edge_features)) if with_edges else None
    size = FEATURES if version == 2 else 2 * FEATURES + (edge_features if with_edges else 0)
    return [
        rng.standard_normal((graph.source_count, FEATURES)),
        rng.standard_normal((graph.destination_count, FEATURES)),
        edges,
        rng.standard_normal(size),
    ]


def functions(version: int) -> tuple[Any, Any]:
    if version == 1:
        return reference.gnn_mha_gat_forward, reference.gnn_mha_gat_backward
    return reference.gnn_mha_gat_v2_forward, reference.gnn_mha_gat_v2_backward


def saved(made: Any) -> dict[str, Any]:
    """What a backward pass needs of the forward pass."""
    names = ("sm_scores",) if made.act_scores is None else ("sm_scores", "act_scores")
    return {name: getattr(made, name) for name in names}


CASES = [
    (activation, concatenated, with_edges, with_mask)
    for activation in ACTIVATIONS
    for concatenated, with_edges, with_mask in ((True, True, True), (False, False, False))
] + [("leaky_relu", False, True, True), ("leaky_relu", True, False, False)]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(("activation", "concatenated", "with_edges", "with_mask"), CASES)
def test_against_pytorch(torch, version, activation, concatenated, with_edges, with_mask):
    rng = np.random.default_rng(3)
    graph = random_graph(rng)
    options = reference.GnnMhaParams(HEADS, concatenated, activation, 0.3)
    given = operands(rng, graph, version, with_edges)
    mask = rng.choice([0.0, 1.25], (HEADS, graph.edge_count)) if with_mask else None
    leaves = [None if a is None else torch.tensor(a, requires_grad=True) for a in given]
    expected, kept = attention_by_torch(
        torch,
        graph,
        *leaves,
        options,
        None if mask is None else torch.tensor(mask),
        version=version,
    )
    forward, backward = functions(version)
    named = {**dict(zip(NAMES, given, strict=True)), "params": options, "dropout_mask": mask}
    actual = forward(graph, **named)
    np.testing.assert_allclose(actual.output, expected.detach().numpy(), atol=1e-12)
    after_dropout = actual.sm_scores[1] if mask is None else actual.sm_scores[1] * mask
    np.testing.assert_allclose(after_dropout, kept.detach().numpy(), atol=1e-12)

    doutput = rng.standard_normal(actual.output.shape)
    dattention = rng.standard_normal(kept.shape) if with_mask else None
    loss = (expected * torch.tensor(doutput)).sum()
    if dattention is not None:
        loss = loss + (kept * torch.tensor(dattention)).sum()
    loss.backward()
    gradients = backward(graph, **named, **saved(actual), doutput=doutput, dattention=dattention)
    for one, leaf in zip(gradients, leaves, strict=False):
        if leaf is None:
            assert one is None
        else:
            np.testing.assert_allclose(one, leaf.grad.numpy(), atol=1e-11)


def test_large_logits_do_not_overflow() -> None:
    rng = np.random.default_rng(6)
    graph = random_graph(rng)
    named = dict(zip(NAMES, operands(rng, graph, 1, True), strict=True))
    named["attn_weights"] *= 1e4
    params = reference.GnnMhaParams(HEADS, activation="linear")
    assert np.isfinite(reference.gnn_mha_gat_forward(graph, **named, params=params).output).all()
