"""The judge finds what is wrong with an engine, and builds pass it over from then on."""

from __future__ import annotations

import ctypes
import json
import math
import re
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    DeviceProperties,
    Handle,
    NotSupportedError,
    Selection,
    use_reference_device,
)
from cudnn_ctypes.graph import EngineChoice, Judgement
from cudnn_ctypes.graph.backend.children import Outcome
from cudnn_ctypes.graph.engines.judging import judging, probation, trial
from cudnn_ctypes.graph.engines.judging.trial import Task
from cudnn_ctypes.graph.engines.judging.verdict import Verdict
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.lowering import lowered
from cudnn_ctypes.raw.strides import packed
from cudnn_ctypes.reference.device import backend_execution
from cudnn_ctypes.reference.device.backend_steps import refuse

from .planted import layer, plant


def judged(handle: Handle, **options: Any) -> Judgement:
    options = {"knobs": 0, "data": "ordinary", "selection": Selection(engines=[ENGINE]), **options}
    return layer().judge(handle, **options)


ENGINE = 0


@pytest.mark.thinned(7)
@pytest.mark.parametrize(
    ("fault", "state", "says"),
    [
        ("wrong", "wrong", r"^y\[0, 5, 0, 0\] is .* instead of .*, with ordinary numbers$"),
        ("NaN", "NaN", r"^y\[0, 3, 0, 0\] is nan instead of"),
        ("unwritten", "NaN", r"^y\[0, 7, 0, 0\]"),
        ("behind", "writes beyond", r"^2 bytes, from 6 behind 'y' on$"),
        ("ends", "ended", "^SIGSEGV while executing it with ordinary numbers$"),
    ],
)
def test_a_planted_fault_is_found(handle, monkeypatch, fault, state, says):
    plant(monkeypatch, fault)
    (verdict,) = judged(handle)
    assert (verdict.state, verdict.choice) == (state, EngineChoice(ENGINE))
    assert re.search(says, verdict.told)


@pytest.mark.soak
def test_other_bits_each_time_are_told(handle, monkeypatch):
    plant(monkeypatch, "changing")
    (verdict,) = judged(handle)
    assert (verdict.state, verdict.same_bits) == ("right", False)


@pytest.mark.soak
def test_a_kernel_that_does_not_end_is_told_and_passed_over(handle, monkeypatch):
    monkeypatch.setattr(trial, "_SECONDS", 6.0)
    plant(monkeypatch, "hangs", 1)
    judgement = judged(handle, selection=Selection(engines=[0, 1, 2]))
    assert {each.engine: each.state for each in judgement} == {0: "right", 1: "ended", 2: "right"}
    (wrong,) = judgement.wrong
    assert wrong.told == "no end in 6 s while executing it with ordinary numbers"
    assert layer().build(handle, selection=BOTH).config.engine.index == 0


@pytest.mark.soak
def test_verdicts_are_not_kept_if_told_so(handle, monkeypatch, tmp_path):
    plant(monkeypatch, "wrong")
    judged(handle, keep=False)
    monkeypatch.setenv("CUDNN_CTYPES_CACHE", "0")
    judged(handle)
    assert not list(tmp_path.rglob("*.json"))


def test_settings_of_knobs_that_are_judged_too(handle):
    """One each, beside the config of which cuDNN chooses all."""
    with lowered(layer().expansion(handle), handle) as lowering:
        lowering.faults = lowering.faults._replace(engines={22: "slow"})
        found = [*judging._chosen(lowering, handle, ["fallback"], 4, Selection(engines=[22]))]
    assert {(each.engine, each.known) for each in found} == {(22, "slow")}
    assert [each.source for each in found] == ["engine", *["knobs"] * 4]
    assert [len(each.knobs) for each in found] == [0, 1, 1, 1, 1]
    assert len({each.choice for each in found}) == 5


