"""Faults of cuDNN's: what it computes wrong without a word, or ends the process on.

Each is one row of `QUIRKS`, with where it was seen, or who tells of it. A row with engines has them
passed over; they can still be chosen by name. A row with modes has these modes of heuristics passed
over. A row without either has the graph refused; if the fault depends on the data, a build warns
instead. A row applies from the first version in which the fault was seen until one is known to be
without it. A row applies only to the GPUs on which the fault was seen, but for engines, which are
passed over on all, since others take their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from .fatal_quirks import FATAL
from .quirk import Graph, Quirk
from .reported_quirks import REPORTED
from .target import Target
from .wrong_attention import (
    differentiates_a_sink_with_dropout,
    differentiates_alibi_to_both_sides,
    differentiates_one_row_of_bias,
    differentiates_part_of_a_tile,
    leaves_statistics_out,
    limits_the_last_queries_by_length,
    reads_strided_statistics,
)
from .wrong_operations import (
    broadcasts_along_two,
    clips_a_product,
    differentiates_by_a_part_of_a_line,
    gives_gelu_of_a_product,
    has_two_dimensions,
    joins_part_of_a_filter_gradient,
    pads_unevenly,
    pools_a_result,
    pools_bfloat16,
    stores_statistics_in_16_bits,
)

__all__ = [
    "QUIRKS",
    "Graph",
    "Quirk",
    "cautions",
    "faulty_engines",
    "faulty_modes",
    "refusals",
    "refusing",
]


def faulty_engines(graph: Graph, target: Target) -> Mapping[int, str]:
    """The engines that a graph must not be built with, and why."""
    return {
        engine: f"{quirk.fault} ({place})"
        for quirk, place in _found(QUIRKS, graph, target, lambda quirk: bool(quirk.engines))
        for engine in quirk.engines
    }


def faulty_modes(graph: Graph, target: Target) -> Mapping[str, str]:
    """The modes of heuristics that must not be asked about a graph, and why."""
    return {
        mode: f"{place}: {quirk.fault}"
        for quirk, place in _found(QUIRKS, graph, target, lambda quirk: bool(quirk.modes))
        for mode in quirk.modes
    }


def refusals(graph: Graph, target: Target) -> list[str]:
    """Why a graph must not be built at all."""
    return [
        f"{place}: {quirk.fault}"
        for quirk, place in _found(
            QUIRKS, graph, target, lambda quirk: not (quirk.engines or quirk.modes or quirk.by_data)
        )
    ]


def cautions(graph: Graph, target: Target) -> list[str]:
    """Parts of a graph that are computed wrong for some data only."""
    return [
        f"{place}: {quirk.fault}"
        for quirk, place in _found(QUIRKS, graph, target, lambda quirk: quirk.by_data)
    ]


def refusing(graph: Graph, target: Target) -> list[Quirk]:
    """The rows of what ends the process that a graph is refused by, or a mode of heuristics."""
    return [quirk for quirk, _ in _found(FATAL, graph, target)]


def _found(
    rows: Sequence[Quirk],
    graph: Graph,
    target: Target,
    wanted: Callable[[Quirk], bool] = lambda _: True,
) -> Iterator[tuple[Quirk, str]]:
    """The wanted rows that a graph has there, and where."""
    for quirk in rows:
        if wanted(quirk) and quirk.applies(target) and (place := quirk.where(graph)):
            yield quirk, place


QUIRKS = (
    Quirk(
        "pooling after an element-wise operation",
        "it leaves the result of pooling as it was",
        pools_a_result,
        "H200, 9.14 and 9.19; the other order of the two is right",
        since=91400,
        engines=(1,),
    ),
    Quirk(
        "clipped product",
        "it leaves the clips of relu out",
        clips_a_product,
        "H200, 9.14 and 9.19: cuBLASLt's engine; the engines for runtime fusion do clip",
        since=91400,
        engines=(0,),
    ),
    Quirk(
        "pooling of bfloat16",
        "it gives wrong numbers for bfloat16, which it takes for another type",
        pools_bfloat16,
        "H200, 9.14 and 9.19",
        since=91400,
        engines=(3,),
    ),
    Quirk(
        "uneven padding, gradient of data",
        "it gives wrong numbers where pre_padding and post_padding differ",
        pads_unevenly("data"),
        "H200, 9.14 and 9.19, all data types, layouts and windows: errors as large as the result, "
        "or NaN; all other engines, and all of the forward operation, are right",
        since=91400,
        engines=(50,),
    ),
    Quirk(
        "uneven padding, gradient of filter",
        "it gives wrong numbers where pre_padding and post_padding differ",
        pads_unevenly("filter"),
        "H200, 9.14 and 9.19, as for the gradient of data",
        since=91400,
        engines=(1, 18, 20),
    ),
    Quirk(
        "part of a filter gradient",
        "it reads an operand along channels as if it had but one filter, or reads beyond it",
        joins_part_of_a_filter_gradient,
        "H200, 9.14 and 9.19, all data types and strides: (1, C, 1, 1) and (1, 1, R, S) give wrong "
        "numbers, (K, C, 1, 1) a misaligned address, which ends the CUDA context; (K, 1, 1, 1), "
        "(1, C, R, S), one element and all are right",
        since=91400,
        engines=(4,),
    ),
    Quirk(
        "gradient of filters of one element",
        "it reads beyond its copy of dy in the workspace: NaN there makes NaN of all results",
        differentiates_by_a_part_of_a_line,
        "H200, 9.19: of 345 graphs, in float16, bfloat16 and float32, the 78 in which dy has no "
        "multiple of 128 bytes, and 98 with channels last are right",
        since=91900,
        engines=(4,),
    ),
    Quirk(
        "gelu of a product",
        "it takes the approximation by tanh, which is off by up to 5e-4",
        gives_gelu_of_a_product,
        "H200, 9.19: cuBLASLt's engine, by 4.7e-4 in all of 24 graphs of three data types; in the "
        "same the engines for runtime fusion are right to 1.2e-5",
        since=91900,
        engines=(0,),
    ),
    Quirk(
        "broadcast along two dimensions",
        "it gives wrong numbers where an operand broadcasts along two of the three dimensions",
        broadcasts_along_two,
        "H200, 9.14, 9.19 and 9.28, all data types; an operand of one element, and one that "
        "broadcasts along one dimension, are right",
        since=91400,
        engines=(1,),
    ),
    Quirk(
        "element-wise graph of two dimensions",
        "cuDNN gives wrong numbers for fewer than three dimensions",
        has_two_dimensions,
        "H200, 9.14 and 9.19; 9.28 refuses it itself",
        since=91400,
        repaired=92800,
    ),
    Quirk(
        "statistics of layers in 16 bits",
        "cuDNN writes float32 there, beyond the end of the memory",
        stores_statistics_in_16_bits,
        "H200, 9.14 and 9.19; 9.27 is right",
        since=91400,
        repaired=92700,
    ),
    Quirk(
        "strided statistics of attention",
        "it reads them as if they were packed",
        reads_strided_statistics,
        "H200: engine 1 of 9.14 and engine 7 of 9.19, with all their kernels; the other engine of "
        "each is right, and so are all from 9.26 on",
        since=91400,
        repaired=92600,
        engines=(1, 7),
    ),
    Quirk(
        "gradient of queries in 8 bits",
        "cuDNN gives 0 for half of the gradient of the last queries",
        differentiates_part_of_a_tile,
        "H200, 9.14 and 9.19, both data types, all layouts and masks: of s queries the last "
        "min(s % 16, 16 - s % 16) have 0 in every second 16 elements; 9.27 is right for s of 8",
        since=91400,
        repaired=92700,
    ),
    Quirk(
        "gradient of a sink with dropout",
        "cuDNN gives 1 - probability times the gradient of the sink",
        differentiates_a_sink_with_dropout,
        "H200, 9.14 and 9.19, all engines; with dropout by a mask it is right",
        since=91400,
    ),
    Quirk(
        "gradient of one row of bias",
        "cuDNN gives wrong gradients",
        differentiates_one_row_of_bias,
        "H200, up to 9.19",
        since=91400,
    ),
    Quirk(
        "gradient with alibi to both sides",
        "cuDNN gives NaN in dq",
        differentiates_alibi_to_both_sides,
        "H200, 9.19: keys that fill half of the last tile of 128 count with their distance, which "
        "overflows float16 where they add more than 8: 11 of 111 graphs; other numbers of keys are "
        "right, and so are 9.14, in 24 graphs, and 9.27, in 15",
        since=91900,
        repaired=92700,
    ),
    Quirk(
        "packed statistics of one query",
        "it writes those of the first head only of all that share a head of keys",
        leaves_statistics_out,
        "H200, 9.14 and 9.19: engine 1, of unified attention 8, in all of 28 graphs, whatever "
        "masks, bias and data type; with a sink, with as many heads of keys, with two queries or "
        "unpacked they are right, and so are all results",
        since=91400,
        engines=(1, 8),
    ),
    Quirk(
        "band of attention in 8 bits",
        "cuDNN gives wrong numbers for a sequence with more queries than keys",
        limits_the_last_queries_by_length,
        "H200, 9.19: wrong in 11 of 13 graphs with such a sequence; 46 without one are right, and "
        "9 with one but without a left bound",
        since=91900,
        by_data=True,
    ),
    *REPORTED,
    *FATAL,
)
