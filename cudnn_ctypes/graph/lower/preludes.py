"""Small graphs that run before the main one, for operands that engines would misread.

The main graph gets a tensor in the workspace in place of such an operand: what was computed from
small operands alone, a copy along a dimension in which the operand broadcasts in part only, one in
another data type, or indices that engines count wrong. Outputs smaller than the result are written
by such graphs, too.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import replace

from ...dtypes import element_bits
from ...raw import cudnnDataType_t, cudnnPointwiseMode_t
from ...raw.strides import axis_order, packed
from ..describe.node import Node
from ..describe.operations.pointwise import POINTWISE
from ..describe.tensor import Tensor
from .broadcasts import (
    APART,
    OUTPUT,
    Side,
    apart,
    computed_of_norms,
    numbers_of_sequences,
    parameters_of_two_types,
    sides,
)
from .expand.expansion import Expansion, Prelude
from .flattening import tensors_of


def prepared(expansion: Expansion, others: Sequence[Tensor] = ()) -> Expansion:
    """The same graph with `preludes`; as it is if engines misread nothing of it.

    `others` are tensors of the graph that it is a part of.
    """
    expansion = _results_first(expansion)
    made = _Preparation(expansion, others)
    made.separate()
    for side in sides(made.nodes):
        made.count(side)
    while any(made.write(side) for side in sides(made.nodes)):
        pass  # what is left has other sides
    made.compute_all()
    for operand in computed_of_norms(made.nodes):
        side = Side("plain", made.nodes, operand.dims or ())
        reason = f"{operand.name!r}: norms lose the context with computed operands"
        made.take_out(side, operand, reason, made.type_of_weight(operand))
    while unlike := parameters_of_two_types(made.nodes):
        made.widen(*unlike[0])
    while made.copy_all():
        made.compute_all()  # beside a copy engines see other dimensions
    for node, number in numbers_of_sequences(made.nodes):
        made.copy_number(node, number)
    made.separate()  # what read an operand that is computed beforehand now
    return made.expansion() if made.preludes else expansion


_MODES = {
    name: cudnnPointwiseMode_t[f"CUDNN_POINTWISE_{name}"]
    for name in ("ADD", "MUL", "MAX", "MIN", "SUB", "NEG")
}
_COMMUTATIVE = {_MODES[name] for name in ("ADD", "MUL", "MAX", "MIN")}


def _results_first(expansion: Expansion) -> Expansion:
    """Operations behind a norm, its result before their other operands where both may stand so.

    What is taken from a whole operand is negated and added.
    """
    made, found, tensors = set(), [], list(expansion.tensors)
    for node in expansion.nodes:
        known = [id(each) in made for each in node.operands]
        if node.kind is POINTWISE and known == [False, True]:
            (result,), first, second = node.outputs.values(), node.inputs["x"], node.inputs["b"]
            options = node.options
            if options["mode"] == _MODES["SUB"] and first.dims == result.dims:
                uid = 1 + max(each.uid or 0 for each in tensors)
                negative = replace(second, name=f"{node.name}.negative", uid=uid, virtual=True)
                tensors.append(negative)
                opposite = {"mode": _MODES["NEG"]}
                results = {"y": negative}
                found.append(replace(node, inputs={"x": second}, outputs=results, options=opposite))
                second, options = negative, {**options, "mode": _MODES["ADD"]}
            if options["mode"] in _COMMUTATIVE:
                node = replace(node, inputs={"x": second, "b": first}, options=options)
        if any(known) or node.kind.descriptor == "operation_norm_forward":
            made |= {id(each) for each in node.outputs.values()}
        found.append(node)
    return replace(expansion, nodes=found, tensors=tensors)


_COPY = "copy"
_COUNTED = 1 << 24  # integers that float32 has


class _Preparation:
    """The nodes of a graph while tensors are taken out of it."""

    def __init__(self, expansion: Expansion, others: Sequence[Tensor]) -> None:
        self._whole = expansion
        self._others = others
        self.nodes = list(expansion.nodes)
        self.tensors = list(expansion.tensors)
        self.preludes: list[Prelude] = []

    def expansion(self) -> Expansion:
        return replace(
            self._whole, nodes=self.nodes, tensors=self.tensors, preludes=tuple(self.preludes)
        )

    def separate(self) -> None:
        """Compute what hangs together with nothing else in graphs of their own."""
        for part in apart(self.nodes):
            (result,) = part[-1].outputs.values()
            self.nodes = [node for node in self.nodes if node not in part]
            self._add(part, result, f"{result.name!r}: {APART}")

    def compute_all(self) -> None:
        """Compute small operands on all sides."""
        for side in sides(self.nodes):
            self.compute(side)

    def copy_all(self) -> bool:
        """Copy what is misread on all sides; whether something was."""
        done = len(self.preludes)
        for side in sides(self.nodes):
            self.copy(side)
        return len(self.preludes) > done

    def compute(self, side: Side) -> None:
        """Take out what is computed from small operands alone, if something of it is misread."""
        if side.unread and side.before is not None:
            self.take_out(side, side.before, side.unread)
            return
        for root in side.roots():
            if reason := side.reads_wrong(root):
                self.take_out(side, root, f"{root.name!r}: {reason}")

    def write(self, side: Side) -> bool:
        """Take out an output that is smaller than the result, if there is one.

        Engines write it from many blocks at once, beside operations with other results.
        """
        whole = side.family != "plain" or any(
            not side.small(each) for node in side.nodes for each in node.outputs.values()
        )
        for node in side.nodes if whole else ():
            (y,) = node.outputs.values()
            larger = any(map(operator.gt, y.dims or (), side.full))  # a result that broadcasts
            if side.small(y) and not (y.virtual or larger):
                self._add(side.behind(y), y, f"{y.name!r}: {OUTPUT}")
                self.nodes.remove(node)
                self._leave_out_unread()
                return True
        return False

    def count(self, side: Side) -> None:
        """Count indices that engines count wrong in a line, where all count right, in float32."""
        for node in (each for each in side.nodes if each in self.nodes):  # both operands may be one
            axis, (y,) = node.options.get("axis"), node.outputs.values()
            reason, dims = side.misread(y), y.dims or ()
            if axis is None or not reason or dims[axis] > _COUNTED:
                continue
            line = self._scratch((1, 1, dims[axis]), y, range(3))
            line.data_type = cudnnDataType_t.CUDNN_DATA_FLOAT
            nothing = self._nothing((1, 1, dims[axis]), line, range(3))
            counting = replace(
                node,
                inputs={"x": nothing},
                outputs={"y": line},
                options={**node.options, "axis": 2},
                compute_data_type=line.data_type,
            )
            self._add([counting], line, f"{y.name!r}: {reason}")
            sizes = tuple(size if each == axis else 1 for each, size in enumerate(dims))
            index = replace(line, dims=sizes, strides=packed(sizes))
            users = [each for each in self.nodes if any(t is y for t in each.operands)]
            # What follows reads one number right, but not one that constants were added to.
            plain = math.prod(dims) == 1 or all(_meets_a_whole_tensor(side, n, y) for n in users)
            if y.virtual and plain:
                self._exchange(y, index, users)
                self.nodes.remove(node)
                continue
            self.nodes[self.nodes.index(node)] = replace(
                node,
                inputs={"x": self._nothing(dims, line, side.order), "b": index},
                options={"mode": _MODES["ADD"]},
                compute_data_type=line.data_type,
            )

    def type_of_weight(self, operand: Tensor) -> cudnnDataType_t | None:
        """Give a scale the type of its gradient: engines know no other."""
        found = (node for node in self.nodes if node.inputs.get("scale") is operand)
        return next((n.outputs["dscale"].data_type for n in found if "dscale" in n.outputs), None)

    def take_out(
        self, side: Side, root: Tensor, reason: str, data_type: cudnnDataType_t | None = None
    ) -> None:
        """Compute a tensor in a graph of its own; its own data type is the default.

        So are outputs on the way to it: the rest of the graph reads them from memory.
        """
        nodes = side.behind(root)
        written = [n for n in nodes if not any(each.virtual for each in n.outputs.values())]
        self.nodes = [node for node in self.nodes if node not in written]
        if not root.virtual:
            self._add(nodes, root, reason)
            self._leave_out_unread()
            return
        given = [t for node in nodes for t in node.operands if not (t.virtual or t.by_value)]
        widest = max(given, key=lambda each: math.prod(each.dims or ()), default=root)
        order = _order(side, widest)
        result = self._scratch(root.dims or (), root, order)
        result.data_type = data_type or root.data_type
        inner = [self._reading(node, {id(root): result}) for node in nodes]
        self._add(inner, result, reason)
        self._exchange(root, result, self.nodes)
        self._leave_out_unread(result)
        if side.family == "pool" and len(self.nodes) == 1 and order[-1] != 1:
            # An engine that is no fusion takes all to be of the operand's type.
            (pooled, *_) = self.nodes[0].outputs.values()
            result.data_type = pooled.data_type

    def _leave_out_unread(self, made: Tensor | None = None) -> None:
        """Leave out operations of whose results nobody reads one, and those that make `made`.

        Others need the results of the rest, too.
        """
        while True:
            read = {id(each) for node in self.nodes for each in node.operands}
            unread = [
                node
                for node in self.nodes
                if (
                    node.kind.descriptor == "operation_pointwise"
                    and all(each.virtual and id(each) not in read for each in node.outputs.values())
                )
                or any(each is made for each in node.outputs.values())
            ]
            if not unread:
                break
            self.nodes = [node for node in self.nodes if node not in unread]

    def copy(self, side: Side) -> None:
        """Copy operands along dimensions in which they broadcast in part only.

        Not those of a small result, which would be larger than it.
        """
        for node in side.nodes:
            if any(map(side.small, node.outputs.values())):
                continue
            for operand in list(node.operands):
                given = not operand.virtual and side.maker(operand) is None
                reason = given and side.misread(operand, node)
                if not reason or element_bits(operand.data_type) < 8:
                    continue
                dims = _target(side, operand)
                copied = operand
                order = _order(side, operand)
                for step in _steps(operand.dims or (), dims, order):
                    result = self._scratch(step, operand, order)
                    self._copy(copied, result, node, order, f"{operand.name!r}: {reason}")
                    copied = result
                side.nodes = self._exchange(operand, copied, side.nodes)
                self.copy(side)
                return

    def copy_number(self, node: Node, number: Tensor) -> None:
        """Copy numbers of attention's sequences along queries, or along keys if there is one."""
        dims, full = list(number.dims or ()), next(iter(node.outputs.values())).dims or ()
        axis = 2 if full[2] > 1 else 3
        dims[axis] = full[axis]
        order = range(len(dims))
        copied = self._scratch(dims, number, order)
        reason = f"{number.name!r}: it is a number for each sequence, which engines exchange"
        self._copy(number, copied, node, order, reason)
        self._exchange(number, copied, [node])

    def widen(self, node: Node, parameter: Tensor) -> None:
        """Copy a norm's scale or bias to float32, which both are then."""
        dims = parameter.dims or ()
        order = axis_order(dims, parameter.strides or ())
        copied = self._scratch(dims, parameter, order)
        copied.data_type = cudnnDataType_t.CUDNN_DATA_FLOAT
        reason = f"{parameter.name!r}: norms read the bias in the data type of the scale"
        self._copy(parameter, copied, node, order, reason)
        self._exchange(parameter, copied, self.nodes)

    def _exchange(self, old: Tensor, new: Tensor, nodes: Sequence[Node]) -> list[Node]:
        """Put another tensor into some of the operations; as they are then."""
        places = [place for place, each in enumerate(self.nodes) if each in nodes]
        for place in places:
            self.nodes[place] = self._reading(self.nodes[place], {id(old): new})
        return [self.nodes[place] for place in places]

    def _scratch(self, dims: Sequence[int], like: Tensor, order: Sequence[int]) -> Tensor:
        """A tensor in the workspace, packed."""
        tensor = Tensor(
            name=f"{like.name}.{len(self.preludes)}",
            dims=tuple(dims),
            strides=packed(dims, order),
            data_type=like.data_type,
            scratch=True,
        )
        known = (*self.tensors, *self._others)
        tensor.uid = 1 + max(each.uid or 0 for each in known)
        self.tensors.append(tensor)
        return tensor

    def _nothing(self, dims: Sequence[int], like: Tensor, order: Sequence[int]) -> Tensor:
        """Negative zeros: what is added to them stays as it is, even its signs."""
        nothing = self._scratch(dims, like, order)
        nothing.value = -0.0
        return nothing

    def _add(self, nodes: list[Node], result: Tensor, reason: str) -> None:
        inner = replace(self._whole, nodes=nodes, tensors=tensors_of(nodes))
        if nodes[-1].operation != _COPY:
            inner = prepared(inner, (*self.tensors, *self._others))
        known = {id(each) for each in self.tensors}
        self.tensors += [each for each in inner.tensors if each.scratch and id(each) not in known]
        self.preludes += inner.preludes
        self.preludes.append(Prelude(replace(inner, preludes=()), result, reason))

    def _copy(
        self, source: Tensor, result: Tensor, node: Node, order: Sequence[int], reason: str
    ) -> None:
        """Copy a tensor along dimensions of another."""
        given, dims = source.dims or (), result.dims or ()
        inner = next((axis for axis in reversed(order) if dims[axis] != 1), order[-1])
        operands = {"x": source}
        if given[inner] != 1 or math.prod(given) == 1:
            mode = "IDENTITY"
        else:  # right only beside a whole tensor
            mode, operands = "ADD", {"x": self._nothing(dims, result, order), "b": source}
        options = {"mode": cudnnPointwiseMode_t[f"CUDNN_POINTWISE_{mode}"]}
        name = f"{node.name}.{result.name}"
        copying = Node(POINTWISE, _COPY, name, operands, {"y": result}, options)
        self._add([copying], result, reason)

    @staticmethod
    def _reading(node: Node, exchanged: dict[int, Tensor]) -> Node:
        """The node with other tensors."""
        if not any(id(each) in exchanged for each in (*node.operands, *node.outputs.values())):
            return node
        return replace(
            node,
            inputs={port: exchanged.get(id(each), each) for port, each in node.inputs.items()},
            outputs={port: exchanged.get(id(each), each) for port, each in node.outputs.items()},
        )


