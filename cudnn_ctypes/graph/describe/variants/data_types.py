"""Other data types: of scales, statistics, computations, virtual tensors, results and inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ....dtypes import data_type_name
from ....raw import cudnnBackendNormMode_t, cudnnDataType_t
from ..node import Node
from ..operations.attention import SDPA
from ..operations.attention_fp8 import SDPA_FP8
from ..operations.normalizations import NORM_BACKWARD, NORM_FORWARD
from ..operations.pointwise import is_logical
from ..operations.reductions import GENSTATS, REDUCTION
from ..rewriting import Edit
from ..tensor import Tensor
from .remedy import Remedy

if TYPE_CHECKING:
    from ..description import Description

SLOW_SCALES = "float32 scale of a norm of rows"
"""The case by which the known faults have it."""

_Type = cudnnDataType_t
_SIXTEEN = (_Type.CUDNN_DATA_HALF, _Type.CUDNN_DATA_BFLOAT16)
_EIGHT = (_Type.CUDNN_DATA_INT8, _Type.CUDNN_DATA_UINT8)
_FLOAT, _DOUBLE, _INT32 = _Type.CUDNN_DATA_FLOAT, _Type.CUDNN_DATA_DOUBLE, _Type.CUDNN_DATA_INT32
_BOOLEAN = _Type.CUDNN_DATA_BOOLEAN
_SCALES = ("scale", "bias")
_STATISTICS = ("mean", "inv_variance", "in_running_mean", "in_running_var")
_ROW_STATISTICS = ("stats", "score_max", "score_sum_exp", "sum", "sq_sum", "amax_s", "amax_o")
_OF_ROWS = (
    cudnnBackendNormMode_t.CUDNN_LAYER_NORM,
    cudnnBackendNormMode_t.CUDNN_RMS_NORM,
    cudnnBackendNormMode_t.CUDNN_ADA_LAYER_NORM,
)

_TWICE = "it takes twice the memory"
_OTHER_INPUTS = (
    (_Type.CUDNN_DATA_BFLOAT16, _Type.CUDNN_DATA_HALF, "numbers beyond 65504 become infinite"),
    (_Type.CUDNN_DATA_HALF, _Type.CUDNN_DATA_BFLOAT16, "numbers have 8 bits instead of 11"),
    (_Type.CUDNN_DATA_BFLOAT16, _FLOAT, _TWICE),
    (_Type.CUDNN_DATA_HALF, _FLOAT, _TWICE),
    (_Type.CUDNN_DATA_FP8_E4M3, _Type.CUDNN_DATA_HALF, _TWICE),
    (_Type.CUDNN_DATA_FP8_E5M2, _Type.CUDNN_DATA_HALF, _TWICE),
    (_DOUBLE, _FLOAT, "numbers have 24 bits instead of 53"),
    (
        _FLOAT,
        _Type.CUDNN_DATA_HALF,
        "numbers have 11 bits instead of 24, and beyond 65504 become infinite",
    ),
)
"""Data types that no engine may take, others, and what that means."""


def data_type_remedies(graph: Description) -> Iterator[Remedy]:
    """Remedies by data types; those that keep the numbers come first."""
    known = SLOW_SCALES if slow_scales(graph.nodes) else ""
    yield Remedy(
        "scale type", "give {} the data type of the input", _scales_like_input, known=known
    )
    yield Remedy("scale type", "give {} the data type float32", _scales_of_float)
    yield Remedy("statistics type", "give {} the data type float32", _statistics_of_float)
    natural = _natural_type(graph)
    name = data_type_name(natural)
    yield Remedy(
        "compute type",
        f"compute in {name} (compute_data_type)",
        functools.partial(_computed_in, natural=natural),
    )
    yield Remedy(
        "compute type",
        "compute logical operations in boolean (compute_data_type)",
        _logic_in_booleans,
    )
    yield Remedy(
        "intermediate type",
        f"let virtual tensors be {name} (intermediate_data_type)",
        functools.partial(_between_in, natural=natural),
    )
    yield Remedy("result type", "give {} the data type float32", _results_of_float)
    for before, after, loss in _OTHER_INPUTS:
        yield Remedy(
            "input type",
            f"give {{}} the data type {data_type_name(after)}",
            functools.partial(_exchanged, before=before, after=after, loss=loss),
            loses=True,
        )


def slow_scales(nodes: Sequence[Node]) -> bool:
    """True for a layer or RMS norm of a 16-bit input whose scale or bias is float32."""
    node = nodes[0]
    return (
        len(nodes) == 1
        and node.kind is NORM_FORWARD
        and _normalizes_rows(node)
        and node.inputs["input"].data_type in _SIXTEEN
        and any(each.data_type == _FLOAT for each in _inputs(node, _SCALES))
    )


def _normalizes_rows(node: Node) -> bool:
    return node.kind in (NORM_FORWARD, NORM_BACKWARD) and node.options["mode"] in _OF_ROWS


def _inputs(node: Node, ports: Iterable[str]) -> list[Tensor]:
    return [node.inputs[port] for port in ports if port in node.inputs]


def _typed(
    graph: Description, chosen: Iterable[Tensor], data_type: Callable[[Tensor], cudnnDataType_t]
) -> Edit:
    edit = Edit()
    wanted = {id(each): each for each in chosen}
    for index, tensor in enumerate(graph.tensors):
        if id(tensor) in wanted and tensor.data_type != data_type(tensor):
            edit.of_tensor(index, data_type=data_type(tensor))
    return edit


def _scales_like_input(graph: Description) -> Edit:
    wanted = {
        id(each): node.inputs["input"].data_type
        for node in graph.nodes
        if _normalizes_rows(node) and node.inputs["input"].data_type in _SIXTEEN
        for each in _inputs(node, _SCALES)
        if not each.virtual
    }
    tensors = [each for each in graph.tensors if id(each) in wanted]
    edit = _typed(graph, tensors, lambda each: wanted[id(each)])
    edit.caveat = "their numbers are rounded to it" if edit else ""
    return edit


def _scales_of_float(graph: Description) -> Edit:
    """float32 scales for norms over channels; layer and RMS norms are slow with them."""
    tensors = [
        each
        for node in graph.nodes
        if node.kind in (NORM_FORWARD, NORM_BACKWARD) and not _normalizes_rows(node)
        for each in _inputs(node, _SCALES)
        if each.data_type in _SIXTEEN and not each.virtual
    ]
    return _typed(graph, tensors, lambda each: _FLOAT)


def _statistics_of_float(graph: Description) -> Edit:
    tensors: list[Tensor] = []
    for node in graph.nodes:
        if node.kind in (NORM_FORWARD, NORM_BACKWARD):
            tensors += _inputs(node, _STATISTICS)
            tensors += [each for port, each in node.outputs.items() if port not in ("y", "dx")]
        elif node.kind in (SDPA, SDPA_FP8, GENSTATS):
            tensors += [each for port, each in node.outputs.items() if port in _ROW_STATISTICS]
    return _typed(graph, [t for t in tensors if t.data_type in _SIXTEEN], lambda each: _FLOAT)


def _natural_type(graph: Description) -> cudnnDataType_t:
    """In which products and sums of the graph's operands are taken."""
    types = {each.data_type for node in graph.nodes for each in node.operands if not each.virtual}
    if _DOUBLE in types:
        return _DOUBLE
    integers = types & set(_EIGHT)
    return _INT32 if integers and not types & {_FLOAT, *_SIXTEEN} else _FLOAT


