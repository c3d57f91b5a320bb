"""Compiling graphs for a GPU that is not here: the function, its executors, and the command.

To see that a GPU executes what was compiled without one, with the same cuDNN on both machines::

    python -c "from tests.graph.test_compilation import write_graphs as w; w('plans')"
    python -m cudnn_ctypes compile plans/*.json --device H200          # here
    CUDNN_CTYPES_PLANS=plans python -m pytest tests/graph/test_compilation.py -m gpu   # there
"""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cudnn_ctypes import Handle, NotSupportedError, raw
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.compilation import compile_graphs
from cudnn_ctypes.graph.graph import Graph

from .cases import check
from .families import CASES, PLANS
from .run.conftest import PRECOMPILED

ROOT = Path(__file__).parents[2]


def file_name(case: str) -> str:
    """For the graph of one of `PLANS`."""
    return re.sub(r"\W+", "-", case).strip("-") + ".json"


def write_graphs(folder: str | Path) -> list[Path]:
    """The graphs of all `PLANS` as JSON; returns the files."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / file_name(name) for name in PLANS]
    for file, name in zip(files, PLANS, strict=True):
        file.write_text(CASES[name].graph().to_json())
    return files


def _impossible() -> Graph:
    """cuDNN has no engine for it."""
    graph = Graph("impossible", io_data_type="float16")
    graph.reduction(graph.tensor((4, 64, 128)), "mul", axes=(2,)).set_output()
    return graph


def _graphs() -> list[Graph | str]:
    product = CASES["matmul + bias + gelu"].graph().to_json()
    return [CASES["convolution"].graph(), _impossible(), product]


def _check(results: list[Any], a100: DeviceProperties) -> None:
    convolution, impossible, product = results
    assert impossible.plan is None
    assert isinstance(impossible.error, NotSupportedError)
    assert impossible.name == "impossible"
    assert convolution.runtime_compiled != PRECOMPILED
    assert product.runtime_compiled
    assert all(each.seconds > 0 for each in results)
    for result, name in ((convolution, "convolution"), (product, "matmul + bias + gelu")):
        assert result.error is None
        assert result.cudnn_version == raw.load().version_text
        with CASES[name].graph() as graph:
            plan = graph.load_plan(result.plan, a100)
            assert str(plan.config.choice).startswith(result.engine.split(":")[0])
            assert graph.workspace_size == result.workspace_size


class Elsewhere:
    """An executor of the least kind: calls and results go as bytes, as through MPI."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        function, arguments, options = pickle.loads(pickle.dumps((fn, args, kwargs)))
        answer = pickle.dumps(function(*arguments, **options))
        return SimpleNamespace(result=lambda: pickle.loads(answer))


@contextmanager
def _dask() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, processes=True
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor()


@contextmanager
def _here() -> Iterator[None]:
    yield None


@contextmanager
def _elsewhere() -> Iterator[Elsewhere]:
    yield Elsewhere()


EXECUTORS: dict[str, Callable[[], Any]] = {
    "here": _here,
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": lambda: ProcessPoolExecutor(2, get_context("spawn")),
    "pickled": _elsewhere,
    "dask": _dask,
}


@pytest.mark.soak
@pytest.mark.parametrize("kind", EXECUTORS)
def test_any_executor_will_do(kind, a100):
    seen = []
    with EXECUTORS[kind]() as executor:
        results = compile_graphs(_graphs(), a100, executor=executor, on_done=seen.append)
    assert seen == results
    _check(results, a100)


class Losing(Elsewhere):
    """One whose workers are lost with every other call."""

    def __init__(self) -> None:
        self.calls = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        if self.calls % 2:
            return super().submit(fn, *args, **kwargs)
        future: Future[Any] = Future()
        future.set_exception(RuntimeError("the worker is gone"))
        return future


def test_a_lost_worker_does_not_stop_the_others(a100):
    results = compile_graphs(_graphs(), a100, executor=Losing())
    assert [each.plan is None for each in results] == [False, True, False]
    assert str(results[1].error) == "the worker is gone"
    assert results[1].name == "impossible"


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_no_graph_is_told_in_its_place(jobs):
    texts, seen = ["{", Graph("empty").to_json()], []
    results = compile_graphs(texts, "A100", jobs=jobs, on_done=seen.append)
    assert seen == results
    assert [(each.name, type(each.error), each.plan) for each in results] == [
        ("graph", ValueError, None),
        ("empty", ValueError, None),
    ]
    assert {each.cudnn_version for each in results} == {raw.load().version_text}
    assert all(0 < each.seconds < 60 for each in results)
    lost = compile_graphs([texts[1], "{"], "A100", executor=Losing())[1]
    assert (lost.name, str(lost.error)) == ("graph", "the worker is gone")


# --- the command ----------------------------------------------------------------------------------


def test_one_graph_to_one_file(tmp_path, a100, capsys):
    source, target = tmp_path / "gate.json", tmp_path / "out" / "gate-for-a100.json"
    case = CASES["sigmoid(a + b * c)"]
    source.write_text(case.graph().to_json())
    assert main(["compile", str(source), "--device", "A100", "-o", str(target)]) == 0
    said = capsys.readouterr().out
    assert "NVIDIA A100-SXM4-80GB" in said
    assert f"{source} -> {target}: engine" in said
    assert "compiled, workspace 0 bytes" in said
    assert "1 of 1 compiled in " in said
    with Graph.from_json(source.read_text()) as graph:
        graph.load_plan(target.read_text(), a100)


@pytest.mark.soak
def test_several_graphs_by_several_processes(tmp_path, a100, capsys):
    sources = write_graphs(tmp_path)[:3]
    names = [str(source) for source in sources]
    assert main(["compile", *names, "--device", "A100", "--jobs", "2"]) == 0
    for source in sources:
        plan = source.with_name(f"{source.stem}.plan.json")
        with Graph.from_json(source.read_text()) as graph:
            graph.load_plan(plan.read_text(), a100)
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    folder = tmp_path / "plans"
    assert main(["compile", str(broken), *names[:1], "--device", "A100", "-o", str(folder)]) == 1
    assert [each.name for each in folder.iterdir()] == ["convolution.plan.json"]
    assert f"{broken}: graph: the JSON is damaged" in capsys.readouterr().out


# --- on the GPU -----------------------------------------------------------------------------------

FOLDER = os.environ.get("CUDNN_CTYPES_PLANS")


@pytest.mark.gpu
def test_the_command_for_the_gpu_that_is_here(tmp_path):
    name = "matmul + bias + gelu"
    source = tmp_path / file_name(name)
    source.write_text(CASES[name].graph().to_json())
    assert main(["compile", str(source), "--device", "here"]) == 0
    stored = source.with_name(f"{source.stem}.plan.json").read_text()
    with Handle() as handle, Graph.from_json(source.read_text()) as graph:
        graph.load_plan(stored, handle)
        check(CASES[name], graph, handle)


@pytest.mark.gpu
@pytest.mark.parametrize("name", PLANS)
def test_what_was_compiled_elsewhere_executes(name):
    if FOLDER is None:
        pytest.skip("CUDNN_CTYPES_PLANS names no folder with compiled plans")
    source = Path(FOLDER) / file_name(name)
    stored = source.with_name(f"{source.stem}.plan.json").read_text()
    version = json.loads(stored)["cudnnVersion"]
    if version != raw.load().version:
        pytest.skip(f"these plans are for cuDNN {version}")
    with Handle() as handle, Graph.from_json(source.read_text()) as graph:
        graph.load_plan(stored, handle)
        check(CASES[name], graph, handle)
