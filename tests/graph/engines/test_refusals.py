"""Operations for which an H200 has no engine: cuDNN takes their descriptors all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.errors import NotSupportedError, SymbolNotFoundError
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.lowering import Lowering
from cudnn_ctypes.graph.lower.target import Target

from ..cases import image
from ..resample_cases import BILINEAR, HALF

SCORES = (2, 4, 64, 64)


def _scores(g: Graph) -> Tensor:
    return g.tensor(SCORES, name="scores")


def _quantized(g: Graph) -> list[Tensor]:
    y, scale = g.block_scale_quantize(g.tensor((4, 256, 256)), 32)
    y.data_type = raw.CUDNN_DATA_FP8_E4M3
    scale.data_type = raw.CUDNN_DATA_FP8_E8M0
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
    "paged_cache_load": lambda g: g.paged_cache_load(
        g.tensor((64, 4, 16, 64)), *(g.tensor((2, 1, n, 1), data_type="int32") for n in (8, 1)), 128
    ),
    "bilinear": lambda g: g.resample(_scores(g), "bilinear", **BILINEAR, padding_mode="edge_val")[
        0
    ],
    "maxpool backward, from x and y": lambda g: g.resample_backward(
        *(g.tensor((2, 4, 32, 32)), "maxpool"),
        input=_scores(g),
        y=g.tensor((2, 4, 32, 32)),
        window=2,
        stride=2,
    ),
}


def _lowered(graph: Graph, read: Callable[[Any], Any]) -> Any:
    """What `read` finds in the descriptor of the graph's only operation."""
    lowering = Lowering(graph.compute_data_type, Target(91900, 90))
    try:
        (operation,) = lowering.operation_graph(graph.validate())["ops"]
        return read(operation)
    finally:
        lowering.close()


@pytest.mark.parametrize(
    ("io", "computation", "result", "expected"),
    [
        ("float16", "float32", None, raw.CUDNN_TYPE_FLOAT),
        ("float64", "float64", None, raw.CUDNN_TYPE_DOUBLE),
        ("int8", "int32", "float32", raw.CUDNN_TYPE_FLOAT),
        ("int8", "int32", "int32", raw.CUDNN_TYPE_INT32),
    ],
)
def test_a_convolution_is_scaled_by_numbers_of_the_type_that_engines_read(
    io, computation, result, expected, monkeypatch
):
    seen = {}
    original = raw.cudnnBackendSetAttribute

    def noted(descriptor, name, kind, *rest):
        seen[int(name)] = kind
        return original(descriptor, name, kind, *rest)

    monkeypatch.setattr(raw, "cudnnBackendSetAttribute", noted)
    graph = Graph(io_data_type=io, compute_data_type=computation)
    y = graph.conv_fprop(graph.tensor((1, 8, 4, 4)), graph.tensor((8, 8, 3, 3)))
    y.set_output(data_type=result)
    _lowered(graph, lambda operation: None)
    for name in ("ALPHA", "BETA"):
        code = raw.cudnnBackendAttributeName_t[f"CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_{name}"]
        assert seen[int(code)] == expected


@pytest.mark.parametrize(("batches", "stride"), [((4, 1), 0), ((4, 4), 40), ((1, 1), 40)])
def test_a_matrix_used_for_several_batches_has_no_stride_between_them(batches, stride):
    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((batches[0], 3, 8)), graph.tensor((batches[1], 8, 5))
    graph.matmul(a, b).set_output()
    assert _lowered(graph, lambda operation: operation["bdesc"]["strides"]) == [stride, 5, 1]


# --- graphs that no engine carries out on an H200, with the reason that cuDNN gives ---------------


WORDED = 92800  # the version whose reasons these are

# Engines want a convolution, a product, an element-wise operation or a resampling in the graph.
NEITHER = r"\(mmaNodeCount == 0\) && !is_pointwise_fusion"

REFUSED: dict[str, tuple[Callable[[Graph], Any], str]] = {
    **{
        name: (describe, NEITHER)
        for name, describe in DESCRIBED.items()
        if name not in ("maxpool backward, from x and y", "bilinear", "moe_grouped_matmul_bwd")
    },
    "moe_grouped_matmul_bwd": (DESCRIBED["moe_grouped_matmul_bwd"], "cublasLt|MoE|mmaNodeCount"),
    "nearest": (
        lambda g: g.resample(image(g, "x"), "nearest", window=1, stride=HALF)[0],
        "resample 'resample'",
    ),
    "floor_mod": (lambda g: g.floor_mod(image(g, "a"), image(g, "b")), "CUDNN_POINTWISE_FLOOR_MOD"),
    "sum of rows alone": (lambda g: g.reduction(image(g, "x"), "add", axes=(3,)), "engine 1"),
    # cuDNN takes no descriptor for these operators.
    **{
        f"reduction by {operator}": (
            lambda g, operator=operator: g.reduction(image(g, "x"), operator, axes=(1,)),
            "reduction 'reduction'",
        )
        for operator in ("avg", "norm1", "norm2", "mul_no_zeros")
    },
}


def _described(name: str) -> Graph:
    graph = Graph(io_data_type="float16")
    found = REFUSED[name][0](graph)
    results = found.values() if isinstance(found, dict) else found
    for tensor in results if isinstance(found, (dict, list, tuple)) else [found]:
        if tensor is not None:
            tensor.set_output()
    return graph


QUICK = ("concatenate", "sum of rows alone", "rng, bernoulli", "slice", "nearest")


@pytest.mark.thinned(12, always=QUICK)
@pytest.mark.parametrize("device", ["h200", pytest.param("handle", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("name", list(REFUSED))
def test_what_no_engine_takes_is_refused(name, device, request):
    with _described(name) as graph:
        with pytest.raises((NotSupportedError, SymbolNotFoundError)) as refusal:
            graph.build(request.getfixturevalue(device), program=False)
        if raw.load().version >= WORDED:
            assert refusal.match(REFUSED[name][1])
