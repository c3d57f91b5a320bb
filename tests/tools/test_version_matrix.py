"""What a library exports, against the stated versions."""

from __future__ import annotations

import pytest

from cudnn_ctypes import raw
from tools.version_matrix import compare, loaded_row, main

ALL = set(raw.FUNCTIONS)
LATER = {name for name, f in raw.FUNCTIONS.items() if f.since not in ("9.0.0", "9.1.0")}


def test_the_installed_library_has_what_is_stated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    row = loaded_row()
    assert f"{row.present} of {len(ALL)} functions" in capsys.readouterr().out
    assert row.early == []
    assert row.present + len(row.missing) + len(row.lost) == len(ALL)


def test_an_old_library_lacks_what_came_later() -> None:
    row = compare("x", 90100, ALL - LATER)
    assert set(row.missing) == LATER
    assert row.lost == row.early == row.wrong == []


def test_a_function_before_its_time() -> None:
    row = compare("x", 90100, (ALL - LATER) | {"cudnnGnnMhaGatForward"})
    assert row.wrong == row.early == ["cudnnGnnMhaGatForward"]


def test_a_function_that_is_gone() -> None:
    row = compare("x", 92800, ALL - {"cudnnAddTensor"})
    assert row.wrong == row.lost == ["cudnnAddTensor"]


def test_a_build_without_a_whole_header_is_no_contradiction() -> None:
    adv = {name for name, f in raw.FUNCTIONS.items() if f.header == "cudnn_adv.h"}
    row = compare("x", 92800, ALL - adv)
    assert set(row.lost) == adv
    assert row.wrong == []


def test_a_file_that_is_no_library(tmp_path: pytest.TempPathFactory) -> None:
    with pytest.raises(SystemExit, match="libcudnn"):
        main([f"{tmp_path}/libcudnn.so.9"])
