"""Watching a program's use of cuDNN, in the process and from outside."""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from datetime import datetime

import pytest
from rich.console import Console

from cudnn_ctypes import (
    CallRecord,
    Evidence,
    FoundGraph,
    Graph,
    Message,
    known_faults,
    read_evidence,
    watch,
)
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.commands import watch as command
from cudnn_ctypes.evidence.found import LOG, FoundCall
from cudnn_ctypes.evidence.records import Argument
from cudnn_ctypes.evidence.watching import LogFolder
from cudnn_ctypes.graph.backend.device_properties import as_properties
from evidence.replay.test_calls import convolution
from evidence.test_reading import EXECUTION, chain, lines_of, log_of, printed
from tools.fault_programs.wrong import WRONG


@pytest.fixture(scope="module")
def h200():
    with as_properties("h200") as properties:
        yield properties


def executed(messages, engine):
    """The message of an execution of the graph of `messages` with an engine."""
    block = "\n".join(f"        {line}" for line in printed(messages).split("\n")[2:-1])
    text = EXECUTION.format(block=block).replace(
        "engine_id: type=int; val=4;", f"engine_id: type=int; val={engine};"
    )
    text = text.replace(
        "    executionPlan:",
        "    handle: type=cudnnHandle_t:\n"
        '        deviceName: type=string; val="NVIDIA H200";\n'
        "        deviceVer: type=int; val=900;\n    executionPlan:",
    )
    return Message.of(3, text + messages[-1].text.split("\n")[-1])


def test_graphs_that_this_process_builds():
    with watch() as seen:
        chain().build("H200").close()
        chain().build("H200").close()
        assert len(seen.graphs) == 1
    (found,) = seen.graphs
    assert (found.times, found.plans, found.executions) == (2, 2, 0)
    assert 0 < found.seconds < 60
    assert seen.heuristics.total() >= 2
    assert "described 2 times: a plan can be kept" in seen.notes[0]
    assert "conv_fprop + swish" in str(seen)
    assert "conv_fprop" in seen._repr_html_()
    assert seen.as_dict()["graphs"][0]["plans"] == 2


def test_a_graph_without_an_engine():
    graph = Graph(io_data_type="float16")
    x, w = graph.tensor((8, 63, 16, 16)), graph.tensor((32, 63, 3, 3))
    graph.relu(graph.conv_fprop(x, w, padding=1)).set_output()
    with watch() as seen, pytest.raises(RuntimeError):
        graph.build("H200", program=False)  # there is a program
    notes = seen.notes[0]
    assert "channels are not last" in notes
    assert "63 channels: no multiple of 8" in notes
    assert seen.graphs[0].types == "float16 NCHW"


def test_the_choice_among_engines(h200):
    messages = log_of(chain(), h200)
    tried = [executed(messages, engine) for engine in (1, 2, 3, 2, 2)]
    seen = read_evidence([*messages, *tried])
    (found,) = seen.graphs
    assert found.executions == 5
    assert found.engine == "2 (stages=3)"
    assert len(found.engines) == 3
    assert (seen.capability, seen.preset) == (90, "NVIDIA H200")
    assert "3 engines were tried, and the choice executed 3 times" in seen.notes[0]
    often = read_evidence([*messages, *tried, *[tried[-1]] * 27])
    assert not [each for each in often.notes[0] if "tried" in each]


def relu(dims, count=1, data_type="float16", **options):
    graph = Graph(io_data_type=data_type)
    y = graph.tensor(dims, **options)
    for _ in range(count):
        y = graph.relu(y)
    y.set_output()
    graph.validate()
    return graph


