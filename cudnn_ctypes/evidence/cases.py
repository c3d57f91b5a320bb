"""Cases: one file that holds graphs or calls, the environment, and what came of them."""

from __future__ import annotations

import copy
import functools
import json
import math
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..absent_gpu.properties import reference_gpu
from ..graph.backend.children import outcomes
from ..graph.graph import Graph
from ..handle import Handle
from ..raw import mode
from ..raw.library import load, version_text
from ..reference.device.dispatch import use_reference_device
from ..runtime import current_device
from .found import CASE, Evidence, FoundCall, FoundGraph
from .records import CallRecord
from .replay.calls import CHANCE, Replayed, replay, replay_graph

_SAMPLED = 64  # elements of an output
_SECONDS, _MEGABYTES = 300.0, 1 << 16  # of one graph, or of all calls, in a child process
_TOLERANCES = {"float64": 1e-6, "float32": 2e-3, "float16": 2e-2, "bfloat16": 5e-2}
"""Difference of an element, of the largest one: TF32 and another order of sums are below."""
_LOOSE = 0.2  # of types of 8 bits and fewer
_PREFIXES = ("CUDNN_", "NVIDIA_TF32_OVERRIDE", "CUBLAS_")
_PACKAGES = ("torch", "jax", "jaxlib", "tensorflow", "nvidia-cudnn-frontend", "numpy")


@dataclass(frozen=True)
class Result:
    """The result of a graph or a call on one device.

    - `status`: "SUCCESS", a status, "REFUSED" by this package, or the signal that ended the
      process.
    - `outputs`: of the memory that it wrote, by name: data type, count, elements that are not
      finite, mean and largest absolute value of the others, and a sample.
    - `chance`: whether numbers depend on what a device draws at random, and are not compared.
    - `slow`: the engine that is faster than the one executed, if they were timed.
    """

    name: str
    status: str
    reason: str = ""
    outputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    chance: bool = False
    slow: str = ""

    @classmethod
    def of(cls, done: Replayed) -> Result:
        """The result of something that was carried out."""
        outputs = {name: _summary(values) for name, values in done.outputs.items()}
        drawn = CHANCE in done.assumed
        return cls(done.name, done.status, done.reason, outputs, drawn, done.slow)


