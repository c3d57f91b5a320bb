"""From the sums of a convolution's output to the scale and bias that normalize it."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from ..arguments import integer
from ..handle import Handle
from .fused_call import FusedCall
from .launch import launched_by_alignment
from .scalars import real

__all__ = [
    "FinalizedStatisticsResult",
    "ScaleBiasResult",
    "finalize_statistics_inference",
    "finalize_statistics_training",
]


class ScaleBiasResult(NamedTuple):
    """Scale and bias for the next convolution, both (1, K, 1...).

    For an example see `finalize_statistics_inference`.
    """

    scale: Any
    bias: Any


class FinalizedStatisticsResult(NamedTuple):
    """Scale and bias for the next convolution, statistics for backward; all (1, K, 1...).

    For an example see `finalize_statistics_training`.
    """

    scale: Any
    bias: Any
    saved_mean: Any
    saved_inv_variance: Any


@launched_by_alignment
def finalize_statistics_training(
    handle: Handle,
    y_sum: Any,
    y_sqsum: Any,
    count: int,
    bn_scale: Any,
    bn_bias: Any,
    running_mean: Any = None,
    running_variance: Any = None,
    *,
    scale: Any = None,
    bias: Any = None,
    saved_mean: Any = None,
    saved_inv_variance: Any = None,
    average_factor: float,
    epsilon: float = 1e-5,
    data_type: Any = "float16",
    workspace: Any = None,
) -> FinalizedStatisticsResult:
    """Scale and bias that normalize y, from its sums.

    Follows ``CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING``.

    Parameters
    ----------
    y_sum, y_sqsum : tensor
        float32 (1, K, 1...), as `scale_bias_activation_convolution` gives them.
    count : int
        How many values each sum has: N times the size of the output.
    bn_scale, bn_bias : tensor
        float32 (1, K, 1...), what is learned.
    running_mean, running_variance : tensor, optional
        float32 (1, K, 1...); they are updated in place.
    scale, bias : tensor, optional
        (K,) or (1, K, 1...). Default: allocated, of `data_type`.
    saved_mean, saved_inv_variance : tensor, optional
        float32 (1, K, 1...): the mean, and 1 / sqrt(variance + epsilon). Default: allocated.
    average_factor : float
        The weight of the new values in the running ones.
    epsilon : float
        Added to the variance.
    data_type : data type
        Of scale and bias if they are not given, that of the next convolution's input: float16,
        float32 or float64.

    The other parameters, and the errors, are those of `scale_bias_activation_convolution`.

    Examples
    --------
    >>> values = dict(y_sum=8, y_sqsum=20, bn_scale=1, bn_bias=0)  # of the 4 numbers 1, 3, 1, 3
    >>> tensors = {n: DeviceTensor.full((1, 32, 1, 1), v, "float32") for n, v in values.items()}
    >>> with Handle() as handle:
    ...     result = finalize_statistics_training(handle, count=4, average_factor=1, **tensors)
    >>> result.saved_mean.numpy()[0, 0].item()
    2.0
    >>> result.scale.numpy()[0, 0].item(), result.bias.numpy()[0, 0].item()  # y = x - 2
    (1.0, -2.0)
    """
    tensors = {"y_sum": y_sum, "y_sqsum": y_sqsum, "bn_scale": bn_scale, "bn_bias": bn_bias}
    tensors |= {"running_mean": running_mean, "running_variance": running_variance}
    tensors |= {"scale": scale, "bias": bias}
    tensors |= {"saved_mean": saved_mean, "saved_inv_variance": saved_inv_variance}
    with FusedCall(handle, raw.CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING, **tensors) as call:
        shape = call.pack("y_sum", call.describe("y_sum"), "ystats_desc", "ysum").shape
        call.same("y_sqsum", shape, "ystats_desc", "ysqsum")
        call.parameters(shape)
        results = list(call.equivalent(shape, data_type))
        for name, label in (
            ("saved_mean", "bn_saved_mean"),
            ("saved_inv_variance", "bn_saved_invstd"),
        ):
            results.append(call.result(name, shape, "float32"))
            call.same(name, shape, "bn_scalebias_meanvar_desc", label, written=True)
        call.numbers |= {
            "scalar_int64_t_bn_accumulation_count": integer("count", count, least=1),
            "scalar_double_bn_exp_avg_factor": real("average_factor", average_factor),
            "scalar_double_bn_epsilon": _epsilon(epsilon),
        }
        call.run(workspace)
    return FinalizedStatisticsResult(*results)


@launched_by_alignment
def finalize_statistics_inference(
    handle: Handle,
    bn_scale: Any,
    bn_bias: Any,
    running_mean: Any,
    running_variance: Any,
    *,
    scale: Any = None,
    bias: Any = None,
    epsilon: float = 1e-5,
    data_type: Any = "float16",
    workspace: Any = None,
) -> ScaleBiasResult:
    """Scale and bias that normalize with running statistics.

    Follows ``CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE``.

    The parameters, and the errors, are those of `finalize_statistics_training`.

    Examples
    --------
    >>> values = dict(bn_scale=6, bn_bias=1, running_mean=2, running_variance=4)
    >>> tensors = {n: DeviceTensor.full((1, 32, 1, 1), v, "float32") for n, v in values.items()}
    >>> with Handle() as handle:
    ...     result = finalize_statistics_inference(handle, epsilon=0, **tensors)
    >>> result.scale.numpy()[0, 0].item(), result.bias.numpy()[0, 0].item()  # y = 3 * x - 5
    (3.0, -5.0)
    """
    tensors = {"bn_scale": bn_scale, "bn_bias": bn_bias, "scale": scale, "bias": bias}
    tensors |= {"running_mean": running_mean, "running_variance": running_variance}
    with FusedCall(handle, raw.CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE, **tensors) as call:
        shape = call.describe("bn_scale").shape
        call.parameters(shape)
        result = ScaleBiasResult(*call.equivalent(shape, data_type))
        call.numbers["scalar_double_bn_epsilon"] = _epsilon(epsilon)
        call.run(workspace)
    return result


def _epsilon(epsilon: float) -> float:
    epsilon = real("epsilon", epsilon)
    if not epsilon >= 0:
        raise ValueError(f"epsilon: expected 0 or more, got {epsilon}")
    return epsilon
