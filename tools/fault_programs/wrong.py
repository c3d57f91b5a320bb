"""The smallest graphs that cuDNN computes wrong, by the name of their row.

They take options, for what is right beside the fault.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from cudnn_ctypes.dtypes import as_data_type
from cudnn_ctypes.graph import Graph, Tensor
from cudnn_ctypes.raw.strides import packed
from tests.graph.attentions import Attention
from tests.graph.fp8_attentions import Fp8Attention

__all__ = ["DIMS", "EMPTY", "PACKED", "UNEVEN", "WRONG"]

LAST = (0, 2, 3, 1)
DIMS = {"x": (4, 32, 14, 12), "w": (64, 32, 3, 3), "y": (4, 64, 14, 11)}
UNEVEN = {"pre_padding": (0, 1), "post_padding": (2, 0)}


def convolution(graph: Graph, kind: str, data_type: str = "float16", **padding: Any) -> None:
    graph.io_data_type = as_data_type(data_type)

    def tensor(name: str) -> Any:
        return graph.tensor(DIMS[name], packed(DIMS[name], LAST), name=name)

    if kind == "fprop":
        result, name = graph.conv_fprop(tensor("x"), tensor("w"), **padding), "y"
    elif kind == "dgrad":
        result, name = graph.conv_dgrad(tensor("y"), tensor("w"), **padding), "x"
    else:
        result, name = graph.conv_wgrad(tensor("x"), tensor("y"), **padding), "w"
    result.set_output(dims=DIMS[name], strides=packed(DIMS[name], LAST), name=name)


def large_volume(graph: Graph, size: int = 722, *, order: tuple[int, ...] | None = None) -> None:
    graph.io_data_type = as_data_type("bfloat16")
    dims = (1, 16, 124, 1282, size)
    x = graph.tensor(dims, packed(dims, order), name="x")
    graph.conv_fprop(x, graph.tensor((16, 16, 1, 3, 3), name="w")).set_output(name="y")


def clipped_product(graph: Graph, **clips: float) -> None:
    product = graph.matmul(graph.tensor((2, 16, 32)), graph.tensor((2, 32, 24)))
    graph.relu(product, **clips).set_output()


def total(graph: Graph, *dims: tuple[int, ...]) -> None:
    graph.io_data_type = as_data_type("float32")
    y = graph.tensor((3, 8, 64), name="x")
    for number, each in enumerate(dims):
        y = graph.add(y, graph.tensor(each, name=f"b{number}"))
    y.set_output(name="y")


def two_dimensions(graph: Graph) -> None:
    graph.io_data_type = as_data_type("float32")
    x = graph.tensor((6, 64), name="x")
    graph.add(x, graph.gen_index(x, axis=1)).set_output(name="y")


def norm_of_layers(graph: Graph, mode: str, statistics: str | None) -> None:
    dims = {"x": (8, 64, 1, 1), "scale": (1, 64, 1, 1), "bias": (1, 64, 1, 1)}
    if mode == "rms":
        dims.pop("bias")
    given = {name: graph.tensor(size, name=name) for name, size in dims.items()}
    results = graph.norm_forward(mode, "training", *given.values(), epsilon=1e-5)
    for name, result in results.items():
        result.set_output(name=name)
    if statistics is not None:
        for name in {"mean", "inv_variance"} & set(results):
            results[name].data_type = as_data_type(statistics)


def scaled_rows(graph: Graph) -> None:
    x = graph.tensor((8192, 8192, 1, 1), name="x")
    scale = graph.tensor((1, 8192, 1, 1), data_type="float32", name="scale")
    graph.rmsnorm("inference", x, scale, None, 1e-5)[0].set_output(name="y")


def pooled(
    graph: Graph, data_type: str, order: tuple[int, ...] | None, *, after_relu: bool = False
) -> None:
    graph.io_data_type = as_data_type(data_type)
    x = graph.tensor((2, 8, 4, 4), packed((2, 8, 4, 4), order), name="x")
    image = graph.relu(x) if after_relu else x
    graph.resample(image, "maxpool", window=2, stride=2)[0].set_output(name="y")


def pooled_gradient(graph: Graph, data_type: str = "float32", *, last: bool = False) -> None:
    graph.io_data_type = as_data_type("bfloat16")
    order = LAST if last else None
    x, y, dy = (
        graph.tensor(dims, packed(dims, order), kind, name=name)
        for name, dims, kind in (
            ("x", (2, 16, 12, 12), "bfloat16"),
            ("y", (2, 16, 5, 5), "bfloat16"),
            ("dy", (2, 16, 5, 5), data_type),
        )
    )
    mode = "avgpool_exclude_padding"
    dx = graph.resample_backward(dy, mode, input=x, y=y, window=3, stride=2)
    dx.set_output(name="dx", dims=x.dims, strides=x.strides)


def turned_pooled_gradient(graph: Graph, order: tuple[int, ...] = (3, 2, 0, 1)) -> None:
    graph.io_data_type = as_data_type("float32")
    images, windows = (3, 8, 8, 12), (3, 8, 7, 11)
    dy = graph.tensor(windows, packed(windows, LAST), name="dy")
    x = graph.tensor(images, packed(images, LAST), name="x")
    y = graph.tensor(windows, packed(windows, LAST), name="y")
    mode = "avgpool_exclude_padding"
    dx = graph.resample_backward(dy, mode, input=x, y=y, window=2)
    dx.set_output(False, dims=images, strides=packed(images, LAST))
    other = graph.tensor(images, packed(images, order), name="other")
    graph.add(other, dx).set_output(name="result", strides=packed(images, order))


def more_windows(graph: Graph, window: int = 2, *, last: bool = True) -> None:
    sizes = {"dx": (3, 16, 9, 11), "dy": (3, 16, 12 - window, 14 - window)}
    order = LAST if last else None
    dy = graph.tensor(sizes["dy"], packed(sizes["dy"], order), name="dy")
    dx = graph.resample_backward(dy, "avgpool", window=window, stride=1, padding=1)
    dx.set_output(False, dims=sizes["dx"], strides=packed(sizes["dx"], order))
    graph.relu(dx).set_output(name="y")


def filter_gradient(graph: Graph, joined: tuple[int, ...], order: tuple[int, ...] = LAST) -> None:
    x, dy = (
        graph.tensor(dims, packed(dims, LAST), name=name)
        for name, dims in (("x", (2, 8, 9, 9)), ("dy", (2, 16, 8, 7)))
    )
    dw = graph.conv_wgrad(x, dy)
    dw.dims, dw.strides = (16, 8, 2, 3), packed((16, 8, 2, 3), LAST)
    other = graph.tensor(joined, packed(joined, order), name="other")
    graph.add(graph.relu(dw), other).set_output(name="y")


def uneven_lines(
    graph: Graph,
    kind: str,
    channels: int = 8,
    filters: int = 16,
    data_type: str = "float16",
    pixels: tuple[int, ...] = (9, 9),
) -> None:
    """Relu of the gradient of a convolution."""
    graph.io_data_type = as_data_type(data_type)
    graph.relu(_gradient(graph, kind, channels, filters, pixels)).set_output(name="y")


def _gradient(
    graph: Graph, kind: str, channels: int, filters: int, pixels: tuple[int, ...] = (9, 9)
) -> Tensor:
    """The gradient of a convolution, 3 in each dimension, padded by 1, with channels last."""
    last = (0, *range(2, 2 + len(pixels)), 1)
    images, w = (3, channels, *pixels), (filters, channels, *(3 for _ in pixels))
    dy = graph.tensor((3, filters, *pixels), packed((3, filters, *pixels), last), name="dy")
    if kind == "wgrad":
        gradient = graph.conv_wgrad(graph.tensor(images, packed(images, last)), dy, padding=1)
    else:
        gradient = graph.conv_dgrad(dy, graph.tensor(w, packed(w, last)), padding=1)
    return gradient.set_output(False, dims=w if kind == "wgrad" else images)


def scaled_gradient(
    graph: Graph, function: str = "relu", channels: int = 12, kind: str = "dgrad"
) -> None:
    """The gradient of a convolution, times a function of a number a channel or filter element."""
    graph.io_data_type = as_data_type("float16")
    gradient = _gradient(graph, kind, channels, 16)
    dims = (1, channels, 1, 1) if kind == "dgrad" else (1, channels, 3, 3)
    bias = graph.tensor(dims, packed(dims, LAST), name="bias")
    graph.mul(gradient, getattr(graph, function)(bias)).set_output(name="y")


def channels_first(
    graph: Graph,
    kind: str,
    data_type: str = "bfloat16",
    order: tuple[int, ...] | None = None,
    *,
    size: int = 9,
    window: int = 3,
    channels: int = 24,
    filters: str | None = None,
    turned: tuple[int, ...] | None = None,
) -> None:
    """A convolution, or a gradient of one, which keeps the size of images.

    - `filters`, `turned`: another type and order of memory of the filters.
    """
    graph.io_data_type = as_data_type(data_type)
    images, w = (1, channels, size, size), (channels, channels, window, window)
    image = graph.tensor(images, packed(images, order), name="image")
    if kind == "wgrad":
        loss = graph.tensor(images, packed(images, order), name="dy")
        result = graph.conv_wgrad(image, loss, padding=window // 2)
        result.set_output(dims=w, strides=packed(w, order))
    else:
        given = graph.tensor(w, packed(w, turned or order), filters, name="w")
        result = getattr(graph, f"conv_{kind}")(image, given, padding=window // 2)
        result.set_output(dims=images, strides=packed(images, order))


def fused(
    graph: Graph,
    joined: tuple[int, ...],
    *,
    number: float | None = None,
    image: int = 9,
    order: tuple[int, ...] = LAST,
    room: int = 0,
) -> None:
    """A convolution, and its result times an operand, with room for channels between its pixels."""
    x_dims, w_dims = (2, 8, image, image), (joined[1], 8, 3, 3)
    x = graph.tensor(x_dims, packed(x_dims, order), name="x")
    w = graph.tensor(w_dims, packed(w_dims, order), name="w")
    pixels = (joined[0], joined[1] + room, *joined[2:])
    other = graph.tensor(joined, packed(pixels, order), name="other")
    other = other if number is None else graph.mul(other, number)
    graph.mul(graph.conv_fprop(x, w, padding=1), other).set_output(name="y")


def scaled(graph: Graph, dims: tuple[int, ...], function: str) -> None:
    """A function of a small operand less a whole one."""
    x, s = graph.tensor((2, 8, 64), name="x"), graph.tensor(dims, name="s")
    graph.sub(getattr(graph, function)(s), x).set_output(name="y")


def indexed(
    graph: Graph,
    dims: tuple[int, ...] = (64, 7, 33),
    axis: int = 0,
    full: tuple[int, ...] = (64, 7, 33),
    added: tuple[int, ...] = (1, 1, 1),
) -> None:
    """A tensor times the index of another of these dims, and something small."""
    x, other = graph.tensor(full, name="x"), graph.tensor(dims, name="other")
    product = graph.mul(x, graph.gen_index(other, axis=axis))
    graph.add(product, graph.tensor(added, name="small")).set_output(name="y")


def kept(graph: Graph, dims: tuple[int, ...] = (16, 1, 64), product: bool = False) -> None:
    """A small operand's function that is an output beside the sum."""
    graph.io_data_type = as_data_type("float16")
    a, s = graph.tensor((16, 33, 64), name="a"), graph.tensor(dims, name="s")
    b = graph.tensor((16, 64, 64), name="b") if product else None
    x = graph.relu(a) if b is None else graph.matmul(a, b)
    graph.add(x, graph.exp(s).set_output(name="kept")).set_output(name="y")


