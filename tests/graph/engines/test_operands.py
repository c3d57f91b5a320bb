"""Numbers for operands: of each kind and data type, with a meaning where they need one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes.dtypes import as_data_type, numpy_dtype
from cudnn_ctypes.graph.engines.operands import _meanings, images, random_bytes
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.target import Target

from ..attention_problems import FORWARD, PADDED, RAGGED
from ..families import CASES
from ..fp8_attentions import FP8_FORWARD


def drawn(graph: Graph, kind: str = "ordinary", given: Any = None) -> Any:
    """Numbers in the memory of each tensor, by name."""
    nodes = graph.validate()
    expansion = graph._expanded(nodes, Target(92800, 90))
    found = images(expansion, nodes, kind, given or {})
    tensors = {each.uid: each for each in expansion.tensors}
    return {
        tensors[uid].name: each.view(numpy_dtype(tensors[uid].data_type))
        for uid, each in found.items()
    }


def numbers(kind: str, data_type: Any, mode: str = "relu", size: int = 1 << 16) -> Any:
    graph = Graph(io_data_type=data_type)
    getattr(graph, mode)(graph.tensor((1, 1, size), name="x")).set_output(name="y")
    return drawn(graph, kind)["x"].astype(np.float64)


def moments(values: Any) -> Any:
    return pytest.approx((values.mean(), values.std()), abs=0.03)


UNIFORM = (0, 4 / 12**0.5)  # from -2 to 2


@pytest.mark.parametrize("data_type", ["float32", "float16"])
def test_numbers_of_each_kind(data_type):
    x = numbers("ordinary", data_type)
    assert moments(x) == UNIFORM
    assert 1.9 < np.abs(x).max() <= 2
    x = numbers("tails", data_type)
    large = np.abs(x) > 6
    assert 0.004 < large.mean() < 0.006
    assert 80 < x[large].std() < 120
    assert moments(x[~large]) == (0, 1)
    for size in (32, 1 << 16):
        x = np.abs(numbers("rows", data_type, size=size).reshape(16, -1))
        assert [row for row in range(16) if (x[row] == 0).all()] == [3]
        assert [row for row in range(16) if (x[row] == 1.5).all()] == [8]
    most = [100 if row in (1, 6) else {3: 0, 8: 1.5}.get(row, 2) for row in range(16)]
    np.testing.assert_allclose(x.max(1), most, rtol=0.005)
    x = numbers("offset", data_type)
    assert (x.mean(), x.std()) == pytest.approx((4, 1 / 16), rel=0.01)
    x = numbers("tiny", data_type)
    lowest = float(ml_dtypes.finfo(numpy_dtype(as_data_type(data_type))).smallest_normal)
    tiny = np.abs(x) <= 2 * lowest
    assert moments(x[~tiny]) == UNIFORM
    assert (tiny.mean(), (np.abs(x) < lowest).mean()) == pytest.approx((1 / 4, 1 / 8), abs=0.01)
    positive = numbers("ordinary", data_type, "sqrt")
    assert (positive.min(), positive.max()) == pytest.approx((0.125, 2.125), abs=0.01)


FEW = {
    "int8": range(-4, 5), "int64": range(-4, 5), "uint8": range(5), "byte_boolean": (False, True),
    "fp8_e8m0": (0.125, 0.25, 0.5, 1),
}  # fmt: skip


def test_numbers_of_each_data_type():
    rng = np.random.default_rng(1)
    for name in (*FEW, "float64", "float32", "bfloat16", "fp8_e4m3", "fp8_e5m2"):
        data_type = as_data_type(name)
        dtype = numpy_dtype(data_type)
        found = random_bytes(rng, data_type, 5000 * dtype.itemsize).view(dtype).astype(np.float64)
        if name in FEW:
            values, counts = np.unique(found, return_counts=True)
            assert values.tolist() == [*FEW[name]]
            assert counts.min() > 0.7 * counts.max()
        else:
            assert moments(found) == (0, 1)
    packed = random_bytes(rng, as_data_type("int4"), 9000)
    assert (packed.size, *np.unique(packed)) == (9000, *range(256))
    long = random_bytes(rng, as_data_type("int8"), (1 << 20) + 7)
    assert (long.size, *long[1 << 20 :]) == ((1 << 20) + 7, *long[:7])


def _random(graph: Graph) -> None:
    seed = graph.tensor((1, 1), data_type="int64", name="seed")
    graph.rng((2, 3), seed=seed, probability=0.5).set_output()


@pytest.mark.parametrize(
    ("described", "limits"),
    [
        ("attention with paged caches", {"seq_len_q": (1, 129), "k_table": (0, 64)}),
        (FORWARD["pages"].forward, {"seq_len_kv": (1, 193), "v_table": (0, 48)}),
        (PADDED.backward, {"seq_len_kv": (1, 193), "stats": (3, 6)}),
        (FP8_FORWARD["e5m2"].forward, {"descale_q": (0.5, 1.5), "scale_o": (0.5, 1.5)}),
        ("matmul with its m, n, k of each batch", {"m": (1, 65), "n": (1, 257), "k": (1, 129)}),
        (_random, {"seed": (0, 1 << 16)}),
        ("add, int32", {"a": (-6, 7), "b": (-6, 7)}),
        ("max pooling, backward, float16", {"index": (0, 4)}),
    ],
)
def test_numbers_with_a_meaning(described, limits):
    graph = Graph(io_data_type="float16")
    if isinstance(described, str):
        graph = CASES[described].graph()
    else:
        described(graph)
    rng = SimpleNamespace(integers=lambda *limits: limits, uniform=lambda *limits: limits)
    found = _meanings(graph.validate())
    for name, each in limits.items():
        tensor = graph.find_tensor(name)
        assert found[tensor.uid](rng) == (*each, tensor.dims)


def test_offsets_of_batches_that_are_as_long_as_they_can_be():
    graph = Graph(io_data_type="float16")
    RAGGED.forward(graph)
    graph.find_tensor("q").ragged_offset_multiplier = 16
    found = drawn(graph)
    assert found["q_offset"].tolist() == [0, 4 * 128 * 64 / 16, 4 * 128 * 64 / 8]
    assert found["k_offset"].tolist() == [0, 4 * 192 * 64, 8 * 192 * 64]


def test_what_is_given_is_taken_and_results_are_zero():
    graph = Graph(io_data_type="float16")
    x = graph.tensor((1, 2, 3), (8, 4, 1), name="x")
    factor = graph.tensor((1, 1, 1), data_type="float32", by_value=True, name="factor")
    graph.mul(x, factor).set_output(name="y")
    graph.validate()
    found = drawn(graph, given={x.uid: np.arange(7, dtype="float16"), factor.uid: 3})
    assert {name: each.tolist() for name, each in found.items()} == {
        "x": [*range(7)], "factor": [3], "y": [0] * 6
    }  # fmt: skip
    assert drawn(graph)["factor"] == 0.5
