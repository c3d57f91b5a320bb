"""Stored graphs that are damaged anywhere: they work, or are refused on purpose, by name."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.lowering import Lowering
from cudnn_ctypes.graph.lower.target import Target

from ..damage import Damage, accident, damages, raised, sample
from ..engines.test_refusals import DESCRIBED
from ..families import CASES

READ, LOWERED = 120, 6  # of each graph
NAMES = ("relu", "no_such_tensor", "CUDNN_POINTWISE_GEN_INDEX", "CUDNN_BATCH_NORM", "__init__")
SHAPES: tuple[list[int], ...] = ([1], [5], [2, 3], [2, 3, 4], [2] * 9, [1 << 40] * 2, [1 << 62] * 4)


def _ragged(g: Graph) -> Tensor:
    offset = g.tensor((3, 1, 1, 1), data_type="int32")
    q, k, v = (g.tensor((2, 4, 64, 64), name=name, ragged_offset=offset) for name in "qkv")
    lengths = g.tensor((2, 1, 1, 1), data_type="int32")
    return g.sdpa(q, k, v, seq_len_q=lengths, seq_len_kv=lengths)[0]


def _unified(g: Graph) -> Tensor:
    q, k, v = (g.tensor((2, 4, 64, 64), name=name) for name in "qkv")
    return g.sdpa_unified(q, k, v)[0]


def _experts(g: Graph) -> Tensor:
    token, weight = g.tensor((1, 8, 4)), g.tensor((2, 4, 4))
    offset, index = (g.tensor((n, 1, 1), data_type="int32") for n in (2, 8))
    index.dims, index.strides = (1, 8, 1), (8, 1, 1)
    return g.moe_grouped_matmul(token, weight, offset, token_index=index, mode="gather")


def _vectors(g: Graph) -> Tensor:
    x, w = (
        g.tensor(dims, data_type="int8", vector_count=32, vector_dimension=1)
        for dims in ((1, 2, 8, 8), (64, 2, 3, 3))
    )
    return g.conv_fprop(x, w).set_output(data_type="int8")


FURTHER: dict[str, Callable[[Graph], Any]] = {
    **DESCRIBED,
    "ragged": _ragged,
    "unified": _unified,
    "experts": _experts,
    "vectors": _vectors,
}


def _stored() -> dict[str, Any]:
    """One graph for each set of operations that the cases have."""
    graphs = {name: case.graph() for name, case in CASES.items()}
    for name, describe in FURTHER.items():
        graphs[f"{name} alone"] = graph = Graph(io_data_type="float16")
        results = describe(graph)
        for tensor in results if isinstance(results, (list, tuple)) else [results]:
            tensor.set_output()
    found: dict[Any, tuple[str, str]] = {}
    for name, graph in graphs.items():
        operations = frozenset((node.operation, *sorted(node.inputs)) for node in graph.nodes)
        if operations not in found:
            found[operations] = name, graph.to_json()
    return dict(found.values())


STORED = _stored()


def _other_shapes(stored: Any) -> Iterator[Damage]:
    """One tensor with other dims, packed; or whose batches lie where itself says."""
    for key, tensor in stored["tensors"].items():
        others = [{"dims": dims, "strides": ...} for dims in SHAPES]
        for change in [*others, {"ragged_offset": key}, {"scratch": True, "value": [1, 2]}]:
            changed = {k: v for k, v in {**tensor, **change}.items() if v is not ...}
            yield Damage(("tensors", key), changed)


def _lowered(text: str) -> None:
    graph = Graph.from_json(text)
    target = Target(91900, 90)
    lowering = Lowering(graph.compute_data_type, target)
    try:
        lowering.operation_graph(graph._expanded(graph.validate(), target).nodes)
    finally:
        lowering.close()


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", list(STORED)[::6])
def test_a_damaged_graph_works_or_is_refused(name):
    """Of all damages a sample, which is the same each time."""
    stored = json.loads(STORED[name])
    found = itertools.chain(damages(stored, NAMES), _other_shapes(stored))
    ensure_driver()
    lowered = 0
    for damage in sample(found, READ, seed=len(name)):
        damaged = damage.done_to(stored)
        text = json.dumps(damaged)
        error = raised(lambda text=text: Graph.from_json(text).validate())
        if error is not None:
            assert not accident(error), damage
            assert _names_a_place(str(error), damaged), (damage, str(error))
        elif lowered < LOWERED:
            lowered += 1
            error = raised(lambda text=text: _lowered(text))
            assert error is None or not accident(error), damage


def _names_a_place(message: str, stored: Any) -> bool:
    """Whether it names a place in the JSON, an operation, a tensor, or speaks of all operations."""
    if message.startswith("graph") or "operations" in message:
        return True
    tensors = stored["tensors"]
    names = [*tensors, *(each.get("name", "") for each in tensors.values())]
    names += [node.get("name", node["operation"]) for node in stored["nodes"]]
    return any(repr(name) in message for name in names)


@pytest.mark.parametrize("depth", [60, 400])
def test_deep_nesting_is_refused(depth):
    stored = json.loads(STORED["convolution"])
    stored["nodes"][0]["options"]["stride"] = json.loads("[" * depth + "]" * depth)
    with pytest.raises(ValueError, match=r"^graph: lists and objects are nested more than 50 deep"):
        Graph.from_json(json.dumps(stored))
