"""Tensors that are described with other dims are the same numbers in the same memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from cudnn_ctypes.errors import NotSupportedError, SymbolNotFoundError
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.flattening import flattened
from cudnn_ctypes.raw.strides import packed

SIZES = (1, 2, 3, 5)


def _random_sum(seed: int) -> tuple[Graph, list[Tensor]]:
    """x + b + c of random dims and layouts: some operands broadcast, some have gaps."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 7))
    dims = tuple(int(each) for each in rng.choice(SIZES, rank))
    order = rng.permutation(rank) if rng.random() < 0.3 else np.arange(rank)
    graph = Graph(io_data_type="float32")
    operands = []
    for name in "xbc":
        keeps = rng.random(rank) < (1.1 if name == "x" else 0.6)
        own = tuple(size if kept else 1 for size, kept in zip(dims, keeps, strict=True))
        gap = int(rng.choice((1, 1, 1, 2)))
        strides = tuple(gap * each for each in packed(own, order.tolist()))
        operands.append(graph.tensor(own, strides, name=name))
    total = graph.add(graph.add(*operands[:2]), operands[2])
    total.set_output(name="y", dims=dims, strides=packed(dims, order.tolist()))
    return graph, operands


def _read(memory: NDArray[Any], dims: Any, strides: Any) -> NDArray[Any]:
    return as_strided(memory, dims, [each * memory.itemsize for each in strides])


@pytest.mark.thinned(10)
@pytest.mark.parametrize("seed", range(300))
def test_a_sum_by_the_views_is_the_sum(seed: int) -> None:
    graph, operands = _random_sum(seed)
    views = flattened(graph.validate())
    rng = np.random.default_rng(seed)
    memory = {each.name: rng.standard_normal(20_000) for each in operands}
    (result,) = graph.outputs

    def total(how: Any) -> NDArray[Any]:
        y = np.full(20_000, 77.0)
        parts = [_read(memory[each.name], *how(each)) for each in operands]
        _read(y, *how(result))[...] = sum(parts)
        return y

    exact = total(lambda each: (each.dims, each.strides))
    if views:
        assert all(len(dims) == len(strides) == 3 for dims, strides in views.values())
        np.testing.assert_array_equal(total(lambda each: views[id(each)]), exact)


def test_most_of_these_graphs_need_it() -> None:
    graphs = [_random_sum(seed)[0] for seed in range(300)]
    assert 100 < sum(bool(flattened(graph.validate())) for graph in graphs) < 290


def _view_of(dims: Any, other: Any, which: str = "x") -> Any:
    graph = Graph(io_data_type="float32")
    graph.add(graph.tensor(dims, name="x"), graph.tensor(other, name="b")).set_output(name="y")
    nodes = graph.validate()
    (found,) = (each for node in nodes for each in node.operands if each.name == which)
    return flattened(nodes).get(id(found))


def test_rows_of_a_single_shape_are_of_middle_length() -> None:
    assert _view_of((1 << 20,), (1 << 20,)) == ((1, 1024, 1024), (1 << 20, 1024, 1))
    assert _view_of((999_983,), (999_983,)) == ((1, 999_983, 1), (999_983, 1, 1))


def test_what_is_too_large_for_a_launch_is_laid_out_anew() -> None:
    assert _view_of((1, 1, 1 << 20), (1, 1, 1 << 20))[0] == (1, 1024, 1024)
    assert _view_of((1 << 16, 2, 8), (1 << 16, 2, 8))[0] == (1, 1024, 1024)
    assert _view_of((65_535, 2, 8), (65_535, 2, 8)) is None


def test_channels_last_stays() -> None:
    dims, like = (2, 8, 4, 4), packed((2, 8, 4, 4), (0, 2, 3, 1))
    graph = Graph(io_data_type="float32")
    graph.add(graph.tensor(dims, like), graph.tensor((1, 8, 1, 1))).set_output()
    assert not flattened(graph.validate())


def test_what_is_not_only_dims_and_strides_stays() -> None:
    graph = Graph(io_data_type="float32")
    x = graph.tensor((6, 64))
    graph.add(x, graph.gen_index(x, axis=1)).set_output()
    assert not flattened(graph.validate())


def test_attention_keeps_its_four_dimensions() -> None:
    graph = Graph(io_data_type="float16")
    q, k, v = (graph.tensor((2, 4, 64, 64), name=name) for name in "qkv")
    graph.sdpa(q, k, v)[0].set_output()
    assert not flattened(graph.validate())


def test_shapes_that_may_change_stay_as_they_are_described(h200: DeviceProperties) -> None:
    graph = Graph(io_data_type="float16")
    graph.relu(graph.tensor((2, 8, 16, 16))).set_output()
    with graph:
        graph.build(h200)
        with pytest.raises((NotSupportedError, SymbolNotFoundError)):
            graph.build(h200, override_shapes=True)
