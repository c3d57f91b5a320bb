"""Convolutions with element-wise operations before and after them; see `cases`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

from .cases import IMAGE, Arrays, case, image
from .convolution_cases import (
    CONVOLUTION_TOLERANCES,
    FILTER,
    RESULT,
    TITLES,
    convolution,
    convolved,
)

CHANNELS, FILTERS = (1, 32, 1, 1), (1, 64, 1, 1)
AXES = (0, 2, 3)


def relu(x: Any) -> Any:
    return np.maximum(x, 0)


def _convolved(a: Arrays) -> Any:
    return convolved(a["x"], a["w"], padding=1)


def _convolution(graph: Graph, x: Tensor | None = None) -> Tensor:
    return graph.conv_fprop(
        image(graph, "x") if x is None else x, image(graph, "w", FILTER), padding=1
    )


def _outputs(names: Sequence[str], tensors: Sequence[Tensor | None]) -> None:
    for name, tensor in zip(names, tensors, strict=True):
        assert tensor is not None
        tensor.set_output(name=name)


# --- after a convolution --------------------------------------------------------------------------


def _bias_relu(graph: Graph) -> None:
    y = graph.bias(_convolution(graph), image(graph, "b", FILTERS))
    graph.relu(y).set_output(name="y")


def _scale_bias_add_relu(graph: Graph) -> None:
    y = graph.scale(_convolution(graph), image(graph, "s", FILTERS))
    y = graph.add(graph.bias(y, image(graph, "b", FILTERS)), image(graph, "z", RESULT))
    graph.relu(y).set_output(name="y")


def _bias_relu_mask(graph: Graph) -> None:
    """The mask is what the backward pass needs; it takes a bit for each element."""
    y = graph.bias(_convolution(graph), image(graph, "b", FILTERS))
    graph.cmp_gt(y, 0.0).set_output(name="mask")
    graph.relu(y).set_output(name="y")


def _masked(a: Arrays) -> Arrays:
    y = _convolved(a) + a["b"]
    return {"y": relu(y), "mask": y > 0}


def _integers_that_are_not_zero(a: dict[str, Any]) -> None:
    """So that no sum is so near to zero that rounding decides on the mask."""
    for name in ("x", "w"):
        a[name] = np.sign(a[name]) * np.ceil(np.abs(a[name]))
    a["b"] = np.floor(a["b"]) + 0.5


def _statistics(graph: Graph) -> None:
    y = _convolution(graph)
    _outputs(("y", "sum", "sq_sum"), (y, *graph.genstats(y)))


def _stats(y: Any) -> Arrays:
    return {"y": y, "sum": y.sum(AXES, keepdims=True), "sq_sum": (y**2).sum(AXES, keepdims=True)}


# --- before a convolution ------------------------------------------------------------------------


def _normalized(graph: Graph) -> Tensor:
    x = graph.scale(image(graph, "x"), image(graph, "s", CHANNELS))
    return graph.relu(graph.bias(x, image(graph, "b", CHANNELS)))


def _normal(a: Arrays) -> Any:
    return relu(a["x"] * a["s"] + a["b"])


def _prologue_statistics(graph: Graph) -> None:
    y = _convolution(graph, _normalized(graph))
    _outputs(("y", "sum", "sq_sum"), (y, *graph.genstats(y)))


def _prologue_wgrad(graph: Graph) -> None:
    graph.conv_wgrad(_normalized(graph), image(graph, "dy", RESULT), padding=1).set_output(
        name="dw", dims=FILTER
    )


# By name: the graph, and what it computes.
CONVOLUTIONS: dict[str, tuple[Callable[[Graph], object], Callable[[Arrays], Arrays]]] = {
    " + bias + relu": (_bias_relu, lambda a: {"y": relu(_convolved(a) + a["b"])}),
    " * scale + bias + z, relu": (
        *(_scale_bias_add_relu, lambda a: {"y": relu(_convolved(a) * a["s"] + a["b"] + a["z"])}),
    ),
    " + bias + relu with its mask": (_bias_relu_mask, _masked),
    " + statistics": (_statistics, lambda a: _stats(_convolved(a))),
    " of relu(x * scale + bias)": (
        lambda g: _convolution(g, _normalized(g)).set_output(name="y"),
        lambda a: {"y": convolved(_normal(a), a["w"], padding=1)},
    ),
    " of relu(x * scale + bias) + statistics": (
        *(_prologue_statistics, lambda a: _stats(convolved(_normal(a), a["w"], padding=1))),
    ),
}
for _io in ("float16", "bfloat16", "float32"):
    for _name, _described in CONVOLUTIONS.items():
        case(
            f"convolution{_name}{'' if _io == 'float16' else f', {_io}'}",
            *_described,
            io=_io,
            tolerance=CONVOLUTION_TOLERANCES[_io],
            prepare=_integers_that_are_not_zero if "mask" in _name else None,
            # Engines want what enters a convolution in the data type of its image.
            intermediate=_io if "of relu" in _name else "float32",
            here=_io == "float16",
            one_kernel=True,
        )
case(
    "convolution backward filter of relu(x * scale + bias)",
    _prologue_wgrad,
    lambda a: {"dw": convolution("wgrad", padding=1)[1]({"x": _normal(a), "dy": a["dy"]})["dw"]},
    intermediate="float16",
)


# --- after a convolution backward ----------------------------------------------------------------

Operation = Callable[[Graph, Tensor], Tensor]


def _after_dgrad(name: str, operation: Operation, compute: Any, io: str) -> None:
    describe, found = convolution("dgrad", padding=1)

    def fused(graph: Graph) -> None:
        dx = describe(graph).set_output(False, name="before")
        operation(graph, dx).set_output(name="dx")

    case(
        f"{TITLES['dgrad']}{name}",
        fused,
        lambda a: {"dx": compute(found(a)["dx"], a)},
        io=io,
        tolerance=CONVOLUTION_TOLERANCES[io],
        here=io == "float16",
        one_kernel=True,
    )


for _io in ("float16", "bfloat16", "float32"):
    _suffix = "" if _io == "float16" else f", {_io}"
    _after_dgrad(
        f" * z{_suffix}", lambda g, dx: g.mul(dx, image(g, "z")), lambda dx, a: dx * a["z"], _io
    )
    _after_dgrad(
        f" + relu backward{_suffix}",
        lambda g, dx: g.relu_backward(dx, image(g, "x")),
        lambda dx, a: dx * (a["x"] > 0),
        _io,
    )


def _dgrad_batch_norm(graph: Graph) -> None:
    dx = graph.conv_dgrad(image(graph, "dy", RESULT), image(graph, "w", FILTER), padding=1)
    dx.set_output(False, dims=IMAGE)
    x = image(graph, "x")
    mean, inv, scale, bias = (
        graph.tensor(CHANNELS, data_type="float32", name=name)
        for name in ("mean", "inv_variance", "scale", "bias")
    )
    normal = graph.bias(graph.scale(graph.mul(graph.sub(x, mean), inv), scale), bias)
    dx = graph.relu_backward(dx, normal).set_output(name="dx")
    names = ("dscale", "dbias", "eq_dy_scale", "eq_x_scale", "eq_bias")
    _outputs(names, graph.bn_backward_weights(dx, x, mean, inv, scale))


def _dgrad_batch_norm_gives(a: Arrays) -> Arrays:
    """With N elements in a channel and x' = (x - mean) * inv, the gradient of x is
    scale * inv / N * (N * dx - dbias - x' * dscale), sorted by dx and x."""
    normal = (a["x"] - a["mean"]) * a["inv_variance"]
    dx = convolution("dgrad", padding=1)[1](a)["dx"] * (normal * a["scale"] + a["bias"] > 0)
    dscale = (dx * normal).sum(AXES, keepdims=True)
    dbias = dx.sum(AXES, keepdims=True)
    count = dx.size // dx.shape[1]
    eq_x_scale = -a["scale"] * a["inv_variance"] ** 2 * dscale / count
    return {
        "dx": dx,
        "dscale": dscale,
        "dbias": dbias,
        "eq_dy_scale": a["scale"] * a["inv_variance"],
        "eq_x_scale": eq_x_scale,
        "eq_bias": -a["scale"] * a["inv_variance"] * dbias / count - a["mean"] * eq_x_scale,
    }


case(
    "convolution backward data + batch norm backward weights",
    _dgrad_batch_norm,
    _dgrad_batch_norm_gives,
    ranges={"inv_variance": (0.5, 1.5)},
    intermediate="float16",
    # Sums of 784 numbers that were rounded to float16.
    tolerance=4e-3,
)


# --- small data types ----------------------------------------------------------------------------


def _int8(graph: Graph) -> None:
    y = graph.conv_fprop(
        image(graph, "x"), image(graph, "w", FILTER), padding=1, compute_data_type="int32"
    ).set_output(False, data_type="int32")
    y = graph.bias(graph.mul(y, 1 / 64), image(graph, "b", FILTERS, "float32"))
    graph.relu(y).set_output(name="y")


def _fp8(graph: Graph) -> None:
    y = _convolution(graph)
    for name in ("descale_x", "descale_w", "scale_y"):
        y = graph.mul(y, graph.tensor((1, 1, 1, 1), data_type="float32", name=name))
    y.set_output(name="y")


case(
    "convolution * scale + bias + relu, int8",
    _int8,
    lambda a: {"y": np.clip(relu(_convolved(a) / 64 + a["b"]), -128, 127)},
    io="int8",
    # Rounded to nearest: half a unit of 15 or more.
    tolerance=0.5 / 15,
    one_kernel=True,
)
for _io, _bits in (("fp8_e4m3", 3), ("fp8_e5m2", 2)):
    case(
        f"convolution with scales, {_io}",
        _fp8,
        lambda a: {"y": _convolved(a) * a["descale_x"] * a["descale_w"] * a["scale_y"]},
        io=_io,
        ranges=dict.fromkeys(("descale_x", "descale_w", "scale_y"), (0.3, 0.9)),
        tolerance=0.6 * 2.0**-_bits,
        one_kernel=True,
    )
