"""Graphs that the tests build for an H200 anywhere, and execute where there is a GPU.

Each case describes a graph and says what it computes, in float64 NumPy or PyTorch. Its inputs and
outputs are told apart by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.strides import packed
from cudnn_ctypes.graph.tensor import Tensor

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Case:
    """One graph.

    Attributes
    ----------
    describe : callable
        Adds operations to an empty graph; outputs are named.
    compute : callable
        From the inputs by name to the outputs by name.
    io : str
        Data type of inputs and outputs that have none of their own.
    tolerance : float
        Of the error relative to the largest magnitude of an output.
    ranges : mapping of str to (low, high)
        For inputs that must not be normally distributed.
    prepare : callable, optional
        Changes the random inputs, those that depend on others.
    """

    describe: Callable[[Graph], object]
    compute: Callable[[Arrays], Arrays]
    io: str = "float16"
    tolerance: float = 4e-3
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    prepare: Callable[[dict[str, NDArray[Any]]], object] | None = None

    def graph(self) -> Graph:
        graph = Graph(io_data_type=self.io)
        self.describe(graph)
        return graph


CASES: dict[str, Case] = {}

IMAGE = (4, 32, 14, 14)
FILTER = (64, 32, 3, 3)
RESULT = (4, 64, 14, 14)
MATRIX_A, MATRIX_B = (4, 64, 128), (4, 128, 256)


def image(graph: Graph, name: str, dims: tuple[int, ...] = IMAGE, data_type: Any = None) -> Tensor:
    """A tensor whose channels lie together."""
    order = (0, *range(2, len(dims)), 1)
    return graph.tensor(dims, packed(dims, order), data_type, name=name)


def case(name: str, describe: Any, compute: Any, **options: Any) -> None:
    assert name not in CASES
    CASES[name] = Case(describe, compute, **options)


def _torch() -> Any:
    import torch

    return torch


def conv2d(x: NDArray[Any], w: NDArray[Any], **options: Any) -> NDArray[Any]:
    torch = _torch()
    return torch.conv2d(torch.tensor(x), torch.tensor(w), **options).numpy()  # type: ignore[no-any-return]


def gradients(
    function: Callable[..., Any], grad: NDArray[Any], *operands: NDArray[Any]
) -> list[NDArray[Any]]:
    """The gradients of `function` of PyTorch tensors with respect to all operands."""
    torch = _torch()
    tensors = [torch.tensor(each, requires_grad=True) for each in operands]
    function(*tensors).backward(torch.tensor(grad))
    return [each.grad.numpy() for each in tensors]


# --- convolution ---------------------------------------------------------------------------------


def _convolution(graph: Graph) -> Tensor:
    return graph.conv_fprop(image(graph, "x"), image(graph, "w", FILTER), padding=1)


def _conv_bias_relu(graph: Graph) -> None:
    y = graph.bias(_convolution(graph), image(graph, "b", (1, 64, 1, 1)))
    graph.relu(y).set_output(name="y")


def _conv_stats(graph: Graph) -> None:
    y = _convolution(graph)
    total, squares = graph.genstats(y)
    for tensor, name in ((y, "y"), (total, "sum"), (squares, "sq_sum")):
        tensor.set_output(name=name)


def _stats(a: Arrays) -> Arrays:
    y = conv2d(a["x"], a["w"], padding=1)
    axes = (0, 2, 3)
    return {
        "y": y,
        "sum": y.sum(axes, keepdims=True),
        "sq_sum": (y**2).sum(axes, keepdims=True),
    }


case(
    "convolution",
    lambda g: _convolution(g).set_output(name="y"),
    lambda a: {"y": conv2d(a["x"], a["w"], padding=1)},
)
case(
    "convolution, strided",
    lambda g: g.conv_fprop(
        image(g, "x"), image(g, "w", FILTER), padding=1, stride=2, dilation=2
    ).set_output(name="y"),
    lambda a: {"y": conv2d(a["x"], a["w"], padding=1, stride=2, dilation=2)},
)
case(
    "convolution, float32",
    lambda g: _convolution(g).set_output(name="y"),
    lambda a: {"y": conv2d(a["x"], a["w"], padding=1)},
    io="float32",
)
case(
    "convolution + bias + relu",
    _conv_bias_relu,
    lambda a: {"y": np.maximum(conv2d(a["x"], a["w"], padding=1) + a["b"], 0)},
)
case("convolution + statistics", _conv_stats, _stats)
case(
    "convolution backward data",
    lambda g: g.conv_dgrad(image(g, "dy", RESULT), image(g, "w", FILTER), padding=1).set_output(
        name="dx"
    ),
    lambda a: {
        "dx": gradients(
            lambda x, w: _torch().conv2d(x, w, padding=1), a["dy"], np.zeros(IMAGE), a["w"]
        )[0]
    },
)
case(
    "convolution backward filter",
    lambda g: g.conv_wgrad(image(g, "x"), image(g, "dy", RESULT), padding=1).set_output(
        name="dw", dims=FILTER
    ),
    lambda a: {
        "dw": gradients(
            lambda x, w: _torch().conv2d(x, w, padding=1), a["dy"], a["x"], np.zeros(FILTER)
        )[1]
    },
)


# --- matrix products, reductions -----------------------------------------------------------------


def _gelu(x: NDArray[Any]) -> NDArray[Any]:
    torch = _torch()
    return torch.nn.functional.gelu(torch.tensor(x)).numpy()  # type: ignore[no-any-return]


def _product(graph: Graph) -> Tensor:
    return graph.matmul(graph.tensor(MATRIX_A, name="a"), graph.tensor(MATRIX_B, name="b"))


case(
    "matmul",
    lambda g: _product(g).set_output(name="c"),
    lambda a: {"c": a["a"] @ a["b"]},
)
case(
    "matmul, bfloat16, batches of one broadcast",
    lambda g: g.matmul(g.tensor(MATRIX_A, name="a"), g.tensor((1, 128, 256), name="b")).set_output(
        name="c"
    ),
    lambda a: {"c": a["a"] @ a["b"]},
    io="bfloat16",
    tolerance=2e-2,
)
case(
    "matmul + bias + gelu",
    lambda g: g.gelu(g.bias(_product(g), g.tensor((1, 1, 256), name="bias"))).set_output(name="c"),
    lambda a: {"c": _gelu(a["a"] @ a["b"] + a["bias"])},
)
case(
    "matmul + maximum of rows",
    lambda g: g.reduction(_product(g), "max", axes=(2,)).set_output(name="c", data_type="float32"),
    lambda a: {"c": (a["a"] @ a["b"]).max(2, keepdims=True)},
)
case(
    "sigmoid(a + b * c)",
    lambda g: g.sigmoid(
        g.add(
            g.tensor(MATRIX_A, name="a"),
            g.mul(g.tensor(MATRIX_A, name="b"), g.tensor(MATRIX_A, name="c")),
        )
    ).set_output(name="y"),
    lambda a: {"y": 1 / (1 + np.exp(-(a["a"] + a["b"] * a["c"])))},
)
case(
    "0.5 * x - 3",
    lambda g: g.sub(g.mul(g.tensor(MATRIX_A, name="x"), 0.5), 3).set_output(name="y"),
    lambda a: {"y": 0.5 * a["x"] - 3},
)
case(
    "sum over pixels",
    lambda g: g.reduction(image(g, "x"), "add", axes=(0, 2, 3)).set_output(
        name="y", data_type="float32"
    ),
    lambda a: {"y": a["x"].sum((0, 2, 3), keepdims=True)},
)


# --- element-wise --------------------------------------------------------------------------------


def _unary(mode: str, function: Callable[..., Any], low: float = -3, high: float = 3) -> None:
    case(
        mode,
        lambda g: getattr(g, mode)(image(g, "x")).set_output(name="y"),
        lambda a: {"y": np.asarray(function(a["x"]))},
        ranges={"x": (low, high)},
    )


def _torch_function(name: str, **options: Any) -> Callable[..., Any]:
    def function(x: NDArray[Any]) -> Any:
        torch = _torch()
        return getattr(torch.nn.functional, name)(torch.tensor(x), **options).numpy()

    return function


for _mode, _function in (
    ("abs", np.abs),
    ("ceil", np.ceil),
    ("cos", np.cos),
    ("exp", np.exp),
    ("floor", np.floor),
    ("neg", np.negative),
    ("sin", np.sin),
    ("identity", np.array),
    ("tanh", np.tanh),
    ("relu", lambda x: np.maximum(x, 0)),
    ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    ("erf", lambda x: _torch().erf(_torch().tensor(x)).numpy()),
    ("elu", _torch_function("elu")),
    ("gelu", _gelu),
    ("gelu_approx_tanh", _torch_function("gelu", approximate="tanh")),
    ("softplus", _torch_function("softplus")),
    ("swish", _torch_function("silu")),
):
    _unary(_mode, _function)
for _mode, _function in (
    ("log", np.log),
    ("sqrt", np.sqrt),
    ("rsqrt", lambda x: 1 / np.sqrt(x)),
    ("reciprocal", lambda x: 1 / x),
):
    _unary(_mode, _function, 0.5, 3)
_unary("tan", np.tan, -1, 1)


def _binary(mode: str, function: Callable[..., Any], low: float = -3, high: float = 3) -> None:
    case(
        mode,
        lambda g: getattr(g, mode)(image(g, "a"), image(g, "b")).set_output(name="y"),
        lambda a: {"y": np.asarray(function(a["a"], a["b"]), np.float64)},
        ranges={"a": (low, high), "b": (low, high)},
    )


for _mode, _function in (
    ("add", np.add),
    ("add_square", lambda a, b: a + b * b),
    ("sub", np.subtract),
    ("mul", np.multiply),
    ("max", np.maximum),
    ("min", np.minimum),
    ("cmp_eq", np.equal),
    ("cmp_neq", np.not_equal),
    ("cmp_gt", np.greater),
    ("cmp_ge", np.greater_equal),
    ("cmp_lt", np.less),
    ("cmp_le", np.less_equal),
):
    if _mode.startswith("cmp"):
        case(
            _mode,
            lambda g, mode=_mode: g.binary_select(
                image(g, "a"), image(g, "b"), getattr(g, mode)(image(g, "c"), image(g, "d"))
            ).set_output(name="y"),
            lambda a, function=_function: {"y": np.where(function(a["c"], a["d"]), a["a"], a["b"])},
        )
    else:
        _binary(_mode, _function)
for _mode, _function in (("div", np.divide), ("pow", np.power), ("mod", np.fmod)):
    _binary(_mode, _function, 0.5, 3)


def _backward(mode: str, function: Callable[..., Any]) -> None:
    case(
        f"{mode}_backward",
        lambda g: getattr(g, f"{mode}_backward")(image(g, "dy"), image(g, "x")).set_output(
            name="dx"
        ),
        lambda a: {"dx": gradients(function, a["dy"], a["x"])[0]},
    )


def _functional(name: str, **options: Any) -> Callable[..., Any]:
    return lambda x: getattr(_torch().nn.functional, name)(x, **options)


for _mode, _function in (
    ("relu", _functional("relu")),
    ("tanh", _functional("tanh")),
    ("sigmoid", _functional("sigmoid")),
    ("elu", _functional("elu")),
    ("gelu", _functional("gelu")),
    ("gelu_approx_tanh", _functional("gelu", approximate="tanh")),
    ("softplus", _functional("softplus")),
    ("swish", _functional("silu")),
):
    _backward(_mode, _function)
