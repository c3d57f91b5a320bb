"""The fused convolution, bias and activation on the reference device.

Statuses as in `device_convolution`; the conditions of the fused call were read off cuDNN 9.19 too.
It takes every algorithm but DIRECT, also where the plain convolution has no kernel with it.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from ...raw import descriptors
from ...raw.descriptors import Tensor
from ..activation import Activation
from ..convolution_bias_activation import convolution_bias_activation_forward
from ..reorder import restore_bias
from .convolution_algorithms import FORWARD, result_types, why_not
from .convolution_problem import Problem
from .convolution_runs import load_filter, reordered, take_workspace
from .dispatch import Refused, implements
from .held import read
from .memory import Operand, require, scalars

_ACTIVATIONS: dict[raw.cudnnActivationMode_t, Activation] = {
    raw.CUDNN_ACTIVATION_RELU: "relu",
    raw.CUDNN_ACTIVATION_IDENTITY: "identity",
}


@implements("cudnnConvolutionBiasActivationForward")
def bias_activation_forward(
    handle: Any,
    alpha1: int | None,
    xDesc: Any,
    x: int | None,
    wDesc: Any,
    w: int | None,
    convDesc: Any,
    algo: raw.cudnnConvolutionFwdAlgo_t,
    workSpace: int | None,
    workSpaceSizeInBytes: int,
    alpha2: int | None,
    zDesc: Any,
    z: int | None,
    biasDesc: Any,
    bias: int | None,
    activationDesc: Any,
    yDesc: Any,
    y: int | None,
) -> None:
    """z described as y is, bias (1, K, 1...) in the type of y, or FLOAT; ReLU or identity.

    z and its descriptor must be given also where alpha2 is 0.
    """
    require(x=x, w=w, z=z, bias=bias, y=y)
    problem = Problem.read(xDesc=xDesc, wDesc=wDesc, convDesc=convDesc, yDesc=yDesc)
    z_described = read(Tensor, zDesc, "zDesc")
    bias_described = read(Tensor, biasDesc, "biasDesc")
    activation = read(descriptors.Activation, activationDesc, "activationDesc")
    factors = scalars(problem.y.data_type, alpha1=alpha1, alpha2=alpha2)
    _check(algo, problem, z_described, bias_described)
    if activation.mode not in _ACTIVATIONS:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"cuDNN fuses only RELU and IDENTITY, activationDesc holds {activation.mode.name}",
        )
    if not why_not(FORWARD, algo, problem):
        take_workspace(FORWARD, algo, problem, workSpace, workSpaceSizeInBytes)
    result, added = Operand("y", problem.y, y), Operand("z", z_described, z)
    added.check()
    bias_values = Operand("bias", bias_described, bias).load().reshape(-1)
    result.store(
        convolution_bias_activation_forward(
            Operand("x", problem.x, x).load(),
            load_filter(problem, w),
            None if factors["alpha2"] == 0 else added.load(),
            restore_bias(bias_values) if reordered(problem) else bias_values,
            **problem.options,
            **factors,
            activation=_ACTIVATIONS[activation.mode],
            compute_dtype=problem.compute_dtype,
            out_dtype=result.dtype,
        )
    )


def _check(algo: Any, p: Problem, z: Tensor, bias: Tensor) -> None:
    per_channel = (1, p.y.shape[1], *(1,) * p.geometry.spatial)
    results = result_types(p)
    integer = p.convolution.compute_type == raw.CUDNN_DATA_INT32
    bias_type = raw.CUDNN_DATA_FLOAT if integer else p.x.data_type
    if len(bias.shape) != len(per_channel):
        _refuse(raw.CUDNN_STATUS_BAD_PARAM, f"biasDesc must have shape {per_channel}: {bias}")
    if not results or p.geometry.spatial not in (2, 3):
        _refuse(raw.CUDNN_STATUS_NOT_SUPPORTED, why_not(FORWARD, algo, p))
    if algo == raw.CUDNN_CONVOLUTION_FWD_ALGO_DIRECT or algo not in FORWARD.methods:
        _refuse(raw.CUDNN_STATUS_NOT_SUPPORTED, f"cuDNN has no kernel for {algo!r}")
    if z != p.y:
        _refuse(
            raw.CUDNN_STATUS_NOT_SUPPORTED_SHAPE,
            f"zDesc must hold what yDesc holds, {p.y}; it holds {z}",
        )
    if bias.shape != per_channel:
        _refuse(
            raw.CUDNN_STATUS_NOT_SUPPORTED_SHAPE,
            f"biasDesc must have shape {per_channel}, got {bias.shape}",
        )
    if p.y.data_type not in results or p.y.data_type == raw.CUDNN_DATA_INT32:
        _refuse(
            raw.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
            f"cuDNN has no kernel for xDesc {p.x.data_type.name} and yDesc {p.y.data_type.name}",
        )
    if bias.data_type != bias_type:
        _refuse(
            raw.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
            f"biasDesc must hold {bias_type.name}, got {bias.data_type.name}",
        )
    reason = why_not(FORWARD, raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, p)
    if integer and reason:
        _refuse(raw.CUDNN_STATUS_NOT_SUPPORTED, reason)


def _refuse(status: raw.cudnnStatus_t, reason: str) -> None:
    raise Refused(status, reason)
