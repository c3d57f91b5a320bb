"""Python programs in interpreters of their own, and libraries that stand in for libcudnn."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from cudnn_ctypes.absent_gpu.driver_stub import MACHINE_CODE
from cudnn_ctypes.raw.library import elf

ROOT = Path(__file__).parents[1]

# Settings of the test run that would decide what the program is to find out.
_NOT_INHERITED = (
    "CUDNN_CTYPES_CACHE",
    "CUDNN_CTYPES_DEVICE",
    "CUDNN_CTYPES_TRACE",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
)


def inherited_environment(**changes: str) -> dict[str, str]:
    """The environment of a program that a test starts: it finds the cuDNN of the test run."""
    inherited = {k: v for k, v in os.environ.items() if k not in _NOT_INHERITED}
    return {**inherited, "PYTHONPATH": str(ROOT), **changes}


def run_command(
    *command: object,
    folder: Path | None = None,
    timeout: float = 600,
    given: str | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, however it ends; `given` is its standard input."""
    return subprocess.run(
        [str(word) for word in command],
        env=inherited_environment(**environment),
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def run_program(
    source: str,
    *arguments: str,
    environment: dict[str, str] | None = None,
    folder: Path | None = None,
    check: bool = True,
    flags: tuple[str, ...] = (),
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Run Python source in a fresh interpreter; with `check`, it must succeed."""
    command = (sys.executable, *flags, "-c", textwrap.dedent(source), *arguments)
    done = run_command(*command, folder=folder, timeout=timeout, **(environment or {}))
    if check and done.returncode:
        raise AssertionError(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def printed(source: str, *arguments: str, **options: object) -> list[str]:
    """The lines that a program prints."""
    return run_program(source, *arguments, **options).stdout.splitlines()  # type: ignore[arg-type]


def fuzz(command: str, *flags: str) -> str:
    """What a fuzzer of ``tools.fuzz`` prints; nothing may have ended a process."""
    done = run_command(sys.executable, "-m", "tools.fuzz", command, *flags, folder=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fake_library(folder: Path, name: str, **functions: int) -> Path:
    """Write a library whose functions return numbers, without a compiler."""
    code = MACHINE_CODE[elf.MACHINES[elf.built_for()]]
    text, begins = b"", {}
    for function, number in functions.items():
        begins[function] = len(text)
        text += code.constant(number)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_bytes(elf.shared_object(name, text=text, functions=begins))
    return file


def fake_cudnn(
    folder: Path, *, version: int = 92800, name: str = "libcudnn.so.9", **statuses: int
) -> Path:
    """Write a libcudnn that answers a version number, and `statuses` of other functions."""
    answers = {"cudnnGetVersion": version, "cudnnGetCudartVersion": 12090}
    silent = {"cudnnSetCallback": 0, "cudnnGetCallback": 0}
    return fake_library(folder, name, **answers, **silent, **statuses)