def doubled(graph: Graph, *, other: bool = False) -> None:
    """A product of a matrix less its relu, or less that of another one."""
    graph.io_data_type = as_data_type("float32")
    a, b = graph.tensor((3, 7, 40), name="a"), graph.tensor((3, 40, 8), name="b")
    c = graph.tensor((3, 7, 40), name="c") if other else a
    graph.matmul(graph.sub(a, graph.relu(c)), b).set_output(name="y")


def two_products(graph: Graph, dims: tuple[int, ...]) -> None:
    """The sum of two products and of a function of a small operand."""
    a, b = graph.tensor((2, 16, 8), name="a"), graph.tensor((2, 8, 64), name="b")
    s = graph.exp(graph.tensor(dims, name="s"))
    graph.add(graph.mul(graph.matmul(a, b), s), graph.matmul(a, b)).set_output(name="y")


def joined_norm(graph: Graph, *, masks: bool = False) -> None:
    """A tensor less a norm, or where the norm is in a range."""
    x, scale = (
        graph.tensor(dims, name=name)
        for name, dims in (("x", (8, 64, 1, 1)), ("scale", (1, 64, 1, 1)))
    )
    norm = graph.rmsnorm("inference", x, scale, None, 1e-5)[0]
    if masks:
        mask = graph.logical_and(graph.cmp_gt(norm, 0.0), graph.cmp_lt(norm, 6.0))
        mask.set_output(name="y", data_type="boolean")
    else:
        graph.sub(graph.tensor((8, 64, 1, 1), name="other"), norm).set_output(name="y")


