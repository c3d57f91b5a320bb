"""Faults of cuDNN's: what it computes wrong without a word, or ends the process on.

Each is one row of `QUIRKS`, with where it was seen, or who tells of it. A row with engines has them
passed over; they can still be chosen by name. A row with modes has these modes of heuristics passed
over. A row without either has the graph refused. A row applies from the first version in which the
fault was seen until one is known to be without it. A row applies only to the GPUs on which the
fault was seen, but for engines, which are passed over on all, since others take their place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from ...raw import cudnnBackendNormMode_t, cudnnDataType_t, cudnnPointwiseMode_t
from .fatal_quirks import FATAL
from .flattening import broken_broadcast
from .quirk import Graph, Quirk
from .reported_quirks import REPORTED
from .target import Target
from .wrong_attention import (
    differentiates_a_sink_with_dropout,
    differentiates_alibi_to_both_sides,
    differentiates_one_row_of_bias,
    differentiates_part_of_a_tile,
    reads_strided_statistics,
)

__all__ = ["QUIRKS", "Graph", "Quirk", "faulty_engines", "faulty_modes", "refusals", "refusing"]


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
            QUIRKS, graph, target, lambda quirk: not quirk.engines and not quirk.modes
        )
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


# --- where ---------------------------------------------------------------------------------------


def _pools_a_result(graph: Graph) -> str:
    nodes = graph.of("resample_fwd")
    return next((str(node) for node in nodes if node.inputs["input"].virtual), "")


def _clips_a_product(graph: Graph) -> str:
    """A relu with other clips than 0 and infinity."""
    if not any(graph.of("matmul")):
        return ""
    for node in graph.of("pointwise"):
        if node.options.get("mode") == cudnnPointwiseMode_t.CUDNN_POINTWISE_RELU_FWD:
            upper = node.options.get("upper_clip")
            if node.options.get("lower_clip") or (upper is not None and upper < math.inf):
                return str(node)
    return ""


def _pools_bfloat16(graph: Graph) -> str:
    node = graph.single
    if node is None or node.kind.descriptor != "operation_resample_fwd":
        return ""
    image = node.inputs["input"]
    channels_last = image.strides is not None and image.strides[1] == 1
    is_bfloat16 = image.data_type == cudnnDataType_t.CUDNN_DATA_BFLOAT16
    return f"{node} of {image.name!r}" if channels_last and is_bfloat16 else ""


def _pads_unevenly(direction: str) -> Callable[[Graph], str]:
    def where(graph: Graph) -> str:
        node = graph.single
        if node is None or node.kind.descriptor != f"operation_convolution_backward_{direction}":
            return ""
        rank = next(node.operands).rank - 2
        before, after = (node.spatial(f"{end}_padding", rank, 0) for end in ("pre", "post"))
        return f"{node}: {before} and {after}" if before != after else ""

    return where


def _joins_part_of_a_filter_gradient(graph: Graph) -> str:
    """An operand that broadcasts along more of a filter's dims than those of all but one."""
    behind = {id(node.outputs["dw"]) for node in graph.of("convolution_backward_filter")}
    for node in graph.of("pointwise"):
        if behind.isdisjoint(id(operand) for operand in node.operands):
            continue
        for result in node.outputs.values():
            behind.add(id(result))
            dims = graph.dims(result)
            ones = (1,) * len(dims)
            right = {dims, ones, (*dims[:1], *ones[1:]), (1, *dims[1:])}
            for operand in node.operands:
                if id(operand) not in behind and graph.dims(operand) not in right:
                    return f"{node}: {operand.name!r} {operand.dims} in {dims}"
    return ""


def _broadcasts_along_two(graph: Graph) -> str:
    if not graph.consists_of("pointwise"):
        return ""
    for node in graph.nodes:
        for result in node.outputs.values():
            dims = graph.dims(result)
            for operand in node.operands:
                if len(dims) >= 3 and broken_broadcast(graph.dims(operand), dims):
                    return (
                        f"{node}: {operand.name!r} {operand.dims} in {dims}; give it the size of "
                        f"the batch"
                    )
    return ""


