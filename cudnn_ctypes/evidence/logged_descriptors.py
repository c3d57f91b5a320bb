"""The backend descriptors in cuDNN's log: what was set in each, found by what cuDNN prints of it.

cuDNN prints no address of the descriptor that a call is about, only what it holds. So a descriptor
is known by its text, and an attribute's descriptor by the text that the attribute adds to its
owner's. All attributes come from the calls that set them, by C's names.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from ..raw import cudnnBackendAttributeName_t as Name
from ..raw import cudnnBackendAttributeType_t as Type
from ..raw import cudnnBackendDescriptorType_t as Kind
from ..raw.attributes import kind_name, owner_and_short_name
from ..reference.device.backend_records import Record
from .messages import LoggedArgument, Message

Block = tuple[str, ...]
"""The lines that cuDNN prints of a descriptor, the first with its kind, without common indents."""

_OPENING = re.compile(r"(?m)^( +)([^:\n]*): type=(CUDNN_BACKEND_\w+_DESCRIPTOR):$")
_KINDS = {kind.name: kind for kind in Kind}
_HEARD = ("cudnnBackendSetAttribute", "cudnnBackendFinalize", "cudnnBackendDestroyDescriptor")
_KEPT = 1 << 16  # finalized descriptors that are remembered of one process
_TENSOR = "CUDNN_BACKEND_TENSOR_DESCRIPTOR"
_PARTS = {
    *("tensor", "convolution", "matmul", "pointwise", "reduction", "resample", "rng"),
    "operationgraph",
}


def block_of(
    text: str, wanted: Callable[[Kind], bool] = lambda kind: True
) -> tuple[Kind, Block] | None:
    """The first descriptor that is printed in a text, if its kind is wanted: that and its lines."""
    found = _OPENING.search(text)
    kind = _KINDS.get(found[3]) if found else None
    if found is None or kind is None or not wanted(kind):
        return None
    margin, lines = len(found[1]), [found[3]]
    for line in text[found.end() + 1 :].split("\n"):
        if len(line) - len(line.lstrip()) <= margin or not line.strip():
            break
        if " block_size: " not in line:  # cuDNN turns sizes of blocks around once a graph has them
            lines.append(line[margin:])
    return kind, tuple(lines)


@dataclass(frozen=True)
class _Child:
    """A descriptor printed in a descriptor, and what it is called there."""

    label: str
    kind: str
    block: Block


def _children(block: Block) -> list[_Child]:
    """The descriptors printed directly in a descriptor."""
    found: list[tuple[str, list[str]]] = []
    depth = 0
    for line in block[1:]:
        indent = len(line) - len(line.lstrip())
        if found and depth and indent > depth:
            found[-1][1].append(line[depth:])
            continue
        opening = _OPENING.match(line)
        depth = len(opening[1]) if opening else 0
        if opening:
            found.append((opening[2], [opening[3]]))
    return [_Child(label, lines[0], tuple(lines)) for label, lines in found]


def _child(
    kind: str, stem: str, count: int, added: Sequence[_Child], new: Sequence[_Child]
) -> _Child | None:
    """The printed descriptor that an attribute was set to; None if that cannot be told.

    cuDNN prints some tensors late, or never. What was set may be printed as what was not: a
    descriptor of the defaults.
    """
    fresh = [each for each in added if each.kind == kind]
    named = [each for each in fresh if _stem(each.label) == stem]
    if named or len(fresh) == 1 or (fresh and count > 1):
        return (named or fresh)[0]
    alike = [each for each in new if each.kind == kind]
    return alike[0] if len(alike) == 1 and kind != _TENSOR else None


@dataclass(eq=False)
class _Open:
    """A descriptor that is being described.

    - `block`: what cuDNN printed of it last; empty before the first call about it.
    - `pending`: the attribute that was set last to descriptors, and their kinds and addresses.
    """

    record: Record
    block: Block = ()
    pending: tuple[Name, list[tuple[str, Any]]] | None = None
    last: tuple[Name, Any] | None = None


@dataclass(frozen=True)
class LoggedGraph:
    """An OPERATIONGRAPH descriptor: what was set in it, and how cuDNN prints it."""

    record: Record
    block: Block


_ALIKE = 64  # of those that are remembered


@dataclass(eq=False)
class _Alike:
    """Finalized descriptors of which cuDNN prints the same, though they may differ, as in an axis.

    - `unused`, `used`: those that nothing has been set to, and the others, oldest first.
    """

    unused: list[Record] = field(default_factory=list)
    used: list[Record] = field(default_factory=list)

    def add(self, record: Record) -> None:
        self.unused.append(record)
        del self.unused[:-_ALIKE], self.used[:-_ALIKE]

    def use(self, known: Record | None) -> Record | None:
        """The one that is set now: an unused one, else `known`; None if it cannot be told."""
        found = self.unused[:] or [each for each in self.used if each is known] or self.used
        if not found or any(each.values != found[0].values for each in found):
            return None
        if self.unused:
            self.used.append(self.unused.pop(0))
        return found[0]

    def remove(self) -> bool:
        """Forget one that was destroyed; whether any is left."""
        (self.used or self.unused).pop(0)
        return bool(self.used or self.unused)


@dataclass(eq=False)
class _Process:
    """The descriptors of one process."""

    open: dict[int, list[_Open]] = field(default_factory=lambda: defaultdict(list))  # by thread
    finalized: dict[Block, _Alike] = field(default_factory=dict)
    by_address: dict[Any, Record] = field(default_factory=dict)
    changed: dict[int, _Open] = field(default_factory=dict)  # by the last call of each thread
    graphs: dict[int, LoggedGraph] = field(default_factory=dict)  # just finalized, by thread

    def complete(self, graph: Record, told: Mapping[str, Any]) -> None:
        """Find tensors of operations that cuDNN did not print, by its JSON of the graph."""
        tensors = {str(each.get("name")): each for each in told.get("tensors", ())}
        for record in graph.all(Name.CUDNN_ATTR_OPERATIONGRAPH_OPS):
            if record is None:
                continue
            unknown = [name for name, (_, values) in record.values.items() if None in values]
            node = _node_of(record, told.get("nodes", ())) if unknown else {}
            for name in unknown:
                type_, values = record.values[name]
                uids = [uid for key, uid in node.items() if _stem(key) == _stem(_short(name))]
                found = [self._tensor(tensors[uid]) for uid in uids if uid in tensors]
                if len(found) == len(values):
                    record.values[name] = type_, tuple(found)

    def supply(self, graph: Record) -> None:
        """Take the operations that a message has no room for from those that nothing has."""
        name = Name.CUDNN_ATTR_OPERATIONGRAPH_OPS
        type_, operations = graph.values[name]
        count = operations.count(None)
        unused = [record for each in self.finalized.values() for record in each.unused]
        unused = [each for each in unused if each.kind and "_OPERATION_" in each.kind.name]
        if 0 < count <= len(unused):
            known = tuple(each for each in operations if each is not None)
            graph.values[name] = type_, (*known, *unused[-count:])

    def _tensor(self, told: Mapping[str, Any]) -> Record | None:
        """The tensor that JSON describes."""
        for alike in self.finalized.values():
            for each in (*alike.unused, *alike.used):
                dims, uid = each.all(_DIMS), each.one(_UID)
                if str(uid) == told["name"] and list(dims) == told.get("dim"):
                    return each
        return None


_DIMS, _UID = Name.CUDNN_ATTR_TENSOR_DIMENSIONS, Name.CUDNN_ATTR_TENSOR_UNIQUE_ID


def _node_of(record: Record, nodes: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The operation in JSON, which has another order: the one with the same tensors."""
    known = {
        str(each.one(_UID))
        for _, values in record.values.values()
        for each in values
        if isinstance(each, Record) and each.all(_DIMS)
    }
    assert record.kind is not None
    alike = [
        node
        for node in nodes
        if node.get("operation") == record.kind.name
        and known <= {each for each in node.values() if isinstance(each, str)}
    ]
    return alike[0] if len(alike) == 1 else {}