def _computed_in(graph: Description, natural: cudnnDataType_t) -> Edit:
    """Sums in `natural`; of integers, only those of products: their results are scaled in float."""
    edit = Edit()
    if natural != _INT32:
        for index, node in enumerate(graph.nodes):
            if node.compute_data_type not in (None, natural) and not is_logical(node):
                edit.nodes[index] = {"compute_data_type": natural}
        if graph.compute_data_type != natural:
            edit.data_types["compute_data_type"] = natural
        return edit
    for index, node in enumerate(graph.nodes):
        sums = node.kind.descriptor.startswith(("operation_convolution", "operation_matmul"))
        own = node.compute_data_type
        if sums and (graph.compute_data_type if own is None else own) != natural:
            edit.nodes[index] = {"compute_data_type": natural}
    return edit


def _logic_in_booleans(graph: Description) -> Edit:
    edit = Edit()
    for index, node in enumerate(graph.nodes):
        if is_logical(node) and node.compute_data_type not in (None, _BOOLEAN):
            edit.nodes[index] = {"compute_data_type": _BOOLEAN}
    return edit


def _between_in(graph: Description, natural: cudnnDataType_t) -> Edit:
    """Virtual tensors of numbers; masks and indices stay."""
    numbers = (*_SIXTEEN, _FLOAT, _DOUBLE, _INT32, *_EIGHT)
    tensors = [each for each in graph.tensors if each.virtual and each.data_type in numbers]
    edit = _typed(graph, tensors, lambda each: natural)
    if edit:
        edit.data_types["intermediate_data_type"] = natural
    return edit


def _results_of_float(graph: Description) -> Edit:
    tensors = [
        each
        for node in graph.nodes
        if node.kind in (REDUCTION, GENSTATS)
        for each in node.outputs.values()
        if not each.virtual and each.data_type in _SIXTEEN
    ]
    return _typed(graph, tensors, lambda each: _FLOAT)


def _exchanged(
    graph: Description, before: cudnnDataType_t, after: cudnnDataType_t, loss: str
) -> Edit:
    """Everything of one type becomes another, where that is the type of the operands."""
    first = next(graph.nodes[0].operands)
    if first.data_type != before:
        return Edit()
    tensors = [
        each
        for each in graph.tensors
        if each.data_type == before and not each.virtual and not each.by_value
    ]
    statistics = {
        id(each) for node in graph.nodes for each in _statistics(node) if before == _FLOAT
    }
    edit = _typed(graph, [t for t in tensors if id(t) not in statistics], lambda each: after)
    if edit and before == _DOUBLE:
        edit.data_types = {"compute_data_type": after, "intermediate_data_type": after}
    edit.caveat = loss if edit else ""
    return edit


def _statistics(node: Node) -> list[Tensor]:
    """Tensors that stay float32 whatever the operands are."""
    if node.kind in (NORM_FORWARD, NORM_BACKWARD):
        results = [each for port, each in node.outputs.items() if port not in ("y", "dx")]
        return [*_inputs(node, _STATISTICS), *results]
    return [each for port, each in node.outputs.items() if port in _ROW_STATISTICS]
