"""Convolutions on the reference device, at the level of the C calls.

Statuses are those that cuDNN 9.19 gave on an H200:

- BAD_PARAM: NULL; a descriptor that was never set; shapes that do not fit each other; a workspace
  that is NULL or too small.
- NOT_SUPPORTED: data types, layouts or an algorithm for which cuDNN has no kernel (see
  `convolution_algorithms`). The fused convolution and the bias gradient have conditions of their
  own, stated at them.
- EXECUTION_FAILED: memory that is not there, or too small (see `memory`).

Stricter than cuDNN 9.19: the group count must fit the channels, and every algorithm wants all of
the workspace that ``…WorkspaceSize`` asks for. The workspace is overwritten, as on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import raw
from ...raw.descriptors import Tensor
from ..convolution import convolution_backward_bias
from .convolution_algorithms import BACKWARD_DATA, BACKWARD_FILTER, FORWARD
from .convolution_problem import Problem
from .convolution_runs import prepare, run_backward_data, run_backward_filter, run_forward
from .dispatch import Refused, implements
from .held import read
from .memory import Operand, require, scalars

_BIAS_GRADIENT_TYPES = (raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF)


@implements("cudnnConvolutionForward")
def forward(
    handle: Any,
    alpha: int | None,
    xDesc: Any,
    x: int | None,
    wDesc: Any,
    w: int | None,
    convDesc: Any,
    algo: raw.cudnnConvolutionFwdAlgo_t,
    workSpace: int | None,
    workSpaceSizeInBytes: int,
    beta: int | None,
    yDesc: Any,
    y: int | None,
) -> None:
    require(x=x, w=w, y=y)
    problem = Problem.read(xDesc=xDesc, wDesc=wDesc, convDesc=convDesc, yDesc=yDesc)
    factors = scalars(problem.y.data_type, alpha=alpha, beta=beta)
    prepare(FORWARD, algo, problem, workSpace, workSpaceSizeInBytes)
    run_forward(problem, x, w, y, **factors)


@implements("cudnnConvolutionBackwardData")
def backward_data(
    handle: Any,
    alpha: int | None,
    wDesc: Any,
    w: int | None,
    dyDesc: Any,
    dy: int | None,
    convDesc: Any,
    algo: raw.cudnnConvolutionBwdDataAlgo_t,
    workSpace: int | None,
    workSpaceSizeInBytes: int,
    beta: int | None,
    dxDesc: Any,
    dx: int | None,
) -> None:
    require(w=w, dy=dy, dx=dx)
    problem = Problem.read(dxDesc=dxDesc, wDesc=wDesc, convDesc=convDesc, dyDesc=dyDesc)
    factors = scalars(problem.x.data_type, alpha=alpha, beta=beta)
    prepare(BACKWARD_DATA, algo, problem, workSpace, workSpaceSizeInBytes)
    run_backward_data(problem, dx, w, dy, **factors)


@implements("cudnnConvolutionBackwardFilter")
def backward_filter(
    handle: Any,
    alpha: int | None,
    xDesc: Any,
    x: int | None,
    dyDesc: Any,
    dy: int | None,
    convDesc: Any,
    algo: raw.cudnnConvolutionBwdFilterAlgo_t,
    workSpace: int | None,
    workSpaceSizeInBytes: int,
    beta: int | None,
    dwDesc: Any,
    dw: int | None,
) -> None:
    require(x=x, dy=dy, dw=dw)
    problem = Problem.read(xDesc=xDesc, dwDesc=dwDesc, convDesc=convDesc, dyDesc=dyDesc)
    factors = scalars(problem.w.data_type, alpha=alpha, beta=beta)
    prepare(BACKWARD_FILTER, algo, problem, workSpace, workSpaceSizeInBytes)
    run_backward_filter(problem, x, dw, dy, **factors)


@implements("cudnnConvolutionBackwardBias")
def backward_bias(
    handle: Any,
    alpha: int | None,
    dyDesc: Any,
    dy: int | None,
    beta: int | None,
    dbDesc: Any,
    db: int | None,
) -> None:
    """dy of 4 dimensions or more in FLOAT, DOUBLE or HALF; db (1, C, 1...) of the same type."""
    require(dy=dy, db=db)
    given = Operand("dy", read(Tensor, dyDesc, "dyDesc"), dy)
    result = Operand("db", read(Tensor, dbDesc, "dbDesc"), db)
    shape = given.described.shape
    wanted = (1, *shape[1:2], *(1,) * (len(shape) - 2))
    same_type = result.described.data_type == given.described.data_type
    if len(shape) < 3 or result.described.shape != wanted or not same_type:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"dbDesc must hold {given.described.data_type.name} and shape {wanted}, got "
            f"{result.described.data_type.name} and {result.described.shape}",
        )
    if len(shape) == 3 or given.described.data_type not in _BIAS_GRADIENT_TYPES:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"cuDNN has no kernel for dy of {len(shape)} dimensions in "
            f"{given.described.data_type.name}",
        )
    factors = scalars(result.described.data_type, alpha=alpha, beta=beta)
    double = given.dtype == np.float64
    result.store(
        convolution_backward_bias(
            given.load(),
            db=result.prior(factors["beta"]),
            compute_dtype=np.float64 if double else np.float32,
            **factors,
        )
    )