def spread_product(graph: Graph) -> None:
    a, b = graph.tensor((2, 128, 64), name="a"), graph.tensor((2, 64, 1), name="b")
    graph.mul(graph.tensor((2, 128, 64), name="x"), graph.matmul(a, b)).set_output(name="y")


def joined_batch_norm(
    graph: Graph, joined: tuple[int, ...] = (1, 1, 6, 6), data_type: str | None = None
) -> None:
    """Instance normalization of training, a sum and relu."""
    few, full = (1, 64, 1, 1), (2, 64, 6, 6)
    x, scale, bias, other = (
        graph.tensor(dims, packed(dims, LAST), kind, name=name)
        for name, dims, kind in (
            ("x", full, None),
            ("scale", few, "float32"),
            ("bias", few, "float32"),
            ("other", joined, data_type),
        )
    )
    y, *statistics = graph.instancenorm("training", x, scale, bias, 1e-3)
    for name, each in zip(("mean", "inv_variance"), statistics, strict=True):
        each.set_output(name=name)
    graph.relu(graph.add(y, other)).set_output(name="y")


def computed_bias(graph: Graph) -> None:
    graph.io_data_type = as_data_type("bfloat16")
    few = (1, 128, 1, 1)
    x = graph.tensor((128, 128, 1, 1), name="x")
    scale, b, other = (graph.tensor(few, name=name) for name in ("scale", "b", "other"))
    graph.norm_forward("layer", "inference", x, scale, graph.max(b, other))["y"].set_output(
        name="y"
    )