def test_a_report():
    engines = {"2 (stages=3)": 19, "7": 10}
    convolved = FoundGraph(chain(), 3, 29, Counter(engines), "2 (stages=3)", 2, 1, 0.0123, "slower")
    convolved.graph.validate()
    lengths = {"max_length": 4, "lengths": [3, 2], "vector_size": 5, "data_type": "float16"}
    held = {"rnnDesc": {"cell": "lstm"}, "xDesc": lengths, "hDesc": {"shape": None}}
    arguments = [Argument(name, {"object": "it", "holds": it}) for name, it in held.items()]
    calls = [
        convolution([1, 2, 4, 4], [3, 2, 3, 3], [1, 3, 2, 2]),
        CallRecord(0, "cudnnRNNForward", (*arguments, Argument("n", 1)), "SUCCESS"),
    ]
    counted = {
        "unread": {"no such operation": 2},
        "devices": {"A GPU": 1, "NVIDIA H200": 3},
        "heuristics": {"mode_a": 2, "fallback": 1},
        "calls": {"cudnnBackendFinalize": 1234},
        "errors": {"f: no": 3},
    }
    seen = Evidence(
        "a.log",
        LOG,
        [convolved, FoundGraph(relu((2, 8, 4)), refused=4)],
        [FoundCall(each, 5 + i) for i, each in enumerate(calls)],
        **{name: Counter(each) for name, each in counted.items()},
        versions=Counter({92800: 34, 91900: 1200}),
        cut=2,
        begin=datetime(2026, 1, 1),
        end=datetime(2026, 1, 1, 0, 1, 0, 500_000),
    )
    heading, text = str(seen).split("\n", 1)
    assert heading == (
        "a.log: cuDNN's log: 4 of 6 graphs were read, 2 different ones; "
        "1,234 messages of cuDNN 9.19.0 and 9.28.0; 60.5 s; 2 messages have no end"
    )
    assert text.replace("conv_fprop + swish: 2x32x8x8, 16x32x3x3, 2x16x4x4", "convolution") == """\
not read: 2 x no such operation
GPU: A GPU, NVIDIA H200

    described  executed    ms  plans  engine        graph                                              types
#1          3        29  12.3      2  2 (stages=3)  convolution  float16 NHWC
#2          1         0     -      -  -             relu: 2x8x4, 2x8x4                                 float16

called  legacy call
     5  cudnnConvolutionForward: x 1x2x4x4 float32, w 3x2x3x3 float32, y 1x3x2x2 float32
     6  cudnnRNNForward: lstm, x 4x2x5 float16

#1: described 3 times: a plan can be kept
#1: 2 engines were tried, and the choice executed 19 times
#1: slow: slower
#2: no engine: 4 were tried
queries for engines: mode_a 2, fallback 1
3 x f: no"""  # noqa: E501  # fmt: skip
    assert seen.preset == "NVIDIA H200"
    data = seen.as_dict()
    assert [each.pop("graph") for each in data["graphs"]] == [
        json.loads(each.graph.to_json()) for each in seen.graphs
    ]
    names = ("described", "executed", "engines", "engine", "plans", "refused", "seconds", "notes")
    told = (3, 29, engines, "2 (stages=3)", 2, 1, 0.0123, seen.notes[0])
    unbuilt = (1, 0, {}, "", 0, 4, 0.0, ["no engine: 4 were tried"])
    assert data == counted | {
        "source": "a.log",
        "form": "cuDNN's log",
        "graphs": [dict(zip(names, each, strict=True)) for each in (told, unbuilt)],
        "launches": [{"called": 5 + i, "call": each.as_dict()} for i, each in enumerate(calls)],
        "versions": {"9.19.0": 1200, "9.28.0": 34},
        "cut": 2,
    }


@pytest.mark.parametrize(
    ("graph", "types"),
    [
        (relu((2, 8, 4, 5)), "float16 NCHW"),
        (relu((2, 8, 1, 4), layout="nhwc"), "float16 NHWC"),
        (relu((2, 1, 4, 4)), "float16"),
        (relu((2, 8, 1, 1)), "float16"),
        (relu((2, 8, 4), data_type="float32"), "float32"),
        (relu((2, 8, 4, 4, 4)), "float16 NCHW"),
    ],
)
def test_layouts_are_of_images_alone(graph, types):
    assert FoundGraph(graph).types == types


def test_a_long_graph_on_one_line():
    text = FoundGraph(relu((2, 8, 4), 8)).text
    assert text == " + ".join(["relu"] * 6) + " + 2 more: 2x8x4, 2x8x4"


@pytest.mark.parametrize(
    ("dims", "options", "notes"),
    [
        ((2, 8, 4, 4), {}, []),
        ((2, 8, 4, 4), {"alignment": 8}, ["memory is aligned to 8 bytes, not 16"]),
        ((2, 9, 4, 4, 4), {}, ["9 channels: no multiple of 8"]),
        ((2, 7, 4), {}, ["7 channels: no multiple of 8"]),
        ((2, 7, 4), {"data_type": "float32", "alignment": 4}, []),
    ],
)
def test_notes_on_images_of_convolutions(dims, options, notes):
    graph = Graph(io_data_type=options.get("data_type", "float16"))
    x = graph.tensor(dims, layout="nhwc", **options)
    w = graph.tensor((16, dims[1], *(3 for _ in dims[2:])), layout="nhwc")
    graph.conv_fprop(x, w, padding=1).set_output()
    graph.validate()
    assert FoundGraph(graph).notes(92800, 90) == notes


