"""Graphs that cuDNN 9.28 refuses, or carries out slowly, and what there is to be said of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed

__all__ = ["ADVISED", "Advised", "layered"]


@dataclass(frozen=True)
class Advised:
    """A graph, and the first suggestion for it.

    Attributes
    ----------
    graph : callable
    words : str
        What the first suggestion says.
    topics : tuple of str
        Of its steps.
    caveat : str
        A part of what it says is to be minded.
    device : str
        A preset.
    supported : bool
        Whether the graph has an engine as it is.
    """

    graph: Callable[[], Graph]
    words: str
    topics: tuple[str, ...]
    caveat: str = ""
    device: str = "h200"
    supported: bool = False


def _strides(dims: Sequence[int], channels_last: bool) -> tuple[int, ...]:
    return packed(dims, (0, 2, 3, 1) if channels_last else None)


def _convolution(
    data_type: str = "float16", channels: int = 16, *, relu: bool = False, last: bool = False
) -> Graph:
    graph = Graph("image", io_data_type=data_type)
    x_dims, w_dims = (2, channels, 8, 8), (16, channels, 3, 3)
    x = graph.tensor(x_dims, _strides(x_dims, last), name="x")
    w = graph.tensor(w_dims, _strides(w_dims, last), name="w")
    y = graph.conv_fprop(x, w, padding=1, name="conv")
    if relu:
        y = graph.relu(y, name="relu")
    y.set_output(name="y")
    return graph


def _rows(data_type: str = "float32", *, relu: bool = False) -> Graph:
    graph = Graph("rows", io_data_type="float16")
    x = graph.tensor((64, 128, 1, 1), name="x")
    scale = graph.tensor((1, 128, 1, 1), data_type=data_type, name="scale")
    bias = graph.tensor((1, 128, 1, 1), data_type=data_type, name="bias")
    y, _, _ = graph.layernorm("inference", x, scale, bias, 1e-5, name="norm")
    if relu:
        y = graph.relu(y, name="relu")
    y.set_output(name="y")
    return graph


def layered() -> Graph:
    """Layer norm over the channels of images that are stored as in C."""
    graph = Graph("layers", io_data_type="float16")
    x = graph.tensor((2, 16, 8, 8), name="x")
    scale = graph.tensor((1, 16, 1, 1), name="scale")
    bias = graph.tensor((1, 16, 1, 1), name="bias")
    y, mean, inv_variance = graph.layernorm("training", x, scale, bias, 1e-5, name="norm")
    y.set_output(name="y")
    assert mean is not None
    assert inv_variance is not None
    mean.set_output(name="mean")
    inv_variance.set_output(name="inv_variance")
    return graph


def _product(inner: int = 7, *, alignment: int = 16) -> Graph:
    graph = Graph("product", io_data_type="float16")
    a = graph.tensor((2, 32, inner), name="a", alignment=alignment)
    b = graph.tensor((2, inner, 16), name="b", alignment=alignment)
    graph.matmul(a, b, name="matmul").set_output(name="c")
    return graph


def _attention(size: int) -> Graph:
    graph = Graph("attention", io_data_type="float16")
    q, k, v = (graph.tensor((2, 2, 64, size), name=name) for name in "qkv")
    o, _ = graph.sdpa(q, k, v, use_causal_mask=True, name="sdpa")
    o.set_output(name="o")
    return graph


def _multiplied() -> Graph:
    graph = _convolution()
    graph.name = "multiplied"
    y = graph.find_tensor("y").set_output(False)
    matrix = graph.tensor((1, 1, 8, 8), name="m")
    graph.matmul(y, matrix, name="matmul").set_output(name="z")
    return graph


def _chained() -> Graph:
    graph = Graph("chained", io_data_type="float16")
    x = graph.tensor((2, 16, 8, 8), layout="nhwc", name="x")
    w, v = (graph.tensor((16, 16, 3, 3), layout="nhwc", name=name) for name in "wv")
    y = graph.relu(graph.conv_fprop(x, w, padding=1), name="relu")
    graph.conv_fprop(y, v, padding=1).set_output(name="y")
    return graph


def _counted() -> Graph:
    graph = _convolution()
    graph.name = "counted"
    total, squares = graph.genstats(graph.find_tensor("y"), name="genstats")
    total.set_output(name="total", data_type="float32")
    squares.set_output(name="squares", data_type="float32")
    return graph


def _sums(*axes: int) -> Graph:
    graph = Graph("sums", io_data_type="float32")
    x = graph.relu(graph.tensor((4, 8, 16), name="x"), name="relu")
    graph.reduction(x, "add", axes=axes, name="sum").set_output(name="y")
    return graph


_LAST = "channels last (NHWC)"
ADVISED = {
    "convolution with ReLU as in C, 15 channels": Advised(
        lambda: _convolution(channels=15, relu=True),
        f"store image 'x' and weight 'w' of conv_fprop 'conv', y 'y' of relu 'relu' {_LAST}",
        ("layout",),
    ),
    "convolution with ReLU in fp8, 15 channels": Advised(
        lambda: _convolution("fp8_e4m3", 15, relu=True, last=True),
        "widen image 'x' and weight 'w' of conv_fprop 'conv' from 15 to 16 in dimension 1",
        ("width",),
        "fill what is added of 'x', 'w' with zeros",
        supported=True,
    ),
    "convolution in int8": Advised(
        lambda: _convolution("int8"), "compute in int32 (compute_data_type)", ("compute type",)
    ),
    "convolution in float64": Advised(
        lambda: _convolution("float64"), "compute in float64 (compute_data_type)", ("compute type",)
    ),
    "convolution in bfloat16 on a T4": Advised(
        lambda: _convolution("bfloat16"),
        "give image 'x', weight 'w' and y 'y' of conv_fprop 'conv' the data type float16",
        ("input type",),
        "numbers beyond 65504 become infinite",
        device="t4",
    ),
    "convolution with statistics as in C": Advised(
        _counted, f"store image 'x', weight 'w' and y 'y' of conv_fprop 'conv' {_LAST}", ("layout",)
    ),
    "convolution as in C": Advised(
        _convolution,
        f"store image 'x', weight 'w' and y 'y' of conv_fprop 'conv' {_LAST}",
        ("layout",),
        supported=True,
    ),
    "norm with float32 scale": Advised(
        _rows,
        "give scale 'scale' and bias 'bias' of layernorm 'norm' the data type of the input",
        ("scale type",),
        "rounded",
        supported=True,
    ),
    "norm with float32 scale, and ReLU": Advised(
        lambda: _rows(relu=True),
        "give scale 'scale' and bias 'bias' of layernorm 'norm' the data type of the input",
        ("scale type",),
        "rounded",
    ),
    "norm of channels as in C": Advised(
        layered, f"store input 'x' and y 'y' of layernorm 'norm' {_LAST}", ("layout",)
    ),
    "product of 7 on a T4": Advised(
        _product,
        "widen A 'a' and B 'b' of matmul 'matmul' from 7 to 8",
        ("width",),
        "fill what is added of 'a', 'b' with zeros",
        device="t4",
    ),
    "product of operands at odd addresses": Advised(
        lambda: _product(8, alignment=2),
        "let the addresses of A 'a' and B 'b' of matmul 'matmul' be multiples of 16",
        ("alignment",),
        supported=True,
    ),
    "sums of the last two of three dimensions": Advised(
        lambda: _sums(1, 2),
        "let build make a program: relu 'relu' with reduction 'sum'",
        ("program",),
    ),
    "sums of the first of three dimensions": Advised(
        lambda: _sums(0), "let build make a program: relu 'relu' with reduction 'sum'", ("program",)
    ),
    "sums of all elements": Advised(
        lambda: _sums(0, 1, 2),
        "let build make a program: relu 'relu' with reduction 'sum'",
        ("program",),
    ),
    "attention with heads of 20": Advised(
        lambda: _attention(20),
        "widen q 'q' and k 'k' of sdpa 'sdpa' from 20 to 24 in dimension 3; widen v 'v' and o 'o' "
        "of sdpa 'sdpa' from 20 to 24 in dimension 3",
        ("width", "width"),
        "ignore what is added of 'o'",
    ),
    "attention with heads of 260": Advised(
        lambda: _attention(260),
        "widen q 'q' and k 'k' of sdpa 'sdpa' from 260 to 264 in dimension 3; widen v 'v' and o "
        "'o' of sdpa 'sdpa' from 260 to 264 in dimension 3",
        ("width", "width"),
        "ignore what is added of 'o'",
    ),
    "product of a convolution": Advised(
        _multiplied,
        "let build make a program: conv_fprop 'conv', then matmul 'matmul'",
        ("program",),
    ),
    "convolution after convolution": Advised(
        _chained,
        "let build make a program: conv_fprop 'conv_fprop' with relu 'relu', then "
        "conv_fprop 'conv_fprop_2'",
        ("program",),
    ),
}