def layer_norm(
    graph: Graph, scale: str | None = None, bias: str | None = "float32", *, size: int = 1
) -> None:
    """Of x with channels last."""
    graph.io_data_type = as_data_type("float16")
    dims, types = (64, size, size), {"scale": scale, "bias": bias}
    x = graph.tensor((44, *dims), packed((44, *dims), LAST), name="x")
    parameters = [graph.tensor((1, *dims), None, each, name=n) for n, each in types.items()]
    graph.norm_forward("layer", "inference", x, *parameters, 1e-3)["y"].set_output(name="y")


def joined_norm_gradient(graph: Graph) -> None:
    graph.io_data_type = as_data_type("float32")
    full, few = (16, 32, 1, 1), (1, 32, 1, 1)
    dy, x = (graph.tensor(full, name=name) for name in ("dy", "x"))
    mean, inv = (graph.tensor((16, 1, 1, 1), name=name) for name in ("mean", "inv"))
    scale = graph.tensor(few, name="scale")
    results = graph.norm_backward("layer", dy, x, scale, mean, inv)
    for name in ("dscale", "dbias"):
        results[name].set_output(name=name)
    graph.sub(results["dx"], graph.tensor(few, name="other")).set_output(name="y")


def typed_norm_gradient(graph: Graph, mode: str = "batch", data_type: str = "float32") -> None:
    full, few = (4, 32, 5, 3), (1 if mode == "batch" else 4, 32, 1, 1)
    dy, x = (graph.tensor(full, name=name) for name in ("dy", "x"))
    scale = graph.tensor((1, 32, 1, 1), data_type="float32", name="scale")
    mean, inv = (graph.tensor(few, data_type="float32", name=name) for name in ("mean", "inv"))
    for name, each in graph.norm_backward(mode, dy, x, scale, mean, inv).items():
        each.set_output(name=name, data_type=data_type if name == "dx" else "float32")


def joined_experts(graph: Graph, gate: tuple[int, ...] = (1, 128, 64)) -> None:
    graph.io_data_type = as_data_type("bfloat16")
    token = graph.tensor((1, 128, 64), name="token")
    weight = graph.tensor((8, 64, 64), (4096, 1, 64), name="weight")
    begins = graph.tensor((8, 1, 1), data_type="int32", name="begins")
    y = graph.moe_grouped_matmul(token, weight, begins)
    graph.mul(y, graph.tensor(gate, name="gate")).set_output(name="y")


