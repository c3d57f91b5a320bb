"""The command ``devices``."""

import json

import pytest
from programs import ROOT

from cudnn_ctypes import DeviceProperties
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.absent_gpu.properties import presets
from cudnn_ctypes.commands import devices as command
from cudnn_ctypes.raw.library import load


def test_all_presets_are_listed(capsys):
    assert main(["devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in presets():
        (line,) = (line for line in lines if line.split()[:1] == [name])
        assert ("measured" in line) == (name == "h200")


@pytest.mark.soak
def test_graphs_are_compiled_for_chosen_ones(capsys):
    """What is only on newer GPUs has an engine there, and a reason where it has none."""
    assert main(["devices", "T4", "rtx 5090", "--compile", "--json"]) == 0
    t4, rtx = json.loads(capsys.readouterr().out)
    assert (t4["compute_capability"], rtx["compute_capability"]) == ("7.5", "12.0")
    assert set(t4["graphs"]) == {describe().name for describe in command.GRAPHS}
    for name in ("conv + relu", "matmul + gelu"):
        assert t4["graphs"][name]["engine"].startswith("engine")
    for name in ("attention", "nvfp4 matmul"):
        assert any("ARCH_MISMATCH" in reason for reason in t4["graphs"][name]["refused"])
    assert all("engine" in result for result in rtx["graphs"].values())
    page = (ROOT / "docs" / "presets.md").read_text()
    if f"cuDNN {load().version_text}" not in page:
        pytest.skip("the page has the engines of another cuDNN")
    for name, found in (("t4", t4), ("rtx5090", rtx)):
        engines = [each.get("engine", "no").partition(":")[0] for each in found["graphs"].values()]
        assert f"| {name} | {found['compute_capability']} | {' | '.join(engines)} |" in page


def test_the_page_has_every_preset():
    page = (ROOT / "docs" / "presets.md").read_text()
    rows = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")]
    assert rows == ["device", *presets()]


def test_the_table_gives_reasons_once_for_gpus_alike(capsys, monkeypatch):
    monkeypatch.setattr(command, "GRAPHS", command.GRAPHS[-1:])
    assert main(["devices", "h100", "h200", "b200", "--compile"]) == 0
    out = capsys.readouterr().out
    rows = {line.split()[0]: line.split()[2:] for line in out.splitlines() if " 9.0 " in line}
    assert rows == {"h100": ["no"], "h200": ["no"]}
    assert "nvfp4 matmul for h100, h200:" in out
    assert out.count("nvfp4 matmul for") == 1


def test_a_file(tmp_path, capsys):
    with DeviceProperties.preset("l4") as l4, l4.replace(deviceName="mine") as mine:
        mine.to_json(tmp_path / "mine.json")
    assert main(["devices", str(tmp_path / "mine.json"), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["gpu"], row["source"], row["memory"]) == ("mine", "given", 24 << 30)


@pytest.mark.parametrize(
    ("word", "says"),
    [("B20", "no preset for 'B20'; did you mean"), ("no.json", "no.json: it cannot be read")],
)
def test_wrong_devices(word, says, capsys):
    assert main(["devices", word]) == 2
    assert says in capsys.readouterr().err
