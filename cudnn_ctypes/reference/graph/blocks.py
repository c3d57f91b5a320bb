"""Numbers in blocks that share a scale: the microscaling formats of the Open Compute Project.

A block of 16 or 32 neighbours along one dimension is stored in a type of 4 or 8 bits, and its scale
beside it, in a type of 8.
"""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike

from ..arithmetic import round_to
from ..tiles import Array

_POWER_OF_TWO = np.dtype(ml_dtypes.float8_e8m0fnu)


def block_axis(x_shape: Sequence[int], scale_shape: Sequence[int], size: int) -> int:
    """The last axis with one scale per `size` elements; the scales may be padded.

    Raises
    ------
    ValueError
        If there is no such axis.
    """
    for axis in reversed(range(len(x_shape))):
        if -(-x_shape[axis] // size) <= scale_shape[axis] < max(x_shape[axis], 2):
            return axis
    raise ValueError(
        f"scales {tuple(scale_shape)} have no axis with one for each block of {size} of "
        f"{tuple(x_shape)}"
    )


def quantize(
    x: Array, size: int, axis: int, dtype: DTypeLike, scale_dtype: DTypeLike
) -> tuple[Array, Array]:
    """The blocks of `x` divided by their scales, and the scales.

    The scale maps the largest magnitude of the block to the largest number of `dtype`. Scales that
    are powers of two are rounded up, so no element overflows; other scales to nearest.

    Returns
    -------
    y, scale
        Float64 arrays: y is not rounded yet, the scales have values of `scale_dtype`.
    """
    shape = (*x.shape[:axis], -1, size, *x.shape[axis + 1 :])
    blocks = x.reshape(shape)
    largest = float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
    wanted = np.abs(blocks).max(axis + 1) / largest
    if np.dtype(scale_dtype) == _POWER_OF_TWO:
        smallest = 2.0**-127
        scale = 2.0 ** np.ceil(np.log2(np.maximum(wanted, smallest)))
    else:
        scale = round_to(wanted, scale_dtype).astype(np.float64)
    divisor = np.expand_dims(np.where(scale == 0, 1, scale), axis + 1)
    return (blocks / divisor).reshape(x.shape), scale


def dequantize(x: Array, scale: Array, sizes: Sequence[int]) -> Array:
    """`x` times the scale of its block.

    Parameters
    ----------
    sizes
        Sizes of a block along the last dimensions, or along the one dimension with fewer scales.
    """
    if len(sizes) == 1:
        axis = block_axis(x.shape, scale.shape, sizes[0])
        scale = np.repeat(scale, sizes[0], axis)
    else:
        first = x.ndim - len(sizes)
        for axis, size in enumerate(sizes):
            scale = np.repeat(scale, size, first + axis)
    scaled: Array = x * scale[tuple(slice(0, size) for size in x.shape)]
    return scaled


def interleaved_scales(rows: int, columns: int) -> Array:
    """The offset of the scale of (row, column) in the layout F8_128x4, in elements.

    The scales are cut into tiles of 128 rows and 4 columns, 512 elements each, tiles of one row of
    tiles after each other. Within a tile row r lies at 16 * (r % 32) + 4 * (r // 32).
    """
    row, column = np.indices((rows, columns))
    tile = (row // 128) * -(-columns // 4) + column // 4
    within = 16 * (row % 32) + 4 * (row % 128 // 32) + column % 4
    places: Array = 512 * tile + within
    return places
