"""Random graphs of GNNs, and PyTorch's account of what is computed on them. For the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudnn_ctypes.reference.gnn import GnnCscGraph


def random_graph(
    rng: np.random.Generator,
    *,
    sources: int = 5,
    destinations: int = 4,
    mapped: bool = True,
    dtype: Any = np.int32,
    empty: bool = True,
) -> GnnCscGraph:
    """A graph with up to 4 edges at each destination; the first one has none if `empty`."""
    degrees = rng.integers(1, 5, destinations)
    if empty:
        degrees[0] = 0
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(dtype)
    count = int(offsets[-1])
    rows = rng.permutation(count).astype(dtype) if mapped else None
    return GnnCscGraph(offsets, rng.integers(0, sources, count).astype(dtype), sources, rows)


def attention_by_torch(
    torch: Any,
    graph: GnnCscGraph,
    source: Any,
    destination: Any,
    edges: Any,
    weights: Any,
    params: Any,
    mask: Any,
    *,
    version: int,
) -> tuple[Any, Any]:
    """Output and coefficients after dropout, node by node and head by head."""
    functional = torch.nn.functional
    act = {
        "linear": lambda z: z,
        "relu": torch.relu,
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "elu": functional.elu,
        "scalar": lambda z: params.activation_alpha * z,
        "leaky_relu": lambda z: functional.leaky_relu(z, params.activation_alpha),
    }[params.activation]
    heads, size = params.num_heads, source.shape[1]
    per_head = size // heads
    per_edge = 0 if edges is None else edges.shape[1] // heads
    outputs, kept = [], torch.zeros((heads, graph.edge_count), dtype=source.dtype)
    for head in range(heads):
        part = slice(head * per_head, (head + 1) * per_head)
        edge_part = slice(head * per_edge, (head + 1) * per_edge)
        of_head = []
        for v in range(graph.destination_count):
            first, last = int(graph.offsets[v]), int(graph.offsets[v + 1])
            if first == last:
                of_head.append(torch.zeros(per_head, dtype=source.dtype))
                continue
            rows = torch.tensor(graph.rows[first:last].astype(np.int64))
            x = source[torch.tensor(graph.indices[first:last].astype(np.int64))][:, part]
            if version == 1:
                of_edges = weights[2 * size :][edge_part]
                z = x @ weights[part] + destination[v, part] @ weights[size : 2 * size][part]
                z = z if edges is None else z + edges[rows][:, edge_part] @ of_edges
                logits = act(z)
            else:
                z = x + destination[v, part]
                z = z if edges is None else z + edges[rows][:, part]
                logits = act(z) @ weights[part]
            coefficients = torch.softmax(logits, 0)
            if mask is not None:
                coefficients = coefficients * mask[head, rows]
            kept = kept.index_put((torch.tensor(head), rows), coefficients)
            of_head.append((coefficients[:, None] * x).sum(0))
        outputs.append(torch.stack(of_head))
    output = torch.cat(outputs, 1) if params.concat_heads else torch.stack(outputs).mean(0)
    return output, kept
