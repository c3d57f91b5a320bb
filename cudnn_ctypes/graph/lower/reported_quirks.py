"""Faults of cuDNN's of which NVIDIA tells: conditions of its front end 1.32, in our own words.

Its headers refuse these graphs for a reason that is a fault of cuDNN's. Limits of what a version
supports are not here: cuDNN says them itself. None was measured by us.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...raw import cudnnDataType_t
from ...raw.library import version_text
from ...strides import packed
from ..describe.node import Node
from ..describe.operations.attention_mask import mask_of, score_dims
from .quirk import Graph, Quirk

__all__ = ["REPORTED"]

_AMPERE_ON = (80, 86, 87, 89, 90, 100, 103, 110, 120, 121)
_HOPPER_ON = _AMPERE_ON[4:]
_BLACKWELL = (100, 103)
_LONG = 1024  # keys

Where = Callable[[Graph], str]


def _any(*operations: str) -> Where:
    """Any call of these names."""

    def where(graph: Graph) -> str:
        return next(map(str, graph.as_written(*operations)), "")

    return where


def _slides_without_a_right_bound(graph: Graph) -> str:
    for node in graph.as_written("sdpa", "sdpa_backward"):
        mask, dims = mask_of(node), score_dims(node)
        if mask.left is not None and mask.right is None and dims and dims[3] > _LONG:
            return f"{node} with a left bound, without a right one, and with {dims[3]} keys"
    return ""


def _packed_backward(graph: Graph) -> Iterator[Node]:
    """The gradients of attention on sequences that lie one after the other."""
    for node in graph.as_written("sdpa_backward", "sdpa_fp8_backward"):
        if any(each.ragged_offset is not None for each in (*node.operands, *node.results)):
            yield node


def _packs_a_sink(graph: Graph) -> str:
    for node in _packed_backward(graph):
        if "sink_token" in node.inputs:
            return f"{node} with sink_token and ragged offsets"
    return ""


def _packs_a_gradient_of_bias(graph: Graph) -> str:
    for node in _packed_backward(graph):
        if "dBias" in node.outputs:
            return f"{node} with dBias and ragged offsets"
    return ""


def _writes_strided_statistics(graph: Graph) -> str:
    for node in graph.as_written("sdpa", "sdpa_fp8"):
        stats = node.outputs.get("stats")
        if stats is None or stats.ragged_offset is not None:
            continue
        if stats.strides != packed(stats.dims or ()):
            return f"{node}: {stats.name!r} {stats.dims} must be packed, not {stats.strides}"
    return ""


def _stores_statistics_in_16_bits(graph: Graph) -> str:
    for node in graph.as_written("sdpa", "sdpa_fp8", "sdpa_unified"):
        stats = node.outputs.get("stats")
        if stats is not None and stats.data_type != cudnnDataType_t.CUDNN_DATA_FLOAT:
            return f"{node}: {stats.name!r} must be float32"
    return ""


def _masks_blocks(graph: Graph) -> str:
    for node in graph.as_written("sdpa_unified"):
        if "block_mask" in node.inputs:
            return f"{node} with block_mask; take sdpa with a mask of another kind"
    return ""


def _differentiates_uneven_heads(graph: Graph) -> str:
    """Sizes of heads around the pair for which kernels exist."""
    for node in graph.as_written("sdpa_backward"):
        size, of_values = node.inputs["q"].dims[3], node.inputs["v"].dims[3]
        near = 128 < size <= 192 and 64 < of_values <= 128
        if near and size != 192 and of_values != 128:
            return f"{node}: heads of {size} and {of_values} elements; pad them to 192 and 128"
    return ""


def _reported(
    name: str,
    where: Where,
    told: str,
    capabilities: tuple[int, ...],
    *,
    since: int,
    repaired: int | None,
    fault: str = "",
) -> Quirk:
    until = "" if repaired is None else f", repaired in {version_text(repaired)}"
    return Quirk(
        name,
        fault or f"NVIDIA tells of a fault in cuDNN {version_text(since)}{until}",
        where,
        f"NVIDIA's front end 1.32, not measured: {told}",
        since,
        capabilities,
        repaired,
        reported=True,
    )


REPORTED = (
    _reported(
        "attention of 9.10",
        _any("sdpa", "sdpa_backward"),
        "refused in 9.10.0 and 9.10.1 for faults that it does not name",
        _AMPERE_ON,
        since=91000,
        repaired=91002,
    ),
    _reported(
        "8-bit attention of 9.10",
        _any("sdpa_fp8", "sdpa_fp8_backward"),
        "refused in 9.10.0, for the gradients because of faults that it does not name",
        _HOPPER_ON,
        since=91000,
        repaired=91001,
    ),
    _reported(
        "window of attention without a right bound",
        _slides_without_a_right_bound,
        "a fault of 9.14.0 with more than 1024 keys, in both directions",
        _AMPERE_ON,
        since=91400,
        repaired=91401,
    ),
    _reported(
        "sink of packed sequences",
        _packs_a_sink,
        "before 9.26 the product of dO and o reads beyond the end; sinks are there since 9.13",
        _AMPERE_ON,
        since=91300,
        repaired=92600,
        fault="NVIDIA tells that cuDNN reads beyond the end of memory",
    ),
    _reported(
        "strided statistics of attention's forward pass",
        _writes_strided_statistics,
        "before 9.12 they are written as if they were packed",
        _AMPERE_ON,
        since=90000,
        repaired=91200,
    ),
    _reported(
        "statistics of attention in 16 bits",
        _stores_statistics_in_16_bits,
        "float32 is written whatever the type, past the end of memory; 9.28 takes such graphs",
        _AMPERE_ON,
        since=90000,
        repaired=None,
        fault="NVIDIA tells that cuDNN writes float32 there, beyond the end of the memory",
    ),
    _reported(
        "block mask of unified attention",
        _masks_blocks,
        "before 9.26, where the first block of keys is masked, memory is read that nobody set",
        _BLACKWELL,
        since=91400,
        repaired=92600,
    ),
    _reported(
        "gradient of bias of packed sequences",
        _packs_a_gradient_of_bias,
        "refused until it is repaired",
        _BLACKWELL,
        since=90700,
        repaired=None,
    ),
    _reported(
        "uneven heads in attention's backward pass",
        _differentiates_uneven_heads,
        "came with 9.11, went with 9.13, as its release notes (1.14.1) say",
        (90,),
        since=91100,
        repaired=91300,
    ),
)
