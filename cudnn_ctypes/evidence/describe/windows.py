"""Descriptions of convolutions and poolings: the computation of the output's size, the window."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ...raw.descriptors import Convolution, Pooling, Tensor, record
from ...raw.enums import CUDNN_DATA_FLOAT
from ...raw.operand_rules import Operand
from ...raw.operand_rules.convolutions import convolution_output, fitting
from ..pictures.window import Window, window
from .description import Description, Section
from .words import counted, name_of

__all__ = ["convolution_words", "pooling_words"]

Ints = tuple[int, ...]

_NAMES = {1: ("width",), 2: ("height", "width"), 3: ("depth", "height", "width")}
_MODES = {
    "cross_correlation": "the filter is laid on the image as it is, as deep learning does",
    "convolution": "the filter is flipped before it is laid on the image, as mathematics does",
}
_MATH = {
    "default_math": "TF32 may be used for float32 on GPUs that have it",
    "tensor_op_math": "tensor cores may be used",
    "tensor_op_math_allow_conversion": "float32 may be rounded down to use tensor cores",
    "fma_math": "tensor cores are not used",
}
_POOLING = {
    "max": "the largest element of the window",
    "average_count_include_padding": "the sum of the window divided by all its places",
    "average_count_exclude_padding": "the sum divided by the places that lie on the image",
    "max_deterministic": "the largest element, with gradients that repeat bit for bit",
}


def _names(ndim: int) -> Sequence[str]:
    return _NAMES.get(ndim, [f"spatial dimension {axis}" for axis in range(ndim)])


def shape_of(operand: Any) -> Ints | None:
    """The shape of a tensor, a descriptor, or of ints; None for None."""
    if operand is None:
        return None
    shape = getattr(operand, "shape", None)
    if shape is None and hasattr(operand, "_type_"):
        shape = getattr(record(operand), "shape", None)
    shape = operand if shape is None else shape
    try:
        return tuple(int(size) for size in shape)
    except TypeError as error:
        raise TypeError(f"expected a tensor, a descriptor or a shape, got {operand!r}") from error


# --- convolutions --------------------------------------------------------------------------------


def convolution_words(name: str, conv: Convolution, x: Any = None, w: Any = None) -> Description:
    """The description of a convolution; default: an example's `x` and `w`."""
    x_shape, w_shape = shape_of(x), shape_of(w)
    example = x_shape is None or w_shape is None
    ndim = len(conv.padding)
    if w_shape is None:
        channels = conv.groups if x_shape is None else x_shape[1]
        w_shape = (conv.groups, max(channels // conv.groups, 1), *(3,) * ndim)
    if x_shape is None:
        reach = [(s - 1) * d + 1 for s, d in zip(w_shape[2:], conv.dilation, strict=False)]
        sizes = [max(r - 2 * p, 1) + 5 for r, p in zip(reach, conv.padding, strict=False)]
        x_shape = (1, w_shape[1] * conv.groups, *sizes)
    image, filters = (
        Operand(name, Tensor(CUDNN_DATA_FLOAT, shape, ()))
        for name, shape in (("x", x_shape), ("w", w_shape))
    )
    misfit = next(map(str, fitting(image, filters, conv)), "")
    sections = [Section(lines=tuple(_convolution_lines(conv)))]
    if misfit:
        lines = (*_formula(), misfit)
        return Description(_title(name, conv), (*sections, Section("Size of the output", lines)))
    y_shape = convolution_output(x_shape, w_shape, conv)
    sections.append(Section(*_output_size(conv, x_shape, w_shape, y_shape, example)))
    drawn = _window(name, conv, x_shape, w_shape, y_shape) if ndim < 4 else None
    picture = None if drawn is None else functools.partial(window, drawn)
    return Description(_title(name, conv), tuple(sections), picture)


def _title(name: str, conv: Convolution) -> str:
    dims = counted(len(conv.padding), "spatial dimension")
    return f"{name}: how filters move over an image of {dims}"


def _convolution_lines(conv: Convolution) -> list[str]:
    mode, math = name_of(conv.mode), name_of(conv.math_type)
    lines = [
        f"padding {conv.padding}: so many zeros are added on each side along "
        f"{', '.join(_names(len(conv.padding)))}",
        f"stride {conv.stride}: the filter moves on by so many elements from one output to the "
        f"next",
        f"dilation {conv.dilation}: taps of the filter that are neighbours lie so far apart on the "
        f"image",
        f"groups {conv.groups}: "
        + (
            "every filter sees all channels"
            if conv.groups == 1
            else f"channels and filters are split into {conv.groups}, and each group of filters "
            f"sees its own channels"
        ),
        f"mode {mode}: {_MODES.get(mode, 'not known')}",
        f"compute data type {name_of(conv.compute_data_type)}: products are summed in it",
        f"math type {math}: {_MATH.get(math, 'not known')}",
    ]
    if name_of(conv.reorder_type) != "default_reorder":
        lines.append(f"reorder type {name_of(conv.reorder_type)}: filters are in order already")
    return lines


def _formula() -> tuple[str, ...]:
    return (
        "reach = (w - 1) * dilation + 1",
        "y = floor((x + 2 * padding - reach) / stride) + 1",
    )


def _output_size(
    conv: Convolution, x_shape: Ints, w_shape: Ints, y_shape: Ints, example: bool
) -> tuple[str, tuple[str, ...]]:
    lines = [*_formula()]
    for axis, name in enumerate(_names(len(conv.padding))):
        x, w, y = x_shape[axis + 2], w_shape[axis + 2], y_shape[axis + 2]
        pad, stride, step = (
            conv.padding[axis],
            conv.stride[axis],
            conv.dilation[axis],
        )
        reach = (w - 1) * step + 1
        lines.append(
            f"{name}: reach = ({w} - 1) * {step} + 1 = {reach}, y = floor(({x} + 2 * {pad} - "
            f"{reach}) / {stride}) + 1 = floor({x + 2 * pad - reach} / {stride}) + 1 = {y}"
        )
    lines.append(f"x {x_shape} and w {w_shape} give y {y_shape}")
    products = w_shape[1]
    for size in (*y_shape, *w_shape[2:]):
        products *= size
    lines.append(f"computed directly, that is {counted(products, 'multiplication')}")
    title = "Size of the output, for example" if example else "Size of the output"
    return title, tuple(lines)


def _pair(values: Sequence[int], default: int) -> tuple[int, int]:
    """The last two entries, or the default and the only entry."""
    last = (default, *values)[-2:] if len(values) == 1 else tuple(values[-2:])
    return last[0], last[1]


def _window(name: str, conv: Convolution, x: Ints, w: Ints, y: Ints) -> Window:
    stride, padding, dilation = conv.stride, conv.padding, conv.dilation
    size = " x ".join(map(str, w[2:]))
    title = f"{name}: a {size} filter over {' x '.join(map(str, x[2:]))}"
    flipped = name_of(conv.mode) == "convolution"
    notes = (
        f"padding {padding}, stride {stride}, dilation {dilation}"
        + (", filter flipped" if flipped else ""),
        "" if len(padding) < 3 else "of the 3 spatial dimensions, the last two are drawn",
    )
    return Window(
        title,
        tuple(filter(None, notes)),
        _pair(x[2:], 1),
        _pair(w[2:], 1),
        _pair(padding, 0),
        _pair(stride, 1),
        _pair(dilation, 1),
        _pair(y[2:], 1),
        flipped=flipped,
    )


# --- poolings ------------------------------------------------------------------------------------


def pooling_words(name: str, pooling: Pooling, x: Any = None) -> Description:
    """The description of a pooling; default: an example's `x`."""
    ndim = len(pooling.window)
    shape = shape_of(x)
    example = shape is None
    if shape is None:
        sizes = [
            max(w - 2 * p, 1) + 2 * s
            for w, p, s in zip(pooling.window, pooling.padding, pooling.stride, strict=True)
        ]
        shape = (1, 1, *sizes)
    mode, nan = name_of(pooling.mode), name_of(pooling.nan_propagation)
    facts = Section(
        lines=(
            f"window {pooling.window}: so many elements count for each output",
            f"padding {pooling.padding} on each side, stride {pooling.stride}",
            f"mode {mode}: {_POOLING.get(mode, 'not known')}",
            f"NaN: {nan}",
        )
    )
    title = f"{name}: a window that moves over {counted(ndim, 'spatial dimension')}"
    if len(shape) != ndim + 2:
        problem = f"x {shape} has not {ndim + 2} dimensions"
        return Description(title, (facts, Section("Size of the output", (problem,))))
    sizes = [
        (x + 2 * p - w) // s + 1
        for x, w, p, s in zip(
            shape[2:], pooling.window, pooling.padding, pooling.stride, strict=True
        )
    ]
    lines = ["y = floor((x + 2 * padding - window) / stride) + 1"]
    for axis, label in enumerate(_names(ndim)):
        lines.append(
            f"{label}: floor(({shape[axis + 2]} + 2 * {pooling.padding[axis]} - "
            f"{pooling.window[axis]}) / {pooling.stride[axis]}) + 1 = {sizes[axis]}"
        )
    if min(sizes) < 1:
        lines.append("the window is larger than the padded image: there is no output")
    else:
        lines.append(f"x {shape} gives y {(*shape[:2], *sizes)}")
    heading = f"Size of the output{', for example' if example else ''}"
    drawn = _pooling_window(name, pooling, shape, sizes) if min(sizes) > 0 and ndim < 4 else None
    picture = None if drawn is None else functools.partial(window, drawn)
    return Description(title, (facts, Section(heading, tuple(lines))), picture)


def _pooling_window(name: str, pooling: Pooling, x: Ints, sizes: Sequence[int]) -> Window | None:
    if min(pooling.padding) < 0:
        return None
    largest = name_of(pooling.mode).startswith("max")
    return Window(
        f"{name}: a {' x '.join(map(str, pooling.window))} window over "
        f"{' x '.join(map(str, x[2:]))}",
        (f"{name_of(pooling.mode)}, padding {pooling.padding}, stride {pooling.stride}",),
        _pair(x[2:], 1),
        _pair(pooling.window, 1),
        _pair(pooling.padding, 0),
        _pair(pooling.stride, 1),
        (1, 1),
        _pair(sizes, 1),
        fill="-" if largest or "exclude" in name_of(pooling.mode) else "0",
        filtered=False,
    )
