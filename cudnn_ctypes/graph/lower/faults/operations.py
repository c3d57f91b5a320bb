"""Graphs without attention that cuDNN computes wrong."""

from __future__ import annotations

import math
from collections.abc import Callable

from ....dtypes import storage_bytes
from ....raw import cudnnBackendNormMode_t, cudnnDataType_t, cudnnPointwiseMode_t
from ....raw.faults import Range, measured, reported, row
from ...describe.variants.data_types import SLOW_SCALES, slow_scales
from ..broadcasts import PART, ROWS, SINGLE, TWO
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


def _misread(reason: str) -> Callable[[Graph], str]:
    """A tensor smaller than the result that engines misread for this reason."""
    return lambda graph: graph.misread.get(reason, "")


def _lies_otherwise(*families: str) -> Callable[[Graph], str]:
    def where(graph: Graph) -> str:
        for side in graph.sides:
            for each in side.tensors if side.family in families else ():
                if not each.virtual and not side.in_order(each):
                    return f"{each.name!r} {each.dims} with strides {each.strides}"
        return ""

    return where


def _joins_a_norm_second(graph: Graph) -> str:
    """A whole operand, and behind it what is computed from a norm."""
    norms = graph.of("norm_forward")
    computed = {id(t) for n in (*norms, *graph.after(norms)) for t in n.outputs.values()}
    for node in graph.of("pointwise") if norms else ():
        first, *others = node.operands
        (result,) = node.outputs.values()
        whole = graph.dims(first) == graph.dims(result) and not first.by_value
        if whole and id(first) not in computed and any(id(each) in computed for each in others):
            return f"{node}: {first.name!r} {first.dims} is its first operand"
    return ""


def _spaces_a_vector_of_a_product(graph: Graph) -> str:
    """An operand of one row or column, whose numbers do not lie beside each other."""
    for side in graph.sides:
        for each in side.tensors if side.family == "product" else ():
            dims = each.dims or ()
            for axis, other in ((-1, -2), (-2, -1)):
                vector = dims[axis] > 1 == dims[other] != side.full[other]
                if vector and not each.virtual and (each.strides or ())[axis] != 1:
                    return f"{each.name!r} {dims} with strides {each.strides}"
    return ""


def _makes_infinity_of_zero(graph: Graph) -> str:
    return next((str(side.infinite) for side in graph.sides if side.infinite), "")


def _joins_a_part_behind_a_norm(graph: Graph) -> str:
    """A norm of batches or images, and behind it an operand that broadcasts."""
    norms = [node for node in graph.of("norm_forward") if node.options["mode"] in _IMAGES]
    behind = {id(node) for node in graph.after(norms)}
    for node in graph.of("pointwise"):
        (result,) = node.outputs.values()
        for each in node.operands if id(node) in behind else ():
            if not (each.virtual or each.by_value) and graph.dims(each) != graph.dims(result):
                return f"{node}: {each.name!r} {each.dims}"
    return ""


def _computes_an_operand_of_a_norm(graph: Graph) -> str:
    for node in graph.of("norm_forward"):
        for name, each in node.inputs.items():
            if name != "x" and each.virtual:
                return f"{node}: {name} {each.name!r}"
    return ""


def _joins_a_gradient_of_a_norm(graph: Graph) -> str:
    gradients = graph.of("norm_backward") if graph.of("pointwise") else ()
    return next((str(node) for node in gradients), "")


def _strides_a_gradient(graph: Graph) -> str:
    for node in graph.of("convolution_backward_data") if graph.of("pointwise") else ():
        stride = node.spatial("stride", next(iter(node.outputs.values())).rank - 2, 1)
        if max(stride) > 1:
            return f"{node}: stride {stride}"
    return ""


def _has_one_column_of_a_product(graph: Graph) -> str:
    for node in graph.of("matmul") if graph.of("pointwise") else ():
        if graph.dims(node.outputs["C"])[-1] == 1:
            return str(node)
    return ""


def _joins_operands_beside_a_convolution(graph: Graph) -> str:
    """An operation of several tensors that neither follow the convolution nor lead to it."""
    mains = graph.of("convolution_forward", "convolution_backward_data")
    behind = {id(node) for node in graph.after(mains)}
    for node in graph.of("pointwise") if mains else ():
        if id(node) not in behind and len(list(node.operands)) > 1:
            follow = {id(each) for each in graph.after([node])}
            if not any(id(main) in follow for main in mains):
                return str(node)
    return ""


