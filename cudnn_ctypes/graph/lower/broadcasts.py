"""Operands smaller than a graph's result: which of them the engines of runtime fusion misread.

An engine sees the result of a convolution as a matrix, of images and pixels by channels, that of a
product as batches of matrices, and element-wise operations alone as at most three dimensions,
merged from the graph's. Along each of these an operand must be whole, or broadcast whole. One with
a single number for each row may be an operand beside a whole tensor, but what is computed from it
before it meets one is wrong: functions take it for a vector. So is, before a product, whatever is
computed from small operands, and before a reduction what is so along the innermost dimension. To
pooling a result is what it is to a convolution, but that rows are misread as operands, too, and
what comes before it is left out. Behind a gradient of data an activation of one number a channel
is wrong, behind one of filters all that is computed for each element of a filter. cuDNN refuses
little of it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...raw import cudnnBackendNormMode_t, cudnnDataType_t, cudnnPointwiseMode_t
from ...raw.strides import axis_order, has_gaps, lies_in, packed
from ..describe.node import Node
from ..describe.tensor import Tensor
from .flattening import is_plain, merged_axes, tensors_of

PART = "it broadcasts along a part of what is one dimension to an engine"
TWO = "it broadcasts along two of three dimensions"
ROWS = "it is a single number for each row, and meets no whole tensor"
SINGLE = "it is the result of an activation of a single number"
CHANNELS = "it is computed of one number for each channel, or for each element of a filter"
INDEX = (
    "it is an index of a smaller tensor, of one with gaps or in another order of memory, or along "
    "a dimension that engines count wrong, or is beside a number of each row"
)
OUTPUT = "it is an output that is smaller than the result"
APART = "it hangs together with nothing else, and engines may leave one of two results unwritten"

_MAINS = {
    "operation_convolution_forward": "image",
    "operation_convolution_backward_data": "data",
    "operation_convolution_backward_filter": "filter",
    "operation_matmul": "product",
    "operation_reduction": "sum",
    "operation_resample_fwd": "pool",
    "operation_resample_bwd": "pool",
}
_POINTWISE = "operation_pointwise"
_ACTIVATIONS = ("_FWD", "_BWD")
_INFINITE_AT_ZERO = frozenset(
    cudnnPointwiseMode_t[f"CUDNN_POINTWISE_{name}"] for name in ("RSQRT", "RECIPROCAL", "LOG")
)

LAYERS = (
    cudnnBackendNormMode_t.CUDNN_LAYER_NORM,
    cudnnBackendNormMode_t.CUDNN_RMS_NORM,
    cudnnBackendNormMode_t.CUDNN_ADA_LAYER_NORM,
)
"""Norms of rows."""


@dataclass
class Side:
    """Element-wise operations before or behind a graph's main operation, or all if it has none.

    - `family` ("image", "data", "filter", "product", "sum", "pool", "plain"): how engines see what
      the operations read and write.
    - `full`: the dims that operands broadcast to.
    - `before`: the operand of the main operation that they compute.
    """

    family: str
    nodes: list[Node]
    full: tuple[int, ...]
    before: Tensor | None = None

    @property
    def tensors(self) -> list[Tensor]:
        """All that are no numbers by value, each once, the results first."""
        return [each for each in tensors_of(self.nodes) if not each.by_value]

    @functools.cached_property
    def groups(self) -> list[list[int]]:
        """The axes of each dimension that an engine sees, the innermost last."""
        axes = list(range(len(self.full)))
        groups = [[0], axes[1:]]
        if self.family in ("image", "data", "pool"):
            groups = [[0, *axes[2:]], [1]]
        elif self.family == "product":
            groups = [axes[:-2], axes[-2:-1], axes[-1:]]
        elif self.family == "sum":
            groups = [[axis for axis in axes if axis != self.inner], [self.inner]]
        elif self.family == "plain" and is_plain(self.nodes):
            groups = merged_axes(self.tensors, self.full)
        elif self.family == "plain":  # described as it is
            groups = [[axis] for axis in self.order if self.full[axis] != 1]
        return groups

    @property
    def inner(self) -> int:
        """The innermost axis of more than one element."""
        return next((a for a in reversed(self.order) if self.full[a] != 1), self.order[-1])

    @functools.cached_property
    def order(self) -> tuple[int, ...]:
        """The axes from the outermost to the innermost in memory, as of what is whole."""
        whole = sorted((t for t in self.tensors if t.dims == self.full), key=lambda t: t.virtual)
        strides = whole[0].strides if whole else None
        return axis_order(self.full, strides or packed(self.full))

    def in_order(self, tensor: Tensor) -> bool:
        """Whether a tensor's dimensions of more than 1 lie in memory in `order`."""
        dims, strides = tensor.dims or (), tensor.strides or ()
        return len(dims) == len(self.order) and lies_in(self.order, dims, strides)

    def spread(self, tensor: Tensor) -> str:
        """For each dimension that engines see: F if it is whole, 1 if not, x if in part, or "."."""
        found = ""
        for group in self.groups:
            kinds = {(tensor.dims or ())[axis] == 1 for axis in group if self.full[axis] != 1}
            found += "x" if len(kinds) > 1 else "1" if True in kinds else "F" if kinds else "."
        return found

    def small(self, tensor: Tensor) -> bool:
        """Whether it broadcasts."""
        return not tensor.by_value and tensor.dims != self.full

    def misread(self, tensor: Tensor, node: Node | None = None) -> str:
        """The reason why engines misread a tensor, as an operand of `node` or by itself, or ""."""
        spread = self.spread(tensor)
        whole = spread.replace(".", "")
        smaller = "1" in whole or "x" in whole
        made_by = self.maker(tensor)
        axis = None if made_by is None else made_by.options.get("axis")
        if made_by is not None and axis is not None:
            counted = made_by.inputs["x"]
            otherwise = not counted.by_value and (
                has_gaps(counted.dims or (), counted.strides or ()) or not self.in_order(counted)
            )
            if smaller or otherwise or self.small(counted) or not self._counts(axis):
                return INDEX
        if tensor.by_value or not smaller:
            return ""
        if made_by is not None and not tensor.virtual:
            if self.family != "plain" or "F1" in whole or whole == "111":
                return OUTPUT
            if "F" in whole:
                return ""
        computed = tensor.virtual or made_by is not None
        if set(whole) == {"1"}:
            if computed and self.before is not None and self.family == "product":
                return ROWS
            activated = self.family in ("plain", "pool", "sum") and computed
            return SINGLE if activated and self._activated(tensor) else ""
        if self.family == "sum":
            return ROWS if computed and spread[-1] == "1" else ""
        if "x" in whole and self.family != "product":
            return PART
        if self.family == "plain" and whole.count("1") == 2:
            return TWO
        if computed and spread[-1] == "F" and self.family in ("data", "filter"):
            return CHANNELS if self.family == "filter" or self._activated(tensor) else ""
        if self.family == "pool":
            return ROWS if spread[-1] == "1" else ""
        if computed and (spread[-1] == "1" or self.before is not None):
            return ROWS
        if spread[-1] != "1":
            return ""
        if self.family == "plain" and node is not None:
            others = [each for each in node.operands if each is not tensor]
            if all(each.by_value or self.small(each) for each in others):
                return ROWS
        return ""

    def _counts(self, axis: int) -> bool:
        """Whether indices along an axis are right: those of element-wise operations alone.

        They are not merged beside an index: a number of each row of (n, 1, m), or of (n, m, 1),
        makes them wrong.
        """
        rank = len(self.full)
        if self.family != "plain" or (axis < int(rank <= 3) and self.full[axis] != 1):
            return False
        apart = rank == 3 and self.full.count(1) == 1 and self.full[0] != 1
        return not (apart and any(self.spread(t) == "F1" for t in self.tensors if self.small(t)))

    def _activated(self, tensor: Tensor) -> bool:
        node = self.maker(tensor)
        return node is not None and (
            node.options["mode"].name.endswith(_ACTIVATIONS)
            or any(each.virtual and self._activated(each) for each in node.operands)
        )

    def maker(self, tensor: Tensor) -> Node | None:
        """The operation whose result it is."""
        return self._makers.get(id(tensor))

    @functools.cached_property
    def _makers(self) -> dict[int, Node]:
        return {id(each): node for node in self.nodes for each in node.outputs.values()}

    def behind(self, tensor: Tensor) -> list[Node]:
        """The operations that it is computed by, in order."""
        wanted, found = [tensor], set()
        while wanted:
            node = self.maker(wanted.pop())
            if node is not None and id(node) not in found:
                found.add(id(node))
                wanted += node.operands
        return [node for node in self.nodes if id(node) in found]

    def roots(self) -> Iterator[Tensor]:
        """Small results that operations with a whole result read."""
        seen = set()
        for node in self.nodes:
            if any(self.small(each) for each in node.outputs.values()):
                continue
            for each in node.operands:
                known = id(each) in seen or self.maker(each) is None
                if each.virtual and self.small(each) and not known:
                    seen.add(id(each))
                    yield each

    def reads_wrong(self, root: Tensor) -> str:
        """The reason why engines misread something on the way to a small result, or ""."""
        for node in self.behind(root):
            for each in (*node.operands, *node.outputs.values()):
                if reason := self.misread(each, node):
                    return reason
        return ""

    @property
    def unread(self) -> str:
        """The reason why what leads to the main operation is to be computed beforehand, or ""."""
        if self.before is not None and self.family == "pool":
            return "pooling leaves out what comes before it"
        if self.channels_first:
            return "kernels for a computed image that has not its channels last do not end"
        if self.repeated is not None:
            return f"{self.repeated.name!r}: engines compute wrong what is read twice beforehand"
        return f"{self.infinite} gives infinity beyond the last element" if self.infinite else ""

    @property
    def channels_first(self) -> bool:
        """Whether it is before a convolution, and has not the channels last."""
        image = self.before is not None and self.family == "image"
        return image and self.full[1] > 1 and self.order[-1] != 1

    @property
    def repeated(self) -> Tensor | None:
        """A tensor from memory that is read twice before a product or a convolution."""
        read = [t for node in self.nodes for t in node.operands if not (t.virtual or t.by_value)]
        again = (t for place, t in enumerate(read) if any(t is other for other in read[:place]))
        reads = self.before is not None and self.family in ("product", "image")
        return next(again, None) if reads else None

    @property
    def infinite(self) -> Node | None:
        """An operation before a product that makes infinity of the zeros behind its operand."""
        if self.before is None:
            return None
        return next((n for n in self.nodes if n.options["mode"] in _INFINITE_AT_ZERO), None)


