"""Graphs without attention that cuDNN computes wrong."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from ....dtypes import data_type_name, storage_bytes
from ....raw import cudnnBackendNormMode_t, cudnnDataType_t, cudnnPointwiseMode_t
from ....raw.faults.rows import rows
from ....raw.strides import axis_order, has_gaps, is_spaced, layout_order, lies_in, steps
from ...describe.node import Node
from ...describe.remedies import SLOW_SCALES, slow_scales
from ...describe.tensor import Tensor
from .. import broadcasts
from .view import Graph

__all__ = ["OPERATIONS"]


def _first(found: Iterable[Node | Tensor | None]) -> str:
    """The first of some operations or tensors, in words."""
    first = next((each for each in found if each is not None), None)
    return repr(first.name) if isinstance(first, Tensor) else str(first or "")


def _clips_a_product(graph: Graph) -> str:
    """A relu with other clips than 0 and infinity."""
    relu = cudnnPointwiseMode_t.CUDNN_POINTWISE_RELU_FWD
    for node in graph.of("pointwise", mode=relu) if graph.of("matmul") else ():
        upper = node.options.get("upper_clip")
        if node.options.get("lower_clip") or (upper is not None and upper < math.inf):
            return str(node)
    return ""


def _pools_beside_others(graph: Graph) -> str:
    """Pooling of what an operation computes, or beside one that shares no result with it."""
    pools = graph.of("resample_fwd")
    apart = broadcasts.apart(graph.nodes) if pools else ()
    return _first([*(n for n in graph.after(graph.nodes) if n in pools), *(n for n, *_ in apart)])


def _reads_an_operand_alone(graph: Graph) -> str:
    plain = len(graph.of("pointwise")) == len(graph.nodes)  # has rows of its own
    apart = [] if plain or graph.of("resample_fwd") else broadcasts.apart(graph.nodes)
    others = {id(node) for part in apart for node in part}
    read = {id(t) for node in graph.nodes if id(node) not in others for t in node.operands}
    return _first(
        node
        for part in apart
        for node in part
        if any(id(each) in read and not each.by_value for each in node.operands)
    )


def _pools_bfloat16(graph: Graph) -> str:
    for node in graph.alone("resample_fwd"):
        image = node.inputs["input"]
        is_bfloat16 = image.data_type == cudnnDataType_t.CUDNN_DATA_BFLOAT16
        if graph.view(image)[1][1] == 1 and is_bfloat16:
            return f"{node} of {image.name!r}"
    return ""


def _differentiates_pooling_of_another_type(graph: Graph) -> str:
    for node in graph.alone("resample_bwd"):
        loss, dx = node.inputs["loss"], node.outputs["dx"]
        if graph.view(dx)[1][1] != 1 and loss.data_type != dx.data_type:
            return f"{node}: {loss.name!r} for {dx.name!r}"
    return ""


def _turns_a_gradient_of_pooling(graph: Graph) -> str:
    """A result in another order of memory than the gradient of pooling of which it is computed."""
    pools = graph.of("resample_bwd")
    behind = graph.after(pools)
    for node in pools:
        order = axis_order(*graph.view(node.outputs["dx"]))
        for each in (t for other in behind for t in other.outputs.values()):
            if not (each.virtual or lies_in(order, *graph.view(each))):
                return f"{node}: {each.name!r} {each.dims} with strides {each.strides}"
    return ""


def _differentiates_more_windows(graph: Graph) -> str:
    """Averages of channels last, of more windows than the image has pixels in a dimension."""
    for node in graph.of("resample_bwd"):
        loss, dx = node.inputs["loss"], node.outputs["dx"]
        sizes = zip(graph.dims(loss)[2:], graph.dims(dx)[2:], strict=True)
        if graph.view(dx)[1][1] == 1 and any(windows > pixels for windows, pixels in sizes):
            return f"{node}: {loss.name!r} {loss.dims} for {dx.dims}"
    return ""


def _pads_unevenly(direction: str) -> Callable[[Graph], str]:
    def where(graph: Graph) -> str:
        for node in graph.alone(f"convolution_backward_{direction}"):
            before, after = (node.options[f"{end}_padding"] for end in ("pre", "post"))
            if before != after:
                return f"{node}: {before} and {after}"
        return ""

    return where


_LARGE = 1 << 30  # elements


def _convolves_a_large_volume(graph: Graph) -> str:
    for node in graph.of("convolution_forward"):
        x = node.inputs["image"]
        dims, strides = x.dims or (), x.strides or ()
        large = x.rank == 5 and math.prod(dims) > _LARGE and strides[1:2] != (1,)
        if large and x.data_type == cudnnDataType_t.CUDNN_DATA_BFLOAT16:
            return f"{node}: {x.name!r} {dims}"
    return ""


def _joins_operands_beside_experts(graph: Graph) -> str:
    """All but one function behind a product of experts, also with a number of each row."""
    experts, pointwise = graph.of("moe_grouped_matmul"), graph.of("pointwise")
    behind = graph.after(experts)
    for node in pointwise if experts else ():
        given = [graph.dims(each) for each in node.operands if not each.virtual]
        of_rows = [dims[-2:-1] == (math.prod(dims),) != (1,) for dims in given]
        if len(pointwise) > 1 or node not in behind or not all(of_rows):
            return str(node)
    return ""


def _misread(reason: str) -> Callable[[Graph], str]:
    """A tensor smaller than the result that engines misread for this reason."""
    return lambda graph: graph.misread.get(reason, "")


def _lies_otherwise(*families: str) -> Callable[[Graph], str]:
    """An operand in another order of memory; alone they may be whole, of lines in that order."""

    def where(graph: Graph) -> str:
        for side in graph.sides:
            computed = side.family == "image" and side.before is not None
            for each in side.tensors if "computed " * computed + side.family in families else ():
                dims, strides = graph.view(each)
                whole = side.family == "plain" and each.dims == side.full and not side.maker(each)
                innermost = id(each) in graph.views or side.inner == 2
                lines = whole and len(dims) == 3 and strides[-1] == 1 and innermost
                right = side.in_order(each) and not (computed and side.channels_first)
                if not (each.virtual or lines or right):
                    return f"{each.name!r} {each.dims} with strides {each.strides}"
        return ""

    return where


def _parts_pixels(side: broadcasts.Side, each: Tensor) -> bool:
    """Room between pixels of several channels, of a whole operand behind a convolution."""
    dims, strides = each.dims or (), each.strides or ()
    behind = side.family in ("image", "data") and side.before is None and not side.maker(each)
    whole = behind and dims == side.full and not each.virtual
    return whole and dims[1] > 1 == strides[1] and has_gaps(dims, strides)


def _leaves_gaps_between_pixels(graph: Graph) -> str:
    for side in graph.sides:
        for each in side.tensors:
            if _parts_pixels(side, each):
                return f"{each.name!r} {each.dims} with strides {each.strides}"
    return ""


def _leaves_gaps(graph: Graph) -> str:
    """Room between the numbers of an operand or result, or between lines of an operand.

    Beside products lines may have gaps; smaller operands there are spaced matrices. Alone they may
    have them that are whole, or broadcast along the outermost of three dimensions. Between pixels
    behind a convolution most engines read them right.
    """
    products = graph.of("matmul")
    for side in graph.sides:
        for each in side.tensors:
            dims, strides, small = each.dims or (), each.strides or (), each.dims != side.full
            if math.prod(dims) == 1 or each.virtual or _parts_pixels(side, each):
                continue
            spaced = is_spaced(dims, strides) and not (small and len(products) == 1)
            outer = side.family == "plain" and side.spread(each).strip(".") == "1FF"
            parted = not products and has_gaps(dims, strides)
            right = outer or (not small and (side.family == "plain" or side.maker(each)))
            if spaced or (parted and not right):
                return f"{each.name!r} {dims} with strides {strides}"
    return ""


def _joins_a_norm_second(graph: Graph) -> str:
    """A whole operand, also a norm's result, and behind it what is computed from a norm.

    Two that are both computed from a norm's result are right.
    """
    norms = graph.of("norm_forward")
    results = {id(each) for node in norms for each in node.outputs.values()}
    behind = {id(each) for node in graph.after(norms) for each in node.outputs.values()}
    for node in graph.of("pointwise") if norms else ():
        first, *others = node.operands
        (result,) = node.outputs.values()
        whole = graph.dims(first) == graph.dims(result) and not first.by_value
        computed = {id(each) for each in others} & (results | behind)
        if whole and computed and not {id(first), *computed} <= behind - results:
            return f"{node}: {first.name!r} {first.dims} is its first operand"
    return ""


def _spaces_a_matrix_of_a_product(graph: Graph) -> str:
    """An operand or result of which neither a row nor a column has its numbers beside each other.

    Operands behind the product only where they are one row or column for all.
    """
    for side in graph.sides:
        for each in side.tensors if side.family == "product" else ():
            dims, strides = each.dims or (), each.strides or ()
            walked = [axis for axis in (-2, -1) if dims[axis] != 1]
            alike = side.before is None and dims[-2:] == side.full[-2:]
            spread = not alike or side.maker(each) is not None
            spaced = walked and all(strides[axis] != 1 for axis in walked)
            if spaced and spread and not each.virtual:
                return f"{each.name!r} {dims} with strides {strides}"
    return ""


def _spreads_a_result(graph: Graph) -> str:
    """An operation behind another's result that broadcasts it to a larger one."""
    mains = [node for node in graph.nodes if node.kind.descriptor != "operation_pointwise"]
    computed = {id(t) for n in (*mains, *graph.after(mains)) for t in n.outputs.values()}
    for node in (node for side in graph.sides for node in side.nodes):
        (result,) = node.outputs.values()
        for each in node.operands:
            if id(each) in computed and graph.dims(each) != graph.dims(result):
                return f"{node}: {result.dims} of {each.dims}"
    return ""


