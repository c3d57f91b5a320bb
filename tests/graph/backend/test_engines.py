"""Heuristics, engines and plans for an H200 that need not be there."""

from __future__ import annotations

import pytest

from cudnn_ctypes.errors import NotSupportedError
from cudnn_ctypes.graph.backend.engine import Engine, engine_count
from cudnn_ctypes.graph.engines.heuristics import engines, heuristics
from cudnn_ctypes.graph.run.plan import ExecutionPlan

SHAPE = (8, 64, 56, 56)


@pytest.fixture
def convolution(made):
    return made.convolution(SHAPE, 64)


@pytest.fixture
def configs(convolution, h200):
    found = heuristics(convolution, device=h200)
    yield found
    for each in found:
        each.close()


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_heuristics_propose_configs_whose_plans_are_built(configs, h200):
    assert len(configs) > 10
    for config in configs[:5]:
        with ExecutionPlan(config, device=h200) as plan:
            assert plan.workspace_size >= 0
            assert plan.config.knobs == config.knobs
            assert plan.config.engine.index == config.engine.index
            assert "tensor_core" in plan.numerical_notes
            assert plan.behavior_notes == config.behavior_notes


@pytest.mark.parametrize("mode", ["instant", "b", "fallback"])
def test_modes_of_the_heuristics(mode, convolution, h200):
    found = heuristics(convolution, device=h200, mode=mode)
    assert found
    for each in found:
        each.close()


def test_an_unknown_mode(convolution, h200):
    with pytest.raises(ValueError, match=r"engineheur\.mode: expected one of 'instant'"):
        heuristics(convolution, device=h200, mode="c")


def test_heuristics_want_a_device(convolution):
    with pytest.raises(TypeError, match="device: expected a Handle, DeviceProperties, the name"):
        heuristics(convolution, device=0)


def test_all_engines_and_their_knobs(convolution, h200):
    usable = list(engines(convolution, device=h200))
    assert 5 < len(usable) <= engine_count(convolution)
    assert len({engine.index for engine in usable}) == len(usable)
    with_knobs = [engine for engine in usable if engine.knobs]
    assert with_knobs
    for knob in with_knobs[0].knobs.values():
        assert knob.minimum <= knob.maximum
        assert knob.values[0] == knob.minimum
        assert knob.values[-1] <= knob.maximum
    for engine in usable:
        engine.close()


def test_an_engine_that_cannot_do_it_says_so(convolution, h200):
    usable = set()
    for engine in engines(convolution, device=h200):
        with engine:
            usable.add(engine.index)
    unusable = next(i for i in range(engine_count(convolution)) if i not in usable)
    with pytest.raises(NotSupportedError) as refused:
        Engine(convolution, unusable, device=h200)
    assert refused.value.messages


def test_knobs_are_chosen_and_checked(configs, convolution, h200):
    wanted = configs[0].knobs
    with Engine(convolution, configs[0].engine.index, device=h200) as engine:
        assert set(wanted) <= set(engine.knobs)
        with engine.config(wanted) as config, ExecutionPlan(config, device=h200) as plan:
            assert plan.config.knobs == wanted
        name = next(iter(wanted))
        with pytest.raises(ValueError, match=f"has no knob '{name}s'; did you mean '{name}'"):
            engine.config({f"{name}s": 0})
        with pytest.raises(ValueError, match=f"knob '{name}' of engine"):
            engine.config({name: 1 << 20})


def test_a_config_shows_engine_and_knobs_as_a_tree(configs):
    text = configs[0].descriptor.tree()
    assert "engine: engine" in text
    assert "global_index" in text
    assert "knob_choices: knob_choice" in text


def test_a_fused_kernel_is_compiled_without_a_gpu(made, h200):
    graph = made.convolution((2, 32, 16, 16), 32, relu=True)
    configs = heuristics(graph, device=h200)
    fused = next(c for c in configs if "runtime_compilation" in c.behavior_notes)
    with ExecutionPlan(fused, device=h200) as plan:
        stored = plan.to_json()
        assert len(stored) > 10_000  # the kernel is inside
    with ExecutionPlan.from_json(stored, device=h200) as again:
        assert again.to_json() == stored
        assert "runtime_compilation" in again.behavior_notes
    for each in configs:
        each.close()
