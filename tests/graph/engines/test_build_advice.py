"""Advice in the messages of failed builds: found when they are read, within its bounds."""

from __future__ import annotations

import copy
import os
import pickle
from dataclasses import replace
from typing import Any

import pytest

from cudnn_ctypes import Handle, Selection, raw, use_reference_device
from cudnn_ctypes.errors import BadParamError, CudnnError, NotSupportedError, OwnReason
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.backend.engine import EngineChoice
from cudnn_ctypes.graph.engines.explaining import advising
from cudnn_ctypes.graph.engines.explaining.advising import BuildAdvice, advise
from cudnn_ctypes.graph.engines.explaining.examination import Conditions
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.run.kernel_cache import KernelCache
from cudnn_ctypes.raw import cudnnStatus_t, nvrtc

from ..advice_cases import ADVISED

NEWEST = 92800  # for which the cases were chosen
REFUSED = [name for name, case in ADVISED.items() if not case.supported]

pytestmark = pytest.mark.skipif(
    raw.load().version < NEWEST, reason="other graphs are refused by this version of cuDNN"
)


def _failure(graph: Graph, device: Any, **options: Any) -> CudnnError:
    with pytest.raises((NotSupportedError, BadParamError)) as caught, graph:
        graph.build(device, **options)
    return caught.value


def _as_in_c() -> Graph:
    return ADVISED["convolution with ReLU as in C, 15 channels"].graph()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[BuildAdvice]:
    """Every search that was begun."""
    found: list[BuildAdvice] = []
    search = BuildAdvice.__call__

    def noted(self: BuildAdvice) -> tuple[str, ...]:
        found.append(self)
        return search(self)

    monkeypatch.setattr(BuildAdvice, "__call__", noted)
    return found


@pytest.mark.thinned(5)
@pytest.mark.parametrize("name", REFUSED)
def test_the_message_begins_with_what_explain_advises(name: str) -> None:
    case = ADVISED[name]
    with DeviceProperties.preset(case.device) as device:
        error = _failure(case.graph(), device)
    _, first, *others = str(error).splitlines()
    assert first.startswith(f"  advice: {case.words}: engine")
    assert case.caveat in first
    assert not any(line.startswith("  advice") for line in others[len(error.advice) - 1 :])
    assert first == f"  advice: {error.advice[0]}"
    assert len(error.advice) <= 3


def test_nothing_is_tried_before_the_message_is_read(
    h200: DeviceProperties, asked: list[BuildAdvice]
) -> None:
    error = _failure(_as_in_c(), h200)
    _ = error.messages, error.hint, error.status, repr(error)
    assert asked == []
    first = str(error)
    assert "advice: store" in first
    assert str(error) == first
    assert len(asked) == 1


def test_the_message_can_be_read_when_graph_and_device_are_gone() -> None:
    with DeviceProperties.preset("h200") as device:
        graph = _as_in_c()
        error = _failure(graph, device)
    graph.nodes.clear()
    assert "channels last" in str(error)


def test_handles(asked: list[BuildAdvice]) -> None:
    with use_reference_device(), Handle() as handle:
        error = _failure(_as_in_c(), handle)
    assert "channels last" in str(error)


def test_advice_travels_with_the_error(h200: DeviceProperties, asked: list[BuildAdvice]) -> None:
    error = _failure(_as_in_c(), h200)
    for copied in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(copied) is NotSupportedError
        assert copied.advice == error.advice
        assert str(copied) == str(error)
    assert len(asked) == 1
    assert error.advice


def test_the_selection_and_modes_are_those_of_the_build(h200: DeviceProperties) -> None:
    assert ": engines 7, 8" in _failure(_as_in_c(), h200).advice[0]
    only = Selection(without_engines=[7])
    assert _failure(_as_in_c(), h200, selection=only).advice[0].endswith(": engine 8")
    none = Selection(require="winograd")
    assert _failure(_as_in_c(), h200, selection=none).advice == ()


def test_builds_that_ask_for_more_have_no_advice(h200: DeviceProperties) -> None:
    """A given engine, and plans for other shapes: what is tried knows nothing of them."""
    with KernelCache() as cache:
        for options in (
            {"config": EngineChoice(3)},
            {"override_shapes": True},
            {"kernel_cache": cache},
        ):
            assert _failure(_as_in_c(), h200, **options).advice == ()


