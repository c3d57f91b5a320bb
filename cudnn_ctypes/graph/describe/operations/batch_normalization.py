"""Batch normalization in parts, to be fused with convolutions: statistics into scale and bias."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....raw import cudnnBnFinalizeStatsMode_t
from ....raw.strides import broadcast
from ..node import Kind, Node, Result
from ..tensor import Tensor
from .base import Operations, operation


def _infer_finalize(node: Node) -> Mapping[str, Result]:
    total = node.inputs["sum"]
    for port in ("sq_sum", "scale", "bias", "in_running_mean", "in_running_var"):
        node.want_dims(port, total.dims, f"sum {total.name!r} is")
    return dict.fromkeys(node.outputs, Result(total.dims, total, "compute"))


def _infer_weights(node: Node) -> Mapping[str, Result]:
    x, mean = node.inputs["input"], node.inputs["mean"]
    node.want_dims("dy", x.dims, f"input {x.name!r} is")
    channels = (1, *x.dims[1:2], *(1,) * (x.rank - 2))
    for port in ("mean", "inv_variance", "scale"):
        node.want_dims(port, channels, f"{x.name!r} {x.dims} needs")
    return dict.fromkeys(node.outputs, Result(mean.dims, mean, "compute"))


def _infer_inference(node: Node) -> Mapping[str, Result]:
    tensors = list(node.inputs.values())
    dims = broadcast(*(tensor.dims or () for tensor in tensors))
    if dims is None:
        listed = ", ".join(
            f"{port} {each.name!r} {each.dims}" for port, each in node.inputs.items()
        )
        node.refuse(f"the operands do not broadcast to one shape: {listed}")
    like = next((tensor for tensor in tensors if tensor.dims == dims), tensors[0])
    return {"y": Result(dims, like)}


BN_FINALIZE = Kind.of(
    "operation_bn_finalize_statistics",
    "sum=y_sum_desc sq_sum=y_sq_sum_desc scale bias in_running_mean?=prev_running_mean_desc "
    "in_running_var?=prev_running_var_desc accum_count epsilon "
    "momentum=exp_averate_factor_desc",
    "eq_scale eq_bias mean=saved_mean_desc inv_variance=saved_inv_std_desc "
    "next_running_mean=updated_running_mean_desc next_running_var=updated_running_var_desc",
    _infer_finalize,
    options="mode=stats_mode",
    precision="math_prec",
    required="mode",
)
BN_BACKWARD_WEIGHTS = Kind.of(
    "operation_bn_bwd_weights",
    "dy input=x_desc mean inv_variance=invstd_desc scale=bn_scale_desc",
    "dscale=dbn_scale_desc dbias=dbn_bias_desc eq_dy_scale eq_x_scale eq_bias=eq_bias",
    _infer_weights,
    precision="math_prec",
)


BATCHNORM_INFERENCE = Kind.of("", "input mean inv_variance scale bias", "y", _infer_inference)


@operation(
    BN_FINALIZE,
    returns=(
        *("eq_scale", "eq_bias", "mean", "inv_variance"),
        *("next_running_mean?", "next_running_var?"),
    ),
)
def bn_finalize(
    graph: Operations,
    sum: Tensor,
    sq_sum: Tensor,
    scale: Tensor,
    bias: Tensor,
    epsilon: Tensor | float,
    accum_count: Tensor | int,
    in_running_mean: Tensor | None = None,
    in_running_var: Tensor | None = None,
    momentum: Tensor | float = 0.1,
) -> Mapping[str, Any]:
    """From the statistics of `genstats` to what normalizes: y = x * eq_scale + eq_bias.

    ``CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR``.

    Parameters
    ----------
    sum, sq_sum, scale, bias, in_running_mean, in_running_var : Tensor
        (1, c, 1, …).
    epsilon, momentum : Tensor or float
        What is added to the variance; the share of the new statistics in the running ones.
    accum_count : Tensor or int
        How many elements were added up in each channel; int64.

    Returns
    -------
    eq_scale, eq_bias, mean, inv_variance, next_running_mean, next_running_var : Tensor
        The last two are None without running statistics.
    """
    if not isinstance(accum_count, Tensor):
        accum_count = graph.tensor_scalar(accum_count, "int64")
    running = ("next_running_mean", "next_running_var")
    return {
        "accum_count": accum_count,
        "mode": cudnnBnFinalizeStatsMode_t.CUDNN_BN_FINALIZE_STATISTICS_TRAINING,
        "outputs": [
            port
            for port in BN_FINALIZE.outputs
            if in_running_mean is not None or port not in running
        ],
    }


@operation(BN_BACKWARD_WEIGHTS, returns=tuple(BN_BACKWARD_WEIGHTS.outputs))
def bn_backward_weights(
    dy: Tensor, input: Tensor, mean: Tensor, inv_variance: Tensor, scale: Tensor
) -> None:
    """The gradients of batch normalization, but for that of its input.

    ``CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR``. The gradient of the input is
    dy * eq_dy_scale + input * eq_x_scale + eq_bias.

    Parameters
    ----------
    dy, input : Tensor
        ``(n, c, *spatial)``.
    mean, inv_variance, scale : Tensor
        (1, c, 1, …).

    Returns
    -------
    dscale, dbias, eq_dy_scale, eq_x_scale, eq_bias : Tensor
        (1, c, 1, …), of the compute data type.
    """


@operation(BATCHNORM_INFERENCE)
def batchnorm_inference(
    input: Tensor, mean: Tensor, inv_variance: Tensor, scale: Tensor, bias: Tensor
) -> None:
    """(input - mean) * inv_variance * scale + bias.

    cuDNN has it as element-wise operations, and as one operation in front of the backward pass
    of the same normalization.

    Parameters
    ----------
    input : Tensor
        ``(n, c, *spatial)``.
    mean, inv_variance, scale, bias : Tensor
        (1, c, 1, …).

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((8, 64, 28, 28), layout="nhwc")
    >>> names = ("mean", "inv_variance", "scale", "bias")
    >>> numbers = {name: graph.tensor((1, 64, 1, 1), data_type="float32") for name in names}
    >>> y = graph.batchnorm_inference(x, **numbers).set_output()
    >>> _ = graph.validate()
    >>> y.dims
    (8, 64, 28, 28)
    """
