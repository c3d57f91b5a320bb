"""Normalizations from their descriptors, whole and in parts."""

from __future__ import annotations

from typing import Any

from ... import raw
from .. import graph
from ..tiles import other_axes, tiled
from .backend_steps import Results, Step, operation
from .backend_tensors import rounded, widened

_TRAINING = raw.CUDNN_NORM_FWD_TRAINING
_STATISTICS = ("MEAN_DESC", "INV_VARIANCE_DESC")
_RUNNING = ("OUTPUT_RUNNING_MEAN_DESC", "OUTPUT_RUNNING_VAR_DESC")


def _mode(step: Step) -> tuple[Any, tuple[int, ...]]:
    """The mode, and the axes of its sums."""
    mode = raw.cudnnBackendNormMode_t(step.option("MODE", 0))
    scale = step.find("SCALE_DESC")
    x_shape, shape = step.tensor("XDESC").shape, scale.shape if scale else None
    statistics = step.find("INV_VARIANCE_DESC")
    if shape is None and statistics is not None:  # they vary where a scale does not
        shape = tuple(
            1 if n > 1 else size for n, size in zip(statistics.shape, x_shape, strict=True)
        )
    try:
        axes = graph.axes_of(mode, x_shape, shape)
    except ValueError as error:
        raise step.refused(str(error)) from error
    return mode, axes


def _forward_outputs(step: Step) -> tuple[str, ...]:
    trains = step.option("PHASE") == _TRAINING
    return ("YDESC", *_STATISTICS, *_RUNNING) if trains else ("YDESC",)


@operation("OPERATION_NORM_FWD", _forward_outputs)
def normalization_forward(step: Step) -> Results:
    step.refuse_if_set("PEER_STAT_DESCS")
    mode, axes = _mode(step)
    epsilon, target = step.number("EPSILON_DESC"), step.tensor("YDESC")
    saved: tuple[Any, Any] = (None, None)
    if step.option("PHASE") != _TRAINING:
        saved = (step.get("MEAN_DESC"), step.get("INV_VARIANCE_DESC"))

    def formula(x: Any, mean: Any, inv_variance: Any, scale: Any, bias: Any) -> tuple[Any, ...]:
        found = graph.statistics(mode, x := widened(x), axes, epsilon)
        if inv_variance is None:
            y = graph.normalize(found.centred, found.inv_variance, scale, bias)
        else:
            centred = found.centred if mean is None else x - mean
            y = graph.normalize(centred, inv_variance, scale, bias)
        return rounded(y, target, None), found.mean, found.inv_variance, found.unbiased

    x = step.stored("XDESC")
    operands = (x, *saved, step.get("SCALE_DESC"), step.get("BIAS_DESC"))
    y, mean, inv_variance, variance = tiled(
        formula, *operands, axes=other_axes(x, axes), out=step.place("YDESC")
    )
    results = {"YDESC": y, "MEAN_DESC": mean, "INV_VARIANCE_DESC": inv_variance}
    if step.find("INPUT_RUNNING_MEAN_DESC") is not None:
        momentum = step.number("EXP_AVG_FACTOR_DESC", 1.0)
        for port, current in zip(("MEAN", "VAR"), (mean, variance), strict=True):
            previous = step[f"INPUT_RUNNING_{port}_DESC"]
            results[f"OUTPUT_RUNNING_{port}_DESC"] = graph.running(previous, current, momentum)
    return results


@operation("OPERATION_NORM_BWD", "DXDESC DSCALE_DESC DBIAS_DESC")
def normalization_backward(step: Step) -> Results:
    step.refuse_if_set("PEER_STAT_DESCS")
    mode, axes = _mode(step)
    x = step["XDESC"]
    found = graph.statistics(mode, x, axes, step.number("EPSILON_DESC"))
    mean, inv_variance = step.get("MEAN_DESC"), step.get("INV_VARIANCE_DESC")
    gradients = graph.normalize_backward(
        mode,
        step["DYDESC"],
        x,
        found.mean if mean is None else mean,
        found.inv_variance if inv_variance is None else inv_variance,
        step.get("SCALE_DESC"),
        axes,
    )
    return {"DXDESC": gradients.dx, "DSCALE_DESC": gradients.dscale, "DBIAS_DESC": gradients.dbias}


@operation(
    "OPERATION_BN_FINALIZE",
    "EQ_SCALE_DESC EQ_BIAS_DESC SAVED_MEAN_DESC SAVED_INV_STD_DESC "
    "UPDATED_RUNNING_MEAN_DESC UPDATED_RUNNING_VAR_DESC",
)
def finalize(step: Step) -> Results:
    if step.option("STATS_MODE", 0) != raw.CUDNN_BN_FINALIZE_STATISTICS_TRAINING:
        raise step.refused("only statistics of training are finalized")
    found = graph.finalize(
        step["Y_SUM_DESC"],
        step["Y_SQ_SUM_DESC"],
        step["SCALE_DESC"],
        step["BIAS_DESC"],
        int(step.number("ACCUM_COUNT_DESC")),
        step.number("EPSILON_DESC"),
    )
    results = {
        "EQ_SCALE_DESC": found.eq_scale,
        "EQ_BIAS_DESC": found.eq_bias,
        "SAVED_MEAN_DESC": found.mean,
        "SAVED_INV_STD_DESC": found.inv_variance,
    }
    if step.find("PREV_RUNNING_MEAN_DESC") is not None:
        momentum = step.number("EXP_AVERATE_FACTOR_DESC", 1.0)
        for port, current in zip(("MEAN", "VAR"), (found.mean, found.unbiased), strict=True):
            previous = step[f"PREV_RUNNING_{port}_DESC"]
            results[f"UPDATED_RUNNING_{port}_DESC"] = graph.running(previous, current, momentum)
    return results


@operation(
    "OPERATION_BN_BWD_WEIGHTS",
    "DBN_SCALE_DESC DBN_BIAS_DESC EQ_DY_SCALE_DESC EQ_X_SCALE_DESC EQ_BIAS",
)
def backward_weights(step: Step) -> Results:
    operands = ("DY_DESC", "X_DESC", "MEAN_DESC", "INVSTD_DESC", "BN_SCALE_DESC")
    found = graph.backward_weights(*(step[port] for port in operands))
    return {
        "DBN_SCALE_DESC": found.dscale,
        "DBN_BIAS_DESC": found.dbias,
        "EQ_DY_SCALE_DESC": found.eq_dy_scale,
        "EQ_X_SCALE_DESC": found.eq_x_scale,
        "EQ_BIAS": found.eq_bias,
    }