def _joins_another_behind_a_norm(graph: Graph) -> str:
    """A norm of batches or images, and behind it an operand of other dims or another type."""
    norms = [node for node in graph.of("norm_forward") if node.options["mode"] in _IMAGES]
    types = {node.inputs["input"].data_type for node in norms}
    behind = {id(node) for node in graph.after(norms)}
    for node in graph.of("pointwise"):
        (result,) = node.outputs.values()
        for each in node.operands if id(node) in behind else ():
            other = graph.dims(each) != graph.dims(result) or {each.data_type} != types
            if other and not (each.virtual or each.by_value):
                return f"{node}: {each.name!r} {each.dims} of {data_type_name(each.data_type)}"
    return ""


def _strides_a_gradient(graph: Graph) -> str:
    """A strided gradient and an operand of one number a pixel."""
    for node in graph.of("convolution_backward_data"):
        (dx,) = node.outputs.values()
        stride = node.spatial("stride", dx.rank - 2, 1)
        for side in graph.sides if max(stride) > 1 else ():
            for each in side.tensors if side.before is None else ():
                if side.spread(each) == "F1" and not each.virtual:
                    return f"{node}: stride {stride}, with {each.name!r} {each.dims}"
    return ""


def _repeats_one_column_of_a_product(graph: Graph) -> str:
    """A product of one row or column, and an operand that is the same for all batches."""
    for side in graph.sides if graph.of("matmul") else ():
        for each in side.tensors if 1 in side.full[-2:] else ():
            if math.prod((each.dims or ())[:-2]) == 1 != math.prod(side.full[:-2]):
                return f"{each.name!r} {each.dims} in {side.full}"
    return ""


