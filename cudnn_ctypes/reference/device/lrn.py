"""Local response normalization, in channels and in space, on the reference device.

Statuses are those of cuDNN 9.14 and 9.19.

LRN across channels: BAD_PARAM for tensors of 2 dimensions; forward, BAD_PARAM for tensors that do
not match and for 5 dimensions or more that are not packed; backward, NOT_SUPPORTED for both. There
y is not read, and may be NULL. Divisive normalization: BAD_PARAM for other than 4 or 5 dimensions
and for tensors that do not match; NOT_SUPPORTED for strides that do not match.

Both: NOT_SUPPORTED for other data types than FLOAT, DOUBLE and HALF, but for INT8 forward across
channels. BFLOAT16 is documented, and refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import raw
from ...raw.descriptors import LRN, Tensor
from ..divisive_normalization import (
    divisive_normalization_backward,
    divisive_normalization_forward,
)
from ..layout import packed_strides
from ..lrn import lrn_cross_channel_backward, lrn_cross_channel_forward
from .agreement import require_equal, require_known, require_type
from .dispatch import Refused, implements
from .held import read
from .memory import Operand, require, scalars

_UNSUPPORTED = raw.CUDNN_STATUS_NOT_SUPPORTED
_TYPES = (raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF)


def _options(descriptor: Any) -> dict[str, Any]:
    """What an LRN descriptor holds, as keyword arguments of the reference functions."""
    held = read(LRN, descriptor, "normDesc")
    return {"n": held.n, "lrn_alpha": held.alpha, "lrn_beta": held.beta, "k": held.k}


def _operand(name: str, desc: Any, address: int | None) -> Operand:
    require(**{name: address})
    return Operand(name, read(Tensor, desc, f"{name}Desc"), address)


# -- across channels ---------------------------------------------------------------------------


@implements("cudnnLRNCrossChannelForward")
def cross_channel_forward(
    handle: Any,
    normDesc: Any,
    lrnMode: raw.cudnnLRNMode_t,
    alpha: int | None,
    xDesc: Any,
    x: int | None,
    beta: int | None,
    yDesc: Any,
    y: int | None,
) -> None:
    require_known(lrnMode=lrnMode)
    source, target = _operand("x", xDesc, x), _operand("y", yDesc, y)
    _check_channels(source, target, types=(*_TYPES, raw.CUDNN_DATA_INT8))
    options = _options(normDesc)
    factors = scalars(target.described.data_type, alpha=alpha, beta=beta)
    prior = target.prior(factors["beta"])
    target.store(lrn_cross_channel_forward(source.load(), y=prior, **options, **factors))


@implements("cudnnLRNCrossChannelBackward")
def cross_channel_backward(
    handle: Any,
    normDesc: Any,
    lrnMode: raw.cudnnLRNMode_t,
    alpha: int | None,
    yDesc: Any,
    y: int | None,
    dyDesc: Any,
    dy: int | None,
    xDesc: Any,
    x: int | None,
    beta: int | None,
    dxDesc: Any,
    dx: int | None,
) -> None:
    require_known(lrnMode=lrnMode)
    source, target = _operand("x", xDesc, x), _operand("dx", dxDesc, dx)
    given = _operand("dy", dyDesc, dy)
    result = Operand("y", read(Tensor, yDesc, "yDesc"), y)
    _check_channels(source, result, given, target, types=_TYPES, status=_UNSUPPORTED)
    options = _options(normDesc)
    factors = scalars(target.described.data_type, alpha=alpha, beta=beta)
    values = source.load()
    if y is not None:
        result.check()
    target.store(
        lrn_cross_channel_backward(
            values, values, given.load(), dx=target.prior(factors["beta"]), **options, **factors
        )
    )


def _check_channels(
    x: Operand,
    *others: Operand,
    types: tuple[raw.cudnnDataType_t, ...],
    status: raw.cudnnStatus_t = raw.CUDNN_STATUS_BAD_PARAM,
) -> None:
    if len(x.described.shape) <= 2:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, f"xDesc must have 3 dimensions or more: {x.described.shape}"
        )
    require_equal(x, *others, status=status)
    # bfloat16 is refused before the layout is looked at, integers after.
    if x.described.data_type == raw.CUDNN_DATA_BFLOAT16:
        require_type(x, types, "LRN")
    for operand in (x, *others):
        shape, strides = operand.described.shape, operand.described.strides
        if len(shape) >= 5 and strides[2:] != packed_strides(shape)[2:]:
            raise Refused(
                status,
                f"{operand.name} has {len(shape)} dimensions and is not packed: strides {strides}",
            )
    require_type(x, types, "LRN")


# -- in space ----------------------------------------------------------------------------------


@implements("cudnnDivisiveNormalizationForward")
def divisive_forward(
    handle: Any,
    normDesc: Any,
    mode: raw.cudnnDivNormMode_t,
    alpha: int | None,
    xDesc: Any,
    x: int | None,
    means: int | None,
    temp: int | None,
    temp2: int | None,
    beta: int | None,
    yDesc: Any,
    y: int | None,
) -> None:
    """A beta below 0 counts as 0, as in cuDNN (9.14 and 9.19); not so in the backward pass."""
    require_known(mode=mode)
    source, target = _operand("x", xDesc, x), _operand("y", yDesc, y)
    _check_space(source, target)
    temporary = _temporaries(source, temp, temp2)
    options = _options(normDesc)
    factors = scalars(target.described.data_type, alpha=alpha, beta=beta)
    factors["beta"] = max(factors["beta"], 0.0)
    result = divisive_normalization_forward(
        source.load(),
        _means(source, means),
        y=target.prior(factors["beta"]),
        **options,
        **factors,
    )
    _overwrite(temporary)
    target.store(result)


@implements("cudnnDivisiveNormalizationBackward")
def divisive_backward(
    handle: Any,
    normDesc: Any,
    mode: raw.cudnnDivNormMode_t,
    alpha: int | None,
    xDesc: Any,
    x: int | None,
    means: int | None,
    dy: int | None,
    temp: int | None,
    temp2: int | None,
    beta: int | None,
    dXdMeansDesc: Any,
    dx: int | None,
    dMeans: int | None,
) -> None:
    """dMeans may be NULL: then its gradient is not computed."""
    require_known(mode=mode)
    source = _operand("x", xDesc, x)
    require(dy=dy, dx=dx)
    target = Operand("dx", read(Tensor, dXdMeansDesc, "dXdMeansDesc"), dx)
    _check_space(source, target)
    temporary = _temporaries(source, temp, temp2)
    by_means = Operand("dMeans", target.described, dMeans) if dMeans else None
    options = _options(normDesc)
    factors = scalars(target.described.data_type, alpha=alpha, beta=beta)
    results = divisive_normalization_backward(
        source.load(),
        Operand("dy", source.described, dy).load(),
        _means(source, means),
        dx=target.prior(factors["beta"]),
        dmeans=by_means.prior(factors["beta"])
        if by_means
        else np.zeros(source.described.shape, source.dtype),
        **options,
        **factors,
    )
    _overwrite(temporary)
    target.store(results[0])
    if by_means:
        by_means.store(results[1])


def _check_space(x: Operand, other: Operand) -> None:
    if len(x.described.shape) not in (4, 5):
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, f"xDesc must have 4 or 5 dimensions: {x.described.shape}"
        )
    require_equal(x, other)
    require_equal(x, other, fields=("strides",), status=_UNSUPPORTED)
    require_type(x, _TYPES, "divisive normalization")


def _means(x: Operand, address: int | None) -> Any:
    return Operand("means", x.described, address).load() if address else None


def _temporaries(x: Operand, temp: int | None, temp2: int | None) -> list[Operand]:
    require(temp=temp, temp2=temp2)
    return [Operand(name, x.described, at) for name, at in (("temp", temp), ("temp2", temp2))]


def _overwrite(temporaries: list[Operand]) -> None:
    """What a program keeps there is lost here as well."""
    for temporary in temporaries:
        temporary.view("write")[...] = np.nan
