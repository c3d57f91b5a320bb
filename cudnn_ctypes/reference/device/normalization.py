"""`cudnnBatchNormalization...` and `cudnnNormalization...` on the reference device.

`normalization_call` lists the refused calls.
"""

from __future__ import annotations

from ..batch_normalization import (
    batch_normalization_backward,
    batch_normalization_forward_inference,
    batch_normalization_forward_training,
)
from .call import Call
from .normalization_call import Normalization
from .registry import implements, not_supported


@implements(
    "cudnnBatchNormalizationForwardInference",
    "cudnnNormalizationForwardInference",
)
def inference(call: Call) -> None:
    """y from x and the running averages."""
    what = Normalization.of(call, "x")
    (y,) = what.tensors("y")
    scale, bias, mean, variance = what.parameters(
        call.named("bnScale", "normScale"),
        call.named("bnBias", "normBias"),
        "estimatedMean",
        "estimatedVariance",
    )
    epsilon, factors = what.epsilon(), call.factors()
    memory = y.prior(factors["beta"])
    result = batch_normalization_forward_inference(
        what.x.load(),
        scale.load(),
        bias.load(),
        mean.load(),
        variance.load(),
        mode=what.mode,
        epsilon=epsilon,
        y=memory,
        out=memory,
        compute_dtype=what.x.compute_dtype,
        **factors,
    )
    y.store(result)


@implements(
    "cudnnBatchNormalizationForwardTraining",
    "cudnnBatchNormalizationForwardTrainingEx",
    "cudnnNormalizationForwardTraining",
)
def training(call: Call) -> None:
    """y from x and its own statistics, which are averaged and saved."""
    what = Normalization.of(call, call.named("x", "xData"))
    (y,) = what.tensors("y")
    scale, bias = what.parameters(
        call.named("bnScale", "normScale"), call.named("bnBias", "normBias")
    )
    running = what.pair("resultRunningMean", "resultRunningVariance")
    saved = what.pair("resultSaveMean", "resultSaveInvVariance")
    if what.form.relu and saved is None:
        raise not_supported("where an activation follows, the statistics must be saved")
    epsilon, average_factor = what.epsilon(), call["exponentialAverageFactor"]
    z = what.added("z")
    what.check_reserve()
    factors = call.factors()
    what.use_workspace("workspace")
    memory = y.prior(factors["beta"])
    done = batch_normalization_forward_training(
        what.x.load(),
        scale.load(),
        bias.load(),
        mode=what.mode,
        epsilon=epsilon,
        average_factor=average_factor,
        running_mean=running[0].prior(1 - average_factor) if running else None,
        running_variance=running[1].prior(1 - average_factor) if running else None,
        z=z.load() if z else None,
        relu=what.form.relu,
        y=memory,
        out=memory,
        **factors,
    )
    y.store(done.y)
    if running and done.running_mean is not None and done.running_variance is not None:
        running[0].store(done.running_mean)
        running[1].store(done.running_variance)
    if saved:
        saved[0].store(done.saved_mean)
        saved[1].store(done.saved_inv_variance)
    what.save_mask(done.mask)


@implements(
    "cudnnBatchNormalizationBackward",
    "cudnnBatchNormalizationBackwardEx",
    "cudnnNormalizationBackward",
)
def backward(call: Call) -> None:
    """dx, dz, dscale and dbias from x and dy."""
    what = Normalization.of(call, call.named("x", "xData"))
    dy, dx = what.tensors("dy", "dx")
    scale, dscale, dbias = what.parameters(
        call.named("bnScale", "bnScaleData", "normScaleData"),
        call.named("dBnScaleResult", "dBnScaleData", "dNormScaleData"),
        call.named("dBnBiasResult", "dBnBiasData", "dNormBiasData"),
    )
    saved = what.pair("savedMean", "savedInvVariance")
    if what.form.relu and saved is None:
        raise not_supported("where an activation followed, the saved statistics are needed")
    epsilon, dz, mask = what.epsilon(), what.added("dz"), what.saved_mask()
    factors = call.factors()
    what.use_workspace("workSpace")
    memory = dx.prior(factors["betaDataDiff"])
    done = batch_normalization_backward(
        x=what.x.load(),
        dy=dy.load(),
        scale=scale.load(),
        mode=what.mode,
        epsilon=epsilon,
        saved_mean=saved[0].load() if saved else None,
        saved_inv_variance=saved[1].load() if saved else None,
        mask=mask,
        alpha=factors["alphaDataDiff"],
        beta=factors["betaDataDiff"],
        alpha_param=factors["alphaParamDiff"],
        beta_param=factors["betaParamDiff"],
        dx=memory,
        out=memory,
        compute_dtype=what.x.compute_dtype,
        dscale=dscale.prior(factors["betaParamDiff"]),
        dbias=dbias.prior(factors["betaParamDiff"]),
    )
    dx.store(done.dx)
    dscale.store(done.dscale)
    dbias.store(done.dbias)
    if dz:
        dz.store(done.dz)


# -- sizes -------------------------------------------------------------------------------------


@implements(
    "cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize",
    "cudnnGetBatchNormalizationBackwardExWorkspaceSize",
    "cudnnGetNormalizationForwardTrainingWorkspaceSize",
    "cudnnGetNormalizationBackwardWorkspaceSize",
)
def workspace_size(call: Call) -> None:
    call.put(sizeInBytes=Normalization.of(call).workspace_size())


@implements(
    "cudnnGetBatchNormalizationTrainingExReserveSpaceSize",
    "cudnnGetNormalizationTrainingReserveSpaceSize",
)
def reserve_space_size(call: Call) -> None:
    call.put(sizeInBytes=Normalization.of(call).reserve_size())
