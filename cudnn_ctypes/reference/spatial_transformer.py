"""The two halves of a spatial transformer: a grid of sampling points, and sampling, in NumPy.

Coordinates along a side run from -1 at the center of the first pixel to 1 at the center of the
last one; the only pixel of a side is its first (measured, cuDNN 9.14 and 9.19; PyTorch has it in
the middle, at 0). The grid generator moves the pixels of the output by an affine map, one for each
image::

    grid[n, i, j]  =  theta[n] @ (u[j], v[i], 1)
    u, v           =  linspace(-1, 1, W), linspace(-1, 1, H)

so grid[n, i, j] = (horizontal, vertical) is the sampling point of output pixel (i, j) of image n.
The sampler interpolates the input between the four pixels around that point::

    y[n, c, i, j]  =  sum over rows r, columns q of
                      x[n, c, r, q] * max(0, 1 - |q - px|) * max(0, 1 - |r - py|)
    px, py         =  (grid[n, i, j] + 1) / 2 * (size - 1)

where pixels outside of the input count as zero. Both are linear, the sampler in x: dtheta and dx
are the same sums read the other way. dgrid follows from ``d max(0, 1 - |q - px|) / dpx``, -1
on the left pixel and 1 on the right one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from .arithmetic import Output, computing, round_to, stored
from .tiles import Array

if TYPE_CHECKING:
    from typing_extensions import Unpack


def spatial_tf_grid_generator_forward(
    theta: Array,
    size: Sequence[int],
    *,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
) -> Array:
    """The sampling points of affine maps: `cudnnSpatialTfGridGeneratorForward`.

    Parameters
    ----------
    theta
        (N, 2, 3).
    size
        (H, W) of the output.
    compute_dtype
        float32 or float64.
    out_dtype
        Default: the dtype of theta.

    Returns
    -------
    ndarray
        (N, H, W, 2): horizontal and vertical coordinate.

    Raises
    ------
    ValueError
        If theta is not (N, 2, 3) or the size not two numbers.
    """
    if theta.ndim != 3 or theta.shape[1:] != (2, 3):
        raise ValueError(f"theta must have shape (N, 2, 3), got {theta.shape}")
    points = _pixel_coordinates(size, compute_dtype)
    grid = np.einsum("nab,ijb->nija", theta.astype(compute_dtype), points)
    return round_to(grid, out_dtype or theta.dtype)


def spatial_tf_grid_generator_backward(
    *, dgrid: Array, compute_dtype: DTypeLike = np.float64, out_dtype: DTypeLike | None = None
) -> Array:
    """dtheta, (N, 2, 3), from dgrid, (N, H, W, 2): `cudnnSpatialTfGridGeneratorBackward`.

    Raises
    ------
    ValueError
        If dgrid is not (N, H, W, 2).
    """
    _check_grid("dgrid", dgrid)
    points = _pixel_coordinates(dgrid.shape[1:3], compute_dtype)
    dtheta = np.einsum("nija,ijb->nab", dgrid.astype(compute_dtype), points)
    return round_to(dtheta, out_dtype or dgrid.dtype)


def spatial_tf_sampler_forward(
    x: Array,
    grid: Array,
    *,
    y: Array | None = None,
    **output: Unpack[Output],
) -> Array:
    """y = alpha * sampled(x) + beta * y: `cudnnSpatialTfSamplerForward`.

    Parameters
    ----------
    x
        (N, C, height, width).
    grid
        (N, H, W, 2): horizontal and vertical coordinate of each output pixel in x.
    y, **output
        What the output (N, C, H, W) held, and `Output`.

    Raises
    ------
    ValueError
        If shapes do not fit together; the message names the argument.
    """
    _check_operands(x, grid)
    values = x.astype(computing(output))
    result = np.zeros((*x.shape[:2], *grid.shape[1:3]), values.dtype)
    images = np.arange(len(x))[:, None, None]
    for row, column, weight, _ in _corners(grid.astype(values.dtype), x.shape[2:]):
        # Index arrays on both sides of a slice put their own axes first: (N, H, W, C).
        pixels = values[images, :, row, column]
        result += np.moveaxis(pixels * weight[..., None], -1, 1)
    return stored("y", result, y, x.dtype, output)


def spatial_tf_sampler_backward(
    *,
    x: Array,
    dy: Array,
    grid: Array,
    dx: Array | None = None,
    alpha_dgrid: float = 1.0,
    beta_dgrid: float = 0.0,
    dgrid: Array | None = None,
    **output: Unpack[Output],
) -> tuple[Array, Array]:
    """(dx, dgrid), each alpha * gradient + beta * prior: `cudnnSpatialTfSamplerBackward`.

    Parameters
    ----------
    x
        (N, C, height, width).
    dy
        (N, C, H, W): the gradient of the loss by y.
    grid
        (N, H, W, 2).
    dx, dgrid, **output
        What the outputs held, and `Output`.
    alpha_dgrid, beta_dgrid
        Factors of the gradient by the grid, and of what dgrid held.

    The errors are those of `spatial_tf_sampler_forward`.
    """
    _check_operands(x, grid)
    if dy.shape != (*x.shape[:2], *grid.shape[1:3]):
        raise ValueError(f"dy must have shape {(*x.shape[:2], *grid.shape[1:3])}, got {dy.shape}")
    values = x.astype(computing(output))
    gradient = np.moveaxis(dy.astype(values.dtype), 1, -1)  # (N, H, W, C)
    by_x = np.zeros_like(values)
    by_grid = np.zeros(grid.shape, values.dtype)
    images = np.arange(len(x))[:, None, None]
    for row, column, weight, slopes in _corners(grid.astype(values.dtype), x.shape[2:]):
        # add.at, since several output pixels may read the same input pixel.
        place: Any = (images, slice(None), row, column)
        np.add.at(by_x, place, gradient * weight[..., None])
        pixels = values[place]
        by_grid += slopes * (gradient * pixels).sum(axis=-1, keepdims=True)
    by_points: Output = {**output, "alpha": alpha_dgrid, "beta": beta_dgrid}
    return (
        stored("dx", by_x, dx, x.dtype, output),
        stored("dgrid", by_grid, dgrid, x.dtype, by_points),
    )


def _pixel_coordinates(size: Sequence[int], dtype: DTypeLike) -> Array:
    """(H, W, 3): u, v and 1 for every output pixel. A side of one pixel has coordinate -1."""
    if len(size) != 2:
        raise ValueError(f"size must be (H, W), got {tuple(size)}")
    v, u = (np.linspace(-1, 1, n) for n in size)
    points = np.ones((len(v), len(u), 3), dtype)
    points[..., 0], points[..., 1] = u, v[:, None]
    return points


def _corners(grid: Array, sizes: Sequence[int]) -> Iterator[tuple[Array, Array, Array, Array]]:
    """The four pixels around every sampling point: rows, columns, weights, d weights / d grid.

    Rows, columns and weights are (N, H, W), the slopes (N, H, W, 2). Pixels outside have a weight
    and slopes of 0, and an index inside.
    """
    scale = (np.array([sizes[1], sizes[0]], grid.dtype) - 1) / 2  # pixels per unit of x and y
    position = (grid + 1) * scale
    first = np.floor(position)
    for down in (0, 1):
        for right in (0, 1):
            corner = first + np.array([right, down], grid.dtype)
            inside = ((corner >= 0) & (corner <= 2 * scale)).all(axis=-1)
            weights = 1 - np.abs(position - corner)
            column, row = np.moveaxis(np.where(inside[..., None], corner, 0).astype(int), -1, 0)
            slope_x = (2 * right - 1) * scale[0] * weights[..., 1]
            slope_y = (2 * down - 1) * scale[1] * weights[..., 0]
            slopes = np.stack([slope_x, slope_y], axis=-1) * inside[..., None]
            yield row, column, weights.prod(axis=-1) * inside, slopes


def _check_grid(name: str, grid: Array) -> None:
    if grid.ndim != 4 or grid.shape[3] != 2:
        raise ValueError(f"{name} must have shape (N, H, W, 2), got {grid.shape}")


def _check_operands(x: Array, grid: Array) -> None:
    if x.ndim != 4:
        raise ValueError(f"x must be (N, C, height, width), got shape {x.shape}")
    _check_grid("grid", grid)
    if len(grid) != len(x):
        raise ValueError(f"grid must be for the {len(x)} images of x, got shape {grid.shape}")
