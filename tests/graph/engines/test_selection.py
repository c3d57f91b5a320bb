"""Conditions on engine configs: what they let pass, and what is refused as a condition."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes.graph.backend.engine import EngineConfig, heuristics
from cudnn_ctypes.graph.engines.selection import Selection
from cudnn_ctypes.graph.graph import Graph

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


# --- the conditions themselves -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conditions", "error", "says"),
    [
        ({"require": "tensor_cores"}, ValueError, "no note 'tensor_cores'; did you mean 'tensor_c"),
        ({"forbid": ["type_count"]}, ValueError, "forbid: there is no note 'type_count'"),
        ({"forbid": [3]}, TypeError, "forbid: expected a note or its name, got 3"),
        ({"forbid": 3}, TypeError, "forbid: expected notes or their names, got 3"),
        ({"require": "fft", "forbid": "fft"}, ValueError, "fft: required and forbidden at once"),
        ({"require": "nondeterministic", "deterministic": True}, ValueError, "at once"),
        ({"workspace_limit": -1}, ValueError, "workspace_limit: expected a number of bytes"),
        ({"workspace_limit": "1"}, TypeError, "workspace_limit: expected a number of bytes"),
        ({"shared_memory_limit": 1.5}, TypeError, "shared_memory_limit: expected"),
        ({"engines": "45"}, TypeError, "engines: expected indices of engines, got '45'"),
        ({"engines": [True]}, TypeError, "engines: expected indices of engines, got True"),
        ({"without_engines": [-1]}, ValueError, "without_engines: expected indices"),
    ],
)
def test_wrong_conditions(conditions, error, says):
    with pytest.raises(error, match=says):
        Selection(**conditions)


def test_no_selection(h200):
    graph = Graph(io_data_type="float16")
    graph.relu(graph.tensor((2, 3, 4))).set_output()
    given = {"deterministic": True}
    for method in (graph.build, graph.explain):
        with pytest.raises(
            TypeError, match=r"selection: expected a Selection, got .'deterministic'"
        ):
            method(h200, selection=given)
