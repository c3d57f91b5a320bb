"""Pooling in plain NumPy: `cudnnPoolingForward` and `cudnnPoolingBackward`.

A window slides over the image as a convolution's filter does. Output element i of a dimension sees
the elements i * stride - padding ... i * stride - padding + window - 1 of the image; those that do
not exist are padding.

=============================  ============================================================
mode                           y
=============================  ============================================================
max, max_deterministic         the largest element; padding does not count
average_count_include_padding  the sum of the elements / the number of places in the window
average_count_exclude_padding  the sum of the elements / the number of elements
=============================  ============================================================

Places beyond the padding at the end, where a larger y lets windows reach, do not count.

Backwards, an average gives each of its elements an equal part of dy, and a maximum gives all of dy
to the first element, in row-major order, that attains it. Mode max_deterministic gives nothing to
elements of -inf; on a GPU max does so too unless x and y are images packed NCHW. NaN is the largest
element if it propagates, else it does not count (H200, 9.14 and 9.19).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import ml_dtypes
import numpy as np

from .arithmetic import Output, computed
from .tiles import Array
from .windows import Windows

if TYPE_CHECKING:
    from typing_extensions import Unpack

PoolingMode = Literal[
    "max", "average_count_include_padding", "average_count_exclude_padding", "max_deterministic"
]


def pooling_output_shape(
    x_shape: Sequence[int],
    window: Sequence[int],
    *,
    padding: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The shape (N, C, Y...) of y, as `cudnnGetPoolingNdForwardOutputDim` computes it.

    Y = floor((size + 2 padding - window) / stride) + 1 in every spatial dimension.

    Parameters
    ----------
    x_shape
        (N, C, spatial sizes...).
    window, padding, stride
        One int for each spatial dimension; default: padding 0 and stride 1. Negative padding crops
        the image.

    Raises
    ------
    ValueError
        If the lengths differ, a value is out of range, or the window does not fit the padded image.

    Examples
    --------
    >>> pooling_output_shape((1, 64, 112, 112), (3, 3), padding=(1, 1), stride=(2, 2))
    (1, 64, 56, 56)
    """
    return Windows.of(x_shape, window, padding, stride, None).y_shape


def pooling_forward(
    x: Array,
    window: Sequence[int],
    *,
    mode: PoolingMode = "max",
    padding: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
    propagate_nan: bool = True,
    y_shape: Sequence[int] | None = None,
    y: Array | None = None,
    **output: Unpack[Output],
) -> Array:
    """y = alpha * pool(x) + beta * y: `cudnnPoolingForward`.

    Parameters
    ----------
    x
        (N, C, spatial sizes...).
    window, padding, stride
        One int for each spatial dimension; default: padding 0 and stride 1. Negative padding crops
        the image.
    propagate_nan
        Whether the maximum of elements with a NaN is NaN; else NaN is ignored. Averages always
        propagate NaN.
    y_shape
        (N, C, output sizes...) if not that of `pooling_output_shape`: smaller leaves the last
        windows out, larger lets windows reach further over the end of the image.
    y, **output
        What the output held, and `Output`.

    Returns
    -------
    ndarray
        (N, C, output sizes...). The maximum of a window without elements is the lowest finite
        number of the type of x, and no maximum is lower, so that of a window of -inf is not -inf as
        in PyTorch. The average of a window without elements is 0, or NaN in padding that is not
        counted (cuDNN 9.14 and 9.19; the maximum of 9.28 on a GPU is -inf).

    Raises
    ------
    ValueError
        If shapes and options do not fit together; the message names the argument.
    """
    _check_mode(mode)
    windows = Windows.of(x.shape, window, padding, stride, y_shape)
    lowest = _lowest(x.dtype)

    def formula(x: Array) -> Array:
        if mode.startswith("max"):
            return windows.maximum(x, propagate_nan, lowest)
        result = windows.total(x)
        with np.errstate(invalid="ignore"):
            result /= _divisors(windows, mode).astype(result.dtype)
        return result

    return computed("y", y, formula, x, output=output, axes=(0, 1), shape=windows.y_shape)


def pooling_backward(
    window: Sequence[int],
    *,
    dy: Array,
    x: Array,
    mode: PoolingMode = "max",
    padding: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
    propagate_nan: bool = True,
    dx: Array | None = None,
    **output: Unpack[Output],
) -> Array:
    """dx = alpha * (gradient of the loss by x) + beta * dx: `cudnnPoolingBackward`.

    cuDNN takes y too; it follows from x.

    Parameters
    ----------
    dy
        (N, C, output sizes...); the sizes may differ from `pooling_output_shape` as in
        `pooling_forward`.
    x
        (N, C, spatial sizes...).
    window, mode, padding, stride, propagate_nan
        See `pooling_forward`.
    dx, **output
        What the output held, and `Output`.

    Returns
    -------
    ndarray
        An array of the shape of x.

    Raises
    ------
    ValueError
        If shapes and options do not fit together; the message names the argument.
    """
    _check_mode(mode)
    windows = Windows.of(x.shape, window, padding, stride, dy.shape, name="dy")

    def formula(x: Array, gradient: Array) -> Array:
        result = np.zeros(x.shape, gradient.dtype)
        if mode.startswith("max"):
            largest, number = windows.first_maximum(x, propagate_nan)
            if mode == "max_deterministic":  # no place holds a maximum of minus infinity
                number = np.where(largest == -np.inf, -1, number)
            windows.add_at(result, number, gradient)
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                gradient = gradient / _divisors(windows, mode).astype(gradient.dtype)
            for _, outputs, elements in windows.taps():
                result[elements] += gradient[outputs]
        return result

    return computed("dx", dx, formula, x, dy, output=output, axes=(0, 1))


def _lowest(dtype: np.dtype[Any]) -> float:
    """The lowest finite number of a type, where cuDNN starts to look for a maximum."""
    if dtype.kind in "iu":
        return float(np.iinfo(dtype).min)
    return float(ml_dtypes.finfo(dtype).min)  # type: ignore[no-untyped-call]


def _divisors(windows: Windows, mode: str) -> Array:
    """The divisor of the sum over each window, (1, 1, output sizes...)."""
    counts = np.ones((1, 1, *windows.y_shape[2:]), np.int64)
    for axis, (size, number, window, padding, stride) in enumerate(
        zip(
            windows.x_shape[2:],
            windows.y_shape[2:],
            windows.window,
            windows.padding,
            windows.stride,
            strict=True,
        ),
        start=2,
    ):
        start = np.arange(number) * stride - padding
        end = np.minimum(start + window, size + padding)
        if mode == "average_count_exclude_padding":
            start, end = np.maximum(start, 0), np.minimum(end, size)
        shape = [1] * counts.ndim
        shape[axis] = number
        counts = counts * (end - start).reshape(shape)  # negative beyond the end, as in cuDNN
    return counts


def _check_mode(mode: str) -> None:
    if mode not in get_args(PoolingMode):
        names = ", ".join(map(repr, get_args(PoolingMode)))
        raise ValueError(f"mode must be one of {names}, got {mode!r}")
