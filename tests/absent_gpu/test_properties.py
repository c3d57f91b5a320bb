"""Names of GPUs, and what else stands for their properties."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cudnn_ctypes.absent_gpu.properties import compute_capability, gpu_values, preset, presets


@pytest.mark.parametrize("name", presets())
def test_every_preset_is_found_by_its_name_and_by_that_of_the_gpu(name: str) -> None:
    values = preset(name)
    assert preset(name.upper()) == preset(f" {name} ") == values
    assert preset(values["deviceName"]) == values
    assert values["source"] == ("measured" if name == "h200" else "public data")
    assert compute_capability(values) >= (7, 5)


def test_all_that_stands_for_properties(tmp_path: Path) -> None:
    values = preset("b200")
    path = tmp_path / "gpu.json"
    path.write_text(json.dumps(values))
    given: list[Any] = [values, path, str(path), path.read_text(), path.read_bytes(), "B200"]
    for each in given:
        assert gpu_values(each) == values
    assert gpu_values(values) is not values


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "gpu.json: it cannot be read: No such file"),
        (b"{", "gpu.json: this is no JSON"),
        (b"\xff\xfe\xfa", "gpu.json: this is no JSON"),
        (b"[1]", "gpu.json: expected a JSON object, got a list"),
        (b'{"format": 2}', "gpu.json: these are no device properties"),
        (b'{"deviceName": "x", "source": 3}', "gpu.json: source: expected one of measured"),
    ],
    ids=str,
)
def test_damaged_files(content: bytes | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=says):
        gpu_values(path)