def _repeats_matrices_of_one_product(graph: Graph) -> str:
    """Two products, of which one has the same matrix for all batches where the other has not."""
    products = graph.of("matmul")
    own = [
        [graph.dims(each)[:-2] == graph.dims(node.outputs["C"])[:-2] for each in node.operands]
        for node in products
    ]
    return _first(node for node, which in zip(products, own, strict=True) if which != own[0])


def _interleaves_batches(graph: Graph) -> str:
    """A product of matrices that lie between each other's rows or columns."""
    for node in graph.of("matmul"):
        for each in (*node.operands, *node.outputs.values()):
            dims, strides = graph.view(each)
            inner = max(steps(dims[-2:], strides[-2:]), default=0)
            if not each.virtual and min(steps(dims[:-2], strides[:-2]), default=inner) < inner:
                return f"{node}: {each.name!r} {dims} with strides {strides}"
    return ""


_CONVOLUTIONS = (
    "convolution_forward", "convolution_backward_data", "convolution_backward_filter"
)  # fmt: skip


def _convolves_in_another_order(of: Callable[[str], bool]) -> Callable[[Graph], str]:
    """Tensors of a convolution alone with channels neither first nor last, of some ports."""

    def where(graph: Graph) -> str:
        for node in graph.alone(*_CONVOLUTIONS):
            for port, each in {**node.inputs, **node.outputs}.items():
                dims, strides = graph.view(each)
                orders = (layout_order(layout, len(dims)) for layout in ("nchw", "nhwc"))
                right = any(lies_in(order, dims, strides) for order in orders)
                if not right and of(port):
                    return f"{node}: {each.name!r} {dims} with strides {strides}"
        return ""

    return where


