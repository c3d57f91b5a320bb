"""The matrix of environments: its rows, its page, and the check that runs in each of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from programs import ROOT

from cudnn_ctypes import raw
from tools.wheel_matrix import check
from tools.wheel_matrix.__main__ import main
from tools.wheel_matrix.environments import Result
from tools.wheel_matrix.rows import CUDNN_VERSIONS, EXTRAS, Row, rows_of_cudnn
from tools.wheel_matrix.table import page

STEPS = {step.__name__: "ok" for step in check.STEPS}


def test_versions_are_tried_with_the_packages_that_have_them() -> None:
    rows = rows_of_cudnn(CUDNN_VERSIONS, tuple(EXTRAS))
    assert [row.extra for row in rows if row.cudnn == "9.0"] == ["cu12"]
    assert [row.extra for row in rows if row.cudnn == "9.14"] == list(EXTRAS)
    assert Row("3.10", "jit12", cudnn="9.14").requirement == "nvidia-cudnn-jit-cu12==9.14.*"


def test_the_conda_recipe_asks_for_what_the_wheel_asks() -> None:
    recipe = (ROOT / "conda/recipe/recipe.yaml").read_text()
    project = (ROOT / "pyproject.toml").read_text()
    (block,) = re.findall(r"^dependencies = \[\n(.*?)^\]", project, re.DOTALL | re.MULTILINE)
    dependencies = re.findall(r'"([\w-]+)(.*)"', block)
    (python,) = re.findall(r'^requires-python = "(.*)"', project, re.MULTILINE)
    for name, releases in [("python", python), *dependencies]:
        assert f"    - {name} {releases}\n" in recipe.partition("  run:\n")[2]


def test_every_environment_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--cudnn", "9.1", "--extra", "cu12", "--python", "3.13"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Python 3.10, cu12, newest, cuDNN 9.1",
        "Python 3.13, no extra, lowest",
        "Python 3.13, no extra, newest",
        "Python 3.13, cu12, lowest",
        "Python 3.13, cu12, newest",
    ]


def test_the_page_gives_each_reason_once() -> None:
    old = {name for name, f in raw.FUNCTIONS.items() if f.since in ("9.0.0", "9.1.0")}
    steps = {**STEPS, "compiling_for_an_h200": "SomeError: needs a | b"}
    rows = [
        Result(Row("3.10", "cu12", cudnn="9.1"), "", 90100, sorted(old), {}, steps),
        Result(Row("3.10", "jit12"), "", 91400, [], {"numpy": "1.26.0"}, steps),
        Result(Row("3.10", "cu13", cudnn="9.14"), failure="uv pip: no such version"),
    ]
    lines = page(rows).splitlines()
    assert f"| 9.1.0 | cu12 | {len(old)} | all but compiling for an H200 (1) |" in lines
    assert "| 9.14 | cu13 | 0 | nothing (2) |" in lines
    assert "1. SomeError: needs a \\| b" in lines
    assert "2. uv pip: no such version" in lines
    assert sum("1.26.0" in line for line in lines) == 1
    assert rows[0].contradictions == []


def test_a_function_that_is_lost_is_on_the_page() -> None:
    has = [name for name in raw.FUNCTIONS if name != "cudnnAddTensor"]
    result = Result(Row("3.10", "cu12", cudnn="9.28"), "", 92800, has, {}, STEPS)
    assert result.contradictions == ["cudnnAddTensor"]
    assert "not as stated: cudnnAddTensor" in page([result])


@pytest.mark.soak
def test_everything_works_here(tmp_path: Path) -> None:
    """With a home that cannot be written, and nothing on the path."""
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    program = (
        f"import runpy, sys; sys.path.insert(0, {str(ROOT)!r}); "
        f"runpy.run_path({check.__file__!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program],
        env={"HOME": str(home), "PATH": str(tmp_path)},
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["steps"].keys() == STEPS.keys()
    bad = {name: text for name, text in found["steps"].items() if text != "ok"}
    bad.pop("doctor", None)  # in a checkout, an isolated Python does not find the package
    assert bad == {}
