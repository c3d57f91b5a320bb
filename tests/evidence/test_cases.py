"""Cases: saved, replayed, made smaller and reported."""

from __future__ import annotations

import dataclasses
import getpass
import json
import os
import platform
import signal

import numpy as np
import pytest
from graph.families import CASES

from cudnn_ctypes import Graph, Handle, frontend
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.evidence import cases
from cudnn_ctypes.evidence.cases import Case, Result, effect, kind, minimized
from cudnn_ctypes.evidence.found import Evidence, FoundCall, FoundGraph
from cudnn_ctypes.evidence.front_end_program import front_end_program
from cudnn_ctypes.evidence.records import CallRecord, config_text
from cudnn_ctypes.evidence.replay.calls import Replayed, replay_graph, slower
from cudnn_ctypes.graph.backend.children import Outcome
from cudnn_ctypes.graph.engines.tuning.measurements import Autotuning, Measurement
from evidence.replay.test_calls import convolution


def refused():
    """A graph that no engine takes, with an operation that does not matter."""
    graph = Graph(io_data_type="float16")
    x, w = graph.tensor((1, 2, 2, 2)), graph.tensor((2, 2, 1, 1))
    y = graph.relu(graph.conv_fprop(x, w))
    graph.mul(y, graph.tensor((1, 2, 1, 1))).set_output()
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
    assert effect(result(sample=["nan", 2.0]), right) == effect(result(sample=["inf"]), right) == ""
    wrong = "wrong numbers: y: 0.05 of the largest element, 2"
    assert effect(result(sample=[1.0, 2.1]), right) == wrong
    for data_type, off in (
        ("float64", 1e-5),
        ("float16", 0.1),
        ("bfloat16", 0.2),
        ("fp8_e4m3", 1.0),
    ):
        held = result(data_type=data_type, sample=[1.0, 2.0 + off])
        assert effect(held, right).startswith("wrong numbers: y:")
        assert effect(result(data_type=data_type, sample=[1.0, 2.0 + off / 10]), right) == ""
    assert effect(result(not_finite=1), right) == "not finite: 1 of 2 elements of y"
    assert effect(result(not_finite=1), result(not_finite=1)) == ""
    slow = dataclasses.replace(right, slow="engine 2 takes 1.0 us, 1 3.0: 3.0 times as long")
    assert effect(slow, right) == f"slow: {slow.slow}"
    assert kind(effect(slow, right)) == "slow"
    assert effect(dataclasses.replace(slow, status="SIGSEGV"), right) == "death: SIGSEGV"
    assert effect(result("NOT_SUPPORTED"), right) == "refusal: NOT_SUPPORTED: why"
    assert kind(effect(result("SIGSEGV"), right)) == "death: SIGSEGV"
    assert kind("refusal: BAD_PARAM: one") == kind("refusal: BAD_PARAM: another")
    assert kind("refusal: BAD_PARAM: one") != kind("refusal: NOT_SUPPORTED: one")
    assert kind("not finite: 1 of 2") == kind("not finite: 2 of 2")


def test_what_is_kept_of_outputs():
    values = np.array([1, -4, np.nan, -np.inf, 0.5], np.float32)
    many, none = np.arange(1, 1001, dtype=np.float16), np.full(2, np.inf, np.float32)
    outputs = {"y": values, "many": many, "none": none}
    kept = Result.of(Replayed("it", "SUCCESS", "why", outputs)).outputs
    assert kept["y"] == {
        "data_type": "float32", "count": 5, "not_finite": 2, "mean": pytest.approx(-2.5 / 3),
        "largest": 4.0, "sample": [1.0, -4.0, "nan", "-inf", 0.5],
    }  # fmt: skip
    assert kept["many"]["sample"] == many[::15].tolist()  # 64 of 1000, or some more
    assert (kept["none"]["mean"], kept["none"]["largest"]) == (0.0, 0.0)


@pytest.fixture
def without_children(monkeypatch, reference_device):
    """Cases are carried out in this process."""

    def outcomes(items, prepare, **options):
        carry_out = prepare(print)
        return [Outcome(each, carry_out(each)) for each in items]

    monkeypatch.setattr(cases, "outcomes", outcomes)
    monkeypatch.setenv("CUDNN_CTYPES_LIBRARY", "")  # which is set anew, for a child


def test_a_case_is_the_same_after_its_file(without_children, without_engines):
    call = convolution([1, 2, 4, 4], [3, 2, 3, 3], [1, 3, 2, 2])
    case = Case.of(evidence(product(), calls=[call]))
    assert case.effects() == ["", ""]
    outputs = [next(iter(each.outputs.values())) for each in case.results]
    assert [(each["data_type"], each["count"]) for each in outputs] == [
        ("float16", 24),
        ("float32", 12),
    ]
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


