"""Operations that only move elements, carried out by where tensors lie: no kernel is launched.

Between graphs tensors have memory, so a transpose, a slice, a reshape or a concatenation can be
another name, with other dims and strides, for a part of the same memory. A copy stands where the
memory is the user's on both sides, or no strides describe the result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count, pairwise
from typing import Any

from ...dtypes import element_bits
from ...raw import cudnnBackendReshapeMode_t, cudnnPointwiseMode_t
from ...raw.strides import axis_order, packed, same_steps, steps
from ..describe.description import Description
from ..describe.node import Node
from ..describe.operations.pointwise import ELEMENT_WISE, POINTWISE
from ..describe.operations.reductions import REDUCTION
from ..describe.operations.shapes import CONCATENATE, RESHAPE, SLICE, TRANSPOSE
from ..describe.tensor import Tensor
from ..describe.validation import in_order
from ..run.program import Part

Strides = tuple[int, ...]


class Memory:
    """Takes the moving operations out of a validated graph, which it changes.

    - `apart`: unique ids of tensors that shall not lie in others' memory as they are computed:
      those are written as they are read, or copied.
    - `strides`: other strides of results that no user sees, by unique id.
    - `parts`: by the unique id of each tensor that lies in another's memory, its offset in
      elements.
    """

    def __init__(
        self,
        graph: Description,
        apart: Collection[int] = (),
        strides: Mapping[int, Strides] | None = None,
    ) -> None:
        self.parts: dict[int, Part] = {}
        self._graph = graph
        self._apart = apart
        self._maker = {id(t): node for node in graph.nodes for t in node.results}
        self._declared = {id(t): t.strides or () for t in graph.tensors}
        for tensor in graph.tensors:
            tensor.strides = (strides or {}).get(tensor.uid or 0, tensor.strides)
        self._uids = count(1 + max((t.uid or 0 for t in graph.tensors), default=0))
        self._copies: dict[int, list[Node]] = {}  # by the ids of the nodes that they stand for
        nodes = in_order(graph.nodes)
        views = [n for n in nodes if n.kind in (RESHAPE, SLICE, TRANSPOSE) and _in_bytes(n)]
        joins = [n for n in nodes if n.kind is CONCATENATE and _in_bytes(n)]
        moved = {id(n) for n in (*views, *joins)}
        trees: dict[int, list[Node]] = {}
        for node in views:
            trees.setdefault(id(self._root(node, moved)), []).append(node)
        left = [
            tree
            for tree in trees.values()
            if (self._is_read(tree) and not any(n.outputs["y"].uid in apart for n in tree))
            or not self._backward(tree, moved)
        ]
        for node in reversed(joins):
            self._join(node, moved)
        for tree in left:
            tree[0].inputs["input"].virtual = False
            for node in tree:
                self._forward(node)
        # In the order of before: memory that two tensors share connects nodes, too.
        graph.nodes[:] = [
            each for n in nodes for each in (self._copies.get(id(n), []) if id(n) in moved else [n])
        ]

    def in_base(self, uid: int) -> Part:
        """The tensor whose memory a tensor lies in, and where: itself, if in no other's."""
        offset = 0
        while uid in self.parts:
            uid, more = self.parts[uid]
            offset += more
        return Part(uid, offset)

    def _root(self, node: Node, moved: set[int]) -> Tensor:
        x: Tensor = node.inputs["input"]
        maker = self._maker.get(id(x))
        while maker is not None and id(maker) in moved and maker.kind is not CONCATENATE:
            x = maker.inputs["input"]
            maker = self._maker.get(id(x))
        return x

    def _free(self, tensor: Tensor, moved: set[int]) -> bool:
        """Whether operations write it wherever, and however, it shall lie."""
        maker = self._maker.get(id(tensor))
        return (
            tensor.virtual
            and maker is not None
            and tensor.uid not in self._apart
            and (id(maker) not in moved or maker.kind is CONCATENATE)
            and (tensor.uid or 0) not in self.parts
        )

    def _lie(self, tensor: Tensor, base: Tensor, strides: Strides, elements: int = 0) -> None:
        """Have a tensor lie in another's memory, so many elements behind its beginning."""
        self.parts[tensor.uid or 0] = Part(base.uid or 0, elements)
        tensor.strides, tensor.virtual = strides, False
        tensor.data_type = base.data_type
        base.virtual = False

    def _join(self, node: Node, moved: set[int]) -> None:
        y, axis = node.outputs["y"], node.options["axis"]
        strides, start = y.strides or (), 0
        for x in node.inputs["inputs"]:
            if not self._free(x, moved):
                x = self._copied(node, x, x.dims or ())
            self._lie(x, y, strides, start * strides[axis])
            start += (x.dims or ())[axis]

    def _is_read(self, tree: Sequence[Node]) -> bool:
        """Whether strides say all results, of which none is the user's or has a layout."""
        strides: dict[int, Any] = {}
        for node in tree:
            x, y = node.inputs["input"], node.outputs["y"]
            found = self._after(node, strides.get(id(x), x.strides))
            plain = self._declared[id(y)] == packed(y.dims or ())
            if found is None or not (y.virtual and plain):
                return False
            strides[id(y)] = found[0]
        return True

    def _backward(self, tree: Sequence[Node], moved: set[int]) -> bool:
        """Have a computed tensor be written as it is read behind a chain; False if there is none.

        `tree`: its reshapes, transposes and slices.
        """
        root: Tensor = tree[0].inputs["input"]
        chain = all(a.outputs["y"] is b.inputs["input"] for a, b in pairwise(tree))
        between = all(node.outputs["y"].virtual for node in tree[:-1])
        if not (chain and between and self._free(root, moved)):
            return False
        last = tree[-1].outputs["y"]
        steps: list[tuple[Tensor, Strides]] = []
        strides: Any = last.strides
        for node in reversed(tree):
            strides = self._before(node, strides)
            if strides is None:
                return False
            steps.append((node.inputs["input"], strides))
        for x, chosen in steps:
            self._lie(x, last, chosen)
        return True

    def _forward(self, node: Node) -> None:
        x, y = node.inputs["input"], node.outputs["y"]
        if not y.virtual or y.uid in self._apart:
            y.virtual = False
            self._copy_out(node, x, y)
            return
        found = self._after(node, x.strides or ())
        if found is None:  # no strides say it: of a packed copy they do
            strides = None if self._logical(node) else self._declared[id(x)]
            x = self._copied(node, x, x.dims or (), strides)
            found = self._after(node, x.strides or ())
            assert found is not None
        self._lie(y, x, *found)

    def _copy_out(self, node: Node, x: Tensor, y: Tensor) -> None:
        """Copy a view of a tensor to memory of the user's."""
        if (found := self._after(node, x.strides or ())) is not None:
            source = self._tensor(x, y.dims or (), found[0])
            self._lie(source, x, *found)
            self._copy(node, source, y)
            return
        strides = self._before(node, y.strides or ())
        if strides is None:
            node.refuse("no strides describe it, and no engine copies it")
        target = self._tensor(x, x.dims or (), strides)
        self._lie(target, y, strides)
        self._copy(node, x, target)

    def _copied(
        self, node: Node, x: Tensor, dims: Sequence[int], strides: Strides | None = None
    ) -> Tensor:
        target = self._tensor(x, dims, strides or packed(dims))
        self._copy(node, x, target)
        return target

    def _tensor(self, like: Tensor, dims: Sequence[int], strides: Strides) -> Tensor:
        uid = next(self._uids)
        name = f"{like.name}.{uid}"
        tensor = Tensor(name, tuple(dims), strides, like.data_type, uid, virtual=False)
        self._declared[id(tensor)] = strides
        self._graph.tensors.append(tensor)
        return tensor

    def _copy(self, node: Node, source: Tensor, target: Tensor) -> None:
        options = {"mode": cudnnPointwiseMode_t.CUDNN_POINTWISE_IDENTITY}
        copy = Node(POINTWISE, "identity", node.name, {"x": source}, {"y": target}, options)
        copy.origin = node.origin or node
        self._copies.setdefault(id(node), []).append(copy)
        self._maker[id(target)] = copy

    def _after(self, node: Node, strides: Strides) -> tuple[Strides, int] | None:
        """The result's strides in the operand's memory, and elements before it; None if none."""
        x, y = node.inputs["input"], node.outputs["y"]
        if node.kind is TRANSPOSE:
            return tuple(strides[axis] for axis in node.options["permutation"]), 0
        if node.kind is SLICE:
            start, steps = node.options["start"], node.options["steps"]
            found = tuple(a * b for a, b in zip(strides, steps, strict=True))
            return found, sum(a * b for a, b in zip(start, strides, strict=True))
        if not self._logical(node):
            return (self._declared[id(y)], 0) if strides == self._declared[id(x)] else None
        new = viewed(x.dims or (), strides, y.dims or ())
        return None if new is None else (new, 0)

    def _before(self, node: Node, strides: Strides) -> Strides | None:
        """The operand's strides if it lies in the result's memory; None if none do."""
        x, y = node.inputs["input"], node.outputs["y"]
        if node.kind is TRANSPOSE:
            axes = sorted(range(x.rank), key=lambda axis: node.options["permutation"][axis])
            return tuple(strides[axis] for axis in axes)
        if node.kind is SLICE:
            return None
        if not self._logical(node):
            return self._declared[id(x)] if strides == self._declared[id(y)] else None
        return viewed(y.dims or (), strides, x.dims or ())

    def _logical(self, node: Node) -> bool:
        """Whether a reshape keeps the order of elements, not only their memory.

        So it does with other gaps, too, as both cannot be the same memory.
        """
        if node.options.get("mode") == cudnnBackendReshapeMode_t.CUDNN_RESHAPE_LOGICAL:
            return True
        ends = [
            (t.dims or (), self._declared[id(t)]) for t in (node.inputs["input"], node.outputs["y"])
        ]
        x, y = (_runs(*each, axis_order(*each)) for each in ends)
        return x != y or all(steps(n, lie) == steps(n, packed(n)) for n, lie in ends)


