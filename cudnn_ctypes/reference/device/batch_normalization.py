"""`cudnnBatchNormalization...` on the reference device; see `normalization_call` for statuses."""

from __future__ import annotations

from typing import Any

from ... import raw
from .dispatch import implements
from .memory import require
from .normalization_call import Normalization
from .normalization_runs import Given, Space, run_backward, run_inference, run_training


@implements("cudnnBatchNormalizationForwardInference")
def forward_inference(
    handle: Any,
    mode: raw.cudnnBatchNormMode_t,
    alpha: int | None,
    beta: int | None,
    xDesc: Any,
    x: int | None,
    yDesc: Any,
    y: int | None,
    bnScaleBiasMeanVarDesc: Any,
    bnScale: int | None,
    bnBias: int | None,
    estimatedMean: int | None,
    estimatedVariance: int | None,
    epsilon: float,
) -> None:
    desc = (bnScaleBiasMeanVarDesc, "bnScaleBiasMeanVarDesc")
    run_inference(
        Normalization.of_batch(mode, raw.CUDNN_BATCHNORM_OPS_BN),
        Given(xDesc, x),
        Given(yDesc, y),
        desc,
        desc,
        factors={"alpha": alpha, "beta": beta},
        scale=bnScale,
        bias=bnBias,
        mean=estimatedMean,
        variance=estimatedVariance,
        epsilon=epsilon,
    )


@implements("cudnnBatchNormalizationForwardTraining")
def forward_training(
    handle: Any,
    mode: raw.cudnnBatchNormMode_t,
    alpha: int | None,
    beta: int | None,
    xDesc: Any,
    x: int | None,
    yDesc: Any,
    y: int | None,
    bnScaleBiasMeanVarDesc: Any,
    bnScale: int | None,
    bnBias: int | None,
    exponentialAverageFactor: float,
    resultRunningMean: int | None,
    resultRunningVariance: int | None,
    epsilon: float,
    resultSaveMean: int | None,
    resultSaveInvVariance: int | None,
) -> None:
    desc = (bnScaleBiasMeanVarDesc, "bnScaleBiasMeanVarDesc")
    run_training(
        Normalization.of_batch(mode, raw.CUDNN_BATCHNORM_OPS_BN),
        Given(xDesc, x),
        Given(yDesc, y),
        Given(),
        desc,
        desc,
        factors={"alpha": alpha, "beta": beta},
        scale=bnScale,
        bias=bnBias,
        running=(resultRunningMean, resultRunningVariance),
        average_factor=exponentialAverageFactor,
        saved=(resultSaveMean, resultSaveInvVariance),
        epsilon=epsilon,
    )


@implements("cudnnBatchNormalizationForwardTrainingEx")
def forward_training_ex(
    handle: Any,
    mode: raw.cudnnBatchNormMode_t,
    bnOps: raw.cudnnBatchNormOps_t,
    alpha: int | None,
    beta: int | None,
    xDesc: Any,
    xData: int | None,
    zDesc: Any,
    zData: int | None,
    yDesc: Any,
    yData: int | None,
    bnScaleBiasMeanVarDesc: Any,
    bnScale: int | None,
    bnBias: int | None,
    exponentialAverageFactor: float,
    resultRunningMean: int | None,
    resultRunningVariance: int | None,
    epsilon: float,
    resultSaveMean: int | None,
    resultSaveInvVariance: int | None,
    activationDesc: Any,
    workspace: int | None,
    workSpaceSizeInBytes: int,
    reserveSpace: int | None,
    reserveSpaceSizeInBytes: int,
) -> None:
    desc = (bnScaleBiasMeanVarDesc, "bnScaleBiasMeanVarDesc")
    run_training(
        Normalization.of_batch(mode, bnOps),
        Given(xDesc, xData),
        Given(yDesc, yData),
        Given(zDesc, zData),
        desc,
        desc,
        factors={"alpha": alpha, "beta": beta},
        scale=bnScale,
        bias=bnBias,
        running=(resultRunningMean, resultRunningVariance),
        average_factor=exponentialAverageFactor,
        saved=(resultSaveMean, resultSaveInvVariance),
        epsilon=epsilon,
        activation=activationDesc,
        space=Space(workspace, workSpaceSizeInBytes, reserveSpace, reserveSpaceSizeInBytes),
    )


