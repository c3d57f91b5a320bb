"""Other descriptions of about the same computation, in which engines often want it.

All that is tried for a graph: other data types, wider sizes, fewer results, other layouts.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...dtypes import data_type_name, element_bits
from ...raw import (
    cudnnBackendNormFwdPhase_t,
    cudnnBackendNormMode_t,
    cudnnDataType_t,
    cudnnPointwiseMode_t,
)
from ...raw.strides import is_dense, packed, packed_like
from .node import Kind, Node, exchanged
from .operations.attention import (
    SDPA,
    SDPA_BACKWARD,
    SDPA_FP8,
    SDPA_FP8_BACKWARD,
    SDPA_UNIFIED,
    SDPA_UNIFIED_BACKWARD,
)
from .operations.batch_normalization import BATCHNORM_INFERENCE, BN_BACKWARD_WEIGHTS, BN_FINALIZE
from .operations.convolutions import CONV_DGRAD, CONV_FPROP, CONV_WGRAD
from .operations.normalizations import NORM_BACKWARD, NORM_FORWARD
from .operations.pointwise import ELEMENT_WISE, is_logical
from .operations.reductions import GENSTATS, MATMUL, REDUCTION
from .operations.resampling import RESAMPLE_BACKWARD, RESAMPLE_FORWARD
from .rewriting import Edit, Remedy
from .tensor import Tensor

if TYPE_CHECKING:
    from .description import Description


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


# Sizes rounded up to what engines want: channels, matrices and heads of attention.
#
# What is added to operands holds zeros, and what is added to results means nothing. So only sizes
# can grow that no operation takes a mean, a maximum or a position of.

_Mode = cudnnPointwiseMode_t
_UNBOUNDED = (
    _Mode.CUDNN_POINTWISE_DIV,
    _Mode.CUDNN_POINTWISE_LOG,
    _Mode.CUDNN_POINTWISE_RSQRT,
    _Mode.CUDNN_POINTWISE_RECIPROCAL,
    _Mode.CUDNN_POINTWISE_POW,
    _Mode.CUDNN_POINTWISE_MOD,
)
"""Operations that give infinity or NaN for zeros; times zero, that is not zero."""
_OF_CHANNELS = (cudnnBackendNormMode_t.CUDNN_BATCH_NORM, cudnnBackendNormMode_t.CUDNN_INSTANCE_NORM)
_BY_CHANNELS = (
    RESAMPLE_FORWARD,
    RESAMPLE_BACKWARD,
    GENSTATS,
    BN_FINALIZE,
    BN_BACKWARD_WEIGHTS,
    BATCHNORM_INFERENCE,
)
_BACKWARD = (SDPA_BACKWARD, SDPA_FP8_BACKWARD, SDPA_UNIFIED_BACKWARD)
_FORWARD = (SDPA, SDPA_FP8, SDPA_UNIFIED)
_GRADIENTS = dict.fromkeys(("v", "o", "dO", "dq", "dk", "dv"), "*d")
# Sizes that are the same have one letter; a point stands for one that stays, "*" for all others.
_ATTENTION = {"q": "*d", "k": "*d", "v": "*e", "o": "*e"}
_AXES: Sequence[tuple[Kind, Mapping[str, str]]] = (
    (CONV_FPROP, {"image": ".c*", "weight": "kc*", "y": ".k*"}),
    (CONV_DGRAD, {"loss": ".k*", "filter": "kc*", "dx": ".c*"}),
    (CONV_WGRAD, {"image": ".c*", "loss": ".k*", "dw": "kc*"}),
    (MATMUL, {"A": "*mk", "B": "*kn", "C": "*mn"}),
    *((kind, _ATTENTION) for kind in _FORWARD),
    *((kind, {**_ATTENTION, **_GRADIENTS}) for kind in _BACKWARD),
)

Axis = tuple[int, int]
"""A tensor's id, and one of its dimensions."""


