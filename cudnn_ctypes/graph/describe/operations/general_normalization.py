"""Normalization of any mode and phase, forward and backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....arguments import enumerator, flag
from ....raw import cudnnBackendNormFwdPhase_t, cudnnBackendNormMode_t
from ..tensor import Tensor
from .base import Operations, listed
from .normalization_kinds import NORM_BACKWARD, NORM_FORWARD

__all__ = ["GeneralNormalization"]

Mode = cudnnBackendNormMode_t
Phase = cudnnBackendNormFwdPhase_t
_TRAINING = Phase.CUDNN_NORM_FWD_TRAINING


def _norm_mode(operation: str, value: Mode | str) -> Mode:
    if isinstance(value, str) and not value.lower().endswith("_norm"):
        value += "_norm"
    return enumerator(Mode, value, f"{operation}: mode")


class GeneralNormalization(Operations):
    """The general norm operations, on which all normalizations of a graph stand."""

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

        ``CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR``.

        Parameters
        ----------
        mode : cudnnBackendNormMode_t or str
            "layer", "instance", "batch", "rms", "ada_layer".
        phase : cudnnBackendNormFwdPhase_t or str
            "training" gives mean and inv_variance too; both must be used or be outputs.
        input : Tensor
            ``(n, c, *spatial)``.
        scale, bias : Tensor, optional
            For "layer", "rms" and "ada_layer", their sizes other than 1 say which dimensions are
            normalized: ``(1, c, *spatial)`` or (1, 1, d) for "layer" and "rms", (n, 1, d) for
            "ada_layer". For "batch" and "instance" they are (1, c, 1, …).
        epsilon : Tensor or float
            Added to the variance; needed in training.
        mean, inv_variance : Tensor, optional
            Those to use, in the phase "inference" of "batch" and "instance".
        momentum, in_running_mean, in_running_var : optional
            All or none, for "batch" in training: next = (1 - momentum) * in + momentum * new.
        peer_stats : sequence of Tensor
            Memory that the GPUs share that train on parts of one batch.
        operation : str
            What messages call it: the name of the method that asks for it.

        Returns
        -------
        dict
            "y"; in training "mean" (but for "rms") and "inv_variance"; with running statistics
            "next_running_mean" and "next_running_var". y is like `input`; the others are of the
            compute data type, with 1 where the normalization takes its sums.

        Raises
        ------
        TypeError
            For operands that the phase lacks, or that do not belong to it.
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
            "peer_stats": listed(f"{operation}: peer_stats", peer_stats) or None,
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
        """The gradients of `norm_forward`; ``CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR``.

        Parameters
        ----------
        mode : cudnnBackendNormMode_t or str
            "layer", "instance", "batch", "rms", "ada_layer".
        grad, input : Tensor
            The gradient with respect to y, and what was normalized; both ``(n, c, *spatial)``.
        scale : Tensor, optional
            As `norm_forward` had it.
        mean, inv_variance : Tensor, optional
            Results of `norm_forward` in training; "rms" has no mean.
        has_dbias : bool
            Whether there was a bias.
        operation : str
            What messages call it: the name of the method that asks for it.

        Returns
        -------
        dict
            "dx", like `input`; with `scale` "dscale" and "dbias", like it, of the compute data
            type.
        """
        wanted = ["dx"]
        if scale is not None:
            both = flag(f"{operation}: has_dbias", has_dbias)
            wanted += ["dscale", "dbias"] if both else ["dscale"]
        operands = {
            "grad": grad,
            "input": input,
            "scale": scale,
            "mean": mean,
            "inv_variance": inv_variance,
            "epsilon": epsilon,
            "peer_stats": listed(f"{operation}: peer_stats", peer_stats) or None,
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
