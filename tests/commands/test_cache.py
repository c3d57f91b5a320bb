"""The command that shows and clears the plan cache."""

import json
import os
import time

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.graph import DeviceProperties, Graph
from cudnn_ctypes.graph.engines.cache.entry_folder import ENVIRONMENT_VARIABLE


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache with one plan, used three hours ago, and a damaged entry."""
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    graph = Graph("layer 1", io_data_type="float16")
    x = graph.tensor((4, 32, 32), name="x")
    graph.matmul(x, x).set_output(name="y")
    with graph, DeviceProperties.preset("H200") as device:
        graph.build(device, cache=tmp_path)
    (plan,) = tmp_path.iterdir()
    then = time.time() - 3 * 3600 - 60
    os.utime(plan, (then, then))
    (tmp_path / "plan-0.json").write_text("{}")
    return tmp_path


def test_it_shows_a_table(folder, capsys):
    assert main(["cache", str(folder)]) == 0
    title, header, *rows = capsys.readouterr().out.splitlines()
    sizes = [path.stat().st_size for path in folder.iterdir()]
    assert title == f"{folder}: 2 entries, {sum(sizes):,} of at most 268,435,456 bytes"
    assert header.split() == ["kind", "graph", "engine", "device", "cuDNN", "bytes", "made", "used"]
    damaged, plan = rows
    assert damaged.split() == ["damaged", "2", "0", "s"]
    assert plan.startswith("plan     layer 1  engine ")
    assert "NVIDIA H200" in plan
    assert plan.endswith(" 3 h")
    (file,) = folder.glob("plan-?*[!0].json")
    for age, text in ((59.5, " 59 s"), (60.5, " 1 min"), (3 * 86400 + 1, " 3 d")):
        os.utime(file, (time.time() - age,) * 2)
        main(["cache", str(folder)])
        assert capsys.readouterr().out.endswith(f"{text}\n")


def test_results_of_tuning_are_taken_over(folder, capsys):
    words = ["cache", str(folder), "--export", f"{folder}/new/"]
    assert main([*words, "--json"]) == 0
    file = f"{folder}/new/tunings.json"
    written = {"done": "written to", "entries": 0, "path": file}
    assert json.loads(capsys.readouterr().out) == [written]
    assert main([*words, "--force", "--merge", file]) == 0
    told = [f"0 entries taken over from {file}", f"0 entries written to {file}"]
    assert capsys.readouterr().out.splitlines() == told


def test_it_tells_data(folder, capsys):
    assert main(["cache", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["folder"] == str(folder)
    assert told["size"] == sum(path.stat().st_size for path in folder.iterdir())
    assert told["limit"] == 1 << 28
    damaged, plan = told["entries"]
    assert (damaged["kind"], damaged["size"], plan["kind"]) == ("damaged", 2, "plan")
    assert (plan["graph"], plan["device"]) == ("layer 1", "NVIDIA H200")
    assert plan["cudnn"] == raw.load().version


def test_it_clears(folder, monkeypatch, capsys):
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(folder))
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == f"2 entries removed from {folder}\n"
    assert list(folder.iterdir()) == []
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"{folder}: 0 entries, 0 of at most 268,435,456 bytes\n"


def test_a_folder_that_cannot_be_used(folder, capsys):
    assert main(["cache", str(folder / "plan-0.json")]) == 2
    assert capsys.readouterr().err == f"cache: {folder / 'plan-0.json'}: Not a directory\n"
    folder.chmod(0o777)
    assert main(["cache", str(folder)]) == 2
    assert capsys.readouterr().err.startswith("cache: others can write to the folder")
    assert main(["cache", str(folder / "none")]) == 0


def test_files_of_others_are_not_removed(tmp_path):
    (tmp_path / "settings.json").write_text("{}")
    (tmp_path / "plan-0.json").write_text("{}")
    assert main(["cache", "--clear", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]
