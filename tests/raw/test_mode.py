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
    ],
)
def test_environment(value: str | None, expected: str) -> None:
    assert active_with(value).stdout.strip() == expected


def test_a_misspelt_value_is_an_error() -> None:
    run = active_with("refrence")
    assert run.returncode != 0
    assert "CUDNN_CTYPES_DEVICE='refrence': expected 'reference'" in run.stderr


def test_the_flag_can_be_set(reference_device: None) -> None:
    assert mode.reference_device_active is True
    mode.set_reference_device_active(False)
    assert mode.reference_device_active is False
