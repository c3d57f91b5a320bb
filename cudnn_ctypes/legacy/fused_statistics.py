"""From the sums of a convolution's output to the scale and bias that normalize it."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from ..handle import Handle
from .fused_call import FusedCall
from .operands import Operands
from .scalars import integer, real

__all__ = [
    "EquivalentScaleBias",
    "FinalizedStatistics",
    "finalize_statistics_inference",
    "finalize_statistics_training",
]


class EquivalentScaleBias(NamedTuple):
    """What the next convolution applies, both (1, K, 1...)."""

    scale: Any
    bias: Any


class FinalizedStatistics(NamedTuple):
    """What the next convolution applies, and for the backward pass; all (1, K, 1...)."""

    scale: Any
    bias: Any
    saved_mean: Any
    saved_inv_deviation: Any


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
    average_factor: float = 1.0,
    epsilon: float = 1e-5,
    data_type: Any = "float16",
    workspace: Any = None,
) -> FinalizedStatistics:
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
    average_factor : float
        The weight of the new values in them.
    epsilon : float
        Added to the variance.
    data_type : data type
        Of scale and bias, that of the next convolution's input: float16, float32 or float64.

    The other parameters, and the errors, are those of `scale_bias_activation_convolution`.
    """
    names = ("y_sum", "y_sqsum", "bn_scale", "bn_bias", "running_mean", "running_variance")
    values = (y_sum, y_sqsum, bn_scale, bn_bias, running_mean, running_variance)
    results = ("scale", "bias", "saved_mean", "saved_inv_deviation")
    with Operands(
        handle,
        **{name: (value, None) for name, value in zip(names, values, strict=True)},
        **dict.fromkeys(results, (None, None)),
    ) as operands:
        call = FusedCall(operands, handle, raw.CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING)
        shape = call.add("y_sum", operands.tensor("y_sum"), "ystats_desc", "ysum").shape
        call.same("y_sqsum", shape, "ystats_desc", "ysqsum")
        call.parameters(shape, running_mean, running_variance)
        made = call.equivalent(shape, data_type)
        for name, label in (
            ("saved_mean", "bn_saved_mean"),
            ("saved_inv_deviation", "bn_saved_invstd"),
        ):
            made.append(operands.make(name, shape, "float32"))
            call.same(name, shape, "bn_scalebias_meanvar_desc", label, written=True)
        call.numbers |= {
            "scalar_int64_t_bn_accumulation_count": integer("count", count, least=1),
            "scalar_double_bn_exp_avg_factor": real("average_factor", average_factor),
            "scalar_double_bn_epsilon": _epsilon(epsilon),
        }
        call.run(workspace)
    return FinalizedStatistics(*made)


def finalize_statistics_inference(
    handle: Handle,
    bn_scale: Any,
    bn_bias: Any,
    running_mean: Any,
    running_variance: Any,
    *,
    epsilon: float = 1e-5,
    data_type: Any = "float16",
    workspace: Any = None,
) -> EquivalentScaleBias:
    """Scale and bias that normalize with running statistics.

    Follows ``CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE``. The parameters, and the errors, are
    those of `finalize_statistics_training`.
    """
    with Operands(
        handle,
        bn_scale=(bn_scale, None),
        bn_bias=(bn_bias, None),
        running_mean=(running_mean, None),
        running_variance=(running_variance, None),
        scale=(None, None),
        bias=(None, None),
    ) as operands:
        call = FusedCall(operands, handle, raw.CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE)
        shape = operands.tensor("bn_scale")[1].shape
        call.parameters(shape, running_mean, running_variance)
        made = call.equivalent(shape, data_type)
        call.numbers["scalar_double_bn_epsilon"] = _epsilon(epsilon)
        call.run(workspace)
    return EquivalentScaleBias(*made)


def _epsilon(epsilon: float) -> float:
    epsilon = real("epsilon", epsilon)
    if not epsilon >= 0:
        raise ValueError(f"epsilon: expected 0 or more, got {epsilon}")
    return epsilon
