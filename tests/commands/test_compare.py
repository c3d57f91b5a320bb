"""``compare``: several versions of cuDNN, each in a process of its own."""

from __future__ import annotations

import itertools
import json
import os
import subprocess

import pytest

from cudnn_ctypes import Graph, raw
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.commands import compare
from cudnn_ctypes.commands.compare import Answer
from cudnn_ctypes.evidence.files import CommandError


@pytest.fixture
def graph(tmp_path):
    described = Graph(io_data_type="float16")
    described.relu(described.tensor((8, 64, 16, 16), layout="nhwc")).set_output()
    described.validate()
    path = tmp_path / "graph.json"
    path.write_text(described.to_json())
    return str(path)


@pytest.mark.soak
def test_the_loaded_version_and_its_file(graph, capsys):
    library = str(raw.load().path)
    assert main(["compare", graph, "loaded", library, "--device", "h200", "--json"]) == 0
    one, two = json.loads(capsys.readouterr().out)
    assert one["answer"] == two["answer"] == "works"
    assert one["engines"] == two["engines"] != []
    assert one["version"] == raw.load().version_text
    assert one["first"].startswith(str(one["engines"][0]))


def said(answers):
    """A version's answer by its number."""

    def ask(graph, device, version):
        tried.append(version)
        number = tuple(map(int, version.split(".")[:2]))
        answer = next(a for low, a in answers if number >= low)
        return [Answer(version, "it", answer, (4, 8), "4", 1.25, "x" * 120)]

    tried = []
    return ask, tried


CHANGES = [((9, 23), "SIGSEGV"), ((9, 0), "works")]


def test_bisect_finds_the_first_other_version(graph, monkeypatch, capsys):
    ask, tried = said(CHANGES)
    monkeypatch.setattr(compare, "_asked", ask)
    monkeypatch.setattr(compare, "available", lambda: [f"9.{i}.0.{i}" for i in range(12, 28)])
    assert main(["compare", graph, "9.14", "9.26", "--bisect", "--device", "h200"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["cuDNN", "answer", "engines", "first", "s", "graph", "reason"],
        ["9.22.0.22", "works", "4", "8", "4", "1.2", "it", "x" * 100],
        ["9.23.0.23", "SIGSEGV", "4", "8", "4", "1.2", "it", "x" * 100],
    ]
    assert len(tried) <= 2 + 4
    assert main(["compare", graph, "9.14", "9.20", "--bisect", "--device", "h200"]) == 2
    assert "say the same: works" in capsys.readouterr().err


def test_versions_in_order():
    order = ["9.12.0.46", "9.19.0.56", "9.19.1.2", "9.19", "9.20.0.48"]
    keys = [*map(compare._key, order)]
    assert all(one < two for one, two in itertools.pairwise(keys))


TOLD = {"cudnn": "9.1.0", "operations": "relu", "refusal": ""}
OLD = {"state": "refused", "engine": 9, "knobs": {}, "status": "NOT_SUPPORTED", "reason": "old"}
WORKS = [
    {"state": "works", "engine": engine, "knobs": knobs, "status": "", "reason": ""}
    for engine, knobs in ((8, {"stages": 3}), (4, {}), (8, {}))
]


@pytest.mark.parametrize(
    ("status", "output", "error", "expected"),
    [
        (-11, "", "", [Answer("loaded", "x.json", "SIGSEGV", seconds=2.5)]),
        (
            2,
            "[]",
            "a\nit: no such",
            [Answer("loaded", "x.json", "error", (), "", 2.5, "it: no such")],
        ),
        (1, {**TOLD, "verdicts": []}, "", [Answer("9.1.0", "relu", "refused", seconds=2.5)]),
        (
            1,
            [
                {**TOLD, "rows": [OLD]},
                {**TOLD, "rows": [OLD, *WORKS]},
                {**TOLD, "rows": [], "refusal": "none"},
            ],
            "",
            [
                Answer("9.1.0", "relu", "refused: NOT_SUPPORTED", (), "", 2.5, "old"),
                Answer("9.1.0", "relu", "works", (8, 4), "8 (stages=3)", 2.5),
                Answer("9.1.0", "relu", "refused", (), "", 2.5, "none"),
            ],
        ),
    ],
)
def test_what_processes_answer(status, output, error, expected, monkeypatch):
    def run(command, *, env, **options):
        asked.append(command[3:])
        assert env["CUDNN_CTYPES_LIBRARY"] == str(raw.load().path)
        text = output if isinstance(output, str) else json.dumps(output)
        return subprocess.CompletedProcess([], status, text, error)

    asked, clock = [], itertools.count(0, 2.5)
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(compare.time, "monotonic", lambda: next(clock))
    assert compare._asked(compare.Path("x.json"), None, "loaded") == expected
    assert compare._asked(compare.Path("x.json"), "b200", "loaded") == expected
    assert asked == [
        ["judge", "--no-keep", "--json", "x.json"],
        ["explain", "--device", "b200", "--json", "x.json", "--compile"],
    ]


def test_versions_that_pip_finds(monkeypatch):
    done = subprocess.CompletedProcess(
        [], 0, "it (9.19.1.2)\nAvailable versions: 9.19.1.2, 9.9.0.4, 9.12.0.46\n  INSTALLED", ""
    )
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: done)
    assert compare.available() == ["9.9.0.4", "9.12.0.46", "9.19.1.2"]
    done.stdout = "nothing"
    assert compare.available() == []
    done.returncode, done.stderr = 1, "WARNING: so\nERROR: no index\nERROR: no matching one\nso"
    with pytest.raises(CommandError, match=r"^pip index: ERROR: no matching one$"):
        compare.available()


def test_judged_numbers():
    verdicts = [
        {"state": "right", "engine": 4, "knobs": {"stages": 3}, "median": 8.5},
        {"state": "right", "engine": 7, "knobs": {}, "median": 7.25},
        {"state": "wrong", "engine": 1, "knobs": {}, "median": 1.0, "reason": "far off"},
        {"state": "refused", "engine": 2, "knobs": {}, "median": None},
    ]
    told = {"cudnn": "9.28.0", "operations": "relu", "verdicts": verdicts}
    expected = Answer("9.28.0", "relu", "2 right, 1 wrong", (4, 7), "7: 7.2 us", 1.5, "far off")
    assert compare._judged(told, 1.5) == expected


def test_a_wheel_is_installed_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked = []

    def pip(*arguments):
        asked.append(arguments[-1])
        folder = os.path.join(arguments[arguments.index("--target") + 1], "nvidia", "it", "lib")
        os.makedirs(folder)
        with open(os.path.join(folder, "libcudnn.so.9"), "w"):
            pass
        return ""

    monkeypatch.setattr(compare, "_pip", pip)
    one, two = compare._library("9.19"), compare._library("9.19")
    assert one == two
    assert one.endswith("libcudnn.so.9")
    assert asked == [f"nvidia-cudnn-jit-cu{raw.load().cuda_major}==9.19.*"]
    compare._library("9.19.0.56")
    assert asked[1].endswith("==9.19.0.56")
    assert compare._library("no/such") == os.path.abspath("no/such")
    with pytest.raises(CommandError, match="expected a version"):
        compare._library("8.9")
