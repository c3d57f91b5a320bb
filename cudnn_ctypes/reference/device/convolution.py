"""Convolutions on the reference device, at the level of the C calls.

Statuses are cuDNN 9.19's on an H200:

- BAD_PARAM: NULL; a descriptor that was never set; shapes that do not fit together; a workspace
  that is NULL or too small.
- NOT_SUPPORTED: data types, layouts or an algorithm for which cuDNN has no kernel (see
  `convolution_algorithms`). The fused convolution and the bias gradient have their own conditions,
  stated there.
- EXECUTION_FAILED: memory that is not allocated, or too small (see `memory`).

Stricter than cuDNN 9.19: the group count must fit the channels, and every algorithm needs the whole
workspace that ``…WorkspaceSize`` reports. The workspace is overwritten, as on a GPU.

The fused convolution accepts every algorithm but DIRECT, even if the plain one has no kernel for
it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...raw import descriptors
from ..convolution import (
    convolution_backward_bias,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
)
from ..convolution_bias_activation import convolution_bias_activation_forward
from ..reorder import restore_bias, restore_filter
from .call import Call, word
from .convolution_problem import (
    BACKWARD_DATA,
    FORWARD,
    Direction,
    Problem,
    direction_of,
    result_types,
    why_not,
    why_not_fused,
    workspace_bytes,
)
from .memory import Operand
from .registry import Refused, bad_param, implements, not_supported

FUSED = (raw.CUDNN_ACTIVATION_RELU, raw.CUDNN_ACTIVATION_IDENTITY)
"""Activations that cuDNN fuses into convolutions."""


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


@implements(
    "cudnnConvolutionForward", "cudnnConvolutionBackwardData", "cudnnConvolutionBackwardFilter"
)
def convolution(call: Call) -> None:
    direction, algo = direction_of(call), call["algo"]
    problem = direction.problem(call)
    operands, factors = Operands.of(call, problem), call.factors()
    reason = why_not(direction, algo, problem)
    if reason:
        raise not_supported(reason)
    call.use_workspace("workSpace", workspace_bytes(direction, algo, problem))
    run(direction, problem, operands, **factors)


@implements("cudnnConvolutionBackwardBias")
def backward_bias(call: Call) -> None:
    call.compute(convolution_backward_bias, "dy", "db")


@implements("cudnnConvolutionBiasActivationForward")
def bias_activation_forward(call: Call) -> None:
    """z with y's shape and type, bias (1, K, 1...) in y's type or FLOAT; ReLU or identity.

    z and its descriptor are required even if alpha2 is 0.
    """
    x, w, z, bias, y = call.operands("x", "w", "z", "bias", "y")
    problem, algo = Problem.read(call, "xDesc", "wDesc", "convDesc", "yDesc"), call["algo"]
    activation = call.record("activationDesc", descriptors.Activation)
    factors = call.factors()
    _check(algo, problem, z, bias)
    if activation.mode not in FUSED:
        raise not_supported(
            f"cuDNN fuses only RELU and IDENTITY, activationDesc holds {activation.mode.name}"
        )
    if not why_not(FORWARD, algo, problem):
        call.use_workspace("workSpace", workspace_bytes(FORWARD, algo, problem))
    y.keep_apart(x, w)  # z may be where y is
    z.check()
    bias_values = bias.load().reshape(-1)
    y.store(
        convolution_bias_activation_forward(
            x.load(),
            load_filter(problem, w),
            None if factors["alpha2"] == 0 else z.load(),
            restore_bias(bias_values) if reordered(problem) else bias_values,
            **problem.options,
            **factors,
            activation=word(activation.mode, "CUDNN_ACTIVATION_"),
            compute_dtype=problem.compute_dtype,
            out_dtype=y.dtype,
        )
    )


def _check(algo: Any, p: Problem, z: Operand, bias: Operand) -> None:
    per_channel = (1, p.y.shape[1], *(1,) * p.geometry.spatial)
    results = result_types(p)
    integer = p.convolution.compute_data_type == raw.CUDNN_DATA_INT32
    bias_type = raw.CUDNN_DATA_FLOAT if integer else p.x.data_type
    if len(bias.shape) != len(per_channel):
        raise bad_param(f"biasDesc must have shape {per_channel}: {bias.shape}")
    if not results or p.geometry.spatial not in (2, 3):
        raise not_supported(why_not(FORWARD, algo, p))
    if algo == raw.CUDNN_CONVOLUTION_FWD_ALGO_DIRECT or algo not in FORWARD.methods:
        raise not_supported(f"cuDNN has no kernel for {algo!r}")
    if z.described != p.y:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED_SHAPE,
            f"zDesc must hold what yDesc holds, {_said(p.y)}; it holds {_said(z.described)}",
        )
    if bias.shape != per_channel:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED_SHAPE,
            f"biasDesc must have shape {per_channel}, got {bias.shape}",
        )
    if p.y.data_type not in results or p.y.data_type == raw.CUDNN_DATA_INT32:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
            f"cuDNN has no kernel for xDesc {p.x.data_type.name} and yDesc {p.y.data_type.name}",
        )
    if bias.data_type != bias_type:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
            f"biasDesc must hold {bias_type.name}, got {bias.data_type.name}",
        )
    if integer and (reason := why_not_fused(p)):
        raise not_supported(reason)


def _said(tensor: Any) -> str:
    return f"{tensor.data_type.name} {tensor.shape} with strides {tensor.strides}"
