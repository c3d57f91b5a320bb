"""Convolutions, forward and backward; see `cases`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

from .cases import IMAGE, TOLERANCES, Arrays, _torch, case, channels_last, gradients, image

FILTER, RESULT, WIDE = (64, 32, 3, 3), (4, 64, 14, 14), (4, 32, 14, 12)

# float32 is rounded to TF32, with 10 bits of mantissa, before it is multiplied. Some engines round
# parts of a sum: 1.3e-3 was seen in float16.
CONVOLUTION_TOLERANCES = {**TOLERANCES, "float16": 2e-3, "float32": 1e-3}

# By name: the image, the filter, and options.
GEOMETRIES: dict[str, tuple[Sequence[int], Sequence[int], dict[str, Any]]] = {
    "": (IMAGE, FILTER, {"padding": 1}),
    ", 1d": ((4, 32, 28), (64, 32, 3), {"padding": 1}),
    ", 3d": ((2, 32, 5, 8, 6), (64, 32, 3, 3, 3), {"padding": 1}),
    ", groups": (WIDE, (64, 8, 3, 3), {"padding": 1}),
    ", a group for each channel": (WIDE, (32, 1, 3, 3), {"padding": 1}),
    ", strided": (WIDE, FILTER, {"padding": 1, "stride": (2, 1)}),
    ", dilated": (WIDE, FILTER, {"padding": (2, 1), "dilation": (2, 1)}),
    ", uneven padding": (WIDE, FILTER, {"pre_padding": (0, 1), "post_padding": (2, 0)}),
    ", filter turned round": (WIDE, FILTER, {"padding": 1, "convolution_mode": "convolution"}),
}


def convolve(x: Any, w: Any, **options: Any) -> Any:
    """What cuDNN computes, of PyTorch tensors."""
    torch = _torch()
    rank = x.ndim - 2

    def each(name: str, default: int) -> list[int]:
        value = options.get(name, default)
        return [value] * rank if isinstance(value, int) else list(value)

    padding = options.get("padding", 0)
    before, after = (each(f"{side}_padding", padding) for side in ("pre", "post"))
    if "padding" in options:
        before = after = each("padding", 0)
    sides = [size for pair in zip(before, after, strict=True) for size in pair]
    # PyTorch's pad begins with the last dimension.
    turned = [sides[i + j] for i in range(2 * rank - 2, -1, -2) for j in (0, 1)]
    if options.get("convolution_mode") == "convolution":
        w = w.flip(*range(2, w.ndim))
    function = getattr(torch.nn.functional, f"conv{rank}d")
    return function(
        torch.nn.functional.pad(x, turned),
        w,
        stride=each("stride", 1),
        dilation=each("dilation", 1),
        groups=x.shape[1] // w.shape[1],
    )


def convolved(x: NDArray[Any], w: NDArray[Any], **options: Any) -> NDArray[Any]:
    torch = _torch()
    return convolve(torch.tensor(x), torch.tensor(w), **options).numpy()  # type: ignore[no-any-return]


def _result_dims(x: Sequence[int], w: Sequence[int], options: dict[str, Any]) -> tuple[int, ...]:
    graph = Graph(io_data_type="float32")
    y = graph.conv_fprop(graph.tensor(x), graph.tensor(w), **options).set_output()
    graph.validate()
    assert y.dims is not None
    return y.dims


Described = tuple[Callable[[Graph], Tensor], Callable[[Arrays], Arrays]]


def convolution(
    kind: str,
    x: Sequence[int] = IMAGE,
    w: Sequence[int] = FILTER,
    *,
    packed: bool = False,
    result: str | None = None,
    **options: Any,
) -> Described:
    """A graph of one convolution with its oracle.

    Parameters
    ----------
    kind : "fprop", "dgrad" or "wgrad"
    x, w : sequence of int
        The dims of image and filter.
    packed : bool
        Whether the images lie in memory as in C, not with their channels together.
    result : str, optional
        Data type of the result.
    """
    y = _result_dims(x, w, options)
    dims = {"x": x, "w": w, "dx": x, "dw": w, "dy": y, "y": y}
    operands, out = {
        "fprop": (("x", "w"), "y"),
        "dgrad": (("dy", "w"), "dx"),
        "wgrad": (("x", "dy"), "dw"),
    }[kind]

    def describe(graph: Graph) -> Tensor:
        given = [
            graph.tensor(dims[name], name=name) if packed else image(graph, name, dims[name])
            for name in operands
        ]
        strides = None if packed else channels_last(dims[out])
        return getattr(graph, f"conv_{kind}")(*given, **options).set_output(  # type: ignore[no-any-return]
            name=out, dims=dims[out], strides=strides, data_type=result
        )

    def compute(a: Arrays) -> Arrays:
        if kind == "fprop":
            return {"y": convolved(a["x"], a["w"], **options)}
        given = [a.get(name, np.zeros(dims[name])) for name in ("x", "w")]
        found = gradients(lambda x, w: convolve(x, w, **options), a["dy"], *given)
        return {out: found[0 if kind == "dgrad" else 1]}

    return describe, compute


TITLES = {
    "fprop": "convolution",
    "dgrad": "convolution backward data",
    "wgrad": "convolution backward filter",
}


def _case(name: str, kind: str, io: str, *arguments: Any, **options: Any) -> None:
    described = convolution(kind, *arguments, **options.pop("geometry", {}))
    options.setdefault("tolerance", CONVOLUTION_TOLERANCES.get(io))
    case(f"{TITLES[kind]}{name}", *described, io=io, **options)


for _kind in TITLES:
    for _name, (_x, _w, _options) in GEOMETRIES.items():
        _case(_name, _kind, "float16", _x, _w, geometry=_options)
        _case(f"{_name}, float32", _kind, "float32", _x, _w, geometry=_options)
    for _name in ("", ", 3d", ", groups"):
        _x, _w, _options = GEOMETRIES[_name]
        _case(f"{_name}, bfloat16", _kind, "bfloat16", _x, _w, geometry=_options)
        _wide: dict[str, Any] = {"geometry": _options, "computation": "float64"}
        _case(f"{_name}, float64", _kind, "float64", _x, _w, **_wide)
        for _io in ("float16", "float32"):
            _packed = {**_options, "packed": True}
            _case(f"{_name}, packed as in C, {_io}", _kind, _io, _x, _w, geometry=_packed)

# Sums of int8 are exact.
for _name, _result in (("", "float32"), (" to int32", "int32")):
    _geometry = {"padding": 1, "result": _result}
    _exact: dict[str, Any] = {"computation": "int32", "tolerance": 0}
    _case(f", int8{_name}", "fprop", "int8", geometry=_geometry, **_exact)
# The tensor cores add products of fp8 with 14 bits of mantissa or so.
for _io in ("fp8_e4m3", "fp8_e5m2"):
    for _kind in TITLES:
        _case(f", {_io}", _kind, _io, geometry={"padding": 1, "result": "float16"}, tolerance=4e-3)
