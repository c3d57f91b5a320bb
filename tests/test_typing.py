"""Type checkers see layer 1 as it is: mistakes are errors, and programs that work have none."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

Errors = dict[str, dict[int, str]]
"""Line to message, by the name of the file without its suffix."""


def programs() -> dict[str, str]:
    """What is checked: our own programs, the examples and the README's blocks."""
    found = {path.stem: path.read_text() for path in (ROOT / "tests/raw/typing").glob("*.py")}
    for path in (ROOT / "examples").glob("*.py"):
        found[f"example_{path.stem}"] = path.read_text()
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    found |= {f"readme_{number}": block for number, block in enumerate(blocks)}
    return found


@functools.cache
def folder() -> Path:
    """All programs in one folder: each checker runs once."""
    made = Path(tempfile.mkdtemp())
    for name, text in programs().items():
        (made / f"{name}.py").write_text(text)
    return made


def mypy() -> Errors:
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context"]
    result = subprocess.run(
        [*command, *map(str, sorted(folder().glob("*.py")))],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert not result.stderr, result.stderr
    found: Errors = {}
    for file, line, message in re.findall(r"^(.*?):(\d+): error: (.*)", result.stdout, re.M):
        found.setdefault(Path(file).stem, {})[int(line)] = message
    return found


def pyright() -> Errors:
    settings = {
        "include": ["."],
        "typeCheckingMode": "strict",
        "reportMissingTypeStubs": False,
        "extraPaths": [str(ROOT)],
        "pythonVersion": "3.11",
    }
    (folder() / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson"]
    result = subprocess.run([*command, "-p", str(folder())], capture_output=True, text=True)
    found: Errors = {}
    for item in json.loads(result.stdout)["generalDiagnostics"]:
        if item["severity"] == "error":
            line = item["range"]["start"]["line"] + 1
            found.setdefault(Path(item["file"]).stem, {})[line] = item["message"]
    return found


def checker(module: str, run: Callable[[], Errors]) -> object:
    missing = importlib.util.find_spec(module) is None
    skip = pytest.mark.skipif(missing, reason=f"{module} is not installed: it is in the group dev")
    return pytest.param(run, marks=skip, id=module)


CHECKERS = [checker("mypy", mypy), checker("basedpyright", pyright)]


@pytest.mark.soak
@pytest.mark.parametrize("errors", CHECKERS)
def test_every_mistake_is_an_error_and_nothing_else_is(errors: Callable[[], Errors]) -> None:
    """In one test: a checker takes ten seconds, and each worker of pytest-xdist would run it."""
    lines = programs()["wrong"].splitlines()
    marked = {number for number, line in enumerate(lines, 1) if line.endswith("# expect")}
    assert len(marked) > 80
    found = errors()
    mistakes = found.pop("wrong", {})
    missed = [lines[number - 1] for number in sorted(marked - mistakes.keys())]
    assert missed == []
    assert {number: mistakes[number] for number in mistakes.keys() - marked} == {}
    assert found == {}  # in programs that work


@pytest.mark.soak
def test_the_public_interface_has_known_types() -> None:
    pytest.importorskip("basedpyright")
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable]
    result = subprocess.run(
        [*command, "--verifytypes", "cudnn_ctypes", "--ignoreexternal", "--outputjson"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert json.loads(result.stdout)["typeCompleteness"]["completenessScore"] >= 0.99
