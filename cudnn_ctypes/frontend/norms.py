"""The normalizations of a `pygraph`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from .c_members import c_member
from .enums import data_type, named, norm_forward_phase
from .norm_gradients import NormGradientMethods, given
from .tensors import tensor

__all__ = ["NormMethods", "in_classic_order"]

_NOT_SET = data_type.NOT_SET
_phase = norm_forward_phase


P = ParamSpec("P")
R = TypeVar("R")
_BOTH_ORDERS = ("adalayernorm", "instancenorm", "layernorm", "rmsnorm")
_TENSORS_FIRST = inspect.Signature(
    [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY)
        for name in ("input", "scale", "bias", "epsilon", "norm_forward_phase")
    ]
)


def in_classic_order(
    method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of a method of `pygraph` as 1.23 has them: in 1.32 a norm's phase comes last.

    Raises
    ------
    TypeError
        If there are too many, or one is there twice.
    """
    tensor_first = bool(args) and (isinstance(args[0], tensor) or hasattr(args[0], "__dlpack__"))
    if method not in _BOTH_ORDERS or not tensor_first:
        return args, kwargs
    tensors = _TENSORS_FIRST.bind_partial(*args).arguments
    twice = tensors.keys() & kwargs.keys()
    if twice:
        raise TypeError(f"{method}() got multiple values for argument {min(twice)!r}")
    return (), {**tensors, **kwargs}


def in_both_orders(method: Callable[P, R]) -> Callable[P, R]:
    """Take operands by their place as 1.23 has them, and as 1.32 has them."""

    @functools.wraps(method)
    def normalize(*args: P.args, **kwargs: P.kwargs) -> R:
        operands, named_ones = in_classic_order(method.__name__, args[1:], dict(kwargs))
        return method(args[0], *operands, **named_ones)  # type: ignore[arg-type]

    return normalize


class NormMethods(NormGradientMethods):
    """Layer, adaptive layer, instance, batch and RMS normalization.

    The forward ones give [Y, mean, inv_variance], the last two None in inference; batch
    normalization also the running statistics, and RMS normalization no mean.
    """

    @in_both_orders
    def layernorm(
        self,
        norm_forward_phase: norm_forward_phase,
        input: tensor,
        scale: tensor | None = None,
        bias: tensor | None = None,
        epsilon: tensor | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> list[Any]:
        """Normalization of the dimensions in which `scale` has a size other than 1."""
        operands = (input, scale, bias, given(epsilon, "layernorm: epsilon"))
        return self._normalize(
            "layernorm", norm_forward_phase, operands, compute_data_type, name, out_dims
        )

    @in_both_orders
    def adalayernorm(
        self,
        norm_forward_phase: norm_forward_phase,
        input: tensor,
        scale: tensor,
        bias: tensor | None = None,
        epsilon: tensor | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> list[Any]:
        """`layernorm` with a scale and bias for each batch."""
        operands = (input, scale, bias, given(epsilon, "adalayernorm: epsilon"))
        return self._normalize(
            "adalayernorm", norm_forward_phase, operands, compute_data_type, name, out_dims
        )

    @in_both_orders
    def instancenorm(
        self,
        norm_forward_phase: norm_forward_phase,
        input: tensor,
        scale: tensor,
        bias: tensor,
        epsilon: tensor,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> list[Any]:
        """Normalization of each channel of each image."""
        operands = (input, scale, bias, epsilon)
        return self._normalize(
            "instancenorm", norm_forward_phase, operands, compute_data_type, name, out_dims
        )

    @in_both_orders
    def rmsnorm(
        self,
        norm_forward_phase: norm_forward_phase,
        input: tensor,
        scale: tensor | None = None,
        bias: tensor | None = None,
        epsilon: tensor | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> list[Any]:
        """[Y, inv_variance]: input / sqrt(mean(input**2) + epsilon) * scale + bias."""
        operands = (input, scale, bias, given(epsilon, "rmsnorm: epsilon"))
        return self._normalize(
            "rmsnorm", norm_forward_phase, operands, compute_data_type, name, out_dims
        )

    def _normalize(
        self,
        operation: str,
        phase: Any,
        operands: tuple[Any, ...],
        compute_data_type: Any,
        name: str,
        out_dims: Any,
    ) -> list[Any]:
        when = c_member(named(_phase, phase, "norm_forward_phase"))
        if when is None:
            raise ValueError(f"{operation}: norm_forward_phase: INFERENCE or TRAINING")
        return self._described(
            operation,
            "Y inv_var" if operation == "rmsnorm" else "Y mean inv_var",
            when,
            *operands,
            compute_data_type=compute_data_type,
            name=name,
            out_dims=out_dims,
        )

    def batchnorm(
        self,
        input: tensor,
        scale: tensor,
        bias: tensor,
        in_running_mean: tensor | None,
        in_running_var: tensor | None,
        epsilon: tensor,
        momentum: tensor | None,
        peer_stats: Sequence[tensor] = (),
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> list[Any]:
        """Training: [Y, mean, inv_variance, next_running_mean, next_running_var]."""
        running = in_running_mean is not None
        return self._described(
            "batchnorm",
            "Y mean inv_var next_running_mean next_running_var",
            input,
            scale,
            bias,
            in_running_mean,
            in_running_var,
            epsilon,
            # Without running statistics nothing is averaged, and cuDNN wants no factor.
            momentum if running else None,
            peer_stats=peer_stats,
            compute_data_type=compute_data_type,
            name=name,
            out_dims=out_dims,
        )

    def batchnorm_inference(
        self,
        input: tensor,
        mean: tensor,
        inv_variance: tensor,
        scale: tensor,
        bias: tensor,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> tensor:
        """(input - mean) * inv_variance * scale + bias."""
        result: tensor = self._one(
            "batchnorm_inference",
            "Y",
            *(input, mean, inv_variance, scale, bias),
            compute_data_type=compute_data_type,
            name=name,
            out_dims=out_dims,
        )
        return result
