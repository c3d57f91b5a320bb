"""Every graph of the graph API's tests, on the reference device against its own oracle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceTensor, Handle, use_reference_device
from cudnn_ctypes.device import DeviceBuffer
from tests.graph import test_cases
from tests.graph.cases import CASES


@pytest.fixture
def handle() -> Iterator[Handle]:
    with use_reference_device(), Handle() as made:
        yield made


@pytest.mark.parametrize("name", list(CASES))
def test_computes_what_it_says(name: str, handle: Handle) -> None:
    case = CASES[name]
    with case.graph() as graph:
        graph.build(handle)
        inputs, expected = test_cases._expected(case, graph)
        memory: dict[Any, Any] = {
            tensor: DeviceTensor.from_numpy(inputs[tensor.name], strides=tensor.strides)
            for tensor in graph.inputs
        }
        for tensor in graph.outputs:
            poison = test_cases._stored(np.full(tensor.dims, 77.0), tensor)
            memory[tensor] = DeviceTensor.from_numpy(poison, strides=tensor.strides)
        with DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
            graph.execute(memory, workspace)
        for tensor in graph.outputs:
            result, exact = memory[tensor].numpy().astype(np.float64), expected[tensor.name]
            scale = np.abs(exact).max()
            np.testing.assert_allclose(
                result / scale, exact / scale, rtol=0, atol=case.tolerance, err_msg=tensor.name
            )
        for each in memory.values():
            each.close()
