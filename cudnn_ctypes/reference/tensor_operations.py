"""Element-wise tensor functions in plain NumPy: add, op, set, scale; and reductions.

A smaller operand is broadcast: it has as many dimensions as the output, each of the same size or 1.

The output of a reduction has as many dimensions as the input; where it has a 1, the input's
dimension is reduced.

============  ===================================================
op            result over the reduced dimensions
============  ===================================================
add           the sum
mul           the product
min, max      the smallest, the largest element
amax          the largest absolute value
avg           the sum / the number of elements
norm1         the sum of the absolute values
norm2         the square root of the sum of the squares
mul_no_zeros  the product of the elements other than 0
============  ===================================================

Products are free in their order: where some partial product leaves the range of the type, cuDNN's
"mul" may be 0, infinite or NaN where the formula is not, and its "mul_no_zeros" any number, as it
leaves out partial products that underflow to 0 too (H200, 9.14 and 9.19).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arithmetic import Output, blend, computed, computing, round_to, scale, scaling_dtype, stored
from .tiles import Array, tiled, tiles

if TYPE_CHECKING:
    from typing_extensions import Unpack

Operation = Literal["add", "mul", "min", "max", "sqrt", "not"]


def add_tensor(
    a: Array, c: Array, *, alpha: float = 1.0, beta: float = 1.0, out: Array | None = None
) -> Array:
    """c = alpha * a + beta * c: `cudnnAddTensor`, which adds a bias.

    Parameters
    ----------
    a
        An array of the shape of c, or with sizes of 1 to broadcast: (1, C, 1, 1) for a bias.
    c
        Any shape; read only if beta is not 0.
    out
        An array for the result; default: a new array.

    Returns
    -------
    ndarray
        An array of the shape and dtype of c.

    Raises
    ------
    ValueError
        If `a` cannot be broadcast to the shape of `c`.
    """

    def formula(c: Array, a: Array) -> Array:
        values = broadcast(a.astype(scaling_dtype(a.dtype), copy=False), c.shape, "a")
        return blend(values, c, alpha=alpha, beta=beta, out_dtype=c.dtype, name="c")

    broadcast(a, c.shape, "a")
    if alpha == 0:  # cuDNN does not read it
        a = np.zeros((1,) * a.ndim, a.dtype)
    result = tiled(formula, c, a, out=out)
    return result.copy() if result is not out and np.may_share_memory(result, a) else result


def op_tensor(
    op: Operation,
    a: Array,
    b: Array | None = None,
    *,
    alpha1: float = 1.0,
    alpha2: float = 1.0,
    c: Array | None = None,
    propagate_nan: bool = True,
    **output: Unpack[Output],
) -> Array:
    """c = op(alpha1 * a, alpha2 * b) + beta * c: `cudnnOpTensor`.

    =========  =====================================
    op         op(u, v)
    =========  =====================================
    add        u + v
    mul        u * v
    min        the smaller one
    max        the larger one
    sqrt       the square root of u; b is not read
    not        1 - u; b is not read
    =========  =====================================

    Parameters
    ----------
    a
        Any shape; the result has the same shape.
    b
        An array of the shape of a, or with sizes of 1 to broadcast; may be None for sqrt and not.
    propagate_nan
        Whether min and max of a number and NaN are NaN rather than the number.
    c, **output
        What the output held, and `Output`.

    Returns
    -------
    ndarray
        An array of the shape of a.

    Raises
    ------
    ValueError
        If the shapes do not fit, or the operation is not in the table.
    """
    if op not in get_args(Operation):
        names = ", ".join(get_args(Operation))
        raise ValueError(f"op must be one of {names}, got {op!r}")
    if op in ("sqrt", "not"):
        b = None
    elif b is None:
        raise ValueError(f"b must be given for {op}")
    else:
        broadcast(b, a.shape, "b")

    def formula(a: Array, b: Array | None) -> Array:
        u = scale(a, alpha1)
        result: Array
        with np.errstate(invalid="ignore", over="ignore"):
            if op == "sqrt":
                result = np.sqrt(u)
            elif b is None:
                result = u.dtype.type(1) - u
            else:
                result = _binary(op, propagate_nan)(u, scale(b, alpha2))
        return result

    return computed("c", c, formula, a, b, output=output)


def _binary(op: str, propagate_nan: bool) -> np.ufunc:
    functions: dict[str, np.ufunc] = {
        "add": np.add,
        "mul": np.multiply,
        "min": np.minimum if propagate_nan else np.fmin,
        "max": np.maximum if propagate_nan else np.fmax,
    }
    return functions[op]


def set_tensor(shape: Sequence[int], value: Any, dtype: DTypeLike) -> Array:
    """y = value everywhere: `cudnnSetTensor`."""
    return np.full(tuple(shape), value, dtype)


def scale_tensor(y: Array, alpha: float) -> Array:
    """y = alpha * y: `cudnnScaleTensor`; a new array of the dtype of y."""
    dtype = scaling_dtype(y.dtype)
    return tiled(lambda y: round_to(y.astype(dtype) * dtype.type(alpha), y.dtype), y)


def broadcast(operand: Array, shape: Sequence[int], name: str) -> Array:
    """A read-only view of `operand` in the given shape; ValueError if it does not fit."""
    fits = operand.ndim == len(shape) and all(
        size in (1, whole) for size, whole in zip(operand.shape, shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"{name} must have the shape {tuple(shape)} or ones in it, got {operand.shape}"
        )
    return np.broadcast_to(operand, tuple(shape))


# --- reductions -----------------------------------------------------------------------------------


Operator = Literal["add", "mul", "min", "max", "amax", "avg", "norm1", "norm2", "mul_no_zeros"]
INDEXED = ("min", "max", "amax")  # the operators whose result is the element at some index


def reduce_tensor(
    a: Array,
    c_shape: Sequence[int],
    op: Operator,
    *,
    propagate_nan: bool = True,
    c: Array | None = None,
    **output: Unpack[Output],
) -> Array:
    """c = alpha * reduce(a) + beta * c: `cudnnReduceTensor`.

    Parameters
    ----------
    a
        Any shape.
    c_shape
        The shape of a, with 1 in the dimensions to reduce.
    propagate_nan
        Whether min, max and amax are NaN if an element is NaN; else NaN is ignored. The other
        operators always propagate NaN.
    c, **output
        What the output held, and `Output`.

    Returns
    -------
    ndarray
        A new array of the shape `c_shape`. No minimum is larger than the largest finite number of
        the dtype computed in, no maximum less than the lowest one, without elements that count too.

    Raises
    ------
    ValueError
        If the shapes do not fit, or `op` is not in the table.
    """
    axes = reduced_axes(a.shape, c_shape)
    with np.errstate(over="ignore", invalid="ignore"):
        result = _reduced(a, computing(output), axes, op, propagate_nan)
    return stored("c", result, c, a.dtype, output)


def reduce_indices(
    a: Array, c_shape: Sequence[int], op: Operator, *, propagate_nan: bool = True
) -> NDArray[np.uint32]:
    """The index of each minimum or maximum, as written by `cudnnReduceTensor`.

    An index counts the elements of the reduced dimensions only, in row-major order of the logical
    tensor; among equal elements the first one is chosen.

    Parameters
    ----------
    op
        'min', 'max' or 'amax'.

    Returns
    -------
    ndarray
        uint32, of the shape `c_shape`.

    Raises
    ------
    ValueError
        If the shapes do not fit, or for an `op` without indices.
    """
    if op not in INDEXED:
        raise ValueError(f"op must be one of {', '.join(INDEXED)} to have indices")
    axes = reduced_axes(a.shape, c_shape)
    kept = [axis for axis in range(a.ndim) if axis not in axes]
    values = a.astype(np.float64).transpose(*kept, *axes)
    values = values.reshape(*(a.shape[axis] for axis in kept), -1)
    if op == "amax":
        values = np.abs(values)
    elif op == "min":
        values = -values
    if not propagate_nan:
        values = np.where(np.isnan(values), -np.inf, values)
    first: NDArray[np.uint32] = values.argmax(axis=-1).astype(np.uint32)
    return first.reshape(tuple(c_shape))


def reduced_axes(a_shape: Sequence[int], c_shape: Sequence[int]) -> tuple[int, ...]:
    """The dimensions of a that c has not; ValueError if the shapes do not fit."""
    a_shape, c_shape = tuple(a_shape), tuple(c_shape)
    fits = len(a_shape) == len(c_shape) and all(
        c in (1, a) for a, c in zip(a_shape, c_shape, strict=True)
    )
    if not fits:
        raise ValueError(f"c_shape must be {a_shape} with ones where a is reduced, got {c_shape}")
    return tuple(axis for axis, (a, c) in enumerate(zip(a_shape, c_shape, strict=True)) if a != c)


def _reduced(
    a: Array, dtype: np.dtype[Any], axes: tuple[int, ...], op: str, propagate_nan: bool
) -> Array:
    def over(
        function: np.ufunc, term: Callable[[Array], Array] = lambda x: x, **start: Any
    ) -> Array:
        """The function over the terms of all elements: first by tile, then over the tiles."""
        whole = [axis for axis in range(a.ndim) if a.shape[axis] > 1]
        cut = max(whole, key=lambda axis: abs(a.strides[axis]), default=None)
        parts: list[Array] = [
            function.reduce(
                term(a[place].astype(dtype, copy=False)), axis=axes, keepdims=True, **start
            )
            for place in tiles(a, () if cut is None else (cut,))
        ]
        if len(parts) == 1 or cut is None:
            return np.asarray(parts[0])
        joined: Array = np.concatenate(parts, axis=cut)
        if cut in axes:
            joined = function.reduce(joined, axis=cut, keepdims=True)
        return joined

    smaller, larger = (np.minimum, np.maximum) if propagate_nan else (np.fmin, np.fmax)
    limits: Any = np.finfo(dtype)
    match op:
        case "add":
            return over(np.add)
        case "mul":
            return over(np.multiply)
        case "min":
            return over(smaller, initial=limits.max)
        case "max":
            return over(larger, initial=limits.min)
        case "amax":
            return over(larger, np.abs, initial=0)
        case "avg":
            count = math.prod(a.shape[axis] for axis in axes)
            mean: Array = over(np.add) / dtype.type(count)
            return mean
        case "norm1":
            return over(np.add, np.abs)
        case "norm2":
            root: Array = np.sqrt(over(np.add, np.square))
            return root
        case "mul_no_zeros":
            return over(np.multiply, lambda x: np.where(x == 0, dtype.type(1), x))
    raise ValueError(f"op must be one of {', '.join(get_args(Operator))}, got {op!r}")
