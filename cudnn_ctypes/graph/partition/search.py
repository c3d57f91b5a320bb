"""The search for the graphs that a description is cut into.

Operations stand in an order in which neighbours use each other's results. Each run of them is a
graph that cuDNN may have an engine for; of all ways to cut the order into runs that have one, the
fastest by its launches and the bytes that it moves is taken, of equal ones that with fewer bytes.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

from ...dtypes import element_bits
from ...raw import cudnnDataType_t
from ..describe.description import Description
from ..describe.node import Node
from ..describe.operations.reductions import MATMUL, REDUCTION, multiplications
from ..describe.rewriting import copied
from ..describe.serialization import DATA_TYPES, canonical
from ..describe.tensor import Tensor
from ..lower.broadcasts import parts, side_by_side
from ..run.program import Part
from ..run.tensor_memory import memory_bytes
from .folding import folded
from .rewrites import NORMS, SIXTEEN, rewritten
from .support import Answer, Support
from .views import MAIN, Memory, orders

_ATTENTION = ("q", "k", "v", "o", "dO", "dq", "dk", "dv")
_PRODUCTS = 2  # of one graph
_ROUNDS = 4  # of rewriting what was rewritten, and of laying tensors in memory
_WIDE = (
    "operation_convolution",
    "operation_matmul",
    "operation_norm",
    "operation_resample",
    "operation_moe",
    "operation_causal",
)
"""Operations of which a graph with an engine has one; of products two, which are attention."""
_LONGEST = 40  # operations of one graph that is asked about
_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT


@dataclass(frozen=True, eq=False)
class Piece:
    """One of the graphs that a description is cut into.

    - `graph`: with unique ids of its own, from 1 on.
    - `uids`: these to those of the whole.
    - `key`: equal for pieces that one plan carries out.
    - `operations`: the user's.
    - `nbytes`: that it reads and writes.
    - `microseconds`: that it takes by its launches, these bytes and the work of joined products.
    - `run`: its first operation, and the first behind it, by their places in the order.
    """

    graph: Any
    uids: dict[int, int]
    key: str
    operations: tuple[str, ...]
    answer: Answer
    nbytes: int
    microseconds: float
    run: tuple[int, int]

    @property
    def engines(self) -> tuple[int, ...]:
        """Engines that carry it out, the best first."""
        return self.answer.engines

    @property
    def launches(self) -> int:
        """Launches of its plan, with the small graphs that run before it."""
        return self.answer.launches


class Cut:
    """A description on its way into pieces.

    - `graph`: stays as it is.
    - `norms`: whether norms stay norms where engines have them.

    - `rewrites`: the operations that were said in others, in words.
    """

    def __init__(self, graph: Any, support: Support, *, norms: bool = True) -> None:
        self._support = support
        self._graph = graph.replaced()
        self._graph.validate()
        said = [] if norms else [node for node in self._graph.nodes if node.kind in NORMS]
        self.rewrites: list[str] = rewritten(self._graph, said, {})

    def found(self) -> Order:
        """The last order that was tried; it has no pieces if some operation has no engine in any.

        What has none is rewritten, and all is tried again.
        """
        apart: set[int] = set()
        order = self._ordered(apart)
        for _ in range(_ROUNDS):
            if not order.pieces and (more := order.crowded() - apart):
                other = self._ordered(apart | more)
                if other.pieces or len(other.left()) < len(order.left()):
                    order, apart = other, apart | more
            stuck = [self._graph.nodes[place] for place in order.stuck()]
            told = [] if order.pieces else rewritten(self._graph, stuck, order.strides())
            if not told:
                break
            self.rewrites += told
            order = self._ordered(apart)
        return order

    def _ordered(self, apart: Set[int]) -> Order:
        """The better of two orders."""
        orders = [
            Order(self._graph, self._support, apart, small_first=each) for each in (False, True)
        ]
        return min(orders, key=lambda each: each.cost)


class Order:
    """The operations of a graph in one order, and the best way to cut it.

    - `graph`: a copy without the operations that only move elements.
    - `memory`: where its tensors lie.
    - `given`: unique ids of the tensors that an execution is given.
    - `pieces`: empty if there is no way.
    """

    def __init__(self, graph: Any, support: Support, apart: Set[int], *, small_first: bool) -> None:
        self._support = support
        strides: dict[int, tuple[int, ...]] = {}
        for _ in range(_ROUNDS):
            self.graph = graph.replaced()
            self.graph.validate()
            self.given = {t.uid or 0 for t in self.graph.tensors if not (t.virtual or t.scratch)}
            self._places = {id(node): place for place, node in enumerate(self.graph.nodes)}
            self.memory = Memory(self.graph, apart, strides)
            turned = orders(self.graph, self.given, self.memory.parts)
            if not turned:
                break
            strides |= turned
        self._nodes = self._sorted(small_first=small_first)
        self._users: dict[int, list[int]] = {}
        for place, node in enumerate(self._nodes):
            for tensor in node.operands:
                self._users.setdefault(id(tensor), []).append(place)
        self._by_uid: dict[int, Tensor] = {t.uid or 0: t for t in self.graph.tensors}
        self._types = self._types_between()
        self._runs: dict[tuple[int, int], Piece] = {}
        self.pieces: list[Piece] = self._best()

    @property
    def cost(self) -> tuple[float, int]:
        """Microseconds and bytes of the pieces; infinite if there are none."""
        if not self.pieces:
            return math.inf, 0
        return sum(p.microseconds for p in self.pieces), sum(p.nbytes for p in self.pieces)

    def strides(self) -> dict[int, tuple[int, ...]]:
        """How tensors lie in memory, by unique id."""
        return {uid: each.strides or () for uid, each in self._by_uid.items()}

    def nbytes(self, uid: int) -> int:
        """Bytes of a tensor between pieces, by its unique id."""
        tensor = copy.copy(self._tensor(uid))
        tensor.data_type = self._type(self._tensor(uid))
        return memory_bytes(tensor)

    def part(self, uid: int) -> Part:
        """Where a tensor lies in another's memory, in bytes."""
        base, elements = self.memory.parts[uid]
        return Part(base, elements * element_bits(self._type(self._tensor(base))) // 8)

    def _tensor(self, uid: int) -> Tensor:
        return self._by_uid[uid]

    def _type(self, tensor: Tensor) -> cudnnDataType_t | None:
        return self._types.get(id(tensor), tensor.data_type)

    def left(self) -> list[int]:
        """Places of the operations that are in no run with an engine."""
        done = {place for start, stop in self._runs for place in range(start, stop)}
        return [place for place in range(len(self._nodes)) if place not in done]

    def refused(self) -> tuple[str, ...]:
        """These operations with cuDNN's reason, in words."""
        told = [
            f"{self._nodes[place]} ({self._piece(place, place + 1).answer.reason})"
            for place in self.left()
        ]
        return tuple(dict.fromkeys(told))

    def stuck(self) -> list[int]:
        """These operations by their places in the user's graph."""
        left = [self._nodes[place] for place in self.left()]
        return [self._places[id(node)] for node in left if id(node) in self._places]

    def crowded(self) -> set[int]:
        """Unique ids of what these operations read or write in other tensors' memory."""
        left = [self._nodes[place] for place in self.left()]
        tensors = [t for node in left for t in (*node.operands, *node.results)]
        return {t.uid for t in tensors if t.uid in self.memory.parts}

    def _sorted(self, *, small_first: bool) -> list[Node]:
        """The operations in an order in which each stands behind what it reads.

        - `small_first`: whether all that reads small tensors alone comes before what is larger;
          else each operation goes on with the last result, of several operands with the larger.
        """
        nodes = self.graph.nodes
        writers: dict[int, list[int]] = {}
        before: list[set[int]] = []
        for place, node in enumerate(nodes):
            bases = [self.memory.in_base(t.uid or 0).base for t in node.operands]
            before.append({each for base in bases for each in writers.get(base, ())})
            for tensor in node.outputs.values():
                writers.setdefault(self.memory.in_base(tensor.uid or 0).base, []).append(place)
        sizes = [max(math.prod(t.dims or ()) for t in node.outputs.values()) for node in nodes]
        found: dict[int, Node] = {}
        if small_first:
            while left := [p for p in range(len(nodes)) if p not in found]:
                ready = [place for place in left if before[place] <= found.keys()]
                place = min(ready, key=lambda each: (sizes[each], each))
                found[place] = nodes[place]
            return list(found.values())
        for last in range(len(nodes)):
            waiting = [] if any(last in each for each in before) else [last]
            while waiting:
                place = waiting[-1]
                if missing := before[place] - found.keys():
                    waiting.append(min(missing, key=lambda each: (sizes[each], each)))
                else:
                    found[waiting.pop()] = nodes[place]
        return list(found.values())

    def _types_between(self) -> dict[int, cudnnDataType_t]:
        """Types of tensors that get memory where the graph's products and norms want 16 bits.

        What stands for a sum keeps float32: squares are soon beyond the largest float16.
        """
        wanted = [
            t.data_type
            for t in self.graph.tensors
            if not (t.virtual or t.by_value) and t.data_type in SIXTEEN
        ]
        if not wanted or self.graph.intermediate_data_type != _FLOAT:
            return {}
        narrow = max(set(wanted), key=wanted.count)
        bases = set()
        for node in self._nodes:
            if node.origin is not None:
                continue
            mains = [
                t
                for port, t in (*node.inputs.items(), *node.outputs.items())
                if port in MAIN.get(node.kind.descriptor or node.operation, _ATTENTION)
            ]
            if any(not t.virtual and t.data_type == _FLOAT and not self._between(t) for t in mains):
                continue
            bases |= {self.memory.in_base(t.uid or 0).base for t in mains}
        return {
            id(t): narrow
            for t in self.graph.tensors
            if t.data_type == _FLOAT
            and self._between(t)
            and self.memory.in_base(t.uid or 0).base in bases
        }

    def _between(self, tensor: Tensor) -> bool:
        """Whether the tensor lies in the memory of no operand or result of the whole."""
        return tensor.virtual or self.memory.in_base(tensor.uid or 0).base not in self.given

    def _best(self) -> list[Piece]:
        """The cheapest runs that have engines and together are all operations."""
        count = len(self._nodes)
        best: list[tuple[tuple[float, int], list[Piece]] | None] = [None] * (count + 1)
        best[0] = (0.0, 0), []
        for start in range(count):
            for stop in range(start + 1, min(count, start + _LONGEST) + 1):
                nodes = self._nodes[start:stop]
                if self._apart(nodes):
                    break
                if not _connected(nodes):
                    continue
                piece = self._piece(start, stop)
                if not piece.engines:
                    continue
                self._runs[start, stop] = piece
                if (known := best[start]) is None:
                    continue
                (time, nbytes), pieces = known
                cost, other = (time + piece.microseconds, nbytes + piece.nbytes), best[stop]
                if other is None or cost < other[0]:
                    best[stop] = cost, [*pieces, piece]
        last = best[count]
        return [] if last is None else last[1]

    def _apart(self, nodes: Sequence[Node]) -> str:
        """Why no engine takes these operations together, as far as their kinds tell; "" if not."""
        wide = [node for node in nodes if is_wide(node)]
        products = [node for node in wide if node.kind is MATMUL]
        sums = [node for node in nodes if node.kind is REDUCTION]
        if len(wide) > 1 and (len(products) < len(wide) or len(products) > _PRODUCTS):
            return f"no engine takes {wide[0]} and {wide[-1]} together"
        if len(sums) > 1 and len(products) < _PRODUCTS:
            return f"no engine takes {sums[0]} and {sums[-1]} together"
        return ""

    def _piece(self, start: int, stop: int) -> Piece:
        nodes = self._nodes[start:stop]
        made = {id(t) for node in nodes for t in node.results}
        graph, twins = copied(self.graph, nodes)
        for tensor in (t for node in nodes for t in (*node.operands, *node.results)):
            twin = twins[id(tensor)]
            if tensor.by_value:
                continue
            users = self._users.get(id(tensor), [])
            inside = id(tensor) in made and all(start <= place < stop for place in users)
            twin.virtual = tensor.virtual and inside
            if not twin.virtual:
                twin.data_type = self._type(tensor)
            base, elements = self.memory.in_base(tensor.uid or 0)
            if elements:
                offset = elements * element_bits(self._type(tensor)) // 8
                twin.alignment = math.gcd(self._tensor(base).alignment, offset)
        uids = _numbered(graph)
        key = key_of(graph)
        answer = self._support.of(graph, key)
        if not answer.engines and (other := folded(graph)) is not None:
            other_key = key_of(other)
            better = self._support.of(other, other_key)
            if better.engines:
                graph, answer, key = other, better, other_key
        nbytes = sum(memory_bytes(t) for t in graph.tensors if not (t.virtual or t.by_value))
        operations = tuple(dict.fromkeys(map(str, nodes)))
        cost = self._support.microseconds(answer, nbytes, _flops_of_two_products(nodes))
        return Piece(graph, uids, key, operations, answer, nbytes, cost, (start, stop))

    def reason(self, first: Piece, second: Piece) -> str:
        """Why two neighbours are not one graph."""
        (start, _), (_, stop) = first.run, second.run
        nodes = self._nodes[start:stop]
        if apart := self._apart(nodes):
            return apart
        if not _connected(nodes):
            return "no tensor that only they use connects them"
        return self._piece(start, stop).answer.reason or "more small graphs would run before it"


def is_wide(node: Node) -> bool:
    """Whether it is a product, a convolution, a norm or the like: engines take one or two."""
    return node.kind.composite or node.kind.descriptor.startswith(_WIDE)


def _connected(nodes: Sequence[Node]) -> bool:
    return len(parts(nodes, by_operands=side_by_side(nodes))) == 1


def _flops_of_two_products(nodes: Sequence[Node]) -> int:
    """Multiplications and additions of two products in one graph; 0 of one, and of attention."""
    products = [node for node in nodes if node.kind is MATMUL]
    if len(products) < _PRODUCTS or any(node.kind is REDUCTION for node in nodes):
        return 0
    return 2 * sum(map(multiplications, products))


def _numbered(graph: Description) -> dict[int, int]:
    """Number the tensors in the order of their use; returns the unique ids of before, by new."""
    every = [each for node in graph.nodes for each in (node, *node.inner)]
    used = [t for node in every for t in (*node.operands, *node.results)]
    used += [t.ragged_offset for t in used if t.ragged_offset is not None]
    tensors = list({id(t): t for t in used}.values())
    found = {}
    for uid, tensor in enumerate(tensors, 1):
        found[uid], tensor.uid = tensor.uid or 0, uid
    graph.tensors[:] = tensors
    return found


def key_of(graph: Description) -> str:
    types = [int(getattr(graph, name) or 0) for name in DATA_TYPES]
    return json.dumps([types, canonical(graph.nodes, graph.tensors)], default=str)
