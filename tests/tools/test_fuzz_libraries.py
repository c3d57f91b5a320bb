"""The fuzzer of library layouts: a few layouts, and that it can see what it looks for."""

from __future__ import annotations

import pytest

from cudnn_ctypes import raw
from tools.fuzz.libraries import CHOICES, Case, _judged, _Layouts, cases, examine


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> _Layouts:
    if not (raw.load().path.parent / "libcudnn_ops.so.9").exists():
        pytest.skip("this cuDNN is one file, or a reduced one")
    return _Layouts(tmp_path_factory.mktemp("layouts"), None)


@pytest.mark.thinned(6)
@pytest.mark.parametrize(
    ("case", "result"),
    [
        (Case("folder", "link to main", "same, long names"), "one cuDNN"),
        (Case("in the process", "full", ""), "one cuDNN"),
        (Case("file", "reduced", "empty"), "one cuDNN"),
        (Case(CHOICES[3], "full", "nothing"), "refused"),
        (Case("folder", "full", "other", "blank end", "_cnn"), "refused"),
        (Case("folder", "full", "nothing", "other machine"), "refused"),
    ],
    ids=str,
)
@pytest.mark.soak
def test_layouts(layouts: _Layouts, case: Case, result: str) -> None:
    found, text = examine(case, layouts)
    assert found == result, text


def test_a_mixture_would_be_seen(layouts: _Layouts) -> None:
    good, bad = Case("file", "full", "other"), Case("file", "full", "other", "cut", "_ops")
    files = [str(raw.load().path)]
    assert _judged(good, {"files": files}, layouts) == ("one cuDNN", "")
    assert _judged(bad, {"files": files}, layouts)[0] == "taken in spite of its damage"
    files.append("/elsewhere/libcudnn_ops.so.9")
    assert _judged(good, {"files": files}, layouts)[0] == "mixture"
    assert _judged(good, {"files": [], "refused": "why"}, layouts)[0] == "refused without need"


def test_every_damage_is_tried() -> None:
    assert len(set(cases())) == len(list(cases())) > 200