MAIN = {
    "operation_matmul": ("A", "B"),
    "operation_moe_grouped_matmul": ("token", "weight", "y"),
    "operation_convolution_forward": ("image", "weight", "y"),
    "operation_convolution_backward_data": ("loss", "filter", "dx"),
    "operation_convolution_backward_filter": ("image", "loss", "dw"),
    "operation_norm_forward": ("input", "y"),
    "operation_norm_backward": ("grad", "input", "dx"),
    "operation_resample_fwd": ("input", "y"),
    "operation_resample_bwd": ("loss", "dx"),
}
"""Operands and results that engines want in one type, by kinds of operations.

Where the first and the last have as many dimensions, and the last is named, both lie in one order.
"""


def orders(
    graph: Description, given: Collection[int], parts: Collection[int]
) -> dict[int, Strides]:
    """Strides of results that lie in memory in another order than what they are computed of.

    By unique id; of no tensor that is `given`, or a part of another's memory.
    """
    found: dict[int, Strides] = {}
    for node in graph.nodes:
        ports = ("input", "y") if node.kind is REDUCTION else ("", "")
        first, *_, last = MAIN.get(node.kind.descriptor, ports)
        x, y = node.inputs.get(first), node.outputs.get(last)
        if node.kind in ELEMENT_WISE:
            (y,) = node.outputs.values()
            x = next((t for t in node.operands if t.dims == y.dims and not t.by_value), None)
        if y is None or y.uid is None or y.uid in given or y.uid in parts:
            continue
        dims = y.dims or ()
        if x is None or x.rank != len(dims):
            continue
        wanted = axis_order(x.dims or (), found.get(x.uid or 0, x.strides or ()))
        strides = packed(dims, wanted)
        if not same_steps(dims, strides, y.strides or ()):
            found[y.uid] = strides
    return found


