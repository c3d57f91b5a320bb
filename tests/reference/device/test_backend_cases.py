"""Every graph of the graph API's tests, on the reference device against its own oracle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, raw, use_reference_device
from cudnn_ctypes.errors import NotSupportedError, SymbolNotFoundError
from tests.graph.cases import Case, problem, stored
from tests.graph.families import CASES

from .evaluation import evaluate

NEWEST = 92800  # builds all cases for an H200

BUILT = [name for name, case in CASES.items() if case.here]
# What cuDNN compiles on a GPU only, and other data types of what is built: carried out without a
# plan.
OTHERS = [name for name in CASES if name not in BUILT]


@pytest.fixture
def handle() -> Iterator[Handle]:
    pytest.importorskip("torch")
    with use_reference_device(), Handle() as made:
        yield made


def check(case: Case, results: dict[str, Any], expected: dict[str, Any]) -> None:
    assert results.keys() == expected.keys()
    for name, exact in expected.items():
        scale = np.abs(exact).max()
        found = np.asarray(results[name], np.float64)
        np.testing.assert_allclose(
            found / scale, exact / scale, rtol=0, atol=case.tolerance, err_msg=name
        )


@pytest.mark.parametrize("name", BUILT)
def test_computes_what_it_says(name: str, handle: Handle) -> None:
    case = CASES[name]
    with case.graph() as graph:
        try:
            graph.build(handle)
        except (SymbolNotFoundError, NotSupportedError) as error:
            if raw.load().version >= NEWEST:
                raise
            pytest.skip(str(error))
        inputs, expected = problem(case, graph)
        memory: dict[Any, Any] = {
            tensor: DeviceTensor.from_numpy(
                inputs[tensor.name], dtype=tensor.data_type, strides=tensor.strides
            )
            for tensor in graph.inputs
        }
        for tensor in graph.outputs:
            poison = stored(np.full(tensor.dims, 77.0), tensor)
            memory[tensor] = DeviceTensor.from_numpy(
                poison, dtype=tensor.data_type, strides=tensor.strides
            )
        with DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
            graph.execute(memory, workspace)
        check(case, {each.name: memory[each].numpy() for each in graph.outputs}, expected)
        for each in memory.values():
            each.close()


@pytest.mark.parametrize("name", OTHERS)
def test_computes_what_it_says_without_a_plan(name: str, handle: Handle) -> None:
    case = CASES[name]
    graph = case.graph()
    graph.validate()
    inputs, expected = problem(case, graph)
    check(case, evaluate(graph, inputs), expected)
