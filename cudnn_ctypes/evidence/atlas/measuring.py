"""Measure cells of the atlas: ask all engines about each shape, and compile the first."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import CudnnError, SymbolNotFoundError
from ...graph.backend.children import outcomes
from ...graph.backend.device_properties import DeviceProperties, as_properties
from ...graph.engines.explaining.explanation import Explanation
from ...graph.engines.refusals import refusal
from ...graph.graph import Graph
from .cells import Result

_SECONDS = 120.0
_TRIED = 3  # engines that may fail to compile
SHAPES = Path(__file__).with_name("shapes.jsonl")
"""The graphs of the atlas, one a line; ``tools.atlas_shapes`` describes them."""


@functools.cache
def shapes() -> Mapping[str, Callable[[], Graph]]:
    """Functions that make each shape's graph, by the shape's name."""
    lines = SHAPES.read_text("utf-8").splitlines()
    return {json.loads(line)["name"]: functools.partial(Graph.from_json, line) for line in lines}


def measured(
    device: DeviceProperties | str | os.PathLike[str], names: Sequence[str]
) -> Iterator[tuple[str, Result]]:
    """Yield the result of each shape on a GPU that need not be there, with the loaded cuDNN.

    Each is asked in a child process: one that ends it is a result.

    Parameters
    ----------
    device : DeviceProperties, str or os.PathLike
        As for ``Graph.explain``.
    names : sequence of str
        Of `shapes`.
    """
    for outcome in outcomes(
        names, functools.partial(_asker, device), seconds=_SECONDS, megabytes=4096
    ):
        if outcome.died:
            yield outcome.case, Result(refusal=f"the process ended: {outcome.result}")
        else:
            yield outcome.case, outcome.result


def _asker(device: Any, note: Callable[[Any], None]) -> Callable[[str], Result]:
    """In a child: the function that asks about one shape."""
    os.environ["CUDNN_CTYPES_WARDEN"] = "0"
    properties = as_properties(device)
    return lambda name: _asked(shapes()[name](), properties)


def _asked(graph: Graph, device: DeviceProperties) -> Result:
    try:
        told = graph.explain(device, ("a", "fallback"))
    except (CudnnError, SymbolNotFoundError, ValueError) as error:
        return Result(refusal=_why(error))
    engines = tuple(dict.fromkeys(row.engine for row in told.usable))
    failed: dict[int, str] = {}
    compiled = None
    for engine in engines:
        row = next(row for row in told.usable if row.engine == engine)
        if row.state != "works":
            try:
                graph.build(device, config=row.choice).close()
            except (CudnnError, SymbolNotFoundError) as error:
                failed[engine] = _why(error)
                if len(failed) == _TRIED:
                    break
                continue
        compiled = engine
        break
    refused = "" if engines else _refusal(told)
    return Result(engines, compiled, failed, refused, tuple(told.faults))


def _refusal(told: Explanation) -> str:
    """The reason of the engine that came farthest."""
    return told.refusal or next(iter(told.reasons()), "no engine")


def _why(error: Exception) -> str:
    return str(refusal(error)) if isinstance(error, CudnnError) else str(error).splitlines()[0]