def _has_two_dimensions(graph: Graph) -> str:
    if not graph.consists_of("pointwise"):
        return ""
    for node in graph.nodes:
        for result in node.outputs.values():
            if len(graph.dims(result)) < 3:
                return f"{node} of {result.dims}, describe the tensors with three dimensions"
    return ""


_16_BITS = (cudnnDataType_t.CUDNN_DATA_HALF, cudnnDataType_t.CUDNN_DATA_BFLOAT16)
_LAYERS = (
    cudnnBackendNormMode_t.CUDNN_LAYER_NORM,
    cudnnBackendNormMode_t.CUDNN_RMS_NORM,
    cudnnBackendNormMode_t.CUDNN_ADA_LAYER_NORM,
)


def _stores_statistics_in_16_bits(graph: Graph) -> str:
    for node in graph.of("norm_forward"):
        for port, tensor in node.outputs.items():
            written = port in ("mean", "inv_variance") and not tensor.virtual
            if written and node.options["mode"] in _LAYERS and tensor.data_type in _16_BITS:
                return f"{node}: {port} {tensor.name!r} must be float32"
    return ""


# --- the table -----------------------------------------------------------------------------------

QUIRKS = (
    Quirk(
        "pooling after an element-wise operation",
        "it leaves the result of pooling as it was",
        _pools_a_result,
        "H200, 9.14 and 9.19; the other order of the two is right",
        since=91400,
        engines=(1,),
    ),
    Quirk(
        "clipped product",
        "it leaves the clips of relu out",
        _clips_a_product,
        "H200, 9.14 and 9.19: cuBLASLt's engine; the engines for runtime fusion do clip",
        since=91400,
        engines=(0,),
    ),
    Quirk(
        "pooling of bfloat16",
        "it gives wrong numbers for bfloat16, which it takes for another type",
        _pools_bfloat16,
        "H200, 9.14 and 9.19",
        since=91400,
        engines=(3,),
    ),
    Quirk(
        "uneven padding, gradient of data",
        "it gives wrong numbers where pre_padding and post_padding differ",
        _pads_unevenly("data"),
        "H200, 9.14 and 9.19, all data types, layouts and windows: errors as large as the result, "
        "or NaN; all other engines, and all of the forward operation, are right",
        since=91400,
        engines=(50,),
    ),
    Quirk(
        "uneven padding, gradient of filter",
        "it gives wrong numbers where pre_padding and post_padding differ",
        _pads_unevenly("filter"),
        "H200, 9.14 and 9.19, as for the gradient of data",
        since=91400,
        engines=(1, 18, 20),
    ),
    Quirk(
        "part of a filter gradient",
        "it reads an operand along channels as if it had but one filter, or reads beyond it",
        _joins_part_of_a_filter_gradient,
        "H200, 9.14 and 9.19, all data types and strides: (1, C, 1, 1) and (1, 1, R, S) give wrong "
        "numbers, (K, C, 1, 1) a misaligned address, which ends the CUDA context; (K, 1, 1, 1), "
        "(1, C, R, S), one element and all are right",
        since=91400,
        engines=(4,),
    ),
    Quirk(
        "broadcast along two dimensions",
        "it gives wrong numbers where an operand broadcasts along two of the three dimensions",
        _broadcasts_along_two,
        "H200, 9.14, 9.19 and 9.28, all data types; an operand of one element, and one that "
        "broadcasts along one dimension, are right",
        since=91400,
        engines=(1,),
    ),
    Quirk(
        "element-wise graph of two dimensions",
        "cuDNN gives wrong numbers for fewer than three dimensions",
        _has_two_dimensions,
        "H200, 9.14 and 9.19; 9.28 refuses it itself",
        since=91400,
        repaired=92800,
    ),
    Quirk(
        "statistics of layers in 16 bits",
        "cuDNN writes float32 there, beyond the end of the memory",
        _stores_statistics_in_16_bits,
        "H200, 9.14 and 9.19",
        since=91400,
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
        "min(s % 16, 16 - s % 16) have 0 in every second 16 elements",
        since=91400,
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
        "H200, up to 9.19: keys that fill the last tile of 128 count with their distance, which "
        "overflows float16: of 72 graphs the 4 in which they add more than 8, without a mask",
        since=91400,
    ),
    *REPORTED,
    *FATAL,
)
