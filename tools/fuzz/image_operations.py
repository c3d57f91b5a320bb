"""Convolutions, statistics, normalizations and pooling; see `sketch`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .sketch import OPERATIONS, Given, Results, Sketch, Unfit, either, named, operation

# --- convolutions --------------------------------------------------------------------------------

_FILTERS = 32


@operation("conv_fprop")
def _conv_fprop(s: Sketch, image: Given = None, weight: Given = None) -> Results:
    if weight is not None:
        window = s.spatial(weight)
        image = s.new((4, s.of(weight)[1], *(max(16, size) for size in window)))
        return named(s.graph.conv_fprop(image, weight))
    image = s.first(image)
    window = tuple(min(3, size) for size in s.spatial(image))
    padding = [size // 2 for size in window]
    weight = s.new((_FILTERS, s.of(image)[1], *window))
    return named(s.graph.conv_fprop(image, weight, padding=padding))


@operation("conv_dgrad")
def _conv_dgrad(s: Sketch, loss: Given = None, filter: Given = None) -> Results:
    if filter is not None:
        window = s.spatial(filter)
        loss = s.new((4, s.of(filter)[0], *(16 for _ in window)))
        return named(s.graph.conv_dgrad(loss, filter))
    loss = s.first(loss)
    window = tuple(min(3, size) for size in s.spatial(loss))
    padding = [size // 2 for size in window]
    filter = s.new((s.of(loss)[1], _FILTERS, *window))
    return named(s.graph.conv_dgrad(loss, filter, padding=padding))


@operation("conv_wgrad")
def _conv_wgrad(s: Sketch, image: Given = None, loss: Given = None) -> Results:
    given = s.first(loss, image)
    n, _, *sizes = s.of(given)
    window = tuple(min(3, size) for size in s.spatial(given))
    other = s.new((n, _FILTERS, *sizes))
    x, dy = (other, given) if loss is not None else (given, other)
    dw = s.graph.conv_wgrad(x, dy, padding=[size // 2 for size in window])
    dw.set_output(False, dims=(s.of(dy)[1], s.of(x)[1], *window))
    return named(dw)


# --- statistics -----------------------------------------------------------------------------------


@operation("genstats")
def _genstats(s: Sketch, input: Given = None) -> Results:
    input = s.first(input)
    s.spatial(input)
    return named(s.graph.genstats(input), "sum", "sq_sum")


@operation("bn_finalize")
def _bn_finalize(
    s: Sketch, sum: Given = None, sq_sum: Given = None, scale: Given = None
) -> Results:
    given = either(sum, sq_sum, scale)
    dims = (1, s.dims[1], *(1,) * (len(s.dims) - 2)) if given is None else s.of(given)
    tensors = {
        name: s.new(dims, "float32") if each is None else each
        for name, each in (("sum", sum), ("sq_sum", sq_sum), ("scale", scale))
    }
    more = [s.new(dims, "float32") for _ in range(3)]
    results = s.graph.bn_finalize(*tensors.values(), more[0], 1e-5, 1024, more[1], more[2], 0.1)
    return named(results, "eq_scale", "eq_bias", "mean", "inv_variance", "next_mean", "next_var")


@operation("bn_backward_weights")
def _bn_backward_weights(
    s: Sketch, dy: Given = None, input: Given = None, mean: Given = None
) -> Results:
    if mean is not None:
        dims = (4, s.channels(mean)[1], *(16,) * (len(s.of(mean)) - 2))
        x, grad = s.new(dims), s.new(dims)
    else:
        given = s.first(dy, input)
        other = s.like(given)
        grad, x = (other, given) if input is not None else (given, other)
    few = [s.new(s.channels(x), "float32") for _ in range(2 if mean is not None else 3)]
    few = few if mean is None else [mean, *few]
    results = s.graph.bn_backward_weights(grad, x, *few)
    return named(results, "dscale", "dbias", "eq_dy_scale", "eq_x_scale", "eq_bias")


# --- pixels --------------------------------------------------------------------------------------

_POOLING: dict[str, Any] = {"window": 2, "stride": 2}
_DOUBLING: dict[str, Any] = {
    "window": 2,
    "stride": Fraction(1, 2),
    "pre_padding": Fraction(1, 2),
    "post_padding": 1,
}


def _resampling(mode: str, options: Mapping[str, Any]) -> None:
    def forward(s: Sketch, input: Given = None) -> Results:
        input = s.first(input)
        if min(s.spatial(input)) < 2:
            raise Unfit("too small")
        index = {"generate_index": True} if mode == "maxpool" else {}
        return named(s.graph.resample(input, mode, **options, **index), "y", "index")

    OPERATIONS[f"resample {mode}"] = forward


for _name in ("maxpool", "avgpool"):
    _resampling(_name, _POOLING)
_resampling("bilinear", _DOUBLING)


@operation("resample_backward maxpool")
def _maxpool_backward(s: Sketch, loss: Given = None, index: Given = None) -> Results:
    given = either(loss, index)
    dims = s.of(given) if given is not None else s.dims
    if len(dims) < 3:
        raise Unfit("no spatial dimensions")
    loss, index = (
        s.new(dims) if loss is None else loss,
        s.new(dims, "int8") if index is None else index,
    )
    dx = s.graph.resample_backward(loss, "maxpool", index=index, **_POOLING)
    dx.set_output(False, dims=(*dims[:2], *(2 * size for size in dims[2:])))
    return named(dx)


@operation("resample_backward avgpool")
def _avgpool_backward(
    s: Sketch, loss: Given = None, input: Given = None, y: Given = None
) -> Results:
    if input is not None:
        small = (*s.of(input)[:2], *(size // 2 for size in s.spatial(input)))
    else:
        given = either(loss, y)
        small = s.of(given) if given is not None else s.dims
    if len(small) < 3 or min(small) < 1:
        raise Unfit("too small")
    loss, y = s.new(small) if loss is None else loss, s.new(small) if y is None else y
    input = s.new((*small[:2], *(2 * size for size in small[2:]))) if input is None else input
    dx = s.graph.resample_backward(loss, "avgpool", input=input, y=y, **_POOLING)
    return named(dx)
