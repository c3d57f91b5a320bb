"""Graphs and calls of a log or a file: how often, with which engines."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..absent_gpu.properties import preset
from ..dtypes import data_type_name, element_bits
from ..graph.describe.tensor import Tensor
from ..graph.engines.explaining.report import Column, Report, Table
from ..graph.graph import Graph
from ..graph.lower.faults import faults_of
from ..graph.lower.faults.view import Graph as View
from ..graph.lower.flattening import flattened
from ..graph.lower.target import Target
from ..raw.layouts import layout_name
from ..raw.library import version_text
from .records import CallRecord

if TYPE_CHECKING:
    from ..handle import Handle
    from .replay.calls import Replayed

LOG = "cuDNN's log"  # form of `Evidence`
CASE = "cudnn_ctypes case"  # format of a file

_ALIGNED = 16  # bytes that most engines want
_CHANNELS = 8  # of 16 bits, that are 16 bytes
_REUSED = 10  # executions of a choice for each engine that was tried


@dataclass(eq=False)
class FoundGraph:
    """One graph, and what was seen of it.

    Attributes
    ----------
    graph : Graph
    times : int
        How often it was described: finalized as an operation graph.
    executions : int
        How often a plan of it was executed.
    engines : Counter of str
        The engines of these plans with their knobs, "22 (tile_size=4)", by executions.
    engine : str
        The one that was executed last: of several that were tried, the choice.
    plans : int
        Plans that were built, each with an engine.
    refused : int
        Engines of which no plan could be built.
    seconds : float
        Time in which these plans were built.
    slow : str
        The engine that is faster than the choice, if they were timed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from cudnn_ctypes import read_evidence
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
    engine: str = ""
    plans: int = 0
    refused: int = 0
    seconds: float = 0.0
    slow: str = ""

    @property
    def text(self) -> str:
        """Its operations and the tensors with memory, on one line."""
        operations = " + ".join(node.operation for node in self.graph.nodes[:6])
        more = len(self.graph.nodes) - 6
        shapes = [f"{'x'.join(map(str, each.dims or ()))}" for each in self.memory]
        return f"{operations}{f' + {more} more' if more > 0 else ''}: {', '.join(shapes)}"

    @property
    def memory(self) -> list[Tensor]:
        """The tensors with memory."""
        return [each for each in (*self.graph.inputs, *self.graph.outputs) if not each.by_value]

    @property
    def types(self) -> str:
        """The data types of its inputs, and the layouts of images: "float16 NHWC"."""
        known = [each for each in self.memory if each.data_type is not None]
        types = Counter(data_type_name(each.data_type) for each in known)
        names = {node.operation.partition("_")[0] for node in self.graph.nodes}
        products = names & {"matmul", "sdpa"}  # their tensors are no images
        layouts = {layout for each in known if not products and (layout := _layout(each))}
        return " ".join([*(name for name, _ in types.most_common(1)), *sorted(layouts)])

    def notes(self, version: int, capability: int) -> list[str]:
        """Remarks that are worth knowing.

        Parameters
        ----------
        version, capability : int
            Of cuDNN and of the GPU: 91900 and 90.
        """
        found = [*self._about_memory()]
        if self.refused and not self.plans:
            found.append(f"no engine: {self.refused} were tried")
        if self.times > 1:
            found.append(f"described {self.times} times: a plan can be kept")
        tried, chosen = len(self.engines), self.engines[self.engine]
        if tried > 1 and chosen < _REUSED * tried:
            found.append(f"{tried} engines were tried, and the choice executed {chosen} times")
        if self.slow:
            found.append(f"slow: {self.slow}")
        with suppress(ValueError, TypeError):
            target = Target(version, capability)
            nodes = self.graph._expanded(self.graph.validate(), target, fixed=False).nodes
            faults = faults_of(View(nodes, flattened(nodes)), target).found
            found += [f"known fault: {each.fault.name}" for each in faults]
        return found

    def _about_memory(self) -> Iterator[str]:
        convolves = any("conv" in node.operation for node in self.graph.nodes)
        images = [
            each
            for each in self.memory
            if convolves and each.data_type is not None and element_bits(each.data_type) <= 16
        ]
        if any(_layout(each) == "NCHW" for each in images):
            yield "channels are not last"
        odd = {each.dims[1] for each in images if each.dims and len(each.dims) > 2}
        if odd := {each for each in odd if each % _CHANNELS}:
            yield f"{', '.join(map(str, sorted(odd)))} channels: no multiple of {_CHANNELS}"
        small = {each.alignment for each in self.memory if 0 < each.alignment < _ALIGNED}
        if small and images:
            yield f"memory is aligned to {min(small)} bytes, not {_ALIGNED}"


