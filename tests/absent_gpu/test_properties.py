"""Names of GPUs, and what else stands for their properties."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cudnn_ctypes.absent_gpu.properties import gpu_values, memory_bandwidth, preset, presets


@pytest.mark.parametrize("name", presets())
def test_every_preset_is_found_by_its_name_and_by_that_of_the_gpu(name: str) -> None:
    values = preset(name)
    assert preset(name.upper()) == preset(f" {name} ") == values
    assert preset(values["deviceName"]) == values
    assert memory_bandwidth(values) == pytest.approx(1e9 * BANDWIDTHS[name], rel=0.03)


BANDWIDTHS = {  # GB/s, from NVIDIA's data sheets
    "a100": 2039, "b200": 8000, "b300": 8185, "gb200": 8000, "h100": 3352, "h200": 4814,
    "l4": 300, "l40s": 864, "rtx4090": 1008, "rtx5090": 1792, "spark": 273, "t4": 320, "thor": 273,
}  # fmt: skip


def test_properties_from_a_data_sheet_are_those_that_a_gpu_tells() -> None:
    """Of the same generation they differ in what the products differ in."""
    measured, public = preset("h200"), preset("h100")
    assert public.keys() | {"memoryBusWidth"} == measured.keys() | {"memoryBusWidth"}
    differing = {key for key in public if public[key] != measured[key]}
    different = "deviceName pciDeviceId source memClockRateKHz totalGlobalMem l2CacheSize"
    assert differing == set(different.split())
    given = {"totalGlobalMem": 15 << 30, "l2CacheSize": 4 << 20, "deviceVer": 750,
             "maxSharedMemoryPerBlockOptin": 1 << 16, "reservedSharedMemoryPerBlock": 0,
             "smClockRateKHz": 1590000, "memClockRateKHz": 5001000}  # fmt: skip
    assert given.items() <= preset("t4").items()
    assert memory_bandwidth({"deviceName": "GPU"}) == memory_bandwidth(measured)


def test_all_that_stands_for_properties(tmp_path: Path) -> None:
    values = preset("b200")
    path = tmp_path / "gpu.json"
    path.write_text(json.dumps(values))
    given: list[Any] = [values, path, str(path), path.read_text(), path.read_bytes(), "B200"]
    given.append(SimpleNamespace(to_json=path.read_text))
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
        (b'{"deviceName": "x", "maxGridSize": [0, -1]}', "gpu.json: maxGridSize: expected a size"),
    ],
    ids=str,
)
def test_damaged_files(content: bytes | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=says):
        gpu_values(path)
