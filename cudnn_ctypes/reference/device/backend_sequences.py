"""Operations around attention, and operations that move or draw elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import raw
from ...raw import cudnnBackendAttributeName_t as Name
from .. import graph
from .backend_records import Record
from .backend_steps import Results, Step, operation


@operation("OPERATION_SOFTMAX", "YDESC STATS_DESC MAX_DESC SUM_EXP_DESC")
def softmax(step: Step) -> Results:
    found = graph.softmax(step["XDESC"], step.get("SINK_DESC"))
    unit = math.log(2) if step.option("STATS_LOG2", False) else 1.0
    return {
        "YDESC": found.y,
        "STATS_DESC": found.stats / unit,
        "MAX_DESC": found.maximum,
        "SUM_EXP_DESC": found.sum_exp,
    }


@operation("OPERATION_DIAGONAL_BAND_MASK", "YDESC")
def diagonal_band_mask(step: Step) -> Results:
    x = step["XDESC"]
    y = graph.diagonal_band_mask(
        x,
        step["BDESC"],
        comparison=raw.cudnnPointwiseMode_t(
            step.option("COMPARISON_MODE", raw.CUDNN_POINTWISE_CMP_GE)
        ),
        left_bound=step.get("LEFT_BOUND_DESC"),
        right_shift=step.get("SHIFT_RIGHT_BOUND_DESC"),
        seq_len_q=step.lengths("Q", x.shape[-2]),
        seq_len_kv=step.lengths("KV", x.shape[-1]),
    )
    return {"YDESC": y}


def _check_axis(step: Step, rank: int) -> None:
    if step.option("AXIS", rank - 1) % rank != rank - 1:
        raise step.refused("only band matrices along the last axis are carried out")


@operation("OPERATION_EXPAND_BAND_MATRIX", "YDESC")
def expand_band_matrix(step: Step) -> Results:
    step.refuse_if_set("KV_TOKEN_OFFSET_DESC", "SPECULATIVE_MASK_DESC")
    x, columns = step["XDESC"], step.shape("YDESC")[-1]
    _check_axis(step, x.ndim)
    lower, pad = step.option("LOWER_BANDWIDTH", 0), step.option("PAD_VALUE", 0.0)
    return {"YDESC": graph.expand_band_matrix(x, columns, lower, pad)}


@operation("OPERATION_CONTRACT_BAND_MATRIX", "YDESC")
def contract_band_matrix(step: Step) -> Results:
    if Name.CUDNN_ATTR_OPERATION_CONTRACT_BAND_MAX_TOKEN_VALUE in step.record.values:
        raise step.refused("a largest token is not carried out")
    x, bands = step["XDESC"], step.shape("YDESC")[-1]
    _check_axis(step, x.ndim)
    lower, pad = step.option("LOWER_BANDWIDTH", 0), step.option("PAD_VALUE", 0.0)
    return {"YDESC": graph.contract_band_matrix(x, bands, lower, pad)}


@operation("OPERATION_PAGED_CACHE_LOAD", "YDESC")
def paged_cache_load(step: Step) -> Results:
    y = step.tensor("YDESC")
    # Keys may be described as they enter the product: (b, h, d, s), still with d innermost.
    exchanged = y.strides[2] < y.strides[3]
    length = y.shape[3 if exchanged else 2]
    container, table = step["CONTAINER_DESC"], step["PAGE_TABLE_DESC"]
    lengths = step.sizes("SEQUENCE_DESC", length)
    assert lengths is not None
    loaded = graph.load_pages(container, table, lengths, length)
    return {"YDESC": loaded.swapaxes(2, 3) if exchanged else loaded}


@operation("OPERATION_ROPE_FWD", "YDESC")
def rope(step: Step) -> Results:
    y = graph.rope(step["XDESC"], step["FREQSDESC"], **_rope_options(step))
    return {"YDESC": y}


@operation("OPERATION_ROPE_BWD", "DXDESC")
def rope_backward(step: Step) -> Results:
    dx = graph.rope_backward(step["DYDESC"], step["FREQSDESC"], **_rope_options(step))
    return {"DXDESC": dx}


def _rope_options(step: Step) -> dict[str, Any]:
    return {"scale": step.option("OUTPUT_SCALE", 1.0), "rope_dim": step.option("ROPE_DIM")}


# --- moving elements -----------------------------------------------------------------------------


@operation("OPERATION_RESHAPE", "YDESC")
def reshape(step: Step) -> Results:
    x, y = step.tensor("XDESC"), step.tensor("YDESC")
    mode = step.option("MODE")
    known = None if mode is None else raw.cudnnBackendReshapeMode_t(mode)
    return {"YDESC": graph.reshape(step["XDESC"], x.strides, y.dims, y.strides, known)}


@operation("OPERATION_TRANSPOSE", "YDESC")
def transpose(step: Step) -> Results:
    return {"YDESC": step["XDESC"].transpose(step.options("PERMUTATION"))}


@operation("OPERATION_SLICE", "YDESC")
def slices(step: Step) -> Results:
    x = step["XDESC"]
    steps = step.options("STRIDES") or (1,) * x.ndim
    start, limit = step.options("START_INDICES"), step.options("LIMIT_INDICES")
    return {"YDESC": graph.slices(x, start, limit, steps)}


@operation("OPERATION_CONCAT", "OUTPUT_DESC")
def concatenate(step: Step) -> Results:
    return {"OUTPUT_DESC": np.concatenate(step.listed("INPUT_DESCS"), step.option("AXIS", 0))}


# --- blocks --------------------------------------------------------------------------------------


@operation("OPERATION_BLOCK_SCALE_QUANTIZE", "YDESC SCALE_DESC")
def quantize(step: Step) -> Results:
    x, y, scale = step["XDESC"], step.tensor("YDESC"), step.tensor("SCALE_DESC")
    size = step.option("BLOCK_SIZE", 32)
    axis = graph.block_axis(x.shape, scale.shape, size)
    quantized, scales = graph.quantize(x, size, axis, y.dtype, scale.dtype)
    padding = [(0, full - part) for full, part in zip(scale.shape, scales.shape, strict=True)]
    padded = np.pad(scales, padding, constant_values=2.0**-127)  # zeros, in bytes
    return {"YDESC": quantized, "SCALE_DESC": padded}


@operation("OPERATION_BLOCK_SCALE_DEQUANTIZE", "YDESC")
def dequantize(step: Step) -> Results:
    if step.option("NEG_SCALE", False):
        raise step.refused("negative scales are not carried out")
    sizes = step.options("BLOCK_SIZE")
    return {"YDESC": graph.dequantize(step["XDESC"], step["SCALE_DESC"], sizes)}


# --- random numbers ------------------------------------------------------------------------------


@operation("OPERATION_RNG", "YDESC")
def random(step: Step) -> Results:
    inner, shape = step.inner("DESC"), step.shape("YDESC")
    given = step.option("SEED", 0)
    seed = int(step.number("SEED") if isinstance(given, Record) else given)
    offset = int(step.number("OFFSET_DESC"))
    match raw.cudnnRngDistribution_t(inner.one("RNG_DISTRIBUTION", 0)):
        case raw.CUDNN_RNG_DISTRIBUTION_BERNOULLI:
            probability = inner.one("RNG_BERNOULLI_DIST_PROBABILITY", 0.5)
            y = graph.bernoulli(shape, probability, seed, offset)
        case raw.CUDNN_RNG_DISTRIBUTION_UNIFORM:
            low = inner.one("RNG_UNIFORM_DIST_MINIMUM", 0.0)
            high = inner.one("RNG_UNIFORM_DIST_MAXIMUM", 1.0)
            y = graph.uniform(shape, low, high, seed, offset)
        case _:
            mean = inner.one("RNG_NORMAL_DIST_MEAN", 0.0)
            spread = inner.one("RNG_NORMAL_DIST_STANDARD_DEVIATION", 1.0)
            y = graph.normal(shape, mean, spread, seed, offset)
    return {"YDESC": y}