def _convolves_two_types(graph: Graph) -> str:
    for node in graph.alone(*_CONVOLUTIONS):
        first, second = node.operands
        if first.data_type != second.data_type:
            return f"{node}: {first.name!r} and {second.name!r}"
    return ""


def _convolves_uneven_lines(graph: Graph) -> str:
    """Images, or their gradient or what is given of it, whose channels fill no 16 bytes."""
    for node in graph.alone("convolution_forward", "convolution_backward_data"):
        given, _ = node.operands
        for each in (given, *(t for port, t in node.outputs.items() if port == "dx")):
            if storage_bytes(each.data_type, graph.dims(each)[1]) % _ROW:
                return f"{node}: {each.name!r} {each.dims}"
    return ""


def _joins_operands_beside_a_convolution(graph: Graph) -> str:
    """An operation of several tensors or numbers from memory, as large as the result."""
    for side in graph.sides if graph.of("convolution_forward", "convolution_backward_data") else ():
        for node in side.nodes if side.before is None else ():
            (result,) = node.outputs.values()
            given = [each for each in node.operands if not each.virtual]
            if len(given) > 1 and len(given) == len(list(node.operands)) and not side.small(result):
                return str(node)
    return ""


def _has_rows_of_a_product(graph: Graph) -> str:
    """One product: lines of other than 16 bytes, one column of float32.

    Or an operand of element-wise operations beside it in another order of memory or with gaps.
    """
    beside = any(side.family == "product" for side in graph.sides)
    for node in graph.of("matmul") if beside else graph.alone("matmul"):
        one = graph.dims(node.outputs["C"])[-1] == 1
        for each in (node.inputs["A"], node.inputs["B"]):
            lines = [size for size, step in zip(*graph.view(each), strict=True) if step == 1]
            nbytes = storage_bytes(each.data_type, math.prod(lines))
            wide = one and each.data_type == cudnnDataType_t.CUDNN_DATA_FLOAT
            if not each.virtual and (wide or nbytes % _ROW):
                return f"{node}: {each.name!r} {each.dims} with strides {each.strides}"
    for side in graph.sides if beside else ():
        for each in side.tensors:
            dims, strides = each.dims or (), each.strides or ()
            parted = strides[-1] == 1 and has_gaps(dims, strides)
            if not each.virtual and (parted or not side.in_order(each)):
                return f"{each.name!r} {dims} with strides {strides}"
    return ""


