"""Convolutions, matrix products, element-wise operations and reductions from their descriptors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import raw
from ...raw import cudnnBackendAttributeName_t as Name
from ...raw import cudnnBackendAttributeType_t as Type
from .. import graph
from .backend_records import rounded, widened
from .backend_steps import Inner, Results, Step, operation

_ALPHAS = {
    raw.CUDNN_DATA_DOUBLE: Type.CUDNN_TYPE_DOUBLE,
    raw.CUDNN_DATA_INT32: Type.CUDNN_TYPE_INT32,
}


# --- convolution ---------------------------------------------------------------------------------


def _convolution(step: Step) -> graph.Convolution:
    inner = step.inner("CONV_DESC")
    return graph.Convolution(
        inner.all("CONVOLUTION_PRE_PADDINGS"),
        inner.all("CONVOLUTION_POST_PADDINGS"),
        inner.all("CONVOLUTION_FILTER_STRIDES"),
        inner.all("CONVOLUTION_DILATIONS"),
        raw.cudnnConvolutionMode_t(inner.one("CONVOLUTION_CONV_MODE", 1)),
    )


def _factor(step: Step, name: str) -> float:
    """alpha or beta. Engines read it in the computation's type: in another one it is 0."""
    computed_in = step.inner("CONV_DESC").one("CONVOLUTION_COMP_TYPE", 0)
    attribute = Name[f"CUDNN_ATTR_{step.operation.prefix}_{name}"]
    type_, values = step.record.values.get(attribute, (None, (0,)))
    wanted = _ALPHAS.get(raw.cudnnDataType_t(computed_in), Type.CUDNN_TYPE_FLOAT)
    return float(values[0]) if type_ in (wanted, Type.CUDNN_TYPE_FLOAT) else 0.0


def _scaled(step: Step, port: str, result: Any) -> Results:
    alpha, beta = _factor(step, "ALPHA"), _factor(step, "BETA")
    return {port: step.scaled(port, result, alpha, beta)}


@operation("OPERATION_CONVOLUTION_FORWARD", "Y")
def convolution_forward(step: Step) -> Results:
    return _scaled(step, "Y", _convolution(step).forward(step["X"], step["W"]))


@operation("OPERATION_CONVOLUTION_BWD_DATA", "DX")
def convolution_backward_data(step: Step) -> Results:
    shape = step.shape("DX")
    dx = _convolution(step).backward_data(step["DY"], step["W"], shape)
    return _scaled(step, "DX", dx)


@operation("OPERATION_CONVOLUTION_BWD_FILTER", "DW")
def convolution_backward_filter(step: Step) -> Results:
    shape = step.shape("DW")
    dw = _convolution(step).backward_filter(step["X"], step["DY"], shape)
    return _scaled(step, "DW", dw)


# --- matrix products -----------------------------------------------------------------------------


@operation("OPERATION_MATMUL", "CDESC")
def matmul(step: Step) -> Results:
    a, b = step["ADESC"], step["BDESC"]
    sizes = {
        letter: step.sizes(f"GEMM_{letter.upper()}_OVERRIDE_DESC", limit)
        for letter, limit in zip("mkn", (*a.shape[-2:], b.shape[-1]), strict=True)
    }
    padding = step.inner("DESC").one("MATMUL_PADDING_VALUE", 0.0)
    return {"CDESC": graph.matmul(a, b, padding=padding, **sizes)}


@operation("OPERATION_MOE_GROUPED_MATMUL", "OUTPUT_DESC")
def grouped_matmul(step: Step) -> Results:
    mode = raw.cudnnMoeGroupedMatmulMode_t(step.option("MODE", 0))
    gather = scatter = None
    if mode == raw.CUDNN_MOE_GROUPED_MATMUL_MODE_GATHER:
        gather = step["TOKEN_INDEX_DESC"]
    elif mode == raw.CUDNN_MOE_GROUPED_MATMUL_MODE_SCATTER:
        # A token's results are adjacent: its first choice of an expert, its second choice …
        scatter = step["TOKEN_INDEX_DESC"] * step.option("TOP_K", 1) + step["TOKEN_KS_DESC"]
    operands = ("TOKEN_DESC", "WEIGHT_DESC", "FIRST_TOKEN_OFFSET_DESC")
    y = graph.grouped_matmul(*(step[port] for port in operands), gather=gather, scatter=scatter)
    return {"OUTPUT_DESC": y}


