"""The rows of what ends the process are held against the loaded cuDNN by one command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from programs import ROOT, run_program

from cudnn_ctypes import Handle, raw, use_reference_device
from cudnn_ctypes.graph.lower.faults import FAULTS
from cudnn_ctypes.raw.faults import Fault
from tools.fuzz import wrong_rows
from tools.fuzz.rows import marks
from tools.fuzz.wrong_rows import UNSEEN, measured_rows, verdict

linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")

DIES = {"a": "SIGSEGV", "b": "SIGSEGV", "fallback": "none"}
BUILT = dict.fromkeys(DIES, "built")
NONE = dict.fromkeys(DIES, "none")


def asked(*flags: str) -> Any:
    program = f"import sys; from tools.fuzz import rows; sys.exit(rows.main({list(flags)!r}))"
    return run_program(program, folder=ROOT, check=False)


@linux
@pytest.mark.soak
def test_what_became_of_an_example_is_printed() -> None:
    done = asked("--only", "convolution_then_product", "--gpus", "h200", "t4")
    *lines, last = done.stdout.splitlines()
    assert lines == [
        "convolution_then_product",
        "    h200: a SIGSEGV, b SIGSEGV, fallback SIGSEGV",
        "    t4: a none, b none, fallback none",
    ]
    assert last.startswith(f"cuDNN {raw.load().version_text}: of 2 examples on GPUs, 0 are not")
    assert done.returncode == 0


@linux
@pytest.mark.soak
def test_the_rows_are_true_of_this_cudnn() -> None:
    done = asked("--times", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SIGSEGV" in done.stdout


@linux
def test_every_row_reaches_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong_rows, "verdict", lambda row, handle: row.name)
    with use_reference_device():
        measured = list(measured_rows([row.name for row in FAULTS]))
    assert [row.name for row, _ in measured] == [name for _, name in measured]
    assert len(measured) >= len(FAULTS)


@pytest.mark.parametrize(
    ("results", "died", "refused", "seen", "told"),
    [
        (DIES, "a b", "a b fallback", True, ""),
        (DIES, "a b", "a b", True, ""),
        (DIES, "a b", "", False, "not refused: a; not refused: b"),
        ({**DIES, "fallback": "built"}, "a b", "a b fallback", True, "built: fallback"),
        ({**DIES, "fallback": "built"}, "a b", "a b", True, ""),
        (NONE, "", "a b fallback", False, "not seen"),
        (NONE, "", "a b fallback", True, ""),  # another example of the row ends the process
        (BUILT, "", "a b fallback", True, "not seen"),
        (BUILT, "", "", False, ""),
    ],
)
def test_marks(results: dict[str, str], died: str, refused: str, seen: bool, told: str) -> None:
    assert marks(results, set(died.split()), set(refused.split()), seen=seen) == told


def test_marks_of_what_ends_some_processes_only() -> None:
    refused = {*DIES}
    for results, died in ((BUILT, {"a"}), (BUILT, set()), (NONE, set())):
        assert marks(results, died, refused, seen=bool(died), sometimes=True) == ""
    assert marks(DIES, {"a"}, set(), seen=True, sometimes=True) == "not refused: a"


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    "row", [row for row in FAULTS if row.effect not in UNSEEN], ids=lambda row: row.name
)
def test_nothing_is_wrong_on_the_reference_device(
    row: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fault, "ranges_at", lambda row, target: row.ranges * bool(target.version))
    with use_reference_device(device="H200"), Handle() as handle:
        assert verdict(row, handle) in ("right", "no engine", "not asked: it is large")
