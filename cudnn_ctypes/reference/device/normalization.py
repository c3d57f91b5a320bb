"""`cudnnNormalization...` on the reference device; see `normalization_call` for statuses."""

from __future__ import annotations

from typing import Any

from ... import raw
from .dispatch import implements
from .memory import require
from .normalization_call import Normalization
from .normalization_runs import Given, Space, run_backward, run_inference, run_training


@implements("cudnnNormalizationForwardInference")
def forward_inference(
    handle: Any,
    mode: raw.cudnnNormMode_t,
    normOps: raw.cudnnNormOps_t,
    algo: raw.cudnnNormAlgo_t,
    alpha: int | None,
    beta: int | None,
    xDesc: Any,
    x: int | None,
    normScaleBiasDesc: Any,
    normScale: int | None,
    normBias: int | None,
    normMeanVarDesc: Any,
    estimatedMean: int | None,
    estimatedVariance: int | None,
    zDesc: Any,
    z: int | None,
    activationDesc: Any,
    yDesc: Any,
    y: int | None,
    epsilon: float,
    groupCnt: int,
) -> None:
    run_inference(
        Normalization.of_norm(mode, normOps, algo, groupCnt),
        Given(xDesc, x),
        Given(yDesc, y),
        (normScaleBiasDesc, "normScaleBiasDesc"),
        (normMeanVarDesc, "normMeanVarDesc"),
        factors={"alpha": alpha, "beta": beta},
        scale=normScale,
        bias=normBias,
        mean=estimatedMean,
        variance=estimatedVariance,
        epsilon=epsilon,
    )


@implements("cudnnNormalizationForwardTraining")
def forward_training(
    handle: Any,
    mode: raw.cudnnNormMode_t,
    normOps: raw.cudnnNormOps_t,
    algo: raw.cudnnNormAlgo_t,
    alpha: int | None,
    beta: int | None,
    xDesc: Any,
    xData: int | None,
    normScaleBiasDesc: Any,
    normScale: int | None,
    normBias: int | None,
    exponentialAverageFactor: float,
    normMeanVarDesc: Any,
    resultRunningMean: int | None,
    resultRunningVariance: int | None,
    epsilon: float,
    resultSaveMean: int | None,
    resultSaveInvVariance: int | None,
    activationDesc: Any,
    zDesc: Any,
    zData: int | None,
    yDesc: Any,
    yData: int | None,
    workspace: int | None,
    workSpaceSizeInBytes: int,
    reserveSpace: int | None,
    reserveSpaceSizeInBytes: int,
    groupCnt: int,
) -> None:
    run_training(
        Normalization.of_norm(mode, normOps, algo, groupCnt),
        Given(xDesc, xData),
        Given(yDesc, yData),
        Given(zDesc, zData),
        (normScaleBiasDesc, "normScaleBiasDesc"),
        (normMeanVarDesc, "normMeanVarDesc"),
        factors={"alpha": alpha, "beta": beta},
        scale=normScale,
        bias=normBias,
        running=(resultRunningMean, resultRunningVariance),
        average_factor=exponentialAverageFactor,
        saved=(resultSaveMean, resultSaveInvVariance),
        epsilon=epsilon,
        activation=activationDesc,
        space=Space(workspace, workSpaceSizeInBytes, reserveSpace, reserveSpaceSizeInBytes),
    )


@implements("cudnnNormalizationBackward")
def backward(
    handle: Any,
    mode: raw.cudnnNormMode_t,
    normOps: raw.cudnnNormOps_t,
    algo: raw.cudnnNormAlgo_t,
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
    dNormScaleBiasDesc: Any,
    normScaleData: int | None,
    normBiasData: int | None,
    dNormScaleData: int | None,
    dNormBiasData: int | None,
    epsilon: float,
    normMeanVarDesc: Any,
    savedMean: int | None,
    savedInvVariance: int | None,
    activationDesc: Any,
    workSpace: int | None,
    workSpaceSizeInBytes: int,
    reserveSpace: int | None,
    reserveSpaceSizeInBytes: int,
    groupCnt: int,
) -> None:
    run_backward(
        Normalization.of_norm(mode, normOps, algo, groupCnt),
        Given(xDesc, xData),
        Given(dyDesc, dyData),
        Given(dxDesc, dxData),
        Given(dzDesc, dzData),
        (dNormScaleBiasDesc, "dNormScaleBiasDesc"),
        (normMeanVarDesc, "normMeanVarDesc"),
        data_factors={"alphaDataDiff": alphaDataDiff, "betaDataDiff": betaDataDiff},
        param_factors={"alphaParamDiff": alphaParamDiff, "betaParamDiff": betaParamDiff},
        scale=normScaleData,
        dscale=dNormScaleData,
        dbias=dNormBiasData,
        saved=(savedMean, savedInvVariance),
        epsilon=epsilon,
        activation=activationDesc,
        space=Space(workSpace, workSpaceSizeInBytes, reserveSpace, reserveSpaceSizeInBytes),
    )


# -- sizes -------------------------------------------------------------------------------------


@implements("cudnnGetNormalizationForwardTrainingWorkspaceSize")
def forward_workspace_size(
    handle: Any,
    mode: raw.cudnnNormMode_t,
    normOps: raw.cudnnNormOps_t,
    algo: raw.cudnnNormAlgo_t,
    xDesc: Any,
    zDesc: Any,
    yDesc: Any,
    normScaleBiasDesc: Any,
    activationDesc: Any,
    normMeanVarDesc: Any,
    sizeInBytes: Any,
    groupCnt: int,
) -> None:
    what = Normalization.of_norm(mode, normOps, algo, groupCnt)
    x = Given(xDesc).operand("x")
    require(sizeInBytes=sizeInBytes)
    what.check(x, activationDesc)
    sizeInBytes.contents.value = what.workspace_size(x)


@implements("cudnnGetNormalizationBackwardWorkspaceSize")
def backward_workspace_size(
    handle: Any,
    mode: raw.cudnnNormMode_t,
    normOps: raw.cudnnNormOps_t,
    algo: raw.cudnnNormAlgo_t,
    xDesc: Any,
    yDesc: Any,
    dyDesc: Any,
    dzDesc: Any,
    dxDesc: Any,
    dNormScaleBiasDesc: Any,
    activationDesc: Any,
    normMeanVarDesc: Any,
    sizeInBytes: Any,
    groupCnt: int,
) -> None:
    what = Normalization.of_norm(mode, normOps, algo, groupCnt)
    x = Given(xDesc).operand("x")
    require(sizeInBytes=sizeInBytes)
    what.check(x, activationDesc)
    sizeInBytes.contents.value = what.workspace_size(x)


@implements("cudnnGetNormalizationTrainingReserveSpaceSize")
def reserve_space_size(
    handle: Any,
    mode: raw.cudnnNormMode_t,
    normOps: raw.cudnnNormOps_t,
    algo: raw.cudnnNormAlgo_t,
    activationDesc: Any,
    xDesc: Any,
    sizeInBytes: Any,
    groupCnt: int,
) -> None:
    what = Normalization.of_norm(mode, normOps, algo, groupCnt)
    x = Given(xDesc).operand("x")
    require(sizeInBytes=sizeInBytes)
    what.check(x, activationDesc)
    sizeInBytes.contents.value = what.reserve_size(x)
