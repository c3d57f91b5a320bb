"""What is told of the engines for a graph, and building with one of them."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.errors import NotSupportedError
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.backend.engine import EngineChoice, Knob
from cudnn_ctypes.graph.engines import refusals
from cudnn_ctypes.graph.engines.explaining.examination import options_of
from cudnn_ctypes.graph.engines.explaining.explanation import EngineRow, Explanation
from cudnn_ctypes.graph.engines.refusals import (
    ONLY_THERE,
    BuildFailure,
    Refusal,
    engine_refusals,
    refusal,
)
from cudnn_ctypes.graph.engines.selection import Selection
from cudnn_ctypes.graph.lower import lowering
from cudnn_ctypes.graph.lower.faults import Faults
from cudnn_ctypes.graph.run.scratch import Scratch
from cudnn_ctypes.raw import cudnnStatus_t

from ..families import CASES

NEWEST = 92800  # has engines for all cases on an H200


def _explained(name: str, device: DeviceProperties, **options: object) -> Explanation:
    with CASES[name].graph() as graph:
        return graph.explain(device, **options)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "name", ["convolution", "convolution + bias + relu", "matmul + bias + gelu"]
)
def test_the_first_row_is_what_is_built(name, h200):
    with CASES[name].graph() as graph:
        told = graph.explain(h200, ("a", "fallback"))
        assert told.rows[0].proposed_by[0] == "a 1"
        supported = {row.state: row.supported for row in told}
        known = {"works": True, "accepted": None, "undecided": None, "excluded": None}
        assert supported.items() <= {**known, "refused": False}.items()
        for row in told.usable:
            fused = "runtime_compilation" in row.behavior_notes
            other = "cuBLASLt" if "cublaslt_dependency" in row.behavior_notes else "precompiled"
            assert row.kind == ("runtime fusion" if fused else other)
            assert (row.shared_memory is None) <= (not fused)
        plan = graph.build(h200)
        assert plan.behavior_notes == set(told.usable[0].behavior_notes)
        assert plan.config.choice == told.usable[0].choice
        assert plan.workspace_size == told.usable[0].workspace
        assert plan.numerical_notes == set(told.usable[0].numerical_notes)


ROWS = (
    EngineRow(7, "works", ("a 1", "b 2"), "precompiled", {"tile": 1}, {"tile": Knob(0, 3, 1)},
              ("tensor_core",), ("runtime_compilation",), 1024),
    EngineRow(7, "accepted", (), "precompiled", shared_memory=5),
    *(EngineRow(n, "refused", status="NOT_SUPPORTED", reason="k > 3") for n in (2, 3, 5, 6, 7)),
    *(EngineRow(n, "undecided", reason="the GPU tells", refused_at="plan") for n in (11, 7)),
)  # fmt: skip


def test_the_explanation_as_text():
    about = """\
proposed by heuristics: 1 of mode a, 2 of mode b
heuristics of mode fallback refuse: it is old
computed beforehand: a copy of x
plan 1 of a program: mul
plan 2 of a program: matmul
known fault 'odd sizes': passed over"""
    told = Explanation(
        *("net", "matmul", "H200", "9.28", ROWS, 13, {"a": 1, "b": 2}, {"fallback": "it is old"}),
        *("", {"odd sizes": "passed over"}, ("a copy of x",), ("mul", "matmul")),
    )
    assert (
        str(told)
        == f"""\
'net' (matmul) on H200, cuDNN 9.28: 1 of 13 engines can do it, in 2 configs; 1 more perhaps where \
the GPU is
{about}

engine  kind         configs  notes        knobs
     7  precompiled        2  tensor_core  tile=0-3

engine  kind         proposed  knobs   workspace  shared memory  result
     7  precompiled  a 1, b 2  tile=1      1,024              -  works
     7  precompiled  -         -               -              5  accepted, not compiled