def _layout(tensor: Tensor) -> str:
    """The name of an image's layout; "" for other tensors, and where both are the same."""
    dims, strides = tensor.dims or (), tensor.strides or ()
    if len(dims) < 4 or tensor.data_type is None or dims[1] == 1 or set(dims[2:]) == {1}:
        return ""
    with suppress(TypeError, ValueError):
        return layout_name(dims, strides, tensor.data_type) or ""
    return ""


def _shape(held: Mapping[str, Any]) -> str:
    """The shape and data type that a descriptor of memory holds; "" for other descriptors."""
    shape = held.get("shape")
    if shape is None and "vector_size" in held:
        shape = held["max_length"], len(held["lengths"]), held["vector_size"]
    return f"{'x'.join(map(str, shape))} {held.get('data_type')}" if shape else ""


@dataclass(eq=False)
class FoundCall:
    """One call of the legacy API that computes, and how often it was made.

    - `call`: the first with these arguments, addresses of memory aside.
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
class Evidence(Report):
    """The contents of a file, or of messages of cuDNN's log.

    ``str`` gives a table, `show` prints it, and notebooks show it.

    Attributes
    ----------
    source : str
        Name of the file.
    form : str
        "cuDNN's log", "graph", "graph of NVIDIA's front end",
        "module of XLA", "stored plan", "case", or "trace".
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
    capability : int
        The compute capability of the last one: 90 for an H200; 0 if none is named.
    heuristics : Counter of str
        Queries for engines by their mode.
    calls : Counter of str
        Messages by C function.
    errors : Counter of str
        Errors by their reason.
    cut : int
        Messages without their end.
    begin, end : datetime or None
        Times of the first and of the last message.

    Examples
    --------
    >>> from pathlib import Path
    >>> from cudnn_ctypes import read_evidence
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
    capability: int = 0
    heuristics: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    cut: int = 0
    begin: datetime | None = None
    end: datetime | None = None

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
            parts.append(f"{self.calls.total():,} messages of cuDNN {versions}")
        if self.begin is not None and self.end is not None:
            parts.append(f"{(self.end - self.begin).total_seconds():.1f} s")
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

    @functools.cached_property
    def notes(self) -> list[list[str]]:
        """Remarks on each graph, by position; to be asked once all is read."""
        version = max(self.versions, default=0)
        return [each.notes(version, self.capability) for each in self.graphs]

    def as_dict(self) -> dict[str, Any]:
        """The contents as plain data for JSON."""
        graphs = [
            {
                "described": each.times,
                "executed": each.executions,
                "engines": dict(each.engines),
                "engine": each.engine,
                "plans": each.plans,
                "refused": each.refused,
                "seconds": each.seconds,
                "notes": notes,
                "graph": json.loads(each.graph.to_json()),
            }
            for each, notes in zip(self.graphs, self.notes, strict=True)
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
            "heuristics": dict(self.heuristics),
            "calls": dict(self.calls),
            "errors": dict(self.errors),
            "cut": self.cut,
        }

    # --- for `Report` --------------------------------------------------------------------------

    def _title(self) -> str:
        lines = [self.heading]
        lines += [f"not read: {count} x {why}" for why, count in self.unread.most_common()]
        if self.devices:
            lines.append(f"GPU: {', '.join(self.devices)}")
        return "\n".join(lines)

    def _tables(self) -> list[Table]:
        graphs = Table.of(_GRAPHS, enumerate(self.graphs, 1))
        return [graphs, Table.of(_CALLS, self.launches)]

    def _lines(self) -> list[str]:
        lines = []
        notes: dict[str, list[str]] = {}
        for i, told in enumerate(self.notes, 1):
            for each in told:
                notes.setdefault(each, []).append(f"#{i}")
        lines += [f"{', '.join(numbers)}: {note}" for note, numbers in notes.items()]
        if self.heuristics:
            modes = ", ".join(f"{name} {count}" for name, count in self.heuristics.items())
            lines.append(f"queries for engines: {modes}")
        return lines + [f"{count} x {why}" for why, count in self.errors.most_common(10)]


_GRAPHS = (  # of numbers and graphs
    Column("", lambda pair: f"#{pair[0]}", number=True),
    Column("described", lambda pair: str(pair[1].times), number=True, narrow=False),
    Column("executed", lambda pair: str(pair[1].executions), number=True),
    Column(
        "ms",
        lambda pair: f"{1e3 * pair[1].seconds:.1f}" if pair[1].plans else "-",
        number=True,
        narrow=False,
    ),
    Column("plans", lambda pair: str(pair[1].plans or "-"), number=True, narrow=False),
    Column("engine", lambda pair: pair[1].engine or "-"),
    Column("graph", lambda pair: pair[1].text),
    Column("types", lambda pair: pair[1].types, narrow=False),
)
_CALLS = (
    Column("called", lambda each: str(each.times), number=True),
    Column("legacy call", lambda each: each.text),
)
