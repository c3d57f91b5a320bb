"""The normalizations by their names: layer, instance, batch, RMS and adaptive layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....raw import cudnnBackendNormFwdPhase_t
from ..tensor import Tensor
from .general_normalization import GeneralNormalization

__all__ = ["NormalizationOperations"]

Three = tuple[Tensor, Tensor | None, Tensor | None]


class NormalizationOperations(GeneralNormalization):
    """The normalizations of a graph."""

    def layernorm(
        self,
        norm_forward_phase: cudnnBackendNormFwdPhase_t | str,
        input: Tensor,
        scale: Tensor | None,
        bias: Tensor | None,
        epsilon: Tensor | float,
        *,
        name: str = "",
        compute_data_type: Any = None,
    ) -> Three:
        """Layer normalization (Ba et al., 2016), as `norm_forward` does it.

        Parameters
        ----------
        norm_forward_phase : "training" or "inference"
            In training what the backward pass needs is a result, too.
        input : Tensor
            ``(n, c, *spatial)``, or (n, tokens, d).
        scale, bias : Tensor, optional
            Their sizes other than 1 say which dimensions are normalized.
        epsilon : Tensor or float
            Added to the variance.

        Returns
        -------
        y, mean, inv_variance : Tensor
            The last two are None in inference.

        Examples
        --------
        >>> graph = Graph(io_data_type="float16")
        >>> x = graph.tensor((4, 128, 1024))
        >>> scale, bias = (graph.tensor((1, 1, 1024), data_type="float32") for _ in range(2))
        >>> y, mean, inv_variance = graph.layernorm("training", x, scale, bias, 1e-5)
        >>> _ = y.set_output(), mean.set_output(), inv_variance.set_output(), graph.validate()
        >>> y.dims, mean.dims
        ((4, 128, 1024), (4, 128, 1))
        """
        options = {"name": name, "compute_data_type": compute_data_type}
        return self._three("layer", norm_forward_phase, input, scale, bias, epsilon, options)

    def adalayernorm(
        self,
        norm_forward_phase: cudnnBackendNormFwdPhase_t | str,
        input: Tensor,
        scale: Tensor,
        bias: Tensor | None,
        epsilon: Tensor | float,
        *,
        name: str = "",
        compute_data_type: Any = None,
    ) -> Three:
        """`layernorm` with a scale and bias for each batch: (n, 1, …, d).

        The other parameters, and the result, are those of `layernorm`.
        """
        options = {"name": name, "compute_data_type": compute_data_type}
        return self._three("ada_layer", norm_forward_phase, input, scale, bias, epsilon, options)

    def instancenorm(
        self,
        norm_forward_phase: cudnnBackendNormFwdPhase_t | str,
        input: Tensor,
        scale: Tensor,
        bias: Tensor,
        epsilon: Tensor | float,
        *,
        mean: Tensor | None = None,
        inv_variance: Tensor | None = None,
        name: str = "",
        compute_data_type: Any = None,
    ) -> Three:
        """Normalization of each channel of each image (Ulyanov et al., 2016).

        Parameters
        ----------
        norm_forward_phase : "training" or "inference"
            In training what the backward pass needs is a result, too.
        input : Tensor
            ``(n, c, *spatial)``.
        scale, bias : Tensor
            (1, c, 1, …).
        epsilon : Tensor or float
            Added to the variance.
        mean, inv_variance : Tensor, optional
            (n, c, 1, …): those to use, in inference.

        Returns
        -------
        y, mean, inv_variance : Tensor
            The last two are None in inference.

        Examples
        --------
        >>> graph = Graph(io_data_type="float16")
        >>> x = graph.tensor((8, 64, 28, 28), layout="nhwc")
        >>> scale, bias = (graph.tensor((1, 64, 1, 1), data_type="float32") for _ in range(2))
        >>> y, mean, inv_variance = graph.instancenorm("training", x, scale, bias, 1e-5)
        >>> _ = y.set_output(), mean.set_output(), inv_variance.set_output(), graph.validate()
        >>> y.dims, mean.dims
        ((8, 64, 28, 28), (8, 64, 1, 1))
        """
        options = {
            "mean": mean,
            "inv_variance": inv_variance,
            "name": name,
            "compute_data_type": compute_data_type,
        }
        return self._three("instance", norm_forward_phase, input, scale, bias, epsilon, options)

    def rmsnorm(
        self,
        norm_forward_phase: cudnnBackendNormFwdPhase_t | str,
        input: Tensor,
        scale: Tensor | None,
        bias: Tensor | None,
        epsilon: Tensor | float,
        *,
        name: str = "",
        compute_data_type: Any = None,
    ) -> tuple[Tensor, Tensor | None]:
        """y = input / sqrt(mean(input**2) + epsilon) * scale + bias (Zhang and Sennrich, 2019).

        Parameters are those of `layernorm`.

        Returns
        -------
        y, inv_variance : Tensor
            The last is 1 / sqrt(…), None in inference.

        Examples
        --------
        >>> graph = Graph(io_data_type="float16")
        >>> x, scale = graph.tensor((4, 128, 1024)), graph.tensor((1, 1, 1024), data_type="float32")
        >>> y, inv_variance = graph.rmsnorm("inference", x, scale, None, 1e-5)
        >>> _ = y.set_output(), graph.validate()
        >>> y.dims, inv_variance
        ((4, 128, 1024), None)
        """
        results = self.norm_forward(
            "rms",
            norm_forward_phase,
            input,
            scale,
            bias,
            epsilon,
            operation="rmsnorm",
            name=name,
            compute_data_type=compute_data_type,
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
        *,
        peer_stats: Sequence[Tensor] = (),
        name: str = "",
        compute_data_type: Any = None,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
        """Batch normalization in training (Ioffe and Szegedy, 2015), as `norm_forward` does it.

        With fixed statistics there is `batchnorm_inference`.

        Parameters
        ----------
        input : Tensor
            ``(n, c, *spatial)``.
        scale, bias, in_running_mean, in_running_var : Tensor
            (1, c, 1, …).
        epsilon : Tensor or float
            Added to the variance.
        momentum : Tensor or float, optional
            Weight of this batch in the running statistics.
        peer_stats : sequence of Tensor
            As for `norm_forward`.

        Returns
        -------
        y, mean, inv_variance, next_running_mean, next_running_var : Tensor
            All but y (1, c, 1, …); the last two are None without running statistics.

        Examples
        --------
        >>> graph = Graph(io_data_type="float16")
        >>> x = graph.tensor((8, 64, 28, 28), layout="nhwc")
        >>> scale, bias = (graph.tensor((1, 64, 1, 1), data_type="float32") for _ in range(2))
        >>> y, mean, inv_variance, _, _ = graph.batchnorm(x, scale, bias)
        >>> _ = y.set_output(), mean.set_output(), inv_variance.set_output(), graph.validate()
        >>> y.dims, mean.dims
        ((8, 64, 28, 28), (1, 64, 1, 1))
        """
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
            peer_stats=peer_stats,
            name=name,
            compute_data_type=compute_data_type,
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