@operation("OPERATION_MOE_GROUPED_MATMUL_BWD", "DWEIGHT_DESC")
def grouped_matmul_backward(step: Step) -> Results:
    operands = ("DOUTPUT_DESC", "TOKEN_DESC", "FIRST_TOKEN_OFFSET_DESC")
    return {"DWEIGHT_DESC": graph.grouped_matmul_backward(*(step[port] for port in operands))}


# --- element-wise operations ---------------------------------------------------------------------


_PARAMETERS = {
    name: Name[f"CUDNN_ATTR_POINTWISE_{name.upper()}"]
    for name in graph.Parameters.__dataclass_fields__
}


def _mode(step: Step) -> tuple[raw.cudnnPointwiseMode_t, graph.Parameters, tuple[float, ...]]:
    """The mode, its parameters, and the factors of the operands."""
    record = step.inner("PW_DESCRIPTOR").record
    mode = raw.cudnnPointwiseMode_t(record.one(Name.CUDNN_ATTR_POINTWISE_MODE, 0))
    values = {name: record.one(attribute) for name, attribute in _PARAMETERS.items()}
    parameters = {name: value for name, value in values.items() if value is not None}
    factors = (step.option("ALPHA1", 1.0), step.option("ALPHA2", 1.0), 1.0)
    return mode, graph.Parameters(**parameters), factors


@operation("OPERATION_POINTWISE", "YDESC DXDESC")
def pointwise(step: Step) -> Results:
    mode, parameters, factors = step.options_by(_mode)
    if step.find("DYDESC") is not None:

        def slope(dy: Any, x: Any, *, out: Any) -> Any:
            return graph.pointwise_backward(mode, dy, x, parameters=parameters)

        narrow = graph.keeps_float32(mode, parameters)
        return {"DXDESC": step.by_elements(slope, ("DYDESC", "XDESC"), "DXDESC", narrow=narrow)}
    if mode == raw.CUDNN_POINTWISE_GEN_INDEX:
        x = step.stored("XDESC")
        axis = parameters.axis % x.ndim
        line = x[tuple(slice(None if each == axis else 1) for each in range(x.ndim))]
        index = graph.pointwise(mode, line, parameters=parameters) + step.starts[axis]
        return {"YDESC": rounded(index, step.tensor("YDESC"), x.shape)}

    def formula(*operands: Any, out: Any) -> Any:
        scaled = [x if a == 1 else a * x for a, x in zip(factors, operands, strict=False)]
        empty = _queries_without_keys(mode, *scaled) if step.attends else None
        result = graph.pointwise(mode, *scaled, parameters=parameters, out=out)
        if empty is not None:
            result[empty] = _WITHOUT_KEYS[mode]
        return result

    narrow = graph.keeps_float32(mode, parameters) and set(factors) == {1.0}
    ports = ("XDESC", "BDESC", "TDESC")
    return {"YDESC": step.by_elements(formula, ports, "YDESC", narrow=narrow)}


_WITHOUT_KEYS = {raw.CUDNN_POINTWISE_SUB: -np.inf, raw.CUDNN_POINTWISE_DIV: 0.0}
"""The softmax of no score is 0, as attention has it (H200, 9.19): the largest score is -inf, the
sum of the exponentials 0, and these modes of two such operands are the same again."""


