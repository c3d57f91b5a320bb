"""Every graph of the graph API's tests, on the reference device against its own oracle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, Handle, raw, use_reference_device
from cudnn_ctypes.errors import NotSupportedError, SymbolNotFoundError
from cudnn_ctypes.reference.device.backend_stored import operation_graph
from tests.graph.cases import device_memory, problem
from tests.graph.families import CASES, DISTINCT, ONE_OF_EACH

from .evaluation import evaluate

NEWEST = 92800  # builds all cases for an H200


# Elements that may be wrong, because a number that is rounded to 0 decides about them: there the
# gradient of relu has its step.
FLIPPED = {"convolution backward data + batch norm backward weights": 2}


@pytest.fixture
def handle() -> Iterator[Handle]:
    pytest.importorskip("torch")
    with use_reference_device(), Handle() as made:
        yield made


def check(name: str, results: dict[str, Any], expected: dict[str, Any]) -> None:
    assert results.keys() == expected.keys()
    for output, exact in expected.items():
        error = np.abs(np.asarray(results[output], np.float64) - exact) / np.abs(exact).max()
        wrong = np.flatnonzero(~(error <= CASES[name].tolerance))
        assert len(wrong) <= FLIPPED.get(name, 0), (
            f"{output}: {len(wrong)} of {error.size} elements are wrong by up to {error.max():.2e} "
            f"of the largest, the first is number {wrong[0]}"
        )


@pytest.mark.thinned(11)
@pytest.mark.parametrize("name", ONE_OF_EACH[::5])
def test_plans_compute_what_they_say(name: str, handle: Handle) -> None:
    case = CASES[name]
    with case.graph() as graph:
        try:
            graph.build(handle)
        except (SymbolNotFoundError, NotSupportedError) as error:
            if raw.load().version >= NEWEST:
                raise
            pytest.skip(str(error))
        assert graph.plan.workspace_size == graph.workspace_size >= 0
        inputs, expected = problem(case, graph)
        memory = device_memory(graph, inputs)
        with DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
            graph.execute(memory, workspace)
        check(name, {each.name: memory[each].numpy() for each in graph.outputs}, expected)
        for each in memory.values():
            each.close()
        # The same from what another process would read.
        if raw.load().version >= NEWEST:
            check(name, evaluate(graph, inputs, operation_graph(graph.plan.to_json())), expected)


@pytest.mark.parametrize("name", DISTINCT)
def test_operations_compute_what_they_say(name: str, handle: Handle) -> None:
    case = CASES[name]
    graph = case.graph()
    graph.validate()
    inputs, expected = problem(case, graph)
    check(name, evaluate(graph, inputs), expected)
