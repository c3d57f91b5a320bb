"""How cuDNN computes: the accumulator's type, alpha and beta, and rounding to the stored type."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypedDict

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike, NDArray

from .tiles import Array, tiled

COMPUTE_DTYPES = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32))


def accumulator(compute_dtype: DTypeLike | None, *operands: Array) -> np.dtype[Any]:
    """The accumulators' dtype: `compute_dtype`, or by default int32 for integers, else float64.

    Raises ValueError for a `compute_dtype` other than float32, float64 or int32.
    """
    if compute_dtype is None:
        integers = all(operand.dtype.kind in "iu" for operand in operands)
        return np.dtype(np.int32 if integers else np.float64)
    dtype = np.dtype(compute_dtype)
    if dtype not in COMPUTE_DTYPES:
        raise ValueError(f"compute_dtype must be float32, float64 or int32, got {dtype}")
    return dtype


def scaling_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which cuDNN applies alpha, beta and bias to an accumulator of `dtype`.

    The host scalars are double for double data and float for everything else, int32 included.
    """
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def scale(values: Array, factor: float) -> Array:
    """`factor` * `values` in the scaling dtype; a factor of 1 leaves exact integers exact."""
    if factor == 1:
        return values
    dtype = scaling_dtype(values.dtype)
    scaled: Array = values.astype(dtype) * dtype.type(factor)
    return scaled


def blend(
    result: Array,
    prior: Array | None,
    *,
    alpha: float,
    beta: float,
    out_dtype: DTypeLike,
    name: str,
) -> Array:
    """`alpha * result + beta * prior`, rounded once to `out_dtype`.

    With beta == 0 the prior value is not read, so NaN or garbage in it does not matter. alpha is
    always multiplied: a NaN in the result survives alpha == 0 (both measured, cuDNN 9.19).

    Parameters
    ----------
    result
        The operation's accumulators, float32, float64 or int32.
    prior
        What the output held before, of the same shape; needed only if beta is not 0.
    name
        The output's name, for messages.
    """
    check_shape(name, prior, result.shape)
    value = scale(result, alpha)
    if beta != 0:
        if prior is None:
            raise ValueError(f"{name} must be given when beta is not 0 (beta is {beta})")
        dtype = scaling_dtype(result.dtype)
        value = value.astype(dtype) + dtype.type(beta) * prior.astype(dtype)
    return round_to(value, out_dtype)


class Output(TypedDict, total=False):
    """How a formula computes, and what becomes of its result: keyword arguments of formulas.

    Attributes
    ----------
    alpha, beta : float
        The output becomes alpha * result + beta * what it held; by default alpha is 1 and beta 0.
        What it held is read only if beta is not 0, and never written.
    compute_dtype : dtype
        float32 or float64, the default.
    out_dtype : dtype, optional
        Of the output; by default that of the first operand.
    out : ndarray, optional
        An array for the output; by default a new one. Formulas may return another.
    """

    alpha: float
    beta: float
    compute_dtype: DTypeLike
    out_dtype: DTypeLike | None
    out: Array | None


def computing(output: Output) -> np.dtype[Any]:
    """The dtype to compute in."""
    return np.dtype(output.get("compute_dtype", np.float64))


def stored(
    name: str, result: Array, prior: Array | None, dtype: DTypeLike, output: Output
) -> Array:
    """A result as its output, called `name`, which held `prior`; of `dtype` unless it is said."""
    return blend(
        result,
        prior,
        alpha=output.get("alpha", 1.0),
        beta=output.get("beta", 0.0),
        out_dtype=output.get("out_dtype") or dtype,
        name=name,
    )


def computed(
    name: str,
    prior: Array | None,
    formula: Callable[..., Array],
    *operands: Array | None,
    output: Output,
    axes: Iterable[int] | None = None,
    shape: tuple[int, ...] | None = None,
) -> Array:
    """An output by a formula of operands, tile by tile along `axes` (see `tiled`).

    Parameters
    ----------
    name, prior
        The output's, and what it held.
    formula
        A function of the operands, which it gets in the dtype to compute in.
    shape
        Of the output. Default: that of the first operand.
    """
    first, dtype = operands[0], computing(output)
    assert first is not None
    check_shape(name, prior, first.shape if shape is None else shape)

    def part(*operands: Array | None) -> Array:
        *values, prior = operands
        result = formula(*(x if x is None else x.astype(dtype, copy=False) for x in values))
        if any(result is x for x in values):
            result = result.copy()
        return stored(name, result, prior, first.dtype, output)

    return tiled(part, *operands, prior, axes=axes, out=output.get("out"))  # type: ignore[arg-type]


def check_shape(name: str, array: Array | None, shape: tuple[int, ...]) -> None:
    """ValueError if an array that is not None has another shape."""
    if array is not None and array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}")


def kept(values: Array, mask: NDArray[np.bool_], out: Array | None = None) -> Array:
    """`values` where the mask is True, 0 elsewhere, also in the place of NaN and infinities.

    The result is computed in `out` if that has its dtype.

    ``np.where(mask, values, 0)`` takes a branch for each element, and 10 times as long for random
    masks as this product of the numbers' bits with 0 or 1.
    """
    bits = np.ascontiguousarray(values).view(f"u{values.itemsize}")
    if out is not None and out.dtype == values.dtype:
        np.multiply(bits, mask, out=out.view(bits.dtype))
        return out
    product: Array = bits * mask
    return product.view(values.dtype)


def round_to(values: Array, dtype: DTypeLike) -> Array:
    """`values` rounded to nearest even in `dtype`, as they are stored in an output tensor.

    Values that have this dtype are returned without a copy.

    - integers saturate (measured on int8: -128 and 127, ties to even); NaN becomes 0;
    - float16 and bfloat16 overflow to infinity (measured on float16);
    - the FP8 types saturate to their largest finite value, the default of CUDA's conversions.
    """
    dtype = np.dtype(dtype)
    if dtype == values.dtype:
        return values
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if values.dtype.kind == "f":
            values = np.rint(np.where(np.isnan(values), 0, values.astype(np.float64)))
        values = np.clip(values, limits.min, limits.max)
    elif dtype.itemsize == 1 and dtype.name.startswith("float8"):
        largest = float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
        values = np.clip(values, -largest, largest)
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(dtype, copy=False)
