"""How many kernels a plan launches, as a CUDA graph that is captured shows it."""

from __future__ import annotations

from typing import Any

from cudnn_ctypes import Handle
from cudnn_ctypes.graph.graph import Graph

__all__ = ["kernels_of"]


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
