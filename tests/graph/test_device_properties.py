"""Properties of GPUs that need not be there, and the stand-in for the driver."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.absent_gpu import driver_stub
from cudnn_ctypes.errors import CudnnError, NoDeviceError
from cudnn_ctypes.graph.device_properties import DeviceProperties, presets
from cudnn_ctypes.raw import process

NEEDS_BUS_WIDTH = raw.load().version >= 92700


def test_a_preset(h200):
    assert "h200" in presets()
    assert h200.name == "NVIDIA H200"
    assert h200.compute_capability == (9, 0)
    assert h200["multiProcessorCount"] == 132
    assert "NVIDIA H200" in repr(h200)


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
        (5, TypeError, "expected JSON text"),
    ],
)
@pytest.mark.filterwarnings("error::ResourceWarning")
def test_wrong_properties(properties, error, says):
    with pytest.raises(error, match=says):
        DeviceProperties(properties)


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


# --- the stand-in for the driver -----------------------------------------------------------------

without_driver = pytest.mark.skipif(
    not driver_stub.ensure_driver().is_stub, reason="there is an NVIDIA driver here"
)


@without_driver
def test_the_stub_is_what_libcuda_is_found_as():
    assert driver_stub.ensure_driver() is driver_stub.ensure_driver()
    assert process.driver_present()


@without_driver
def test_no_symbol_is_missed_and_no_gpu_is_found(tmp_path):
    program = (
        "from cudnn_ctypes.graph.device_properties import DeviceProperties\n"
        "from cudnn_ctypes import Handle, NotInitializedError\n"
        "DeviceProperties.preset('H200').close()\n"
        "try: Handle()\n"
        "except NotInitializedError: print('no GPU')\n"
    )
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        cwd=Path(__file__).parents[2],
        check=True,
    )
    assert (done.stdout, done.stderr) == ("no GPU\n", "")
    assert [file.suffix for file in (tmp_path / "cudnn_ctypes").iterdir()] == [".so"]


def test_without_a_compiler_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(NoDeviceError, match="no C compiler was found"):
        driver_stub._compiler()


def test_a_compiler_that_fails(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "false")
    with pytest.raises(NoDeviceError, match="compiling one failed: false"):
        driver_stub._compile("int x;", tmp_path)


def test_the_real_driver_is_preferred(monkeypatch):
    monkeypatch.setattr(driver_stub, "_driver", None)
    monkeypatch.setattr(process, "driver_present", lambda: True)
    monkeypatch.setattr(driver_stub, "_stub", lambda: pytest.fail("built a stub"))
    assert not driver_stub.ensure_driver().is_stub
