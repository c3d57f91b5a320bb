"""Properties of GPUs that need not be there."""

from __future__ import annotations

import json

import pytest

from cudnn_ctypes import Graph, raw
from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver
from cudnn_ctypes.errors import CudnnError, NoDeviceError
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties, presets

NEEDS_BUS_WIDTH = raw.load().version >= 92700


def test_a_preset(h200):
    assert "h200" in presets()
    assert h200.name == "NVIDIA H200"
    assert h200.compute_capability == (9, 0)
    assert h200["multiProcessorCount"] == 132
    assert "NVIDIA H200" in repr(h200)


@pytest.mark.thinned(5)
@pytest.mark.parametrize("name", presets())
def test_plans_are_compiled_for_each_preset(name):
    major = {"t4": 7, "h100": 9, "h200": 9, "b200": 10, "gb200": 10, "rtx5090": 12}.get(name, 8)
    with DeviceProperties.preset(name.upper()) as gpu, Graph(io_data_type="float16") as graph:
        assert gpu.compute_capability[0] == major
        assert gpu.source == ("measured" if name == "h200" else "public data")
        assert ("public data" in repr(gpu)) == (gpu.source == "public data")
        product = graph.matmul(graph.tensor((2, 128, 64)), graph.tensor((2, 64, 128)))
        graph.relu(product).set_output()
        stored = json.loads(graph.build(gpu).descriptor["json_representation"])
        assert stored


def test_some_values_of_a_preset_can_be_replaced(h200):
    with h200.replace(multiProcessorCount=66) as half:
        assert (half["multiProcessorCount"], half["l2CacheSize"]) == (66, h200["l2CacheSize"])
        assert half.source == "given"
    with pytest.raises(ValueError, match="no property 'l2cache'; did you mean 'l2CacheSize'"):
        h200.replace(l2cache=1)
    with pytest.raises(ValueError, match="multiProcessorCount: expected a size or count from 0"):
        h200.replace(multiProcessorCount=-4)
    with pytest.raises(ValueError, match=r"maxGridSize: .* got \[1, -1, 1\]"):
        h200.replace(maxGridSize=[1, -1, 1])


def test_a_gpu_that_is_newer_than_cudnn(h200):
    assert h200.is_native
    assert "newer" not in repr(h200)
    newest = raw.cudnnGetMaxDeviceVersion()
    newer = json.loads(h200.to_json()) | {"deviceVer": newest + 100, "deviceName": "next"}
    with DeviceProperties(newer) as later:
        assert not later.is_native
        assert repr(later).endswith("newer than this cuDNN)")


@pytest.mark.skipif(not NEEDS_BUS_WIDTH, reason="this cuDNN wants no key that 9.19 did not write")
def test_what_an_older_file_lacks_is_filled_and_said(h200):
    assert h200.filled == {"memoryBusWidth": 6144}
    assert "filled in: memoryBusWidth=6144" in repr(h200)
    unknown = json.loads(h200.to_json()) | {"deviceName": "some GPU"}
    del unknown["memoryBusWidth"]
    with pytest.raises(ValueError, match="wants 'memoryBusWidth' of the GPU 'some GPU'"):
        DeviceProperties(unknown)


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_json_and_back(h200, tmp_path):
    path = tmp_path / "gpu.json"
    text = h200.to_json(path)
    with DeviceProperties(text) as from_text, DeviceProperties(path) as from_file:
        assert from_text == from_file == h200
        assert not from_file.filled
    with DeviceProperties(json.loads(text)) as from_mapping:
        assert from_mapping == h200


@pytest.mark.parametrize(
    ("properties", "error", "says"),
    [
        ("{", ValueError, "is no JSON"),
        ("[1]", ValueError, "expected a JSON object"),
        ({"memoryBusWidth": 1}, ValueError, "no device properties that cuDNN wrote"),
        ({"memoryBusWidth": 1, "deviceName": "x"}, CudnnError, "maxGridSize"),
        (5, TypeError, "expected the name of a GPU, a file, JSON text or a mapping, got 5"),
        ("gpu.json", ValueError, "gpu.json: it cannot be read: No such file"),
        ({"deviceName": "x", "source": "a friend"}, ValueError, "source: expected one of measured"),
    ],
)
@pytest.mark.filterwarnings("error::ResourceWarning")
def test_wrong_properties(properties, error, says):
    with pytest.raises(error, match=says):
        DeviceProperties(properties)


@pytest.mark.skipif(not ensure_driver().is_stub, reason="there is an NVIDIA driver here")
@pytest.mark.filterwarnings("error::ResourceWarning")
def test_without_a_gpu_its_properties_cannot_be_read(gpu_device):
    with pytest.raises(
        NoDeviceError, match=r"no NVIDIA GPU here .* take a preset \(a100, .*h200, .*\)"
    ):
        DeviceProperties.from_device()


def test_an_unknown_preset():
    with pytest.raises(ValueError, match="no preset for 'H20'; did you mean 'h200'"):
        DeviceProperties.preset("H20")


@pytest.mark.gpu
def test_properties_of_the_gpu_here():
    from cudnn_ctypes import Handle

    with DeviceProperties.from_device() as here, Handle() as handle:
        with DeviceProperties.from_device(handle=handle) as same:
            assert same == here
        with DeviceProperties(here.to_json()) as again:
            assert again == here
            assert not again.filled
