"""Normalization as cuDNN describes it: attributes, and the dims that follow from the operands."""

from __future__ import annotations

from collections.abc import Mapping

from ....raw import cudnnBackendNormMode_t
from ..node import Kind, Node, Result
from ..tensor import Tensor

__all__ = ["NORM_BACKWARD", "NORM_FORWARD"]

Mode = cudnnBackendNormMode_t
_OF_CHANNELS = (Mode.CUDNN_BATCH_NORM, Mode.CUDNN_INSTANCE_NORM)


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
    scale, bias = node.inputs.get("scale"), node.inputs.get("bias")
    if scale is not None and bias is not None and scale.dims != bias.dims:
        node.refuse(f"scale {scale.name!r} {scale.dims} and bias {bias.name!r} {bias.dims} differ")
    if scale is not None and node.options["mode"] in _OF_CHANNELS:
        channels = (1, *(x.dims or ())[1:2], *(1,) * (x.rank - 2))
        if scale.dims != channels:
            node.refuse(
                f"scale {scale.name!r} is {scale.dims}; it needs one number for each channel of "
                f"{x.name!r} {x.dims}: {channels}"
            )
    expected = _statistics_dims(node, x, scale)
    for port in ("mean", "inv_variance"):
        tensor = node.inputs.get(port)
        if tensor is not None and tensor.dims != expected:
            node.refuse(
                f"{port} {tensor.name!r} is {tensor.dims}, but those of input {x.name!r} "
                f"{x.dims} are {expected}"
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
    required=frozenset({"mode", "phase"}),
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
    required=frozenset({"mode"}),
)
