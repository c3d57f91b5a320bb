"""Layouts in memory: strides, and packing in the formats of `cudnnTensorFormat_t`.

A tensor is logically (N, C, spatial...). The offset of element (n, c, i...) in a flat buffer, in
elements, is n * strides[0] + c * strides[1] + i * strides[2] + ... The packed formats are

============  =====================================================================
NCHW          [n][c][h][w]: an image's channels one after the other
NHWC          [n][h][w][c]: all channels of a pixel together
NCHW_VECT_C   [n][c / V][h][w][c % V]: NCHW whose element is a vector of V channels
============  =====================================================================

with any number of spatial dimensions in the place of h and w. Filters (K, C, ...) are laid out
likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..raw.strides import layout_order, packed
from .tiles import Array

Format = Literal["NCHW", "NHWC", "NCHW_VECT_C"]


def packed_strides(dims: Sequence[int], layout: Format = "NCHW") -> tuple[int, ...]:
    """The strides of a packed tensor in elements, like `cudnnSetTensorNdDescriptorEx`.

    NCHW_VECT_C has none: one stride cannot describe a channel axis that is split in two.

    Examples
    --------
    >>> packed_strides((2, 3, 4, 5))
    (60, 20, 5, 1)
    >>> packed_strides((2, 3, 4, 5), "NHWC")
    (60, 1, 15, 3)
    """
    if layout not in ("NCHW", "NHWC"):
        raise ValueError(f"layout must be 'NCHW' or 'NHWC' to have strides, got {layout!r}")
    return packed(dims, layout_order(layout, len(dims)))


def view(buffer: Array, dims: Sequence[int], strides: Sequence[int] | None = None) -> Array:
    """The logical tensor in a flat buffer, without a copy: writing to it writes to the buffer.

    Parameters
    ----------
    buffer
        One-dimensional and contiguous; it may be longer than the tensor.
    dims
        (N, C, spatial...), each at least 1.
    strides
        In elements, as in a tensor descriptor; default: packed NCHW. A stride of 0 repeats an
        element, as broadcasting does.

    Raises
    ------
    ValueError
        If the buffer is not flat, too short for the last element, or an argument is malformed.
    """
    if buffer.ndim != 1 or not buffer.flags.c_contiguous:
        raise ValueError(
            f"buffer must be one-dimensional and contiguous, got shape {buffer.shape} "
            f"and strides {buffer.strides}"
        )
    if any(size < 1 for size in dims):
        raise ValueError(f"dims must be at least 1, got {tuple(dims)}")
    steps = packed_strides(dims) if strides is None else tuple(strides)
    if len(steps) != len(dims) or any(step < 0 for step in steps):
        raise ValueError(f"strides must be {len(dims)} ints of at least 0, got {steps}")
    span = 1 + sum((size - 1) * step for size, step in zip(dims, steps, strict=True))
    if span > buffer.size:
        raise ValueError(
            f"buffer must hold {span} elements for dims {tuple(dims)} and strides {steps}, "
            f"got {buffer.size}"
        )
    return as_strided(buffer, tuple(dims), tuple(step * buffer.itemsize for step in steps))


def pack(x: Array, layout: Format = "NCHW", *, vector: int = 4) -> Array:
    """The flat memory of the logical tensor `x` in a packed format; always a copy.

    Parameters
    ----------
    x
        (N, C, spatial...).
    vector
        Channels in a vector, for NCHW_VECT_C: 4 for INT8x4, 32 for INT8x32. It must divide C.
    """
    if layout == "NHWC":
        return np.moveaxis(x, 1, -1).flatten()
    if layout == "NCHW":
        return x.flatten()
    _vectors(x.shape, layout, vector)
    return split_vectors(x, vector).flatten()


def unpack(
    buffer: Array, dims: Sequence[int], layout: Format = "NCHW", *, vector: int = 4
) -> Array:
    """The logical tensor (N, C, spatial...) of a buffer from `pack`; for NCHW and NHWC a view.

    Parameters
    ----------
    buffer
        One-dimensional and contiguous; it may be longer than the tensor.
    dims
        (N, C, spatial...).
    vector
        See `pack`.
    """
    if layout in ("NCHW", "NHWC"):
        return view(buffer, dims, packed_strides(dims, layout))
    batch, vectors, *sizes = _vectors(dims, layout, vector)
    return joined_vectors(view(buffer, (batch, vectors, *sizes, vector)))


def split_vectors(x: Array, length: int, axis: int = 1) -> Array:
    """x, (N, C, spatial...), as (N, C / length, spatial..., length); `axis` is that of C."""
    if length == 1:
        return x
    before, channels, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    return np.moveaxis(x.reshape(*before, channels // length, length, *after), axis + 1, -1)


def joined_vectors(stored: Array, axis: int = 1) -> Array:
    """(N, C, spatial...) of (N, C / length, spatial..., length); `axis` is that of C."""
    split = np.moveaxis(stored, -1, axis + 1)
    return split.reshape(*split.shape[:axis], -1, *split.shape[axis + 2 :])


def _vectors(dims: Sequence[int], layout: str, vector: int) -> tuple[int, ...]:
    """`dims` with the channels counted in vectors, as the strides of cuDNN's descriptors count."""
    if layout != "NCHW_VECT_C":
        raise ValueError(f"layout must be 'NCHW', 'NHWC' or 'NCHW_VECT_C', got {layout!r}")
    if vector < 1 or dims[1] % vector:
        raise ValueError(f"vector must divide the {dims[1]} channels, got {vector}")
    return (dims[0], dims[1] // vector, *dims[2:])