def test_no_plan_is_compiled_for_it(
    h200: DeviceProperties, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a failed build does not become a slow or recursive one."""
    error = _failure(_as_in_c(), h200)
    monkeypatch.setattr(Graph, "build", None)
    before = _plans(monkeypatch)
    assert "channels last" in str(error)
    assert before == []


def _plans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    made: list[Any] = []
    from cudnn_ctypes.graph.engines.explaining import examination

    monkeypatch.setattr(examination, "ExecutionPlan", lambda *args, **kw: made.append(args))
    return made


@pytest.mark.soak
def test_the_search_is_bounded(h200: DeviceProperties, monkeypatch: pytest.MonkeyPatch) -> None:
    error = _failure(ADVISED["attention with heads of 20"].graph(), h200)
    monkeypatch.setattr(advising, "_BUILD_TRIES", 2)
    assert error.advice == ()
    error = _failure(ADVISED["attention with heads of 20"].graph(), h200)
    monkeypatch.setattr(advising, "_SECONDS", 0.0)
    assert error.advice == ()
    assert 0 < advising._LINES <= 3


def test_what_goes_wrong_in_the_search_is_not_told(
    h200: DeviceProperties, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = _failure(_as_in_c(), h200)

    def broken(*args: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(advising, "Search", broken)
    assert str(error).startswith("Graph.build returned CUDNN_STATUS_NOT_SUPPORTED")
    assert error.advice == ()


def test_a_fork_does_not_ask_cudnn(h200: DeviceProperties, monkeypatch: pytest.MonkeyPatch) -> None:
    search = BuildAdvice(_as_in_c(), Conditions(h200))
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    assert search() == ()
    monkeypatch.undo()
    assert search() != ()


def test_other_errors_have_no_advice() -> None:
    error = NotSupportedError("cudnnX", cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED)
    assert error.advice == ()
    assert "advice" not in str(error)
    told = NotSupportedError(
        "cudnnX", cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED, advice=["do this"], messages=["no"]
    )
    assert str(told).splitlines()[1:] == ["  advice: do this", "  cuDNN: no"]


def test_whose_reason_it_is_stands_before_each() -> None:
    messages = ["no engine", OwnReason("and 3 more reasons")]
    error = NotSupportedError(
        "Graph.build", cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED, messages=messages
    )
    wanted = ["  cuDNN: no engine", "  cudnn_ctypes: and 3 more reasons"]
    assert str(error).splitlines()[1:] == wanted
    assert str(pickle.loads(pickle.dumps(error))).splitlines()[1:] == wanted
    own = NotSupportedError("f", 3000, source="cudnn_ctypes")
    assert str(OwnReason.of(own, "text")) == "text"
    assert type(OwnReason.of(error, "text")) is str


_CANNOT_COMPILE = (
    "engine 1: kernel_cfg=6: NOT_SUPPORTED: rtk(kernelNumRunning)->compile(compilerFlags, true )",
    "engine 7: NOT_SUPPORTED: rtk()->compile(compilerFlags, useNvrtcSassPath, true )",
    "engine 1: NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING: cannot load libnvrtc",
)


@pytest.mark.parametrize("reason", _CANNOT_COMPILE)
def test_a_broken_compiler_is_the_only_advice(
    reason: str, h200: DeviceProperties, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other data type is compiled by it either."""
    graph, conditions = _as_in_c(), Conditions(h200, ("a",), Selection())
    told = BuildAdvice(graph, conditions, (reason,))
    assert "channels last" in told()[0]  # NVRTC works: it was this graph
    monkeypatch.setattr(nvrtc, "defect", lambda: "libnvrtc.so.12 is not found")
    assert told() == ("libnvrtc.so.12 is not found",)
    assert "channels last" in BuildAdvice(graph, conditions, ("engine 1: !is_NHWC",))()[0]
    explanation = graph.explain(h200)
    rows = tuple(replace(row, state="refused", reason=reason) for row in explanation.rows)
    advice = advise(graph, conditions, replace(explanation, rows=rows))
    assert (advice.broken, advice.suggestions, advice.tried) == (told()[0], (), 0)
    assert str(advice).endswith("no engine; libnvrtc.so.12 is not found")


@pytest.mark.soak
def test_advice_after_a_failed_compilation_compiles(h200: DeviceProperties) -> None:
    """The engine that cuDNN accepted for this graph, it accepts for changed ones too."""
    for data_type, advised in (("int64", ()), ("float64", ("float32",))):
        graph = Graph(io_data_type=data_type)
        graph.relu(graph.tensor((2, 3, 4))).set_output()
        error = _failure(graph, h200)
        assert "COMPILATION_FAILED" in str(error)
        assert [word for line in error.advice for word in advised if word in line] == [*advised]
        assert len(error.advice) == len(advised)