class AxisLinks:
    """Which dimensions of which tensors are one size, as long as each operation is as it is."""

    def __init__(self, graph: Description) -> None:
        self.tensors: dict[int, Tensor] = {id(each): each for each in graph.tensors}
        self._parents: dict[Axis, Axis] = {}
        self._sealed: set[Axis] = set()
        self._made_by = {id(each): node for node in graph.nodes for each in node.results}
        self._virtual = {id(each) for each in graph.tensors if each.virtual}
        for node in graph.nodes:
            self._of_node(node)
        for tensor in graph.tensors:
            if not tensor.virtual and not tensor.by_value and not plain(tensor):
                self._seal(tensor)

    def groups(self) -> list[list[Axis]]:
        """Axes that can grow together, in the order of the graph's tensors."""
        found: dict[Axis, list[Axis]] = {}
        for each, tensor in self.tensors.items():
            for axis in range(tensor.rank):
                if (each, axis) in self._parents:
                    found.setdefault(self._root((each, axis)), []).append((each, axis))
        closed = {self._root(each) for each in self._sealed}
        return [group for root, group in found.items() if root not in closed]

    def _root(self, each: Axis) -> Axis:
        while self._parents.setdefault(each, each) != each:
            each = self._parents[each]
        return each

    def _link(self, one: tuple[Tensor, int], *others: tuple[Tensor, int]) -> None:
        for other in others:
            a, b = ((id(tensor), axis % tensor.rank) for tensor, axis in (one, other))
            self._parents[self._root(b)] = self._root(a)

    def _seal(self, tensor: Tensor, *axes: int) -> None:
        for axis in axes or range(tensor.rank):
            self._root((id(tensor), axis % tensor.rank))
            self._sealed.add((id(tensor), axis % tensor.rank))

    def _of_node(self, node: Node) -> None:
        axes = next((axes for kind, axes in _AXES if kind is node.kind), None)
        if axes is not None and _can_grow(node):
            self._lettered(node, axes)
        elif node.kind in ELEMENT_WISE and node.options.get("axis") is None:
            self._pointwise(node)
        elif node.kind in _BY_CHANNELS or (
            node.kind in (NORM_FORWARD, NORM_BACKWARD) and node.options["mode"] in _OF_CHANNELS
        ):
            self._channels(node)
        else:
            for tensor in (*node.operands, *node.results):
                self._seal(tensor)

    def _lettered(self, node: Node, axes: Mapping[str, str]) -> None:
        ports = {**node.inputs, **node.outputs}
        named = {id(ports[port]) for port in axes if port in ports}
        for tensor in (*node.operands, *node.results):
            if id(tensor) not in named and not tensor.by_value:
                self._seal(tensor)
        found: dict[str, list[tuple[Tensor, int]]] = {}
        for port in axes.keys() & ports.keys():
            tensor = ports[port]
            letters = axes[port].replace("*", "." * (tensor.rank - len(axes[port]) + 1))
            if port in node.transposed:
                letters = letters[:-2] + letters[:-3:-1]
            for axis, letter in enumerate(letters):
                if letter == ".":
                    self._seal(tensor, axis)
                else:
                    found.setdefault(letter, []).append((tensor, axis))
        for letter, places in found.items():
            self._link(*places)
            if not any(letter in axes.get(port, "") for port in node.outputs):
                self._summed(*places)

    def _summed(self, *places: tuple[Tensor, int]) -> None:
        """Axes that a sum runs over: zeros of one operand must meet finite numbers."""
        direct = any(id(tensor) not in self._made_by for tensor, _ in places)
        if not direct or not all(self._bounded(tensor) for tensor, _ in places):
            for tensor, axis in places:
                self._seal(tensor, axis)

    def _bounded(self, tensor: Tensor) -> bool:
        waiting, seen = [tensor], {id(tensor)}
        while waiting:
            node = self._made_by.get(id(waiting.pop()))
            if node is None or node.kind not in ELEMENT_WISE:
                continue
            if node.options["mode"] in _UNBOUNDED:
                return False
            waiting += [each for each in node.operands if id(each) not in seen]
            seen |= {id(each) for each in node.operands}
        return True

    def _pointwise(self, node: Node) -> None:
        (y,) = node.outputs.values()
        for axis in range(y.rank):
            self._root((id(y), axis))
            for tensor in node.operands:
                if tensor.rank != y.rank:
                    self._seal(y, axis)
                elif _size(tensor, axis) == _size(y, axis) and not tensor.by_value:
                    self._link((y, axis), (tensor, axis))

    def _channels(self, node: Node) -> None:
        """Each channel for itself; all else as it is."""
        tensors = [each for each in (*node.operands, *node.results) if not each.by_value]
        wide = max(_size(each, 1) for each in tensors)
        first = next(each for each in tensors if _size(each, 1) == wide)
        for tensor in tensors:
            self._seal(tensor, 0, *range(2, tensor.rank))
            if _size(tensor, 1) == wide:
                self._link((first, 1), (tensor, 1))


def _can_grow(node: Node) -> bool:
    """Whether sizes of a node that `_AXES` names are as it says."""
    if any(port.startswith("paged_") for port in node.inputs) or "C" in node.transposed:
        return False
    if node.kind is MATMUL:
        return node.inputs.keys() == {"A", "B"}
    ports = {**node.inputs, **node.outputs}
    w = next((ports[each] for each in ("weight", "filter", "dw") if each in ports), None)
    x = ports.get("image", ports.get("dx"))
    return w is None or x is None or _size(x, 1) == _size(w, 1)  # else there are groups


