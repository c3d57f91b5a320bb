"""Each public report is told whole, and those tried on the reference device are right."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import ROOT, run_program

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")

PROGRAM = """
    import sys
    from tools.fuzz import reports
    sys.exit(reports.main(sys.argv[1:]))
"""


def test_reports_are_told_whole() -> None:
    from tools.fuzz.reports import REPORTS

    assert len({each.place for each in REPORTS}) == len(REPORTS)
    assert sum(each.trial is not None for each in REPORTS) >= 25
    for each in REPORTS:
        assert each.trial or each.cause
        assert all((each.title, each.effect, each.versions, each.gpus))


def test_results_become_verdicts() -> None:
    from tools.fuzz.reports import REPORTS, verdict

    tried = next(each for each in REPORTS if each.trial and not each.cause)
    elsewhere = next(each for each in REPORTS if each.trial and each.cause)
    absent = next(each for each in REPORTS if not each.trial)
    assert verdict(tried, "right") == "not reproduced"
    assert verdict(tried, "wrong: by much").startswith("reproduced: ")
    assert verdict(tried, "refused: no engine").endswith("since cuDNN refuses it: no engine")
    assert verdict(tried, "invalid: no such tensor").startswith("not possible here: ")
    assert verdict(elsewhere, "right").startswith("not cuDNN's: ")
    assert verdict(absent, "").startswith("not possible here: ")


@pytest.mark.parametrize("place", ["cudnn-frontend 1072", "onnxruntime 26215", "pytorch 165744"])
def test_the_reference_device_is_right(place: str) -> None:
    done = run_program(PROGRAM, "--reference", "--only", place, folder=ROOT, check=False)
    assert "    not reproduced\n" in done.stdout, done.stdout + done.stderr
