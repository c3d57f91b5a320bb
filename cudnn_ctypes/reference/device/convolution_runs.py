"""The three convolution operations between operands, as their descriptors state them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ..convolution import (
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
)
from ..reorder import restore_filter
from .call import Call
from .convolution_directions import BACKWARD_DATA, FORWARD, Direction
from .convolution_problem import Problem
from .memory import Operand

__all__ = ["Operands", "load_filter", "reordered", "run"]


class Operands(NamedTuple):
    """x, w and y, or their gradients."""

    x: Operand
    w: Operand
    y: Operand

    @classmethod
    def of(cls, call: Call, problem: Problem) -> Operands:
        """The memory of a call."""
        x, w, _, y = problem.names
        return cls(call.described(x), call.described(w), call.described(y))


def run(
    direction: Direction,
    problem: Problem,
    operands: Operands,
    alpha: float = 1.0,
    beta: float = 0.0,
) -> None:
    """result = alpha * (convolution, or its gradient) + beta * result, in place."""
    x, w, y = operands
    options: dict[str, Any] = {
        **problem.options,
        "alpha": alpha,
        "beta": beta,
        "compute_dtype": problem.compute_dtype,
    }
    if direction is FORWARD:
        y.keep_apart(x, w)
        filters = load_filter(problem, w)
        y.store(convolution_forward(x.load(), filters, y=y.prior(beta), **options))
    elif direction is BACKWARD_DATA:
        x.keep_apart(w, y)
        dx = convolution_backward_data(
            w=w.load(), dy=y.load(), dx_shape=problem.x.shape, dx=x.prior(beta), **options
        )
        x.store(dx)
    else:
        w.keep_apart(x, y)
        dw = convolution_backward_filter(
            x=x.load(), dy=y.load(), dw_shape=problem.w.shape, dw=w.prior(beta), **options
        )
        w.store(dw)


def reordered(problem: Problem) -> bool:
    """Whether the program has reordered the filter and the bias itself."""
    return (
        problem.w.data_type == raw.CUDNN_DATA_INT8x32
        and problem.convolution.reorder_type == raw.CUDNN_NO_REORDER
    )


def load_filter(problem: Problem, w: Operand) -> NDArray[Any]:
    """w, put back into its order where the program has reordered it for the INT8x32 kernels."""
    if not reordered(problem):
        return w.load()
    return np.moveaxis(restore_filter(w.stored()), -1, 2).reshape(w.shape)
