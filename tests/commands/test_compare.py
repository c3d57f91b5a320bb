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
        return [Answer(version, "it", next(a for low, a in answers if number >= low))]

    tried = []
    return ask, tried


CHANGES = [((9, 23), "SIGSEGV"), ((9, 0), "works")]


def test_bisect_finds_the_first_other_version(graph, monkeypatch, capsys):
    ask, tried = said(CHANGES)
    monkeypatch.setattr(compare, "_asked", ask)
    monkeypatch.setattr(compare, "available", lambda: [f"9.{i}.0.{i}" for i in range(12, 28)])
    assert main(["compare", graph, "9.14", "9.26", "--bisect", "--device", "h200"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [
        ["9.22.0.22", "works"],
        ["9.23.0.23", "SIGSEGV"],
    ]
    assert len(tried) <= 2 + 4
    assert main(["compare", graph, "9.14", "9.20", "--bisect", "--device", "h200"]) == 2
    assert "say the same: works" in capsys.readouterr().err


def test_versions_in_order():
    order = ["9.12.0.46", "9.19.0.56", "9.19.1.2", "9.19", "9.20.0.48"]
    keys = [*map(compare._key, order)]
    assert all(one < two for one, two in itertools.pairwise(keys))


@pytest.mark.parametrize(
    ("status", "output", "error", "expected"),
    [
        (-11, "", "", "SIGSEGV"),
        (2, "", "a\nexplain: no such operation", "error"),
        (
            1,
            json.dumps(
                {
                    "graph": "g",
                    "device": "d",
                    "cudnn": "9.1.0",
                    "verdicts": [],
                    "operations": "relu",
                }
            ),
            "",
            "refused",
        ),
    ],
)
def test_what_processes_answer(status, output, error, expected, monkeypatch):
    done = subprocess.CompletedProcess([], status, output, error)
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: done)
    (answer,) = compare._asked(compare.Path("x.json"), None, "loaded")
    assert answer.answer == expected
    assert expected != "error" or answer.reason == "explain: no such operation"


def test_judged_numbers():
    verdicts = [
        {"state": "right", "engine": 4, "knobs": {"stages": 3}, "median": 8.5},
        {"state": "right", "engine": 7, "knobs": {}, "median": 7.25},
        {"state": "wrong", "engine": 1, "knobs": {}, "median": 1.0, "reason": "far off"},
        {"state": "refused", "engine": 2, "knobs": {}, "median": None},
    ]
    told = {"cudnn": "9.28.0", "operations": "relu", "verdicts": verdicts}
    answer = compare._judged(told, 1.0)
    assert answer.answer == "2 right, 1 wrong"
    assert (answer.engines, answer.first, answer.reason) == ((4, 7), "7: 7.2 us", "far off")


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
    with pytest.raises(CommandError, match="expected a version"):
        compare._library("8.9")
