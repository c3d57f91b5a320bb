"""Conditions on engine configs: what they let pass, and what is refused as a condition."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cudnn_ctypes.graph.backend.engine import EngineChoice
from cudnn_ctypes.graph.engines.selection import Kept, Selection

ENGINE = SimpleNamespace(
    index=3, numerical_notes={"tensor_core"}, behavior_notes={"runtime_compilation"}
)
CHOICE = EngineChoice(3, {"tile": 1})
CONFIG = SimpleNamespace(engine=ENGINE, choice=CHOICE, workspace_size=100, shared_memory=50)


@pytest.mark.parametrize(
    ("conditions", "refusal"),
    [
        ({}, ""),
        ({"engines": [2, 3]}, ""),
        ({"engines": [2, 4]}, "its engine is not among those asked for"),
        ({"without_engines": 2}, ""),
        ({"without_engines": 3}, "its engine is excluded"),
        ({"require": ["tensor_core", "runtime_compilation"]}, ""),
        ({"require": ["tensor_core", "winograd", "fft"]}, "lacks the note fft, winograd"),
        ({"forbid": "winograd", "deterministic": True}, ""),
        ({"forbid": "runtime_compilation"}, "has the note runtime_compilation"),
        ({"workspace_limit": 100, "shared_memory_limit": 50}, ""),
        ({"workspace_limit": 99}, "needs a workspace of more than 99 bytes"),
        ({"shared_memory_limit": 49}, "uses more shared memory than 49 bytes"),
    ],
)
def test_why_a_config_is_refused(conditions, refusal):
    wanted = Selection(**conditions)
    assert wanted.refusal(CONFIG) == refusal
    unknown = SimpleNamespace(**{**vars(CONFIG), "workspace_size": None, "shared_memory": None})
    assert wanted.refusal(unknown) == ("" if "limit" in str(wanted) else refusal)
    assert wanted.within(20).workspace_limit == 20
    assert wanted.within(1000).workspace_limit == (wanted.workspace_limit or 1000)
    assert wanted.within(None) == wanted
    kept = Kept({3: "it was wrong"}, {EngineChoice(4): "it was slow"})
    judged = wanted.passing_over(kept).within(200)
    assert judged.refusal(CONFIG) == (refusal if "its engine" in refusal else "it was wrong")
