"""The command ``judge``."""

import json

import pytest

from cudnn_ctypes import use_reference_device
from cudnn_ctypes.__main__ import main
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


@pytest.mark.soak
def test_json_is_printed_and_written(layer, capsys):
    path = layer.parent / "told.json"
    words = ["judge", str(layer), *WORDS, "--json", "--no-keep", "-o", str(path)]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads(path.read_text())
    assert [each["state"] for each in told["verdicts"]] == ["right"]
    assert not list(layer.parent.rglob("verdict-*.json"))
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
