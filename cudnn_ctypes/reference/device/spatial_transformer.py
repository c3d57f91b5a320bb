"""The spatial transformer on the reference device.

cuDNN has no function that reads a spatial transformer descriptor, so what programs set is kept
here by the descriptor's address, from the moment on that the reference device was first activated.

Statuses are those that cuDNN documents: BAD_PARAM for NULL and for tensors that do not match the
descriptor; NOT_SUPPORTED for other than 4 dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...raw.descriptors import SpatialTransformer, Tensor
from ..layout import packed_strides
from ..spatial_transformer import (
    spatial_tf_grid_generator_backward,
    spatial_tf_grid_generator_forward,
    spatial_tf_sampler_backward,
    spatial_tf_sampler_forward,
)
from .agreement import require_equal
from .dispatch import Refused, implements
from .held import read
from .memory import Operand, Use, at, require, scalars


@dataclass(frozen=True)
class Transformer:
    """A spatial transformer descriptor's record, and the memory that it describes."""

    held: SpatialTransformer

    @property
    def data_type(self) -> raw.cudnnDataType_t:
        """Of all tensors."""
        return self.held.data_type

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, C, H, W) of the output."""
        return self.held.shape

    def grid(self, address: int | None, name: str, use: Use = "read") -> NDArray[Any]:
        """The sampling points at `address`, (N, H, W, 2)."""
        return self._packed(address, (self.shape[0], *self.shape[2:], 2), name, use)

    def theta(self, address: int | None, name: str, use: Use = "read") -> NDArray[Any]:
        """The affine maps at `address`, (N, 2, 3)."""
        return self._packed(address, (self.shape[0], 2, 3), name, use)

    def _packed(
        self, address: int | None, shape: tuple[int, ...], name: str, use: Use
    ) -> NDArray[Any]:
        return at(address, self.data_type, shape, packed_strides(shape), name, use)


def _read(descriptor: Any) -> Transformer:
    held = read(SpatialTransformer, descriptor, "stDesc")
    if len(held.shape) != 4 or min(held.shape) < 1:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"stDesc must hold 4 dimensions of at least 1, got {held.shape}",
        )
    return Transformer(held)


# -- grid --------------------------------------------------------------------------------------


@implements("cudnnSpatialTfGridGeneratorForward")
def grid_generator_forward(handle: Any, stDesc: Any, theta: int | None, grid: int | None) -> None:
    held = _read(stDesc)
    points = spatial_tf_grid_generator_forward(held.theta(theta, "theta"), held.shape[2:])
    held.grid(grid, "grid", "write")[...] = points


@implements("cudnnSpatialTfGridGeneratorBackward")
def grid_generator_backward(
    handle: Any, stDesc: Any, dgrid: int | None, dtheta: int | None
) -> None:
    held = _read(stDesc)
    result = spatial_tf_grid_generator_backward(held.grid(dgrid, "dgrid"))
    held.theta(dtheta, "dtheta", "write")[...] = result


# -- sampler -----------------------------------------------------------------------------------


@implements("cudnnSpatialTfSamplerForward")
def sampler_forward(
    handle: Any,
    stDesc: Any,
    alpha: int | None,
    xDesc: Any,
    x: int | None,
    grid: int | None,
    beta: int | None,
    yDesc: Any,
    y: int | None,
) -> None:
    held = _read(stDesc)
    source = _operand("x", xDesc, x)
    target = _operand("y", yDesc, y)
    _check(held, source, target)
    factors = scalars(held.data_type, alpha=alpha, beta=beta)
    target.store(
        spatial_tf_sampler_forward(
            source.load(),
            held.grid(grid, "grid"),
            y=target.prior(factors["beta"]),
            **factors,
        )
    )


@implements("cudnnSpatialTfSamplerBackward")
def sampler_backward(
    handle: Any,
    stDesc: Any,
    alpha: int | None,
    xDesc: Any,
    x: int | None,
    beta: int | None,
    dxDesc: Any,
    dx: int | None,
    alphaDgrid: int | None,
    dyDesc: Any,
    dy: int | None,
    grid: int | None,
    betaDgrid: int | None,
    dgrid: int | None,
) -> None:
    held = _read(stDesc)
    source, target = _operand("x", xDesc, x), _operand("dx", dxDesc, dx)
    given = _operand("dy", dyDesc, dy)
    _check(held, source, given)
    require_equal(source, target)
    factors = scalars(
        held.data_type, alpha=alpha, beta=beta, alphaDgrid=alphaDgrid, betaDgrid=betaDgrid
    )
    by_grid = held.grid(dgrid, "dgrid", "update" if factors["betaDgrid"] else "write")
    by_x, by_points = spatial_tf_sampler_backward(
        source.load(),
        given.load(),
        held.grid(grid, "grid"),
        alpha=factors["alpha"],
        beta=factors["beta"],
        dx=target.prior(factors["beta"]),
        alpha_dgrid=factors["alphaDgrid"],
        beta_dgrid=factors["betaDgrid"],
        dgrid=np.array(by_grid),
    )
    target.store(by_x)
    by_grid[...] = by_points


def _operand(name: str, desc: Any, address: int | None) -> Operand:
    require(**{name: address})
    return Operand(name, read(Tensor, desc, f"{name}Desc"), address)


def _check(held: Transformer, x: Operand, y: Operand) -> None:
    """x may be of another size than the output, but not of another number of images or channels."""
    shape = x.described.shape
    if len(shape) != 4:
        raise Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, f"xDesc must have 4 dimensions, got {shape}")
    if y.described.shape != held.shape or shape[:2] != held.shape[:2]:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"stDesc holds shape {held.shape}, which {y.name}Desc must have and xDesc begin with, "
            f"got {y.described.shape} and {shape}",
        )
    for operand in (x, y):
        if operand.described.data_type != held.data_type:
            raise Refused(
                raw.CUDNN_STATUS_BAD_PARAM,
                f"stDesc holds {held.data_type.name}, {operand.name}Desc "
                f"{operand.described.data_type.name}",
            )