def _meets_a_whole_tensor(side: Side, node: Node, tensor: Tensor) -> bool:
    """Whether an operation has another operand that is no smaller than its result."""
    others = [each for each in node.operands if each is not tensor]
    return any(not (side.small(each) or side.misread(each)) for each in others)


def _order(side: Side, source: Tensor) -> tuple[int, ...]:
    """The axes of a tensor that is made of another: those of the side, or of the other.

    Engines for element-wise operations alone read and write in one order.
    """
    if side.in_order(source):
        return side.order
    return axis_order(source.dims or (), source.strides or ())


def _target(side: Side, operand: Tensor) -> tuple[int, ...]:
    """The smallest dims that engines read right: whole along more dimensions."""
    dims, spread = list(operand.dims or ()), side.spread(operand)
    grown = [group for group, kind in zip(side.groups, spread, strict=True) if kind == "x"]
    if not grown:
        missing = [g for g, kind in zip(side.groups, spread, strict=True) if kind == "1"]
        grown = [min(missing, key=lambda group: math.prod(side.full[axis] for axis in group))]
    for group in grown:
        for axis in group:
            dims[axis] = side.full[axis]
    return tuple(dims)


def _steps(
    dims: Sequence[int], target: Sequence[int], order: Sequence[int]
) -> list[tuple[int, ...]]:
    """The dims of the copies on the way, each broadcast along neighbouring axes only."""
    runs: list[list[int]] = []
    before = None
    for axis in order:
        if target[axis] == 1:
            continue
        if dims[axis] == 1:
            if before is None or dims[before] != 1:
                runs.append([])
            runs[-1].append(axis)
        before = axis
    found, made = [], list(dims)
    for run in reversed(runs):
        for axis in run:
            made[axis] = target[axis]
        found.append(tuple(made))
    return found
