"""The command ``explain``."""

import json
from types import SimpleNamespace

import pytest

from cudnn_ctypes.__main__ import main
from cudnn_ctypes.graph.engines.selection import Selection
from cudnn_ctypes.graph.graph import Graph


@pytest.fixture
def product(tmp_path):
    graph = Graph("product", io_data_type="float16")
    a, b = graph.tensor((4, 64, 128)), graph.tensor((4, 128, 256))
    graph.gelu(graph.matmul(a, b)).set_output()
    path = tmp_path / "product.json"
    path.write_text(graph.to_json())
    return path


def test_without_an_engine_the_status_says_so(product, capsys):
    words = ["explain", str(product), "--device", "H200", "--require", "winograd"]
    assert main(words) == 1
    assert "lacks the note winograd" in capsys.readouterr().out


def test_several_graphs_with_advice(product, monkeypatch, capsys):
    def explain(graph, device, modes, *, selection, compile):
        assert (device.name, modes, compile) == ("NVIDIA H200", ["a", "b", "fallback"], False)
        assert selection == Selection(forbid=["winograd"], deterministic=True)
        advice = SimpleNamespace(show=lambda: print("advice"), as_dict=lambda: {"suggestions": [7]})
        told, usable = f"told of {graph.name}", ["engine"] * (graph.name == "a")
        named = {"show": lambda: print(told), "as_dict": lambda: {"text": told}}
        return SimpleNamespace(usable=usable, advice=lambda: advice, **named)

    graphs = [(f"log#{i}", Graph(name)) for i, name in enumerate("ab", 1)]
    monkeypatch.setattr("cudnn_ctypes.commands.explain.read_graphs", lambda path: graphs)
    monkeypatch.setattr(Graph, "explain", explain)
    line = "explain log --device h200 --forbid winograd --deterministic --advice"
    words = line.split()
    assert main(words) == 1
    lines = ["log#1", "told of a", "", "advice", "", "log#2", "told of b", "", "advice"]
    assert capsys.readouterr().out.splitlines() == lines
    assert main([*words, "--json"]) == 1
    data = [{"text": f"told of {name}", "advice": [7]} for name in "ab"]
    assert json.loads(capsys.readouterr().out) == data
    del graphs[1]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == data[0]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "it cannot be read: No such file or directory"),
        ("folder", "it cannot be read: "),
        (b"{", "graph: the JSON is damaged"),
        (b"", "graph: the JSON is damaged"),
        (b"\x89PNG\r\n\x1a\n\xff", "this is no text"),
        (b"[]", "graph: expected an object"),
        (b'{"deviceName": "x"}', "graph: expected a graph, whose 'format' is"),
        (rb'{"name": "\ud800"}', "graph: it has half a character"),
    ],
    ids=str,
)
def test_what_is_no_graph(content, says, tmp_path, capsys):
    path = tmp_path / "graph.json"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    assert main(["explain", str(path), "--device", "H200"]) == 2
    assert capsys.readouterr().err.startswith(f"explain: {path}: {says}")


def test_mistakes_of_ours_are_not_hidden(product, monkeypatch):
    """An OSError that is not about a file that a user named keeps its traceback."""

    def fails(*_, **__):
        raise OSError("a mistake")

    monkeypatch.setattr(Graph, "explain", fails)
    with pytest.raises(OSError, match="a mistake"):
        main(["explain", str(product), "--device", "H200"])
