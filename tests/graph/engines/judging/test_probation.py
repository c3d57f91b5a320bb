"""An engine that is new for a form of graph is tried before it is taken."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudnn_ctypes import (
    DeviceProperties,
    Handle,
    NotSupportedError,
    Selection,
    use_reference_device,
)
from cudnn_ctypes.graph.engines.judging import judging, probation
from cudnn_ctypes.graph.engines.judging.trial import Task
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed

from .planted import PlantedTask

BOTH = Selection(engines=[0, 1])


@pytest.fixture
def handle(monkeypatch: pytest.MonkeyPatch) -> Iterator[Handle]:
    """Of the reference device, with engines to be tried as on a GPU."""
    monkeypatch.setattr(probation, "is_absent", lambda device: False)
    with use_reference_device(), Handle() as made:
        yield made


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What probation logs at debug level."""
    messages: list[str] = []
    monkeypatch.setattr(probation._logger, "isEnabledFor", lambda level: True)
    monkeypatch.setattr(
        probation._logger, "debug", lambda text, *values: messages.append(text % values)
    )
    return messages


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """What children were given."""
    given: list[Task] = []

    def make(*arguments: Any) -> Task:
        given.append(Task(*arguments))
        return given[-1]

    monkeypatch.setattr(judging, "Task", make)
    return given


def convolution(batch: int = 4, size: int = 40) -> Graph:
    graph = Graph("layer", io_data_type="float16")
    x, w = (
        graph.tensor(dims, packed(dims, (0, 2, 3, 1)), name=name)
        for name, dims in (("x", (batch, 64, size, size)), ("w", (64, 64, 3, 3)))
    )
    graph.conv_fprop(x, w, padding=1).set_output(name="y")
    return graph


def engine(graph: Graph, handle: Handle, **options: Any) -> int:
    plan = graph.build(handle, **{"selection": BOTH, **options})
    return plan.config.engine.index


def test_a_form_is_tried_once_on_a_small_graph(handle: Handle, tasks: list[Task]) -> None:
    assert engine(convolution(), handle, check="first") == 1
    (task,) = tasks
    assert task.graph.find_tensor("x").dims == (4, 16, 24, 24)
    assert engine(convolution(8, 60), handle, check="first") == 1
    assert engine(convolution(), handle) == 1
    assert len(tasks) == 1


def test_a_wrong_engine_is_passed_over(handle: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "Task", functools.partial(PlantedTask, fault="wrong", engine=1))
    assert engine(convolution(), handle) == 1
    assert engine(convolution(), handle, check="first") == 0
    monkeypatch.setattr(judging, "Task", Task)
    assert engine(convolution(), handle) == 0


@pytest.mark.parametrize("where", ["no folder", "plan cache"])
def test_where_verdicts_are_kept(
    handle: Handle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, where: str
) -> None:
    monkeypatch.setenv("CUDNN_CTYPES_CACHE", "0" if where == "no folder" else str(tmp_path))
    monkeypatch.setattr(judging, "Task", functools.partial(PlantedTask, fault="ends", engine=1))
    assert engine(convolution(), handle) == 1
    assert engine(convolution(), handle, check="first") == 0
    assert engine(convolution(), handle) == 0


def test_without_a_right_engine_the_build_fails(
    handle: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "Task", functools.partial(PlantedTask, fault="NaN"))
    with pytest.raises(NotSupportedError, match=r"engine 1: it was judged on .*NaN"):
        convolution().build(handle, selection=BOTH, check="first")


def test_the_environment_asks_for_it(
    handle: Handle, tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDNN_CTYPES_CHECK", "first")
    engine(convolution(), handle)
    assert len(tasks) == 1
    monkeypatch.setenv("CUDNN_CTYPES_CHECK", "always")
    with pytest.raises(ValueError, match=r"^CUDNN_CTYPES_CHECK='always': expected first, or 0"):
        engine(convolution(), handle)


def test_a_graph_that_cannot_be_smaller_is_tried_itself(handle: Handle, tasks: list[Task]) -> None:
    engine(convolution(2, 12), handle, check="first")  # 64 channels become 16
    assert tasks[0].graph.find_tensor("x").dims == (2, 16, 12, 12)
    small = Graph("small", io_data_type="float16")
    x = small.tensor((2, 16, 8, 8), packed((2, 16, 8, 8), (0, 2, 3, 1)), name="x")
    small.resample(x, "maxpool", window=2, stride=2)[0].set_output(name="y")
    small.build(handle, check="first")
    assert tasks[1].graph.find_tensor("x").dims == (2, 16, 8, 8)


def test_what_cannot_be_tried_is_built_all_the_same(
    handle: Handle, tasks: list[Task], logged: list[str]
) -> None:
    graph = Graph("chance", io_data_type="float16")
    q, k, v = (graph.tensor((1, 2, 64, 64), name=name) for name in "qkv")
    seed, offset = (graph.tensor((1, 1, 1, 1), data_type="int64") for _ in range(2))
    graph.sdpa(q, k, v, dropout=(0.5, seed, offset))[0].set_output()
    graph.build(handle, check="first")
    assert not tasks
    assert logged[0].startswith("graph 'chance': its engines cannot be checked: judge:")


def test_a_large_graph_without_a_small_one_is_not_tried(
    handle: Handle, tasks: list[Task], logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Graph, "_small", lambda graph, period: None)
    monkeypatch.setattr(probation, "_LARGEST", 1000)
    assert engine(convolution(), handle, check="first") == 1
    assert not tasks
    assert logged == ["graph 'layer' is too large to be checked"]


def test_forms_that_were_never_checked_are_logged_once(handle: Handle, logged: list[str]) -> None:
    for graph in (convolution(), convolution(8)):
        engine(graph, handle)
    (told,) = logged
    assert told.startswith("1 form of graphs built whose engine was never checked")


def test_the_reference_device_tries_nothing(tasks: list[Task]) -> None:
    with use_reference_device(), Handle() as handle:
        engine(convolution(), handle, check="first")
    assert not tasks


@pytest.mark.parametrize(
    ("check", "error", "says"),
    [
        ("second", ValueError, "^check: expected \"first\" or None, got 'second'$"),
        (True, TypeError, '^check: expected "first" or None, got True'),
    ],
)
def test_wrong_values(handle: Handle, check: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        convolution().build(handle, check=check)


def test_an_absent_gpu_cannot_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="check: an engine is tried on the GPU itself"):
        convolution().build("H200", check="first")
    monkeypatch.setenv("CUDNN_CTYPES_CHECK", "first")
    with DeviceProperties.preset("H200") as device:
        convolution().build(device).close()