def _summary(values: NDArray[Any]) -> dict[str, Any]:
    numbers = values.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    step = max(len(numbers) // _SAMPLED, 1)
    return {
        "data_type": values.dtype.name,
        "count": len(numbers),
        "not_finite": int(len(numbers) - len(finite)),
        "mean": float(finite.mean()) if len(finite) else 0.0,
        "largest": float(np.abs(finite).max(initial=0)),
        "sample": [float(each) if math.isfinite(each) else str(each) for each in numbers[::step]],
    }


def effect(here: Result, expected: Result) -> str:
    """The mistake in a result, in words that begin with its kind; "" if there is none.

    - `expected`: of the same on the reference device.
    """
    if here.status.startswith("SIG") or here.status in ("hang", "memory"):
        return f"death: {here.status}"
    if here.status != "SUCCESS":
        return f"refusal: {here.status}: {here.reason}"
    for name, found in here.outputs.items():
        wanted = expected.outputs.get(name, {})
        if found["not_finite"] > wanted.get("not_finite", 0):
            return f"not finite: {found['not_finite']} of {found['count']} elements of {name}"
        if wanted and not here.chance and (difference := _difference(found, wanted)):
            return f"wrong numbers: {name}: {difference}"
    return f"slow: {here.slow}" if here.slow else ""


def kind(said: str) -> str:
    """The kind of an effect, by which two are the same."""
    return ":".join(said.split(":")[: 2 if said.startswith(("refusal", "death")) else 1])


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """How far a sample is from the other; "" within the tolerance of its data type."""
    pairs = [
        (a, b)
        for a, b in zip(found["sample"], wanted["sample"], strict=False)
        if not isinstance(a, str) and not isinstance(b, str)
    ]
    scale = max(wanted["largest"], 1e-30)
    worst = max((abs(a - b) for a, b in pairs), default=0.0) / scale
    if worst <= _TOLERANCES.get(found["data_type"], _LOOSE):
        return ""
    return f"{worst:.2g} of the largest element, {wanted['largest']:.3g}"


@dataclass
class Case:
    """Graphs and calls with their environment and results, as one file.

    - `graphs`: each with its name, its JSON and the engine that was executed: "22 (tile_size=4)" or
      "".
    - `calls`: of the legacy API, in their order.
    - `environment`: versions, GPU, variables of NVIDIA's libraries: no path, host or user.
    - `log`: the cuDNN, the GPUs and the errors of the log that it came from.
    - `seed`: of the numbers in memory.
    - `bench`: whether engines are timed too, on a GPU.
    - `results`, `expected`: on the recorded device and on the reference device: of each graph, then
      of each call.
    """

    graphs: list[dict[str, Any]]
    calls: list[CallRecord]
    environment: dict[str, Any] = field(default_factory=dict)
    log: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    bench: bool = False
    results: list[Result] = field(default_factory=list)
    expected: list[Result] = field(default_factory=list)

    @classmethod
    def of(cls, evidence: Evidence, *, seed: int = 0, bench: bool = False) -> Case:
        """The case of what a log or a file has, carried out on this process's device."""
        graphs = [*map(_as_dict, evidence.graphs)]
        calls = [each.call for each in evidence.launches]
        case = cls(graphs, calls, seed=seed, bench=bench)
        if evidence.versions:
            case.log = {
                "cudnn": version_text(max(evidence.versions)),
                "devices": sorted(evidence.devices),
                "errors": [why for why, _ in evidence.errors.most_common(10)],
            }
        return case.again()

    def again(self) -> Case:
        """The case carried out on this process's device, with the environment here."""
        again = copy.copy(self)
        again.environment = environment()
        again.results = again.carried_out()
        again.expected = (
            again.results if mode.runtime.on_host else again.carried_out(reference=True)
        )
        return again

    def carried_out(self, *, reference: bool = False) -> list[Result]:
        """The results on this process's device, or on the reference device, in child processes."""
        on_host = reference or mode.runtime.on_host
        device = reference_gpu() if on_host else current_device().device_id
        bench = self.bench and not on_host
        prepare = functools.partial(_carrier, str(load().path), device, self.seed, bench)
        items = [json.dumps({"graphs": [each], "calls": []}) for each in self.graphs]
        if self.calls:
            items.append(json.dumps({"graphs": [], "calls": [c.as_dict() for c in self.calls]}))
        found: list[Result] = []
        for outcome in outcomes(
            items,
            prepare,
            seconds=_SECONDS,
            megabytes=_MEGABYTES,
            maps_a_gpu=True,
            fresh=True,
        ):
            if outcome.died:
                names = [each["name"] for each in json.loads(outcome.case)["graphs"]]
                names = names or [each.function for each in self.calls]
                found += [
                    Result(name, str(outcome.result), outcome.printed[-300:]) for name in names
                ]
            else:
                found += outcome.result
        return found

    def differences(self, other: Case) -> list[str]:
        """Differences of another run: of its results and of its environment.

        - `other`: the same, carried out elsewhere.
        """
        found = [
            f"{name}: {self.environment.get(name)} there, {value} here"
            for name, value in other.environment.items()
            if value != self.environment.get(name)
        ]
        for one, two in zip(self.results, other.results, strict=True):
            if one.status != two.status:
                found.append(f"{one.name}: {one.status} there, {two.status} here")
                continue
            for name in () if one.chance else one.outputs.keys() & two.outputs.keys():
                if difference := _difference(two.outputs[name], one.outputs[name]):
                    found.append(f"{one.name}: {name} differs by {difference}")
        return found

    @property
    def evidence(self) -> Evidence:
        """Its graphs and calls, to be carried out in this process."""
        graphs = [FoundGraph(Graph.from_json(json.dumps(each["graph"]))) for each in self.graphs]
        return Evidence("", "case", graphs, [FoundCall(each) for each in self.calls])

    def effects(self) -> list[str]:
        """The mistake in each recorded result; "" where there is none."""
        return [*map(effect, self.results, self.expected)]

    # --- the file ------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The text of the file."""
        told = {
            "format": CASE,
            "version": 1,
            "environment": self.environment,
            "log": self.log,
            "seed": self.seed,
            "bench": self.bench,
            "graphs": self.graphs,
            "calls": [{**each.as_dict(), "file": "", "line": 0} for each in self.calls],
            "results": [asdict(each) for each in self.results],
            "expected": [asdict(each) for each in self.expected],
        }
        return json.dumps(told, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Case:
        """The case of a file's text.

        Raises ValueError if it is none.
        """
        try:
            told = json.loads(text)
            if told.get("format") != CASE or told.get("version") != 1:
                raise ValueError("its format is another, or of another version")
            case = cls(
                told["graphs"],
                [CallRecord.from_dict(each) for each in told["calls"]],
                told["environment"],
                told["log"],
                int(told["seed"]),
                bool(told.get("bench", False)),
                [Result(**each) for each in told["results"]],
                [Result(**each) for each in told["expected"]],
            )
            for each in case.graphs:
                Graph.from_json(json.dumps(each["graph"]))
            if len(case.results) != len(case.expected) or not (case.graphs or case.calls):
                raise ValueError("it lacks results")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"this is no case: {error}") from None
        return case


def timed(graphs: Sequence[FoundGraph]) -> None:
    """Time the engines of graphs on this process's GPU, and set what is slow of them."""
    case = Case([*map(_as_dict, graphs)], [], bench=True)
    for graph, result in zip(graphs, case.carried_out(), strict=True):
        graph.slow = result.slow


def _as_dict(found: FoundGraph) -> dict[str, Any]:
    told = json.loads(found.graph.to_json())
    return {"name": found.text, "graph": told, "engine": found.engine}


def _carrier(
    library: str,
    device: int | Mapping[str, Any],
    seed: int,
    bench: bool,
    note: Callable[[str], None],
) -> Callable[[str], list[Result]]:
    """In a child: what carries out graphs and calls on a device."""
    os.environ["CUDNN_CTYPES_LIBRARY"] = library
    use_reference_device(not isinstance(device, int))
    if isinstance(device, int):
        handle = Handle(device=device)
    else:
        use_reference_device(device=dict(device))
        handle = Handle()

    def carry_out(text: str) -> list[Result]:
        told = json.loads(text)
        done = []
        for each in told["graphs"]:
            graph = Graph.from_json(json.dumps(each["graph"]))
            config = "" if each["engine"] is None else str(each["engine"])
            done.append(
                replay_graph(
                    graph, handle, name=each["name"], seed=seed, config=config, bench=bench
                )
            )
        calls = [CallRecord.from_dict(each) for each in told["calls"]]
        return [*map(Result.of, [*done, *replay(calls, handle, seed=seed)])]

    return carry_out


def environment() -> dict[str, Any]:
    """Versions, the GPU and variables, without paths and names of hosts or users."""
    on_host = mode.runtime.on_host
    found: dict[str, Any] = {
        "cudnn_ctypes": __version__,
        "cudnn": load().version_text,
        "device": "the reference device" if on_host else str(current_device().name),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    variables = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_PREFIXES) and os.sep not in value and "CTYPES" not in name
    }
    return {**found, "variables": variables} if variables else found


