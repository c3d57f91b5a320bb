"""Every case is built for an H200 by the real library, and executed where there is a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, raw
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.errors import NotSupportedError, SymbolNotFoundError
from cudnn_ctypes.graph.device_properties import DeviceProperties
from cudnn_ctypes.graph.tensor import Tensor

from . import attention_cases, norm_cases
from .cases import CASES, Case

assert attention_cases
assert norm_cases

NEWEST = 92800  # builds all cases for an H200

# What each of these takes to compile is cuDNN's time: about half a second.
FEW = (
    "convolution",
    "convolution + bias + relu",
    "convolution backward data",
    "convolution backward filter",
    "matmul",
    "matmul + bias + gelu",
    "sigmoid(a + b * c)",
)


@pytest.mark.parametrize("name", list(CASES))
def test_builds_for_an_h200(name: str, h200: DeviceProperties) -> None:
    with CASES[name].graph() as graph:
        plan = graph.build(h200)
        assert plan.workspace_size == graph.workspace_size >= 0
        assert {tensor.name for tensor in graph.outputs} == set(_expected(CASES[name], graph)[1])
        if name in FEW:
            assert plan.to_json().startswith("{")


def _stored(array: NDArray[Any], tensor: Tensor) -> NDArray[Any]:
    return array.astype(numpy_dtype(tensor.data_type))


def _expected(case: Case, graph: Any) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The inputs, in their data types, and the outputs that they give in float64."""
    pytest.importorskip("torch")
    rng = np.random.default_rng(7)
    values = {}
    for tensor in graph.inputs:
        if tensor.name in case.ranges:
            values[tensor.name] = rng.uniform(*case.ranges[tensor.name], tensor.dims)
        else:
            values[tensor.name] = rng.standard_normal(tensor.dims)
    if case.prepare is not None:
        case.prepare(values)
    inputs = {tensor.name: _stored(values[tensor.name], tensor) for tensor in graph.inputs}
    exact = {name: array.astype(np.float64) for name, array in inputs.items()}
    return inputs, dict(case.compute(exact))


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
@pytest.mark.parametrize("name", list(CASES))
def test_computes_what_it_says(name: str) -> None:
    case = CASES[name]
    with Handle() as handle, case.graph() as graph:
        try:
            graph.build(handle)
        except (SymbolNotFoundError, NotSupportedError) as error:
            if raw.load().version >= NEWEST:
                raise
            pytest.skip(str(error))
        inputs, expected = _expected(case, graph)
        memory: dict[Any, Any] = {
            tensor: DeviceTensor.from_numpy(inputs[tensor.name], strides=tensor.strides)
            for tensor in graph.inputs
        }
        for tensor in graph.outputs:
            poison = _stored(np.full(tensor.dims, 77.0), tensor)
            memory[tensor] = DeviceTensor.from_numpy(poison, strides=tensor.strides)
        with DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
            graph.execute(memory, workspace)
            handle.synchronize()
        for tensor in graph.outputs:
            result, exact = memory[tensor].numpy().astype(np.float64), expected[tensor.name]
            scale = np.abs(exact).max()
            np.testing.assert_allclose(
                result / scale, exact / scale, rtol=0, atol=case.tolerance, err_msg=tensor.name
            )
        for each in memory.values():
            each.close()
