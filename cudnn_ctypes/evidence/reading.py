"""Contents of a file of evidence: cuDNN's log, graphs of this package or of NVIDIA's front end."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..absent_gpu.properties import preset
from ..arguments import file_path
from ..graph.describe.serialization import canonical
from ..graph.graph import Graph
from ..raw import CUDNN_SEV_ERROR
from ..raw.describe import aligned
from ..raw.library import version_text
from .files import CommandError, read_text
from .front_end_graphs import front_end_graph, front_end_text
from .log_files import LogLines, is_log, log_lines
from .logged_calls import computes, logged_call
from .logged_descriptors import Block, LoggedDescriptors, LoggedGraph, block_of, graph_json
from .messages import Message
from .recorded_graphs import graph_of
from .records import CallRecord

if TYPE_CHECKING:
    from ..handle import Handle
    from .replay.calls import Replayed


LOG = "cuDNN's log"  # form of `Evidence`


@dataclass(eq=False)
class FoundGraph:
    """One graph of a file, and what was seen of it.

    Attributes
    ----------
    graph : Graph
    times : int
        How often it was described: finalized as an operation graph.
    executions : int
        How often a plan of it was executed.
    engines : Counter of str
        The engines of these plans with their knobs, "22 (tile_size=4)", by executions.

    Examples
    --------
    >>> from pathlib import Path
    >>> graph = Graph(io_data_type="float16")
    >>> y = graph.relu(graph.tensor((8, 64))).set_output()
    >>> _ = graph.validate()
    >>> _ = Path("relu.json").write_text(graph.to_json())
    >>> read_evidence("relu.json").graphs[0].text
    'relu: 8x64, 8x64'
    """

    graph: Graph
    times: int = 1
    executions: int = 0
    engines: Counter[str] = field(default_factory=Counter)

    @property
    def text(self) -> str:
        """Its operations and the tensors with memory, on one line."""
        operations = " + ".join(node.operation for node in self.graph.nodes[:6])
        more = len(self.graph.nodes) - 6
        shapes = [
            f"{'x'.join(map(str, each.dims or ()))}"
            for each in (*self.graph.inputs, *self.graph.outputs)
            if not each.by_value
        ]
        return f"{operations}{f' + {more} more' if more > 0 else ''}: {', '.join(shapes)}"


def _shape(held: Mapping[str, Any]) -> str:
    """The shape and data type that a descriptor of memory holds; "" for other descriptors."""
    shape = held.get("shape")
    if shape is None and "vector_size" in held:
        shape = held["max_length"], len(held["lengths"]), held["vector_size"]
    return f"{'x'.join(map(str, shape))} {held.get('data_type')}" if shape else ""


@dataclass(eq=False)
class FoundCall:
    """One call of the legacy API that computes, and how often it was made.

    Attributes
    ----------
    call : CallRecord
        The first with these arguments, addresses of memory aside.
    times : int
    """

    call: CallRecord
    times: int = 1

    @property
    def text(self) -> str:
        """Its function, and the tensors and sequences among its arguments, on one line."""
        held = [
            (each.name.removesuffix("Desc"), each.value["holds"])
            for each in self.call.arguments
            if isinstance(each.value, dict) and "holds" in each.value
        ]
        shapes = [f"{name} {_shape(each)}" for name, each in held if _shape(each)]
        cells = [str(each["cell"]) for _, each in held if "cell" in each]
        return f"{self.call.function}: {', '.join(cells + shapes)}"


@dataclass(eq=False)
class Evidence:
    """The contents of a file, or of messages of cuDNN's log.

    Attributes
    ----------
    source : str
        Name of the file.
    form : str
        "cuDNN's log", "graph", "graph of NVIDIA's front end", or "trace".
    graphs : list of FoundGraph
        In the order in which they were described; equal ones once.
    launches : list of FoundCall
        Calls of the legacy API that compute, in the order of the first of equal ones.
    unread : Counter of str
        Reasons for which further graphs could not be read.
    versions : Counter of int
        Messages by the cuDNN that wrote them: 91900 is 9.19.0.
    devices : Counter of str
        Messages by the GPU that they name.
    calls : Counter of str
        Messages by C function.
    errors : Counter of str
        Errors by their reason.
    cut : int
        Messages without their end.

    Examples
    --------
    >>> from pathlib import Path
    >>> graph = Graph(io_data_type="float16")
    >>> y = graph.relu(graph.tensor((8, 64))).set_output()
    >>> _ = graph.validate()
    >>> _ = Path("relu.json").write_text(graph.to_json())
    >>> read_evidence("relu.json").heading
    'relu.json: graph: 1 of 1 graphs were read'
    """

    source: str
    form: str
    graphs: list[FoundGraph] = field(default_factory=list)
    launches: list[FoundCall] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)
    versions: Counter[int] = field(default_factory=Counter)
    devices: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    cut: int = 0

    @property
    def preset(self) -> str | None:
        """The first GPU named whose properties are known, for the reference device."""
        for name in self.devices:
            with suppress(ValueError):
                preset(name)
                return name
        return None

    @property
    def heading(self) -> str:
        """How much was read, and of how much, on one line."""
        described = sum(each.times for each in self.graphs)
        parts = [f"{described} of {described + self.unread.total()} graphs were read"]
        if len(self.graphs) < described:
            parts[0] += f", {len(self.graphs)} different ones"
        if self.calls:
            versions = " and ".join(map(version_text, sorted(self.versions)))
            parts.append(f"{self.calls.total()} messages of cuDNN {versions}")
        if self.cut:
            parts.append(f"{self.cut} messages have no end")
        return f"{self.source}: {self.form}: {'; '.join(parts)}"

    def replay(self, handle: Handle, *, seed: int = 0) -> list[Replayed]:
        """Carry out the graphs and the calls of the legacy API, each once, with random numbers.

        Memory that calls had in common they have in common again.

        Parameters
        ----------
        handle : Handle
            The GPU or the reference device.
        seed : int
            Of the random numbers.

        Returns
        -------
        list of Replayed
            For each its status now, and the memory that it wrote.
        """
        from .replay.calls import replay, replay_graph

        graphs = [
            replay_graph(each.graph, handle, name=each.text, seed=seed) for each in self.graphs
        ]
        return [*graphs, *replay((each.call for each in self.launches), handle, seed=seed)]

    def as_dict(self) -> dict[str, Any]:
        """The contents as plain data for JSON."""
        graphs = [
            {
                "described": each.times,
                "executed": each.executions,
                "engines": dict(each.engines),
                "graph": json.loads(each.graph.to_json()),
            }
            for each in self.graphs
        ]
        return {
            "source": self.source,
            "form": self.form,
            "graphs": graphs,
            "launches": [
                {"called": each.times, "call": each.call.as_dict()} for each in self.launches
            ],
            "unread": dict(self.unread),
            "versions": {version_text(each): count for each, count in self.versions.items()},
            "devices": dict(self.devices),
            "calls": dict(self.calls),
            "errors": dict(self.errors),
            "cut": self.cut,
        }

    def __str__(self) -> str:
        lines = [self.heading]
        lines += [f"not read: {count} x {why}" for why, count in self.unread.most_common()]
        if self.devices:
            lines.append(f"GPU: {', '.join(self.devices)}")
        if self.graphs:
            rows = [("", "described", "executed", "engines", "graph")]
            for number, each in enumerate(self.graphs, 1):
                engines = ", ".join(each.engines) or "-"
                row = (f"#{number}", str(each.times), str(each.executions), engines, each.text)
                rows.append(row)
            lines += ["", aligned(rows, rows[0][:3])]
        if self.errors:
            lines += ["", *(f"{count} x {why}" for why, count in self.errors.most_common(10))]
        if self.launches:
            calls = [("called", "legacy call")]
            calls += [(str(each.times), each.text) for each in self.launches]
            lines += ["", aligned(calls, calls[0][:1])]
        return "\n".join(lines)


_EXECUTED = re.compile(r"\bengine_id: type=int; val=(\d+)")
_KNOB = re.compile(r"\bCUDNN_KNOB_TYPE_(\w+): type=int; val=(-?\d+)")
_VALUE = re.compile(r" uid: \S+ val=(\d+);(?:\n(?! *uid:).*)*?\n *value: type=\w+; val=([^;]+);")
_DEVICE = re.compile(r'\bdeviceName: type=string; val="([^"]+)"')


class _Reader:
    """The evidence in messages of cuDNN's log, one after the other."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._descriptors = LoggedDescriptors()
        self._known: dict[str, FoundGraph] = {}
        self._by_tensors: dict[Any, FoundGraph] = {}
        self._by_block: dict[Block, FoundGraph] = {}
        self._launches: dict[str, FoundCall] = {}

    def hear(self, message: Message) -> None:
        """Take in a message."""
        told, name = self._evidence, message.function
        told.versions[message.version] += 1
        told.calls[name] += 1
        if message.severity == CUDNN_SEV_ERROR:
            told.errors[f"{name}: {(message.reasons or ('',))[0]}"] += 1
        for logged in self._descriptors.hear(message):
            self._found(logged)
        if computes(name):
            self._launched(message)
        if name == "cudnnBackendExecute":
            self._executed(message)
        elif name == "cudnnBackendExecuteGraphVisualize":
            self._valued(graph_json(message).get("tensors", ()))

    def finish(self) -> Evidence:
        """The evidence, after the last message."""
        for logged in self._descriptors.rest():
            self._found(logged)
        return self._evidence

    def _found(self, logged: LoggedGraph) -> None:
        try:
            graph = graph_of(logged.record, f"graph {len(self._evidence.graphs) + 1}")
            content = canonical(graph.nodes, graph.tensors)
        except (ValueError, TypeError) as error:
            self._evidence.unread[str(error)] += 1
            return
        for tensor in content["tensors"]:
            tensor.pop("uid", None)
        key = json.dumps([content, graph.compute_data_type.name])
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = FoundGraph(graph)
            self._evidence.graphs.append(found)
        else:
            found.times += 1
        self._by_tensors[_tensors(graph)] = found
        self._by_block[logged.block] = found

    def _launched(self, message: Message) -> None:
        if (call := logged_call(message)) is not None:
            self.launched(call)

    def launched(self, call: CallRecord) -> None:
        """Take in a call of the legacy API."""
        key = json.dumps([call.function, [_without_address(each.value) for each in call.arguments]])
        found = self._launches.get(key)
        if found is None:
            found = self._launches[key] = FoundCall(call)
            self._evidence.launches.append(found)
        else:
            found.times += 1

    def _executed(self, message: Message) -> None:
        text = message.text
        if device := _DEVICE.search(text):
            self._evidence.devices[device[1]] += 1
        at, engine = text.find("opGraph: type="), _EXECUTED.search(text)
        found = block_of(text[text.rfind("\n", 0, at) + 1 :]) if at >= 0 else None
        if found is None or engine is None:
            return
        block = tuple(each for each in found[1] if not each.lstrip().startswith("value: "))
        graph = self._by_block.get(block)
        if graph is None:
            return
        knobs = ", ".join(f"{name.lower()}={value}" for name, value in _KNOB.findall(text))
        graph.executions += 1
        graph.engines[f"{engine[1]} ({knobs})" if knobs else engine[1]] += 1
        if len(block) < len(found[1]):
            values = dict(_VALUE.findall("\n".join(found[1])))
            for tensor in graph.graph.tensors:
                if tensor.by_value and tensor.value is None and str(tensor.uid) in values:
                    tensor.value = float(values[str(tensor.uid)])

    def _valued(self, tensors: Iterable[Any]) -> None:
        """Take over the numbers that tensors by value had in an execution."""
        values = {str(each.get("name")): each.get("value") for each in tensors}
        found = self._by_tensors.get(frozenset(values))
        for tensor in () if found is None else found.graph.tensors:
            value = values.get(str(tensor.uid))
            if tensor.by_value and isinstance(value, (int, float)):
                tensor.value = value