def _has_rows_of_a_product(graph: Graph) -> str:
    """A product with element-wise operations, in float32 or with rows of other than 16 bytes.

    Or with an operand in another order of memory.
    """
    fused = any(side.family == "product" for side in graph.sides)
    for node in graph.nodes if fused else ():
        for each in (*node.operands, *node.outputs.values()):
            if not (each.virtual or each.by_value):
                row = storage_bytes(each.data_type, graph.dims(each)[-1])
                wide = each.data_type == cudnnDataType_t.CUDNN_DATA_FLOAT
                if (row % _ROW and graph.dims(each)[-1] != 1) or (wide and each in node.operands):
                    return f"{node}: {each.name!r} {each.dims}"
    return _lies_otherwise("product")(graph)


def _convolves_with_channels_first(graph: Graph) -> str:
    """Images of one element, which may have their channels last, and filters that have not."""
    mains = graph.of("convolution_forward", "convolution_backward_data")
    for node in (*mains, *graph.of("convolution_backward_filter")):
        tensors = [*node.operands, *node.outputs.values()]
        filters = node.kind.descriptor == "operation_convolution_backward_filter"
        kept = [t for t in tensors if t.rank > 2 and not (filters and t.virtual)]
        whole = [t for t in kept if graph.dims(t)[1] > 1 and math.prod(graph.dims(t)[2:]) > 1]
        first = [t for t in whole if t.strides is not None and t.strides[1] != 1]
        if first and len(whole) < len(kept) and graph.of("pointwise"):
            return f"{node}: {first[0].name!r} {first[0].dims}"
    return ""


_ROW = 16  # bytes
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


