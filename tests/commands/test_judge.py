"""The command ``judge``."""

import json
from types import SimpleNamespace

import pytest

from cudnn_ctypes import use_reference_device
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.graph.engines.selection import Selection
from cudnn_ctypes.graph.graph import Graph


@pytest.fixture
def layer(tmp_path, monkeypatch):
    monkeypatch.delenv("CUDNN_CTYPES_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    graph = Graph("layer", io_data_type="float16")
    x = graph.tensor((2, 16, 6, 6), layout="nhwc", name="x")
    w = graph.tensor((16, 16, 3, 3), layout="nhwc", name="w")
    graph.conv_fprop(x, w).set_output(name="y")
    path = tmp_path / "layer.json"
    path.write_text(graph.to_json())
    with use_reference_device():
        yield path


WORDS = ("--engines", "0", "--knobs", "0", "--data", "ordinary")


@pytest.mark.soak
def test_the_table_is_printed_and_verdicts_are_kept(layer, capsys):
    assert main(["judge", str(layer), *WORDS]) == 0
    out = capsys.readouterr().out
    assert out.startswith("'layer' on reference device")
    assert "     0  -      right  " in out
    assert len(list(layer.parent.rglob("verdict-*.json"))) == 1
    assert main(["cache"]) == 0
    assert "verdict  1 verdicts, 0 wrong" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("right", "wrong", "status"), [([1], [], 0), ([1], [2], 1), ([], [], 1), ([], [2], 1)]
)
def test_json_is_printed_and_written(right, wrong, status, layer, monkeypatch, capsys):
    def judge(graph, handle, **options):
        asked.append((graph.name, options))
        return SimpleNamespace(
            right=right, wrong=wrong, as_dict=lambda: {"verdicts": right + wrong}
        )

    asked = []
    monkeypatch.setattr(Graph, "judge", judge)
    path = layer.parent / "told" / "judge.json"
    words = ["judge", str(layer), *WORDS, "--json", "--no-keep", "-o", f"{path.parent}/"]
    assert main(words) == status
    out = capsys.readouterr().out
    assert json.loads(out) == {"verdicts": right + wrong}
    assert out == path.read_text()
    options = {"selection": Selection(engines=[0]), "knobs": 0, "data": ["ordinary"]}
    assert asked == [("layer", {**options, "runs": 5, "keep": False})]
    assert main(words) == 2
    assert "--force" in capsys.readouterr().err


def test_without_an_engine_the_status_says_so(layer, capsys):
    assert main(["judge", str(layer), "--engines", "900"]) == 1
    assert "0 engine configs executed" in capsys.readouterr().out


def test_a_graph_that_cannot_be_judged(layer, capsys):
    graph = Graph(io_data_type="float16")
    x = graph.tensor((2, 8, 16), data_type="int32", name="x")
    graph.reduction(x, "max", axes=[2]).set_output(name="y")
    layer.write_text(graph.to_json())
    assert main(["judge", str(layer)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("judge: tensor 'x': random int32 numbers would have no meaning")