def sides(nodes: Sequence[Node]) -> list[Side]:
    """The element-wise operations of a graph by where they are; none if it has other operations.

    It may have several products, of which none depends on another.
    """
    mains = [node for node in nodes if node.kind.descriptor != _POINTWISE]
    families = [_MAINS.get(node.kind.descriptor, "") for node in mains]
    if "" in families or (len(mains) > 1 and set(families) != {"product"}):
        return []
    if not is_plain(nodes, indices=True):
        return []
    if not mains:
        shapes = [each.dims or () for node in nodes for each in node.outputs.values()]
        shapes += [each.dims or () for node in nodes for each in node.operands]
        if len({len(shape) for shape in shapes}) != 1:
            return []
        return [Side("plain", list(nodes), tuple(map(max, *shapes, shapes[0])))]
    family, result = families[0], next(iter(mains[0].outputs.values()))
    every = Side(family, list(nodes), result.dims or ())
    before: list[Node] = []
    found = []
    for operand in (each for main in mains for each in main.operands):
        made_by = every.behind(operand)
        if any(node in mains for node in made_by):
            return []
        if made_by:
            before += made_by
            seen_as = family if family in ("product", "sum", "pool") else "image"
            found.append(Side(seen_as, made_by, operand.dims or (), operand))
    others = {id(node) for part in apart(nodes) for node in part}
    others.update(map(id, (*mains, *before)))
    after = [node for node in nodes if id(node) not in others]
    if after:
        found.append(Side(family, after, result.dims or ()))
    return found


