"""Normalizations, forward and backward; see `cases`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

from .cases import IMAGE, TOLERANCES, Arrays, case, channels_last, gradients, image

EPSILON = 1e-3
CHANNELS = (1, 32, 1, 1)
AXES = (0, 2, 3)
TYPES = ("float16", "bfloat16", "float32")
# Mean and variance are sums; of a gradient, so are two of its three terms.
FORWARD = {**TOLERANCES, "float32": 1e-5}
BACKWARD = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-5}


@dataclass(frozen=True)
class Setting:
    """One way to normalize.

    Attributes
    ----------
    mode : str
    dims, scale : tuple of int
        Of the input, and of scale and bias.
    axes : tuple of int
        Over which mean and variance are taken.
    strides : tuple of int, optional
        Of the input; as in C by default.
    bias : bool
    bare : bool
        Whether there are neither scale nor bias.
    """

    mode: str
    dims: tuple[int, ...]
    scale: tuple[int, ...]
    axes: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    bias: bool = True
    bare: bool = False

    @property
    def kept(self) -> tuple[int, ...]:
        """The dims of mean and inv_variance."""
        return tuple(1 if axis in self.axes else size for axis, size in enumerate(self.dims))

    @property
    def sides(self) -> tuple[int, ...]:
        """The axes along which scale and bias are the same."""
        return tuple(axis for axis, size in enumerate(self.scale) if size == 1)

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("inv_variance",) if self.mode == "rms" else ("mean", "inv_variance")

    def spread(self, x: Any) -> tuple[Any, Any]:
        """The mean, and what is divided by the root of; of NumPy arrays and PyTorch tensors."""
        mean = x.mean(self.axes, keepdims=True)
        if self.mode == "rms":
            return 0 * mean, (x**2).mean(self.axes, keepdims=True)
        return mean, ((x - mean) ** 2).mean(self.axes, keepdims=True)

    def tensor(self, graph: Graph, name: str) -> Tensor:
        return graph.tensor(self.dims, self.strides, name=name)


TOKENS = (64, 512, 1, 1)
ROWS = (4, 64, 512)
SETTINGS = {
    "layer norm": Setting("layer", TOKENS, (1, 512, 1, 1), (1,), channels_last(TOKENS)),
    "layer norm of three dimensions": Setting("layer", ROWS, (1, 1, 512), (2,)),
    "layer norm of whole images": Setting(
        "layer", IMAGE, (1, *IMAGE[1:]), (1, 2, 3), channels_last(IMAGE)
    ),
    "rms norm": Setting("rms", TOKENS, (1, 512, 1, 1), (1,), channels_last(TOKENS), bias=False),
    "rms norm with bias": Setting("rms", TOKENS, (1, 512, 1, 1), (1,), channels_last(TOKENS)),
    "layer norm without scale": Setting("layer", ROWS, (1, 1, 512), (2,), bias=False, bare=True),
    "rms norm without scale": Setting("rms", IMAGE, (1,) * 4, (2, 3), bias=False, bare=True),
    "ada_layer norm": Setting("ada_layer", ROWS, (4, 1, 512), (2,)),
    "instance norm": Setting("instance", IMAGE, CHANNELS, (2, 3), channels_last(IMAGE)),
    "instance norm, packed as in C": Setting("instance", IMAGE, CHANNELS, (2, 3)),
    "batch norm": Setting("batch", IMAGE, CHANNELS, AXES, channels_last(IMAGE)),
    "batch norm, packed as in C": Setting("batch", IMAGE, CHANNELS, AXES),
}


def outputs(tensors: dict[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        tensor.set_output(name=name)


def _parameter(graph: Graph, setting: Setting, name: str, data_type: Any = "float32") -> Tensor:
    """Scale or bias: in memory it lies as the input does."""
    like = setting.strides == channels_last(setting.dims)
    strides = channels_last(setting.scale) if like else None
    return graph.tensor(setting.scale, strides, data_type, name=name)


def _normalized(setting: Setting, a: Arrays) -> Arrays:
    mean, variance = setting.spread(a["x"])
    inv = 1 / np.sqrt(variance + EPSILON)
    y = (a["x"] - mean) * inv * a.get("scale", 1) + a.get("bias", 0)
    return {"y": y, "mean": mean, "inv_variance": inv}


def _forward(name: str, setting: Setting, phase: str, io: str, parameters: str) -> None:
    def describe(graph: Graph) -> None:
        x = setting.tensor(graph, "x")
        scale = None if setting.bare else _parameter(graph, setting, "scale", parameters)
        bias = _parameter(graph, setting, "bias", parameters) if setting.bias else None
        axes = setting.axes if setting.bare else None
        outputs(graph.norm_forward(setting.mode, phase, x, scale, bias, EPSILON, axes=axes))

    def compute(a: Arrays) -> Arrays:
        found = _normalized(setting, a)
        saved = setting.statistics if phase == "training" else ()
        return {each: found[each] for each in ("y", *saved)}

    suffix = "" if parameters == "float32" else f", parameters of {parameters}"
    case(
        f"{name}, {phase}, {io}{suffix}",
        describe,
        compute,
        io=io,
        tolerance=FORWARD[io],
        here=io == "float16" and parameters == "float32",
    )


def _backward(name: str, setting: Setting, io: str) -> None:
    def describe(graph: Graph) -> None:
        x, dy = setting.tensor(graph, "x"), setting.tensor(graph, "dy")
        scale = None if setting.bare else _parameter(graph, setting, "scale")
        saved = {
            each: graph.tensor(setting.kept, data_type="float32", name=each)
            for each in setting.statistics
        }
        outputs(graph.norm_backward(setting.mode, dy, x, scale, **saved, has_dbias=setting.bias))

    def normalized(x: Any, scale: Any, bias: Any) -> Any:
        mean, variance = setting.spread(x)
        return (x - mean) * variance.rsqrt() * scale + bias

    def compute(a: Arrays) -> Arrays:
        scale = a.get("scale", np.ones(setting.scale))
        found = gradients(normalized, a["dy"], a["x"], scale, np.zeros(setting.scale))
        count = 3 if setting.bias else 1 if setting.bare else 2
        return dict(zip(("dx", "dscale", "dbias")[:count], found, strict=False))

    def prepare(a: dict[str, NDArray[Any]]) -> None:
        """The saved statistics belong to x; epsilon is none."""
        a["mean"], variance = setting.spread(a["x"])
        a["inv_variance"] = 1 / np.sqrt(variance)

    case(
        f"{name}, backward, {io}",
        describe,
        compute,
        io=io,
        prepare=prepare,
        tolerance=BACKWARD[io],
        here=io == "float16",
    )


for _name, _setting in SETTINGS.items():
    # Batch normalization in inference is element-wise: see batchnorm_inference below.
    _phases = ("training",) if _setting.mode == "batch" else ("training", "inference")
    for _io in TYPES:
        for _phase in _phases:
            _forward(_name, _setting, _phase, _io, "float32")
            if _io != "float32" and not _setting.bare:
                _forward(_name, _setting, _phase, _io, _io)
        _backward(_name, _setting, _io)


def _instance_relu(graph: Graph) -> None:
    setting = SETTINGS["instance norm"]
    operands = [_parameter(graph, setting, name) for name in ("scale", "bias")]
    results = graph.norm_forward("instance", "inference", image(graph, "x"), *operands, EPSILON)
    graph.relu(results["y"]).set_output(name="y")


case(
    "instance norm + relu",
    _instance_relu,
    lambda a: {"y": np.maximum(_normalized(SETTINGS["instance norm"], a)["y"], 0)},
    tolerance=FORWARD["float16"],
)


# --- normalizations with element-wise operations after them; see `cases` --------------------------


ONE = (1, 1, 1, 1)

After = Callable[[Graph, Tensor], Tensor]


def _tokens(graph: Graph, name: str) -> Tensor:
    return graph.tensor(TOKENS, channels_last(TOKENS), name=name)


def _fused(name: str, mode: str, after: After, compute: Any, phase: str, **options: Any) -> None:
    setting = SETTINGS[f"{mode} norm"]

    def describe(graph: Graph) -> None:
        bias = _parameter(graph, setting, "bias", None) if setting.bias else None
        operands = _tokens(graph, "x"), _parameter(graph, setting, "scale", None), bias
        results = graph.norm_forward(mode, phase, *operands, EPSILON)
        outputs({each: tensor for each, tensor in results.items() if each != "y"})
        after(graph, results["y"]).set_output(name="y")

    def result(a: Arrays) -> Arrays:
        found = _normalized(setting, a)
        saved = setting.statistics if phase == "training" else ()
        return {"y": compute(found["y"], a), **{each: found[each] for each in saved}}

    case(f"{name}, {phase}{options.pop('suffix', '')}", describe, result, **options)


def _quantized(graph: Graph, y: Tensor) -> Tensor:
    scale = graph.tensor(ONE, data_type="float32", name="scale_y")
    return graph.mul(y, scale).set_output(data_type="fp8_e4m3")


for _io in TYPES:
    _options: dict[str, Any] = {
        "io": _io,
        "suffix": f", {_io}",
        "tolerance": FORWARD[_io],
        "here": _io == "float16",
    }
    for _phase in ("inference", "training"):
        _fused(
            "layer norm + z, relu",
            "layer",
            lambda g, y: g.relu(g.add(y, _tokens(g, "z"))),
            lambda y, a: np.maximum(y + a["z"], 0),
            _phase,
            **_options,
        )
        _fused(
            "rms norm * z",
            "rms",
            lambda g, y: g.mul(y, _tokens(g, "z")),
            lambda y, a: y * a["z"],
            _phase,
            **_options,
        )
    _fused(
        "rms norm * scale, rounded to fp8_e4m3",
        "rms",
        _quantized,
        lambda y, a: y * a["scale_y"],
        "inference",
        # Numbers of 3 bits behind the point; the largest is about 12.
        **{**_options, "tolerance": 2.0**-4, "ranges": {"scale_y": (0.5, 1.0)}},
    )


# --- batch normalization with running statistics, and what comes after it ------------------------

RUNNING = ("y", "mean", "inv_variance", "next_mean", "next_var")


def _running(a: Arrays) -> dict[str, Any]:
    mean, variance = SETTINGS["batch norm"].spread(a["x"])
    count = a["x"].size // a["x"].shape[1]
    return {
        **_normalized(SETTINGS["batch norm"], a),
        "next_mean": 0.9 * a["running_mean"] + 0.1 * mean,
        "next_var": 0.9 * a["running_var"] + 0.1 * variance * count / (count - 1),
    }


def _batch_running(name: str, after: After, compute: Any, **options: Any) -> None:
    def describe(graph: Graph) -> None:
        operands = [
            graph.tensor(CHANNELS, data_type="float32", name=each)
            for each in ("scale", "bias", "running_mean", "running_var")
        ]
        results = graph.batchnorm(image(graph, "x"), *operands, EPSILON, 0.1)
        for tensor, each in zip(results[1:], RUNNING[1:], strict=True):
            assert tensor is not None
            tensor.set_output(name=each)
        after(graph, results[0]).set_output(name="y")

    def result(a: Arrays) -> Arrays:
        found = _running(a)
        return found | {"y": compute(found["y"], a)}

    for io in TYPES:
        case(
            f"{name}, {io}",
            describe,
            result,
            io=io,
            tolerance=FORWARD[io],
            here=io == "float16",
            **options,
        )


_batch_running("batch norm with running statistics", lambda g, y: y, lambda y, a: y)
_batch_running(
    "batch norm + relu", lambda g, y: g.relu(y), lambda y, a: np.maximum(y, 0), one_kernel=True
)
_batch_running(
    "batch norm + z, relu",
    lambda g, y: g.relu(g.add(y, image(g, "z"))),
    lambda y, a: np.maximum(y + a["z"], 0),
    one_kernel=True,
)


def _masked_backward(graph: Graph) -> None:
    """The mask, a bit for each element, is what the forward pass with a relu gave."""
    dy = graph.mul(image(graph, "dy"), image(graph, "mask", IMAGE, "boolean"))
    operands = [
        graph.tensor(CHANNELS, data_type="float32", name=name)
        for name in ("scale", "mean", "inv_variance")
    ]
    outputs(graph.norm_backward("batch", dy, image(graph, "x"), *operands))


def _masked_gradients(a: Arrays) -> Arrays:
    """With the given statistics, whatever those of x are."""
    normal = (a["x"] - a["mean"]) * a["inv_variance"]
    dy = a["dy"] * a["mask"]
    dscale = (dy * normal).sum(AXES, keepdims=True)
    dbias = dy.sum(AXES, keepdims=True)
    count = dy.size // dy.shape[1]
    inner = dy - (dbias + normal * dscale) / count
    return {"dx": inner * a["inv_variance"] * a["scale"], "dscale": dscale, "dbias": dbias}


for _io in ("float16", "float32"):
    case(
        f"batch norm backward of masked dy, {_io}",
        _masked_backward,
        _masked_gradients,
        io=_io,
        intermediate=_io,
        ranges={"inv_variance": (0.5, 1.5)},
        tolerance=BACKWARD[_io],
    )


# --- batch normalization in parts ----------------------------------------------------------------

COUNT = 784


def _finalize(graph: Graph) -> None:
    names = ("sum", "sq_sum", "scale", "bias", "running_mean", "running_var")
    total, squares, scale, bias, mean, variance = (
        graph.tensor(CHANNELS, data_type="float32", name=name) for name in names
    )
    results = graph.bn_finalize(
        total, squares, scale, bias, EPSILON, COUNT, mean, variance, momentum=0.1
    )
    names = ("eq_scale", "eq_bias", "mean", "inv_variance", "next_mean", "next_var")
    for tensor, name in zip(results, names, strict=True):
        assert tensor is not None
        tensor.set_output(name=name)


def _finalized(a: Arrays) -> Arrays:
    mean = a["sum"] / COUNT
    variance = a["sq_sum"] / COUNT - mean**2
    inv = 1 / np.sqrt(variance + EPSILON)
    return {
        "eq_scale": a["scale"] * inv,
        "eq_bias": a["bias"] - mean * a["scale"] * inv,
        "mean": mean,
        "inv_variance": inv,
        "next_mean": 0.9 * a["running_mean"] + 0.1 * mean,
        "next_var": 0.9 * a["running_var"] + 0.1 * variance * COUNT / (COUNT - 1),
    }


case(
    "batch norm, finalize",
    _finalize,
    _finalized,
    ranges={"sum": (-400.0, 400.0), "sq_sum": (1500.0, 3000.0)},
    tolerance=FORWARD["float32"],
)


def _inference(graph: Graph) -> None:
    names = ("mean", "inv_variance", "scale", "bias")
    operands = [graph.tensor(CHANNELS, data_type="float32", name=name) for name in names]
    y = graph.batchnorm_inference(image(graph, "x"), *operands)
    graph.relu(y).set_output(name="y")


for _io in TYPES:
    case(
        f"batch norm, inference, + relu, {_io}",
        _inference,
        lambda a: {
            "y": np.maximum((a["x"] - a["mean"]) * a["inv_variance"] * a["scale"] + a["bias"], 0)
        },
        io=_io,
        tolerance=FORWARD[_io],
        here=_io == "float16",
        one_kernel=True,
    )
