"""Operations for which an H200 has no engine: cuDNN takes their descriptors all the same."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.graph.attributes import KINDS, attribute
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lowering import Lowering
from cudnn_ctypes.graph.node import Kind
from cudnn_ctypes.graph.operations import (
    attention_unified,
    blocks,
    convolutions,
    normalization_kinds,
    reductions,
    resampling,
    sequences,
    shapes,
)
from cudnn_ctypes.graph.operations import batch_normalization as parts
from cudnn_ctypes.graph.operations import pointwise as elements
from cudnn_ctypes.graph.tensor import Tensor

SCORES = (2, 4, 64, 64)


def _scores(g: Graph) -> Tensor:
    return g.tensor(SCORES, name="scores")


def _quantized(g: Graph) -> list[Tensor]:
    y, scale = g.block_scale_quantize(g.tensor((4, 256, 256)), 32)
    y.data_type = raw.CUDNN_DATA_FP8_E4M3
    scale.data_type = raw.CUDNN_DATA_FP8_E8M0
    scale.reordering = raw.CUDNN_TENSOR_REORDERING_F8_128x4
    return [y, scale]


def _dequantized(g: Graph) -> Tensor:
    x = g.tensor((4, 256, 256), data_type="fp8_e4m3")
    scale = g.tensor((4, 256, 8), data_type="fp8_e8m0", reordering="f8_128x4")
    return g.block_scale_dequantize(x, scale, 32)


def _weights(g: Graph) -> tuple[Tensor, ...]:
    dims = (8, 32, 14, 14)
    dy, x = g.tensor(dims), g.tensor(dims)
    saved = [g.tensor((1, 32, 1, 1), data_type="float32") for _ in range(3)]
    return g.bn_backward_weights(dy, x, *saved)


BAND: dict[str, Any] = {"lower_bandwidth": 16, "upper_bandwidth": 15, "axis": 3}

DESCRIBED: dict[str, Callable[[Graph], Any]] = {
    "genstats": lambda g: g.genstats(_scores(g)),
    "bn_backward_weights": _weights,
    "softmax": lambda g: list(
        g.softmax(_scores(g), outputs=("y", "stats", "max", "sum_exp")).values()
    ),
    "diagonal_band_mask": lambda g: g.diagonal_band_mask(_scores(g), -1e9),
    "rope": lambda g: g.rope(_scores(g), g.tensor((1, 1, 64, 64), data_type="float32")),
    "rope_backward": lambda g: g.rope_backward(
        _scores(g), g.tensor((1, 1, 64, 64), data_type="float32")
    ),
    "expand_band_matrix": lambda g: g.expand_band_matrix(g.tensor((2, 4, 64, 32)), SCORES, **BAND),
    "contract_band_matrix": lambda g: g.contract_band_matrix(_scores(g), (2, 4, 64, 32), **BAND),
    "block_scale_quantize": _quantized,
    "block_scale_dequantize": _dequantized,
    "moe_grouped_matmul_bwd": lambda g: g.moe_grouped_matmul_bwd(
        g.tensor((1, 512, 256)), g.tensor((1, 512, 128)), g.tensor((8, 1, 1), data_type="int32")
    ),
    "signal": lambda g: g.signal(
        g.relu(_scores(g)), g.tensor((1, 1, 1, 1), data_type="int32"), "set", 1
    ),
    "reshape": lambda g: g.reshape(_scores(g), (8, 64, 64)),
    "transpose": lambda g: g.transpose(_scores(g), (0, 1, 3, 2)),
    "slice": lambda g: g.slice(_scores(g), [slice(None)] * 3 + [slice(0, 32)]),
    "concatenate": lambda g: g.concatenate([_scores(g), g.tensor(SCORES)], 2),
    "rng, bernoulli": lambda g: g.rng(SCORES, seed=3, probability=0.5),
    "rng, uniform": lambda g: g.rng(SCORES, "uniform", seed=3, minimum=0.0, maximum=1.0),
    "rng, normal": lambda g: g.rng(SCORES, "normal", seed=3, mean=0.0, standard_deviation=1.0),
    "bilinear": lambda g: g.resample(
        _scores(g),
        "bilinear",
        window=2,
        stride=Fraction(1, 2),
        pre_padding=Fraction(1, 2),
        post_padding=1,
        padding_mode="edge_val",
    )[0],
    "maxpool backward, from x and y": lambda g: g.resample_backward(
        g.tensor((2, 4, 32, 32)),
        "maxpool",
        input=_scores(g),
        y=g.tensor((2, 4, 32, 32)),
        window=2,
        stride=2,
    ),
}


@pytest.mark.parametrize("name", list(DESCRIBED))
def test_cudnn_takes_the_descriptors(name: str) -> None:
    graph = Graph(io_data_type="float16")
    results = DESCRIBED[name](graph)
    for tensor in results if isinstance(results, (list, tuple)) else [results]:
        tensor.set_output()
    lowering = Lowering(graph.compute_data_type)
    try:
        operations = lowering.operation_graph(graph.validate())["ops"]
        assert [each.name for each in operations] == [n.kind.descriptor for n in graph.nodes]
    finally:
        lowering.close()


def _kinds() -> dict[str, Kind]:
    homes = (
        attention_unified,
        blocks,
        convolutions,
        elements,
        normalization_kinds,
        parts,
        reductions,
        resampling,
        sequences,
        shapes,
    )
    return {
        f"{home.__name__}.{name}": value
        for home in homes
        for name, value in vars(home).items()
        if isinstance(value, Kind)
    }


@pytest.mark.parametrize("name", list(_kinds()))
def test_attributes_of_operations_exist(name: str) -> None:
    kind = _kinds()[name]
    names = [*kind.inputs.values(), *kind.outputs.values(), *kind.options.values()]
    names += [kind.precision] if kind.precision else []
    for each in names:
        attribute(KINDS[kind.descriptor], each)
    if kind.inner is not None:
        attribute(KINDS[kind.descriptor], kind.inner.attribute)
        for each in kind.inner.options.values():
            attribute(KINDS[kind.inner.descriptor], each)


def test_every_operation_descriptor_has_a_kind() -> None:
    described = {kind.descriptor for kind in _kinds().values()}
    assert described == {name for name in KINDS if name.startswith("operation_")}