def _convolves_with_channels_first(least: int = 1) -> Callable[[Graph], str]:
    """Images of one element, which may have their channels last, and filters that have not.

    `least` is how many images there are at least.
    """

    def where(graph: Graph) -> str:
        mains = graph.of("convolution_forward", "convolution_backward_data")
        for node in (*mains, *graph.of("convolution_backward_filter")):
            tensors = [*node.operands, *node.outputs.values()]
            filters = node.kind.descriptor == "operation_convolution_backward_filter"
            kept = [t for t in tensors if t.rank > 2 and not (filters and t.virtual)]
            whole = [t for t in kept if _has_an_order(graph.dims(t))]
            first = [t for t in whole if t.strides is not None and t.strides[1] != 1]
            joined = graph.of("pointwise") and graph.dims(tensors[0])[0] >= least
            if first and joined and len(whole) < len(kept):
                return f"{node}: {first[0].name!r} {first[0].dims}"
        return ""

    return where


def _has_an_order(dims: Sequence[int]) -> bool:
    """Whether images have several channels and pixels, so that either may be last."""
    return dims[1] > 1 and math.prod(dims[2:]) > 1


def _is_alone_with_channels_first(graph: Graph) -> str:
    """A convolution without element-wise operations, of images whose channels are not last."""
    for node in () if graph.of("pointwise") else graph.of("convolution_forward"):
        for each in node.operands:
            dims, strides = graph.dims(each), each.strides or ()
            if _has_an_order(dims) and strides[1] != 1:
                return f"{node}: {each.name!r} {dims} with strides {strides}"
    return ""


def _gradients_of_filters_in_16_bits(graph: Graph) -> Iterator[Node]:
    """Gradients of filters in 16 bits beside element-wise operations."""
    for node in graph.of("convolution_backward_filter") if graph.of("pointwise") else ():
        if any(operand.data_type in _16_BITS for operand in node.operands):
            yield node


def _differentiates_by_two_channels(graph: Graph) -> str:
    """Filters of two channels and several lines."""
    for node in _gradients_of_filters_in_16_bits(graph):
        dims = graph.dims(node.outputs["dw"])
        if dims[1] == 2 and dims[2] > 1:
            return f"{node}: {dims}"
    return ""


def _differentiates_by_one_channel(graph: Graph) -> str:
    """Filters of one channel and several lines alone, in 32 bits."""
    for node in graph.alone("convolution_backward_filter"):
        image, dims = node.inputs["image"], graph.dims(node.outputs["dw"])
        if dims[1] == 1 and dims[2] > 1 and storage_bytes(image.data_type, 1) == 4:
            return f"{node}: {dims}"
    return ""


def _has_uneven_lines(rank: int = 0) -> Callable[[Graph], str]:
    """Gradients of filters by channels that fill no 16 bytes, of `rank` dimensions at least."""

    def where(graph: Graph) -> str:
        for node in _gradients_of_filters_in_16_bits(graph):
            for each in (node.inputs["image"], node.inputs["loss"]):
                dims = graph.dims(each)
                if dims[1] * 2 % _ROW and len(dims) >= rank:
                    return f"{node}: {each.name!r} {dims}"
        return ""

    return where


_ROW = 16  # bytes
_LINE = 128  # bytes to which cuDNN rounds up the parts of its workspace


def _reads_a_part_of_a_line(
    main: str, *, alone: bool = True, windows: Callable[[bool], bool] = lambda one: True
) -> Callable[[Graph], str]:
    """A convolution of images, or a gradient by a result, that has not its channels last.

    They have no multiple of 128 bytes. `main` is the kind of convolution.

    - `alone`: without element-wise operations.
    - `windows`: which are meant, by whether they are of one element.
    """
    name, read, filters = {
        "forward": ("x", "image", "weight"),
        "backward_data": ("dy", "loss", "filter"),
        "backward_filter": ("dy", "loss", "dw"),
    }[main]

    def where(graph: Graph) -> str:
        for node in () if alone and graph.of("pointwise") else graph.of(f"convolution_{main}"):
            each, every = node.inputs[read], {**node.inputs, **node.outputs}
            one = set(graph.dims(every[filters])[2:]) == {1}
            if each.virtual or each.strides is None or each.strides[1] == 1 or not windows(one):
                continue
            nbytes = storage_bytes(each.data_type, math.prod(graph.dims(each)))
            if nbytes % _LINE:
                return f"{node}: {name} {each.name!r} {each.dims} has {nbytes} bytes"
        return ""

    return where


