"""raw.mode: the flag of the reference device and its environment variable."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from programs import fake_library, printed, run_program

from cudnn_ctypes import use_reference_device
from cudnn_ctypes.raw import mode

REQUESTED = "from cudnn_ctypes.raw import mode; print(mode.reference_device_requested)"


def active_with(value: str | None) -> subprocess.CompletedProcess[str]:
    environment = {} if value is None else {mode.ENVIRONMENT_VARIABLE: value}
    return run_program(REQUESTED, environment=environment, check=False)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "False"),
        ("", "False"),
        ("cuda", "False"),
        ("reference", "True"),
        ("Reference ", "True"),
        ("reference: rtx 5090", "True"),
    ],
)
def test_environment(value: str | None, expected: str) -> None:
    assert active_with(value).stdout.strip() == expected


def automatic(folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program that has the device chosen; libraries of the folder come first."""
    return run_program(
        REQUESTED,
        environment={
            mode.ENVIRONMENT_VARIABLE: "Auto",
            **({"LD_LIBRARY_PATH": str(folder)} if folder else {}),
        },
    )


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({"cuInit": 100, "cuDeviceGetCount": 0}, "the driver's cuInit gave CUDA error 100"),
        ({"cuInit": 0, "cuDeviceGetCount": 0}, "the driver sees no GPU"),
        ({"cuInit": 0}, "undefined symbol: cuDeviceGetCount"),
    ],
)
def test_auto_takes_the_reference_device_without_a_gpu_and_says_why(answers, why, tmp_path):
    fake_library(tmp_path, "libcuda.so.1", **answers)
    done = automatic(tmp_path)
    assert done.stdout == "True\n"
    assert done.stderr.startswith("CUDNN_CTYPES_DEVICE=auto: running on the reference device")
    assert why in done.stderr


@pytest.mark.gpu
def test_auto_takes_the_gpu() -> None:
    done = automatic()
    assert done.stdout == "False\n"
    assert done.stderr == "CUDNN_CTYPES_DEVICE=auto: running on the GPU\n"


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("value", "gpu"),
    [
        ("reference", "NVIDIA H200"),
        ("reference:b200", "NVIDIA B200"),
        ("REFERENCE: L4", "NVIDIA L4"),
    ],
)
def test_the_environment_names_the_gpu_that_it_stands_for(value: str, gpu: str) -> None:
    program = "from cudnn_ctypes import Handle; print(Handle().device.stands_for)"
    environment = {mode.ENVIRONMENT_VARIABLE: value}
    assert printed(program, environment=environment, flags=("-W", "ignore")) == [gpu]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("refrence", "CUDNN_CTYPES_DEVICE='refrence': expected 'reference'"),
        ("cuda:b200", "expected 'reference'"),
        (":b200", "expected 'reference'"),
        ("reference:b20", "no preset for 'b20'; did you mean"),
    ],
)
def test_a_wrong_device_or_gpu_is_an_error(value: str, says: str) -> None:
    run = active_with(value)
    assert run.returncode != 0
    assert says in run.stderr


def test_the_flag_can_be_set(reference_device: None) -> None:
    assert mode.runtime.on_host
    use_reference_device(False)
    assert not mode.runtime.on_host
