"""Attention and what belongs to it, numbers in blocks, signals; see `sketch`."""

from __future__ import annotations

import math
from typing import Any

from .sketch import Given, Results, Sketch, Unfit, either, named, operation

# --- attention -----------------------------------------------------------------------------------


def _heads(s: Sketch, given: Given) -> tuple[int, ...]:
    dims = s.of(given, 4) if given is not None else s.dims
    if len(dims) != 4:
        raise Unfit(f"rank {len(dims)}, not 4")
    return dims


def _attended(
    s: Sketch, operation: str, q: Given, k: Given, v: Given, bias: Given, **options: Any
) -> Results:
    dims = _heads(s, either(q, k, v, bias))
    if bias is not None:
        dims = (*dims[:3], 64)
        k = s.new((*dims[:2], s.of(bias)[3], 64), rows=True)
        v = s.new((*dims[:2], s.of(bias)[3], 64), rows=True)
    q, k, v = (s.new(dims, rows=True) if each is None else each for each in (q, k, v))
    results = getattr(s.graph, operation)(q, k, v, bias=bias, generate_stats=True, **options)
    return named(results, "o", "stats")


@operation("sdpa")
def _sdpa(
    s: Sketch, q: Given = None, k: Given = None, v: Given = None, bias: Given = None
) -> Results:
    return _attended(s, "sdpa", q, k, v, bias)


@operation("sdpa modified")
def _sdpa_modified(s: Sketch, q: Given = None, k: Given = None, bias: Given = None) -> Results:
    return _attended(s, "sdpa", q, k, None, bias, score_mod=type(s.graph).tanh)


@operation("sdpa_backward")
def _sdpa_backward(s: Sketch, q: Given = None, o: Given = None, dO: Given = None) -> Results:
    dims = _heads(s, either(q, o, dO))
    q, o, dO = (s.new(dims, rows=True) if each is None else each for each in (q, o, dO))
    stats = s.graph.tensor((*dims[:3], 1), data_type="float32")
    results = s.graph.sdpa_backward(q, s.new(dims, rows=True), s.new(dims, rows=True), o, dO, stats)
    return named(results, "dq", "dk", "dv")


@operation("sdpa_unified")
def _sdpa_unified(
    s: Sketch, q: Given = None, k: Given = None, v: Given = None, bias: Given = None
) -> Results:
    return _attended(s, "sdpa_unified", q, k, v, bias)


@operation("sdpa_unified modified")
def _unified_modified(s: Sketch, q: Given = None, k: Given = None, bias: Given = None) -> Results:
    options = {"score_mod": type(s.graph).tanh, "use_causal_mask": True}
    return _attended(s, "sdpa_unified", q, k, None, bias, **options)


@operation("sdpa_unified_backward")
def _sdpa_unified_backward(s: Sketch, q: Given = None, dO: Given = None) -> Results:
    dims = _heads(s, either(q, dO))
    q, dO = (s.new(dims, rows=True) if each is None else each for each in (q, dO))
    stats = s.graph.tensor((*dims[:3], 1), data_type="float32")
    k, v, o = (s.new(dims, rows=True) for _ in range(3))
    results = s.graph.sdpa_unified_backward(q, k, v, o, dO, stats)
    return named(results, "dq", "dk", "dv")


@operation("sdpa_fp8")
def _sdpa_fp8(s: Sketch, q: Given = None, v: Given = None) -> Results:
    dims = _heads(s, either(q, v))
    for each in (q, v):
        if each is not None:
            each.set_output(not each.virtual, data_type="fp8_e4m3")
    q, k, v = (
        s.new(dims, "fp8_e4m3", rows=True) if each is None else each for each in (q, None, v)
    )
    scales = [s.one() for _ in range(6)]
    o, stats, amax_s, amax_o = s.graph.sdpa_fp8(q, k, v, *scales, generate_stats=True)
    amax_s.set_output()
    return named((o, stats, amax_o), "o", "stats", "amax_o")


@operation("softmax")
def _softmax(s: Sketch, input: Given = None) -> Results:
    return named(s.graph.softmax(s.first(input), outputs=("y", "stats")))


@operation("rope")
def _rope(s: Sketch, input: Given = None) -> Results:
    input = s.first(input)
    *_, rows, size = s.of(input)
    rank = len(s.of(input))
    if size % 2:
        raise Unfit("an odd head size")
    return named(s.graph.rope(input, s.new((*(1,) * (rank - 2), rows, size), "float32")))


@operation("rope_backward")
def _rope_backward(s: Sketch, dY: Given = None) -> Results:
    dY = s.first(dY)
    *_, rows, size = s.of(dY)
    rank = len(s.of(dY))
    if size % 2:
        raise Unfit("an odd head size")
    freqs = s.new((*(1,) * (rank - 2), rows, size), "float32")
    return named(s.graph.rope_backward(dY, freqs))


@operation("paged_cache_load")
def _paged(s: Sketch, container: Given = None) -> Results:
    container = s.first(container)
    pages, _, size, _ = s.of(container, 4)
    table, lengths = s.new((2, 1, max(pages // 2, 1), 1), "int32"), s.one("int32")
    lengths.dims, lengths.strides = (2, 1, 1, 1), (1, 1, 1, 1)
    length = max(pages // 2, 1) * size
    return named(s.graph.paged_cache_load(container, table, lengths, length))


@operation("diagonal_band_mask")
def _band_mask(s: Sketch, input: Given = None) -> Results:
    return named(s.graph.diagonal_band_mask(s.first(input), -math.inf, right_shift=0))


@operation("expand_band_matrix")
def _expand_band(s: Sketch, input: Given = None) -> Results:
    input = s.first(input)
    *rest, width = s.of(input)
    dims = (*rest, width + 3)
    more = {"lower_bandwidth": width - 1, "upper_bandwidth": 0, "axis": -1}
    return named(s.graph.expand_band_matrix(input, dims, **more))


@operation("contract_band_matrix")
def _contract_band(s: Sketch, input: Given = None) -> Results:
    input = s.first(input)
    *rest, width = s.of(input)
    more = {"lower_bandwidth": 1, "upper_bandwidth": 0, "axis": -1}
    if width < 2:
        raise Unfit("too small")
    return named(s.graph.contract_band_matrix(input, (*rest, 2), **more))


# --- small numbers, other GPUs -------------------------------------------------------------------


@operation("block_scale_quantize")
def _quantize(s: Sketch, input: Given = None) -> Results:
    input = s.first(input)
    if s.of(input)[-1] % 16:
        raise Unfit("no whole blocks")
    y, scale = s.graph.block_scale_quantize(input, 16 if s.of(input)[-1] % 32 else 32)
    y.set_output(False, data_type="fp8_e4m3")
    scale.set_output(False, data_type="fp8_e8m0")
    return named((y, scale), "y", "scale")


@operation("block_scale_dequantize")
def _dequantize(s: Sketch, input: Given = None, descale: Given = None) -> Results:
    if descale is not None:
        *rest, blocks = s.of(descale)
        input = s.new((*rest, blocks * 32), "fp8_e4m3")
    input = s.new(s.dims, "fp8_e4m3") if input is None else input
    *rest, size = s.of(input)
    block = min(size, 32)
    descale = s.new((*rest, size // block), "fp8_e8m0") if descale is None else descale
    return named(s.graph.block_scale_dequantize(input, descale, block))


@operation("signal")
def _signal(s: Sketch, input: Given = None) -> Results:
    input = s.first(input)
    flag = s.one("int32", len(s.of(input)))
    return named(s.graph.signal(input, flag, "wait", 1))
