"""The atlas: what is kept agrees with the loaded cuDNN, and is chosen and compared by words."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from types import SimpleNamespace

import pytest

from cudnn_ctypes import Atlas, Graph, SymbolNotFoundError, raw
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.absent_gpu.properties import presets
from cudnn_ctypes.evidence.atlas import measuring
from cudnn_ctypes.evidence.atlas.cells import Cell, Result
from cudnn_ctypes.evidence.atlas.measuring import shapes
from cudnn_ctypes.evidence.known_faults import known_faults
from tools import atlas_shapes

KNOWN = Atlas.known()

MEASURED = {
    "h200": (
        "attention forward float16 head 128 causal",
        "norm rms training float16 scales float32",
    ),
    "b200": ("attention backward float16 head 256 causal", "product nvfp4"),
    "t4": ("attention forward float16 head 64 no mask", "fused product, relu float16"),
}


def test_it_has_every_shape_and_thousands_of_cells():
    assert KNOWN.shapes == (*shapes(),)
    assert measuring.SHAPES.read_text() == atlas_shapes.text()
    assert len(KNOWN.cells) >= 3000
    assert len({(x.shape, x.gpu, x.cudnn) for x in KNOWN.cells}) == len(KNOWN.cells)
    assert set(KNOWN.gpus) <= set(presets())
    names = {row.name for row in known_faults()}
    assert {fault for cell in KNOWN.cells for fault in cell.result.faults} <= names


@pytest.mark.soak
@pytest.mark.parametrize("gpu", MEASURED)
def test_cells_are_what_the_loaded_cudnn_says(gpu):
    version = raw.load().version_text
    if version not in KNOWN.versions:
        pytest.skip("the atlas has other versions")
    kept = {x.shape: x.result for x in KNOWN.cells if (x.gpu, x.cudnn) == (gpu, version)}
    found = dict(measuring.measured(gpu, MEASURED[gpu]))
    assert found == {name: kept[name] for name in MEASURED[gpu]}


def test_shapes_that_are_accepted_and_do_not_compile():
    found = KNOWN.where("b200", "9.28", "attention backward float16", "head 256 causal")
    (cell,) = found.cells
    assert cell.result.engines == (5,)
    assert cell.result.compiled is None
    assert "COMPILATION_FAILED" in cell.result.failed[5]


@pytest.mark.soak
def test_a_shape_that_ends_the_process_is_a_result(monkeypatch):
    described = {"dead": os.abort, "relu": _relu}
    monkeypatch.setattr(measuring, "shapes", lambda: described)
    (_, dead), (_, relu) = measuring.measured("h200", [*described])
    assert dead.refusal == "the process ended: SIGABRT"
    assert relu.compiled is not None


def _relu() -> Graph:
    graph = Graph(io_data_type="float16")
    graph.relu(graph.tensor((8, 64, 32), name="x")).set_output(name="y")
    return graph


@pytest.mark.parametrize(
    ("rows", "built", "result"),
    [
        ("4+ 2-", "", Result((4, 2), 4)),
        ("5! 5! 4! 2-", "542", Result((5, 4, 2), 2, {5: "no", 4: "no"})),
        ("5! 4! 3! 2-", "543", Result((5, 4, 3, 2), None, {5: "no", 4: "no", 3: "no"})),
        ("", "", Result(refusal="no engine")),
    ],
)
def test_engines_are_compiled_until_one_does(rows, built, result):
    """Of "5!" engine 5 does not compile; "4+" was seen to work."""
    tried = []

    def build(device, config):
        tried.append(config[0])
        if config[1] == "!":
            raise SymbolNotFoundError("no\nbecause")
        return SimpleNamespace(close=lambda: None)

    usable = [
        SimpleNamespace(engine=int(row[0]), state="works" if row[1] == "+" else "", choice=row)
        for row in rows.split()
    ]
    told = SimpleNamespace(usable=usable, refusal="", reasons=dict, faults=["some fault"])
    graph = SimpleNamespace(explain=lambda *arguments: told, build=build)
    assert measuring._asked(graph, "h200") == replace(result, faults=("some fault",))
    assert "".join(tried) == built


WORKS, NEVER = Result((4, 2), 4), Result((), None, {}, "no engine")
FAILS = Result((5,), None, {5: "it does not compile"}, "", ("some fault",))
SMALL = Atlas(
    (
        Cell("attention head 64", "h200", "9.19.0", WORKS),
        Cell("attention head 64", "h200", "9.28.0", Result((2,), 2)),
        Cell("attention head 640", "h200", "9.28.0", NEVER),
        Cell("product, relu", "b200", "9.19.0", WORKS),
        Cell("product, relu", "b200", "9.28.0", FAILS),
    )
)


def test_words_choose_cells():
    assert len(SMALL.where("head 64").cells) == 2
    assert [x.gpu for x in SMALL.where("9.28", "B200").cells] == ["b200"]
    assert len(SMALL.where("h200", "b200").cells) == 5
    assert SMALL.where("9.19", "9.28", "relu").versions == ("9.28.0", "9.19.0")
    with pytest.raises(ValueError, match="no shape and no GPU has 'atention'; did you mean"):
        SMALL.where("atention")
    with pytest.raises(ValueError, match=r"no cell is of cuDNN 9\.2; there are 9\.28\.0, 9\.19\.0"):
        SMALL.where("9.2")


def test_differences_are_of_what_compiles():
    ((before, after),) = SMALL.differences("9.19", "9.28")
    assert (before.result, after.result) == (WORKS, FAILS)
    assert len(SMALL.differences("9.19", "9.28", engines=True)) == 2


def test_files_keep_all(tmp_path):
    SMALL.save(tmp_path / "some.json")
    read = Atlas.read(tmp_path / "some.json")
    assert sorted(map(repr, read.cells)) == sorted(map(repr, SMALL.cells))
    whole = (tmp_path / "some.json").read_text()
    for text in ('{"shapes": []}', whole.replace(", -1]]", "]]", 1)):  # of a shape without a place
        (tmp_path / "no.json").write_text(text)
        with pytest.raises(ValueError, match="this is no file of the atlas"):
            Atlas.read(tmp_path / "no.json")


def test_the_command(tmp_path, capsys):
    path = str(tmp_path / "some.json")
    SMALL.save(path)
    assert main(["atlas", "--file", path]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == [
        "9.28.0",
        "h200",
        *["1", "of", "2", "-"],
    ]
    assert main(["atlas", "--file", path, "relu", "9.28", "--why"]) == 0
    out = capsys.readouterr().out
    assert "product, relu  fails*" in out
    assert "engine 5: it does not compile\n    product, relu, b200, cuDNN 9.28.0" in out
    assert "known fault: some fault" in out
    assert main(["atlas", "diff", "9.19", "9.28", "--file", path]) == 1
    assert "product, relu" in capsys.readouterr().out
    assert main(["atlas", "diff", "9.19", "9.28", "--file", path, "--json"]) == 1
    ((_, after),) = json.loads(capsys.readouterr().out)
    assert after["result"]["failed"] == {"5": "it does not compile"}
    assert main(["atlas", "diff", "9.19", "9.28", "h200", "--file", path]) == 0
    assert main(["atlas", "diff", "9.19", "--file", path]) == 2
    assert main(["atlas", "h200", "relu", "--file", path]) == 2


def test_measuring_by_command(tmp_path, capsys):
    file = tmp_path / "here.json"
    assert main(["atlas", "measure", "l4", "product fp8_e5m2", "-o", str(file), "--json"]) == 0
    (cell,) = json.loads(capsys.readouterr().out)
    assert (cell["gpu"], cell["cudnn"]) == ("l4", raw.load().version_text)
    assert cell["result"]["compiled"] == cell["result"]["engines"][0]
    assert len(Atlas.read(file).cells) == 1
    assert main(["atlas", "measure", "l4", "product", "-o", str(file)]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["atlas", "h200", "-o", str(file)]) == 2
