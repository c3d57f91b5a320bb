"""Element-wise tensor functions in plain NumPy: add, op, set, scale.

A smaller operand is broadcast: it has as many dimensions as the output, each of the same size or 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arithmetic import blend, check_shape, round_to, scale, scaling_dtype
from .tiles import tiled

Operation = Literal["add", "mul", "min", "max", "sqrt", "not"]


def add_tensor(
    a: NDArray[Any],
    c: NDArray[Any],
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
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

    def formula(c: NDArray[Any], a: NDArray[Any]) -> NDArray[Any]:
        values = broadcast(a.astype(scaling_dtype(a.dtype), copy=False), c.shape, "a")
        return blend(values, c, alpha=alpha, beta=beta, out_dtype=c.dtype, name="c")

    broadcast(a, c.shape, "a")
    if alpha == 0:  # cuDNN does not read it
        a = np.zeros((1,) * a.ndim, a.dtype)
    result = tiled(formula, c, a, out=out)
    return result.copy() if result is not out and np.may_share_memory(result, a) else result


def op_tensor(
    op: Operation,
    a: NDArray[Any],
    b: NDArray[Any] | None = None,
    *,
    alpha1: float = 1.0,
    alpha2: float = 1.0,
    beta: float = 0.0,
    c: NDArray[Any] | None = None,
    propagate_nan: bool = True,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
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
    c
        The output's previous contents; read only if beta is not 0, and never written.
    propagate_nan
        Whether min and max of a number and NaN are NaN rather than the number.
    compute_dtype
        float32 or float64.
    out_dtype
        Default: the dtype of a.
    out
        An array for the result; default: a new array.

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
    dtype: np.dtype[Any] = np.dtype(compute_dtype)
    stored = np.dtype(out_dtype or a.dtype)
    if op in ("sqrt", "not"):
        b = None
    elif b is None:
        raise ValueError(f"b must be given for {op}")
    else:
        broadcast(b, a.shape, "b")

    def formula(a: NDArray[Any], b: NDArray[Any] | None, c: NDArray[Any] | None) -> NDArray[Any]:
        u = scale(a.astype(dtype, copy=False), alpha1)
        result: NDArray[Any]
        with np.errstate(invalid="ignore", over="ignore"):
            if op == "sqrt":
                result = np.sqrt(u)
            elif b is None:
                result = dtype.type(1) - u
            else:
                v = scale(b.astype(dtype, copy=False), alpha2)
                result = _binary(op, propagate_nan)(u, v)
        return blend(result, c, alpha=1.0, beta=beta, out_dtype=stored, name="c")

    check_shape("c", c, a.shape)
    return tiled(formula, a, b, c, out=out)


def _binary(op: str, propagate_nan: bool) -> np.ufunc:
    functions: dict[str, np.ufunc] = {
        "add": np.add,
        "mul": np.multiply,
        "min": np.minimum if propagate_nan else np.fmin,
        "max": np.maximum if propagate_nan else np.fmax,
    }
    return functions[op]


def set_tensor(shape: Sequence[int], value: Any, dtype: DTypeLike) -> NDArray[Any]:
    """y = value everywhere: `cudnnSetTensor`."""
    return np.full(tuple(shape), value, dtype)


def scale_tensor(y: NDArray[Any], alpha: float) -> NDArray[Any]:
    """y = alpha * y: `cudnnScaleTensor`; a new array of the dtype of y."""
    dtype = scaling_dtype(y.dtype)
    return tiled(lambda y: round_to(y.astype(dtype) * dtype.type(alpha), y.dtype), y)


def broadcast(operand: NDArray[Any], shape: Sequence[int], name: str) -> NDArray[Any]:
    """A read-only view of `operand` in the given shape; ValueError if it does not fit."""
    fits = operand.ndim == len(shape) and all(
        size in (1, whole) for size, whole in zip(operand.shape, shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"{name} must have the shape {tuple(shape)} or ones in it, got {operand.shape}"
        )
    return np.broadcast_to(operand, tuple(shape))
