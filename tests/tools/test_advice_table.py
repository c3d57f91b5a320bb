"""The table of advice has a row for each graph, with what the tests expect of it."""

from __future__ import annotations

import pytest

from cudnn_ctypes import raw
from tests.graph.advice_cases import ADVISED
from tools.advice_table import COLUMNS, main


@pytest.mark.skipif(raw.load().version < 92800, reason="the graphs were chosen for this version")
def test_it_shows_the_first_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    name = "norm with float32 scale, and ReLU"
    assert main(["--only", name]) == 0
    version, _, header, line, *found = capsys.readouterr().out.splitlines()
    assert version == f"cuDNN {raw.load().version_text}"
    assert header == f"| {' | '.join(COLUMNS)} |"
    assert line.count("|") == header.count("|")
    (row,) = (each.strip("| ").split(" | ") for each in found)
    assert row[:4] == [name, "h200", "refused", ADVISED[name].words]
    assert row[4].startswith("makes the graph supported; engine")
    assert ADVISED[name].caveat in row[5]


def test_there_are_ten_of_each_kind_of_trouble() -> None:
    assert sum(not each.supported for each in ADVISED.values()) >= 10
    assert sum(each.supported for each in ADVISED.values()) >= 3
