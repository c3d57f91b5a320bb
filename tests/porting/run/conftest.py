"""Compiled programs, run by the command line on the reference device."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import run_command

from cudnn_ctypes.commands.build import main as _  # noqa: F401 - a broken command fails here
from cudnn_ctypes.raw.headers import include_folder

Run = Callable[..., subprocess.CompletedProcess[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    why = None
    if shutil.which("g++") is None:
        why = "no g++ here"
    elif include_folder() is None:
        why = "no cudnn.h here"
    for item in items:
        if why and Path(__file__).parent in item.path.parents and "compiled" in item.fixturenames:
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture
def command(cache: Path, tmp_path: Path) -> Run:
    """Run a command of ``python -m cudnn_ctypes`` in an empty folder."""

    def run(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        python = (sys.executable, "-m", "cudnn_ctypes", *words)
        return run_command(*python, folder=tmp_path, **{"XDG_CACHE_HOME": str(cache), **variables})

    return run


HEAD = """\
#include <cstdio>
#include <cstdlib>
#include <cudnn.h>
#include <cuda_runtime.h>
"""


@pytest.fixture
def compiled(command: Run, tmp_path: Path) -> Run:
    """Compile source and run it; its first line is line 5 of the file."""

    def run(
        source: str, *options: str, name: str = "program.cpp", arguments: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        (tmp_path / name).write_text(HEAD + source)
        return command("run", *options, tmp_path / name, *arguments)

    return run
