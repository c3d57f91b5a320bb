"""The judge finds what is wrong with an engine, and builds pass it over from then on."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudnn_ctypes import Handle, NotSupportedError, Selection, use_reference_device
from cudnn_ctypes.graph import EngineChoice, Judgement
from cudnn_ctypes.graph.engines.judging import judging
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed
from cudnn_ctypes.reference.device.backend_steps import refuse

from .planted import PlantedTask


@pytest.fixture
def handle() -> Iterator[Handle]:
    with use_reference_device(), Handle() as made:
        yield made


def convolution() -> Graph:
    """Of float16 channels last: some of its engines are precompiled."""
    graph = Graph("layer", io_data_type="float16")
    x, w = (
        graph.tensor(dims, packed(dims, (0, 2, 3, 1)), name=name)
        for name, dims in (("x", (2, 16, 6, 6)), ("w", (16, 16, 3, 3)))
    )
    graph.conv_fprop(x, w, padding=1).set_output(name="y")
    return graph


def judged(handle: Handle, **options: Any) -> Judgement:
    options = {"knobs": 0, "data": "ordinary", "selection": Selection(engines=[ENGINE]), **options}
    return convolution().judge(handle, **options)


def plant(monkeypatch: pytest.MonkeyPatch, fault: str, engine: int | None = None) -> None:
    task = functools.partial(PlantedTask, fault=fault, engine=engine)
    monkeypatch.setattr(judging, "Task", task)


ENGINE = 0


@pytest.mark.parametrize(
    ("fault", "state", "says"),
    [
        ("wrong", "wrong", r"^y\[0, 5, 0, 0\] is .* instead of .*, with ordinary numbers$"),
        ("NaN", "NaN", r"^y\[0, 3, 0, 0\] is nan instead of"),
        ("unwritten", "NaN", r"^y\[0, 7, 0, 0\]"),
        ("behind", "writes beyond", r"^2 bytes, from 6 behind 'y' on$"),
        ("before", "writes beyond", r"^2 bytes, from 4 before 'y' on$"),
        ("operand", "writes beyond", r"^1 bytes of the operand 'x', from byte 0 on$"),
        ("ends", "ended", "^SIGSEGV while executing it with ordinary numbers$"),
    ],
)
def test_a_planted_fault_is_found(
    handle: Handle, monkeypatch: pytest.MonkeyPatch, fault: str, state: str, says: str
) -> None:
    plant(monkeypatch, fault)
    (verdict,) = judged(handle)
    assert (verdict.state, verdict.choice) == (state, EngineChoice(ENGINE))
    assert re.search(says, verdict.told)


def test_other_bits_each_time_are_told(handle: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "changing")
    (verdict,) = judged(handle)
    assert (verdict.state, verdict.same_bits) == ("right", False)


def test_the_others_are_judged_though_one_ends_its_process(
    handle: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, "ends", 1)
    found = judged(handle, selection=Selection(engines=[0, 1, 2]))
    assert {each.engine: each.state for each in found} == {
        0: "right",
        1: "ended",
        2: "right",
    }
    assert [each.engine for each in found.wrong] == [1]


def test_what_was_wrong_is_passed_over_and_can_be_chosen(
    handle: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, "wrong", 1)
    graph, both = convolution(), Selection(engines=[0, 1])
    first = graph.build(handle, selection=both).config.engine.index
    assert first == 1
    judged(handle, selection=both)
    assert graph.build(handle, selection=both).config.engine.index == 0
    other = convolution()
    other.find_tensor("x").dims = (4, 16, 12, 12)  # of the same form
    other.find_tensor("x").strides = packed((4, 16, 12, 12), (0, 2, 3, 1))
    with pytest.raises(
        NotSupportedError, match=r"engine 1: it was judged on this machine on .*: w"
    ):
        other.build(handle, selection=Selection(engines=[1]))
    (row,) = [each for each in graph.explain(handle, "fallback") if each.engine == 1]
    assert row.state == "excluded"
    assert "it was judged on this machine" in row.reason
    assert graph.build(handle, config=EngineChoice(1)).config.engine.index == 1


def test_a_later_verdict_takes_the_place(handle: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    both = Selection(engines=[0, 1])
    with monkeypatch.context() as patched:
        plant(patched, "wrong", 1)
        judged(handle, selection=both)
    judged(handle, selection=both)
    assert convolution().build(handle, selection=both).config.engine.index == 1


def test_verdicts_are_not_kept_if_told_so(
    handle: Handle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plant(monkeypatch, "wrong")
    judged(handle, keep=False)
    monkeypatch.setenv("CUDNN_CTYPES_CACHE", "0")
    judged(handle)
    assert not list(tmp_path.rglob("*.json"))


def test_every_kind_of_numbers_and_settings_of_knobs(handle: Handle) -> None:
    found = judged(handle, knobs=2, data=None, selection=Selection(engines=[22]))
    told = [each for each in found if each.state == "right"]
    assert len(told) == 3
    assert len({each.choice for each in told}) == 3
    assert found.data == ("ordinary", "tails", "rows", "offset", "tiny")


def test_the_table_and_json(handle: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "NaN")
    found = judged(handle)
    lines = str(found).splitlines()
    assert lines[0].startswith("'layer' on reference device (NumPy on host memory), cuDNN 9")
    assert "1 engine config executed with ordinary numbers" in lines[1]
    assert lines[3].split()[:3] == ["engine", "knobs", "verdict"]
    assert any(line.startswith("engine 0 NaN: y[0, 3, 0, 0] is nan") for line in lines)
    told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert (told["verdicts"][-1]["got"], told["verdicts"][-1]["nan"]) == ("nan", 1)
    assert told["form"] == convolution().expansion(handle).form


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"data": "odd"}, ValueError, "^data: expected some of ordinary, tails, .* got 'odd'$"),
        ({"data": 3}, TypeError, "^data: expected names of kinds of numbers, got 3"),
        ({"data": []}, TypeError, "^data: "),
        ({"knobs": -1}, ValueError, "^knobs: "),
        ({"runs": 0}, ValueError, "^runs: "),
        ({"keep": "no"}, TypeError, "^keep: expected True or False"),
        ({"despite_faults": 1}, TypeError, "^despite_faults: "),
    ],
)
def test_wrong_arguments(
    handle: Handle, options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        judged(handle, **options)


def test_what_is_no_handle() -> None:
    graph: Any = convolution()
    with pytest.raises(TypeError, match="handle: plans are judged on a GPU that is there"):
        graph.judge("H200")


def test_random_numbers_are_refused(handle: Handle) -> None:
    graph = Graph(io_data_type="float16")
    q, k, v = (graph.tensor((1, 2, 64, 64), name=name) for name in "qkv")
    seed, offset = (graph.tensor((1, 1, 1, 1), data_type="int64") for _ in range(2))
    graph.sdpa(q, k, v, dropout=(0.5, seed, offset))[0].set_output()
    with pytest.raises(ValueError, match=r"^judge: .* makes random numbers"):
        graph.judge(handle)


@pytest.mark.parametrize("despite_faults", [False, True])
def test_operands_that_are_computed_beforehand(handle: Handle, despite_faults: bool) -> None:
    graph = Graph("rows", io_data_type="float16")
    x, s = graph.tensor((8, 64, 32), name="x"), graph.tensor((8, 64, 1), name="s")
    graph.mul(x, graph.rsqrt(s)).set_output(name="y")
    assert graph.expansion(handle).preludes
    found = graph.judge(handle, knobs=0, data="ordinary", despite_faults=despite_faults)
    assert found.right
    assert not found.wrong
    assert ("scratch" in found.form) != despite_faults


def test_what_the_reference_cannot_do_is_told(
    handle: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*arguments: Any) -> None:
        raise refuse("resample is not carried out")

    monkeypatch.setattr(judging, "bounds", refused)
    with pytest.raises(ValueError, match=r"^judge: the reference device: resample is not carried"):
        judged(handle)


def test_integers_without_a_meaning_are_refused(handle: Handle) -> None:
    graph = Graph(io_data_type="float32")
    x = graph.tensor((2, 8, 16), data_type="int32", name="x")
    graph.reduction(x, "max", axes=[2]).set_output(name="y", data_type="float32")
    with pytest.raises(ValueError, match="tensor 'x': random int32 numbers would have no meaning"):
        graph.judge(handle)