@pytest.mark.parametrize("version", [91900, 92800])
def test_known_faults_are_noted(version):
    """A row of the table, in the version that has it."""
    name = "pooling after an element-wise operation"
    graph = Graph()
    WRONG[name](graph)
    graph.validate()
    (row,) = (each for each in known_faults() if each.name == name)
    holds = any(version in each and 90 in each.capabilities for each in row.ranges)
    told = FoundGraph(graph).notes(version, 90)
    assert (f"known fault: {name}" in told) == holds
    assert holds


def test_logs_that_grow(tmp_path, h200):
    """A process is in the midst of a message while the log is read; another one begins later."""
    logs = LogFolder(tmp_path, "a program")
    text = "".join(lines_of(log_of(chain(), h200)))
    middle = text.index("cudnnBackendFinalize") + 5
    one = tmp_path / "1.log"
    one.write_text(text[:middle])
    assert logs.read()
    assert not logs.read()
    assert not logs.evidence.graphs
    with one.open("a") as file:
        file.write(text[middle:])
    (tmp_path / "2.log").write_text(text + text[:400])
    seen = logs.finish()
    assert [each.times for each in seen.graphs] == [2]
    assert seen.cut == 1
    logs.save(tmp_path.parent / "all.log.gz")
    assert read_evidence(tmp_path.parent / "all.log.gz").graphs[0].times == 2


PROGRAM = """
import sys
from cudnn_ctypes import Graph
graph = Graph(io_data_type="float16")
graph.relu(graph.tensor((8, 64, 16, 16), layout="nhwc")).set_output()
graph.build("H200").close()
print("done")
sys.exit(3)
"""


@pytest.mark.soak
def test_the_command(tmp_path, capfd):
    program, saved, page = (tmp_path / each for each in ("p.py", "p.log.gz", "p.html"))
    program.write_text(PROGRAM)
    options = ["--save", str(saved), "--html", str(page)]
    assert main(["watch", *options, str(program)]) == 3
    told, said = capfd.readouterr()
    assert told == "done\n"
    assert "1 of 1 graphs were read" in said
    assert "relu: 8x64x16x16, 8x64x16x16" in said
    assert read_evidence(saved).graphs[0].plans == 1
    assert "relu: 8x64x16x16" in page.read_text()
    assert main(["watch", *options, str(program)]) == 2
    assert "it is there already" in capfd.readouterr().err
    assert main(["watch", "--json", str(program)]) == 3
    told, said = capfd.readouterr()
    assert json.loads(told)["graphs"][0]["described"] == 1
    assert "done" in said


@pytest.mark.soak
def test_engines_are_timed_once_the_program_has_ended(tmp_path, capfd, monkeypatch):
    """Of the graphs that were executed most; what times them is tried on a GPU."""
    program = tmp_path / "p.py"
    program.write_text(PROGRAM)
    assert main(["watch", "--bench", "3", str(program)]) == 2
    assert "--bench needs a GPU" in capfd.readouterr().err

    def timed(graphs):
        for each in graphs:
            each.slow = "engine 7 takes 1.0 us, 4 2.0: 2.0 times as long"

    monkeypatch.setattr(command, "timed", timed)
    monkeypatch.setattr(command, "needs_gpu", lambda option: None)
    assert main(["watch", "--bench", "3", str(program)]) == 3
    assert "#1: slow: engine 7 takes 1.0 us" in capfd.readouterr().err


def test_a_table_of_what_was_seen_so_far(h200):
    messages = log_of(chain(), h200)
    seen = read_evidence([*messages, *[executed(messages, 7)] * 3])
    seen.launches = [FoundCall(convolution([1, 2, 4, 4], [3, 2, 3, 3], [1, 3, 2, 2]), 1234)]
    console = Console(file=io.StringIO(), width=150)
    console.print(command._Seen(seen))
    title, *lines = [line.strip() for line in console.file.getvalue().splitlines()]
    assert title == f"{len(messages) + 3} messages, 1 graphs, 1 legacy calls"
    (graph,) = (line for line in lines if "conv_fprop + swish: 2x32x8x8" in line)
    assert graph.split()[:3] == ["3", "7", "(stages=3)"]
    (call,) = (line for line in lines if "cudnnConvolutionForward" in line)
    assert call.split()[:2] == ["1234", "legacy"]


def test_what_a_program_prints_stands_above_the_table(monkeypatch, capfd):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a terminal
    assert main(["watch", sys.executable, "-c", "print('[bold]a line'); exit(4)"]) == 4
    told, said = capfd.readouterr()
    assert told == ""
    assert "[bold]a line\n" in said


def test_a_program_that_dies(capfd):
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert main(["watch", sys.executable, "-c", kill]) == 128 + 9
    assert "called nothing of cuDNN" in capfd.readouterr().err
