"""The run of all that needs a GPU, with made-up parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudnn_ctypes.raw import mode
from tools import gpu_check
from tools.gpu_check import Part, main

FILE = """
import time

def test_right():
    assert True

def test_wrong():
    assert "what it" == "should be"

def test_late():
    time.sleep(0.1)
"""


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A part of tests, one that fails, one that hangs, and one whose program is not there."""
    (tmp_path / "test_made_up.py").write_text(FILE)
    tests = "pytest -p no:cacheprovider", "test_made_up.py"
    made = {
        "tests": Part(60, *tests),
        "late": Part(20, *tests),
        "failing": Part(60, "no_such_module"),
        "hanging": Part(1, "timeit -n 1 -r 1 -s 'import time' 'time.sleep(60)'"),
        "under": Part(60, *tests, "env A=B"),
        "unchecked": Part(60, "this", under="no-such-checker"),
        "last": Part(60, "this"),
    }
    monkeypatch.setattr(gpu_check, "PARTS", made)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mode, "why_no_gpu", lambda: "")
    return tmp_path / "results"


@pytest.mark.soak
def test_one_part_does_not_end_the_others(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(parts), "--only", *gpu_check.PARTS]) == 1
    told = [line.partition(" after")[0] for line in capsys.readouterr().out.splitlines()]
    assert told == [
        "tests: status 1",
        "late: status 0",  # all skipped, for want of time
        "failing: status 1",
        "hanging: status 124",
        "under: status 1",
        "unchecked: left out, there is no no-such-checker",
        "last: status 0",
    ]
    log, failures = ((parts / name).read_text() for name in ("log.txt", "failures.txt"))
    assert log.count("1 failed, 2 passed") == 2
    assert "3 skipped" in log
    assert "Beautiful is better than ugly." in log
    assert failures.count("=== ") == 2
    assert failures.count("test_wrong (call)") == 2


def test_what_no_time_is_left_for_is_told(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(parts), "--only", "last", "--seconds", "5"]) == 1
    assert capsys.readouterr().out == "last: left out, no time\n"


def test_a_machine_without_a_gpu_is_refused(
    parts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mode, "why_no_gpu", lambda: "the driver sees no GPU")
    with pytest.raises(SystemExit, match="2"):
        main([str(parts), "--only", "last"])
    assert "the driver sees no GPU" in capsys.readouterr().err
    assert not parts.exists()
