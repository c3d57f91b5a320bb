"""The stand-in for the driver's library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cudnn_ctypes.absent_gpu import driver_stub
from cudnn_ctypes.errors import NoDeviceError
from cudnn_ctypes.raw import process

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
