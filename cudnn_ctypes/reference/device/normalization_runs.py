"""The three computations behind the normalization functions, on descriptors and addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ... import raw
from ...raw.descriptors import Tensor
from ..batch_normalization import (
    batch_normalization_backward,
    batch_normalization_forward_inference,
    batch_normalization_forward_training,
)
from .agreement import require_equal
from .dispatch import Refused
from .held import read
from .memory import Operand, require, scalars
from .normalization_call import Normalization, check_epsilon, pair, parameters

__all__ = ["Given", "Space", "run_backward", "run_inference", "run_training"]


@dataclass(frozen=True)
class Given:
    """A tensor argument as C passes it: a descriptor and an address."""

    desc: Any = None
    address: int | None = None

    def operand(self, name: str) -> Operand:
        """Read back; the descriptor's name in C is `name` with "Desc"."""
        return Operand(name, read(Tensor, self.desc, f"{name}Desc"), self.address)


@dataclass(frozen=True)
class Space:
    """Workspace and reserve space, as C passes them."""

    workspace: int | None = None
    workspace_size: int = 0
    reserve: int | None = None
    reserve_size: int = 0


def run_inference(
    what: Normalization,
    x: Given,
    y: Given,
    params: tuple[Any, str],
    statistics: tuple[Any, str],
    *,
    factors: dict[str, int | None],
    scale: int | None,
    bias: int | None,
    mean: int | None,
    variance: int | None,
    epsilon: float,
) -> None:
    """y from x and the running averages.

    Parameters
    ----------
    params, statistics
        Descriptors of scale and bias, and of mean and variance, with their names in C.
    factors
        The addresses of alpha and beta.
    """
    if what.relu:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED, "in inference nothing can follow the normalization"
        )
    require(x=x.address, y=y.address)
    data, result = x.operand("x"), y.operand("y")
    what.check(data, None, inference=True)
    require_equal(data, result)
    affine = parameters(*params, data, what.mode, scale=scale, bias=bias)
    averages = parameters(
        *statistics, data, what.mode, estimatedMean=mean, estimatedVariance=variance
    )
    check_epsilon(epsilon)
    blending = scalars(data.described.data_type, **factors)
    result.store(
        batch_normalization_forward_inference(
            data.load(),
            affine["scale"].load(),
            affine["bias"].load(),
            averages["estimatedMean"].load(),
            averages["estimatedVariance"].load(),
            mode=what.mode,
            epsilon=epsilon,
            y=result.prior(blending["beta"]),
            **blending,
        )
    )


def run_training(
    what: Normalization,
    x: Given,
    y: Given,
    z: Given,
    params: tuple[Any, str],
    statistics: tuple[Any, str],
    *,
    factors: dict[str, int | None],
    scale: int | None,
    bias: int | None,
    running: tuple[int | None, int | None],
    average_factor: float,
    saved: tuple[int | None, int | None],
    epsilon: float,
    activation: Any = None,
    space: Space = Space(),
) -> None:
    """y from x and its own statistics, which are averaged and saved."""
    require(x=x.address, y=y.address)
    data, result = x.operand("x"), y.operand("y")
    what.check(data, activation)
    require_equal(data, result)
    affine = parameters(*params, data, what.mode, scale=scale, bias=bias)
    averages = pair(
        *statistics,
        data,
        what.mode,
        resultRunningMean=running[0],
        resultRunningVariance=running[1],
    )
    kept = pair(
        *statistics,
        data,
        what.mode,
        resultSaveMean=saved[0],
        resultSaveInvVariance=saved[1],
    )
    check_epsilon(epsilon)
    added = z.operand("z") if what.adds else None
    if added:
        require_equal(data, added)
    what.check_reserve(data, space.reserve, space.reserve_size)
    blending = scalars(data.described.data_type, **factors)
    what.take_workspace(data, space.workspace, space.workspace_size)
    done = batch_normalization_forward_training(
        data.load(),
        affine["scale"].load(),
        affine["bias"].load(),
        mode=what.mode,
        epsilon=epsilon,
        average_factor=average_factor,
        running_mean=averages[0].prior(1 - average_factor) if averages else None,
        running_variance=averages[1].prior(1 - average_factor) if averages else None,
        z=added.load() if added else None,
        relu=what.relu,
        y=result.prior(blending["beta"]),
        **blending,
    )
    result.store(done.y)
    if averages and done.running_mean is not None and done.running_variance is not None:
        averages[0].store(done.running_mean)
        averages[1].store(done.running_variance)
    if kept:
        kept[0].store(done.mean)
        kept[1].store(done.inv_variance)
    what.save_mask(data, done.mask, space.reserve, space.reserve_size)


def run_backward(
    what: Normalization,
    x: Given,
    dy: Given,
    dx: Given,
    dz: Given,
    params: tuple[Any, str],
    statistics: tuple[Any, str],
    *,
    data_factors: dict[str, int | None],
    param_factors: dict[str, int | None],
    scale: int | None,
    dscale: int | None,
    dbias: int | None,
    saved: tuple[int | None, int | None],
    epsilon: float,
    activation: Any = None,
    space: Space = Space(),
) -> None:
    """dx, dz, dscale and dbias from x and dy."""
    require(x=x.address, dy=dy.address, dx=dx.address)
    data, given, result = x.operand("x"), dy.operand("dy"), dx.operand("dx")
    what.check(data, activation)
    require_equal(data, given, result)
    affine = parameters(*params, data, what.mode, scale=scale, dBnScale=dscale, dBnBias=dbias)
    kept = pair(*statistics, data, what.mode, savedMean=saved[0], savedInvVariance=saved[1])
    if what.relu and kept is None:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            "where an activation followed, the saved statistics are needed",
        )
    check_epsilon(epsilon)
    added = dz.operand("dz") if what.adds else None
    if added:
        require_equal(data, added)
    mask = what.saved_mask(data, space.reserve, space.reserve_size)
    blending = {
        **scalars(data.described.data_type, **data_factors),
        **scalars(data.described.data_type, **param_factors),
    }
    what.take_workspace(data, space.workspace, space.workspace_size)
    done = batch_normalization_backward(
        data.load(),
        given.load(),
        affine["scale"].load(),
        mode=what.mode,
        epsilon=epsilon,
        mean=kept[0].load() if kept else None,
        inv_variance=kept[1].load() if kept else None,
        mask=mask,
        alpha_data=blending["alphaDataDiff"],
        beta_data=blending["betaDataDiff"],
        alpha_param=blending["alphaParamDiff"],
        beta_param=blending["betaParamDiff"],
        dx=result.prior(blending["betaDataDiff"]),
        dscale=affine["dBnScale"].prior(blending["betaParamDiff"]),
        dbias=affine["dBnBias"].prior(blending["betaParamDiff"]),
    )
    result.store(done.dx)
    affine["dBnScale"].store(done.dscale)
    affine["dBnBias"].store(done.dbias)
    if added:
        added.store(done.dz)