@implements("cudnnBatchNormalizationBackward")
def backward(
    handle: Any,
    mode: raw.cudnnBatchNormMode_t,
    alphaDataDiff: int | None,
    betaDataDiff: int | None,
    alphaParamDiff: int | None,
    betaParamDiff: int | None,
    xDesc: Any,
    x: int | None,
    dyDesc: Any,
    dy: int | None,
    dxDesc: Any,
    dx: int | None,
    dBnScaleBiasDesc: Any,
    bnScale: int | None,
    dBnScaleResult: int | None,
    dBnBiasResult: int | None,
    epsilon: float,
    savedMean: int | None,
    savedInvVariance: int | None,
) -> None:
    desc = (dBnScaleBiasDesc, "dBnScaleBiasDesc")
    run_backward(
        Normalization.of_batch(mode, raw.CUDNN_BATCHNORM_OPS_BN),
        Given(xDesc, x),
        Given(dyDesc, dy),
        Given(dxDesc, dx),
        Given(),
        desc,
        desc,
        data_factors={"alphaDataDiff": alphaDataDiff, "betaDataDiff": betaDataDiff},
        param_factors={"alphaParamDiff": alphaParamDiff, "betaParamDiff": betaParamDiff},
        scale=bnScale,
        dscale=dBnScaleResult,
        dbias=dBnBiasResult,
        saved=(savedMean, savedInvVariance),
        epsilon=epsilon,
    )


@implements("cudnnBatchNormalizationBackwardEx")
def backward_ex(
    handle: Any,
    mode: raw.cudnnBatchNormMode_t,
    bnOps: raw.cudnnBatchNormOps_t,
    alphaDataDiff: int | None,
    betaDataDiff: int | None,
    alphaParamDiff: int | None,
    betaParamDiff: int | None,
    xDesc: Any,
    xData: int | None,
    yDesc: Any,
    yData: int | None,
    dyDesc: Any,
    dyData: int | None,
    dzDesc: Any,
    dzData: int | None,
    dxDesc: Any,
    dxData: int | None,
    dBnScaleBiasDesc: Any,
    bnScaleData: int | None,
    bnBiasData: int | None,
    dBnScaleData: int | None,
    dBnBiasData: int | None,
    epsilon: float,
    savedMean: int | None,
    savedInvVariance: int | None,
    activationDesc: Any,
    workSpace: int | None,
    workSpaceSizeInBytes: int,
    reserveSpace: int | None,
    reserveSpaceSizeInBytes: int,
) -> None:
    desc = (dBnScaleBiasDesc, "dBnScaleBiasDesc")
    run_backward(
        Normalization.of_batch(mode, bnOps),
        Given(xDesc, xData),
        Given(dyDesc, dyData),
        Given(dxDesc, dxData),
        Given(dzDesc, dzData),
        desc,
        desc,
        data_factors={"alphaDataDiff": alphaDataDiff, "betaDataDiff": betaDataDiff},
        param_factors={"alphaParamDiff": alphaParamDiff, "betaParamDiff": betaParamDiff},
        scale=bnScaleData,
        dscale=dBnScaleData,
        dbias=dBnBiasData,
        saved=(savedMean, savedInvVariance),
        epsilon=epsilon,
        activation=activationDesc,
        space=Space(workSpace, workSpaceSizeInBytes, reserveSpace, reserveSpaceSizeInBytes),
    )


# -- sizes -------------------------------------------------------------------------------------


@implements("cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize")
def forward_workspace_size(
    handle: Any,
    mode: raw.cudnnBatchNormMode_t,
    bnOps: raw.cudnnBatchNormOps_t,
    xDesc: Any,
    zDesc: Any,
    yDesc: Any,
    bnScaleBiasMeanVarDesc: Any,
    activationDesc: Any,
    sizeInBytes: Any,
) -> None:
    what, x = Normalization.of_batch(mode, bnOps), Given(xDesc).operand("x")
    require(sizeInBytes=sizeInBytes)
    what.check(x, activationDesc)
    sizeInBytes.contents.value = what.workspace_size(x)


@implements("cudnnGetBatchNormalizationBackwardExWorkspaceSize")
def backward_workspace_size(
    handle: Any,
    mode: raw.cudnnBatchNormMode_t,
    bnOps: raw.cudnnBatchNormOps_t,
    xDesc: Any,
    yDesc: Any,
    dyDesc: Any,
    dzDesc: Any,
    dxDesc: Any,
    dBnScaleBiasDesc: Any,
    activationDesc: Any,
    sizeInBytes: Any,
) -> None:
    what, x = Normalization.of_batch(mode, bnOps), Given(xDesc).operand("x")
    require(sizeInBytes=sizeInBytes)
    what.check(x, activationDesc)
    sizeInBytes.contents.value = what.workspace_size(x)


@implements("cudnnGetBatchNormalizationTrainingExReserveSpaceSize")
def reserve_space_size(
    handle: Any,
    mode: raw.cudnnBatchNormMode_t,
    bnOps: raw.cudnnBatchNormOps_t,
    activationDesc: Any,
    xDesc: Any,
    sizeInBytes: Any,
) -> None:
    what, x = Normalization.of_batch(mode, bnOps), Given(xDesc).operand("x")
    require(sizeInBytes=sizeInBytes)
    what.check(x, activationDesc)
    sizeInBytes.contents.value = what.reserve_size(x)
