"""Heuristics, engines and plans for an H200 that need not be there."""

import pytest

from cudnn_ctypes import BackendDescriptor, Graph, raw
from cudnn_ctypes.errors import NotSupportedError
from cudnn_ctypes.graph.backend.engine import Engine, EngineChoice, heuristics
from cudnn_ctypes.graph.lower.lowering import lowered


def _described():
    graph = Graph(io_data_type="float16")
    graph.relu(graph.tensor((8, 64, 32))).set_output()
    return graph


@pytest.fixture
def without_cublas(monkeypatch):
    """Acts as if cuBLASLt were not found."""
    loaded = raw.load()
    if not loaded.has_precompiled_engines:
        pytest.skip("a reduced build")
    missing = {f"libcublasLt.so.{loaded.cuda_major}"}
    return lambda: monkeypatch.setattr(loaded, "_missing", missing)


def _refused(question):
    try:
        question().close()
    except NotSupportedError as error:
        return "ends the process when it is asked for engines" in str(error)
    return False


def test_nothing_is_asked_of_engines_without_cublas(h200, without_cublas):
    with (
        _described() as graph,
        lowered(graph.expansion(h200), h200) as lowering,
        Engine(lowering.graph, 1, device=h200) as engine,
    ):
        without_cublas()
        assert _refused(lambda: heuristics(lowering.graph, device=h200)[0])
        assert _refused(lambda: Engine(lowering.graph, 1, device=h200))
        assert not _refused(engine.config)  # an engine that another program finalized


@pytest.mark.soak
def test_a_stored_plan_with_its_kernel_needs_no_cublas(h200, without_cublas):
    with _described() as graph:
        plan = graph.build(h200)
        stored = [plan.to_json()]
        stored.append(graph.build(h200, config=EngineChoice(plan.config.choice.engine)).to_json())
    without_cublas()
    plans = [BackendDescriptor("execution_plan") for _ in stored]
    loads = zip(plans, stored, strict=True)
    refused = [_refused(lambda p=p, t=t: p.set("json_representation", t) or p) for p, t in loads]
    assert refused == [False, True]
    for each in plans:
        each.close()
