"""Pooling and interpolation, forward and backward; see `cases`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.graph.graph import Graph

from .cases import IMAGE, TOLERANCES, Arrays, _torch, case, channels_last, gradients, image

HALVED = (4, 32, 7, 7)


def pooling(name: str, *arguments: Any, **options: Any) -> Callable[..., Any]:
    return lambda x: getattr(_torch().nn.functional, name)(x, *arguments, **options)


PADDED = {"window": 3, "stride": 2, "padding": 1}
# By name: cuDNN's mode, the function of PyTorch, and options.
POOLINGS: dict[str, tuple[str, Callable[..., Any], dict[str, Any]]] = {
    "max pooling": ("maxpool", pooling("max_pool2d", 2, 2), {"window": 2, "stride": 2}),
    "max pooling, padded": ("maxpool", pooling("max_pool2d", 3, 2, 1), PADDED),
    "average pooling": ("avgpool", pooling("avg_pool2d", 3, 2, 1), PADDED),
    "average pooling without padding": (
        *("avgpool_exclude_padding", pooling("avg_pool2d", 3, 2, 1, count_include_pad=False)),
        PADDED,
    ),
}


def distinct(dims: Sequence[int]) -> NDArray[Any]:
    """Numbers without ties in any window, exact in float16 and in bfloat16."""
    rng = np.random.default_rng(17)
    n, c, h, w = dims
    planes = [rng.permutation(h * w) for _ in range(n * c)]
    return np.array(planes).reshape(dims) - 98.0


def _from_windows(x: NDArray[Any], options: dict[str, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Each maximum and its place in its window, counted by rows; at a tie the first."""
    window, stride, padding = (options.get(key, 0) for key in ("window", "stride", "padding"))
    sides = [(0, 0), (0, 0), (padding, padding), (padding, padding)]
    padded = np.pad(x, sides, constant_values=-np.inf)
    view = np.lib.stride_tricks.sliding_window_view(padded, (window, window), (2, 3))
    flat = view[:, :, ::stride, ::stride].reshape(*HALVED, window * window)
    return flat.max(-1), flat.argmax(-1)


def _with_index(name: str, io: str, options: dict[str, Any]) -> None:
    def forward(graph: Graph) -> None:
        y, index = graph.resample(image(graph, "x"), "maxpool", generate_index=True, **options)
        assert index is not None
        y.set_output(name="y")
        index.set_output(name="index")

    def backward(graph: Graph) -> None:
        graph.resample_backward(
            image(graph, "dy", HALVED),
            "maxpool",
            index=image(graph, "index", HALVED, "int8"),
            **options,
        ).set_output(name="dx", dims=IMAGE, strides=channels_last(IMAGE))

    def compute_backward(a: Arrays) -> Arrays:
        return {"dx": gradients(POOLINGS[name][1], a["dy"], distinct(IMAGE))[0]}

    def prepare(a: dict[str, NDArray[Any]]) -> None:
        if "x" in a:
            a["x"] = distinct(IMAGE)
        else:
            a["index"] = _from_windows(distinct(IMAGE), options)[1]

    case(
        f"{name} with index, {io}",
        forward,
        lambda a: dict(zip(("y", "index"), _from_windows(a["x"], options), strict=True)),
        io=io,
        prepare=prepare,
        tolerance=0,
        here=io == "float16",
    )
    case(
        f"{name}, backward, {io}",
        backward,
        compute_backward,
        io=io,
        prepare=prepare,
        tolerance=TOLERANCES[io],
        here=io == "float16",
    )


def _pooled(name: str, io: str, *, packed: bool = False) -> None:
    mode, function, options = POOLINGS[name]
    tolerance = 0 if mode == "maxpool" else TOLERANCES[io]
    lie = ", packed as in C" if packed else ""
    strides = None if packed else channels_last(IMAGE)

    def operand(graph: Graph, key: str, dims: Sequence[int]) -> Any:
        return graph.tensor(dims, name=key) if packed else image(graph, key, dims)

    case(
        f"{name}, {io}{lie}",
        lambda g: g.resample(operand(g, "x", IMAGE), mode, **options)[0].set_output(name="y"),
        lambda a: {"y": function(_torch().tensor(a["x"])).numpy()},
        io=io,
        tolerance=tolerance,
        here=io == "float16",
    )
    if mode == "maxpool":
        return

    def backward(graph: Graph) -> None:
        # For memory as in C the engine wants x and y, of which it only needs the dims.
        given = {
            port: graph.tensor(dims, name=key)
            for port, key, dims in (("input", "x", IMAGE), ("y", "y", HALVED))
            if packed
        }
        dx = graph.resample_backward(operand(graph, "dy", HALVED), mode, **given, **options)
        dx.set_output(name="dx", dims=IMAGE, strides=strides)

    case(
        f"{name}, backward, {io}{lie}",
        backward,
        lambda a: {"dx": gradients(function, a["dy"], np.zeros(IMAGE))[0]},
        io=io,
        tolerance=TOLERANCES[io],
        here=io == "float16",
    )


