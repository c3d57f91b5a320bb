"""Conditions on engine configs: what they let pass, and what is refused as a condition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from cudnn_ctypes.graph.backend.engine import EngineChoice, EngineConfig, heuristics
from cudnn_ctypes.graph.engines.selection import Kept, Selection

CONFIG = SimpleNamespace(
    engine=SimpleNamespace(
        index=3,
        numerical_notes=frozenset({"tensor_core"}),
        behavior_notes=frozenset({"runtime_compilation"}),
    ),
    choice=EngineChoice(3, {"tile": 1}),
    workspace_size=100,
    shared_memory=50,
)


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


# --- on real configs -----------------------------------------------------------------------------


@pytest.fixture
def configs(made, h200):
    """Precompiled ones and ones compiled at run time, with workspaces and without."""
    found = []
    for relu in (False, True):
        graph = made.convolution((8, 64, 56, 56), 64, relu=relu)
        for mode in ("a", "fallback"):
            found += heuristics(graph, device=h200, mode=mode)
    yield found
    for each in found:
        each.close()


def _passing(configs: list[EngineConfig], **conditions: Any) -> list[EngineConfig]:
    return [config for config in configs if not Selection(**conditions).refusal(config)]


def test_workspaces_and_shared_memory_have_limits(configs):
    sizes = [config.workspace_size for config in configs]
    assert any(sizes), "no config with a workspace: the test shows nothing"
    assert not any(c.workspace_size for c in _passing(configs, workspace_limit=0))
    shared = {c.shared_memory for c in configs if c.shared_memory is not None}
    smallest = min(shared)
    assert smallest < max(shared)
    passing = _passing(configs, shared_memory_limit=smallest)
    assert {c.shared_memory for c in passing} <= {smallest, None}
    assert smallest in {c.shared_memory for c in passing}
