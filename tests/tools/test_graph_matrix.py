"""The tests' graphs have the same text under every cuDNN."""

from __future__ import annotations

import os

import pytest

from cudnn_ctypes import raw
from tools.graph_matrix import differing, main, report, report_of

OTHERS = "CUDNN_CTYPES_TEST_LIBRARIES"
"""Environment variable: folders of other versions' libraries, as in a PATH."""


@pytest.mark.soak
def test_a_process_of_its_own_gives_the_same() -> None:
    path = str(raw.load().path)
    found = report_of(path, "sdpa: p", "h200")
    assert len(found["graphs"]) > 3
    assert found["version"] == raw.load().version_text
    assert not differing([found, report("sdpa: p")])


def test_differences_and_changes_are_seen() -> None:
    same: dict[str, object] = {"a": ("1", ""), "b": ("2", "built")}
    assert differing([{"graphs": same}, {"graphs": {**same, "b": ("3", "built")}}]) == ["b"]
    assert differing([{"graphs": same}, {"graphs": {"a": ("1", "")}}]) == ["b"]
    assert differing([{"graphs": {"a": ("1", "changed by building")}}]) == ["a"]
    assert not differing([{"graphs": same}, {"graphs": same}])


def test_all_graphs_are_the_same_under_other_versions(capsys: pytest.CaptureFixture[str]) -> None:
    others = [each for each in os.environ.get(OTHERS, "").split(os.pathsep) if each]
    if not others:
        pytest.skip(f"{OTHERS} names no other cuDNN")
    assert main([str(raw.load().path), *others]) == 0
    printed = capsys.readouterr().out
    assert "0 graphs differ" in printed
    assert len(printed.splitlines()) == len(others) + 2


@pytest.mark.soak
def test_a_library_that_does_not_load_is_named(tmp_path: pytest.TempPathFactory) -> None:
    with pytest.raises(SystemExit, match="status 1"):
        main([f"{tmp_path}/libcudnn.so.9"])