for _name in POOLINGS:
    for _io in ("float16", "bfloat16", "float32"):
        _pooled(_name, _io)
        _pooled(_name, _io, packed=True)
        if POOLINGS[_name][0] == "maxpool":
            _with_index(_name, _io, POOLINGS[_name][2])


def _max_backward_packed(name: str, io: str) -> None:
    """For memory as in C the gradient comes from x and y, without an index."""
    _, function, options = POOLINGS[name]

    def prepare(a: dict[str, NDArray[Any]]) -> None:
        a["x"] = distinct(IMAGE)
        a["y"] = function(_torch().tensor(a["x"])).numpy()

    case(
        f"{name}, backward from x and y, {io}",
        lambda g: g.resample_backward(
            g.tensor(HALVED, name="dy"),
            "maxpool",
            input=g.tensor(IMAGE, name="x"),
            y=g.tensor(HALVED, name="y"),
            **options,
        ).set_output(name="dx"),
        lambda a: {"dx": gradients(function, a["dy"], a["x"])[0]},
        io=io,
        prepare=prepare,
        tolerance=TOLERANCES[io],
        here=io == "float16",
    )


for _name in ("max pooling", "max pooling, padded"):
    _max_backward_packed(_name, "float32")
    _max_backward_packed(_name, "float16")

case(
    "max pooling, 3d",
    lambda g: g.resample(image(g, "x", (2, 16, 4, 8, 6)), "maxpool", window=2, stride=2)[
        0
    ].set_output(name="y"),
    lambda a: {"y": pooling("max_pool3d", 2, 2)(_torch().tensor(a["x"])).numpy()},
    tolerance=0,
)
UNEVEN = {"window": (2, 3), "stride": (1, 2), "pre_padding": (0, 1), "post_padding": (1, 0)}
case(
    "average pooling, uneven",
    lambda g: g.resample(image(g, "x"), "avgpool", **UNEVEN)[0].set_output(name="y"),
    lambda a: {
        "y": pooling("avg_pool2d", (2, 3), (1, 2))(
            _torch().nn.functional.pad(_torch().tensor(a["x"]), (1, 0, 0, 1))
        ).numpy()
    },
    tolerance=TOLERANCES["float16"],
)


def _between(x: NDArray[Any]) -> NDArray[Any]:
    """Twice as many pixels: the old ones, and those halfway to the next; the last twice."""
    for axis in (2, 3):
        following = np.concatenate([x, x.take([-1], axis)], axis).take(
            range(1, x.shape[axis] + 1), axis
        )
        x = np.stack([x, (x + following) / 2], axis + 1).reshape(
            *x.shape[:axis], 2 * x.shape[axis], *x.shape[axis + 1 :]
        )
    return x


case(
    "max pooling + relu",
    lambda g: g.relu(g.resample(image(g, "x"), "maxpool", window=2, stride=2)[0]).set_output(
        name="y"
    ),
    lambda a: {"y": np.maximum(pooling("max_pool2d", 2, 2)(_torch().tensor(a["x"])).numpy(), 0)},
    tolerance=0,
)

# Engines know this geometry alone, and treat both ways to pad alike.
HALF = Fraction(1, 2)
BILINEAR = {"window": 2, "stride": HALF, "pre_padding": HALF, "post_padding": 1}
for _padding in ("edge_val", "zero"):
    case(
        f"bilinear interpolation, {_padding}",
        lambda g, padding=_padding: g.resample(
            image(g, "x"), "bilinear", **BILINEAR, padding_mode=padding
        )[0].set_output(name="y"),
        lambda a: {"y": _between(a["x"])},
        io="float32",
        tolerance=TOLERANCES["float32"],
    )
