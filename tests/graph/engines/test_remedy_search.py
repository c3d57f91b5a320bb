"""Which changes are tried, in which order, and when the search ends; cuDNN is not asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cudnn_ctypes.graph.engines.explaining.advising import Search
from cudnn_ctypes.graph.engines.explaining.examination import Outcome
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw import cudnnDataType_t

HALF, FLOAT = cudnnDataType_t.CUDNN_DATA_HALF, cudnnDataType_t.CUDNN_DATA_FLOAT


def _graph() -> Graph:
    """Fit for a layout, a width, an alignment and a split."""
    graph = Graph("image", io_data_type="float16")
    x = graph.tensor((2, 15, 8, 8), name="x", alignment=2)
    w = graph.tensor((16, 15, 3, 3), name="w")
    y = graph.conv_fprop(x, w, padding=1, name="conv")
    graph.relu(y, name="relu").set_output(name="y")
    return graph


def _x(graph: Graph) -> Any:
    return next((each for each in graph.tensors if each.name == "x"), None)


def _last(graph: Graph) -> bool:
    return bool(_x(graph).strides[1] == 1)


def _wide(graph: Graph) -> bool:
    return bool(_x(graph).dims[1] == 16)


def _aligned(graph: Graph) -> bool:
    return bool(_x(graph).alignment == 16)


def _found(
    wanted: Callable[[Graph], bool], *, first_only: bool = True, tries: int = 99
) -> tuple[list[tuple[str, ...]], Search]:
    asked = Outcome((7,))
    search = Search(
        _graph(), lambda graph: asked if wanted(graph) else None, tries=tries, seconds=99.0
    )
    topics = [
        tuple(step.topic for step in each.variant.steps)
        for each in search.cures(first_only=first_only)
    ]
    return topics, search


def test_one_change_is_enough() -> None:
    assert _found(_last)[0] == [("layout",)]
    assert _found(_wide)[0] == [("width",)]
    assert _found(lambda graph: _last(graph) or _aligned(graph))[0] == [("layout",), ("alignment",)]


def test_the_fewest_changes_together() -> None:
    assert _found(lambda g: _last(g) and _wide(g))[0] == [("layout", "width")]
    assert _found(lambda g: _aligned(g) and _wide(g))[0] == [("alignment", "width")]
    assert _found(lambda g: _last(g) and _aligned(g) and _wide(g))[0] == [
        ("layout", "alignment", "width")
    ]


def test_the_graph_in_two() -> None:
    assert _found(lambda graph: len(graph.nodes) == 1)[0] == [("split",)]


def test_in_two_with_all_changes() -> None:
    def wanted(graph: Graph) -> bool:
        return len(graph.nodes) == 1 and (_x(graph) is None or (_last(graph) and _wide(graph)))

    assert _found(wanted)[0] == [("layout", "alignment", "width", "split")]


def test_what_loses_something_comes_last() -> None:
    def wanted(graph: Graph) -> bool:
        return bool(_x(graph).data_type == FLOAT)

    assert _found(wanted)[0] == [("input type",)]
    both = _found(lambda g: wanted(g) and _wide(g))[0]
    assert both == [("width", "input type")]
    assert _found(lambda g: wanted(g) or _wide(g))[0] == [("width",)]
    assert _found(lambda g: wanted(g) or _wide(g), first_only=False)[0] == [
        ("width",),
        ("input type",),
    ]


def test_nothing_helps() -> None:
    topics, search = _found(lambda graph: False)
    assert topics == []
    assert not search.exhausted
    assert 0 < search.tried < 30


@pytest.mark.parametrize("tries", [0, 1, 3])
def test_no_more_is_asked_than_may_be(tries: int) -> None:
    topics, search = _found(lambda graph: False, tries=tries)
    assert topics == []
    assert search.tried == tries
    assert search.exhausted


def test_it_ends_with_its_time() -> None:
    times = iter(range(99))
    search = Search(
        _graph(), lambda graph: None, tries=99, seconds=3.5, clock=lambda: float(next(times))
    )
    assert list(search.cures(first_only=False)) == []
    assert search.tried == 3
    assert search.exhausted


def test_a_graph_that_has_an_engine_is_changed_once_each() -> None:
    search = Search(_graph(), lambda graph: Outcome((1,)), tries=99, seconds=99.0)
    topics = [tuple(step.topic for step in each.variant.steps) for each in search.gains()]
    assert topics == [("layout",), ("alignment",), ("width",)]