def apart(nodes: Sequence[Node]) -> list[list[Node]]:
    """Element-wise operations that hang together with nothing else of a graph, part by part.

    Beside one reduction those that read the same tensor are right.
    """
    mains = [node.kind.descriptor for node in nodes if node.kind.descriptor != _POINTWISE]
    sums = mains == ["operation_reduction"]
    found = parts(nodes, by_operands=sums or side_by_side(nodes))
    kept = [part for part in found if any(n.kind.descriptor != _POINTWISE for n in part)]
    return [part for part in found if part not in (kept or found[-1:])]


def side_by_side(nodes: Sequence[Node]) -> bool:
    """Whether all are element-wise, and what none of them reads has one size."""
    read = {id(each) for node in nodes for each in node.operands}
    results = (each for node in nodes for each in node.outputs.values())
    sizes = {each.dims for each in results if id(each) not in read}
    return len(sizes) == 1 and all(node.kind.descriptor == _POINTWISE for node in nodes)


def parts(nodes: Sequence[Node], *, by_operands: bool) -> list[list[Node]]:
    """Operations that hang together, part by part: by the results that others of them use.

    With `by_operands` those, too, that read the same tensor.
    """
    results = {id(each) for node in nodes for each in node.outputs.values()}
    near: dict[int, list[Node]] = {}
    for node in nodes:
        for each in (*node.outputs.values(), *node.operands):
            if id(each) in results or (by_operands and not each.by_value):
                near.setdefault(id(each), []).append(node)
    found: list[list[Node]] = []
    seen: set[int] = set()
    for node in nodes:
        part, wanted = set(), [node]
        while wanted:
            reached = wanted.pop()
            if id(reached) not in seen:
                seen.add(id(reached))
                part.add(id(reached))
                for each in (*reached.outputs.values(), *reached.operands):
                    wanted += near.pop(id(each), ())
        if part:
            found.append([each for each in nodes if id(each) in part])
    return found