_IMAGES = (
    cudnnBackendNormMode_t.CUDNN_BATCH_NORM,
    cudnnBackendNormMode_t.CUDNN_INSTANCE_NORM,
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
        beforehand=True,
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
        "operand along a part of a dimension",
        "conv_fprop conv_dgrad conv_wgrad add mul",
        "loses the CUDA context",
        "cuDNN reads an operand wrong, or beyond its end, that broadcasts along a part of the "
        "images and pixels, which are one dimension to its engines, or of the channels and window",
        _misread(PART),
        Range(91400),
        measured(
            "9.14, 9.19",
            "After a convolution and its gradients, with a function and without one, all data "
            "types: (N, K, 1, 1) and whatever is whole along channels loses the context, others "
            "give wrong numbers. Per channel, per pixel of all images, whole "
            "and single operands are right.",
            "1,850 of 1,876 plans of 9.19",
        ),
        remedy="where shapes may change, give the operand whole, as an input",
        beforehand=True,
    ),
    row(
        "number of each row",
        "add mul relu conv_fprop conv_dgrad conv_wgrad matmul resample reduction",
        "wrong numbers",
        "cuDNN computes wrong with a single number for each row before it meets a whole tensor",
        _misread(ROWS),
        Range(91400),
        measured(
            "9.14, 9.19",
            "Numbers of 1e18 and NaN. Of element-wise operations alone 622 of 642, after products "
            "115 of 956, after convolutions 70 of 366, mostly in relu and tanh and in 16 bits; "
            "beside a whole tensor all are right. Before a product any small operand. After "
            "pooling 154 of 160, as operands, too, before a reduction 1 of 5.",
            "1,231 of 2,449 plans of 9.19",
        ),
        remedy="where shapes may change, give the operand whole, as an input",
        beforehand=True,
    ),
    row(
        "activation of a single number",
        "relu tanh sigmoid",
        "wrong numbers",
        "cuDNN computes an activation of a single number for some elements only",
        _misread(SINGLE),
        Range(91400),
        measured("9.19", "relu and tanh, then sub.", "47 of 288 plans"),
        remedy="where shapes may change, give the operand whole, as an input",
        beforehand=True,
    ),
    row(
        "norm behind a whole operand",
        "layernorm rmsnorm norm_forward add mul sub max",
        "loses the CUDA context",
        "it reads the first operand of an operation behind a norm at a wrong address",
        _joins_a_norm_second,
        Range(91400),
        measured(
            "9.19",
            "Layer and RMS norms, with add, mul, max and sub; where the norm's result is the "
            "first operand 30 of 30 are right, and so are smaller first operands.",
            "6 of 6 graphs",
        ),
        remedy="let the norm's result be the first operand",
        engines=(5,),
    ),
    row(
        "norm of images before an operand that broadcasts",
        "instancenorm norm_forward add",
        "NaN",
        "it reads the operand as if it were whole, beyond its end",
        _joins_a_part_behind_a_norm,
        Range(91400),
        measured("9.19", "In training, with add and relu.", "3 of 3 graphs"),
        remedy="give the operand whole",
        engines=(0,),
    ),
    row(
        "computed operand of a norm",
        "norm_forward",
        "loses the CUDA context",
        "it accesses memory that is not there",
        _computes_an_operand_of_a_norm,
        Range(91900),
        measured("9.19", "A layer norm of bfloat16, its bias after max; H100.", "1 of 1 graph"),
        remedy="compute the operand in a graph of its own",
        engines=(5,),
    ),
    row(
        "gradient of a norm beside element-wise operations",
        "norm_backward",
        "loses the CUDA context",
        "it accesses memory that is not there",
        _joins_a_gradient_of_a_norm,
        Range(92800),
        measured("9.28", "Layer norms of float32; H100.", "4 of 4 graphs"),
        remedy="let the norm's gradient be a graph of its own",
        engines=(5,),
    ),
    row(
        "strided gradient of data beside element-wise operations",
        "conv_dgrad",
        "wrong numbers",
        "it gives wrong numbers or NaN",
        _strides_a_gradient,
        Range(91400),
        measured(
            "9.14, 9.19, 9.28",
            "Three data types, strides of 2 in one dimension or both; H100.",
            "9 of 16 graphs",
        ),
        remedy="let the gradient be a graph of its own",
        engines=(1,),
    ),
    row(
        "product of one column",
        "matmul",
        "wrong numbers",
        "it gives wrong numbers beside element-wise operations",
        _has_one_column_of_a_product,
        Range(92800),
        measured("9.28", "Engines 4 and 7 are right; H100.", "3 of 9 plans"),
        engines=(8,),
    ),
    row(
        "spaced vector of a product",
        "matmul add mul",
        "wrong numbers",
        "cuDNN takes the numbers of a row or column to lie beside each other",
        _spaces_a_vector_of_a_product,
        Range(91400),
        measured(
            "9.14, 9.19",
            "All engines, before and behind the product; packed ones are right.",
            "4 of 4 graphs",
        ),
        remedy="pack it",
    ),
    row(
        "operand in another order of memory",
        "add mul matmul conv_fprop",
        "wrong numbers",
        "it gives wrong numbers for an operand whose dimensions lie in another order than the "
        "result's",
        _lies_otherwise("plain", "image", "product", "sum", "pool"),
        Range(91400),
        measured("9.19", "Engines 4 and 7 are right.", "10 of 10 plans"),
        remedy="store it in the result's order",
        engines=(1, 8),
    ),
    row(
        "operand of a filter's gradient in another order of memory",
        "conv_wgrad add mul",
        "wrong numbers",
        "it gives wrong numbers for an operand whose channels do not lie as the result's",
        _lies_otherwise("filter"),
        Range(91400),
        measured("9.19", "(1, C, R, S) in C order beside filters with channels last.", "4 plans"),
        remedy="store it in the result's order",
        engines=(2, 4),
    ),
    row(
        "infinity before a product",
        "rsqrt reciprocal log matmul conv_fprop reduction",
        "NaN",
        "cuDNN applies the function to the zeros with which it fills up an operand, and "
        "multiplies the infinity",
        _makes_infinity_of_zero,
        Range(91400),
        measured("9.19", "Where a size fills no tile.", "21 of 51 plans"),
        remedy="where shapes may change, give the operand whole, as an input",
        beforehand=True,
    ),
    row(
        "operands joined beside a convolution",
        "conv_fprop conv_dgrad mul",
        "wrong numbers",
        "it gives wrong numbers or NaN where operands meet each other before the convolution's "
        "result, a single number and a tensor most often",
        _joins_operands_beside_a_convolution,
        Range(91400),
        measured("9.19", "Engines 4 and 7 are right.", "21 of 51 with numbers, 3 of 8 others"),
        engines=(8,),
    ),
    row(
        "rows of a product",
        "matmul",
        "wrong numbers",
        "it gives wrong numbers where a row has no multiple of 16 bytes or an operand lies in "
        "another order, and loses the CUDA context in float32",
        _has_rows_of_a_product,
        Range(91400),
        measured("9.19", "Engines 4 and 7 are right.", "45 of 86 plans"),
        engines=(2,),
    ),
    row(
        "filters with channels first beside images of one element",
        "conv_fprop conv_dgrad conv_wgrad",
        "wrong numbers",
        "it takes the channels of all tensors to be last",
        _convolves_with_channels_first,
        Range(91400),
        measured("9.19", "With operations behind.", "53 of 64 plans"),
        remedy="store filters with their channels last",
        engines=(4, 7),
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
        "cuDNN gives wrong numbers where an operand broadcasts along two of the three dimensions",
        _misread(TWO),
        Range(91400),
        measured(
            "9.14, 9.19, 9.28",
            "All data types; an operand of one element, and one that broadcasts along one "
            "dimension, are right.",
            "476 of 487 plans of 9.19",
        ),
        remedy="where shapes may change, give the operand whole, as an input",
        beforehand=True,
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