def _size(tensor: Tensor, axis: int) -> int:
    return (tensor.dims or ())[axis]


_UNIT = 128  # bits that engines move at once
_LEAST = 4  # bits of a number; what is smaller is a mask


def width_remedies(graph: Description) -> Iterator[Remedy]:
    """One for each size that can grow and is no multiple of 16 bytes."""
    for uid, axis, old, new in _narrow(graph):
        yield Remedy(
            "width",
            f"widen {{}} from {old} to {new} in dimension {axis}"
            if _same_axis(graph, uid, axis)
            else f"widen {{}} from {old} to {new}",
            functools.partial(_widened, uid=uid, axis=axis, size=new),
        )


def _narrow(graph: Description) -> Iterator[tuple[int, int, int, int]]:
    """A tensor's uid with one of its dimensions, what it is and what it should be."""
    links = AxisLinks(graph)
    for group in links.groups():
        tensors = [(links.tensors[each], axis) for each, axis in group]
        with_memory = [(each, axis) for each, axis in tensors if not each.virtual]
        first, axis = (with_memory or tensors)[0]
        size = (first.dims or ())[axis]
        bits = [element_bits(each.data_type) for each, _ in with_memory]
        unit = max((_UNIT // each for each in bits if _LEAST <= each <= _UNIT), default=1)
        if with_memory and size > 1 and size % unit and first.uid is not None:
            yield first.uid, axis, size, -(-size // unit) * unit


def _same_axis(graph: Description, uid: int, axis: int) -> bool:
    """Whether all tensors with memory grow in the same dimension."""
    group, links = _group(graph, uid, axis)
    return len({axis for each, axis in group if not links.tensors[each].virtual}) == 1


def _group(graph: Description, uid: int, axis: int) -> tuple[Sequence[Axis], AxisLinks]:
    links = AxisLinks(graph)
    for group in links.groups():
        if any(links.tensors[each].uid == uid and of == axis for each, of in group):
            return group, links
    return (), links


def _widened(graph: Description, uid: int, axis: int, size: int) -> Edit:
    edit = Edit()
    group, links = _group(graph, uid, axis)
    results = {id(each) for node in graph.nodes for each in node.results}
    filled: list[str] = []
    ignored: list[str] = []
    places = {id(each): index for index, each in enumerate(graph.tensors)}
    new_dims: dict[int, list[int]] = {}
    for each, of in group:
        tensor = links.tensors[each]
        dims = new_dims.setdefault(each, list(tensor.dims or ()))
        if dims[of] == size:
            continue
        dims[of] = size
        if not tensor.virtual:
            (ignored if each in results else filled).append(repr(tensor.name))
    for each, dims in new_dims.items():
        tensor = links.tensors[each]
        if tuple(dims) != tensor.dims:
            strides = packed_like(dims, tensor.dims or (), tensor.strides or ())
            edit.of_tensor(places[each], dims=tuple(dims), strides=strides)
    for index, node in enumerate(graph.nodes):
        q = node.inputs.get("q")
        if q is not None and id(q) in new_dims and "attn_scale" not in node.inputs:
            scale = node.options.get("attn_scale")
            if scale is None and node.kind.own_options.get("attn_scale") is not None:
                edit.nodes[index] = {"attn_scale": 1 / math.sqrt(q.dims[-1])}
    parts = [f"fill what is added of {', '.join(filled)} with zeros"] if filled else []
    parts += [f"ignore what is added of {', '.join(ignored)}"] if ignored else []
    edit.caveat = " and ".join(parts)
    return edit


_Phase = cudnnBackendNormFwdPhase_t
_BATCH = cudnnBackendNormMode_t.CUDNN_BATCH_NORM


def result_remedies(graph: Description) -> Iterator[Remedy]:
    """Inference instead of training."""
    yield Remedy("results", "leave out {}, which only training needs", _inference, loses=True)


def _inference(graph: Description) -> Edit:
    edit = Edit()
    used = {id(each) for node in graph.nodes for each in node.operands}
    for index, node in enumerate(graph.nodes):
        if node.kind not in (NORM_FORWARD, SDPA, SDPA_FP8):
            continue
        kept = "y" if node.kind is NORM_FORWARD else "o"
        if node.options.get("mode") == _BATCH:  # its inference needs statistics
            continue
        others = [each for port, each in node.outputs.items() if port != kept]
        if not others or any(id(each) in used for each in others):
            continue
        edit.without |= {i for i, t in enumerate(graph.tensors) if any(t is o for o in others)}
        if node.kind is NORM_FORWARD:
            edit.nodes[index] = {"phase": _Phase.CUDNN_NORM_FWD_INFERENCE}
    return edit


IMAGES_AS_IN_C = "images stored as in C"
"""The case by which measured facts would know it."""

_OF_IMAGES = (CONV_FPROP, CONV_DGRAD, CONV_WGRAD, NORM_FORWARD, NORM_BACKWARD, *_BY_CHANNELS)
_IMAGE = 4  # dimensions
_ALIGNED = 16  # bytes that engines move at once


def layout_remedies(graph: Description) -> Iterator[Remedy]:
    """Channels last, as in C, columns of B, alignment."""
    yield Remedy("layout", "store {} channels last (NHWC)", _channels_last, known=IMAGES_AS_IN_C)
    yield Remedy("layout", "store {} as in C, the last dimension innermost", _as_in_c)
    yield Remedy("layout", "store {} by columns (each matrix transposed in memory)", _by_columns)
    yield Remedy("alignment", f"let the addresses of {{}} be multiples of {_ALIGNED}", _aligned)


def plain(tensor: Tensor) -> bool:
    """Whether dims and strides alone say where elements are, and memory has no gaps."""
    dims, strides = tensor.dims or (), tensor.strides or ()
    if tensor.by_value or tensor.vector_count != 1 or tensor.reordering:
        return False
    if tensor.ragged_offset is not None:
        return False
    return is_dense(dims, strides)


def _image_places(graph: Description) -> list[int]:
    """The tensors of operations on images, and of element-wise ones beside them: their places."""
    ids: set[int] = set()
    rank = 0
    for node in graph.nodes:
        tensors = [*node.operands, *node.results]
        highest = max(each.rank for each in tensors)
        if node.kind in _OF_IMAGES or (node.kind is REDUCTION and highest >= _IMAGE):
            rank = max(rank, highest)
            ids |= {id(each) for each in tensors}
    if rank < 3:
        return []
    grown = True
    while grown:
        grown = False
        for node in graph.nodes:
            if node.kind in ELEMENT_WISE:
                near = {id(each) for each in (*node.operands, *node.results)}
                if near & ids and not near <= ids:
                    ids |= near
                    grown = True
    return [
        index
        for index, each in enumerate(graph.tensors)
        if id(each) in ids and each.rank == rank and plain(each)
    ]


def _reordered(graph: Description, places: Sequence[int], order: Sequence[int]) -> Edit:
    """Packed strides in another order of axes; empty if no memory changes by it."""
    edit, moves = Edit(), False
    for index in places:
        tensor = graph.tensors[index]
        dims, strides = tensor.dims or (), packed(tensor.dims or (), order)
        if strides != tensor.strides:
            edit.of_tensor(index, strides=strides)
            pairs = zip(dims, strides, tensor.strides or (), strict=True)
            moves = moves or any(size > 1 and a != b for size, a, b in pairs)
    return edit if moves else Edit()


def _channels_last(graph: Description) -> Edit:
    places = _image_places(graph)
    if not places:
        return Edit()
    rank = graph.tensors[places[0]].rank
    return _reordered(graph, places, (0, *range(2, rank), 1))


def _as_in_c(graph: Description) -> Edit:
    edit = Edit()
    for rank in {each.rank for each in graph.tensors}:
        places = [i for i, each in enumerate(graph.tensors) if each.rank == rank and plain(each)]
        edit.tensors.update(_reordered(graph, places, range(rank)).tensors)
    return edit


def _by_columns(graph: Description) -> Edit:
    """B of products of 8 bits, which the tensor cores want so."""
    edit = Edit()
    for node in graph.nodes:
        if node.kind is not MATMUL or "B" in node.transposed:
            continue
        tensor = node.inputs["B"]
        dims = tensor.dims or ()
        if tensor.virtual or not plain(tensor) or element_bits(tensor.data_type) > 8:
            continue
        strides = exchanged(packed(exchanged(dims)))
        if strides != tensor.strides:
            place = next(i for i, each in enumerate(graph.tensors) if each is tensor)
            edit.of_tensor(place, strides=strides)
    return edit


def _aligned(graph: Description) -> Edit:
    edit = Edit()
    for index, tensor in enumerate(graph.tensors):
        if not tensor.virtual and not tensor.by_value and tensor.alignment < _ALIGNED:
            edit.of_tensor(index, alignment=_ALIGNED)
    return edit


def remedies(graph: Description) -> Iterator[Remedy]:
    """Remedies that change a graph; those that lose something come last."""
    graph.validate()
    families = layout_remedies, data_type_remedies, width_remedies, result_remedies
    found = [each for family in families for each in family(graph) if each.edit(graph)]
    yield from sorted(found, key=lambda each: each.loses)
