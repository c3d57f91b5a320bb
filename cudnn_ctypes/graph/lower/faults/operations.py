"""Graphs without attention that cuDNN computes wrong."""

from __future__ import annotations

import math
from collections.abc import Callable

from ....dtypes import storage_bytes
from ....raw import cudnnBackendNormMode_t, cudnnDataType_t, cudnnPointwiseMode_t
from ....raw.faults import Range, measured, reported, row
from ...describe.variants.data_types import SLOW_SCALES, slow_scales
from ..flattening import broken_broadcast
from .view import Graph

__all__ = ["OPERATIONS"]


def _pools_a_result(graph: Graph) -> str:
    nodes = graph.of("resample_fwd")
    return next((str(node) for node in nodes if node.inputs["input"].virtual), "")


def _clips_a_product(graph: Graph) -> str:
    """A relu with other clips than 0 and infinity."""
    relu = cudnnPointwiseMode_t.CUDNN_POINTWISE_RELU_FWD
    for node in graph.of("pointwise", mode=relu) if graph.of("matmul") else ():
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


_LARGE = 1 << 30  # elements


def _convolves_a_large_volume(graph: Graph) -> str:
    for node in graph.of("convolution_forward"):
        x = node.inputs["image"]
        dims, strides = x.dims or (0,), x.strides or (0,)
        large = x.rank == 5 and math.prod(dims) > _LARGE and strides[1:2] != (1,)
        if large and x.data_type == cudnnDataType_t.CUDNN_DATA_BFLOAT16:
            return f"{node}: {x.name!r} {dims}"
    return ""


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


_LINE = 128  # bytes to which cuDNN rounds up the parts of its workspace


def _differentiates_by_a_part_of_a_line(graph: Graph) -> str:
    """A window of one element, and a gradient that has not its channels last."""
    for node in graph.of("convolution_backward_filter"):
        loss, window = node.inputs["loss"], graph.dims(node.outputs["dw"])[2:]
        if loss.virtual or set(window) != {1} or loss.strides is None or loss.strides[1] == 1:
            continue
        nbytes = storage_bytes(loss.data_type, math.prod(graph.dims(loss)))
        if nbytes % _LINE:
            return (
                f"{node}: dy {loss.name!r} {loss.dims} has {nbytes} bytes, no multiple of {_LINE}"
            )
    return ""


def _gives_gelu_of_a_product(graph: Graph) -> str:
    """Gelu as float32, whose rounding does not hide what an approximation leaves."""
    gelu = cudnnPointwiseMode_t.CUDNN_POINTWISE_GELU_FWD
    for node in graph.of("pointwise", mode=gelu) if graph.of("matmul") else ():
        (y,) = node.outputs.values()
        if not y.virtual and y.data_type == cudnnDataType_t.CUDNN_DATA_FLOAT:
            return f"{node}: {y.name!r} in float32"
    return ""


def _broadcasts_along_two(graph: Graph) -> str:
    if not graph.consists_of("pointwise"):
        return ""
    for node in graph.nodes:
        for result in node.outputs.values():
            dims = graph.dims(result)
            for operand in node.operands:
                if len(dims) >= 3 and broken_broadcast(graph.dims(operand), dims):
                    return f"{node}: {operand.name!r} {operand.dims} in {dims}"
    return ""


def _has_two_dimensions(graph: Graph) -> str:
    if not graph.consists_of("pointwise"):
        return ""
    for node in graph.nodes:
        for result in node.outputs.values():
            if len(graph.dims(result)) < 3:
                return f"{node} of {result.dims}"
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
                return f"{node}: {port} {tensor.name!r}"
    return ""


def _has_slow_scales(graph: Graph) -> str:
    return str(graph.nodes[0]) if slow_scales(graph.nodes) else ""


