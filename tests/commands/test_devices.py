"""The command ``devices``."""

import json

from cudnn_ctypes import DeviceProperties
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.absent_gpu.properties import presets


def test_all_presets_are_listed(capsys):
    assert main(["devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["device", "GPU", "capability", "known", "from"]
    assert [line.split()[0] for line in lines[1:]] == [*presets()]
    assert [line.split()[0] for line in lines if "measured" in line] == ["h200"]
    (line,) = (line for line in lines if line.startswith("h200 "))
    assert line.split() == ["h200", "NVIDIA", "H200", "9.0", "measured"]


def test_a_file(tmp_path, capsys):
    with DeviceProperties.preset("l4") as l4, l4.replace(deviceName="mine") as mine:
        mine.to_json(tmp_path / "mine.json")
    assert main(["devices", str(tmp_path / "mine.json"), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    facts = {"gpu": "mine", "compute_capability": "8.9", "multiprocessors": 58, "native": True}
    file = str(tmp_path / "mine.json")
    assert row == {"name": file, "memory": 24 << 30, "source": "given", **facts}