def test_the_table_and_json():
    wrong = Verdict(2, {"tile": 1}, "a 1", "NaN", "ordinary", "y", (0, 3), 1.5, math.nan, nan=1)
    refused = [Verdict(engine, state="refused", reason="no fp8") for engine in (4, 5, 7)]
    others = Verdict(0, known="slow"), Verdict(1, state="inexact")
    found = Judgement("layer", "matmul", "H200", "9.28", "f", (wrong, *refused, *others), ("tiny",))
    lines = str(found).splitlines()
    assert lines[0] == "'layer' on H200, cuDNN 9.28: matmul"
    assert lines[1].startswith(
        "3 engine configs executed with tiny numbers in 0.0 s: 2 right, 1 wr"
    )
    assert lines[3].split()[:3] == ["engine", "knobs", "verdict"]
    assert lines[-3:] == [
        "engine 2: tile=1 NaN: y[0, 3] is nan instead of 1.5, with ordinary numbers",
        "engines 4, 5, 7 refused: no fp8",
        "engine 0 passed over by builds: slow",
    ]
    assert (len(found), found.wrong, found.right) == (6, (wrong,), others)
    told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert (told["verdicts"][0]["got"], told["verdicts"][0]["knobs"]) == ("nan", {"tile": 1})
    assert told["form"] == "f"


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome("", "SIGSEGV", died=True, note="it ran"), "SIGSEGV while it ran"),
        (Outcome("", "hang", died=True), f"no end in {trial._SECONDS:g} s"),
    ],
)
def test_what_ends_a_child_is_the_verdict(outcome, reason):
    assert trial._verdict(outcome, Verdict(3)) == Verdict(3, state="ended", reason=reason)


def test_an_exception_in_a_child_is_no_verdict():
    outcome = Outcome("", "exit 1", died=True, printed="Traceback\nKeyError: 5\n")
    with pytest.raises(RuntimeError, match=r"^judge: engine 3: KeyError: 5$"):
        trial._verdict(outcome, Verdict(3))


def test_random_numbers_are_refused(handle):
    graph = Graph(io_data_type="float16")
    q, k, v = (graph.tensor((1, 2, 64, 64), name=name) for name in "qkv")
    seed, offset = (graph.tensor((1, 1, 1, 1), data_type="int64") for _ in range(2))
    graph.sdpa(q, k, v, dropout=(0.5, seed, offset))[0].set_output()
    with pytest.raises(ValueError, match=r"^judge: .* makes random numbers"):
        graph.judge(handle)


@pytest.mark.soak
@pytest.mark.parametrize("despite_faults", [False, True])
def test_operands_that_are_computed_beforehand(handle, despite_faults):
    graph = Graph("rows", io_data_type="float16")
    x, s = graph.tensor((8, 64, 32), name="x"), graph.tensor((8, 64, 1), name="s")
    graph.mul(x, graph.rsqrt(s)).set_output(name="y")
    assert graph.expansion(handle).preludes
    found = graph.judge(handle, knobs=0, data="ordinary", despite_faults=despite_faults)
    assert found.right
    assert not found.wrong
    assert ("scratch" in found.form) != despite_faults


def test_what_the_reference_cannot_do_is_told(handle, monkeypatch):
    def refused(*arguments):
        raise refuse("resample is not carried out")

    monkeypatch.setattr(judging, "bounds", refused)
    with pytest.raises(ValueError, match=r"^judge: the reference device: resample is not carried"):
        judged(handle)


@pytest.mark.parametrize(
    ("fault", "state", "median"),
    [("wrong", "wrong", 1.5), ("behind", "writes beyond", None), ("refused", "refused", None)],
)
def test_what_does_no_harm_is_timed(handle, monkeypatch, fault, state, median):
    """In this process; each plan takes 1.5 microseconds."""
    error: Exception = NotSupportedError("execute", 3000, messages=("not today",))

    def trials(task, verdicts):
        execute = task.faulty(backend_execution.execute)
        monkeypatch.setattr(backend_execution, "execute", execute)
        judge = trial._Trial(replace(task, runs=2), handle, lambda note: None)
        return [Verdict.from_dict(json.loads(judge(json.dumps(v.as_dict())))) for v in verdicts]

    def fails(*arguments):
        raise error

    plant(monkeypatch, fault)
    monkeypatch.setattr(judging, "trials", trials)
    monkeypatch.setattr(trial._Trial, "_time", lambda *arguments: 1.5)
    if fault == "refused":
        monkeypatch.setattr(trial._Trial, "_run", fails)
    (verdict,) = judged(handle)
    assert (verdict.state, verdict.median) == (state, median)
    if fault == "refused":
        assert re.match("when executed: .*not today$", verdict.told)
        error = ZeroDivisionError()  # no engine's fault
        with pytest.raises(ZeroDivisionError):
            judged(handle)


