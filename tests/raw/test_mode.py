"""raw.mode: the flag of the reference device and its environment variable."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cudnn_ctypes.raw import mode


def active_with(value: str | None) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != mode.ENVIRONMENT_VARIABLE}
    if value is not None:
        environment[mode.ENVIRONMENT_VARIABLE] = value
    code = "from cudnn_ctypes.raw import mode; print(mode.reference_device_active)"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )


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


def test_a_misspelt_value_is_an_error() -> None:
    run = active_with("refrence")
    assert run.returncode != 0
    assert "CUDNN_CTYPES_DEVICE='refrence': expected 'reference'" in run.stderr


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
    environment = {**os.environ, mode.ENVIRONMENT_VARIABLE: value}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.stdout.strip() == gpu, done.stderr


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("cuda:b200", "expected 'reference'"),
        (":b200", "expected 'reference'"),
        ("reference:b20", "no preset for 'b20'; did you mean"),
    ],
)
def test_a_wrong_gpu_is_an_error(value: str, says: str) -> None:
    run = active_with(value)
    assert run.returncode != 0
    assert says in run.stderr


def test_the_flag_can_be_set(reference_device: None) -> None:
    assert mode.reference_device_active is True
    mode.set_reference_device_active(False)
    assert mode.reference_device_active is False
