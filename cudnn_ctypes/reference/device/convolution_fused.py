"""The fused convolution, bias and activation on the reference device.

Statuses are those of `convolution`; the conditions of the fused call were read off cuDNN 9.19 too.
It accepts every algorithm but DIRECT, even if the plain convolution has no kernel for it.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from ...raw import descriptors
from ..activation import Activation
from ..convolution_bias_activation import convolution_bias_activation_forward
from ..reorder import restore_bias
from .call import Call
from .convolution_algorithms import result_types, why_not, why_not_fused, workspace_bytes
from .convolution_directions import FORWARD
from .convolution_problem import Problem
from .convolution_runs import load_filter, reordered
from .memory import Operand
from .registry import Refused, bad_param, implements, not_supported

_ACTIVATIONS: dict[raw.cudnnActivationMode_t, Activation] = {
    raw.CUDNN_ACTIVATION_RELU: "relu",
    raw.CUDNN_ACTIVATION_IDENTITY: "identity",
}


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
    if activation.mode not in _ACTIVATIONS:
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
            activation=_ACTIVATIONS[activation.mode],
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