@pytest.mark.parametrize(
    ("place", "byte", "beyond"),
    [
        ("y", -1, "1 bytes, from 1 before 'y' on"),
        ("y", 0, ""),
        ("y", 4, "1 bytes between elements of 'y', from byte 4 on"),
        ("y", 8, ""),
        ("y", 12, "1 bytes, from 0 behind 'y' on"),
        ("z", 7, ""),  # of int4, which all may be written
        ("x", 3, "1 bytes of the operand 'x', from byte 3 on"),
        ("workspace", -1, "beyond the workspace"),
        ("workspace", 0, ""),
        ("workspace", 16, "beyond the workspace"),
    ],
)
def test_each_byte_around_results_is_guarded(handle, place, byte, beyond):
    graph = Graph()
    tensors = [
        graph.tensor((2, 2), (4, 1), "float16", uid=1, name="x"),
        graph.tensor((2, 2), (4, 1), "float16", uid=2, name="y"),
        graph.tensor((2, 6), (10, 1), "int4", uid=3, name="z"),
    ]
    images = {uid: np.arange(nbytes, dtype=np.uint8) for uid, nbytes in ((1, 12), (2, 12), (3, 8))}
    with closing(trial.Guarded(handle, tensors, {2, 3}, 16)) as memory:
        for accumulating in (True, False):
            pointers = memory.fill(images, 0xA5, accumulating)
            places = dict(zip("xyz", pointers.values(), strict=True))
            # Of no higher power of two than the alignment.
            assert all(places[each.name] // each.alignment % 2 == 1 for each in tensors)
            assert ctypes.string_at(places["x"], 12) == images[1].tobytes()
            begun = images[2].tobytes() if accumulating else b"\xa5" * 12
            assert ctypes.string_at(places["y"], 12) == begun
        assert memory.usable_workspace.nbytes == 16
        places["workspace"] = memory.usable_workspace.ptr
        ctypes.memset(places[place] + byte, 0x5A, 1)
        results, told = memory.read(images)
        assert told == beyond
        assert results.keys() == {2, 3}
        assert results[2][0] == (0x5A if (place, byte) == ("y", 0) else 0xA5)


# --- an engine that is new for a form of graph is tried before it is taken ------------------------


BOTH = Selection(engines=[0, 1])


@pytest.fixture
def gpu(monkeypatch):
    """Of the reference device, with engines to be tried as on a GPU."""
    monkeypatch.setattr(probation, "is_absent", lambda device: False)
    with use_reference_device(), Handle() as made:
        yield made


@pytest.fixture
def logged(monkeypatch):
    """What probation logs at debug level."""
    messages = []
    monkeypatch.setattr(probation._logger, "isEnabledFor", lambda level: True)
    monkeypatch.setattr(
        probation._logger, "debug", lambda text, *values: messages.append(text % values)
    )
    return messages


@pytest.fixture
def tasks(monkeypatch):
    """What children were given."""
    given = []

    def make(*arguments):
        given.append(Task(*arguments))
        return given[-1]

    monkeypatch.setattr(judging, "Task", make)
    return given


def convolution(batch: int = 4, size: int = 40) -> Graph:
    return layer((batch, 64, size, size), 64)


def engine(graph: Graph, gpu: Handle, **options: Any) -> int:
    plan = graph.build(gpu, **{"selection": BOTH, **options})
    return plan.config.engine.index


def test_a_form_is_tried_once_on_a_small_graph(gpu, tasks):
    assert engine(convolution(), gpu, check="first") == 1
    (task,) = tasks
    assert task.graph.find_tensor("x").dims == (4, 16, 24, 24)
    assert engine(convolution(8, 60), gpu, check="first") == 1
    assert engine(convolution(), gpu) == 1
    assert len(tasks) == 1


@pytest.mark.soak
@pytest.mark.parametrize(("where", "fault"), [("no folder", "ends"), ("plan cache", "wrong")])
def test_a_wrong_engine_is_passed_over(gpu, monkeypatch, tmp_path, where, fault):
    """From then on, wherever verdicts are kept."""
    monkeypatch.setenv("CUDNN_CTYPES_CACHE", "0" if where == "no folder" else str(tmp_path))
    plant(monkeypatch, fault, 1)
    assert engine(convolution(), gpu) == 1
    assert engine(convolution(), gpu, check="first") == 0
    monkeypatch.setattr(judging, "Task", Task)
    assert engine(convolution(), gpu) == 0


@pytest.mark.soak
def test_without_a_right_engine_the_build_fails(gpu, monkeypatch):
    plant(monkeypatch, "NaN")
    with pytest.raises(NotSupportedError, match=r"engine 1: it was judged on .*NaN"):
        convolution().build(gpu, selection=BOTH, check="first")


@pytest.mark.soak
def test_the_environment_asks_for_it(gpu, tasks, monkeypatch):
    monkeypatch.setenv("CUDNN_CTYPES_CHECK", "first")
    engine(convolution(), gpu)
    assert len(tasks) == 1
    monkeypatch.setenv("CUDNN_CTYPES_CHECK", "always")
    with pytest.raises(ValueError, match=r"^CUDNN_CTYPES_CHECK='always': expected first, or 0"):
        engine(convolution(), gpu)


@pytest.mark.soak
def test_a_graph_that_cannot_be_smaller_is_tried_itself(gpu, tasks):
    engine(convolution(2, 12), gpu, check="first")  # 64 channels become 16
    assert tasks[0].graph.find_tensor("x").dims == (2, 16, 12, 12)
    small = Graph("small", io_data_type="float16")
    x = small.tensor((2, 16, 8, 8), packed((2, 16, 8, 8), (0, 2, 3, 1)), name="x")
    small.resample(x, "maxpool", window=2, stride=2)[0].set_output(name="y")
    small.build(gpu, check="first")
    assert tasks[1].graph.find_tensor("x").dims == (2, 16, 8, 8)


@pytest.mark.soak
def test_what_cannot_be_tried_is_built_all_the_same(gpu, tasks, logged):
    graph = Graph("chance", io_data_type="float16")
    q, k, v = (graph.tensor((1, 2, 64, 64), name=name) for name in "qkv")
    seed, offset = (graph.tensor((1, 1, 1, 1), data_type="int64") for _ in range(2))
    graph.sdpa(q, k, v, dropout=(0.5, seed, offset))[0].set_output()
    graph.build(gpu, check="first")
    assert not tasks
    assert logged[0].startswith("graph 'chance': its engines cannot be checked: judge:")


def test_a_large_graph_without_a_small_one_is_not_tried(gpu, tasks, logged, monkeypatch):
    monkeypatch.setattr(Graph, "_small", lambda graph, period: None)
    monkeypatch.setattr(probation, "_LARGEST", 1000)
    assert engine(convolution(), gpu, check="first") == 1
    assert not tasks
    assert logged == ["graph 'layer' is too large to be checked"]


def test_forms_that_were_never_checked_are_logged_once(gpu, logged):
    for graph in (convolution(), convolution(8)):
        engine(graph, gpu)
    (told,) = logged
    assert told.startswith("1 form of graphs built whose engine was never checked")


def test_an_absent_gpu_cannot_be_asked(monkeypatch):
    with pytest.raises(ValueError, match="check: an engine is tried on the GPU itself"):
        convolution().build("H200", check="first")
    monkeypatch.setenv("CUDNN_CTYPES_CHECK", "first")
    with DeviceProperties.preset("H200") as device:
        convolution().build(device).close()
