"""Graphs that no engine carries out on an H200, with the reason that cuDNN gives."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from cudnn_ctypes import Handle, raw
from cudnn_ctypes.errors import NotSupportedError, SymbolNotFoundError
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.graph import Graph

from ..cases import image
from ..lower.test_lowering import DESCRIBED

WORDED = 92800  # the version whose reasons these are

# Engines want a convolution, a product, an element-wise operation or a resampling in the graph.
NEITHER = r"\(mmaNodeCount == 0\) && !is_pointwise_fusion"
CHANNELS = (1, 32, 1, 1)


def _statistics(g: Graph) -> list[Any]:
    return [g.tensor(CHANNELS, data_type="float32") for _ in range(4)]


def _batch_inference(g: Graph) -> Any:
    scale, bias, mean, inv = _statistics(g)
    saved = {"mean": mean, "inv_variance": inv}
    return g.norm_forward("batch", "inference", image(g, "x"), scale, bias, **saved)


def _signal_after_matmul(g: Graph) -> Any:
    product = g.matmul(g.tensor((4, 64, 128)), g.tensor((4, 128, 64)))
    return g.signal(product, g.tensor((1, 1, 1), data_type="int32"), "set", 1)


def _gradient_of_interpolation(g: Graph) -> Any:
    dy = image(g, "dy", (4, 32, 28, 28))
    geometry: dict[str, Any] = {"window": 2, "stride": Fraction(1, 2), "post_padding": 1}
    dx = g.resample_backward(dy, "bilinear", pre_padding=Fraction(1, 2), **geometry)
    return dx.set_output(dims=(4, 32, 14, 14))


REFUSED: dict[str, tuple[Callable[[Graph], Any], str]] = {
    **{
        name: (describe, NEITHER)
        for name, describe in DESCRIBED.items()
        if name not in ("maxpool backward, from x and y", "bilinear", "moe_grouped_matmul_bwd")
    },
    "moe_grouped_matmul_bwd": (DESCRIBED["moe_grouped_matmul_bwd"], "cublasLt|MoE|mmaNodeCount"),
    "bilinear of memory as in C": (DESCRIBED["bilinear"], "isNSpatialC_ordered"),
    "gradient of interpolation": (_gradient_of_interpolation, "Unsupported resample mode"),
    "nearest": (
        lambda g: g.resample(image(g, "x"), "nearest", window=1, stride=Fraction(1, 2))[0],
        "resample 'resample'",
    ),
    "signal after a product": (_signal_after_matmul, "Hopper doesn't support signal yet"),
    "floor_mod": (
        lambda g: g.floor_mod(image(g, "a"), image(g, "b")),
        "CUDNN_POINTWISE_FLOOR_MOD",
    ),
    "whole numbers computed as such": (
        lambda g: g.add(
            image(g, "a", data_type="int32"),
            image(g, "b", data_type="int32"),
            compute_data_type="int32",
        ).set_output(data_type="int32"),
        "mathPrec != CUDNN_DATA_FLOAT",
    ),
    "product of channels": (
        lambda g: g.reduction(image(g, "x"), "mul", axes=(0, 2, 3)),
        "Unsupported reduction op",
    ),
    "sum of rows alone": (lambda g: g.reduction(image(g, "x"), "add", axes=(3,)), "engine 1"),
    # cuDNN takes no descriptor for these operators.
    **{
        f"reduction by {operator}": (
            lambda g, operator=operator: g.reduction(image(g, "x"), operator, axes=(1,)),
            "reduction 'reduction'",
        )
        for operator in ("avg", "norm1", "norm2", "mul_no_zeros")
    },
    "batch normalization in inference": (_batch_inference, "matcher_casted|INTERNAL_ERROR"),
    "finalize without running statistics": (
        lambda g: g.bn_finalize(*_statistics(g), 1e-5, 784),
        NEITHER,
    ),
}


def _described(name: str) -> Graph:
    graph = Graph(io_data_type="float16")
    found = REFUSED[name][0](graph)
    results = found.values() if isinstance(found, dict) else found
    for tensor in results if isinstance(found, (dict, list, tuple)) else [found]:
        if tensor is not None:
            tensor.set_output()
    return graph


def _check(name: str, device: Any) -> None:
    with _described(name) as graph:
        with pytest.raises((NotSupportedError, SymbolNotFoundError)) as refusal:
            graph.build(device)
        if raw.load().version >= WORDED:
            assert refusal.match(REFUSED[name][1])


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", list(REFUSED))
def test_refused_for_an_h200(name: str, h200: DeviceProperties) -> None:
    _check(name, h200)


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
@pytest.mark.parametrize("name", list(REFUSED))
def test_refused_on_the_gpu(name: str) -> None:
    with Handle() as handle:
        _check(name, handle)
