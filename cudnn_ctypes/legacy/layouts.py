"""Layouts of tensors and filters as people name them, and as cuDNN does.

A layout is "NCHW" (channels second), "NHWC" (channels last), both for any number of spatial
dimensions; or "NCHW_VECT_C4" and "NCHW_VECT_C32", 8-bit integers in vectors of channels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import raw
from ..arguments import integer
from ..dtypes import as_data_type, vector_length
from ..raw.layouts import fitting_layouts
from ..raw.values import described
from ..runtime.layout import Shape, data_type_in_layout, to_shape

_FORMATS = {
    "NCHW": raw.CUDNN_TENSOR_NCHW,
    "NHWC": raw.CUDNN_TENSOR_NHWC,
    "NCHW_VECT_C": raw.CUDNN_TENSOR_NCHW_VECT_C,
    "NCHW_VECT_C4": raw.CUDNN_TENSOR_NCHW_VECT_C,
    "NCHW_VECT_C32": raw.CUDNN_TENSOR_NCHW_VECT_C,
}

_SWAPPED = "; are layout and data type swapped?"


def as_format(layout: Any) -> raw.cudnnTensorFormat_t:
    """The enumerator of a layout given by name, or as the enumerator itself.

    Raises TypeError or ValueError if `layout` is neither.
    """
    if isinstance(layout, raw.cudnnTensorFormat_t):
        return layout
    name = layout.upper().removeprefix("CUDNN_TENSOR_") if isinstance(layout, str) else ""
    if name in _FORMATS:
        return _FORMATS[name]
    cls = ValueError if isinstance(layout, str) else TypeError
    raise cls(
        f"layout: expected a cudnnTensorFormat_t or one of {', '.join(_FORMATS)}, got {layout!r}"
        f"{_SWAPPED if _is_data_type(layout) else ''}"
    )


def as_type(data_type: Any, name: str = "data_type") -> raw.cudnnDataType_t:
    """`as_data_type`, with a word on layouts that were given in place of a data type."""
    if isinstance(data_type, raw.cudnnDataType_t):
        return data_type
    if isinstance(data_type, raw.cudnnTensorFormat_t) or str(data_type).upper() in _FORMATS:
        raise TypeError(f"{name}: expected a data type, got {data_type!r}{_SWAPPED}")
    return as_data_type(data_type)


def _is_data_type(value: Any) -> bool:
    try:
        as_data_type(value)
    except TypeError:
        return False
    return True


def format_and_type(
    layout: Any, data_type: Any
) -> tuple[raw.cudnnTensorFormat_t, raw.cudnnDataType_t]:
    """The enumerators of a layout and a data type that go together.

    int8 in "NCHW_VECT_C4" becomes INT8x4. Without a layout, vectorised types are in vectors and the
    others NCHW.

    Raises TypeError or ValueError if they do not go together, or are swapped.
    """
    data_type = as_type(data_type)
    if layout is None:
        layout = "NCHW" if vector_length(data_type) == 1 else "NCHW_VECT_C"
    tensor_format = as_format(layout)
    if tensor_format == raw.CUDNN_TENSOR_NCHW_VECT_C:
        name = layout.upper() if isinstance(layout, str) else ""
        wanted = name if name.endswith(("C4", "C32")) else raw.CUDNN_TENSOR_NCHW_VECT_C
        if wanted is raw.CUDNN_TENSOR_NCHW_VECT_C and vector_length(data_type) == 1:
            raise ValueError(
                f"layout: NCHW_VECT_C needs a vectorised data type, such as 'int8x4' or 'int8x32', "
                f"got {data_type.name}"
            )
        return tensor_format, data_type_in_layout(data_type, wanted)
    return tensor_format, data_type_in_layout(data_type, tensor_format)


def with_unit_dimensions(tensor: Any, ndim: int) -> tuple[Shape, Shape]:
    """Shape and strides with dimensions of size 1 after (N, C), `ndim` of them at least."""
    check_tensor("tensor", tensor, "strides", "data_type")
    shape, strides = tensor.shape, tensor.strides
    missing = integer("min_dims", ndim) - len(shape)
    if missing <= 0 or len(shape) < 2:
        return shape, strides
    # A step to the next row would go over all of the spatial dimensions that there are.
    step = strides[2] * shape[2] if len(shape) > 2 else 1
    return (
        (*shape[:2], *(1,) * missing, *shape[2:]),
        (*strides[:2], *(step,) * missing, *strides[2:]),
    )


def check_tensor(name: str, tensor: Any, *attributes: str) -> None:
    """Refuse what has no shape, or lacks another attribute.

    Raises TypeError.
    """
    if isinstance(tensor, type) or not all(
        hasattr(tensor, each) for each in ("shape", *attributes)
    ):
        raise TypeError(f"{name}: expected a tensor, got {described(tensor)}")


def common_layout(operands: Iterable[Any]) -> str | None:
    """The layout of tensors and filters: that of the first whose strides fit one layout only.

    - `operands`: tensors, descriptors of tensors and filters, and None, which is skipped.

    Without such a tensor it is the first layout that fits the first one; None if none fits any.
    """
    fitting = [names for each in operands if (names := _layouts_of(each))]
    decided = [names[0] for names in fitting if len(names) == 1]
    return decided[0] if decided else fitting[0][0] if fitting else None


def _layouts_of(operand: Any) -> tuple[str, ...]:
    if operand is None or len(operand.shape) < 3:
        return ()
    strides = getattr(operand, "strides", None)
    if strides is None:  # filters
        return (operand.layout,)
    return fitting_layouts(operand.shape, strides, operand.data_type)


def spatial_entries(
    options: Mapping[str, int | Sequence[int]], height: Mapping[str, int]
) -> list[tuple[int, ...]]:
    """Each option with one entry for every spatial dimension, of which there are at least 2.

    - `options`: by name; an int stands for all spatial dimensions, which are 2 if only ints are
      given.
    - `height`: by name, the entry for the height of 1 that is added to 1 spatial dimension.

    Raises ValueError if the numbers of entries differ.
    """
    entries = {
        name: to_shape(value, name) if _is_sequence(value) else integer(name, value)
        for name, value in options.items()
    }
    lengths = {name: len(each) for name, each in entries.items() if isinstance(each, tuple)}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        counts = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"one entry is needed for each spatial dimension, but {counts}")
    ndim = next(iter(lengths.values()), 2)
    if ndim == 1:
        return [(height[name], *_each(entry, 1)) for name, entry in entries.items()]
    return [_each(entry, ndim) for entry in entries.values()]


def _is_sequence(value: Any) -> bool:
    return hasattr(value, "__iter__") and getattr(value, "ndim", 1) != 0


def _each(entry: int | tuple[int, ...], ndim: int) -> tuple[int, ...]:
    return entry if isinstance(entry, tuple) else (entry,) * ndim
