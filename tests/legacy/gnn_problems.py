"""Random GNN aggregations and attentions: what they should give, and how far off they may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, GnnCscGraph, GnnMhaParams, reference

from . import draws
from .draws import ROUNDOFF, Array, Result, dtype_of

DATA_TYPES = ("float32", "float16", "bfloat16")
NAMES = ("src_features", "dst_features", "edge_features", "attn_weights")
ACTIVATIONS = ("linear", "relu", "sigmoid", "tanh", "elu", "scalar", "leaky_relu")


class Case:
    """A random graph on the device and in the reference, and random operands."""

    def __init__(
        self, seed: int, data_type: str, index: str = "int32", *, empty: bool = False
    ) -> None:
        """The first destination has no edge if `empty`."""
        self.rng = np.random.default_rng([seed, (*DATA_TYPES, "float64").index(data_type)])
        self.dtype = dtype_of(data_type)
        sources, destinations = (int(n) for n in self.rng.integers(2, 12, 2))
        degrees = self.rng.integers(1, 6, destinations)
        degrees[0] = 0 if empty else degrees[0]
        ends = self.rng.permutation(np.repeat(np.arange(destinations), degrees))
        starts = self.rng.integers(0, sources, len(ends))
        self.graph = GnnCscGraph.from_edges(starts, ends, sources, destinations, dtype=index)
        self.exact = reference.GnnCscGraph(
            self.graph.offsets.numpy(),
            self.graph.indices.numpy(),
            sources,
            self.graph.edge_rows.numpy(),
        )

    def normal(self, *shape: int) -> Array:
        return self.rng.standard_normal(shape).astype(self.dtype)


def upload(array: Array | None) -> DeviceTensor | None:
    return None if array is None else DeviceTensor.from_numpy(array)


def wide(array: Array | None) -> Any:
    return None if array is None else draws.wide(array)


def result(name: str, actual: Any, exact: Array, units: float, largest: Any) -> Result:
    """Off by at most `units` roundings of float32 of what is summed, and one of the result."""
    store = ROUNDOFF[actual.dtype.name]
    allowed = units * ROUNDOFF["float32"] * largest + 2 * store * np.abs(exact) + 1e-30
    return Result(name, actual.numpy(), exact, allowed)


def aggregation(operation: str, data_type: str, number: int) -> Iterator[Result]:
    seed, index = number // 2, ("int32", "int64")[number % 2]
    case = Case(seed, data_type, index)
    graph = case.graph
    widths = [int(n) for n in case.rng.integers(1, 9, 3)]
    counts = (graph.source_count, graph.edge_count, graph.destination_count)
    present = ((1, 1, 1), (1, 0, 0), (0, 1, 0), (1, 0, 1))[seed]
    tables = [
        case.normal(count, width) if given else None
        for count, width, given in zip(counts, widths, present, strict=True)
    ]
    made = cudnn.gnn_agg_simple_forward(graph, *map(upload, tables), operation=operation)
    exact = [wide(table) for table in tables]
    expected = reference.gnn_agg_simple_forward(case.exact, *exact, operation=operation)
    sums = reference.gnn_agg_simple_forward(
        case.exact, *[None if t is None else np.abs(t) for t in exact], operation="sum"
    ).output
    yield result("", made.output, expected.output, 16, sums)

    doutput = case.normal(*expected.output.shape)
    arguments: Any = {
        "node_feat_dim": widths[0] * present[0],
        "edge_feat_dim": widths[1] * present[1],
        "operation": operation,
    }
    gradients = cudnn.gnn_agg_simple_backward(
        graph, doutput=upload(doutput), out_positions=made.out_positions, **arguments
    )
    wanted = reference.gnn_agg_simple_backward(
        case.exact, doutput=wide(doutput), out_positions=expected.out_positions, **arguments
    )
    # Atomic additions are roundings of the stored type, one for each edge.
    units = 16 * ROUNDOFF[data_type] / ROUNDOFF["float32"]
    for one, other in zip(gradients, wanted, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            yield result("backward", one, other, units, np.abs(wide(doutput)).max() * 4)


def functions(module: Any, version: int) -> tuple[Any, Any]:
    """Forward and backward of one of the two versions."""
    suffix = "_v2" if version == 2 else ""
    return tuple(getattr(module, f"gnn_mha_gat{suffix}_{way}") for way in ("forward", "backward"))


class Attention(Case):
    """Operands of one version of attention, and what the reference makes of them."""

    def __init__(
        self, version: int, data_type: str, number: int, *, masked: bool = True, empty: bool = False
    ) -> None:
        seed = number % 4
        super().__init__(seed, data_type, empty=empty)
        graph, rng = self.graph, self.rng
        heads = int(rng.integers(1, 4))
        features = heads * int(rng.integers(1, 5))
        with_edges, concatenated = seed % 2 == 0, seed % 3 != 0
        edge_features, count = features, features
        if version == 1:
            edge_features = heads * int(rng.integers(1, 4))
            count = 2 * features + (edge_features if with_edges else 0)
        self.operands = (
            self.normal(graph.source_count, features),
            self.normal(graph.destination_count, features),
            self.normal(graph.edge_count, edge_features) if with_edges else None,
            self.normal(count),
        )
        mask = rng.choice([0.0, 1.25], (heads, graph.edge_count)).astype(np.float32)
        self.mask = mask if masked else None
        self.dattention = rng.standard_normal(mask.shape).astype(np.float32)
        self.options: Any = (heads, concatenated, ACTIVATIONS[number % 7], 0.25)
        self.params = reference.GnnMhaParams(*self.options)

        forward, backward = functions(reference, version)
        named: Any = dict(zip(NAMES, map(wide, self.operands), strict=True))
        named |= {"params": self.params, "dropout_mask": wide(self.mask)}
        self.expected = forward(self.exact, **named)
        self.doutput = self.normal(*self.expected.output.shape)
        self.saved = ("sm_scores", "act_scores")[:version]  # for the backward pass
        named |= {name: getattr(self.expected, name) for name in self.saved}
        results = {"doutput": wide(self.doutput), "dattention": wide(self.dattention)}
        self.gradients = backward(self.exact, **named, **results)


def attention(version: int, data_type: str, number: int) -> Iterator[Result]:
    case = Attention(version, data_type, number)
    forward, backward = functions(cudnn, version)
    given: Any = dict(zip(NAMES, map(upload, case.operands), strict=True))
    given |= {"params": GnnMhaParams(*case.options), "dropout_mask": upload(case.mask)}
    made = forward(case.graph, **given)
    # Logits of size 10 and exponentials: 60 roundings; more where data are stored in less.
    coarse = 2 * ROUNDOFF[data_type] / ROUNDOFF["float32"]
    for name in ("output", *case.saved):
        yield result(name, getattr(made, name), getattr(case.expected, name), 60 + coarse, 10)
    given |= {name: getattr(made, name) for name in case.saved}
    types = {"gradient_type": "float32"}
    if version == 1:
        types["weight_gradient_type"] = "float32"
    gradients = backward(
        case.graph,
        **given,
        **types,
        doutput=upload(case.doutput),
        dattention=upload(case.dattention),
        deterministic=number // 4 % 2 == 1,
    )
    for one, other in zip(gradients, case.gradients, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            largest = 20 * max(1.0, np.abs(other).max(initial=0))
            yield result("backward", one, other, 100 + 4 * coarse, largest)
