"""The direct causal convolutions on the reference device: with a stream, without a handle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ..causal_convolution import (
    back_to_back_backward,
    back_to_back_forward,
    causal_convolution_backward,
    causal_convolution_forward,
)
from .causal_call import (
    check_activation,
    check_sizes,
    check_types,
    check_width,
    compute_type,
    dense,
)
from .dispatch import implements
from .memory import Use, require

WIDEST, WIDEST_CHANNELS_LAST, WIDEST_PROJECTION = 256, 128, 32


@implements("cudnnCausalConv1dForward")
def forward(
    stream: Any,
    x: int | None,
    weight: int | None,
    bias: int | None,
    y: int | None,
    batch: int,
    dim: int,
    seqLen: int,
    kernelSize: int,
    dataType: raw.cudnnDataType_t,
    activation: raw.cudnnCausalConv1dActivation_t,
) -> None:
    _forward(False, x, weight, bias, y, (batch, dim, seqLen), kernelSize, dataType, activation)


@implements("cudnnCausalConv1dNwhForward")
def forward_channels_last(
    stream: Any,
    x: int | None,
    weight: int | None,
    bias: int | None,
    y: int | None,
    batch: int,
    dim: int,
    seqLen: int,
    kernelSize: int,
    dataType: raw.cudnnDataType_t,
    activation: raw.cudnnCausalConv1dActivation_t,
) -> None:
    _forward(True, x, weight, bias, y, (batch, dim, seqLen), kernelSize, dataType, activation)


@implements("cudnnCausalConv1dBackward")
def backward(
    stream: Any,
    x: int | None,
    weight: int | None,
    bias: int | None,
    dy: int | None,
    dx: int | None,
    dweight: int | None,
    dbias: int | None,
    batch: int,
    dim: int,
    seqLen: int,
    kernelSize: int,
    dataType: raw.cudnnDataType_t,
    dwDataType: raw.cudnnDataType_t,
    activation: raw.cudnnCausalConv1dActivation_t,
) -> None:
    given = {"x": x, "weight": weight, "bias": bias, "dy": dy}
    results = {"dx": dx, "dweight": dweight, "dbias": dbias}
    sizes = (batch, dim, seqLen)
    _backward(False, given, results, sizes, kernelSize, dataType, dwDataType, activation)


@implements("cudnnCausalConv1dNwhBackward")
def backward_channels_last(
    stream: Any,
    x: int | None,
    weight: int | None,
    bias: int | None,
    dy: int | None,
    dx: int | None,
    dweight: int | None,
    dbias: int | None,
    batch: int,
    dim: int,
    seqLen: int,
    kernelSize: int,
    dataType: raw.cudnnDataType_t,
    dwDataType: raw.cudnnDataType_t,
    activation: raw.cudnnCausalConv1dActivation_t,
) -> None:
    given = {"x": x, "weight": weight, "bias": bias, "dy": dy}
    results = {"dx": dx, "dweight": dweight, "dbias": dbias}
    sizes = (batch, dim, seqLen)
    _backward(True, given, results, sizes, kernelSize, dataType, dwDataType, activation)


@implements("cudnnB2BCausalConv1dForward")
def back_to_back(
    stream: Any,
    x: int | None,
    weightsProj: int | None,
    weightsMixer: int | None,
    skipBias: int | None,
    y: int | None,
    yGated: int | None,
    batch: int,
    dim: int,
    seqLen: int,
    kernelSizeProj: int,
    kernelSizeMixer: int,
    dataType: raw.cudnnDataType_t,
) -> None:
    require(
        x=x,
        weightsProj=weightsProj,
        weightsMixer=weightsMixer,
        skipBias=skipBias,
        y=y,
        yGated=yGated,
    )
    _check_back_to_back(batch, dim, seqLen, kernelSizeProj, kernelSizeMixer)
    check_types(dataType)
    made = back_to_back_forward(
        dense("x", x, dataType, batch, dim, 3, seqLen),
        dense("weightsProj", weightsProj, dataType, dim, 3, kernelSizeProj),
        dense("weightsMixer", weightsMixer, dataType, dim, kernelSizeMixer),
        dense("skipBias", skipBias, dataType, dim),
        compute_dtype=compute_type(dataType),
    )
    dense("y", y, dataType, batch, dim, seqLen, use="write")[...] = made.y
    dense("yGated", yGated, dataType, batch, dim, seqLen, use="write")[...] = made.gated


@implements("cudnnB2BCausalConv1dBackward")
def back_to_back_gradients(
    stream: Any,
    x: int | None,
    weightsProj: int | None,
    weightsMixer: int | None,
    skipBias: int | None,
    y: int | None,
    dy: int | None,
    dx: int | None,
    dweightsProj: int | None,
    dweightsMixer: int | None,
    dskipBias: int | None,
    batch: int,
    dim: int,
    seqLen: int,
    kernelSizeProj: int,
    kernelSizeMixer: int,
    dataType: raw.cudnnDataType_t,
    dwDataType: raw.cudnnDataType_t,
) -> None:
    """The gradients of the filters are added, as in the other forms; the header does not say."""
    require(
        x=x,
        weightsProj=weightsProj,
        weightsMixer=weightsMixer,
        skipBias=skipBias,
        y=y,
        dy=dy,
        dx=dx,
        dweightsProj=dweightsProj,
        dweightsMixer=dweightsMixer,
        dskipBias=dskipBias,
    )
    _check_back_to_back(batch, dim, seqLen, kernelSizeProj, kernelSizeMixer)
    check_types(dataType, dwDataType)
    gradients = {
        "dweights_proj": dense(
            "dweightsProj", dweightsProj, dwDataType, dim, 3, kernelSizeProj, use="update"
        ),
        "dweights_mixer": dense(
            "dweightsMixer", dweightsMixer, dwDataType, dim, kernelSizeMixer, use="update"
        ),
        "dskip_bias": dense("dskipBias", dskipBias, dwDataType, dim, use="update"),
    }
    made = back_to_back_backward(
        dense("x", x, dataType, batch, dim, 3, seqLen),
        dense("weightsProj", weightsProj, dataType, dim, 3, kernelSizeProj),
        dense("weightsMixer", weightsMixer, dataType, dim, kernelSizeMixer),
        dense("skipBias", skipBias, dataType, dim),
        dense("y", y, dataType, batch, dim, seqLen),
        dense("dy", dy, dataType, batch, dim, seqLen),
        **gradients,
        compute_dtype=compute_type(dataType),
        dw_dtype=compute_type(dataType),
    )
    dense("dx", dx, dataType, batch, dim, 3, seqLen, use="write")[...] = made.dx
    for name, view in gradients.items():
        view[...] = getattr(made, name)


# --- what the two layouts share -------------------------------------------------------------------


def _forward(
    channels_last: bool,
    x: int | None,
    weight: int | None,
    bias: int | None,
    y: int | None,
    sizes: tuple[int, int, int],
    width: int,
    dataType: raw.cudnnDataType_t,
    activation: raw.cudnnCausalConv1dActivation_t,
) -> None:
    require(x=x, weight=weight, bias=bias, y=y)
    _check_direct(channels_last, sizes, width)
    function = check_activation(activation)
    check_types(dataType)
    _sequence("y", y, dataType, sizes, channels_last, "write")[...] = causal_convolution_forward(
        _sequence("x", x, dataType, sizes, channels_last),
        _filter("weight", weight, dataType, sizes[1], width, channels_last),
        dense("bias", bias, dataType, sizes[1]),
        function,
        compute_dtype=compute_type(dataType),
    )


def _backward(
    channels_last: bool,
    given: dict[str, int | None],
    results: dict[str, int | None],
    sizes: tuple[int, int, int],
    width: int,
    dataType: raw.cudnnDataType_t,
    dwDataType: raw.cudnnDataType_t,
    activation: raw.cudnnCausalConv1dActivation_t,
) -> None:
    require(**given, **results)
    _check_direct(channels_last, sizes, width)
    function = check_activation(activation)
    check_types(dataType, dwDataType)
    dim = sizes[1]
    dweight = _filter(
        "dweight", results["dweight"], dwDataType, dim, width, channels_last, "update"
    )
    dbias = dense("dbias", results["dbias"], dwDataType, dim, use="update")
    made = causal_convolution_backward(
        _sequence("x", given["x"], dataType, sizes, channels_last),
        _filter("weight", given["weight"], dataType, dim, width, channels_last),
        dense("bias", given["bias"], dataType, dim),
        _sequence("dy", given["dy"], dataType, sizes, channels_last),
        function,
        dweight=dweight,
        dbias=dbias,
        compute_dtype=compute_type(dataType),
        dw_dtype=compute_type(dataType),
    )
    _sequence("dx", results["dx"], dataType, sizes, channels_last, "write")[...] = made.dx
    dweight[...], dbias[...] = made.dweight, made.dbias


def _sequence(
    name: str,
    address: int | None,
    dataType: raw.cudnnDataType_t,
    sizes: tuple[int, int, int],
    channels_last: bool,
    use: Use = "read",
) -> NDArray[Any]:
    """(batch, dim, time), a view of memory in this order or with the channels last."""
    batch, dim, time = sizes
    if channels_last:
        return np.moveaxis(dense(name, address, dataType, batch, time, dim, use=use), 2, 1)
    return dense(name, address, dataType, batch, dim, time, use=use)


def _filter(
    name: str,
    address: int | None,
    dataType: raw.cudnnDataType_t,
    dim: int,
    width: int,
    channels_last: bool,
    use: Use = "read",
) -> NDArray[Any]:
    """(dim, width), a view of memory in this order or with the channels last."""
    if channels_last:
        return dense(name, address, dataType, width, dim, use=use).T
    return dense(name, address, dataType, dim, width, use=use)


def _check_direct(channels_last: bool, sizes: tuple[int, int, int], width: int) -> None:
    batch, dim, time = sizes
    check_sizes(batch=batch, dim=dim, seqLen=time)
    check_width("kernelSize", width, WIDEST_CHANNELS_LAST if channels_last else WIDEST)


def _check_back_to_back(batch: int, dim: int, time: int, proj: int, mixer: int) -> None:
    check_sizes(batch=batch, dim=dim, seqLen=time)
    check_width("kernelSizeProj", proj, WIDEST_PROJECTION)
    check_width("kernelSizeMixer", mixer, WIDEST)
