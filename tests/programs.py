"""Python programs in interpreters of their own, and libraries that stand in for libcudnn."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Settings of the test run that would decide what the program is to find out.
_NOT_INHERITED = ("CUDNN_CTYPES_LIBRARY", "CUDNN_CTYPES_DEVICE", "LD_LIBRARY_PATH", "LD_PRELOAD")


def run_program(
    source: str,
    *arguments: str,
    environment: dict[str, str] | None = None,
    folder: Path | None = None,
    check: bool = True,
    flags: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Run Python source in a fresh interpreter; with `check`, it must succeed."""
    inherited = {k: v for k, v in os.environ.items() if k not in _NOT_INHERITED}
    done = subprocess.run(
        [sys.executable, *flags, "-c", textwrap.dedent(source), *arguments],
        env={**inherited, "PYTHONPATH": str(ROOT), **(environment or {})},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if check and done.returncode:
        raise AssertionError(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def printed(source: str, *arguments: str, **options: object) -> list[str]:
    """The lines that a program prints."""
    return run_program(source, *arguments, **options).stdout.splitlines()  # type: ignore[arg-type]


def fake_cudnn(
    folder: Path, *, version: int = 92800, name: str = "libcudnn.so.9", statuses: str = ""
) -> Path:
    """Compile a library that answers a version number.

    `statuses` lists more functions, each returning a status: "cudnnCreate=1001 cudnnDestroy=0".
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    functions = [
        f"size_t cudnnGetVersion(void) {{ return {version}; }}",
        "size_t cudnnGetCudartVersion(void) { return 12090; }",
        "int cudnnSetCallback(unsigned m, void *u, void *f) { return 0; }",
    ]
    for entry in statuses.split():
        function, status = entry.split("=")
        functions.append(f"int {function}(void) {{ return {status}; }}")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    subprocess.run(
        [compiler, "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", str(file), "-xc", "-"],
        input="\n".join(["#include <stddef.h>", *functions]),
        text=True,
        check=True,
    )
    return file


def other_library(folder: Path, name: str) -> Path:
    """Compile a library without functions."""
    return fake_cudnn(folder, version=0, name=name)