def deadly(library, device, seed, bench, note):
    """In a child: dies of every graph with two columns or more."""

    def carry_out(text):
        (each,) = json.loads(text)["graphs"]
        if each["graph"]["tensors"]["tensor_2"]["dims"][2] >= 2:
            os.kill(os.getpid(), signal.SIGSEGV)
        return [Result(each["name"], "SUCCESS")]

    return carry_out


@pytest.mark.parametrize(
    ("bad", "bench", "told"),
    [
        ({"status": "SIGSEGV"}, False, "death: SIGSEGV"),
        ({"status": "SUCCESS", "slow": "2 times as long"}, True, "slow: 2 times as long"),
    ],
)
def test_a_case_is_made_smaller(bad, bench, told, monkeypatch):
    """Two columns or more are fatal or slow; what is tried is not carried out here."""

    def again(case):
        assert case.bench == bench
        dims = [each["graph"]["tensors"]["tensor_2"]["dims"] for each in case.graphs]
        results = [Result("it", **(bad if n[2] >= 2 else {"status": "SUCCESS"})) for n in dims]
        return dataclasses.replace(case, results=results, expected=results)

    monkeypatch.setattr(Case, "again", again)
    tries = []
    case = Case.from_json(Case.of(evidence(product(), product()), bench=bench).to_json())
    small, said = minimized(case, tried=tries.append)
    assert said == told
    (graph,) = small.graphs
    dims = {name: each["dims"] for name, each in graph["graph"]["tensors"].items()}
    assert dims["tensor"] == [1, 1, 1]
    assert dims["tensor_2"] == [1, 1, 3]  # half of 3 would be 1
    for each in graph["graph"]["tensors"].values():
        _, rows, columns = each["dims"]
        assert each["strides"] == [rows * columns, columns, 1]
    assert tries[0] == "one graph"


def test_calls_are_left_out_of_a_case(monkeypatch):
    """The third of four calls is at fault."""

    def again(case):
        fatal = any(each.function == "C" for each in case.calls)
        results = [Result("it", "SIGSEGV" if fatal else "SUCCESS")]
        return dataclasses.replace(case, results=results, expected=results)

    monkeypatch.setattr(Case, "again", again)
    calls = [CallRecord(0, each, (), "SUCCESS") for each in "ABCD"]
    tries = []
    small, said = minimized(Case.of(evidence(product(), calls=calls)), tried=tries.append)
    assert said == "death: SIGSEGV"
    assert (small.graphs, [each.function for each in small.calls]) == ([], ["C"])
    halves = ["half the calls"] * 3
    assert tries == ["without calls", "without graphs", *halves]


@pytest.mark.parametrize(("products", "outputs"), [(4, {"first", "last"}), (5, {"last"})])
def test_sums_that_engines_leave_in_another_order_are_not_compared(
    products, outputs, reference_device, without_engines
):
    graph = Graph(io_data_type="float16")
    first = y = graph.matmul(graph.tensor((1, 8, 8)), graph.tensor((1, 8, 8)))
    for _ in range(products - 1):
        y = graph.matmul(y, graph.tensor((1, 8, 8)))
    first.set_output(name="first")
    y.set_output(name="last")
    with Handle() as handle:
        done = replay_graph(graph, handle)
    assert (done.status, done.outputs.keys()) == ("SUCCESS", outputs)


def timed(*times):
    """Times of engines, the first as heuristics propose them."""
    made = [
        Measurement(engine, knobs, f"a {i}", "measured", (median,) * 3)
        for i, (engine, knobs, median) in enumerate(times, 1)
    ]
    return Autotuning("it", "H200", "9.19.0", (*made,), min(made, key=lambda each: each.median))


def test_what_is_slow():
    tuned = timed((4, {"tile": 1}, 30.0), (4, {"tile": 2}, 12.0), (7, {}, 10.0))
    assert slower(tuned, "") == "engine 7 takes 10.0 us, 4 (tile=1) 30.0: 3.0 times as long"
    assert slower(tuned, "4 (tile=1)") == slower(tuned, "4 (tile=9)") == slower(tuned, "")
    assert (
        slower(tuned, "4 (tile=2)") == "engine 7 takes 10.0 us, 4 (tile=2) 12.0: 1.2 times as long"
    )
    assert slower(tuned, "7") == slower(timed((4, {}, 11.0), (7, {}, 10.0)), "") == ""


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
def test_engines_are_timed_on_a_gpu():
    """A product of which one config takes longer than another."""
    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((1, 2048, 2048)), graph.tensor((1, 2048, 2048))
    graph.relu(graph.matmul(a, b)).set_output()
    with Handle() as handle:
        tuned = graph.autotune(handle, progress=False)
    best, worst = tuned.best, max(tuned.ranking, key=lambda each: each.median)
    assert worst.median > 1.5 * best.median
    slow, fast = (
        FoundGraph(graph, engine=config_text(each.engine, each.knobs)) for each in (worst, best)
    )
    cases.timed([slow, fast])
    assert "times as long" in slow.slow
    assert fast.slow == ""


