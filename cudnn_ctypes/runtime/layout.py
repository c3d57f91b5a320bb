"""How a tensor with logical shape (N, C, spatial...) lies in memory, in plain NumPy.

Strides count elements; the vectorised types count vectors over (N, C / length, spatial...), as
``cudnnGetTensorNdDescriptor`` reports them. Types of less than a byte are packed, the
first element in the lowest bits.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.arguments import integers
from cudnn_ctypes.dtypes import element_bits, numpy_dtype, storage_bytes, vector_length, vectorized
from cudnn_ctypes.raw.enums import cudnnDataType_t, cudnnTensorFormat_t
from cudnn_ctypes.raw.strides import extent, in_elements, layout_order, overlapping, packed

Shape = tuple[int, ...]

# Layout names to the length of a vector of channels.
_VECTOR_LENGTHS = {"NCHW": 1, "NHWC": 1, "NCHW_VECT_C4": 4, "NCHW_VECT_C32": 32}


def to_shape(shape: Any, name: str = "shape") -> Shape:
    """`shape`, an int or a sequence of ints, as a tuple.

    Raises TypeError or ValueError if an entry is no int, or negative.
    """
    result = integers(name, shape if hasattr(shape, "__iter__") else (shape,))
    if min(result, default=0) < 0:
        raise ValueError(f"{name}: negative entry in {result}")
    return result


def data_type_in_layout(data_type: cudnnDataType_t, layout: Any) -> cudnnDataType_t:
    """`data_type`, or the vectorised one where `layout` asks for vectors: int8 to INT8x4.

    - `layout`: names in any case. The first two stand for channels second and channels last with
      any number of spatial dimensions. ``CUDNN_TENSOR_NCHW_VECT_C`` needs a vectorised `data_type`
      already.
    """
    wanted = _VECTOR_LENGTHS[_checked_layout(layout, data_type)]
    present = vector_length(data_type)
    if layout is None or wanted == present:
        return data_type
    if present != 1:
        raise ValueError(f"layout={layout!r} does not go with {data_type.name}")
    return vectorized(data_type, wanted)


def _checked_layout(layout: Any, data_type: cudnnDataType_t) -> str:
    length = vector_length(data_type)
    if layout is None:
        return "NCHW" if length == 1 else f"NCHW_VECT_C{length}"
    name = layout.upper().removeprefix("CUDNN_TENSOR_") if isinstance(layout, str) else layout
    if isinstance(layout, cudnnTensorFormat_t):
        name = layout.name.removeprefix("CUDNN_TENSOR_")
        if name == "NCHW_VECT_C":
            name += str(length)
    if not isinstance(name, str) or name not in _VECTOR_LENGTHS:
        raise ValueError(f"layout: expected one of {', '.join(_VECTOR_LENGTHS)}, got {layout!r}")
    return name


@functools.lru_cache(maxsize=1024)
def strides_for(shape: Shape, layout: Any, data_type: cudnnDataType_t) -> Shape:
    """The strides of a dense tensor of logical `shape` in `layout` (None: NCHW).

    Raises ValueError if the number of channels is no multiple of the vector length.
    """
    vectors = _shape_of_vectors(shape, vector_length(data_type))
    channels_last = _checked_layout(layout, data_type) == "NHWC"
    order = layout_order("NHWC" if channels_last else "NCHW", len(shape))
    return packed([max(size, 1) for size in vectors], order)


def _shape_of_vectors(shape: Shape, length: int) -> Shape:
    if length == 1:
        return shape
    if len(shape) < 2 or shape[1] % length:
        raise ValueError(
            f"shape {shape}: vectors of {length} channels need a number of channels (the second "
            f"dimension) that is a multiple of {length}"
        )
    return (shape[0], shape[1] // length, *shape[2:])


def memory_form(shape: Shape, strides: Shape, data_type: cudnnDataType_t) -> tuple[Shape, Shape]:
    """Shape and strides in single elements: vectors become a last dimension of stride 1."""
    length = vector_length(data_type)
    _shape_of_vectors(shape, length)
    return in_elements(shape, strides, length)


def check_strides(shape: Shape, strides: Shape) -> None:
    """Refuse strides that do not belong to `shape`, or let elements share memory.

    Raises ValueError.
    """
    if len(strides) != len(shape):
        raise ValueError(f"strides {strides} and shape {shape} differ in length")
    if overlapping(shape, strides):
        raise ValueError(f"strides {strides} let elements of shape {shape} overlap")


@functools.lru_cache(maxsize=1024)
def fitting_layouts(shape: Shape, strides: Shape, data_type: cudnnDataType_t) -> tuple[str, ...]:
    """The layouts that these are the strides of, ignoring dimensions of size 1.

    Several fit where there is one channel or one pixel; that which all strides agree with is first.
    """
    length = vector_length(data_type)
    if length > 1 and (len(shape) < 2 or shape[1] % length):
        return ()
    vectors = _shape_of_vectors(shape, length)
    names = [name for name, each in _VECTOR_LENGTHS.items() if each == length]
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


def to_storage(
    array: NDArray[Any],
    strides: Shape,
    data_type: cudnnDataType_t,
    *,
    into: NDArray[np.uint8] | None = None,
) -> NDArray[np.uint8]:
    """The bytes of `array` (logical shape) in memory order.

    Gaps between elements are zero, or keep what they are in the bytes `into`.
    """
    length = vector_length(data_type)
    shape, steps = memory_form(array.shape, strides, data_type)
    if length > 1:
        split = array.reshape(shape[0], shape[1], length, *shape[2:-1])
        array = np.moveaxis(split, 2, -1)
    count = extent(shape, steps)
    if into is None:
        elements = np.zeros(count, array.dtype)
    else:
        elements = _unpack(into, count, data_type)
    _strided(elements, shape, steps)[...] = array
    return _pack(elements, data_type)


def from_storage(
    data: NDArray[np.uint8], shape: Shape, strides: Shape, data_type: cudnnDataType_t
) -> NDArray[Any]:
    """The array of logical `shape`, in C order, whose bytes in memory are `data`."""
    form, steps = memory_form(shape, strides, data_type)
    array = _strided(_unpack(data, extent(form, steps), data_type), form, steps)
    if vector_length(data_type) > 1:
        array = np.moveaxis(array, -1, 2)
    return np.ascontiguousarray(array).reshape(shape)


def _strided(elements: NDArray[Any], shape: Shape, strides: Shape) -> NDArray[Any]:
    if math.prod(shape) == 0:
        return elements.reshape(shape)
    # as_strided goes through a type string, which not every ml_dtypes type has.
    steps = [elements.itemsize * stride for stride in strides]
    return np.ndarray(shape, elements.dtype, elements.view(np.uint8), 0, steps)


def _pack(elements: NDArray[Any], data_type: cudnnDataType_t) -> NDArray[np.uint8]:
    raw = elements.view(np.uint8)
    bits = element_bits(data_type)
    if bits == 1:
        return np.packbits(raw, bitorder="little")
    if bits == 4:
        pairs = np.zeros((len(raw) + 1) // 2 * 2, np.uint8)
        pairs[: len(raw)] = raw & 15
        pairs[1::2] <<= 4
        return pairs[0::2] | pairs[1::2]
    return raw


def _unpack(data: NDArray[np.uint8], count: int, data_type: cudnnDataType_t) -> NDArray[Any]:
    bits = element_bits(data_type)
    data = data[: storage_bytes(data_type, count)]
    if bits == 1:
        data = np.unpackbits(data, count=count, bitorder="little")
    elif bits == 4:
        data = np.stack([data & 15, data >> 4], axis=1).reshape(-1)[:count]
    return data.view(numpy_dtype(data_type))