def _short(name: Name) -> str:
    return owner_and_short_name(name)[1]


def _stem(word: str) -> str:
    """Common part of an attribute and its counterpart in JSON: "seed" of "seedTensor"."""
    plain = re.sub(r"desc|tensor|gemm|running|_", "", word.lower())
    return plain.replace("output", "out").replace("input", "in").replace("run", "")


def graph_json(message: Message) -> dict[str, Any]:
    """The graph that cuDNN's log has as JSON: its tensors and nodes; nothing if it is damaged."""
    begin = message.text.find("{")
    try:
        told = json.JSONDecoder().raw_decode(message.text, begin)[0] if begin >= 0 else {}
    except ValueError:
        told = {}
    graph = told.get("operationGraph", {})
    return graph if isinstance(graph, dict) else {}


class LoggedDescriptors:
    """The descriptors of a log, message by message."""

    def __init__(self) -> None:
        self._processes: dict[int, _Process] = defaultdict(_Process)
        self._caller = 0, 0  # process and thread of the last message

    def hear(self, message: Message) -> Iterator[LoggedGraph]:
        """Take in a message; yields the operation graphs that are whole then."""
        cut = not message.process  # cuDNN cuts messages off at 64 KiB; their end has the numbers
        if cut:
            message = replace(message, process=self._caller[0], thread=self._caller[1])
        self._caller = message.process, message.thread
        process = self._processes[message.process]
        graph = process.graphs.pop(message.thread, None)
        if graph is not None:
            if message.function == "cudnnBackendFinalizeGraphVisualize":
                process.complete(graph.record, graph_json(message))
            yield graph
        opened = process.open[message.thread]
        if message.function == "cudnnBackendCreateDescriptor":
            self._create(opened, message)
            return
        if message.function not in _HEARD:
            return
        found = block_of(message.text, _matters)
        if found is None:
            if message.status and message.function == "cudnnBackendSetAttribute":
                self._undo(process.changed.pop(message.thread, None))
            return
        kind, block = found
        target = _target(opened, kind, block)
        if message.function == "cudnnBackendDestroyDescriptor":
            self._destroy(process, opened, target, block)
            return
        if target is None:
            return
        self._settle(process, target, block)
        if cut and kind == Kind.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
            process.supply(target.record)
        if message.function == "cudnnBackendSetAttribute":
            self._set(target, message)
            process.changed[message.thread] = target
        elif message.function == "cudnnBackendFinalize":
            opened.remove(target)
            target.record.finalized = True
            if len(process.finalized) >= _KEPT:
                process.finalized.pop(next(iter(process.finalized)))
            process.finalized.setdefault(block, _Alike()).add(target.record)
            if kind == Kind.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
                process.graphs[message.thread] = LoggedGraph(target.record, block)

    def rest(self) -> Iterator[LoggedGraph]:
        """The graphs that the last messages finalized."""
        for process in self._processes.values():
            yield from process.graphs.values()
            process.graphs.clear()

    def _create(self, opened: list[_Open], message: Message) -> None:
        kind = message.arguments.get("descriptorType")
        if kind is not None and isinstance(kind.value, Kind) and _matters(kind.value):
            opened.append(_Open(Record(kind.value)))
            del opened[:-_KEPT]

    def _destroy(
        self, process: _Process, opened: list[_Open], target: _Open | None, block: Block
    ) -> None:
        if alike := process.finalized.get(block):
            if not alike.remove():
                del process.finalized[block]
        elif target is not None:
            opened.remove(target)

    def _set(self, target: _Open, message: Message) -> None:
        arguments = message.arguments
        name, type_ = arguments["attributeName"].value, arguments["attributeType"].value
        values = [each for key, each in arguments.items() if key.startswith("[")]
        if not isinstance(name, Name):
            return
        target.last = name, target.record.values.get(name)
        if type_ == Type.CUDNN_TYPE_BACKEND_DESCRIPTOR:
            target.pending = name, [(each.type, each.value) for each in values]
        else:
            target.record.values[name] = type_, tuple(map(_element, values))

    def _undo(self, target: _Open | None) -> None:
        """Forget the attribute that was set last: cuDNN refused it."""
        if target is None or target.last is None:
            return
        name, before = target.last
        target.pending = target.last = None
        if before is None:
            target.record.values.pop(name, None)
        else:
            target.record.values[name] = before

    def _settle(self, process: _Process, target: _Open, block: Block) -> None:
        """Find the descriptors that were set last, by what cuDNN prints of them now."""
        before, target.block = target.block, block
        if target.pending is None:
            return
        name, wanted = target.pending
        target.pending = None
        new, old = _children(block), Counter(_children(before) if before else ())
        added = list((Counter(new) - old).elements())
        values: list[Record | None] = []
        for kind, address in wanted:
            child = _child(kind, _stem(_short(name)), len(wanted), added, new)
            if child is None:
                values.append(process.by_address.get((kind, address)))
                continue
            if child in added:
                added.remove(child)
            alike = process.finalized.get(child.block)
            record = alike.use(process.by_address.get((kind, address))) if alike else None
            if record is not None:
                process.by_address[kind, address] = record
            values.append(record)
        target.record.values[name] = Type.CUDNN_TYPE_BACKEND_DESCRIPTOR, tuple(values)


@functools.cache
def _matters(kind: Kind) -> bool:
    """Whether descriptors of a kind are parts of graphs."""
    name = kind_name(kind)
    return name.startswith("operation_") or name in _PARTS


def _target(opened: Sequence[_Open], kind: Kind, block: Block) -> _Open | None:
    """The open descriptor that is printed: the one that changed least since its last call."""
    candidates = [each for each in opened if each.record.kind == kind]
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    known = [each for each in candidates if each.block]
    if not known:
        return candidates[0]
    lines = Counter(block)
    return max(known, key=lambda each: (lines & Counter(each.block)).total())


def _element(value: LoggedArgument) -> Any:
    """An element of an attribute as layer 1's records have it."""
    found = value.value
    if isinstance(found, str) and (numbers := re.findall(r"-?\d+", found)) and len(numbers) == 2:
        return Fraction(*map(int, numbers))
    return found