OPERATIONS = (
    row(
        "pooling after an element-wise operation",
        "resample",
        "wrong numbers",
        "it leaves the result of pooling as it was",
        _pools_a_result,
        Range(91400),
        measured("9.14, 9.19", "The other order of the two is right."),
        engines=(1,),
    ),
    row(
        "clipped product",
        "matmul relu",
        "wrong numbers",
        "it leaves the clips of relu out",
        _clips_a_product,
        Range(91400),
        measured("9.14, 9.19", "cuBLASLt's engine; the engines for runtime fusion do clip."),
        engines=(0,),
    ),
    row(
        "pooling of bfloat16",
        "resample",
        "wrong numbers",
        "it gives wrong numbers for bfloat16, which it takes for another type",
        _pools_bfloat16,
        Range(91400),
        measured("9.14, 9.19"),
        engines=(3,),
    ),
    *(
        row(
            f"uneven padding, gradient of {direction}",
            f"conv_{short}",
            "wrong numbers",
            "it gives wrong numbers where pre_padding and post_padding differ",
            _pads_unevenly(direction),
            Range(91400),
            measured(
                "9.14, 9.19",
                "All data types, layouts and windows: errors as large as the result, or NaN; all "
                "other engines, and all of the forward operation, are right.",
            ),
            engines=engines,
        )
        for direction, short, engines in (
            ("data", "dgrad", (50,)),
            ("filter", "wgrad", (1, 18, 20)),
        )
    ),
    row(
        "part of a filter gradient",
        "conv_wgrad",
        "loses the CUDA context",
        "it reads an operand along channels as if it had but one filter, or reads beyond it",
        _joins_part_of_a_filter_gradient,
        Range(91400),
        measured(
            "9.14, 9.19",
            "All data types and strides: (1, C, 1, 1) and (1, 1, R, S) give wrong numbers, (K, C, "
            "1, 1) a misaligned address, which ends the CUDA context; (K, 1, 1, 1), (1, C, R, S), "
            "one element and all are right.",
        ),
        engines=(4,),
    ),
    row(
        "gradient of filters of one element",
        "conv_wgrad",
        "NaN",
        "it reads beyond its copy of dy in the workspace: NaN there makes NaN of all results",
        _differentiates_by_a_part_of_a_line,
        Range(91900),
        measured(
            "9.19",
            "In float16, bfloat16 and float32, where dy has no multiple of 128 bytes; 98 graphs "
            "with channels last are right.",
            "78 of 345 graphs",
        ),
        remedy="store images with their channels last",
        engines=(4,),
    ),
    row(
        "gelu of a product",
        "matmul gelu",
        "wrong numbers",
        "it takes the approximation by tanh, which is off by up to 5e-4",
        _gives_gelu_of_a_product,
        Range(91900),
        measured(
            "9.19",
            "cuBLASLt's engine, by 4.7e-4, for three data types; in the same the engines for "
            "runtime fusion are right to 1.2e-5.",
            "24 of 24 graphs",
        ),
        engines=(0,),
    ),
    row(
        "convolution of a large volume",
        "conv_fprop",
        "wrong numbers",
        "cuDNN gives wrong numbers for bfloat16",
        _convolves_a_large_volume,
        Range(90800, repaired=91900),
        measured(
            "9.14",
            "16 x 124 x 1282 x 722, a window of 1 x 3 x 3: wrong from slice 122 on. 9.19 is right, "
            "and so are channels last.",
        ),
        reported("pytorch 163539", "9.8 to 9.12."),
        remedy="store volumes with their channels last",
    ),
    row(
        "broadcast along two dimensions",
        "add mul",
        "wrong numbers",
        "it gives wrong numbers where an operand broadcasts along two of the three dimensions",
        _broadcasts_along_two,
        Range(91400),
        measured(
            "9.14, 9.19, 9.28",
            "All data types; an operand of one element, and one that broadcasts along one "
            "dimension, are right.",
        ),
        remedy="give the operand the size of the batch",
        engines=(1,),
    ),
    row(
        "element-wise graph of two dimensions",
        "add mul",
        "wrong numbers",
        "cuDNN gives wrong numbers for fewer than three dimensions",
        _has_two_dimensions,
        Range(91400, repaired=92800),
        measured("9.14, 9.19", "9.28 refuses it itself."),
        remedy="describe the tensors with three dimensions",
    ),
    row(
        "statistics of layers in 16 bits",
        "layernorm rmsnorm norm_forward",
        "leaves the memory",
        "cuDNN writes float32 there, beyond the end of the memory",
        _stores_statistics_in_16_bits,
        Range(91400, repaired=92700),
        measured("9.14, 9.19", "9.27 is right."),
        remedy="store them in float32",
    ),
    row(
        SLOW_SCALES,
        "layernorm rmsnorm adalayernorm norm_forward",
        "slow",
        "cuDNN has one engine, which takes 2 to 4.5 times the time",
        _has_slow_scales,
        Range(91900),
        measured(
            "9.19",
            "Layer and RMS norm of float16: 0.9 to 1.2 TB/s with float32 scales; with float16 ones "
            "71 us for 8192 x 8192, 2 to 4.5 times faster.",
        ),
        remedy="give scale and bias the data type of the input",
    ),
)