def _gives_gelu_of_a_product(graph: Graph) -> str:
    """Gelu as float32, whose rounding does not hide what an approximation leaves."""
    gelu = cudnnPointwiseMode_t.CUDNN_POINTWISE_GELU_FWD
    for node in graph.of("pointwise", mode=gelu) if graph.of("matmul") else ():
        (y,) = node.outputs.values()
        if not y.virtual and y.data_type == cudnnDataType_t.CUDNN_DATA_FLOAT:
            return f"{node}: {y.name!r} in float32"
    return ""


_16_BITS = (cudnnDataType_t.CUDNN_DATA_HALF, cudnnDataType_t.CUDNN_DATA_BFLOAT16)
_IMAGES = (
    cudnnBackendNormMode_t.CUDNN_BATCH_NORM,
    cudnnBackendNormMode_t.CUDNN_INSTANCE_NORM,
)


def _scales_in_another_order(graph: Graph) -> str:
    """A scale or bias of a layer that does not lie in memory as x does."""
    for node, both in broadcasts.parameters_of_layers(graph.nodes):
        order = axis_order(*graph.view(node.inputs["input"]))
        for each in both:
            if not lies_in(order, *graph.view(each)):
                return f"{node}: {each.name!r} {each.dims} with strides {each.strides}"
    return ""


def _differentiates_a_norm_in_another_type(graph: Graph) -> str:
    """A norm of batches or images, its gradient of another type than what it is computed of."""
    for node in graph.of("norm_backward") if not graph.of("pointwise") else ():
        dx, x = node.outputs["dx"], node.inputs["input"]
        if node.options["mode"] in _IMAGES and dx.data_type != x.data_type:
            return f"{node}: {dx.name!r} for {x.name!r} of {data_type_name(x.data_type)}"
    return ""


def _stores_statistics_in_16_bits(graph: Graph) -> str:
    for node in graph.of("norm_forward"):
        for port, tensor in node.outputs.items():
            written = port in ("mean", "inv_variance") and not tensor.virtual
            rows = node.options["mode"] in broadcasts.LAYERS
            if written and rows and tensor.data_type in _16_BITS:
                return f"{node}: {port} {tensor.name!r}"
    return ""


def _takes_numbers_of_sequences(graph: Graph) -> str:
    for node, each in broadcasts.numbers_of_sequences(graph.nodes):
        (scores,) = node.outputs.values()
        return f"{node}: {each.name!r} {each.dims} in scores of {scores.dims}"
    return ""