# --- minimizing ----------------------------------------------------------------------------------


def minimized(
    case: Case, *, tried: Callable[[str], object] = lambda what: None
) -> tuple[Case, str]:
    """A smaller case with the same kind of effect, and that effect.

    Each step leaves out graphs, calls or operations, or halves a dimension, and stays if the effect
    does; each is tried in a child process on this process's device.

    - `tried`: called with a word on each try.

    Raises ValueError if nothing is wrong here.
    """
    now = case.again()
    wanted = [kind(each) for each in now.effects() if each]
    if not wanted:
        raise ValueError("nothing is wrong with this case on this device")

    def holds(smaller: Case, what: str) -> Case | None:
        tried(what)
        try:
            again = smaller.again()
        except (ValueError, RuntimeError):
            return None
        return again if wanted[0] in map(kind, again.effects()) else None

    while smaller := next(
        (each for change, what in _smaller(now) if (each := holds(change, what))), None
    ):
        now = smaller
    return now, next(each for each in now.effects() if kind(each) == wanted[0])


def _smaller(case: Case) -> Iterator[tuple[Case, str]]:
    """Cases that are a step smaller, the largest steps first."""

    def of(graphs: Sequence[dict[str, Any]], calls: Sequence[CallRecord]) -> Case:
        return replace(case, graphs=[*graphs], calls=[*calls])

    if case.graphs and case.calls:
        yield of(case.graphs, ()), "without calls"
        yield of((), case.calls), "without graphs"
    if len(case.graphs) > 1:
        for each in case.graphs:
            yield of([each], case.calls), "one graph"
    if len(case.calls) > 1:
        half = len(case.calls) // 2
        yield of(case.graphs, case.calls[:half]), "half the calls"
        yield of(case.graphs, case.calls[half:]), "half the calls"
        for i in range(len(case.calls)):
            yield of(case.graphs, case.calls[:i] + case.calls[i + 1 :]), "one call less"
    if len(case.graphs) == 1:
        (one,) = case.graphs
        for told, what in _smaller_graphs(one["graph"]):
            try:
                graph = Graph.from_json(json.dumps(told))
                graph.validate()
            except (ValueError, KeyError, TypeError):
                continue
            yield of([{**one, "name": FoundGraph(graph).text, "graph": told}], case.calls), what


