"""Stored plans and properties of GPUs that are damaged, with a checksum that fits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cudnn_ctypes.graph.run.plan import ExecutionPlan
from cudnn_ctypes.graph.run.stored_plan import sealed

from ..damage import Damage, accident, damages, raised, sample
from ..families import CASES

COUNT = 250
NAMES = ("CUDNN_BACKEND_X", "CUDNN_CROSS_CORRELATION", "99", "-5", "NVIDIA A100")


@pytest.fixture
def convolution(h200, request):
    """A graph, by default a convolution, and its plan as JSON without the checksum."""
    graph = CASES[getattr(request, "param", "convolution")].graph()
    with graph:
        plan = json.loads(graph.build(h200).to_json())
    del plan["sha256"]
    return graph, plan


def _text(plan: Any) -> str:
    return sealed(json.dumps(plan, separators=(",", ":")))


@pytest.mark.parametrize(
    "convolution",
    ["convolution", pytest.param("matmul + bias + gelu", marks=pytest.mark.soak)],
    indirect=True,
)
def test_a_damaged_plan_is_taken_or_refused(convolution, h200):
    """It is a plan of the graph, or none. cuDNN 9.14, 9.19 and 9.28 survive all of these."""
    graph, plan = convolution
    graph.load_plan(_text(plan), h200).close()
    taken = 0
    for damage in sample(damages(plan, NAMES), COUNT, seed=5):
        text = _text(damage.done_to(plan))
        error = raised(lambda text=text: graph.load_plan(text, h200).close())
        assert error is None or isinstance(error, ValueError), damage
        assert error is None or not accident(error), damage
        taken += error is None
    assert 0 < taken < COUNT / 4


@pytest.mark.parametrize("name", ["CUDNN_DATA_HALF", "1", "3"])
def test_a_plan_whose_tensors_are_exchanged_is_refused(name, convolution, h200):
    """An enumerator in place of a tensor would end the process within cuDNN 9.28."""
    graph, plan = convolution
    damaged = Damage(("operationGraph", "nodes", 0, "W"), name).done_to(plan)
    with pytest.raises(ValueError, match=r"of another graph: its operations are .*FORWARD"):
        graph.load_plan(_text(damaged), h200)


@pytest.mark.soak
def test_a_plan_without_a_checksum_is_loaded_by_the_warden_first(convolution, h200):
    """It may end the process that loads it: cuDNN 9.28 aborts on an enumerator for a tensor."""
    _, plan = convolution
    ExecutionPlan.from_json(json.dumps(plan), device=h200).close()
    damaged = Damage(("operationGraph", "nodes", 0, "X"), "CUDNN_DATA_HALF").done_to(plan)
    with pytest.raises(ValueError, match=r"ends the process .*; it is damaged|does not take"):
        ExecutionPlan.from_json(json.dumps(damaged), device=h200)
