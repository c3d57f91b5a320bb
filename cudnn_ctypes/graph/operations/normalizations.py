"""Normalization: layer, instance, batch, RMS and adaptive layer, forward and backward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...enumerators import enumerator
from ...raw import cudnnBackendNormFwdPhase_t, cudnnBackendNormMode_t
from ..tensor import Tensor
from .base import Operations
from .normalization_kinds import NORM_BACKWARD, NORM_FORWARD

__all__ = ["NormalizationOperations"]

Mode = cudnnBackendNormMode_t
Phase = cudnnBackendNormFwdPhase_t
Three = tuple[Tensor, Tensor | None, Tensor | None]
_TRAINING = Phase.CUDNN_NORM_FWD_TRAINING


def _norm_mode(operation: str, value: Mode | str) -> Mode:
    if isinstance(value, str) and not value.lower().endswith("_norm"):
        value += "_norm"
    return enumerator(Mode, value, f"{operation}: mode")


class NormalizationOperations(Operations):
    """The normalizations of a graph."""

    def norm_forward(
        self,
        mode: cudnnBackendNormMode_t | str,
        phase: cudnnBackendNormFwdPhase_t | str,
        input: Tensor,
        scale: Tensor | None = None,
        bias: Tensor | None = None,
        epsilon: Tensor | float | None = None,
        *,
        mean: Tensor | None = None,
        inv_variance: Tensor | None = None,
        momentum: Tensor | float | None = None,
        in_running_mean: Tensor | None = None,
        in_running_var: Tensor | None = None,
        peer_stats: Sequence[Tensor] = (),
        operation: str = "norm_forward",
        name: str = "",
        compute_data_type: Any = None,
    ) -> dict[str, Tensor]:
        """y = (input - mean) * inv_variance * scale + bias, of any mode and phase.

        Parameters
        ----------
        mode : cudnnBackendNormMode_t or str
            "layer", "instance", "batch", "rms", "ada_layer".
        phase : cudnnBackendNormFwdPhase_t or str
            "training" gives mean and inv_variance too; both must be used or be outputs.
        input : Tensor
            (n, c, *spatial).
        scale, bias : Tensor, optional
            For "layer", "rms" and "ada_layer", their sizes other than 1 say which dimensions are
            normalized.
        mean, inv_variance : Tensor, optional
            Those to use, in the phase "inference" of "batch" and "instance".

        Returns
        -------
        dict
            "y"; in training "mean" (but for "rms") and "inv_variance"; with running statistics
            "next_running_mean" and "next_running_var".
        """
        code, when = _norm_mode(operation, mode), enumerator(Phase, phase, f"{operation}: phase")
        if when == _TRAINING:
            if mean is not None or inv_variance is not None:
                raise TypeError(f"{operation}: mean and inv_variance are results in training")
            if epsilon is None:
                raise TypeError(f"{operation}: epsilon is missing")
        if (in_running_mean is None) != (in_running_var is None):
            raise TypeError(f"{operation}: in_running_mean and in_running_var go together")
        if in_running_mean is not None and momentum is None:
            raise TypeError(f"{operation}: running statistics need a momentum")
        wanted = ["y"]
        if when == _TRAINING:
            wanted += ["inv_variance"] if code == Mode.CUDNN_RMS_NORM else ["mean", "inv_variance"]
        if in_running_mean is not None:
            wanted += ["next_running_mean", "next_running_var"]
        operands = {
            "input": input,
            "mean": mean,
            "inv_variance": inv_variance,
            "scale": scale,
            "bias": bias,
            "epsilon": epsilon,
            "momentum": momentum,
            "in_running_mean": in_running_mean,
            "in_running_var": in_running_var,
            "peer_stats": list(peer_stats) or None,
        }
        return self._add(
            NORM_FORWARD,
            operation,
            operands,
            {"mode": code, "phase": when},
            outputs=wanted,
            name=name,
            compute_data_type=compute_data_type,
        )

    def norm_backward(
        self,
        mode: cudnnBackendNormMode_t | str,
        grad: Tensor,
        input: Tensor,
        scale: Tensor | None = None,
        mean: Tensor | None = None,
        inv_variance: Tensor | None = None,
        *,
        epsilon: Tensor | float | None = None,
        peer_stats: Sequence[Tensor] = (),
        has_dbias: bool = True,
        operation: str = "norm_backward",
        name: str = "",
        compute_data_type: Any = None,
    ) -> dict[str, Tensor]:
        """The gradients of `norm_forward`: "dx", and with `scale` "dscale" and "dbias"."""
        wanted = ["dx"]
        if scale is not None:
            wanted += ["dscale", "dbias"] if has_dbias else ["dscale"]
        operands = {
            "grad": grad,
            "input": input,
            "scale": scale,
            "mean": mean,
            "inv_variance": inv_variance,
            "epsilon": epsilon,
            "peer_stats": list(peer_stats) or None,
        }
        return self._add(
            NORM_BACKWARD,
            operation,
            operands,
            {"mode": _norm_mode(operation, mode)},
            outputs=wanted,
            name=name,
            compute_data_type=compute_data_type,
        )

    def layernorm(
        self,
        norm_forward_phase: cudnnBackendNormFwdPhase_t | str,
        input: Tensor,
        scale: Tensor | None,
        bias: Tensor | None,
        epsilon: Tensor | float,
        **options: Any,
    ) -> Three:
        """y, mean, inv_variance; the last two are None in inference. See `norm_forward`."""
        return self._three("layer", norm_forward_phase, input, scale, bias, epsilon, options)

    def adalayernorm(
        self,
        norm_forward_phase: cudnnBackendNormFwdPhase_t | str,
        input: Tensor,
        scale: Tensor,
        bias: Tensor | None,
        epsilon: Tensor | float,
        **options: Any,
    ) -> Three:
        """`layernorm` with a scale and bias for each batch: (n, 1, …, d)."""
        return self._three("ada_layer", norm_forward_phase, input, scale, bias, epsilon, options)

    def instancenorm(
        self,
        norm_forward_phase: cudnnBackendNormFwdPhase_t | str,
        input: Tensor,
        scale: Tensor,
        bias: Tensor,
        epsilon: Tensor | float,
        **options: Any,
    ) -> Three:
        """y, mean, inv_variance of each image and channel; scale and bias are (1, c, 1, …)."""
        return self._three("instance", norm_forward_phase, input, scale, bias, epsilon, options)

    def rmsnorm(
        self,
        norm_forward_phase: cudnnBackendNormFwdPhase_t | str,
        input: Tensor,
        scale: Tensor | None,
        bias: Tensor | None,
        epsilon: Tensor | float,
        **options: Any,
    ) -> tuple[Tensor, Tensor | None]:
        """y = input / sqrt(mean(input**2) + epsilon) * scale + bias, and inv_variance."""
        results = self.norm_forward(
            "rms", norm_forward_phase, input, scale, bias, epsilon, operation="rmsnorm", **options
        )
        return results["y"], results.get("inv_variance")

    def batchnorm(
        self,
        input: Tensor,
        scale: Tensor,
        bias: Tensor,
        in_running_mean: Tensor | None = None,
        in_running_var: Tensor | None = None,
        epsilon: Tensor | float = 1e-5,
        momentum: Tensor | float | None = None,
        **options: Any,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
        """Training: y, mean, inv_variance, next_running_mean, next_running_var."""
        results = self.norm_forward(
            "batch",
            "training",
            input,
            scale,
            bias,
            epsilon,
            momentum=momentum,
            in_running_mean=in_running_mean,
            in_running_var=in_running_var,
            operation="batchnorm",
            **options,
        )
        return (
            results["y"],
            results["mean"],
            results["inv_variance"],
            results.get("next_running_mean"),
            results.get("next_running_var"),
        )

    def _three(
        self,
        mode: str,
        phase: Any,
        input: Tensor,
        scale: Tensor | None,
        bias: Tensor | None,
        epsilon: Any,
        options: Mapping[str, Any],
    ) -> Three:
        results = self.norm_forward(
            mode,
            phase,
            input,
            scale,
            bias,
            epsilon,
            operation=mode.replace("_", "") + "norm",
            **options,
        )
        return results["y"], results.get("mean"), results.get("inv_variance")