_WHERE: dict[str, Callable[[Graph], str]] = {
    "pooling after an element-wise operation": _pools_beside_others,
    "result of an operand alone": _reads_an_operand_alone,
    "clipped product": _clips_a_product,
    "pooling of bfloat16": _pools_bfloat16,
    "gradient of pooling in another type": _differentiates_pooling_of_another_type,
    "gradient of pooling into another order of memory": _turns_a_gradient_of_pooling,
    "gradient of more averages than pixels": _differentiates_more_windows,
    "uneven padding, gradient of data": _pads_unevenly("data"),
    "uneven padding, gradient of filter": _pads_unevenly("filter"),
    "operand along a part of a dimension": _misread(broadcasts.PART),
    "number of each row": _misread(broadcasts.ROWS),
    "activation of a single number": _misread(broadcasts.SINGLE),
    "index of another dimension": _misread(broadcasts.INDEX),
    "output smaller than the result": _misread(broadcasts.OUTPUT),
    "operand read twice before a product": lambda graph: _first(
        side.repeated for side in graph.sides
    ),
    "norm behind a whole operand": _joins_a_norm_second,
    "norm of images before another operand": _joins_another_behind_a_norm,
    "computed operand of a norm": lambda graph: _first(broadcasts.computed_of_norms(graph.nodes)),
    "norm with scale and bias of two types": lambda graph: _first(
        each for _, each in broadcasts.parameters_of_two_types(graph.nodes)
    ),
    "scale of a norm in another order of memory": _scales_in_another_order,
    "gradient of a norm beside element-wise operations": lambda graph: _first(
        node
        for node in graph.of("norm_backward")
        if node.options["mode"] in broadcasts.LAYERS and graph.of("pointwise")
    ),
    "gradient of a norm in another type": _differentiates_a_norm_in_another_type,
    "experts beside element-wise operations": _joins_operands_beside_experts,
    "strided gradient of data beside element-wise operations": _strides_a_gradient,
    "products of which one repeats a matrix": _repeats_matrices_of_one_product,
    "product of interleaved matrices": _interleaves_batches,
    "product of one column": _repeats_one_column_of_a_product,
    "spaced matrix of a product": _spaces_a_matrix_of_a_product,
    "operand in another order of memory": _lies_otherwise(
        "plain", "image", "data", "product", "sum", "pool"
    ),
    "operand with gaps": _leaves_gaps,
    "operand with gaps between pixels": _leaves_gaps_between_pixels,
    "operand of a filter's gradient in another order of memory": _lies_otherwise("filter"),
    "image computed from another order of memory": _lies_otherwise("computed image"),
    "result that broadcasts": _spreads_a_result,
    "infinity before a product": lambda graph: _first(side.infinite for side in graph.sides),
    "operands joined beside a convolution": _joins_operands_beside_a_convolution,
    "rows of a product": _has_rows_of_a_product,
    "filters with channels first beside images of one element": _convolves_with_channels_first(),
    "bias beside filters with channels first": _convolves_with_channels_first(least=2),
    "channels first in runtime fusion": _is_alone_with_channels_first,
    "convolution of a part of a line": _reads_a_part_of_a_line("forward"),
    "gradient of data by a part of a line": _reads_a_part_of_a_line(
        "backward_data", windows=operator.not_
    ),
    "gradient of filters by a part of a line": _reads_a_part_of_a_line("backward_filter"),
    "convolution in another order of memory": _convolves_in_another_order(
        lambda port: port != "weight"
    ),
    "filters in another order of memory": _convolves_in_another_order(
        lambda port: port in ("weight", "filter")
    ),
    "convolution of two types": _convolves_two_types,
    "convolution of uneven lines": _convolves_uneven_lines,
    "gradient of filters with uneven lines": _has_uneven_lines(),
    "gradient of filters of a volume with uneven lines": _has_uneven_lines(rank=5),
    "gradient of filters of two channels": _differentiates_by_two_channels,
    "gradient of filters of one channel": _differentiates_by_one_channel,
    "gradient beside what is computed of a bias": _misread(broadcasts.CHANNELS),
    "gradient of filters of one element": _reads_a_part_of_a_line(
        "backward_filter", alone=False, windows=operator.truth
    ),
    "gelu of a product": _gives_gelu_of_a_product,
    "convolution of a large volume": _convolves_a_large_volume,
    "broadcast along two dimensions": _misread(broadcasts.TWO),
    "element-wise graph of two dimensions": lambda graph: _first(
        node
        for side in graph.sides
        for node in side.nodes
        if side.family == "plain" and len(graph.dims(next(iter(node.outputs.values())))) < 3
    ),
    "modifier with a number for each sequence": _takes_numbers_of_sequences,
    "statistics of layers in 16 bits": _stores_statistics_in_16_bits,
    SLOW_SCALES: lambda graph: _first(graph.nodes[:1] if slow_scales(graph.nodes) else ()),
}
OPERATIONS = rows(Path(__file__).with_name("operations.json"), _WHERE)