def _without_address(value: Any) -> Any:
    return "memory" if isinstance(value, dict) and "allocation" in value else value


def _tensors(graph: Graph) -> frozenset[str]:
    """The unique ids of a graph's tensors."""
    return frozenset(str(each.uid) for each in graph.tensors)


def read_evidence(source: str | os.PathLike[str] | Iterable[Message]) -> Evidence:
    """The graphs and calls in a file, or in messages that `log_messages` collected.

    Parameters
    ----------
    source : path, or iterable of Message
        cuDNN's log (``CUDNN_LOGLEVEL_DBG=3``) of any program and any cuDNN 9, also with the
        program's own output between, of several processes, cut off, or compressed by gzip; a graph
        that ``Graph.to_json`` wrote; one that NVIDIA's front end printed; or the calls that
        ``trace --json`` wrote. A log is read in constant memory, whatever its size.

    Returns
    -------
    Evidence
        It says how many graphs were read of how many, and why the others were not.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is none of these.

    Examples
    --------
    >>> from cudnn_ctypes import log_messages
    >>> with log_messages("info") as messages:
    ...     pass  # any code that uses cuDNN: PyTorch's, say
    >>> read_evidence(messages).heading
    "messages: cuDNN's log: 0 of 0 graphs were read"
    """
    if not isinstance(source, (str, os.PathLike)):
        reader = _Reader(Evidence("messages", LOG))
        for message in source:
            reader.hear(message)
        return reader.finish()
    path = file_path("source", source)
    if is_log(path):
        lines, reader = LogLines(), _Reader(Evidence(str(path), LOG))
        for message in lines.messages(log_lines(path)):
            reader.hear(message)
        evidence = reader.finish()
        evidence.cut = lines.cut
        return evidence
    try:
        text = read_text(path)
    except CommandError as error:
        raise ValueError(str(error)) from None
    theirs = front_end_text(text)
    try:
        if text.startswith('{"cudnn_ctypes_trace"'):
            from .tracing import records

            reader = _Reader(Evidence(str(path), "trace"))
            for call in records(path):
                if computes(call.function):
                    reader.launched(call)
            return reader.finish()
        if theirs is not None:
            found = FoundGraph(front_end_graph(theirs))
            return Evidence(str(path), "graph of NVIDIA's front end", [found])
        return Evidence(str(path), "graph", [FoundGraph(Graph.from_json(text))])
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
