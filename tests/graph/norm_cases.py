"""Normalizations, forward and backward; see `cases`."""

from __future__ import annotations

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
    """

    mode: str
    dims: tuple[int, ...]
    scale: tuple[int, ...]
    axes: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    bias: bool = True

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
    "ada_layer norm": Setting("ada_layer", ROWS, (4, 1, 512), (2,)),
    "instance norm": Setting("instance", IMAGE, CHANNELS, (2, 3), channels_last(IMAGE)),
    "instance norm, packed as in C": Setting("instance", IMAGE, CHANNELS, (2, 3)),
    "batch norm": Setting("batch", IMAGE, CHANNELS, AXES, channels_last(IMAGE)),
    "batch norm, packed as in C": Setting("batch", IMAGE, CHANNELS, AXES),
}


def outputs(tensors: dict[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        tensor.set_output(name=name)


def _parameter(graph: Graph, setting: Setting, name: str, data_type: str = "float32") -> Tensor:
    """Scale or bias: in memory it lies as the input does."""
    like = setting.strides == channels_last(setting.dims)
    strides = channels_last(setting.scale) if like else None
    return graph.tensor(setting.scale, strides, data_type, name=name)


def _forward(name: str, setting: Setting, phase: str, io: str, parameters: str) -> None:
    def describe(graph: Graph) -> None:
        x = setting.tensor(graph, "x")
        scale = _parameter(graph, setting, "scale", parameters)
        bias = _parameter(graph, setting, "bias", parameters) if setting.bias else None
        outputs(graph.norm_forward(setting.mode, phase, x, scale, bias, EPSILON))

    def compute(a: Arrays) -> Arrays:
        mean, variance = setting.spread(a["x"])
        inv = 1 / np.sqrt(variance + EPSILON)
        y = (a["x"] - mean) * inv * a["scale"] + a.get("bias", 0)
        if phase == "inference":
            return {"y": y}
        found = {"y": y, "mean": mean, "inv_variance": inv}
        return {each: found[each] for each in ("y", *setting.statistics)}

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
        scale = _parameter(graph, setting, "scale")
        saved = {
            each: graph.tensor(setting.kept, data_type="float32", name=each)
            for each in setting.statistics
        }
        outputs(graph.norm_backward(setting.mode, dy, x, scale, **saved, has_dbias=setting.bias))

    def normalized(x: Any, scale: Any, bias: Any) -> Any:
        mean, variance = setting.spread(x)
        return (x - mean) * variance.rsqrt() * scale + bias

    def compute(a: Arrays) -> Arrays:
        found = gradients(normalized, a["dy"], a["x"], a["scale"], np.zeros(setting.scale))
        named = dict(zip(("dx", "dscale", "dbias"), found, strict=True))
        return named if setting.bias else {each: named[each] for each in ("dx", "dscale")}

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
            if _io != "float32":
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
    lambda a: {
        "y": np.maximum(
            (a["x"] - a["x"].mean((2, 3), keepdims=True))
            / np.sqrt(a["x"].var((2, 3), keepdims=True) + EPSILON)
            * a["scale"]
            + a["bias"],
            0,
        )
    },
    tolerance=FORWARD["float16"],
)
