"""Local response normalization, in channels and in space, on the reference device.

Statuses are those of cuDNN 9.14 and 9.19.

LRN across channels: BAD_PARAM for tensors of 2 dimensions; forward, BAD_PARAM for tensors that do
not match and for unpacked tensors of 5 or more dimensions; backward, NOT_SUPPORTED for both.
Backward does not read y, which may be NULL. Divisive normalization: BAD_PARAM for other than 4 or 5
dimensions and for tensors that do not match; NOT_SUPPORTED for strides that do not match.

Both ignore modes. NOT_SUPPORTED for other data types than FLOAT, DOUBLE and HALF, but for INT8
forward across channels. BFLOAT16 is documented, and refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import raw
from ...raw.descriptors import LRN
from ..divisive_normalization import (
    divisive_normalization_backward,
    divisive_normalization_forward,
)
from ..layout import packed_strides
from ..lrn import lrn_cross_channel_backward, lrn_cross_channel_forward
from .agreement import require_equal, require_type
from .call import Call
from .memory import Operand
from .registry import Refused, bad_param, implements

_UNSUPPORTED = raw.CUDNN_STATUS_NOT_SUPPORTED
_TYPES = (raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF)


def _options(call: Call) -> dict[str, Any]:
    """The values of the LRN descriptor, as keyword arguments of the reference functions."""
    lrn = call.record("normDesc", LRN)
    return {"n": lrn.n, "lrn_alpha": lrn.alpha, "lrn_beta": lrn.beta, "k": lrn.k}


# -- across channels ---------------------------------------------------------------------------


@implements("cudnnLRNCrossChannelForward")
def cross_channel_forward(call: Call) -> None:
    x, y = call.operands("x", "y")
    _check_channels(x, y, types=(*_TYPES, raw.CUDNN_DATA_INT8))
    options, factors = _options(call), call.factors()
    prior = y.prior(factors["beta"])
    y.store(lrn_cross_channel_forward(x.load(), y=prior, **options, **factors))


@implements("cudnnLRNCrossChannelBackward")
def cross_channel_backward(call: Call) -> None:
    x, dx, dy = call.operands("x", "dx", "dy")
    y = call.operand("y", nullable=True)
    _check_channels(x, dy, dx, types=_TYPES, status=_UNSUPPORTED)
    options, factors = _options(call), call.factors()
    values = x.load()
    if y.address is not None:
        y.check()
    dx.store(
        lrn_cross_channel_backward(
            x=values, y=values, dy=dy.load(), dx=dx.prior(factors["beta"]), **options, **factors
        )
    )


def _check_channels(
    x: Operand,
    *others: Operand,
    types: tuple[raw.cudnnDataType_t, ...],
    status: raw.cudnnStatus_t = raw.CUDNN_STATUS_BAD_PARAM,
) -> None:
    if len(x.shape) <= 2:
        raise bad_param(f"xDesc must have 3 dimensions or more: {x.shape}")
    # bfloat16 is refused before shapes and layouts are looked at, integers after.
    for each in (x, *others):
        if each.data_type == raw.CUDNN_DATA_BFLOAT16:
            require_type(each, types, "LRN")
    require_equal(x, *others, status=status)
    for operand in (x, *others):
        shape, strides = operand.shape, operand.strides
        if len(shape) >= 5 and strides[2:] != packed_strides(shape)[2:]:
            raise Refused(
                status,
                f"{operand.name} has {len(shape)} dimensions and is not packed: strides {strides}",
            )
    require_type(x, types, "LRN")


# -- in space ----------------------------------------------------------------------------------


@implements("cudnnDivisiveNormalizationForward")
def divisive_forward(call: Call) -> None:
    """A beta below 0 counts as 0, as in cuDNN (9.14 and 9.19); not so in the backward pass."""
    x, y = call.operands("x", "y")
    _check_space(x, y)
    temporaries, options = call.operands("temp", "temp2"), _options(call)
    factors = call.factors()
    factors["beta"] = max(factors["beta"], 0.0)
    result = divisive_normalization_forward(
        x.load(), _means(call), y=y.prior(factors["beta"]), **options, **factors
    )
    _overwrite(temporaries)
    y.store(result)


@implements("cudnnDivisiveNormalizationBackward")
def divisive_backward(call: Call) -> None:
    """dMeans may be NULL: then its gradient is not computed."""
    x, dy, dx = call.operands("x", "dy", "dx")
    _check_space(x, dx)
    temporaries, options = call.operands("temp", "temp2"), _options(call)
    dmeans = call.operand("dMeans", nullable=True)
    factors = call.factors()
    results = divisive_normalization_backward(
        x=x.load(),
        dy=dy.load(),
        means=_means(call),
        dx=dx.prior(factors["beta"]),
        dmeans=dmeans.prior(factors["beta"]) if dmeans.address else np.zeros(x.shape, x.dtype),
        **options,
        **factors,
    )
    _overwrite(temporaries)
    dx.store(results[0])
    if dmeans.address:
        dmeans.store(results[1])


def _check_space(x: Operand, other: Operand) -> None:
    if len(x.shape) not in (4, 5):
        raise bad_param(f"xDesc must have 4 or 5 dimensions: {x.shape}")
    require_equal(x, other)
    require_equal(x, other, fields=("strides",), status=_UNSUPPORTED)
    require_type(x, _TYPES, "divisive normalization")


def _means(call: Call) -> Any:
    return call.operand("means").load() if call["means"] else None


def _overwrite(temporaries: list[Operand]) -> None:
    """Fill the temporaries with NaN: on a GPU their contents are lost, too."""
    for temporary in temporaries:
        temporary.view("write")[...] = np.nan
