"""Normalization: layer, instance, batch, RMS and adaptive layer, forward and backward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..enumerators import enumerator
from ..raw import (
    cudnnBackendNormFwdPhase_t,
    cudnnBackendNormMode_t,
)
from .node import Kind, Node, Result
from .operations import Operations
from .tensor import Tensor

__all__ = [
    "BN_BACKWARD_WEIGHTS",
    "BN_FINALIZE",
    "NORM_BACKWARD",
    "NORM_FORWARD",
    "NormalizationOperations",
]

Mode = cudnnBackendNormMode_t
Phase = cudnnBackendNormFwdPhase_t
Three = tuple[Tensor, Tensor | None, Tensor | None]
_TRAINING = Phase.CUDNN_NORM_FWD_TRAINING


def _norm_mode(value: Mode | str) -> Mode:
    if isinstance(value, str) and not value.lower().endswith("_norm"):
        value += "_norm"
    return enumerator(Mode, value, "mode")


def _statistics_dims(node: Node, x: Tensor, scale: Tensor | None) -> tuple[int, ...]:
    """The dims of mean and inv_variance: 1 where the normalization takes its sums."""
    mode, dims = node.options["mode"], x.dims or ()
    if x.rank < 2:
        node.refuse(f"input {x.name!r} {dims} needs at least two dimensions")
    if mode == Mode.CUDNN_BATCH_NORM:
        return (1, dims[1], *(1,) * (x.rank - 2))
    if mode == Mode.CUDNN_INSTANCE_NORM:
        return (*dims[:2], *(1,) * (x.rank - 2))
    if scale is None:
        return (dims[0], *(1,) * (x.rank - 1))
    kept = [
        size if each == 1 or (axis == 0 and mode == Mode.CUDNN_ADA_LAYER_NORM) else 1
        for axis, (size, each) in enumerate(zip(dims, scale.dims or (), strict=True))
    ]
    return tuple(kept)


def _check_parameters(node: Node, x: Tensor) -> None:
    for port in ("scale", "bias"):
        tensor = node.inputs.get(port)
        if tensor is None:
            continue
        fits = tensor.rank == x.rank and all(
            size in (1, full) for size, full in zip(tensor.dims, x.dims or (), strict=True)
        )
        if not fits:
            node.refuse(
                f"{port} {tensor.name!r} {tensor.dims} does not fit input {x.name!r} {x.dims}: it "
                "needs as many dimensions, each of the input's size or 1"
            )


def _infer_forward(node: Node) -> Mapping[str, Result]:
    x, scale = node.inputs["input"], node.inputs.get("scale")
    _check_parameters(node, x)
    statistics = Result(_statistics_dims(node, x, scale), x, "compute")
    running = Result(statistics.dims, x, "compute")
    return {
        port: Result(x.dims, x) if port == "y" else running if "running" in port else statistics
        for port in node.outputs
    }


def _infer_backward(node: Node) -> Mapping[str, Result]:
    x, grad, scale = node.inputs["input"], node.inputs["grad"], node.inputs.get("scale")
    _check_parameters(node, x)
    if grad.dims != x.dims:
        node.refuse(f"grad {grad.name!r} is {grad.dims}, but input {x.name!r} is {x.dims}")
    parameters = Result(None if scale is None else scale.dims, scale, "compute")
    return {port: Result(x.dims, x) if port == "dx" else parameters for port in node.outputs}


def _infer_like(port: str, data_type: Any) -> Any:
    def infer(node: Node) -> Mapping[str, Result]:
        like = node.inputs[port]
        return dict.fromkeys(node.outputs, Result(like.dims, like, data_type))

    return infer


def _infer_weights(node: Node) -> Mapping[str, Result]:
    mean = node.inputs["mean"]
    return dict.fromkeys(node.outputs, Result(mean.dims, mean, "compute"))


NORM_FORWARD = Kind(
    "operation_norm_forward",
    {
        "input": "xdesc",
        "mean": "mean_desc",
        "inv_variance": "inv_variance_desc",
        "scale": "scale_desc",
        "bias": "bias_desc",
        "epsilon": "epsilon_desc",
        "momentum": "exp_avg_factor_desc",
        "in_running_mean": "input_running_mean_desc",
        "in_running_var": "input_running_var_desc",
        "peer_stats": "peer_stat_descs",
    },
    {
        "y": "ydesc",
        "mean": "mean_desc",
        "inv_variance": "inv_variance_desc",
        "next_running_mean": "output_running_mean_desc",
        "next_running_var": "output_running_var_desc",
    },
    _infer_forward,
    optional=frozenset(
        {
            "mean",
            "inv_variance",
            "scale",
            "bias",
            "epsilon",
            "momentum",
            "in_running_mean",
            "in_running_var",
            "peer_stats",
        }
    ),
    options={"mode": "mode", "phase": "phase"},
)
NORM_BACKWARD = Kind(
    "operation_norm_backward",
    {
        "grad": "dydesc",
        "input": "xdesc",
        "scale": "scale_desc",
        "mean": "mean_desc",
        "inv_variance": "inv_variance_desc",
        "epsilon": "epsilon_desc",
        "peer_stats": "peer_stat_descs",
    },
    {"dx": "dxdesc", "dscale": "dscale_desc", "dbias": "dbias_desc"},
    _infer_backward,
    optional=frozenset({"scale", "mean", "inv_variance", "epsilon", "peer_stats"}),
    options={"mode": "mode"},
)
BN_FINALIZE = Kind(
    "operation_bn_finalize_statistics",
    {
        "sum": "y_sum_desc",
        "sq_sum": "y_sq_sum_desc",
        "scale": "scale_desc",
        "bias": "bias_desc",
        "in_running_mean": "prev_running_mean_desc",
        "in_running_var": "prev_running_var_desc",
        "accum_count": "accum_count_desc",
        "epsilon": "epsilon_desc",
        "momentum": "exp_averate_factor_desc",
    },
    {
        "eq_scale": "eq_scale_desc",
        "eq_bias": "eq_bias_desc",
        "mean": "saved_mean_desc",
        "inv_variance": "saved_inv_std_desc",
        "next_running_mean": "updated_running_mean_desc",
        "next_running_var": "updated_running_var_desc",
    },
    _infer_like("sum", "compute"),
    optional=frozenset({"in_running_mean", "in_running_var", "momentum"}),
    options={"mode": "stats_mode"},
    precision="math_prec",
)
BN_BACKWARD_WEIGHTS = Kind(
    "operation_bn_bwd_weights",
    {
        "dy": "dy_desc",
        "input": "x_desc",
        "mean": "mean_desc",
        "inv_variance": "invstd_desc",
        "scale": "bn_scale_desc",
    },
    {
        "dscale": "dbn_scale_desc",
        "dbias": "dbn_bias_desc",
        "eq_dy_scale": "eq_dy_scale_desc",
        "eq_x_scale": "eq_x_scale_desc",
        "eq_bias": "eq_bias",
    },
    _infer_weights,
    precision="math_prec",
)


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
        code, when = _norm_mode(mode), enumerator(Phase, phase, "phase")
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
            {"mode": _norm_mode(mode)},
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
