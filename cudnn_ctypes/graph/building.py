"""From a validated graph to an execution plan: heuristics, and the first config that works."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ..errors import CudnnError, ExecutionFailedError, InternalError, NotSupportedError
from ..raw import cudnnDataType_t, cudnnStatus_t
from .descriptor import BackendDescriptor
from .device_properties import DeviceProperties
from .engines import Engine, engine_count, heuristics
from .lowering import Lowering
from .node import Node
from .plan import ExecutionPlan

if TYPE_CHECKING:
    from ..handle import Handle

__all__ = ["build_plan", "operation_graph_attributes"]

_REASONS = 8  # engines whose refusal is told


def operation_graph_attributes(device: Handle | DeviceProperties) -> dict[str, Any]:
    """What an OPERATIONGRAPH descriptor needs to know of the GPU."""
    return {} if isinstance(device, DeviceProperties) else {"handle": device}


def build_plan(
    nodes: Sequence[Node],
    compute_data_type: cudnnDataType_t,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    *,
    workspace_limit: int | None = None,
    sm_count: int | None = None,
) -> ExecutionPlan:
    """A plan for `nodes`; everything else that was made for it is destroyed.

    Raises
    ------
    NotSupportedError
        If no engine can carry it out; the message has cuDNN's reasons.
    """
    with ExitStack() as stack:
        lowering = Lowering(compute_data_type)
        stack.callback(lowering.close)
        graph = lowering.operation_graph(nodes, **operation_graph_attributes(device))
        reasons: list[str] = []
        for mode in modes:
            try:
                configs = heuristics(graph, device=device, mode=mode, sm_count=sm_count)
            except NotSupportedError as error:
                reasons.append(f"heuristics {mode}: {_innermost(error)}")
                continue
            for config in configs:
                stack.callback(config.close)
            for config in configs:
                try:
                    plan = ExecutionPlan(config, device=device)
                except (NotSupportedError, InternalError, ExecutionFailedError) as error:
                    # The last: some engines ask the driver while they are compiled.
                    reasons.append(f"{config!r}: {_innermost(error)}")
                    continue
                if workspace_limit is None or plan.workspace_size <= workspace_limit:
                    return plan
                reasons.append(f"{config!r} needs a workspace of {plan.workspace_size} bytes")
                plan.close()
        raise NotSupportedError(
            "Graph.build",
            cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
            arguments={"graph": ", ".join(map(str, nodes)), "heuristics": ", ".join(modes)},
            messages=tuple(dict.fromkeys(reasons)) or _refusals(graph, device),
            hint="other layouts, data types or alignments may have an engine; so may parts of it",
        )


def _refusals(graph: BackendDescriptor, device: Handle | DeviceProperties) -> tuple[str, ...]:
    """Why the engines refuse the graph, once each reason."""
    engines: dict[str, list[str]] = {}
    for index in range(engine_count(graph)):
        try:
            with Engine(graph, index, device=device) as engine, engine.config() as config:
                ExecutionPlan(config, device=device).close()
        except CudnnError as error:
            engines.setdefault(_innermost(error), []).append(str(index))
    told = list(engines.items())[:_REASONS]
    return tuple(f"engine {', '.join(indices)}: {reason}" for reason, indices in told)


def _innermost(error: CudnnError) -> str:
    return error.messages[0] if error.messages else error.detail or str(error.status)