@pytest.mark.soak
def test_a_refusal_is_made_smaller(reference_device):
    small, said = minimized(Case.of(evidence(refused())))
    assert said.startswith("refusal: NOT_SUPPORTED")
    (graph,) = small.graphs
    assert [each["operation"] for each in graph["graph"]["nodes"]] == ["conv_fprop", "relu"]


def test_nothing_to_make_smaller(monkeypatch):
    monkeypatch.setattr(Case, "again", lambda case: case)
    case = Case.of(evidence(product()))
    case.results = case.expected = [result()]
    with pytest.raises(ValueError, match="nothing is wrong"):
        minimized(case)


def test_the_command(tmp_path, capsys, without_children):
    calls, case = tmp_path / "calls.json", tmp_path / "one.case.json"
    call = convolution([1, 2, 4, 4], [3, 2, 3, 3], [1, 3, 2, 2]).as_dict()
    calls.write_text("\n".join(map(json.dumps, ({"cudnn_ctypes_trace": 1}, call))))
    save = ["case", "save", str(calls), "-o", str(case), "--seed", "3"]
    assert main([*save, "--bench"]) == 2
    assert "--bench needs a GPU" in capsys.readouterr().err
    assert main(save) == 0
    assert "none" in capsys.readouterr().out
    assert main(save) == 2
    assert "it is there already" in capsys.readouterr().err
    assert main(["case", "replay", str(case)]) == 0
    assert "there," not in capsys.readouterr().out
    told = json.loads(case.read_text())
    assert told["seed"] == 3
    told["environment"]["cudnn"] = "9.1.0"
    told["results"][0]["outputs"]["y"]["sample"][0] += 1
    told["log"] = {"cudnn": "9.2.0", "devices": []}
    case.write_text(json.dumps(told))
    assert main(["case", "replay", str(case), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["environment"] != told["environment"]
    assert main(["case", "replay", str(case)]) == 0
    said = capsys.readouterr().out
    assert "cudnn: 9.1.0 there," in said
    assert "y differs by" in said
    assert main(["case", "minimize", str(case), "-o", str(tmp_path / "small.json")]) == 2
    assert "nothing is wrong" in capsys.readouterr().err
    assert main(["case", "report", str(case)]) == 2
    assert "report needs -o" in capsys.readouterr().err
    folder = tmp_path / "report"
    assert main(["case", "report", str(case), "-o", str(folder)]) == 1
    text = (folder / "issue.md").read_text()
    assert text.startswith("# wrong numbers: cudnnConvolutionForward")
    assert "- cudnn: 9.1.0" in text
    assert "- the log's cudnn: 9.2.0\n" in text
    assert "## Graphs" not in text
    written = {"c", "calls.py", "calls.npz", "case.json", "issue.md"}
    assert set(os.listdir(folder)) == written


@pytest.mark.soak
def test_a_report_of_a_graph(tmp_path, reference_device):
    graph, case, folder = (tmp_path / each for each in ("graph.json", "one.case.json", "report"))
    graph.write_text(refused().to_json())
    assert main(["case", "save", str(graph), "-o", str(case)]) == 1
    assert main(["case", "report", str(case), "-o", str(folder)]) == 1
    text = (folder / "issue.md").read_text()
    assert text.startswith("# refusal: conv_fprop + relu + mul")
    assert "relu: relu(conv_fprop) -> relu" in text
    program = (folder / "front_end1.py").read_text()
    assert "= graph.conv_fprop(image=tensor, weight=tensor_2," in program
    assert Graph.from_json((folder / "graph1.json").read_text()).nodes[0].operation == "conv_fprop"


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
        found.validate()
        assert facts(found) == facts(graph)


def facts(graph):
    """What a graph says, without the names of results."""
    nodes = [
        (
            *(node.operation, node.name, node.compute_data_type),
            {*node.options.items()}
            - {("attn_scale", 1.0)}
            - {(name, None) for name in node.options},
            [
                (
                    each.dims,
                    each.strides,
                    each.data_type,
                    each.alignment,
                    each.by_value,
                    each.virtual,
                )
                for each in (*node.operands, *node.outputs.values())
            ],
        )
        for node in graph.nodes
    ]
    types = graph.io_data_type, graph.intermediate_data_type, graph.compute_data_type
    return types, [each.name for each in graph.inputs], nodes
