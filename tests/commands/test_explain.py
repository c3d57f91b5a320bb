"""The command ``explain``."""

import json

import pytest

from cudnn_ctypes.__main__ import main
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


@pytest.mark.soak
def test_advice_is_printed(tmp_path, capsys):
    graph = Graph("odd", io_data_type="float16")
    a, b = graph.tensor((4, 64, 7), name="a"), graph.tensor((4, 7, 256), name="b")
    graph.matmul(a, b, name="matmul").set_output()
    path = tmp_path / "odd.json"
    path.write_text(graph.to_json())
    words = ["explain", str(path), "--device", "T4", "--advice"]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "1. widen A 'a' and B 'b' of matmul 'matmul' from 7 to 8" in out
    assert main([*words, "--json"]) == 1
    (first, *_) = json.loads(capsys.readouterr().out)["advice"]
    assert first["words"] in out
    assert Graph.from_json(first["graphs"][0]).find_tensor("a").dims == (4, 64, 8)


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