def _queries_without_keys(mode: raw.cudnnPointwiseMode_t, *operands: Any) -> Any:
    """Where operands are those of a softmax of no score; None if nowhere."""
    alone = _WITHOUT_KEYS.get(mode)
    if alone is None or not (operands[1] == alone).any():
        return None
    return (operands[0] == alone) & (operands[1] == alone)


# --- reductions ----------------------------------------------------------------------------------


@operation("OPERATION_REDUCTION", "YDESC")
def reduction(step: Step) -> Results:
    step.refuse_if_set("GROUP_OFFSET_DESC", "SUBGRAPH", "INIT_VALUES")
    mode = raw.cudnnReduceTensorOp_t(step.inner("DESC").one("REDUCTION_OPERATOR", 0))
    x = step.stored("XDESC")
    exact = mode in (raw.CUDNN_REDUCE_TENSOR_MAX, raw.CUDNN_REDUCE_TENSOR_MIN)
    if not exact or x.dtype != np.float32:
        x = widened(x)
    return {"YDESC": graph.reduce(mode, x, step.shape("YDESC"))}


@operation("OPERATION_GENSTATS", "SUMDESC SQSUMDESC")
def genstats(step: Step) -> Results:
    total, squares = graph.channel_statistics(step["XDESC"])
    return {"SUMDESC": total, "SQSUMDESC": squares}


# --- resampling ----------------------------------------------------------------------------------


def _resampling(inner: Inner) -> graph.Resampling:
    return graph.Resampling(
        raw.cudnnResampleMode_t(inner.one("RESAMPLE_MODE", 0)),
        inner.all("RESAMPLE_WINDOW_DIMS"),
        inner.all("RESAMPLE_STRIDES"),
        inner.all("RESAMPLE_PRE_PADDINGS"),
        raw.cudnnPaddingMode_t(inner.one("RESAMPLE_PADDING_MODE", 0)),
    )


def _dtype(step: Step, port: str) -> Any:
    """The dtype to which a result may be rounded at once: float64 if it is scaled afterwards."""
    scaled = step.option("ALPHA", 1.0) != 1 or step.option("BETA", 0.0) != 0
    return np.dtype(np.float64) if scaled else step.tensor(port).dtype


def _resampled(step: Step, port: str, result: Any) -> Any:
    return step.scaled(port, result, step.option("ALPHA", 1.0), step.option("BETA", 0.0))


@operation("OPERATION_RESAMPLE_FWD", "YDESC IDXDESC")
def resample(step: Step) -> Results:
    x, dtype = step.stored("XDESC"), _dtype(step, "YDESC")
    y, index = _resampling(step.inner("DESC")).forward(x, step.shape("YDESC"), dtype=dtype)
    return {"YDESC": _resampled(step, "YDESC", y), "IDXDESC": index}


@operation("OPERATION_RESAMPLE_BWD", "DXDESC")
def resample_backward(step: Step) -> Results:
    dx = _resampling(step.inner("DESC")).backward(
        step.stored("DYDESC"),
        step.shape("DXDESC"),
        index=step.get("IDXDESC"),
        x=step.stored("XDESC") if step.find("XDESC") else None,
        dtype=_dtype(step, "DXDESC"),
    )
    return {"DXDESC": _resampled(step, "DXDESC", dx)}


# --- signals -------------------------------------------------------------------------------------


def _signal_outputs(step: Step) -> tuple[str, ...]:
    sets = step.option("MODE") == raw.CUDNN_SIGNAL_SET
    return ("YDESC", "FLAGDESC") if sets else ("YDESC",)


@operation("OPERATION_SIGNAL", _signal_outputs)
def signal(step: Step) -> Results:
    value = step.option("VALUE", 0)
    if step.option("MODE") == raw.CUDNN_SIGNAL_SET:
        return {"YDESC": step["XDESC"], "FLAGDESC": np.float64(value)}
    if step.number("FLAGDESC") < value:
        raise step.refused(f"it would wait for ever: the flag has not reached {value}")
    return {"YDESC": step["XDESC"]}
