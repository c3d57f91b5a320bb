"""Cases: saved, replayed, made smaller and reported."""

from __future__ import annotations

import dataclasses
import getpass
import json
import os
import platform
import signal

import pytest
from graph.families import CASES

from cudnn_ctypes import Graph, frontend
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.evidence import cases
from cudnn_ctypes.evidence.cases import Case, Result, effect, kind, minimized
from cudnn_ctypes.evidence.found import Evidence, FoundCall, FoundGraph
from cudnn_ctypes.evidence.front_end_program import front_end_program
from evidence.replay.test_calls import convolution


def refused():
    """A graph that no engine takes, with an operation that does not matter."""
    graph = Graph(io_data_type="float16")
    x, w = graph.tensor((4, 64, 8, 8)), graph.tensor((32, 64, 3, 3))
    y = graph.relu(graph.conv_fprop(x, w, padding=1))
    graph.mul(y, graph.tensor((1, 32, 1, 1))).set_output()
    graph.validate()
    return graph


def product(a=4, b=8, c=6):
    graph = Graph(io_data_type="float16")
    graph.matmul(graph.tensor((1, a, b)), graph.tensor((1, b, c))).set_output()
    graph.validate()
    return graph


def evidence(*graphs, calls=()):
    return Evidence("here", "graph", [*map(FoundGraph, graphs)], [*map(FoundCall, calls)])


def result(status="SUCCESS", **changes):
    held = {"data_type": "float32", "count": 2, "not_finite": 0, "mean": 1.0, "largest": 2.0}
    held |= {"sample": [1.0, 2.0], **changes}
    return Result("it", status, "why", {"y": held})


def test_effects():
    right = result()
    assert effect(right, right) == ""
    assert effect(result(sample=[1.0, 2.001]), right) == ""
    assert effect(result(sample=[1.0, 2.1]), right).startswith("wrong numbers: y: 0.05")
    assert effect(result(not_finite=1), right) == "not finite: 1 of 2 elements of y"
    assert effect(result(not_finite=1), result(not_finite=1)) == ""
    assert effect(result("NOT_SUPPORTED"), right) == "refusal: NOT_SUPPORTED: why"
    assert kind(effect(result("SIGSEGV"), right)) == "death: SIGSEGV"
    assert kind("refusal: BAD_PARAM: one") == kind("refusal: BAD_PARAM: another")
    assert kind("refusal: BAD_PARAM: one") != kind("refusal: NOT_SUPPORTED: one")
    assert kind("not finite: 1 of 2") == kind("not finite: 2 of 2")


def test_a_case_is_the_same_after_its_file(reference_device):
    call = convolution([1, 2, 4, 4], [3, 2, 3, 3], [1, 3, 2, 2])
    case = Case.of(evidence(product(), calls=[call]))
    assert case.effects() == ["", ""]
    text = case.to_json()
    again = Case.from_json(text)
    assert again.to_json() == text
    assert again.differences(again.again()) == []
    other = dataclasses.replace(again, seed=1).again()
    assert len(again.differences(other)) == 2
    for secret in (platform.node(), getpass.getuser(), os.getcwd(), os.path.expanduser("~")):
        if len(secret) > 4:
            assert secret not in text
    for broken in ("{}", "[]", text.replace('"version": 1', '"version": 9'), "nothing"):
        with pytest.raises(ValueError, match="this is no case"):
            Case.from_json(broken)


def test_a_process_that_ends_is_a_result(reference_device, monkeypatch):
    monkeypatch.setattr(cases, "_carrier", deadly)
    case = Case.of(evidence(product()))
    assert case.effects() == ["death: SIGSEGV"]


def deadly(library, device, seed, note):
    """In a child: dies of every graph with two columns or more."""

    def carry_out(text):
        (each,) = json.loads(text)["graphs"]
        if each["graph"]["tensors"]["tensor_2"]["dims"][2] >= 2:
            os.kill(os.getpid(), signal.SIGSEGV)
        return [Result(each["name"], "SUCCESS")]

    return carry_out


