"""Verdicts that are kept by form, and who passes over what was wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cudnn_ctypes import DeviceProperties, Handle, Selection, use_reference_device
from cudnn_ctypes.frontend.enums import heur_mode
from cudnn_ctypes.frontend.plans import Candidates
from cudnn_ctypes.graph import EngineChoice, PlanCache, Verdict
from cudnn_ctypes.graph.engines.judging import probation
from cudnn_ctypes.graph.engines.judging.kept import NOTHING, keep_verdicts, kept_verdicts
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed


def convolution(channels: int = 16) -> Graph:
    graph = Graph("layer", io_data_type="float16")
    x, w = (
        graph.tensor(dims, packed(dims, (0, 2, 3, 1)), name=name)
        for name, dims in (("x", (2, channels, 6, 6)), ("w", (16, channels, 3, 3)))
    )
    graph.conv_fprop(x, w, padding=1).set_output(name="y")
    return graph


def keep(device: Any, *verdicts: Verdict) -> None:
    keep_verdicts(convolution().expansion(device), device, verdicts)


def test_nothing_is_known_at_first(h200: DeviceProperties) -> None:
    assert kept_verdicts(convolution().expansion(h200), h200) is NOTHING


def test_an_engine_without_a_right_verdict_is_wrong_as_a_whole(h200: DeviceProperties) -> None:
    keep(
        h200,
        Verdict(1, {"kernel_cfg": 3}, state="wrong", reason="for a test"),
        Verdict(2, {"kernel_cfg": 1}, state="NaN"),
        Verdict(2, {"kernel_cfg": 2}),
        Verdict(3, state="inexact"),
        Verdict(4, state="refused"),
    )
    found = kept_verdicts(convolution(32).expansion(h200), h200)
    assert found.fault(EngineChoice(1)).endswith(": wrong: for a test")
    assert found.fault(EngineChoice(2, {"kernel_cfg": 1}))
    assert not found.fault(EngineChoice(2, {"kernel_cfg": 2}))
    assert not found.fault(EngineChoice(3))
    assert found.families == {(1, 3), (2, 1), (2, 2), (3, None)}


def test_verdicts_are_of_one_gpu_and_form(h200: DeviceProperties, a100: DeviceProperties) -> None:
    keep(h200, Verdict(1, state="wrong"))
    assert kept_verdicts(convolution().expansion(a100), a100) is NOTHING
    other = convolution()
    other.io_data_type = None
    for each in other.tensors:
        each.data_type = other.compute_data_type
    assert kept_verdicts(other.expansion(h200), h200) is NOTHING


def test_a_newer_verdict_on_a_config_stays(h200: DeviceProperties) -> None:
    keep(h200, Verdict(1, state="wrong"), Verdict(2))
    keep(h200, Verdict(1))
    found = kept_verdicts(convolution().expansion(h200), h200)
    assert (found.engines, found.choices) == ({}, {})
    assert found.families == {(1, None), (2, None)}


def test_a_damaged_file_is_a_miss(h200: DeviceProperties, tmp_path: Path) -> None:
    keep(h200, Verdict(1, state="wrong"))
    (path,) = tmp_path.rglob("verdict-*.json")
    path.write_text(path.read_text().replace("wrong", "right"))
    assert kept_verdicts(convolution().expansion(h200), h200) is NOTHING


def test_the_cache_shows_and_forgets_them(h200: DeviceProperties) -> None:
    keep(h200, Verdict(7, {"kernel_cfg": 3}, state="wrong"), Verdict(2))
    (entry,) = PlanCache().entries()
    assert (entry.kind, entry.graph) == ("verdict", "2 verdicts, 1 wrong")
    assert (entry.engine, entry.device) == ("engine 7: kernel_cfg=3", "NVIDIA H200")
    PlanCache().clear()
    assert kept_verdicts(convolution().expansion(h200), h200) is NOTHING


def test_a_stored_plan_of_a_wrong_engine_is_not_taken(
    h200: DeviceProperties, tmp_path: Path
) -> None:
    both = Selection(engines=[0, 1])
    first = convolution().build(h200, selection=both, cache=tmp_path / "plans")
    assert first.config.engine.index == 1
    keep(h200, Verdict(1, state="wrong"))
    later = convolution().build(h200, selection=both, cache=tmp_path / "plans")
    assert later.config.engine.index == 0
    again = convolution().build(h200, selection=both, cache=tmp_path / "plans")
    assert again.config.engine.index == 0


def test_the_front_end_passes_over_them(h200: DeviceProperties) -> None:
    expansion = convolution().expansion(h200)
    before = Candidates(expansion, h200)
    before.query([heur_mode.FALLBACK])
    engine = before.config(0).engine.index
    assert before.unwanted(0) == ""
    keep(h200, Verdict(engine, state="wrong", reason="for a test"))
    after = Candidates(expansion, h200)
    after.query([heur_mode.FALLBACK])
    assert after.unwanted(0).endswith("wrong: for a test")


def test_all_that_is_proposed_is_checked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[EngineChoice] = []

    def verdicts(graph: Any, expansion: Any, handle: Any, choices: Any, _: Any) -> list[Verdict]:
        tried.extend(choices)
        return [Verdict(each.engine, each.knobs) for each in choices]

    monkeypatch.setattr(probation, "is_absent", lambda device: False)
    monkeypatch.setattr(probation, "_verdicts", verdicts)
    graph = convolution()
    with use_reference_device(), Handle() as handle:
        for _ in range(2):
            known = probation.checked_proposals(
                graph, graph.expansion(handle), handle, ["a", "fallback"], every_engine=True
            )
    assert len({each.engine for each in tried}) > 5
    assert len(known.families) == len(tried)
