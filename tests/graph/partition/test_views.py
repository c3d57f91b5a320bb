"""Where tensors lie for operations that move elements, and other dims of the same memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from cudnn_ctypes import Graph
from cudnn_ctypes.graph.describe.node import Node
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.partition.folding import folded
from cudnn_ctypes.graph.partition.views import Memory, orders, viewed
from cudnn_ctypes.graph.run.program import Part
from cudnn_ctypes.raw.strides import extent, is_dense, packed, steps

LAST = (0, 2, 3, 1)
LOGICAL = {"reshape_mode": "logical"}
DIMS, IMAGE = (2, 3, 4), (2, 3, 4, 5)


class InNumPy:
    """A graph that is carried out in memory by unique ids, with NaN where nothing was written."""

    def __init__(
        self, graph: Graph, parts: Mapping[int, Part], given: Mapping[str, Any], memory: Any = ()
    ) -> None:
        self._graph, self._parts, self.memory = graph, parts, dict(memory)
        for name, values in given.items():
            self.of(name)[...] = values
        for node in graph.nodes:
            (y,) = node.outputs.values()
            self._view(y)[...] = self._computed(node, y)

    def of(self, name: str) -> Any:
        return self._view(self._graph.find_tensor(name))

    def _view(self, tensor: Tensor) -> Any:
        base, begin = tensor, 0
        while base.uid in self._parts:
            uid, more = self._parts[base.uid]
            base, begin = self._graph.find_tensor(uid), begin + more
        nothing = np.full(extent(base.dims, base.strides), np.nan)
        memory = self.memory.setdefault(base.uid, nothing)
        return as_strided(memory[begin:], tensor.dims, [8 * step for step in tensor.strides])

    def _computed(self, node: Node, y: Tensor) -> Any:
        x, *others = map(self._view, node.operands)
        options, seen = node.options, [8 * step for step in y.strides]
        same = not options.get("mode") and all(
            is_dense(t.dims, t.strides) for t in (next(node.operands), y)
        )
        return {
            "identity": lambda: x,
            "neg": lambda: -x,
            "add": lambda: x + others[0],
            "gen_index": lambda: np.indices(y.dims)[options["axis"]],
            "reduction": lambda: x.sum(options["axes"], keepdims=True),
            "reshape": lambda: as_strided(x, y.dims, seen) if same else x.reshape(y.dims),
            "transpose": lambda: x.transpose(options["permutation"]),
            "slice": lambda: x[options["slices"]],
            "concatenate": lambda: np.concatenate([x, *others], options["axis"]),
        }[node.operation]()


def described(describe: Any) -> Graph:
    graph = Graph(io_data_type="float32")
    describe(graph, graph.tensor(DIMS, name="x")).set_output(name="y", data_type="float16")
    graph.validate()
    return graph


def numbers(graph: Graph) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {each.name: rng.standard_normal(each.dims) for each in graph.inputs}


def turned(g: Graph, x: Tensor) -> Tensor:
    return g.transpose(x, (0, 2, 1), name="turned")


def plus(g: Graph, x: Tensor, *dims: int) -> Tensor:
    return x + g.tensor(dims, name="b")


def shown_between(g: Graph, x: Tensor) -> Tensor:
    return g.reshape(turned(g, g.neg(x)).set_output(name="between"), (8, 3))


def parted(g: Graph, x: Tensor) -> Tensor:
    whole = g.neg(x)
    return whole[..., 1::2] + whole[:, :, :2]


def joined(g: Graph, x: Tensor) -> Tensor:
    small = g.concatenate([g.neg(x), turned(g, g.tensor((2, 4, 2), name="b"))], 1)
    return g.concatenate([g.neg(g.tensor((1, 5, 4), name="a")), small], 0)


def joined_twice(g: Graph, x: Tensor) -> Tensor:
    half = g.neg(x)
    return g.neg(turned(g, g.concatenate([half, half], 2)))


def bare(g: Graph) -> Graph:
    g.tensors.clear()
    return g


def image(g: Graph, x: Tensor) -> Tensor:
    return bare(g).tensor(IMAGE, packed(IMAGE, LAST), name="image")


def spaced(g: Graph, step: int) -> Tensor:
    return bare(g).tensor(DIMS, (24, 8, step), name="x")


def summed(g: Graph, dims: Any, axes: Any, strides: Any = None, b: Any = None) -> Tensor:
    x = g.tensor(dims, strides, name="x")
    return g.reduction(x if b is None else plus(g, x, *b), "add", axes=axes)


def counted(g: Graph, axis: int) -> Tensor:
    x = g.tensor((4, 6), name="x")
    return x + g.gen_index(x, axis)


def wide(tensor: Tensor) -> Tensor:
    """With gaps between rows."""
    dims = tensor.dims
    return tensor.set_output(strides=packed((*dims[:-1], dims[-1] + 1)))


# What is described, what is left of it, and how many tensors lie in others' memory.
MOVED: list[tuple[Any, list[str], int]] = [
    (lambda g, x: plus(g, turned(g, x), 2, 4, 3), ["add"], 1),
    (lambda g, x: g.reshape(turned(g, g.neg(x)), (8, 3)), ["neg"], 2),
    (lambda g, x: g.neg(g.reshape(turned(g, x), (2, 12))), ["identity", "neg"], 2),
    (lambda g, x: g.reshape(turned(g, x), (2, 12)), ["identity"], 2),
    (lambda g, x: g.neg(x)[:, 1:], ["neg", "identity"], 1),
    (lambda g, x: wide(g.reshape(g.neg(x), (8, 3))), ["neg", "identity"], 1),
    (lambda g, x: wide(g.reshape(g.neg(x), (2, 12))), ["neg"], 1),
    (lambda g, x: g.reshape(x[:, 1:3], (2, 8)), ["identity"], 2),
    (lambda g, x: plus(g, g.reshape(spaced(g, 2), (6, 4)), 6, 4), ["add"], 1),
    (lambda g, x: plus(g, g.reshape(spaced(g, 1), (2, 12)), 2, 12), ["identity", "add"], 1),
    (shown_between, ["neg", "identity", "identity"], 2),
    (parted, ["neg", "add"], 2),
    (joined, ["neg", "identity", "neg"], 5),
    (lambda g, x: g.neg(g.concatenate([x, g.neg(x)], 1)), ["neg", "identity", "neg"], 2),
    (joined_twice, ["neg", "identity", "neg"], 3),
    (lambda g, x: plus(g, g.reshape(image(g, x), (2, 20, 3)), 1, 20, 1), ["add"], 1),
    (
        lambda g, x: plus(g, g.reshape(image(g, x), (2, 12, 5), **LOGICAL), 2, 12, 5),
        ["identity", "add"],
        1,
    ),
    (lambda g, x: plus(g, g.reshape(image(g, x), (2, 3, 20), **LOGICAL), 2, 3, 20), ["add"], 1),
]


def moved(describe: Any, *apart: str) -> tuple[list[str], int]:
    """The operations that are left, and the number of parts, of what computes the same."""
    before, graph = described(describe), described(describe)
    memory = Memory(graph, [graph.find_tensor(name).uid or 0 for name in apart])
    given = numbers(before)
    exact, got = InNumPy(before, {}, given), InNumPy(graph, memory.parts, given)
    for each in before.outputs:
        assert np.array_equal(got.of(each.name), exact.of(each.name)), each.name
    for uid in memory.parts:
        part, base = (graph.find_tensor(each) for each in (uid, memory.in_base(uid).base))
        assert (part.virtual, base.virtual, part.data_type) == (False, False, base.data_type)
    return [each.operation for each in graph.nodes], len(memory.parts)


@pytest.mark.parametrize(("describe", "left", "parts"), MOVED)
def test_what_moves_elements_is_another_name_for_memory(describe, left, parts):
    assert moved(describe) == (left, parts)


@pytest.mark.parametrize(
    ("describe", "left", "parts"),
    [
        (lambda g, x: plus(g, turned(g, x), 2, 4, 3), ["identity", "add"], 1),
        (lambda g, x: g.neg(turned(g, g.neg(x))), ["neg", "neg"], 1),
        (lambda g, x: g.reshape(g.neg(x, name="turned"), (4, 6)), ["neg", "identity"], 1),
        (
            lambda g, x: g.concatenate([g.neg(x, name="turned"), x], 1),
            ["neg", *2 * ["identity"]],
            2,
        ),
    ],
)
def test_tensors_that_stay_apart_are_copied_or_written_as_they_are_read(describe, left, parts):
    assert moved(describe, "turned") == (left, parts)


@pytest.mark.parametrize(
    "options",
    [{"data_type": "fp4_e2m1"}, {"vector_count": 4, "vector_dimension": 1}, {"offset": (3, 1, 1)}],
    ids=str,
)
def test_what_is_no_plain_memory_is_moved_by_engines(options):
    graph = Graph(io_data_type="float32")
    if "offset" in options:
        options = {"ragged_offset": graph.tensor(options["offset"], data_type="int32")}
    graph.transpose(graph.tensor(DIMS, **options), (0, 2, 1)).set_output()
    graph.validate()
    assert Memory(graph).parts == {}
    assert [each.operation for each in graph.nodes] == ["transpose"]


def test_results_lie_in_the_order_of_what_they_are_computed_of():
    graph = bare(Graph(io_data_type="float16"))
    x, bias, w = graph.tensor(IMAGE), graph.tensor((1, 3, 1, 1)), graph.tensor((6, 3, 1, 1))
    results = [graph.add(bias, graph.neg(x))]
    results += [graph.conv_fprop(results[0], w), graph.reduction(x, "add", axes=(3,))]
    results += [graph.resample(results[1], "maxpool", window=2)[0]]
    results += [graph.reshape(results[0], (2, 12, 5, 1)), graph.matmul(x, x, transpose_B=True)]
    for each in results:
        each.set_output()
    graph.validate()
    x.strides = packed(IMAGE, LAST)
    moved = {each.uid: packed(each.dims, LAST) for each in (graph.tensors[3], *results[:4])}
    assert orders(graph, [], []) == moved
    del moved[results[2].uid], moved[results[3].uid]
    assert orders(graph, [results[2].uid], [results[3].uid]) == moved
    x.strides = packed(IMAGE)
    assert orders(graph, [], []) == {}


@pytest.mark.parametrize(
    ("dims", "strides", "new", "expected"),
    [
        ((2, 3, 4), (12, 4, 1), (6, 4), (4, 1)),
        ((2, 3, 4), (12, 4, 1), (2, 12), (12, 1)),
        ((2, 3, 4), (24, 4, 1), (2, 12), (24, 1)),
        ((2, 3, 4), (24, 4, 1), (6, 4), None),
        ((4, 6), (1, 4), (4, 2, 3), (1, 12, 4)),
        ((4, 6), (1, 4), (24,), None),
        ((1, 6), (9, 1), (2, 1, 3), (3, 3, 1)),
    ],
)
def test_strides_of_the_same_memory(dims, strides, new, expected):
    found = viewed(dims, strides, new)
    assert (found and steps(new, found)) == (expected and steps(new, expected))


@pytest.mark.parametrize(
    ("describe", "dims"),
    [
        (lambda g: summed(g, (8, 16, 32), (2,)), (128, 32, 1, 1)),
        (lambda g: summed(g, (8, 16, 32), (1,), (512, 1, 16)), (256, 16, 1, 1)),
        (lambda g: summed(g, (8, 1, 32), (1, 2)), (8, 32, 1, 1)),
        (lambda g: summed(g, (2, 8, 4, 4), (2, 3)), (16, 16, 1, 1)),
        (lambda g: summed(g, (2, 8, 4, 4), (0, 1)), (16, 16, 1, 1)),
        (lambda g: summed(g, (2, 8, 4, 4), (0, 2, 3), (128, 1, 32, 8)), (32, 8, 1, 1)),
        (lambda g: summed(g, (6, 7), (0, 1)), (1, 42, 1, 1)),
        (lambda g: summed(g, (8, 16, 32), (2,), b=(8, 16, 1)), (128, 32, 1, 1)),
        (lambda g: summed(g, (8, 16, 32), (2,), b=(1, 1, 32)), (128, 32, 1, 1)),
        (lambda g: g.neg(g.tensor((8, 16), (1, 20), name="x")), (16, 8)),
        (lambda g: plus(g, g.tensor((2, 3, 4), (1, 8, 2), name="x"), 2, 1, 4), (3, 4, 2)),
        (lambda g: counted(g, -1), (1, 4, 6)),
        (lambda g: counted(g, 0), (1, 4, 6)),
    ],
)
def test_sums_and_element_wise_operations_with_other_dims_of_the_same_memory(describe, dims):
    graph = described(lambda g, x: describe(bare(g)))
    made = folded(graph)
    assert made is not None
    assert made.find_tensor("x").dims == dims
    exact = InNumPy(graph, {}, numbers(graph))
    memory = {each.uid: exact.memory[each.uid] for each in graph.inputs}
    got, uid = InNumPy(made, {}, {}, memory), graph.find_tensor("y").uid
    assert np.allclose(got.memory[uid], exact.memory[uid], equal_nan=True)


@pytest.mark.parametrize("name", ["middle", "gaps", "bias", "index", "two"])
def test_other_reductions_keep_their_dimensions(name):
    graph = Graph(io_data_type="float32")
    x = graph.tensor((8, 16, 32), (1024, 64, 2) if name == "gaps" else None, name="x")
    if name == "bias":
        x = x + graph.tensor((1, 16, 1), name="b")
    elif name == "index":
        x = x + graph.gen_index(x, axis=1)
    elif name == "two":
        x = x - graph.reduction(x, "max", axes=(2,))
    graph.reduction(x, "add", axes=(1,) if name == "middle" else (2,)).set_output(name="y")
    graph.validate()
    assert folded(graph) is None