def strided_gradient(
    graph: Graph,
    stride: int = 2,
    *,
    joined: tuple[int, ...] = (5, 1, 12, 9),
    order: tuple[int, ...] = LAST,
) -> None:
    graph.io_data_type = as_data_type("float32")
    dy, w, other = (
        graph.tensor(dims, packed(dims, axes), name=name)
        for name, dims, axes in (
            ("dy", (5, 32, 12, 6), LAST),
            ("w", (32, 32, 1, 3), LAST),
            ("other", joined, order),
        )
    )
    dx = graph.conv_dgrad(dy, w, stride=(1, stride), padding=(0, 2))
    dx.set_output(False, dims=(5, 32, 12, 5 * stride - 1))
    graph.sub(dx, other).set_output(name="y")


def one_column(graph: Graph, columns: int = 1) -> None:
    a, b = graph.tensor((3, 64, 16), name="a"), graph.tensor((3, 16, columns), name="b")
    s = graph.sigmoid(graph.tensor((1, 1, 1), name="s"))
    graph.max(graph.matmul(a, b), s).set_output(name="y")


def repeated_matrix(graph: Graph, first: int = 1, second: int = 3) -> None:
    """The sum of two products, by so many matrices each."""
    ones, others = (
        graph.matmul(graph.tensor((3, 16, 64), name=x), graph.tensor((count, 64, 8), name=y))
        for x, y, count in (("a", "b", first), ("c", "d", second))
    )
    graph.add(ones, others).set_output(name="y")


def interleaved(
    graph: Graph, strides: tuple[int, ...] = (64, 1, 128), batches: tuple[int, ...] = (2,)
) -> None:
    """One row of each batch, times matrices with these strides."""
    a = graph.tensor((*batches, 1, 64), name="a")
    b = graph.tensor((*batches, 64, 40), strides, name="b")
    graph.matmul(a, b).set_output(name="y")


def modified(
    graph: Graph,
    dims: tuple[int, ...],
    order: tuple[int, ...] | None = None,
    *,
    data_type: str = "float16",
    join: str = "mul",
    step: int = 1,
) -> None:
    """Attention whose scores are multiplied by an operand, or joined with it otherwise."""
    q, k, v = (
        graph.tensor((2, 2, length, 64), name=name)
        for name, length in (("q", 64), ("k", 192), ("v", 192))
    )

    def joined(graph: Graph, scores: Any) -> Any:
        strides = tuple(step * each for each in packed(dims, order))
        factor = graph.tensor(dims, strides, data_type, name="factor")
        return getattr(graph, join)(scores, factor)

    graph.sdpa(q, k, v, score_mod=joined)[0].set_output(name="o")


def spaced(graph: Graph, step: int = 2) -> None:
    """A product, and its result plus a row for each batch."""
    a, b = graph.tensor((2, 64, 16), name="a"), graph.tensor((2, 16, 16), name="b")
    row = graph.tensor((2, 1, 16), (16 * step, 16 * step, step), name="row")
    graph.add(graph.matmul(a, b), row).set_output(name="y")


def turned_image(graph: Graph, order: tuple[int, ...] | None = None) -> None:
    graph.io_data_type = as_data_type("float32")
    shapes = {"x": (5, 16, 5, 11), "w": (24, 16, 2, 3)}
    x, w = (graph.tensor(dims, packed(dims, LAST), name=name) for name, dims in shapes.items())
    other = graph.tensor(shapes["x"], packed(shapes["x"], order), name="other")
    graph.conv_fprop(graph.add(x, other), w, padding=1).set_output(name="y")


def turned_matrix(graph: Graph, order: tuple[int, ...]) -> None:
    graph.io_data_type = as_data_type("float32")
    a, b = graph.tensor((3, 64, 16), name="a"), graph.tensor((3, 16, 128), name="b")
    other = graph.tensor((3, 64, 16), packed((3, 64, 16), order), name="other")
    graph.matmul(graph.add(a, other), b).set_output(name="y")


def turned(
    graph: Graph, order: tuple[int, ...] = (1, 2, 0), step: int = 1, middle: int = 1
) -> None:
    x, s = graph.tensor((8, 128, 33), name="x"), graph.tensor((8, middle, 33), name="s")
    s.strides = tuple(step * each for each in packed((8, middle, 33), order))
    graph.add(x, s).set_output(name="y")


def single(graph: Graph) -> None:
    x, a, b = (graph.tensor((1, 64, 2), name=name) for name in "xab")
    s = graph.tensor((1, 1, 1), name="s")
    graph.max(graph.exp(b), graph.sub(graph.tanh(s), graph.sub(a, x))).set_output(name="y")


