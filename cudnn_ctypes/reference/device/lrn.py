"""Local response normalization, in channels and in space, on the reference device.

Both ignore modes. Backward does not read y, which may be NULL.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...raw.descriptors import LRN
from ..divisive_normalization import (
    divisive_normalization_backward,
    divisive_normalization_forward,
)
from ..lrn import lrn_cross_channel_backward, lrn_cross_channel_forward
from .call import Call
from .memory import Operand
from .registry import implements


def _options(call: Call) -> dict[str, Any]:
    """The values of the LRN descriptor, as keyword arguments of the reference functions."""
    lrn = call.record("normDesc", LRN)
    return {"n": lrn.n, "lrn_alpha": lrn.alpha, "lrn_beta": lrn.beta, "k": lrn.k}


# -- across channels ---------------------------------------------------------------------------


@implements("cudnnLRNCrossChannelForward")
def cross_channel_forward(call: Call) -> None:
    x, y = call.operands("x", "y")
    call.check()
    options, factors = _options(call), call.factors()
    prior = y.prior(factors["beta"])
    y.store(lrn_cross_channel_forward(x.load(), y=prior, **options, **factors))


@implements("cudnnLRNCrossChannelBackward")
def cross_channel_backward(call: Call) -> None:
    x, dx, dy = call.operands("x", "dx", "dy")
    y = call.operand("y", nullable=True) if call["yDesc"] else None
    call.check()
    options, factors = _options(call), call.factors()
    values = x.load()
    if y is not None and y.address is not None:
        y.check()
    dx.store(
        lrn_cross_channel_backward(
            x=values, y=values, dy=dy.load(), dx=dx.prior(factors["beta"]), **options, **factors
        )
    )


# -- in space ----------------------------------------------------------------------------------


@implements("cudnnDivisiveNormalizationForward")
def divisive_forward(call: Call) -> None:
    """A beta below 0 counts as 0, as in cuDNN (9.14 and 9.19); not so in the backward pass."""
    x, y = call.operands("x", "y")
    call.check()
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
    call.check()
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


def _means(call: Call) -> Any:
    return call.operand("means").load() if call["means"] else None


def _overwrite(temporaries: list[Operand]) -> None:
    """Fill the temporaries with NaN: on a GPU their contents are lost, too."""
    for temporary in temporaries:
        temporary.view("write")[...] = np.nan
