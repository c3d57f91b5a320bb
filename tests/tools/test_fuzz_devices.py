"""The comparison of two devices: its draws, its judgement, and how it minimizes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import use_reference_device
from tools.fuzz.devices import main
from tools.fuzz.devices.batches import judge
from tools.fuzz.devices.catalogue import FAMILIES, draw, redraw, schedule
from tools.fuzz.devices.comparison import differences, spread
from tools.fuzz.devices.draw import Draw
from tools.fuzz.devices.freedoms import FREEDOMS
from tools.fuzz.devices.machine import Machine, Result
from tools.fuzz.devices.minimizing import minimized
from tools.fuzz.devices.program import Operand, Program


@pytest.fixture(scope="module")
def reference_machine() -> Iterator[Machine]:
    with use_reference_device():
        yield Machine()


CALLS = [name for name in FAMILIES if not name.startswith(("layer 2", "graph"))]


def test_a_seed_draws_the_same_choices() -> None:
    one, other = (Draw("a", 5) for _ in range(2))
    for each in (one, other):
        each.choice("mode", ("max", "average"))
        each.integer("size", 1, 1000)
        each.chance("in place", 0.5)
    assert one.case == other.case
    assert one.case != {**one.case, "seed": 6}


def test_choices_that_are_given_are_kept_if_they_fit() -> None:
    fixed = Draw("a", 5, {"mode": "average", "size": 70, "layout": "gone"})
    assert fixed.choice("mode", ("max", "average")) == "average"
    assert fixed.integer("size", 1, 50) == 50
    assert fixed.choice("layout", ("packed", "last")) == "packed"
    assert fixed.chance("in place", 0.9) is False
    assert fixed.options["mode"].plainer == ("max",)
    assert fixed.options["size"].plainer == (1, 25, 49)
    assert fixed.options["layout"].plainer == ()


@pytest.mark.parametrize("family", CALLS)
def test_a_case_is_drawn_again_from_its_text(family: str) -> None:
    for seed in range(4):
        choices, program = draw(family, seed)
        again, same = redraw(json.loads(json.dumps(choices.case)))
        assert again.case == choices.case
        assert same.steps == program.steps
        assert same.operands == program.operands
        assert same.descriptors == program.descriptors
        assert [*redraw({**choices.case, "choices": {}})[0].options]


def test_the_schedule_has_every_family() -> None:
    names = tuple(FAMILIES)
    assert schedule(0, 40, names) == [*schedule(0, 10, names), *schedule(10, 30, names)]
    assert {name for name, _ in schedule(0, 6000, names)} == set(names)


def test_the_reference_device_agrees_with_itself() -> None:
    judged = judge([(family, 1) for family in FAMILIES], ("reference", "reference"))
    assert [str(difference) for each in judged for difference in each.differences] == []
    succeeded = sum(each.one.succeeded for each in judged)
    assert succeeded > len(judged) / 2


def test_a_planted_difference_is_found_and_minimized() -> None:
    pair = ("reference", "planted")
    judged = judge([("pooling forward", seed) for seed in range(40)], pair)
    found = [each for each in judged if each.differences]
    assert found
    case = max((each.draw.case for each in found), key=lambda case: len(str(case)))
    key = next(each.key(each.differences[0]) for each in found if each.draw.case == case)
    small = minimized(case, key, pair, seconds=20)
    strides = [value for name, value in small["choices"].items() if name.startswith("stride")]
    assert sorted(strides)[-1] == 2
    assert small["choices"]["x.layout"] == "packed"
    assert small["choices"]["x.n"] == 1
    (again,) = judge([small], pair)
    assert again.key(again.differences[0]) == key


def test_the_command_tells_what_was_drawn(tmp_path: Any, capsys: pytest.CaptureFixture) -> None:
    options = ["--devices", "reference", "planted", "--cases", "40", "--out", str(tmp_path)]
    assert main([*options, "--families", "pooling forward", "--minimize", "0"]) == 1
    printed = capsys.readouterr().out
    assert "cudnnPoolingForward: " in printed
    assert "pooling forward|number|y|" in printed
    line = next(part for part in printed.splitlines() if part.strip().startswith('{"family"'))
    for device, differs in (("planted", 1), ("reference", 0)):
        pair = ["--devices", "reference", device]
        assert main(["--again", str(tmp_path), *pair]) == differs
        last = capsys.readouterr().out.splitlines()[-1]
        assert (" again: 0 differences of 0 kinds" in last) == (not differs)
    assert "fewer than 50: " in printed
    assert main(["--replay", line, "--devices", "reference", "reference"]) == 0
    assert "no difference" in capsys.readouterr().out


RECORDED = json.loads((Path(__file__).parent / "statuses_of_919.json").read_text())


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: f"{case['family']} {case['seed']}")
def test_the_reference_device_returns_the_status_of_a_gpu(
    reference_machine: Machine, case: Any
) -> None:
    """The last status of each case, as cuDNN 9.19 returned it on an H200."""
    _, program = redraw(case)
    with np.errstate(all="ignore"):
        found = program.run(reference_machine)
    assert list(found.statuses[-1]) == case["last"]


class TestComparison:
    """Of results that are made up."""

    def program(self, **about: Any) -> Any:
        program = Program(Draw("a", 1))
        program.steps = [("cudnnSoftmaxForward", {})]
        program.array("y", "FLOAT", (4,), out=True, **about)
        return program

    def result(self, *numbers: float, status: str = "SUCCESS", **about: Any) -> Result:
        outputs = {"y": np.array(numbers, np.float32)}
        return Result([("cudnnSoftmaxForward", status)], outputs=outputs, **about)

    def kinds(self, one: Result, other: Result, spreads: Any = None, **about: Any) -> list[str]:
        return [each.kind for each in differences(self.program(**about), one, other, spreads)]

    def test_statuses(self) -> None:
        refused = self.result(1, 2, 3, 4, status="BAD_PARAM")
        assert self.kinds(self.result(1, 2, 3, 4), refused) == ["status"]
        assert self.kinds(refused, refused) == []
        assert self.kinds(refused, self.result(1, 2, 3, 4, status="NOT_SUPPORTED")) == []

    def test_what_is_drawn_wrong_explains_what_cudnn_does_not_look_at(self) -> None:
        one, other = self.result(1, status="BAD_PARAM"), self.result(1)
        for results in (one, other):
            results.statuses = [("cudnnPoolingBackward", results.statuses[0][1])]
        for operand, kinds in (("dxDesc", []), ("xDesc", ["status"])):
            drawn = {"wrong": "rank", "wrong operand": operand}
            program = self.program()
            program.draw = Draw("a", 1, drawn)
            for name, value in drawn.items():
                program.draw.choice(name, ("no", value))
            assert [each.kind for each in differences(program, one, other)] == kinds

    def test_a_known_fault_explains_all_but_a_refusal(self) -> None:
        one, faults = self.result(1, 2, 3, 4), ["transform out of double"]
        assert self.kinds(one, self.result(9, 9, 9, 9, faults=faults)) == []
        assert self.kinds(one, self.result(1, status="BAD_PARAM", faults=faults)) == ["status"]
        assert self.kinds(self.result(1, status="BAD_PARAM"), self.result(1, faults=faults)) == []

    def test_numbers(self) -> None:
        one = self.result(1, 2, 3, 4)
        assert self.kinds(one, self.result(1, 2, 3, 4 + 1e-6)) == []
        assert self.kinds(one, self.result(1, 2, 3, 4.001)) == ["number"]
        assert self.kinds(one, self.result(1, 2, np.nan, 4)) == ["NaN"]
        assert self.kinds(self.result(np.inf, 1), self.result(np.inf, 1)) == []
        assert self.kinds(self.result(np.inf, 1), self.result(-np.inf, 1)) == ["number"]
        assert self.kinds(one, self.result(9, 9, 9, 9), free="scratch memory") == []

    def test_a_spread_explains(self) -> None:
        one, other = self.result(1, 2, 3, 4), self.result(1, 2, 3, 4.001)
        spreads = spread(one, [self.result(1, 2, 3, 4.0005)])
        assert self.kinds(one, other, spreads) == []
        assert self.kinds(one, self.result(1, 2, 3, 4.1), spreads) == ["number"]

    def test_memory_that_must_not_be_written(self) -> None:
        one = self.result(1, 2, 3, 4)
        other = self.result(1, 2, 3, 4, trespass=["behind y"], unsteady=["y"])
        assert self.kinds(one, other) == ["written", "bits"]

    def test_roundings_of_equal_terms_do_not_average_out(self) -> None:
        one, other = self.result(1727, 1, 1, 1), self.result(1648, 1, 1, 1)
        program = self.program()
        program.unit, program.terms = 2.0**-11, 384
        assert [each.kind for each in differences(program, one, other)] == ["number"]
        program.operands["x"] = Operand("x", content="constant", elements=np.zeros(1))
        assert differences(program, one, other) == []

    def test_what_is_blended_may_be_rounded_before(self) -> None:
        program = self.program(content="constant")
        program.array("y", "BFLOAT16", (4,), out=True, content="large")
        program.steps = [("cudnnConvolutionForward", {"beta": 1.0})]
        results = [self.result(1, 1, 1, 1), self.result(1, 1, 1, 1.25)]
        for each in results:
            each.outputs["y"] = each.outputs["y"].astype(ml_dtypes.bfloat16)
        assert differences(program, *results) == []
        program.steps = [("cudnnConvolutionForward", {"beta": 0.0})]
        assert [each.kind for each in differences(program, *results)] == ["number"]

    def test_values(self) -> None:
        one, other = (self.result(1, values={"0.sizeInBytes": size}) for size in (8, 16))
        assert self.kinds(one, other) == ["value"]
        asked = SimpleNamespace(steps=[("cudnnGetReductionWorkspaceSize", {})], operands={})
        assert differences(asked, one, other) == []


def test_freedoms_have_reasons() -> None:
    kinds = {"value", "number", "bits", "specials", "status", "misuse"}
    assert {each.kind for each in FREEDOMS} == kinds
    assert all(each.reason for each in FREEDOMS)
