"""The normalizations of a `pygraph`, and their gradients.

The forward ones give [Y, mean, inv_variance], the last two None in inference; batch normalization
also the running statistics, and RMS normalization no mean. The gradients are [DX, DSCALE, DBIAS].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from .c_members import c_member
from .described import method
from .enums import named, norm_forward_phase
from .tensors import tensor

T = TypeVar("T")
_PHASES = norm_forward_phase
_GRADIENTS = "DX DScale DBias"


def given(value: T | None, what: str) -> T:
    """`value`, which may not be left out though it comes after an argument that may be.

    Raises
    ------
    TypeError
        If it is None.
    """
    if value is None:
        raise TypeError(f"{what} is missing")
    return value


def _phase(called: str, phase: Any) -> Any:
    when = c_member(named(_PHASES, phase, "norm_forward_phase"))
    if when is None:
        raise ValueError(f"{called}: norm_forward_phase: INFERENCE or TRAINING")
    return when


def _gradients(
    mode: str, grad: tensor, input: tensor, scale: Any, mean: Any, inv_variance: Any
) -> dict[str, Any]:
    return {
        "operation": "norm_backward",
        "mode": mode,
        "grad": grad,
        "input": input,
        "scale": scale,
        "mean": mean,
        "inv_variance": inv_variance,
    }


@method("Y mean inv_var")
def layernorm(
    norm_forward_phase: norm_forward_phase,
    input: tensor,
    scale: tensor | None = None,
    bias: tensor | None = None,
    epsilon: tensor | None = None,
) -> Mapping[str, Any]:
    """Normalization of the dimensions in which `scale` has a size other than 1."""
    return {
        "norm_forward_phase": _phase("layernorm", norm_forward_phase),
        "input": input,
        "scale": scale,
        "bias": bias,
        "epsilon": given(epsilon, "layernorm: epsilon"),
    }


@method("Y mean inv_var")
def adalayernorm(
    norm_forward_phase: norm_forward_phase,
    input: tensor,
    scale: tensor,
    bias: tensor | None = None,
    epsilon: tensor | None = None,
) -> Mapping[str, Any]:
    """`layernorm` with a scale and bias for each batch."""
    return {
        "norm_forward_phase": _phase("adalayernorm", norm_forward_phase),
        "input": input,
        "scale": scale,
        "bias": bias,
        "epsilon": given(epsilon, "adalayernorm: epsilon"),
    }


@method("Y mean inv_var")
def instancenorm(
    norm_forward_phase: norm_forward_phase,
    input: tensor,
    scale: tensor,
    bias: tensor,
    epsilon: tensor,
) -> Mapping[str, Any]:
    """Normalization of each channel of each image."""
    return {
        "norm_forward_phase": _phase("instancenorm", norm_forward_phase),
        "input": input,
        "scale": scale,
        "bias": bias,
        "epsilon": epsilon,
    }


@method("Y inv_var")
def rmsnorm(
    norm_forward_phase: norm_forward_phase,
    input: tensor,
    scale: tensor | None = None,
    bias: tensor | None = None,
    epsilon: tensor | None = None,
) -> Mapping[str, Any]:
    """[Y, inv_variance]: input / sqrt(mean(input**2) + epsilon) * scale + bias."""
    return {
        "norm_forward_phase": _phase("rmsnorm", norm_forward_phase),
        "input": input,
        "scale": scale,
        "bias": bias,
        "epsilon": given(epsilon, "rmsnorm: epsilon"),
    }


@method("Y mean inv_var next_running_mean next_running_var")
def batchnorm(
    input: tensor,
    scale: tensor,
    bias: tensor,
    in_running_mean: tensor | None,
    in_running_var: tensor | None,
    epsilon: tensor,
    momentum: tensor | None,
    peer_stats: Sequence[tensor] = (),
) -> Mapping[str, Any]:
    """Training: [Y, mean, inv_variance, next_running_mean, next_running_var]."""
    return {
        "input": input,
        "scale": scale,
        "bias": bias,
        "in_running_mean": in_running_mean,
        "in_running_var": in_running_var,
        "epsilon": epsilon,
        # Without running statistics nothing is averaged, and cuDNN wants no factor.
        "momentum": None if in_running_mean is None else momentum,
        "peer_stats": peer_stats,
    }


@method("Y")
def batchnorm_inference(
    input: tensor,
    mean: tensor,
    inv_variance: tensor,
    scale: tensor,
    bias: tensor,
) -> None:
    """(input - mean) * inv_variance * scale + bias."""


@method(_GRADIENTS, unsaid="mode")
def layernorm_backward(
    grad: tensor,
    input: tensor,
    scale: tensor | None = None,
    mean: tensor | None = None,
    inv_variance: tensor | None = None,
) -> Mapping[str, Any]:
    """[DX, DSCALE, DBIAS] of `layernorm`."""
    given(mean, "layernorm_backward: mean")
    given(inv_variance, "layernorm_backward: inv_variance")
    return _gradients("layer", grad, input, scale, mean, inv_variance)


@method(_GRADIENTS, unsaid="mode")
def adalayernorm_backward(
    grad: tensor,
    input: tensor,
    scale: tensor,
    mean: tensor,
    inv_variance: tensor,
) -> Mapping[str, Any]:
    """[DX, DSCALE, DBIAS] of `adalayernorm`."""
    return _gradients("ada_layer", grad, input, scale, mean, inv_variance)


@method(_GRADIENTS, unsaid="mode")
def instancenorm_backward(
    grad: tensor,
    input: tensor,
    scale: tensor,
    mean: tensor | None = None,
    inv_variance: tensor | None = None,
) -> Mapping[str, Any]:
    """[DX, DSCALE, DBIAS] of `instancenorm`."""
    return _gradients("instance", grad, input, scale, mean, inv_variance)


@method(_GRADIENTS, unsaid="mode")
def batchnorm_backward(
    grad: tensor,
    input: tensor,
    scale: tensor,
    mean: tensor,
    inv_variance: tensor,
    peer_stats: Sequence[tensor] = (),
) -> Mapping[str, Any]:
    """[DX, DSCALE, DBIAS] of `batchnorm`, or of `batchnorm_inference`."""
    gradients = _gradients("batch", grad, input, scale, mean, inv_variance)
    return {**gradients, "peer_stats": peer_stats}


@method(_GRADIENTS, unsaid="mode")
def rmsnorm_backward(
    grad: tensor,
    input: tensor,
    scale: tensor | None = None,
    inv_variance: tensor | None = None,
    has_dbias: bool | None = None,
) -> Mapping[str, Any]:
    """[DX, DSCALE, DBIAS] of `rmsnorm`; DBIAS is None without `has_dbias`."""
    both = given(has_dbias, "rmsnorm_backward: has_dbias")
    statistics = None, given(inv_variance, "rmsnorm_backward: inv_variance")
    return {**_gradients("rms", grad, input, scale, *statistics), "has_dbias": bool(both)}
