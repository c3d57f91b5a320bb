"""Places of boxes and arrows: nothing lies on anything, and arrows lead down."""

from __future__ import annotations

import itertools
import random

import pytest

from cudnn_ctypes.evidence.pictures.diagram import (
    Arrow,
    Box,
    Diagram,
    Layout,
    Place,
    diagram,
    layout,
)
from cudnn_ctypes.graph.graph import Graph

from .graphs import GRAPHS, attention


def _sizes(drawn: Diagram) -> list[tuple[float, float]]:
    return [(60.0 + 7 * max(map(len, box.lines)), 16.0 * len(box.lines)) for box in drawn.boxes]


def _sides(place: Place) -> tuple[float, float, float, float]:
    half, tall = place.width / 2, place.height / 2
    return place.x - half, place.y - tall, place.x + half, place.y + tall


def _overlap(one: Place, other: Place) -> bool:
    left, top, right, bottom = _sides(one)
    left_, top_, right_, bottom_ = _sides(other)
    return left < right_ and left_ < right and top < bottom_ and top_ < bottom


def _check(drawn: Diagram, found: Layout) -> None:
    bends = [place for path in found.paths for place in path[1:-1]]
    everything = [*found.places, *bends]
    for one, other in itertools.combinations(everything, 2):
        assert not _overlap(one, other)
    for path in found.paths:
        for upper, lower in itertools.pairwise(path):
            assert lower.row == upper.row + 1
            assert lower.y - lower.height / 2 >= upper.y + upper.height / 2 + 20
    for place in everything:
        left, top, right, bottom = _sides(place)
        assert left >= -1e-6
        assert top >= -1e-6
        assert right <= found.width + 1e-6
        assert bottom <= found.height + 1e-6
    assert found.region is not None
    left, top, right, bottom = found.region
    for box, place in zip(drawn.boxes, found.places, strict=True):
        x, y, x_, y_ = _sides(place)
        inside = left < x and x_ < right and top < y and y_ < bottom
        outside = x_ <= left or right <= x or y_ <= top or bottom <= y
        assert inside if box.role == "operation" else outside


@pytest.mark.parametrize("name", GRAPHS)
def test_nothing_lies_on_anything(name: str) -> None:
    graph = GRAPHS[name]()
    graph.validate()
    drawn = diagram(graph.name, graph.nodes)
    _check(drawn, layout(drawn, _sizes(drawn)))


def test_an_expanded_graph() -> None:
    expansion = attention().expansion("H200")
    drawn = diagram("attention", expansion.nodes)
    assert len(drawn.boxes) > 15
    _check(drawn, layout(drawn, _sizes(drawn)))


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs(seed: int) -> None:
    """Operations with one to three operands each, from any place before them."""
    rng = random.Random(seed)
    graph = Graph(io_data_type="float16")
    tensors = [graph.tensor((2, 8, 8), name=f"in{i}") for i in range(3)]
    for i in range(rng.randrange(2, 18)):
        operation = rng.choice([graph.add, graph.mul, graph.sub])
        if rng.random() < 0.4:
            tensors.append(graph.relu(rng.choice(tensors), name=f"op{i}"))
        else:
            tensors.append(operation(rng.choice(tensors), rng.choice(tensors), name=f"op{i}"))
        if rng.random() < 0.2:
            tensors[-1].set_output()
    tensors[-1].set_output()
    drawn = diagram("random", graph.nodes)
    _check(drawn, layout(drawn, _sizes(drawn)))


def test_an_empty_graph_takes_no_room() -> None:
    found = layout(Diagram("empty"), [])
    assert (found.width, found.height, found.region) == (0, 0, None)


def test_a_chain_is_straight() -> None:
    boxes = [Box((f"{i}",), "operation") for i in range(6)]
    drawn = Diagram("chain", boxes, [Arrow(i, i + 1) for i in range(5)])
    found = layout(drawn, [(40.0 + 10 * i, 20.0) for i in range(6)])
    assert len({round(place.x, 6) for place in found.places}) == 1
    assert [place.row for place in found.places] == list(range(6))


def test_arrows_cross_no_more_than_they_must() -> None:
    """Two parallel chains whose ends were named in the other order."""
    boxes = [Box((name,), "operation") for name in "abcd"]
    drawn = Diagram("two", boxes, [Arrow(0, 3), Arrow(1, 2)])
    found = layout(drawn, [(40.0, 20.0)] * 4)
    a, b, c, d = found.places
    assert (a.x < b.x) == (d.x < c.x)
