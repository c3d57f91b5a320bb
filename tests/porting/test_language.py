"""Translated C and C++ prints what the compiled program prints."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from .translated import HERE, run_python, translation_of

pytest.importorskip("tree_sitter")

PROGRAMS = sorted((HERE / "language").glob("*.c*"))


@pytest.mark.thinned(15)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_prints_what_the_compiled_program_prints(path: Path, tmp_path: Path) -> None:
    compiler = "gcc" if path.suffix == ".c" else "g++"
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    translation = translation_of(path)
    assert translation.not_translated == []
    compiled = tmp_path / "compiled"
    options = ["-O0", "-ffp-contract=off", "-w", "-o", str(compiled), str(path), "-lm"]
    subprocess.run([compiler, *options], check=True)
    expected = subprocess.run(
        [str(compiled)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert expected.stdout
    for file in tmp_path.glob("*.txt"):
        file.unlink()

    done = run_python(translation.python, tmp_path)

    assert done.stdout.splitlines() == expected.stdout.splitlines(), done.stderr
    assert done.returncode == expected.returncode