def computed_of_norms(nodes: Sequence[Node]) -> list[Tensor]:
    """Operands of norms that the graph computes; the input where something is read twice for it.

    Of gradients of norms of rows those that element-wise operations compute.
    """
    found = []
    for node in nodes:
        for each in node.operands if node.kind.descriptor.startswith("operation_norm") else ():
            if not each.virtual:
                continue
            made_by = Side("plain", list(nodes), each.dims or ()).behind(each)
            element_wise = all(other.kind.descriptor == _POINTWISE for other in made_by)
            if node.kind.descriptor == "operation_norm_forward":
                read = [id(t) for other in made_by for t in other.operands if not t.by_value]
                twice = len(set(read)) < len(read) and element_wise
                is_read_wrong = twice or each is not node.inputs["input"]
            else:
                is_read_wrong = element_wise and node.options["mode"] in LAYERS
            if is_read_wrong:
                found.append(each)
    return found


def parameters_of_two_types(nodes: Sequence[Node]) -> list[tuple[Node, Tensor]]:
    """Scales and biases of layers, both of which engines read in the data type of the scale.

    Of a norm where they differ those that are no float32, each with the norm.
    """
    found = []
    for node, both in parameters_of_layers(nodes):
        types = {each.data_type for each in both}
        if len(types) == 2 and types <= set(_REAL):
            found += [(node, each) for each in both if each.data_type != _REAL[0]]
    return found


def parameters_of_layers(nodes: Sequence[Node]) -> Iterator[tuple[Node, list[Tensor]]]:
    """The scales and biases from memory of norms of layers, with the norm."""
    for node in nodes:
        if node.kind.descriptor == "operation_norm_forward" and node.options["mode"] in LAYERS:
            both = [node.inputs[port] for port in ("scale", "bias") if port in node.inputs]
            yield node, [each for each in both if not each.virtual]


def numbers_of_sequences(nodes: Sequence[Node]) -> list[tuple[Node, Tensor]]:
    """Numbers for each sequence, or sequence and head, that attention's engines take of another.

    They meet scores in operations of the user's; each comes with the operation that reads it. One
    for each sequence alone is right for one query, and shows not where it is only added; one for
    each head alone is right where the numbers lie beside each other.
    """
    products = [node for node in nodes if node.kind.descriptor == "operation_matmul"]
    found = []
    for node in nodes if len(products) == 2 else ():
        if node is products[1]:
            break
        (full,) = (each.dims or () for each in node.outputs.values()) if _joins(node) else ((),)
        for each in node.operands if len(full) == 4 and full[3] > 1 else ():
            batch, heads, *rows = each.dims or ()
            if each.virtual or each.by_value or rows != [1, 1]:
                continue
            if each.data_type not in _REAL:  # lengths of sequences
                continue
            if batch == 1:
                wrong = heads > 1 and (each.strides or ())[1] != 1
            else:
                wrong = heads > 1 or (full[2] > 1 and not _is_only_added(node, nodes, products[1]))
            if wrong:
                found.append((node, each))
    return found


def _joins(node: Node) -> bool:
    return node.kind.descriptor == _POINTWISE and node.origin is None


_REAL = [cudnnDataType_t[f"CUDNN_DATA_{name}"] for name in ("FLOAT", "HALF", "BFLOAT16")]
_ADDS = (cudnnPointwiseMode_t.CUDNN_POINTWISE_ADD, cudnnPointwiseMode_t.CUDNN_POINTWISE_SUB)


def _is_only_added(node: Node, nodes: Sequence[Node], last: Node) -> bool:
    """Whether sums lead from an operation to the softmax, of which nothing but shares is kept."""
    if any(not t.virtual for each in nodes if each is not last for t in each.outputs.values()):
        return False
    while node.options.get("mode") in _ADDS:
        (result,) = node.outputs.values()
        users = [each for each in nodes if any(operand is result for operand in each.operands)]
        if not users or not all(map(_joins, users)):
            return True
        if len(users) > 1:
            return False
        (node,) = users
    return False
