"""Compiled programs, run by the command line on the reference device."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from programs import ROOT, inherited_environment, run_command

from cudnn_ctypes.__main__ import main
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
def compiled(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Run:
    """Compile source in this process, and run it; its first line is line 5 of the file."""

    def become(_: Path, words: list[str], variables: dict[str, str]) -> NoReturn:
        sys.exit(subprocess.run(words, env=variables).returncode)

    def run(
        source: str, *options: str, name: str = "program.cpp", arguments: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        (tmp_path / name).write_text(HEAD + source)
        words = ["run", *options, str(tmp_path / name), *arguments]
        with monkeypatch.context() as patched:
            patched.chdir(tmp_path)
            for variable in os.environ.keys() - inherited_environment().keys():
                patched.delenv(variable)
            patched.setenv("PYTHONPATH", str(ROOT))
            patched.setenv("XDG_CACHE_HOME", str(cache))
            patched.setattr(os, "execve", become)
            try:
                status = main(words)
            except SystemExit as ended:
                status = ended.code
        return subprocess.CompletedProcess(words, status, *capfd.readouterr())

    return run
