"""Every case is built for an H200 by the real library, and executed where there is a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from error_report import Report

from cudnn_ctypes import DeviceBuffer, Handle, raw
from cudnn_ctypes.dtypes import data_type_name
from cudnn_ctypes.errors import NotSupportedError, SymbolNotFoundError
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.graph import Graph

from .cases import device_memory, problem
from .families import CASES, ONE_OF_EACH
from .kernels import kernels_of

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

# The others are built for the reference device, which is an H200: reference/device/.
HERE = [
    name for name, case in CASES.items() if case.here and (name in FEW or name not in ONE_OF_EACH)
]


@pytest.mark.thinned(16, always=FEW)
@pytest.mark.parametrize("name", HERE)
def test_builds_for_an_h200(name: str, h200: DeviceProperties) -> None:
    pytest.importorskip("torch")
    case = CASES[name]
    with case.graph() as graph:
        try:
            plan = graph.build(h200)
        except (SymbolNotFoundError, NotSupportedError) as error:
            _skip_if_old(error)
        assert plan.workspace_size == graph.workspace_size >= 0
        assert {tensor.name for tensor in graph.outputs} == set(problem(case, graph)[1])
        if name in FEW:
            assert plan.to_json().startswith("{")


def _skip_if_old(error: Exception) -> None:
    """Newer versions have all; older ones may lack an engine, and say why."""
    if raw.load().version >= NEWEST:
        raise error
    pytest.skip(f"cuDNN {raw.load().version_text}: {_reason(error)}")


def _reason(error: Exception) -> str:
    messages = getattr(error, "messages", ()) or str(error).splitlines()
    return "; ".join(messages[:2])


def _operations(graph: Graph) -> str:
    return " + ".join(node.operation for node in graph.nodes)


@pytest.mark.thinned(16)
@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
@pytest.mark.parametrize("name", list(CASES))
def test_computes_what_it_says(name: str, report: Report) -> None:
    pytest.importorskip("torch")
    case = CASES[name]
    with Handle() as handle, case.graph() as graph:
        key = ("gpu", case.io, _operations(graph))
        try:
            graph.build(handle)
        except (SymbolNotFoundError, NotSupportedError) as error:
            report.not_supported(key, _reason(error)[:150])
            _skip_if_old(error)
        inputs, expected = problem(case, graph)
        memory = device_memory(graph, inputs)
        with DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
            graph.execute(memory, workspace)
            handle.synchronize()
            kernels = kernels_of(graph, handle, memory, workspace) if case.one_kernel else 1
        for tensor in graph.outputs:
            result = memory[tensor].numpy().astype(np.float64)
            exact = np.asarray(expected[tensor.name], np.float64)
            scale = np.abs(exact).max()
            error = np.abs(result - exact).max() / scale
            kind = data_type_name(tensor.data_type)
            data = case.io if kind == case.io else f"{case.io} to {kind}"
            report.ran(("gpu", data, key[2]), error, error / (case.tolerance or 1e-300))
            assert error <= case.tolerance, (
                f"{tensor.name}: the largest error is {error:.2e} of the largest element "
                f"{scale:.3g}; allowed is {case.tolerance:.2e}; worst at "
                f"{np.unravel_index(np.abs(result - exact).argmax(), exact.shape)}"
            )
        assert kernels == 1
        for each in memory.values():
            each.close()
