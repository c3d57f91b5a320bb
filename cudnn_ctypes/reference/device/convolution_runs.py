"""The three convolution operations between addresses, as their descriptors state them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ..convolution import (
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
)
from ..reorder import restore_filter
from .convolution_algorithms import Direction, why_not, workspace_bytes
from .convolution_problem import Problem
from .dispatch import Refused
from .memory import Operand, scribble

__all__ = [
    "load_filter",
    "prepare",
    "reordered",
    "run_backward_data",
    "run_backward_filter",
    "run_forward",
    "take_workspace",
]


def run_forward(
    problem: Problem,
    x: int | None,
    w: int | None,
    y: int | None,
    alpha: float = 1.0,
    beta: float = 0.0,
) -> None:
    """y = alpha * conv(x, w) + beta * y in place; x, w and y are addresses."""
    result = Operand("y", problem.y, y)
    result.store(
        convolution_forward(
            Operand("x", problem.x, x).load(),
            load_filter(problem, w),
            **problem.options,
            alpha=alpha,
            beta=beta,
            y=result.prior(beta),
            compute_dtype=problem.compute_dtype,
        )
    )


def run_backward_data(
    problem: Problem,
    dx: int | None,
    w: int | None,
    dy: int | None,
    alpha: float = 1.0,
    beta: float = 0.0,
) -> None:
    """dx = alpha * (gradient by x) + beta * dx in place."""
    result = Operand("dx", problem.x, dx)
    result.store(
        convolution_backward_data(
            Operand("w", problem.w, w).load(),
            Operand("dy", problem.y, dy).load(),
            problem.x.shape,
            **problem.options,
            alpha=alpha,
            beta=beta,
            dx=result.prior(beta),
            compute_dtype=problem.compute_dtype,
        )
    )


def run_backward_filter(
    problem: Problem,
    x: int | None,
    dw: int | None,
    dy: int | None,
    alpha: float = 1.0,
    beta: float = 0.0,
) -> None:
    """dw = alpha * (gradient by w) + beta * dw in place."""
    result = Operand("dw", problem.w, dw)
    result.store(
        convolution_backward_filter(
            Operand("x", problem.x, x).load(),
            Operand("dy", problem.y, dy).load(),
            problem.w.shape,
            **problem.options,
            alpha=alpha,
            beta=beta,
            dw=result.prior(beta),
            compute_dtype=problem.compute_dtype,
        )
    )


def prepare(
    direction: Direction, algo: Any, problem: Problem, workspace: int | None, nbytes: int
) -> None:
    """Refuse an algorithm that cuDNN has no kernel with, or not with this workspace."""
    reason = why_not(direction, algo, problem)
    if reason:
        raise Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, reason)
    take_workspace(direction, algo, problem, workspace, nbytes)


def take_workspace(
    direction: Direction, algo: Any, problem: Problem, workspace: int | None, nbytes: int
) -> None:
    """Refuse a workspace that is too small; overwrite the part that the algorithm would use."""
    needed = workspace_bytes(direction, algo, problem)
    if needed and (not workspace or nbytes < needed):
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"workSpace must have {needed} bytes for {algo.name}, got {nbytes} bytes at "
            f"{'NULL' if not workspace else hex(workspace)}",
        )
    scribble(workspace, needed, "workSpace")


def reordered(problem: Problem) -> bool:
    """Whether the program has reordered the filter and the bias itself."""
    return (
        problem.w.data_type == raw.CUDNN_DATA_INT8x32
        and problem.convolution.reorder_type == raw.CUDNN_NO_REORDER
    )


def load_filter(problem: Problem, w: int | None) -> NDArray[Any]:
    """w, put back into its order where the program has reordered it for the INT8x32 kernels."""
    operand = Operand("w", problem.w, w)
    if not reordered(problem):
        return operand.load()
    restored = restore_filter(operand.stored())
    return np.moveaxis(restored, -1, 2).reshape(problem.w.shape)