def test_a_death_is_made_smaller(monkeypatch):
    """Two columns or more are fatal; what is tried is not carried out here."""

    def again(case):
        fatal = [each["graph"]["tensors"]["tensor_2"]["dims"][2] >= 2 for each in case.graphs]
        results = [Result("it", "SIGSEGV" if each else "SUCCESS") for each in fatal]
        return dataclasses.replace(case, results=results, expected=results)

    monkeypatch.setattr(Case, "again", again)
    tries = []
    small, said = minimized(Case.of(evidence(product(), product())), tried=tries.append)
    assert said == "death: SIGSEGV"
    (graph,) = small.graphs
    dims = {name: each["dims"] for name, each in graph["graph"]["tensors"].items()}
    assert dims["tensor"] == [1, 1, 1]
    assert dims["tensor_2"] == [1, 1, 3]  # half of 3 would be 1
    assert tries[0] == "one graph"


@pytest.mark.soak
def test_a_refusal_is_made_smaller(reference_device):
    small, said = minimized(Case.of(evidence(refused(), product())))
    assert said.startswith("refusal: NOT_SUPPORTED")
    (graph,) = small.graphs
    assert [each["operation"] for each in graph["graph"]["nodes"]] == ["conv_fprop", "relu"]


def test_nothing_to_make_smaller(reference_device):
    with pytest.raises(ValueError, match="nothing is wrong"):
        minimized(Case.of(evidence(product())))


def test_the_command(tmp_path, capsys, reference_device):
    graph, case = tmp_path / "graph.json", tmp_path / "one.case.json"
    graph.write_text(refused().to_json())
    assert main(["case", "save", str(graph), "-o", str(case)]) == 1
    assert "refusal: NOT_SUPPORTED" in capsys.readouterr().out
    assert main(["case", "save", str(graph), "-o", str(case)]) == 2
    assert "it is there already" in capsys.readouterr().err
    assert main(["case", "replay", str(case)]) == 1
    assert "there," not in capsys.readouterr().out
    told = json.loads(case.read_text())
    told["environment"]["cudnn"] = "9.1.0"
    case.write_text(json.dumps(told))
    assert main(["case", "replay", str(case)]) == 1
    assert "cudnn: 9.1.0 there," in capsys.readouterr().out
    folder = tmp_path / "report"
    assert main(["case", "report", str(case), "-o", str(folder)]) == 1
    text = (folder / "issue.md").read_text()
    assert text.startswith("# refusal: conv_fprop + relu + mul")
    assert "- cudnn: 9.1.0" in text
    assert "relu: relu(conv_fprop) -> relu" in text
    program = (folder / "front_end1.py").read_text()
    assert "= graph.conv_fprop(image=tensor, weight=tensor_2," in program
    assert {"c", "calls.py", "case.json", "graph1.json"} <= set(os.listdir(folder))
    assert Graph.from_json((folder / "graph1.json").read_text()).nodes[0].operation == "conv_fprop"


def test_wrong_arguments(tmp_path, capsys):
    nothing = tmp_path / "nothing.log"
    nothing.write_text("I! CuDNN (v92800 42) function cudnnGetVersion() called:\n")
    for arguments, said in (
        (["replay", "no.case.json"], "cannot be read"),
        (["replay", str(nothing)], "no case"),
        (["replay", str(nothing), "-o", "x"], "writes nothing"),
        (["save", str(nothing)], "needs -o"),
        (["save", str(nothing), "-o", str(tmp_path / "x.json")], "no graph and no call"),
    ):
        assert main(["case", *arguments]) == 2
        assert said in capsys.readouterr().err


SAID = [
    "convolution",
    "matmul + bias + gelu",
    "attention, causal",
    "attention, window, backward",
    "add",
]
UNSAID = ["layer norm, training, float16", "convolution, filter turned round"]


@pytest.mark.parametrize("name", [*SAID, *UNSAID])
def test_programs_of_the_front_end(name):
    """The program describes an equal graph with this package's front end, or there is none."""
    graph = CASES[name].graph()
    graph.validate()
    program = front_end_program(graph)
    assert bool(program) == (name in SAID)
    described = program.partition("graph.build_operation_graph")[0].replace("import cudnn\n", "")
    scope = {"cudnn": frontend}
    if program:
        exec(described, scope)
        found = scope["graph"]._graph
        assert [each.operation for each in found.nodes] == [each.operation for each in graph.nodes]
        assert [(each.dims, each.strides, each.data_type) for each in found.outputs] == [
            (each.dims, each.strides, each.data_type) for each in graph.outputs
        ]
