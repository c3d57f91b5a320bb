"""The normalizations of a `pygraph`, forward and backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .enums import c_data_type, c_member, data_type, named, norm_forward_phase
from .errors import translated
from .front_graph import Described
from .tensors import tensor

__all__ = ["NormMethods"]

_NOT_SET = data_type.NOT_SET
_phase = norm_forward_phase


class NormMethods(Described):
    """Layer, adaptive layer, instance, batch and RMS normalization.

    The forward ones give [Y, mean, inv_variance], the last two None in inference; batch
    normalization also the running statistics, and RMS normalization no mean.
    """

    def layernorm(
        self,
        norm_forward_phase: norm_forward_phase,
        input: tensor,
        scale: tensor,
        bias: tensor,
        epsilon: tensor,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> list[Any]:
        """Normalization of the dimensions in which `scale` has a size other than 1."""
        operands = (input, scale, bias, epsilon)
        return self._normalize("layernorm", norm_forward_phase, operands, compute_data_type, name)

    def adalayernorm(
        self,
        norm_forward_phase: norm_forward_phase,
        input: tensor,
        scale: tensor,
        bias: tensor | None = None,
        epsilon: tensor | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> list[Any]:
        """`layernorm` with a scale and bias for each batch."""
        operands = (input, scale, bias, _given("adalayernorm", epsilon))
        return self._normalize(
            "adalayernorm", norm_forward_phase, operands, compute_data_type, name
        )

    def instancenorm(
        self,
        norm_forward_phase: norm_forward_phase,
        input: tensor,
        scale: tensor,
        bias: tensor,
        epsilon: tensor,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> list[Any]:
        """Normalization of each channel of each image."""
        operands = (input, scale, bias, epsilon)
        return self._normalize(
            "instancenorm", norm_forward_phase, operands, compute_data_type, name
        )

    def rmsnorm(
        self,
        norm_forward_phase: norm_forward_phase,
        input: tensor,
        scale: tensor,
        bias: tensor | None = None,
        epsilon: tensor | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> list[Any]:
        """[Y, inv_variance]: input / sqrt(mean(input**2) + epsilon) * scale + bias."""
        operands = (input, scale, bias, _given("rmsnorm", epsilon))
        return self._normalize("rmsnorm", norm_forward_phase, operands, compute_data_type, name)

    def _normalize(
        self,
        operation: str,
        phase: Any,
        operands: tuple[Any, ...],
        compute_data_type: Any,
        name: str,
    ) -> list[Any]:
        when = c_member(named(_phase, phase, "norm_forward_phase"))
        if when is None:
            raise ValueError(f"{operation}: norm_forward_phase: INFERENCE or TRAINING")
        ports = "Y INV_VARIANCE" if operation == "rmsnorm" else "Y MEAN INV_VARIANCE"
        return self._described(
            operation, ports, when, *operands, compute_data_type=compute_data_type, name=name
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
    ) -> list[Any]:
        """Training: [Y, mean, inv_variance, next_running_mean, next_running_var]."""
        running = in_running_mean is not None
        return self._described(
            "batchnorm",
            "Y MEAN INV_VARIANCE NEXT_RUNNING_MEAN NEXT_RUNNING_VAR",
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
    ) -> tensor:
        """(input - mean) * inv_variance * scale + bias."""
        made: tensor = self._one(
            "batchnorm_inference",
            "Y",
            *(input, mean, inv_variance, scale, bias),
            compute_data_type=compute_data_type,
            name=name,
        )
        return made

    def layernorm_backward(
        self,
        grad: tensor,
        input: tensor,
        scale: tensor,
        mean: tensor,
        inv_variance: tensor,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> list[Any]:
        """[DX, DSCALE, DBIAS] of `layernorm`."""
        operands = (grad, input, scale, mean, inv_variance)
        return self._gradients("layernorm", operands, compute_data_type, name)

    def adalayernorm_backward(
        self,
        grad: tensor,
        input: tensor,
        scale: tensor,
        mean: tensor,
        inv_variance: tensor,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> list[Any]:
        """[DX, DSCALE, DBIAS] of `adalayernorm`."""
        operands = (grad, input, scale, mean, inv_variance)
        return self._gradients("adalayernorm", operands, compute_data_type, name)

    def instancenorm_backward(
        self,
        grad: tensor,
        input: tensor,
        scale: tensor,
        mean: tensor | None = None,
        inv_variance: tensor | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> list[Any]:
        """[DX, DSCALE, DBIAS] of `instancenorm`."""
        operands = (grad, input, scale, mean, inv_variance)
        return self._gradients("instancenorm", operands, compute_data_type, name)

    def batchnorm_backward(
        self,
        grad: tensor,
        input: tensor,
        scale: tensor,
        mean: tensor,
        inv_variance: tensor,
        peer_stats: Sequence[tensor] = (),
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> list[Any]:
        """[DX, DSCALE, DBIAS] of `batchnorm`, or of `batchnorm_inference`."""
        operands = (grad, input, scale, mean, inv_variance)
        return self._gradients(
            "batchnorm", operands, compute_data_type, name, peer_stats=peer_stats
        )

    def rmsnorm_backward(
        self,
        grad: tensor,
        input: tensor,
        scale: tensor,
        inv_variance: tensor,
        has_dbias: bool,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> list[Any]:
        """[DX, DSCALE, DBIAS] of `rmsnorm`; DBIAS is None without `has_dbias`."""
        operands = (grad, input, scale, None, inv_variance)
        results = self._gradients("rmsnorm", operands, compute_data_type, name, has_dbias=has_dbias)
        return [*results, None][:3]

    def _gradients(
        self,
        operation: str,
        operands: tuple[Any, ...],
        compute_data_type: Any,
        name: str,
        **options: Any,
    ) -> list[Any]:
        graph = self._graph
        stem = str(name) or graph._free_name(f"{operation}_backward")
        with translated(f"pygraph.{operation}_backward"):
            made = graph.norm_backward(
                _MODES[operation],
                *operands,
                operation=f"{operation}_backward",
                name=stem,
                compute_data_type=c_data_type(compute_data_type),
                **options,
            )
        graph.own_nodes.append(graph.nodes[-1])
        for port, result in made.items():
            small = operation == "rmsnorm" and port != "dx"
            result.name = f"{stem}::{port.capitalize() if small else port.upper()}"
        return list(made.values())


_MODES = {
    "layernorm": "layer",
    "adalayernorm": "ada_layer",
    "instancenorm": "instance",
    "batchnorm": "batch",
    "rmsnorm": "rms",
}


def _given(operation: str, epsilon: tensor | None) -> tensor:
    """`epsilon` comes after an argument that may be left out, but may not be so itself."""
    if epsilon is None:
        raise TypeError(f"{operation}: epsilon is missing")
    return epsilon