def infinite(graph: Graph) -> None:
    graph.io_data_type = as_data_type("float32")
    x, other, w = (
        graph.tensor(dims, packed(dims, LAST), name=name)
        for name, dims in (("x", (8, 8, 1, 1)), ("other", (8, 8, 1, 1)), ("w", (64, 8, 1, 1)))
    )
    image = graph.max(x, graph.rsqrt(graph.abs(other)))
    graph.conv_fprop(image, w).set_output(name="y")


def product(graph: Graph, columns: int, *, beside: bool = False) -> None:
    """A product, and its result plus a whole operand."""
    a, b = graph.tensor((1, 16, 64), name="a"), graph.tensor((1, 64, columns), name="b")
    if beside:
        graph.relu(a).set_output(name="z")
    graph.add(graph.matmul(a, b), graph.tensor((1, 16, columns), name="c")).set_output(name="y")


def window_of_one(
    graph: Graph, size: int = 9, *, order: tuple[int, ...] | None = None, window: int = 1
) -> None:
    graph.io_data_type = as_data_type("bfloat16")
    x, dy = (
        graph.tensor(dims, packed(dims, order), name=name)
        for name, dims in (("x", (1, 24, 12, size)), ("dy", (1, 8, 12, size)))
    )
    dw = graph.conv_wgrad(x, dy, padding=window // 2)
    dw.set_output(False, dims=(8, 24, window, window))
    graph.tanh(dw).set_output(name="y")


def gelu_of_a_product(graph: Graph, data_type: str, function: str = "gelu") -> None:
    a, b = (graph.tensor((1, 64, 64), name=name) for name in "ab")
    getattr(graph, function)(graph.matmul(a, b)).set_output(name="y", data_type=data_type)


def gradients(graph: Graph, *options: str) -> None:
    """The gradients of attention, with what cuDNN differentiates wrong."""
    dims, keys = (2, 4, 128, 64), (2, 4, 192 if "alibi" in options else 128, 64)
    q, k, v, o, dO = (
        graph.tensor(keys if name in "kv" else dims, name=name)
        for name in ("q", "k", "v", "o", "dO")
    )
    strides = (512, 1, 4, 1) if "stats" in options else (512, 128, 1, 1)
    stats = graph.tensor((2, 4, 128, 1), strides, data_type="float32", name="stats")
    more: dict[str, Any] = {"use_alibi_mask": "alibi" in options}
    if "bias" in options:
        more["bias"] = graph.tensor((1, 4, 1, 128), name="bias")
    if "sink" in options:
        sinks = [
            graph.tensor((1, 4, 1, 1), data_type="float32", name=name) for name in ("sink", "dsink")
        ]
        more |= {"sink_token": sinks[0], "dSink_token": sinks[1]}
    if "mask" in options:
        mask = graph.tensor((2, 4, 128, 128), name="mask")
        more["dropout"] = (mask, graph.tensor((1, 1, 1, 1), data_type="float32", name="scale"))
    if "dropout" in options:
        seed, offset = (
            graph.tensor((1, 1, 1, 1), data_type="int64", name=name) for name in ("seed", "offset")
        )
        more["dropout"] = (0.25, seed, offset)
    for gradient in graph.sdpa_backward(q, k, v, o, dO, stats, **more):
        gradient.set_output(name=gradient.name.rpartition(".")[2])


def attention(graph: Graph, **options: Any) -> None:
    Attention(**{"batch": 1, "heads": 2, "key_heads": 2, **options}).forward(graph)


def attention_gradients(graph: Graph, **options: Any) -> None:
    Attention(batch=2, heads=2, key_heads=2, **options).backward(graph)


EMPTY: dict[str, Any] = {"batch": 2, "lengths": ((128, 128), (192, 0))}
PACKED: dict[str, Any] = {"lengths": ((100, 28), (150, 42)), "ragged": True}


def statistics(graph: Graph, **options: Any) -> None:
    attention(graph)
    (stats,) = (each for each in graph.outputs if each.name == "stats")
    for name, value in options.items():
        setattr(stats, name, value)


def packed_statistics(graph: Graph, *, unified: bool = False, **options: Any) -> None:
    defaults = {"queries": 1, "keys": 80, "lengths": ((1,), (80,)), "ragged": True}
    one = Attention(**{"batch": 1, "heads": 2, "key_heads": 1, **defaults, **options})
    one.forward(graph, unified=unified)


def masked_blocks(graph: Graph) -> None:
    q, k, v = (graph.tensor((2, 4, 256, 64), name=name) for name in "qkv")
    mask = graph.tensor((2, 4, 2, 1), data_type="uint8", name="mask")
    graph.sdpa_unified(q, k, v, block_mask=mask)[0].set_output(name="o")


def gradients_of_8_bits(graph: Graph, queries: int) -> None:
    graph.io_data_type = None
    Fp8Attention(
        Attention(batch=1, heads=2, key_heads=2, queries=queries, size=128, value_size=128)
    ).backward(graph)


def band_of_8_bits(graph: Graph, **options: Any) -> None:
    graph.io_data_type = None
    band = {"left": 2, "right": 0, "bottom_right": True, "lengths": ((128, 128), (160, 97))}
    sizes = {"queries": 128, "keys": 160, "size": 128, "value_size": 128}
    shape = {"batch": 2, "heads": 2, "key_heads": 2, "inference": True}
    one = Attention(**{**shape, **sizes, **band, **options})
    Fp8Attention(one).forward(graph)


_given = functools.partial

_WITH_A_BIAS = _given(fused, joined=(1, 16, 1, 1), image=1, order=(0, 1, 2, 3))

WRONG: Mapping[str, Callable[[Graph], None]] = {
    "pooling after an element-wise operation": _given(
        pooled, data_type="float16", order=LAST, after_relu=True
    ),
    "result of an operand alone": _given(product, columns=32, beside=True),
    "clipped product": _given(clipped_product, lower_clip=0.5, upper_clip=2.0),
    "pooling of bfloat16": _given(pooled, data_type="bfloat16", order=LAST),
    "gradient of pooling in another type": pooled_gradient,
    "gradient of pooling into another order of memory": turned_pooled_gradient,
    "gradient of more averages than pixels": more_windows,
    "uneven padding, gradient of data": _given(convolution, kind="dgrad", **UNEVEN),
    "uneven padding, gradient of filter": _given(convolution, kind="wgrad", **UNEVEN),
    "operand along a part of a dimension": _given(fused, joined=(2, 16, 1, 1)),
    "number of each row": lambda graph: scaled(graph, (2, 8, 1), "relu"),
    "activation of a single number": single,
    "result that broadcasts": spread_product,
    "index of another dimension": indexed,
    "output smaller than the result": kept,
    "operand read twice before a product": doubled,
    "norm behind a whole operand": joined_norm,
    "norm of images before another operand": joined_batch_norm,
    "computed operand of a norm": computed_bias,
    "norm with scale and bias of two types": layer_norm,
    "scale of a norm in another order of memory": _given(layer_norm, bias=None, size=3),
    "gradient of a norm beside element-wise operations": joined_norm_gradient,
    "gradient of a norm in another type": typed_norm_gradient,
    "experts beside element-wise operations": joined_experts,
    "strided gradient of data beside element-wise operations": strided_gradient,
    "product of one column": one_column,
    "product of interleaved matrices": interleaved,
    "products of which one repeats a matrix": repeated_matrix,
    "gradient of filters with uneven lines": _given(uneven_lines, kind="wgrad", channels=12),
    "gradient of filters of a volume with uneven lines": _given(
        uneven_lines, kind="wgrad", channels=12, pixels=(5, 5, 5)
    ),
    "gradient of filters of two channels": _given(uneven_lines, kind="wgrad", channels=2),
    "gradient beside what is computed of a bias": scaled_gradient,
    "spaced matrix of a product": spaced,
    "operand in another order of memory": turned,
    "operand with gaps": _given(turned, order=(0, 1, 2), step=2),
    "operand with gaps between pixels": _given(fused, joined=(2, 16, 9, 9), room=8),
    "image computed from another order of memory": turned_image,
    "operand of a filter's gradient in another order of memory": _given(
        filter_gradient, joined=(1, 8, 2, 3), order=(0, 1, 2, 3)
    ),
    "infinity before a product": infinite,
    "operands joined beside a convolution": _given(fused, joined=(2, 16, 9, 9), number=0.5),
    "rows of a product": _given(product, columns=100),
    "filters with channels first beside images of one element": _WITH_A_BIAS,
    "bias beside filters with channels first": _WITH_A_BIAS,
    "channels first in runtime fusion": _given(channels_first, kind="fprop"),
    "convolution of a part of a line": _given(channels_first, kind="fprop"),
    "convolution in another order of memory": _given(
        channels_first, kind="fprop", order=(3, 2, 0, 1), size=8, window=1
    ),
    "filters in another order of memory": _given(
        channels_first, kind="fprop", order=LAST, turned=(3, 0, 2, 1), size=8
    ),
    "convolution of two types": _given(channels_first, kind="fprop", order=LAST, filters="float16"),
    "convolution of uneven lines": _given(
        channels_first, kind="fprop", order=LAST, channels=12, window=1
    ),
    "gradient of filters of one channel": _given(
        channels_first, kind="wgrad", data_type="float32", order=LAST, channels=1
    ),
    "gradient of data by a part of a line": _given(channels_first, kind="dgrad"),
    "gradient of filters by a part of a line": _given(channels_first, kind="wgrad"),
    "gradient of filters of one element": window_of_one,
    "gelu of a product": _given(gelu_of_a_product, data_type="float32"),
    "convolution of a large volume": large_volume,
    "broadcast along two dimensions": lambda graph: total(graph, (1, 8, 1)),
    "element-wise graph of two dimensions": two_dimensions,
    "statistics of layers in 16 bits": _given(norm_of_layers, mode="layer", statistics="float16"),
    "strided statistics of attention": lambda graph: gradients(graph, "stats"),
    "gradient of queries in 8 bits": _given(gradients_of_8_bits, queries=8),
    "gradient of a sink with dropout": lambda graph: gradients(graph, "sink", "dropout"),
    "gradient of one row of bias": lambda graph: gradients(graph, "bias"),
    "gradient without bounds": lambda graph: gradients(graph, "alibi"),
    "one query with alibi, rng_dump or a sink": _given(
        attention, queries=1, keys=320, slopes=(1.0,)
    ),
    "modifier with a number for each sequence": _given(modified, dims=(2, 2, 1, 1)),
    "modifier with spaced keys": _given(modified, dims=(1, 1, 64, 192), order=(0, 1, 3, 2)),
    "pages of one query with alibi": _given(
        attention, key_heads=1, queries=1, keys=384, page=16, lengths=((1,), (300,)), slopes=(1.0,)
    ),
    "scale of attention that is not positive": _given(attention, scale=-0.2, inference=True),
    "pages that fill no tile": _given(attention, page=16, lengths=((128,), (192,))),
    "pages of 8 bits": _given(band_of_8_bits, left=None, page=16),
    "sequence without keys": _given(attention, inference=True, **EMPTY),
    "sequence without keys in 8 bits": _given(band_of_8_bits, left=None, **EMPTY),
    "gradient of a sequence without queries": _given(
        attention_gradients, lengths=((128, 0), (192, 192))
    ),
    "gradient of packed sequences with large heads": _given(
        attention_gradients, size=192, value_size=192, **PACKED
    ),
    "gradient of bias with a modifier": _given(
        attention_gradients, scale=0.0, bias=(1, 2, 128, 192), bias_gradient=True
    ),
    "packed statistics of one query": packed_statistics,
    "band of attention in 8 bits": band_of_8_bits,
    "gradient of tokens that fill no tile": _given(attention_gradients, keys=100),
    "gradient of short packed sequences": _given(attention_gradients, right=0, **PACKED),
    "unmasked attention of many keys in a CUDA graph": _given(attention, keys=1152),
    "dropout of attention": _given(attention, dropout="seed"),
    "gradient with a bias for a part of a tile": _given(
        attention_gradients, keys=100, bias=(1, 1, 128, 100)
    ),
    "attention of 9.10": attention,
    "8-bit attention of 9.10": _given(gradients_of_8_bits, queries=16),
    "window of attention without a right bound": _given(attention, left=100, keys=1152),
    "sink of packed sequences": _given(attention_gradients, sink=True, **PACKED),
    "strided statistics of attention's forward pass": _given(statistics, strides=(512, 1, 4, 1)),
    "statistics of attention in 16 bits": _given(statistics, data_type=as_data_type("float16")),
    "block mask of unified attention": masked_blocks,
    "gradient of bias of packed sequences": _given(
        attention_gradients, bias=(1, 2, 128, 192), bias_gradient=True, **PACKED
    ),
    "uneven heads of deterministic gradients": _given(
        attention_gradients, size=136, value_size=80, queries=127, keys=100, deterministic=True
    ),
    "uneven heads in attention's backward pass": _given(
        attention_gradients, size=160, value_size=80
    ),
    "float32 scale of a norm of rows": scaled_rows,
}
