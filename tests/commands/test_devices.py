"""The command ``devices``."""

import json

from cudnn_ctypes import DeviceProperties
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.absent_gpu.properties import presets


def test_all_presets_are_listed(capsys):
    assert main(["devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in presets():
        (line,) = (line for line in lines if line.split()[:1] == [name])
        assert ("measured" in line) == (name == "h200")


def test_a_file(tmp_path, capsys):
    with DeviceProperties.preset("l4") as l4, l4.replace(deviceName="mine") as mine:
        mine.to_json(tmp_path / "mine.json")
    assert main(["devices", str(tmp_path / "mine.json"), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["gpu"], row["source"], row["memory"]) == ("mine", "given", 24 << 30)
