"""Names of layouts, and the strides of dense tensors in them.

Strides count elements; the vectorised types count vectors over (N, C / length, spatial...), as
``cudnnGetTensorNdDescriptor`` reports them.
"""

from __future__ import annotations

import functools
from typing import Any

from .enums import cudnnDataType_t, cudnnTensorFormat_t
from .strides import layout_order, packed

Shape = tuple[int, ...]

VECTOR_LENGTHS = {"NCHW": 1, "NHWC": 1, "NCHW_VECT_C4": 4, "NCHW_VECT_C32": 32}
"""The length of a vector of channels, by the layout's name."""

_OF_NUMPY = {
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "HALF": "float16",
    "BYTE_BOOLEAN": "bool",
    "COMPLEX_FP32": "complex64",
    "COMPLEX_FP64": "complex128",
}
DATA_TYPE_NAMES = {
    each: _OF_NUMPY.get(short := each.name.removeprefix("CUDNN_DATA_"), short.lower())
    for each in cudnnDataType_t
}
"""Data types by short lower-case names, NumPy's where it has one."""


def vector_length(data_type: cudnnDataType_t) -> int:
    """Consecutive channels in a vector: 4 or 32 for INT8x4 and INT8x32, else 1."""
    return int(data_type.name.partition("INT8x")[2] or 1)


def checked_layout(layout: Any, data_type: cudnnDataType_t) -> str:
    """The name of a layout: of `VECTOR_LENGTHS`.

    Raises ValueError if it is none.
    """
    length = vector_length(data_type)
    if layout is None:
        return "NCHW" if length == 1 else f"NCHW_VECT_C{length}"
    name = layout.upper().removeprefix("CUDNN_TENSOR_") if isinstance(layout, str) else layout
    if isinstance(layout, cudnnTensorFormat_t):
        name = layout.name.removeprefix("CUDNN_TENSOR_")
        if name == "NCHW_VECT_C":
            name += str(length)
    if not isinstance(name, str) or name not in VECTOR_LENGTHS:
        raise ValueError(f"layout: expected one of {', '.join(VECTOR_LENGTHS)}, got {layout!r}")
    return name


@functools.lru_cache(maxsize=1024)
def strides_for(shape: Shape, layout: Any, data_type: cudnnDataType_t) -> Shape:
    """The strides of a dense tensor of logical `shape` in `layout` (None: NCHW).

    Raises ValueError if the number of channels is no multiple of the vector length.
    """
    vectors = shape_of_vectors(shape, vector_length(data_type))
    channels_last = checked_layout(layout, data_type) == "NHWC"
    order = layout_order("NHWC" if channels_last else "NCHW", len(shape))
    return packed([max(size, 1) for size in vectors], order)


def shape_of_vectors(shape: Shape, length: int) -> Shape:
    """The shape in vectors of channels, which strides count.

    Raises ValueError if the number of channels is no multiple of the vector length.
    """
    if length == 1:
        return shape
    if len(shape) < 2 or shape[1] % length:
        raise ValueError(
            f"shape {shape}: vectors of {length} channels need a number of channels (the second "
            f"dimension) that is a multiple of {length}"
        )
    return (shape[0], shape[1] // length, *shape[2:])


@functools.lru_cache(maxsize=1024)
def fitting_layouts(shape: Shape, strides: Shape, data_type: cudnnDataType_t) -> tuple[str, ...]:
    """The layouts that these are the strides of, ignoring dimensions of size 1.

    Several fit where there is one channel or one pixel; that which all strides agree with is first.
    """
    length = vector_length(data_type)
    if length > 1 and (len(shape) < 2 or shape[1] % length):
        return ()
    vectors = shape_of_vectors(shape, length)
    names = [name for name, each in VECTOR_LENGTHS.items() if each == length]
    dense = {name: strides_for(shape, name, data_type) for name in names}
    fitting = [
        name
        for name in names
        if all(a == b or n <= 1 for a, b, n in zip(strides, dense[name], vectors, strict=True))
    ]
    return tuple(sorted(fitting, key=lambda name: dense[name] != strides))


def layout_name(
    shape: Shape, strides: Shape, data_type: cudnnDataType_t, prefer: str | None = None
) -> str | None:
    """The first of the `fitting_layouts`, or `prefer` if that is one of them; None without any."""
    names = fitting_layouts(shape, strides, data_type)
    return prefer if prefer in names else next(iter(names), None)