def _in_bytes(node: Node) -> bool:
    tensors = [*node.operands, *node.outputs.values()]
    return all(
        element_bits(t.data_type) >= 8 and t.vector_count == 1 and t.ragged_offset is None
        for t in tensors
    ) and not node.options.get("exchange")


def viewed(dims: Sequence[int], strides: Sequence[int], new: Sequence[int]) -> Strides | None:
    """Strides with which the same memory has other dims, elements in the same order; None if none.

    Dimensions that lie without a gap in each other are one run, which new dimensions share out.
    """
    runs = _runs(dims, strides, range(len(dims)))
    found, left, step = [0] * len(new), 1, 1
    for axis in reversed(range(len(new))):
        if left == 1 and new[axis] != 1 and runs:
            left, step = runs.pop()
        if left % new[axis]:
            return None
        found[axis] = step
        left, step = left // new[axis], step * new[axis]
    return tuple(found) if left == 1 and not runs else None


def _runs(
    dims: Sequence[int], strides: Sequence[int], axes: Sequence[int]
) -> list[tuple[int, int]]:
    """Numbers of elements, and the steps between them, of dimensions that lie in each other."""
    runs: list[tuple[int, int]] = []
    for size, step in ((dims[axis], strides[axis]) for axis in axes if dims[axis] != 1):
        if runs and runs[-1][1] == size * step:
            runs[-1] = runs[-1][0] * size, step
        else:
            runs.append((size, step))
    return runs
