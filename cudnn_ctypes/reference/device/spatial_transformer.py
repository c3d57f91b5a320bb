"""The spatial transformer on the reference device.

cuDNN has no function that reads a spatial transformer descriptor. So the values that programs set
are kept here by the descriptor's address, once the reference device was activated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...raw.descriptors import SpatialTransformer
from ..spatial_transformer import (
    spatial_tf_grid_generator_backward,
    spatial_tf_grid_generator_forward,
    spatial_tf_sampler_backward,
    spatial_tf_sampler_forward,
)
from .call import Call
from .memory import Use
from .registry import implements, not_supported


def _read(call: Call) -> SpatialTransformer:
    """The descriptor: the data type of all tensors, and the shape (N, C, H, W) of the output."""
    transformer = call.record("stDesc", SpatialTransformer)
    if len(transformer.shape) != 4 or min(transformer.shape) < 1:
        raise not_supported(f"stDesc must hold 4 dimensions of at least 1, got {transformer.shape}")
    return transformer


def _grid(
    call: Call, transformer: SpatialTransformer, name: str, use: Use | None = None
) -> NDArray[Any]:
    """Sampling points, (N, H, W, 2)."""
    return call.array(
        name, transformer.data_type, transformer.shape[0], *transformer.shape[2:], 2, use=use
    )


def _theta(call: Call, transformer: SpatialTransformer, name: str) -> NDArray[Any]:
    """Affine maps, (N, 2, 3)."""
    return call.array(name, transformer.data_type, transformer.shape[0], 2, 3)


@implements("cudnnSpatialTfGridGeneratorForward")
def grid_generator_forward(call: Call) -> None:
    transformer = _read(call)
    points = spatial_tf_grid_generator_forward(
        _theta(call, transformer, "theta"), transformer.shape[2:]
    )
    _grid(call, transformer, "grid", "write")[...] = points


@implements("cudnnSpatialTfGridGeneratorBackward")
def grid_generator_backward(call: Call) -> None:
    transformer = _read(call)
    dtheta = spatial_tf_grid_generator_backward(dgrid=_grid(call, transformer, "dgrid"))
    _theta(call, transformer, "dtheta")[...] = dtheta


@implements("cudnnSpatialTfSamplerForward")
def sampler_forward(call: Call) -> None:
    transformer = _read(call)
    x, y = call.operands("x", "y")
    call.check()
    factors = call.factors()
    grid = _grid(call, transformer, "grid")
    y.store(spatial_tf_sampler_forward(x.load(), grid, y=y.prior(factors["beta"]), **factors))


@implements("cudnnSpatialTfSamplerBackward")
def sampler_backward(call: Call) -> None:
    transformer = _read(call)
    x, dx, dy = call.operands("x", "dx", "dy")
    call.check()
    factors = call.factors()
    dgrid = _grid(call, transformer, "dgrid", "update" if factors["betaDgrid"] else "write")
    by_x, by_points = spatial_tf_sampler_backward(
        x=x.load(),
        dy=dy.load(),
        grid=_grid(call, transformer, "grid"),
        alpha=factors["alpha"],
        beta=factors["beta"],
        dx=dx.prior(factors["beta"]),
        alpha_dgrid=factors["alphaDgrid"],
        beta_dgrid=factors["betaDgrid"],
        dgrid=np.array(dgrid),
    )
    dx.store(by_x)
    dgrid[...] = by_points