engines 7, 11: the GPU tells
engines 2, 3, 5-7: NOT_SUPPORTED: k > 3"""
    )
    refused = dataclasses.replace(told, rows=(), refusal="no")
    title = "'net' (matmul) on H200, cuDNN 9.28: refused before any engine is asked: no"
    assert str(refused) == f"{title}\n{about}"


def test_what_a_build_is_told_to_take_the_best_config():
    assert options_of(ROWS[1::-1]) == {}
    assert options_of([ROWS[1], EngineRow(5, "works", ("b 2", "c 1"))]) == {"heuristics": "b"}
    assert options_of(ROWS[1:2]) == {"config": EngineChoice(7)}


@pytest.mark.soak
def test_engines_of_runtime_fusion_are_compiled_when_asked(h200):
    name = "matmul + bias + gelu"
    only = Selection(engines=[_explained(name, h200).usable[0].engine])
    before = _explained(name, h200, heuristics="fallback", selection=only)
    after = _explained(name, h200, heuristics="fallback", selection=only, compile=True)
    assert [row.state for row in before.usable] == ["accepted"]
    assert [row.state for row in after.usable] == ["works"]
    assert dataclasses.replace(after.usable[0], state="accepted") == before.usable[0]
    assert "accepted, not compiled" in str(before)
    assert "accepted" not in str(after)


@pytest.mark.soak
def test_engines_that_want_a_kernel_chosen_are_asked_for_each(h200):
    """Left to cuDNN, their kernel_cfg is refused whatever the graph."""
    with CASES["attention"].graph() as forward, CASES["attention, backward"].graph() as backward:
        for graph in (forward, backward):
            told = graph.explain(h200)
            assert not any("must be set" in row.reason for row in told)
            chosen = [row for row in told if row.knobs and not row.proposed_by]
            for row in chosen:
                with graph.engine(h200, row.engine) as engine:
                    with pytest.raises(NotSupportedError, match="KERNEL_CFG knob must be set"):
                        engine.config()
                    engine.config(row.knobs).close()
            if graph is forward:
                assert chosen or raw.load().version < NEWEST


def test_engines_that_compute_wrong_numbers_are_told(h200, monkeypatch):
    before = _explained("convolution", h200, heuristics="a")
    wrong = before.rows[0].engine
    monkeypatch.setattr(lowering, "faults_of", lambda *_: Faults({wrong: "it is wrong"}))
    told = _explained("convolution", h200, heuristics="a", warden=False)
    assert {(r.state, r.reason) for r in told if r.engine == wrong} == {("excluded", "it is wrong")}
    assert {r.engine for r in told.usable} == {r.engine for r in before.usable} - {wrong}


@pytest.mark.parametrize(
    ("knob", "text"),
    [(Knob(0, 23, 1), "0-23"), (Knob(8, 64, 8), "8-64 by 8"), (Knob(3, 3, 1), "3")],
)
def test_ranges_of_knobs_are_short(knob, text):
    assert str(knob) == text


# --- building with one config --------------------------------------------------------------------


def test_an_engine_shows_its_knobs_and_makes_configs(h200):
    with CASES["convolution"].graph() as graph:
        row = graph.explain(h200, "a").rows[0]
        with graph.engine(h200, row.engine) as engine:
            assert engine.index == row.engine
            assert engine.knobs == row.knob_ranges
            notes = ", ".join(sorted(row.numerical_notes + row.behavior_notes))
            assert repr(engine) == f"Engine({row.engine}, {notes})"
            with engine.config(row.knobs) as config:
                plan = graph.build(h200, config=config)
        assert plan.config.choice == row.choice
        assert graph.engine_count(h200) > row.engine


def test_configs_meet_the_selection_too(h200):
    with CASES["convolution"].graph() as graph:
        row = graph.explain(h200, "a").rows[0]
        with pytest.raises(NotSupportedError, match="has the note tensor_core"):
            graph.build(h200, config=row, selection=Selection(forbid="tensor_core"))


def test_the_first_wanted_config_is_built(h200):
    with CASES["convolution"].graph() as graph:
        plan = graph.build(h200, selection=Selection(forbid="tensor_core"))
        assert "tensor_core" not in plan.numerical_notes
        with pytest.raises(NotSupportedError, match="lacks the note winograd") as caught:
            graph.build(h200, selection=Selection(require="winograd"))
        assert "selection=Selection(require={'winograd'})" in str(caught.value)


@pytest.mark.soak
def test_a_limit_of_workspace_counts_what_operations_keep_there(h200):
    with CASES["attention, backward"].graph() as graph:
        graph.validate()
        kept, own = (
            Scratch(graph.expansion(h200).tensors).size,
            graph.explain(h200).usable[0].workspace,
        )
        assert kept > 0
        assert own is not None
        plan = graph.build(h200)
        assert plan.workspace_size >= kept + own
        limit = plan.workspace_size
        assert graph.build(h200, workspace_limit=limit).workspace_size == limit
        with pytest.raises(ValueError, match=f"the operations keep {kept} bytes between"):
            graph.build(h200, workspace_limit=kept - 1)
        with pytest.raises(ValueError, match="workspace_limit: 5 bytes are too few"):
            graph.explain(h200, selection=Selection(workspace_limit=5))


# --- which of cuDNN's lines tells ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        (["x.getStatus()", "status"], "NOT_SUPPORTED: cuDNN gives no reason (x.getStatus())"),
        ([], "NOT_SUPPORTED: cuDNN gives no reason"),
        (["k > 3", "f(x)"], "NOT_SUPPORTED: k > 3"),
        (["f(x) && (g(y) || z)", "f(x)"], "NOT_SUPPORTED: f(x) && (g(y) || z)"),
        (
            ["k > 3", "CUDNN_STATUS_NOT_SUPPORTED_SHAPE; Reason: x != y", "f(a(b), c)"],
            "NOT_SUPPORTED_SHAPE: x != y",
        ),
        (
            ["k > 3", "CUDNN_STATUS_NOT_SUPPORTED_SHAPE; Reason: check(a)"],
            "NOT_SUPPORTED_SHAPE: k > 3",
        ),
        (["none (cur=0x7ffe45bdfdd8)\n at: true"], "NOT_SUPPORTED: none (cur=0x…)"),
    ],
)
def test_the_telling_line(messages, says):
    error = NotSupportedError(
        "cudnnBackendFinalize", cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED, messages=messages
    )
    assert str(refusal(error)) == says
    assert refusal(error).messages == tuple(messages)


def test_the_message_of_a_build_without_an_engine(monkeypatch):
    refused = [
        (0, Refusal("ARCH_MISMATCH", "Hopper only")),
        *((n, Refusal("NOT_SUPPORTED", f"engine {n} wants k > 3")) for n in (1, 2)),
        (3, Refusal("EXECUTION_FAILED", "no GPU")),
        *((n, Refusal("NOT_SUPPORTED", f"k > {n}")) for n in range(4, 11)),
    ]
    monkeypatch.setattr(refusals, "_refused_engines", lambda graph, device, compile: refused)
    monkeypatch.setattr(refusals, "ensure_driver", lambda: SimpleNamespace(is_stub=True))
    monkeypatch.setattr(refusals, "engine_count", lambda graph: 11)
    where, why = f"engine 3: {ONLY_THERE}", "engine 1, 2: NOT_SUPPORTED: this engine wants k > 3"
    others = tuple(f"engine {n}: NOT_SUPPORTED: k > {n}" for n in range(4, 11))
    told = (why, f"{where} (EXECUTION_FAILED: no GPU)", *others, "engine 0: ARCH_MISMATCH: Hopper")
    assert engine_refusals(None, None) == (*told[:8], "and 2 more reasons")
    failure, expansion = BuildFailure(), SimpleNamespace(operations="matmul")
    options = ["a", "b"], Selection(), None, None
    assert failure.error(expansion, *options).messages == engine_refusals(None, None)
    failure.mode("a", NotSupportedError("f", cudnnStatus_t(3000), messages=["k > 3"]))
    failure.refused(EngineChoice(1), Refusal("NOT_SUPPORTED", "k > 4"))
    failure.refused(EngineChoice(2), "it is wrong")
    error = failure.error(expansion, *options)
    assert error.messages == (
        *("heuristics a: NOT_SUPPORTED: k > 3", "engine 1: NOT_SUPPORTED: k > 4"),
        "engine 2: it is wrong",
    )
    assert error.arguments == {"graph": "matmul", "heuristics": "a, b"}
    assert error.hint.startswith(f"{where}; build it there. Graph.explain(device) shows every")
    for condition in ("is slow", "is large", "is large"):
        failure.unwanted(condition)
    error = failure.error(expansion, ["a"], Selection(engines=[4]), None, None)
    assert error.hint == (
        f"{where}; build it there. the selection left out 3 of the 5 configs that heuristics "
        "propose: 2 (is large), 1 (is slow). This graph has engines 0 to 10; those that heuristics "
        "do not propose are built by config=EngineChoice(engine). Graph.explain(device, "
        "selection=…) shows each"
    )
