"""Numbers for operands: of each kind and data type, with a meaning where they need one."""

from __future__ import annotations

from types import MappingProxyType, SimpleNamespace
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

H200 = Target(92800, 90)


def drawn(graph: Graph, kind: str = "ordinary", given: Any = MappingProxyType({})) -> Any:
    """Numbers in the memory of each tensor, by name."""
    nodes = graph.validate()
    expansion = graph._expanded(nodes, H200)
    found = images(expansion, nodes, kind, given)
    tensors = {each.uid: each for each in expansion.tensors}
    return {
        tensors[uid].name: each.view(numpy_dtype(tensors[uid].data_type))
        for uid, each in found.items()
    }


def _elementwise(mode: str, shape: Any = (16, 64, 64), data_type: Any = "float32") -> Graph:
    graph = Graph(io_data_type=data_type)
    getattr(graph, mode)(graph.tensor(shape, name="x")).set_output(name="y")
    return graph


@pytest.mark.parametrize("data_type", ["float32", "float16"])
def test_numbers_of_each_kind(data_type):
    x = {
        kind: drawn(_elementwise("relu", data_type=data_type), kind)["x"].astype(np.float64)
        for kind in ("ordinary", "tails", "rows", "offset", "tiny")
    }

    def moments(values: Any) -> Any:
        return pytest.approx((values.mean(), values.std()), abs=0.03)

    assert all(each.size == 1 << 16 for each in x.values())

    assert moments(x["ordinary"]) == (0, 4 / 12**0.5)
    assert 1.9 < np.abs(x["ordinary"]).max() <= 2
    large = np.abs(x["tails"]) > 6
    assert 0.004 < large.mean() < 0.006
    assert 80 < x["tails"][large].std() < 120
    assert moments(x["tails"][~large]) == (0, 1)
    rows = x["rows"].reshape(16, 4096)
    most = [100 if row in (1, 6) else {3: 0, 8: 1.5}.get(row, 2) for row in range(16)]
    np.testing.assert_allclose(np.abs(rows).max(1), most, rtol=0.02)
    assert (rows[8] == 1.5).all()
    assert (x["offset"].mean(), x["offset"].std()) == pytest.approx((4, 1 / 16), rel=0.01)
    lowest = float(ml_dtypes.finfo(numpy_dtype(as_data_type(data_type))).smallest_normal)
    tiny = np.abs(x["tiny"]) <= 2 * lowest
    assert moments(x["tiny"][~tiny]) == (0, 4 / 12**0.5)
    assert 0.24 < tiny.mean() < 0.26
    assert 0.45 < (np.abs(x["tiny"][tiny]) < lowest).mean() < 0.55


def test_numbers_of_small_tensors_and_of_other_operations():
    x = drawn(_elementwise("relu", (1, 4, 8)), "rows")["x"].reshape(16, 2)
    assert [row for row in range(16) if (x[row] == 0).all()] == [3]
    assert [row for row in range(16) if (x[row] == 1.5).all()] == [8]
    assert drawn(_elementwise("relu", (1, 1, 3)), "rows")["x"][[1]] != 0
    positive = drawn(_elementwise("sqrt"))["x"]  # as the operation wants them
    assert (positive.min(), positive.max()) == pytest.approx((0.125, 2.125), abs=0.01)


@pytest.mark.parametrize(
    ("data_type", "numbers"),
    [
        ("int8", range(-4, 5)),
        ("uint8", range(5)),
        ("int64", range(-4, 5)),
        ("byte_boolean", (False, True)),
        ("fp8_e8m0", (0.125, 0.25, 0.5, 1)),
    ],
)
def test_numbers_of_few_values(data_type, numbers):
    data_type = as_data_type(data_type)
    found = random_bytes(np.random.default_rng(1), data_type, 8000).view(numpy_dtype(data_type))
    values, counts = np.unique(found.astype(np.float64), return_counts=True)
    assert values.tolist() == [*numbers]
    assert counts.min() > 0.7 * counts.max()


def test_numbers_of_many_values():
    rng = np.random.default_rng(1)
    for data_type in ("float64", "float32", "bfloat16", "fp8_e4m3", "fp8_e5m2"):
        dtype = numpy_dtype(as_data_type(data_type))
        found = random_bytes(rng, data_type, 5000 * dtype.itemsize).view(dtype).astype(np.float64)
        assert (found.mean(), found.std()) == pytest.approx((0, 1), abs=0.05)
    packed = random_bytes(rng, as_data_type("int4"), 9000)
    assert (packed.size, *np.unique(packed)) == (9000, *range(256))
    long = random_bytes(rng, as_data_type("int8"), (1 << 20) + 7)
    assert long.size == (1 << 20) + 7
    np.testing.assert_array_equal(long[1 << 20 :], long[:7])


@pytest.mark.parametrize(
    ("described", "limits"),
    [
        ("attention with paged caches", {"seq_len_q": (1, 129), "k_table": (0, 64)}),
        (FORWARD["pages"].forward, {"seq_len_kv": (1, 193), "v_table": (0, 48)}),
        (PADDED.backward, {"seq_len_kv": (1, 193), "stats": (3, 6)}),
        (FP8_FORWARD["e5m2"].forward, {"descale_q": (0.5, 1.5), "scale_o": (0.5, 1.5)}),
        (
            "matmul with its m, n, k of each batch",
            {"m": (1, 65), "n": (1, 257), "k": (1, 129)},
        ),
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
    numbers = _meanings(graph.validate())
    for name, each in limits.items():
        tensor = graph.find_tensor(name)
        assert numbers[tensor.uid](rng) == (*each, tensor.dims)


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
    assert found["x"].tolist() == [*range(7)]
    assert (found["factor"], found["y"].tolist()) == (3, [0] * 6)
    assert drawn(graph)["factor"] == 0.5
