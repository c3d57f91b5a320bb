"""What composite nodes become: pure, for any version, and named after the user's operation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cudnn_ctypes import NotSupportedError, raw
from cudnn_ctypes.graph import Graph
from cudnn_ctypes.graph.describe.node import Node
from cudnn_ctypes.graph.lower.expand.attention import alibi_slopes
from cudnn_ctypes.graph.lower.expand.expansion import Expansion
from cudnn_ctypes.graph.lower.target import Target

from ..describe.test_wrong_operations import forward, heads, lengths
from ..families import CASES, DISTINCT, ONE_OF_EACH

STORED = Path(__file__).parents[1] / "stored_graphs"


def for_version(graph: Graph, version: int = 91900) -> Expansion:
    return graph._expanded(graph.validate(), Target(version, 90))


def with_outputs(graph: Graph, results: Any) -> Graph:
    for each in results:
        if each is not None:
            each.set_output()
    return graph


def form(nodes: list[Node]) -> list[Any]:
    """Operations and their tensors, numbered as they come, without names and unique ids."""
    numbers: dict[int, int] = {}

    def tensor(each: Any) -> Any:
        if isinstance(each, list):
            return [tensor(one) for one in each]
        number = numbers.setdefault(id(each), len(numbers))
        return number, each.dims, each.strides, each.data_type, each.virtual, each.value

    return [
        (
            node.kind.descriptor,
            {port: tensor(each) for port, each in node.inputs.items()},
            {port: tensor(each) for port, each in node.outputs.items()},
            {option: value for option, value in node.options.items() if value is not None},
            node.transposed,
            node.may_go_unused,
        )
        for node in nodes
    ]


@pytest.mark.parametrize("name", DISTINCT[::3])
def test_a_graph_stays_as_it_was_described(name):
    graph = CASES[name].graph()
    graph.validate()
    before = graph.to_json()
    tensors, nodes = list(graph.tensors), list(graph.nodes)
    first, second = for_version(graph), for_version(graph)
    assert graph.to_json() == before
    assert graph.tensors == tensors
    assert graph.nodes == nodes
    assert form(first.nodes) == form(second.nodes)
    assert not any(node.kind.composite for node in first.nodes)
    assert [each.uid for each in first.tensors] == [each.uid for each in second.tensors]
    assert len({each.uid for each in first.tensors}) == len(first.tensors)


def test_errors_name_the_user_s_operation(h200):
    graph = Graph(io_data_type="float16")
    q, k, v = (heads(graph, each, (2, 4, 128, 63)) for each in "qkv")
    with_outputs(graph, graph.sdpa(q, k, v, name="attention"))
    with pytest.raises(NotSupportedError) as caught:
        graph.build(h200)
    assert "sdpa 'attention'" in str(caught.value)
    for internal in ("matmul '", "mul '", "reduction '"):
        assert internal not in str(caught.value)


# --- subgraphs -----------------------------------------------------------------------------------


def test_a_score_modifier_must_keep_the_dims():
    graph = Graph(io_data_type="float16")
    sums = with_outputs(
        graph, forward(graph, score_mod=lambda g, scores: g.reduction(scores, "add", axes=(3,)))
    )
    with pytest.raises(ValueError, match=r"sdpa 'sdpa': score_mod must return .* \(2, 4, 128, 128"):
        sums.validate()


def test_what_a_score_modifier_reads_is_made_before():
    graph = Graph(io_data_type="float16")
    mask = graph.relu(heads(graph, "mask", (2, 4, 128, 128)), name="mask of it")
    with_outputs(graph, forward(graph, score_mod=lambda g, scores: scores + mask))
    graph.nodes.reverse()
    assert [node.operation for node in graph.validate()] == ["relu", "sdpa"]
    assert [each.name for each in graph.nodes[0].operands] == ["q", "k", "v", "mask of it"]


def test_a_score_modifier_that_fails_leaves_the_graph_as_it_was():
    graph = Graph(io_data_type="float16")
    q, k, v = (heads(graph, each) for each in "qkv")

    def failing(g, scores):
        g.relu(scores)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        graph.sdpa(q, k, v, score_mod=failing)
    assert graph.tensors == [q, k, v]
    assert graph.nodes == []


# --- attention -----------------------------------------------------------------------------------


def test_the_inverse_scale_of_a_mask_of_dropout_leaves_the_graph():
    graph = Graph(io_data_type="float16")
    mask = heads(graph, "mask", (2, 4, 128, 128))
    scale, inverse = (graph.tensor((1, 1, 1, 1), name=name) for name in ("scale", "inverse"))
    with_outputs(graph, forward(graph, dropout=(mask, scale, inverse))).validate()
    assert mask in graph.inputs
    assert scale in graph.inputs
    assert inverse not in graph.tensors


def test_alibi_slopes():
    assert alibi_slopes(8) == [2.0**-i for i in range(1, 9)]
    assert alibi_slopes(1) == [2.0**-8]
    # The paper's for 12: those of 8 heads, then every second one of 16 heads.
    assert alibi_slopes(12)[:8] == alibi_slopes(8)
    assert alibi_slopes(12)[8:] == alibi_slopes(16)[:8:2]


# --- stored graphs -------------------------------------------------------------------------------


def described(name: str) -> Graph:
    """What the stored graphs of format 1 described."""
    graph = Graph(name)
    if name == "sdpa":
        graph = Graph("sdpa", io_data_type="float16")
        k, v = (heads(graph, each, (2, 2, 128, 64)) for each in "kv")
        masks = {each: lengths(graph) for each in ("seq_len_q", "seq_len_kv")}
        options: Any = {"use_alibi_mask": True, "use_causal_mask": True, "generate_stats": True}
        q = heads(graph, "q", (2, 4, 64, 64))
        return with_outputs(graph, graph.sdpa(q, k, v, **masks, **options))
    graph = Graph("norms", io_data_type="float32")
    order = (200, 1, 40, 8) if name == "batchnorm" else None
    x = graph.tensor((4, 8, 5, 5), order)
    four = [graph.tensor((1, 8, 1, 1)) for _ in range(4)]
    if name == "batchnorm":
        return with_outputs(graph, graph.batchnorm(x, *four, 1e-5, 0.1))
    return with_outputs(graph, [graph.relu(graph.batchnorm_inference(x, *four))])


@pytest.mark.parametrize("name", ["sdpa", "batchnorm", "batchnorm_inference"])
def test_graphs_of_format_1_give_the_same_operations(name):
    stored = Graph.from_json((STORED / f"{name}.json").read_text())
    assert form(for_version(stored).nodes) == form(for_version(described(name)).nodes)
    assert json.loads(stored.to_json())["version"] == 2


def test_describing_never_loads_cudnn(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the library was asked")

    monkeypatch.setattr("cudnn_ctypes.raw.library.load", refuse)
    monkeypatch.setattr(raw, "load", refuse)
    for name in ONE_OF_EACH:
        graph = CASES[name].graph()
        graph.validate()
        assert Graph.from_json(graph.to_json()).to_json() == graph.to_json()