def _smaller_graphs(told: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """The JSON of graphs with an operation less at an end, or with a dimension halved."""
    nodes = told["nodes"]
    for i in range(len(nodes)) if len(nodes) > 1 else ():
        rest = nodes[:i] + nodes[i + 1 :]
        made = {name for node in rest for name in _names(node["outputs"])}
        read = {name for node in rest for name in _names(node["inputs"])}
        tensors = {
            name: {key: value for key, value in tensor.items() if key != "virtual"}
            if name in read - made or name in made - read
            else tensor
            for name, tensor in told["tensors"].items()
            if name in made | read
        }
        yield {**told, "nodes": rest, "tensors": tensors}, "one operation less"
    sizes = {size for tensor in told["tensors"].values() for size in tensor.get("dims") or ()}
    for size in sorted(sizes, reverse=True):
        if size < 2:
            continue
        tensors = {}
        for name, tensor in told["tensors"].items():
            dims = tensor.get("dims")
            halved = [size // 2 if each == size else each for each in dims or ()]
            tensors[name] = {**tensor, "dims": halved} if dims else tensor
            if dims and tensor.get("strides"):
                tensors[name]["strides"] = _packed(halved, tensor["strides"])
        yield {**told, "tensors": tensors}, f"{size // 2} for {size}"


def _names(ports: Mapping[str, Any]) -> Iterator[str]:
    for each in ports.values():
        yield from each if isinstance(each, list) else [each]


def _packed(dims: Sequence[int], strides: Sequence[int]) -> list[int]:
    """Strides without gaps, in the order of those given."""
    found, step = [0] * len(dims), 1
    for axis in sorted(range(len(dims)), key=lambda a: (strides[a], -a)):
        found[axis] = step
        step *= dims[axis]
    return found
