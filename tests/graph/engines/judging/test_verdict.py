"""How results are compared with the exact ones, and which of two verdicts is the worse."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceProperties, Handle, PlanCache, Selection, use_reference_device
from cudnn_ctypes.dtypes import as_data_type
from cudnn_ctypes.frontend.enums import heur_mode
from cudnn_ctypes.frontend.plans import Plans
from cudnn_ctypes.graph import EngineChoice, Verdict
from cudnn_ctypes.graph.engines.judging import probation
from cudnn_ctypes.graph.engines.judging.exact import Evaluation, _smoothed, least, unit
from cudnn_ctypes.graph.engines.judging.judging import bounds
from cudnn_ctypes.graph.engines.judging.verdict import (
    Bound,
    compared,
    keep_verdicts,
    kept_verdicts,
    worse,
)
from cudnn_ctypes.graph.engines.operands import KINDS, images, results
from cudnn_ctypes.graph.engines.selection import NOTHING
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.target import Target
from tools.fuzz.oracle import evaluate
from tools.fuzz.random_graphs import FAMILIES, describe, draw

from ...families import CASES, ONE_OF_EACH
from .planted import layer

EXACT = np.linspace(-4, 4, 60).reshape(3, 4, 5)
BOUND = Bound(EXACT, np.full_like(EXACT, 0.01))


def _compared(change: float, data: str = "ordinary", notes: tuple[str, ...] = ()) -> Verdict:
    result = EXACT.copy()
    result[1, 2, 3] += change
    return compared(Verdict(7, notes=notes), "y", result, BOUND, data)


@pytest.mark.parametrize(
    ("change", "data", "notes", "state"),
    [
        (0.1, "ordinary", (), "wrong"),
        (0.1, "offset", (), "inexact"),
        (2.0, "offset", (), "wrong"),
        (np.nan, "ordinary", (), "NaN"),
        (np.nan, "rows", (), "NaN"),
        (np.inf, "tiny", (), "inexact"),
        (0.1, "ordinary", ("tensor_core", "winograd_tile_4x4"), "inexact"),
        (2.0, "ordinary", ("reduced_precision_reduction",), "wrong"),
        (np.nan, "ordinary", ("winograd",), "NaN"),
    ],
)
def test_what_may_be_inexact(change, data, notes, state):
    assert _compared(change, data, notes).state == state


def test_the_verdict_is_about_the_worst_element():
    result = EXACT.copy()
    result[0, 1] -= 0.02
    result[2, 3, 1] += 0.0625
    base = Verdict(7, {"tile": 1}, "a 1", notes=("fft",))
    expected = EXACT[2, 3, 1]
    assert compared(base, "y", result, BOUND, "rows") == Verdict(
        7, {"tile": 1}, "a 1", "inexact", "rows", "y", (2, 3, 1), expected, expected + 0.0625,
        pytest.approx(0.0625 / 4), 0.01 / 4, notes=("fft",)
    )  # fmt: skip
    result[0, 0, :3] = np.nan, np.inf, 9
    found = compared(Verdict(7), "y", result, BOUND, "rows")
    assert (found.state, found.index, found.error, found.nan) == ("NaN", (0, 0, 0), np.inf, 2)


def test_elements_that_are_not_known_or_may_turn_over():
    allowed = BOUND.allowed.copy()
    allowed[0, 0] = np.inf
    result = EXACT.copy()
    result[0, 0] = np.nan
    result[1, 1, :2] += 8
    for turning, state in ((2, "right"), (1, "wrong")):
        found = compared(Verdict(7), "y", result, Bound(EXACT, allowed, turning), "ordinary")
        assert (found.state, found.nan) == (state, 0)
    nothing = np.zeros((0, 3))
    assert compared(Verdict(7), "y", nothing, Bound(nothing, nothing), "rows") == Verdict(7)


ROUNDING = {  # half a unit in the last place, and the smallest number
    "float16": (2**-11, 2**-24), "bfloat16": (2**-8, 2**-126), "float32": (2**-24, 2**-126),
    "fp8_e4m3": (2**-4, 2**-9), "int32": (0, 1), "bool": (0, 0),
}  # fmt: skip


def test_what_rounding_changes():
    types = {name: as_data_type(name) for name in ROUNDING}
    assert {name: (unit(each), least(each)) for name, each in types.items()} == ROUNDING


def test_what_is_allowed_is_the_least_of_all_parts_of_an_element():
    """Rows, and 2048 columns at a time, which are 4096 elements; the last part is longer."""
    change = np.random.default_rng(6).random((2, 9000)) * [[1], [0.25]]
    columns = np.maximum.reduceat(change.max(0), [0, 2048, 4096, 6144])
    columns = np.repeat(columns, [2048, 2048, 2048, 9000 - 6144])
    np.testing.assert_array_equal(
        _smoothed(change), np.minimum(change.max(1, keepdims=True), columns)
    )
    np.testing.assert_array_equal(_smoothed(change[:, :9]), np.full((2, 9), change[:, :9].max()))


def test_bounds_of_numbers_that_are_rounded_once():
    graph = Graph(io_data_type="float16")
    graph.relu(graph.tensor((4, 8, 512), name="x")).set_output(name="y")
    expansion = _expanded(graph)
    evaluation = Evaluation(expansion)
    operands = images(expansion, graph.validate(), "ordinary", {})
    (bound,) = bounds(expansion, evaluation, operands).values()
    x = evaluation.load(operands, graph.inputs[0].uid).astype(np.float64)
    np.testing.assert_array_equal(bound.exact, np.maximum(x, 0))
    assert (bound.allowed >= 8 * (2**-11 * bound.exact + 2**-24)).all()
    assert (bound.allowed <= 8 * (2**-11 * 2 + 2**-24)).all()
    assert (bound.turning, bound.scale) == (0, x.max())


def test_the_worse_of_two():
    right, off, nan = _compared(0.001), _compared(0.5), _compared(np.nan)
    assert worse(right, off) is off
    assert worse(nan, off) is nan
    assert worse(right, _compared(0.002)).error > right.error


# --- the reference of a judge: against another oracle, and rounding that it must call right ------


H200 = Target(92800, 90)
WITHOUT_A_MEANING = {"products of experts"}


def _expanded(graph: Graph) -> Any:
    return graph._expanded(graph.validate(), H200)


def _judged(graph: Graph, kind: str, seed: int) -> list[Verdict]:
    """Verdicts on results that were rounded at random."""
    expansion = _expanded(graph)
    evaluation = Evaluation(expansion)
    operands = images(expansion, graph.validate(), kind, {})
    allowed = bounds(expansion, evaluation, operands)
    found = evaluation.rounded(operands, np.random.default_rng(seed))
    return [
        compared(Verdict(0), each.name, found[each.uid], allowed[each.uid], kind)
        for each in results(expansion)
    ]


NAMES = sorted({*ONE_OF_EACH, *list(CASES)[::5]} - WITHOUT_A_MEANING)[::4]


@pytest.mark.thinned(3, always=("max pooling with index, float32", "logical_not"))
@pytest.mark.parametrize(("name", "kind"), list(zip(NAMES, itertools.cycle(KINDS))))
def test_rounding_alone_is_right(name, kind):
    """Each graph with data of one kind, in turn: the bounds come from operations, not graphs."""
    with np.errstate(all="ignore"):
        found = _judged(CASES[name].graph(), kind, 99)
    assert {each.state for each in found} == {"right"}, [each.told for each in found]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("family", FAMILIES)
def test_another_oracle_says_the_same(family, seed):
    pytest.importorskip("torch")
    graph = describe(draw(family, seed))
    nodes = graph.validate()
    expansion = _expanded(graph)
    evaluation = Evaluation(expansion)
    operands = images(expansion, nodes, "ordinary", {})
    arrays = {each.name: evaluation.load(operands, each.uid) for each in graph.inputs}
    with np.errstate(all="ignore"):
        ours, theirs = evaluation.exact(operands), evaluate(nodes, arrays)
    for each in graph.outputs:
        one, other = (np.asarray(x, np.float64) for x in (ours[each.uid], theirs[each.name]))
        known = np.isfinite(one) & np.isfinite(other)
        assert known.mean() > 0.9
        scale = np.abs(other[known]).max()
        assert np.abs(one - other)[known].max() <= 1e-9 * scale, each.name


# --- verdicts that are kept by form, and who passes over what was wrong ---------------------------


def keep(device: Any, *verdicts: Verdict) -> None:
    keep_verdicts(layer().expansion(device), device, verdicts)


def test_the_latest_verdict_on_each_setting_is_kept(h200):
    expansion = layer().expansion(h200)
    tried = [Verdict(1, {"kernel_cfg": 4}, state="wrong", reason="off"), Verdict(1, {"tile": 2})]
    keep(h200, *tried, Verdict(2, state="NaN", reason="no number"), Verdict(3, state="refused"))
    kept = kept_verdicts(expansion, h200)
    assert re.fullmatch(r"it was judged on .* on \d{4}-\d\d-\d\d: NaN: no number", kept.engines[2])
    assert kept.engines.keys() == {2}
    assert kept.choices.keys() == {tried[0].choice, EngineChoice(2)}
    assert kept.families == {(1, 4), (1, None), (2, None)}
    (entry,) = PlanCache().entries()
    assert (entry.kind, entry.graph) == ("verdict", "3 verdicts, 2 wrong")
    keep(h200, Verdict(2), Verdict(1, {"tile": 2}, state="ended"))
    kept = kept_verdicts(expansion, h200)
    assert (kept.engines.keys(), len(kept.choices), len(kept.families)) == ({1}, 2, 3)
    with DeviceProperties.preset("H100") as other:
        assert kept_verdicts(expansion, other) is NOTHING


def test_a_stored_plan_of_a_wrong_engine_is_not_taken(h200, tmp_path):
    both = Selection(engines=[0, 1])
    first = layer().build(h200, selection=both, cache=tmp_path / "plans")
    assert first.config.engine.index == 1
    keep(h200, Verdict(1, state="wrong"))
    later = layer().build(h200, selection=both, cache=tmp_path / "plans")
    assert later.config.engine.index == 0
    again = layer().build(h200, selection=both, cache=tmp_path / "plans")
    assert again.config.engine.index == 0
    assert layer().build(h200, config=EngineChoice(1)).config.engine.index == 1
    (row,) = [each for each in layer().explain(h200, "fallback") if each.engine == 1]
    assert (row.state, row.reason[:27]) == ("excluded", "it was judged on this machi")


def test_the_front_end_passes_over_them(h200):
    expansion = layer().expansion(h200)
    before = Plans(expansion, h200)
    before.query([heur_mode.FALLBACK])
    engine = before.config(0).engine.index
    assert before.unwanted(0) == ""
    keep(h200, Verdict(engine, state="wrong", reason="for a test"))
    after = Plans(expansion, h200)
    after.query([heur_mode.FALLBACK])
    assert after.unwanted(0).endswith("wrong: for a test")


def test_all_that_is_proposed_is_checked_at_once(monkeypatch):
    tried = []

    def verdicts(graph, expansion, handle, choices):
        tried.extend(choices)
        return [Verdict(each.engine, each.knobs) for each in choices]

    monkeypatch.setattr(probation, "is_absent", lambda device: False)
    monkeypatch.setattr(probation, "_verdicts", verdicts)
    graph = layer()
    with use_reference_device(), Handle() as handle:
        for _ in range(2):
            known = probation.checked_proposals(
                graph, graph.expansion(handle), handle, ["a", "fallback"], every_engine=True
            )
    assert len({each.engine for each in tried}) > 5
    assert len(known.families) == len(tried)
