"""Contents of a file of evidence: cuDNN's log, graphs of this package or of NVIDIA's front end."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from ..arguments import file_path
from ..graph.describe.serialization import canonical
from ..graph.graph import Graph
from ..raw import CUDNN_SEV_ERROR, CUDNN_SEV_INFO, cudnnBackendHeurMode_t
from ..raw.ctypes_support import short_name
from ..reference.device.backend_stored import operation_graph
from .files import CommandError, read_text
from .found import CASE, LOG, Evidence, FoundCall, FoundGraph
from .front_end_graphs import front_end_graph, front_end_text
from .log_files import LogLines, is_log, log_lines
from .logged_calls import computes, logged_call
from .logged_descriptors import Block, LoggedDescriptors, LoggedGraph, block_of, graph_json
from .messages import Message
from .recorded_graphs import graph_of
from .records import CallRecord, config_text
from .xla_graphs import has_calls, xla_graphs

_EXECUTED = re.compile(r"\bengine_id: type=int; val=(\d+)")
_KNOB = re.compile(r"\bCUDNN_KNOB_TYPE_(\w+): type=int; val=(-?\d+)")
_VALUE = re.compile(r" uid: \S+ val=(\d+);(?:\n(?! *uid:).*)*?\n *value: type=\w+; val=([^;]+);")
_CAPABILITY = re.compile(r"\bdeviceVer: type=int; val=(\d+)")
_HEURISTICS = re.compile(r"CUDNN_ATTR_ENGINEHEUR_MODE(?:.*\n)+? *\[0\]: \S+ val=(\d+);")
_PLAN = "descriptor: type=CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:"
_DEVICE = re.compile(r'\bdeviceName: type=string; val="([^"]+)"')


class Reader:
    """The evidence in messages of cuDNN's log, one after the other."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._descriptors = LoggedDescriptors()
        self._known: dict[str, FoundGraph] = {}
        self._by_tensors: dict[Any, FoundGraph] = {}
        self._by_block: dict[Block, FoundGraph] = {}
        self._launches: dict[str, FoundCall] = {}
        self._building: dict[tuple[int, int], tuple[FoundGraph, datetime]] = {}  # by thread

    def hear(self, message: Message) -> None:
        """Take in a message."""
        told, name = self._evidence, message.function
        told.versions[message.version] += 1
        told.calls[name] += 1
        told.begin, told.end = told.begin or message.time, message.time
        if message.severity == CUDNN_SEV_ERROR:
            told.errors[f"{name}: {(message.reasons or ('',))[0]}"] += 1
        if name == "cudnnBackendFinalize":
            self._finalized(message)
        elif name == "cudnnBackendSetAttribute" and (mode := _HEURISTICS.search(message.text)):
            told.heuristics[short_name(cudnnBackendHeurMode_t(int(mode[1])))] += 1
        for logged in self._descriptors.hear(message):
            self._found(logged)
        if computes(name) and (call := logged_call(message)) is not None:
            self.launched(call)
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
        self._by_tensors[frozenset(str(each.uid) for each in graph.tensors)] = found
        self._by_block[logged.block] = found

    def launched(self, call: CallRecord) -> None:
        """Take in a call of the legacy API."""
        key = json.dumps([call.function, [_without_address(each.value) for each in call.arguments]])
        found = self._launches.get(key)
        if found is None:
            found = self._launches[key] = FoundCall(call)
            self._evidence.launches.append(found)
        else:
            found.times += 1

    def _finalized(self, message: Message) -> None:
        """Note how long a plan is being built, and whether it can be."""
        key = message.process, message.thread
        if _PLAN in message.text[:200]:
            graph, _, _ = self._graph_of(message.text)
            if graph is not None:
                self._building[key] = graph, message.time
        elif key in self._building and message.severity in (CUDNN_SEV_INFO, CUDNN_SEV_ERROR):
            graph, begun = self._building.pop(key)
            graph.seconds += max((message.time - begun).total_seconds(), 0.0)
            failed = message.severity == CUDNN_SEV_ERROR
            graph.plans += not failed
            graph.refused += failed

    def _graph_of(self, text: str) -> tuple[FoundGraph | None, Block, Block]:
        """The graph of a plan that a message prints, and its lines, without and with numbers."""
        at = text.find("opGraph: type=")
        printed = block_of(text[text.rfind("\n", 0, at) + 1 :]) if at >= 0 else None
        if printed is None:
            return None, (), ()
        block = tuple(each for each in printed[1] if not each.lstrip().startswith("value: "))
        return self._by_block.get(block), block, printed[1]

    def _executed(self, message: Message) -> None:
        text = message.text
        if device := _DEVICE.search(text):
            self._evidence.devices[device[1]] += 1
        if capability := _CAPABILITY.search(text):
            self._evidence.capability = int(capability[1]) // 10
        graph, block, printed = self._graph_of(text)
        engine = _EXECUTED.search(text)
        if graph is None or engine is None:
            return
        knobs = {name.lower(): value for name, value in _KNOB.findall(text)}
        graph.executions += 1
        graph.engine = config_text(engine[1], knobs)
        graph.engines[graph.engine] += 1
        if len(block) < len(printed):
            values = dict(_VALUE.findall("\n".join(printed)))
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


def read_evidence(source: str | os.PathLike[str] | Iterable[Message]) -> Evidence:
    """The graphs and calls in a file, or in messages that `log_messages` collected.

    Parameters
    ----------
    source : path, or iterable of Message
        cuDNN's log (``CUDNN_LOGLEVEL_DBG=3``) of any program and any cuDNN 9, also with the
        program's own output between, of several processes, cut off, or compressed by gzip; a graph
        that ``Graph.to_json`` wrote; one that NVIDIA's front end printed; an optimized module that
        XLA dumped; a plan that was stored; a case; or the calls that ``trace --json`` wrote. A log
        is read in constant memory, whatever its size.

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
        reader = Reader(Evidence("messages", LOG))
        for message in source:
            reader.hear(message)
        return reader.finish()
    path = file_path("source", source)
    if is_log(path):
        lines, reader = LogLines(), Reader(Evidence(str(path), LOG))
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
        if has_calls(text):
            return _of_xla(str(path), text)
        if text.startswith("{") and '"operationGraph"' in text[:_LOOKED_AT]:
            return Evidence(str(path), "stored plan", [_of_plan(text)])
        if text.startswith("{") and CASE in text[:_LOOKED_AT]:
            from .cases import Case

            return replace(Case.from_json(text).evidence, source=str(path))
        if text.startswith('{"cudnn_ctypes_trace"'):
            from .tracing import records

            reader = Reader(Evidence(str(path), "trace"))
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


def _of_xla(source: str, text: str) -> Evidence:
    evidence = Evidence(source, "module of XLA")
    for found in xla_graphs(text):
        if isinstance(found, str):
            evidence.unread[found] += 1
        else:
            evidence.graphs.append(FoundGraph(found[0], engine=found[1]))
    return evidence


_LOOKED_AT = 200  # characters of a file, which tell its format


def _of_plan(text: str) -> FoundGraph:
    """The graph of a plan that cuDNN wrote as JSON, with its engine."""
    engine = json.loads(text).get("engine", {})
    knobs = engine.get("knobChoices", {})
    named = [f"{name.removeprefix('CUDNN_KNOB_TYPE_').lower()}={knobs[name]}" for name in knobs]
    number = str(engine.get("engineId", ""))
    said = f"{number} ({', '.join(named)})" if named else number
    return FoundGraph(graph_of(operation_graph(text), "plan"), engine=said)
