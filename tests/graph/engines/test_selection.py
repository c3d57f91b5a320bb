"""Conditions on engine configs: what they let pass, and what is refused as a condition."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes.graph.backend.engine import EngineConfig, heuristics
from cudnn_ctypes.graph.engines.selection import Selection

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
