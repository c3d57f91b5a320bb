"""Graphs on which cuDNN ends the process, found by ``python -m tools.fuzz pairs`` without a GPU.

Unless a row has modes, the heuristics modes a and b end it, or compiling what they propose does,
and the mode fallback has no engine that compiles: a refusal takes nothing away. Ranges of versions
are what ``python -m tools.fuzz rows`` told of every minor release from 9.8 to 9.28 (of most, if a
row says `sometimes`), and of the patch releases where one differs from the next. Before 9.8 no GPU
can be meant that is absent. Up to 9.12 the mode fallback has no engine for attention.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .fatal_attention import (
    adds_a_product_to_a_gradient,
    attends_to_final_statistics,
    attends_to_gradients,
    computes_o,
    derives_from_a_filter_gradient,
    draws_from_a_fixed_seed,
    gives_booleans,
    joins_a_maximum,
    multiplies_a_band,
    multiplies_a_softmax,
    multiplies_for_o,
    multiplies_scattered_heads,
    reduces_o_to_its_maximum,
    scales_attention_by_a_maximum,
    scatters_heads,
    scatters_pages,
    takes_booleans,
)
from .fatal_operations import (
    concatenates_beside_pooling,
    convolves,
    derives_beside_a_norm,
    fuses_a_filter_gradient,
    lacks_epsilon,
    multiplies_a_convolution,
    multiplies_a_signal,
    multiplies_beside_experts,
    prepares_a_filter_gradient,
    quantizes_a_norm_of_rows,
    quantizes_an_adaptive_norm,
    rectifies_before_a_filter_gradient,
    uses_an_index,
)
from .quirk import Graph, Quirk

__all__ = ["FATAL"]

_TURING_ON = (75, 80, 89, 90, 100, 120)
_AMPERE_ON = _TURING_ON[1:]
_ENDS = "cuDNN ends the process on such a graph"


def _fatal(
    name: str,
    where: Callable[[Graph], str],
    evidence: str,
    capabilities: tuple[int, ...] = _AMPERE_ON,
    *,
    since: int = 90800,
    **facts: Any,
) -> Quirk:
    return Quirk(name, _ENDS, where, evidence, since, capabilities, **facts)


FATAL = (
    _fatal(
        "product of a convolution",
        multiplies_a_convolution,
        "SIGSEGV, 9.8 to 9.28, in all modes, types and layouts, also with element-wise "
        "operations, a reduction, pooling or another convolution between; not with a norm between, "
        "nor with two products",
    ),
    _fatal(
        "product of a signal",
        multiplies_a_signal,
        "SIGSEGV, 9.8 to 9.28, from 9.27 on while an engine is compiled, in the modes a and b: "
        "also where the signal's result is an output, or an operation follows; other GPUs have no "
        "engine",
        (80, 89),
    ),
    _fatal(
        "product beside experts",
        multiplies_beside_experts,
        "SIGSEGV, 9.18 to 9.28, in all modes and types, connected or not; not with two products; "
        "9.15 to 9.17 have no engine",
        since=91800,
    ),
    _fatal(
        "element-wise operation before the gradient of a filter",
        prepares_a_filter_gradient,
        "SIGSEGV, 9.8 to 9.28 for a B200, in the modes a and b: relu, add, mul, or relu of "
        "one of the two, and nothing else; mul, add and relu together have no engine there; other "
        "GPUs have engines for some of these graphs",
        (100,),
    ),
    _fatal(
        "relu before the gradient of a filter",
        rectifies_before_a_filter_gradient,
        "SIGFPE, 9.8 to 9.10, in all modes, in a process that has not asked about a gradient of a "
        "filter alone; 9.12 has engines, 9.11 has none",
        (80, 89, 120),
        repaired=91100,
    ),
    _fatal(
        "index of pooling within the graph",
        uses_an_index,
        "SIGSEGV, 9.8 to 9.28, in all modes, channels last; where the index is an output "
        "too, there are engines",
        _TURING_ON,
    ),
    _fatal(
        "concatenation beside pooling",
        concatenates_beside_pooling,
        "SIGSEGV, 9.8 to 9.22, in all modes, connected or not, in one process of several; in 9.23 "
        "and 9.26 it was not seen; no GPU has an engine",
        (80, 89),
        repaired=92300,
        sometimes=True,
    ),
    _fatal(
        "concatenation beside pooling, from 9.27 on",
        concatenates_beside_pooling,
        "SIGSEGV while an engine is compiled, 9.27 and 9.28, in one process of fifty",
        (80, 89),
        since=92700,
        sometimes=True,
    ),
    _fatal(
        "largest magnitude before attention",
        scales_attention_by_a_maximum,
        "SIGSEGV, 9.8 to 9.28: as bias and as scale, within the graph and, in float32, in memory",
    ),
    _fatal(
        "largest magnitude joined with attention's result",
        joins_a_maximum,
        "SIGSEGV, 9.8 to 9.28, in all types: that of an input, within the graph or, in float32, "
        "in memory, joined with o or with amax_s or amax_o of 8-bit attention; not where it is of "
        "a result",
    ),
    _fatal(
        "largest magnitude of attention's result",
        reduces_o_to_its_maximum,
        "SIGSEGV or SIGABRT, 9.8 to 9.28, within the graph and, in float32, in memory; for a B200 "
        "up to 9.16, and in 9.28, while an engine is compiled",
        (90, 100),
        sometimes=True,
    ),
    _fatal(
        "largest magnitude of attention's result, RTX 5090",
        reduces_o_to_its_maximum,
        "SIGSEGV or SIGABRT, 9.15 to 9.28; up to 9.16, and in 9.28, while an engine is compiled; "
        "before there are engines, which do not compile",
        (120,),
        since=91500,
    ),
    _fatal(
        "final statistics as keys",
        attends_to_final_statistics,
        "SIGSEGV, 9.9 to 9.22, float32, all results of bn_finalize; in 16 bits, and from 9.23 on, "
        "there is no engine",
        since=90900,
        repaired=92300,
    ),
    _fatal(
        "gradient of a filter before attention's backward pass",
        derives_from_a_filter_gradient,
        "SIGSEGV, 9.17 to 9.20 for a B200, in the modes a and b: the gradient is an output and any "
        "operand of sdpa_unified_backward; from 9.21 on there is no engine",
        (100,),
        since=91700,
        repaired=92100,
    ),
    _fatal(
        "gradient of attention before attention",
        attends_to_gradients,
        "SIGSEGV, 9.17 to 9.20, in all modes: any result of sdpa_unified_backward, within the "
        "graph, as k or v; as q, or as an output too, it has engines; from 9.21 on there is none",
        since=91700,
        repaired=92100,
    ),
    _fatal(
        "random numbers of a fixed seed beside attention",
        draws_from_a_fixed_seed,
        "SIGSEGV, 9.8 to 9.22 for a B200, also within attention, as its dropout, and beside its "
        "backward pass; with a tensor as seed there are engines, and from 9.23 on there is none",
        (100,),
        repaired=92300,
    ),
    _fatal(
        "softmax before attention",
        multiplies_a_softmax,
        "SIGSEGV, 9.20 to 9.28, in 9.28 while an engine is compiled: a result of the operation "
        "softmax that is also an output, as q, k or v",
        since=92000,
    ),
    _fatal(
        "band mask before attention",
        multiplies_a_band,
        "SIGSEGV, 9.28, while an engine is compiled: for q, k and v in float32; in 16 bits there "
        "is no engine",
        since=92800,
    ),
    _fatal(
        "boolean result of attention",
        gives_booleans(2, 5),
        "SIGFPE, 9.8 to 9.28; an A100 and an RTX 4090 have engines, which do not compile",
        (90, 100),
    ),
    _fatal(
        "boolean result of attention's forward pass",
        gives_booleans(2),
        "SIGFPE, 9.15 to 9.28 for an RTX 5090, which has engines for the backward pass",
        (120,),
        since=91500,
    ),
    _fatal(
        "boolean operand of attention",
        takes_booleans(2),
        "SIGFPE, 9.13 to 9.28, in 9.28 while an engine is compiled: a mask in score_mod, or an "
        "operation on o",
        since=91300,
    ),
    _fatal(
        "boolean operand of attention's backward pass",
        takes_booleans(5),
        "SIGFPE, 9.13 to 9.28: a mask in score_mod, or an operation on a gradient",
        since=91300,
    ),
    _fatal(
        "product added to a gradient of attention",
        adds_a_product_to_a_gradient,
        "SIGSEGV, 9.13 to 9.28: the product of two inputs, if its uid is larger than that "
        "of dO * o",
        since=91300,
    ),
    _fatal(
        "operation for o of attention's backward pass",
        computes_o,
        "SIGABRT or SIGSEGV, 9.8 to 9.12: o is computed in the graph by any pointwise operation",
        repaired=91300,
    ),
    _fatal(
        "product for o of attention's backward pass",
        multiplies_for_o,
        "SIGABRT or SIGSEGV, 9.13 to 9.24: o is computed in the graph by mul and may be an output; "
        "9.25 and 9.26 have engines",
        since=91300,
        repaired=92501,
        sometimes=True,
    ),
    _fatal(
        "product for o of attention's backward pass, from 9.27 on",
        multiplies_for_o,
        "SIGABRT or SIGSEGV, 9.27 and 9.28",
        since=92700,
        sometimes=True,
    ),
    _fatal(
        "scattered heads",
        multiplies_scattered_heads,
        "SIGSEGV, 9.10 to 9.28, for q, k and v, in 9.28 while an engine is compiled; an A100 and "
        "an RTX 4090 have engines",
        (90,),
        since=91000,
    ),
    _fatal(
        "scattered heads, B200",
        multiplies_scattered_heads,
        "SIGSEGV, 9.10 to 9.27, for q, k and v; 9.28 has engines",
        (100,),
        since=91000,
        repaired=92800,
    ),
    _fatal(
        "scattered heads, RTX 5090",
        multiplies_scattered_heads,
        "SIGSEGV, 9.15 to 9.27, for q, k and v; before, and in 9.28, there are engines",
        (120,),
        since=91500,
        repaired=92800,
    ),
    _fatal(
        "scattered pages beside attention",
        scatters_pages,
        "SIGSEGV, 9.15 to 9.28, in 9.28 while an engine is compiled; an A100 and an RTX 4090 have "
        "engines, and all GPUs for float32",
        (90,),
        since=91500,
    ),
    _fatal(
        "scattered pages beside attention, B200",
        scatters_pages,
        "SIGSEGV, 9.10 to 9.27; 9.9 and 9.28 have engines",
        (100,),
        since=91000,
        repaired=92800,
    ),
    _fatal(
        "scattered pages beside attention, RTX 5090",
        scatters_pages,
        "SIGSEGV, 9.18 to 9.27; before, and in 9.28, there are engines",
        (120,),
        since=91800,
        repaired=92800,
    ),
    _fatal(
        "scattered heads in attention's backward pass",
        scatters_heads,
        "SIGSEGV, 9.10 to 9.28, for q, k, v and dO; other GPUs have engines",
        (90,),
        since=91000,
    ),
    _fatal(
        "scattered heads in attention's backward pass, B200",
        scatters_heads,
        "SIGSEGV, 9.15 to 9.28, for q, k, v and dO",
        (100,),
        since=91500,
    ),
    _fatal(
        "scattered heads in attention's backward pass, B200 up to 9.14",
        scatters_heads,
        "SIGSEGV, 9.10 to 9.14; in 9.13 and 9.14 the mode fallback has engines",
        (100,),
        since=91000,
        repaired=91500,
        modes=("a", "b", "instant"),
    ),
    _fatal(
        "instance norm without epsilon",
        lacks_epsilon,
        "SIGSEGV, 9.15 to 9.28, in all modes; before, cuDNN refuses it itself, and with an epsilon "
        "there are engines",
        _TURING_ON,
        since=91500,
    ),
    _fatal(
        "adaptive norm in blocks",
        quantizes_an_adaptive_norm,
        "SIGSEGV, 9.17 to 9.28; the mode fallback has engines for a B200 and an RTX 5090; before "
        "there is no engine",
        _TURING_ON,
        since=91700,
        modes=("a", "b", "instant"),
    ),
    _fatal(
        "norm of three dimensions in blocks",
        quantizes_a_norm_of_rows,
        "SIGSEGV, 9.8 to 9.22, in all modes, in some processes only, mostly while descriptors are "
        "finalized: layer, RMS and, from 9.9 on, adaptive layer norm, also in training; no GPU has "
        "an engine. With two or four dimensions there are engines; 9.23 and 9.28 refuse it",
        _TURING_ON,
        repaired=92300,
        sometimes=True,
    ),
    _fatal(
        "derivative beside a norm",
        derives_beside_a_norm,
        "SIGSEGV, 9.11 to 9.22, in all modes: relu_backward and gelu_backward before and after "
        "layer and RMS norm, and adaptive layer norm, for which the modes a and b have no engine; "
        "from 9.23 on there is none",
        _TURING_ON,
        since=91100,
        repaired=92300,
    ),
    _fatal(
        "derivative beside a norm, up to 9.10",
        derives_beside_a_norm,
        "SIGSEGV, 9.9 and 9.10; 9.8 before the norm only; the modes a and b have no engine",
        repaired=91100,
        modes=("fallback",),
    ),
    _fatal(
        "derivative beside a norm, 9.8",
        derives_beside_a_norm,
        "SIGSEGV, 9.8, float32, before a norm and for its result as x; other GPUs have no engine "
        "in these modes",
        (80, 89, 90),
        repaired=90900,
        modes=("a", "b", "instant"),
    ),
    _fatal(
        "fused gradient of a filter in float32",
        fuses_a_filter_gradient,
        "SIGFPE, 9.8 to 9.18 for an RTX 5090: the gradient of the result is float32, in memory or "
        "within the graph; with one of 16 bits, and in 9.19, there are engines",
        (120,),
        repaired=91900,
    ),
    _fatal(
        "convolution for a Blackwell GPU beside another",
        convolves,
        "SIGSEGV, 9.14 and 9.19 for CUDA 13 on a machine with an H200, asked about a B200 and the "
        "forward operation: in the modes a and b, and without them in `explain`. Where no GPU is "
        "visible it answers",
        (100,),
        since=91400,
        beside_another=True,
    ),
)
