"""Compiling many graphs at once, for a GPU that need not be there."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any, Protocol

from .. import raw
from ..arguments import integer, items
from ..errors import CudnnError, LibraryNotFoundError, NoDeviceError, SymbolNotFoundError
from ..raw.values import described
from .backend.device_properties import DeviceProperties, as_properties
from .backend.warden import asking
from .graph import Graph


class Executor(Protocol):
    """An object that runs calls elsewhere: ``concurrent.futures``, Dask, ``mpi4py.futures``."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Start ``fn(*args, **kwargs)``; the future's ``result()`` waits for its value."""


@dataclass(frozen=True)
class CompiledGraph:
    """A plan as text, or why there is none; `compile_graphs` makes it.

    - `name`: that of the graph.
    - `plan`: JSON for ``Graph.load_plan``, with the machine code of kernels that were compiled.
    - `error`: why there is no plan.
    - `engine`: the engine and its knobs; of a program, one after the other.
    - `runtime_compiled`: whether the plan holds its kernel. Others are in the library.
    - `workspace_size`: bytes.
    - `cudnn_version`: the one that the plan belongs to: "9.28.0".
    - `seconds`: what it took.
    """

    name: str
    plan: str | None = None
    error: Exception | None = None
    engine: str = ""
    runtime_compiled: bool = False
    workspace_size: int = 0
    cudnn_version: str = ""
    seconds: float = 0.0


def compile_graphs(
    graphs: Iterable[Graph | str],
    device: DeviceProperties | str | PathLike[str],
    *,
    executor: Executor | None = None,
    heuristics: str | Sequence[str] = ("a", "fallback"),
    workspace_limit: int | None = None,
    sm_count: int | None = None,
    on_done: Callable[[CompiledGraph], object] | None = None,
    jobs: int = 1,
) -> list[CompiledGraph]:
    """Build the plan of each graph, and keep it as text.

    Helper processes compile (`use_warden`): a graph that ends one does not stop the others.

    Parameters
    ----------
    graphs : iterable of Graph or str
        Or the JSON text of graphs. They are not changed.
    device : DeviceProperties, str or os.PathLike
        The GPU: its properties, the name of a preset, or a file that ``DeviceProperties.to_json``
        or ``doctor --save-device`` wrote.
    executor : Executor, optional
        Where to compile: a ``ProcessPoolExecutor``, ``ThreadPoolExecutor``, the
        ``get_executor()`` of a Dask client, an ``MPIPoolExecutor``. Workers need this package and
        the same cuDNN. By default on this machine.
    heuristics, workspace_limit, sm_count
        As in ``Graph.build``.
    on_done : callable, optional
        Called here with each result, in the order of the graphs.
    jobs : int
        How many graphs are compiled at once, without an executor.

    Returns
    -------
    list of CompiledGraph
        In the order of the graphs. A graph that cannot be compiled does not stop the others: its
        result has the error. So it is if a worker is lost.

    Raises
    ------
    NoDeviceError
        Without an NVIDIA driver, on a machine that has no stand-in for it.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> y = graph.relu(graph.tensor((8, 64, 32), name="x")).set_output()
    >>> [compiled] = compile_graphs([graph], "H200")
    >>> compiled.error is None
    True
    """
    is_one = isinstance(heuristics, str)
    modes = (heuristics,) if is_one else items("heuristics", heuristics, "names of modes")
    gpu = as_properties(device).to_json()
    options = {"heuristics": modes, "workspace_limit": workspace_limit, "sm_count": sm_count}
    calls = [(_text(each), gpu, options) for each in graphs]
    with ExitStack() as stack:
        chosen, jobs = executor, integer("jobs", jobs, least=1)
        if chosen is None:
            with asking(None, default=True) as warded:
                options["warden"] = warded
            if warded and jobs > 1:  # each waits for a helper process
                chosen = ThreadPoolExecutor(jobs)
                stack.callback(chosen.shutdown, cancel_futures=True)
        waiting: Iterable[Callable[[], CompiledGraph]] = (
            (partial(_compiled, *call) for call in calls)
            if chosen is None
            else [chosen.submit(_compiled, *call).result for call in calls]
        )
        results = []
        for call, result in zip(calls, waiting, strict=True):
            try:
                results.append(result())
            except (NoDeviceError, LibraryNotFoundError):  # so it will be with all others
                raise
            except Exception as error:
                if executor is None:
                    raise
                results.append(CompiledGraph(_name(call[0]), error=error))
            if on_done is not None:
                on_done(results[-1])
        return results


def _text(graph: Graph | str) -> str:
    if isinstance(graph, str):
        return graph
    if not isinstance(graph, Graph):
        raise TypeError(f"graphs: expected Graphs or their JSON text, got {described(graph)}")
    return graph.to_json(indent=None)


def _name(text: str) -> str:
    """The name of a graph whose worker could not return it."""
    try:
        return str(json.loads(text)["name"])
    except (ValueError, TypeError, KeyError):
        return "graph"


def _compiled(text: str, gpu: str, options: dict[str, Any]) -> CompiledGraph:
    """One graph. It runs in a worker, so what goes in and comes out is plain data."""
    start = time.perf_counter()
    name, version = "graph", raw.load().version_text
    try:
        with Graph.from_json(text) as graph, DeviceProperties(gpu) as device:
            name = graph.name
            plan = graph.build(device, **options)
            return CompiledGraph(
                name,
                plan.to_json(),
                engine=", then ".join(map(str, plan.choices)),
                runtime_compiled="runtime_compilation" in plan.behavior_notes,
                workspace_size=plan.workspace_size,
                cudnn_version=version,
                seconds=time.perf_counter() - start,
            )
    except (CudnnError, SymbolNotFoundError, ValueError, TypeError) as error:
        seconds = time.perf_counter() - start
        return CompiledGraph(name, error=error, cudnn_version=version, seconds=seconds)
