"""Names of GPUs, and what else stands for their properties."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cudnn_ctypes.absent_gpu.properties import (
    complete,
    compute_capability,
    gpu_values,
    preset,
    presets,
    reference_gpu,
)
from cudnn_ctypes.runtime import ReferenceDevice


@pytest.mark.parametrize("name", presets())
def test_every_preset_is_found_by_its_name_and_by_that_of_the_gpu(name: str) -> None:
    values = preset(name)
    assert preset(name.upper()) == preset(f" {name} ") == values
    assert preset(values["deviceName"]) == values
    assert values["source"] == ("measured" if name == "h200" else "public data")
    assert compute_capability(values) >= (7, 5)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("RTX 4090", "rtx4090"),
        ("rtx-5090", "rtx5090"),
        ("rtx_5090", "rtx5090"),
        ("GeForce RTX 4090", "rtx4090"),
        ("Tesla T4", "t4"),
        ("nvidia-h100", "h100"),
        ("A100-SXM4-80GB", "a100"),
        ("L 40 S", "l40s"),
        ("GB200", "gb200"),
    ],
)
def test_spaces_hyphens_case_and_the_vendor_s_words_make_no_difference(given, name):
    assert preset(given) == preset(name)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("H20", "no preset for 'H20'; did you mean 'h200'"),
        ("RTX 4080", "did you mean 'rtx4090'"),
        ("gb 20", "did you mean 'gb200'"),
        ("", r"no preset for ''; there are a100, b200, .*doctor --save-device"),
        ("NVIDIA", "no preset for 'NVIDIA'; there are"),
    ],
)
def test_unknown_names(given: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        preset(given)


def test_a_preset_is_a_new_object() -> None:
    preset("b200")["multiProcessorCount"] = 1
    assert preset("b200")["multiProcessorCount"] == 148


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


def test_what_the_reference_device_stands_for_is_told_alike_everywhere() -> None:
    gpu = reference_gpu()
    device = ReferenceDevice()
    assert device.stands_for == gpu["deviceName"]
    assert device.compute_capability == compute_capability(gpu)


def test_an_unknown_gpu_lacks_what_newer_versions_want() -> None:
    values = {**preset("b200"), "deviceName": "some GPU", "memoryBusWidth": 1}
    assert complete(values) == {}
