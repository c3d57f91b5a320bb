"""Every case is built for an H200 by the real library, and executed where there is a GPU."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes import Handle, raw
from cudnn_ctypes.dtypes import data_type_name
from cudnn_ctypes.errors import NotSupportedError, SymbolNotFoundError
from cudnn_ctypes.graph.graph import Graph

from .cases import Operands, problem, workspace_of
from .families import CASES, ONE_OF_EACH

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

# One of each sequence of operations is built for the reference device, which is an H200:
# reference/device/. Of the others, which have other types, layouts and sizes, each 16th.
HERE = [
    *FEW,
    *[name for name, case in CASES.items() if case.here and name not in {*FEW, *ONE_OF_EACH}][::16],
]


@pytest.mark.thinned(12, always=FEW)
@pytest.mark.parametrize("name", HERE)
def test_builds_for_an_h200(name, h200):
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
@pytest.mark.parametrize("name", list(CASES))
def test_computes_what_it_says(name, report):
    pytest.importorskip("torch")
    case = CASES[name]
    with Handle() as handle, case.graph() as graph:
        key = ("gpu", case.io, _operations(graph))
        try:
            graph.build(handle)
        except (SymbolNotFoundError, NotSupportedError) as error:
            report.not_supported(key, _reason(error)[:150])
            _skip_if_old(error)
        with Operands(case, graph) as operands, workspace_of(graph) as workspace:
            graph.execute(operands.memory, workspace)
            handle.synchronize()
            if case.one_kernel:
                assert kernels_of(graph, handle, operands.memory, workspace) == 1
            for name, error in operands.check(handle).items():
                kind = data_type_name(graph.find_tensor(name).data_type)
                data = case.io if kind == case.io else f"{case.io} to {kind}"
                report.ran(("gpu", data, key[2]), error, error / (case.tolerance or 1e-300))


def kernels_of(graph: Graph, handle: Handle, memory: Any, workspace: Any) -> int:
    """The kernels that one execution launches; it is captured, not carried out."""
    from cuda.bindings import driver

    def checked(result: tuple[Any, ...]) -> Any:
        status, *values = result
        assert status == driver.CUresult.CUDA_SUCCESS, status
        return values[0] if values else None

    stream = checked(driver.cuStreamCreate(1))
    try:
        handle.stream = int(stream)
        checked(
            driver.cuStreamBeginCapture(
                stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
            )
        )
        try:
            graph.execute(memory, workspace)
        finally:
            captured = checked(driver.cuStreamEndCapture(stream))
        *_, count = driver.cuGraphGetNodes(captured)
        _, nodes, _ = driver.cuGraphGetNodes(captured, count)
        kinds = [checked(driver.cuGraphNodeGetType(node)) for node in nodes[:count]]
        checked(driver.cuGraphDestroy(captured))
    finally:
        handle.stream = 0
        checked(driver.cuStreamDestroy(stream))
    return kinds.count(driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL)
