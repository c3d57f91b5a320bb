"""From a validated graph to an execution plan: heuristics, and the first config that works."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any

from ..enumerators import enumerator, short_name
from ..errors import (
    CudnnError,
    ExecutionFailedError,
    InternalError,
    NotSupportedError,
    SymbolNotFoundError,
)
from ..raw import cudnnBackendHeurMode_t, cudnnDataType_t, cudnnStatus_t
from ..raw.values import described
from .descriptor import BackendDescriptor
from .device_properties import DeviceProperties, device_attribute
from .engines import (
    Engine,
    EngineChoice,
    EngineConfig,
    default_configs,
    engine_count,
    heuristics,
)
from .faults import faulty_engines
from .lowering import Lowering
from .node import Node
from .plan import ExecutionPlan
from .refusals import Refusal, refusal
from .selection import Selection

if TYPE_CHECKING:
    from ..handle import Handle
    from .kernel_cache import KernelCache

__all__ = [
    "PLAN_ERRORS",
    "as_choice",
    "as_modes",
    "build_plan",
    "engine_refusals",
    "lowered",
    "lowered_engine",
    "operation_graph_attributes",
    "proposals",
]

PLAN_ERRORS = (NotSupportedError, InternalError, ExecutionFailedError)
"""What compiling a config raises if another may work; the last as some engines ask the driver."""

_REASONS = 8  # that the message of a failed build has


def operation_graph_attributes(device: Handle | DeviceProperties) -> dict[str, Any]:
    """What an OPERATIONGRAPH descriptor needs to know of the GPU."""
    found = device_attribute(device)
    return found if "handle" in found else {}


def as_modes(given: str | Sequence[str]) -> list[str]:
    """The modes of heuristics that an argument names, checked, by short name."""
    modes = [given] if isinstance(given, (str, cudnnBackendHeurMode_t)) else list(given)
    return [short_name(enumerator(cudnnBackendHeurMode_t, m, "heuristics")) for m in modes]


def as_choice(given: Any) -> EngineChoice | None:
    """The engine and knobs that an argument names: a choice, or what has one."""
    choice = getattr(given, "choice", given)
    if choice is None or isinstance(choice, EngineChoice):
        return choice
    raise TypeError(f"config: expected an EngineChoice or EngineConfig, got {described(given)}")


@contextmanager
def lowered(
    nodes: Sequence[Node],
    compute_data_type: cudnnDataType_t,
    device: Handle | DeviceProperties,
    **attributes: Any,
) -> Iterator[BackendDescriptor]:
    """The OPERATIONGRAPH descriptor of validated nodes, destroyed at the end with its parts."""
    with closing(Lowering(compute_data_type)) as lowering:
        attributes |= operation_graph_attributes(device)
        yield lowering.operation_graph(nodes, **attributes)


def lowered_engine(
    nodes: Sequence[Node],
    compute_data_type: cudnnDataType_t,
    device: Handle | DeviceProperties,
    index: int,
    *,
    sm_count: int | None = None,
) -> Engine:
    """One engine of validated nodes, which owns the descriptors that they were lowered to."""
    with ExitStack() as stack:
        graph = stack.enter_context(lowered(nodes, compute_data_type, device))
        engine = Engine(graph, index, device=device, sm_count=sm_count)
        engine.closes_with_it(stack.pop_all())
    return engine


def proposals(
    graph: BackendDescriptor,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    *,
    sm_count: int | None = None,
    on_refusal: Callable[[str, NotSupportedError], object],
) -> Iterator[tuple[str, EngineConfig]]:
    """Modes with the configs that their heuristics propose, the best first.

    A mode is asked when the configs of those before it are used up. Two modes can propose the
    same. Configs are closed with the generator. `on_refusal` is called with a mode that has none,
    and why.
    """
    with ExitStack() as stack:
        for mode in modes:
            try:
                configs = heuristics(graph, device=device, mode=mode, sm_count=sm_count)
            except NotSupportedError as error:
                on_refusal(mode, error)
                continue
            for config in configs:
                stack.callback(config.close)
            for config in configs:
                yield mode, config


def build_plan(
    nodes: Sequence[Node],
    compute_data_type: cudnnDataType_t,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    *,
    selection: Selection | None = None,
    config: EngineChoice | None = None,
    sm_count: int | None = None,
    kernel_cache: KernelCache | None = None,
    override_shapes: bool = False,
) -> ExecutionPlan:
    """A plan for `nodes`; everything else that was made for it is destroyed.

    Configs are compiled one by one until one works and `selection` wants it. With `config` this
    is the only one.

    Raises
    ------
    NotSupportedError
        If no engine can carry it out; the message has cuDNN's reasons.
    """
    selection = selection or Selection()
    shapes: dict[str, Any] = {
        "is_dynamic_shape_enabled": True if kernel_cache is not None else None,
        "is_override_shape_enabled": override_shapes or None,
    }
    with lowered(nodes, compute_data_type, device, **shapes) as graph:
        cache = None if kernel_cache is None else kernel_cache.begin(graph)
        compiled = functools.partial(ExecutionPlan, device=device, kernel_cache=cache)
        if config is not None:
            return _chosen_plan(graph, device, config, selection, sm_count, compiled)
        reasons: list[str] = []

        def note(mode: str, error: NotSupportedError) -> None:
            reasons.append(f"heuristics {mode}: {refusal(error)}")

        faulty = faulty_engines(nodes)
        tried: set[EngineChoice] = set()
        found = proposals(graph, device, modes, sm_count=sm_count, on_refusal=note)
        with closing(found):  # type: ignore[type-var]
            for _, proposed in found:
                if proposed.choice in tried:
                    continue
                tried.add(proposed.choice)
                if proposed.choice.engine in faulty:
                    reasons.append(f"{proposed.choice}: {faulty[proposed.choice.engine]}")
                    continue
                plan = _plan_or_reason(proposed, selection, compiled)
                if isinstance(plan, ExecutionPlan):
                    return plan
                reasons.append(f"{proposed.choice}: {plan}")
        raise NotSupportedError(
            "Graph.build",
            cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
            arguments={
                "graph": ", ".join(map(str, nodes)),
                "heuristics": ", ".join(modes),
                **({} if selection == Selection() else {"selection": repr(selection)}),
            },
            messages=_shortened(reasons) or engine_refusals(graph, device),
            hint="Graph.explain(device) shows every engine and why it refuses; other layouts, data "
            "types or alignments may have an engine, and so may parts of the graph",
        )


def _chosen_plan(
    graph: BackendDescriptor,
    device: Handle | DeviceProperties,
    choice: EngineChoice,
    selection: Selection,
    sm_count: int | None,
    compiled: Callable[[EngineConfig], ExecutionPlan],
) -> ExecutionPlan:
    with (
        Engine(graph, choice.engine, device=device, sm_count=sm_count) as engine,
        engine.config(choice.knobs) as config,
    ):
        plan = compiled(config)
        unwanted = selection.refusal(config) or selection.refusal_of_workspace(plan.workspace_size)
    if unwanted:
        plan.close()
        raise NotSupportedError(
            "Graph.build",
            cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
            arguments={"config": str(choice), "selection": repr(selection)},
            messages=(unwanted,),
        )
    return plan


def _plan_or_reason(
    config: EngineConfig,
    selection: Selection,
    compiled: Callable[[EngineConfig], ExecutionPlan],
) -> ExecutionPlan | str:
    unwanted = selection.refusal(config)
    if unwanted:
        return unwanted
    try:
        plan = compiled(config)
    except PLAN_ERRORS as error:
        return str(refusal(error))
    # Before cuDNN 9.2 only the plan tells.
    unwanted = selection.refusal_of_workspace(plan.workspace_size)
    if unwanted:
        plan.close()
        return unwanted
    return plan


def engine_refusals(graph: BackendDescriptor, device: Handle | DeviceProperties) -> tuple[str, ...]:
    """Why the engines refuse the graph, once each reason; what could be changed comes first."""
    engines: dict[str, list[str]] = {}
    hopeless: set[str] = set()
    for index in range(engine_count(graph)):
        try:
            with Engine(graph, index, device=device) as engine, ExitStack() as stack:
                configs = [stack.enter_context(each) for each in default_configs(engine)]
                ExecutionPlan(configs[0], device=device).close()
        except (CudnnError, SymbolNotFoundError) as error:
            why = refusal(error) if isinstance(error, CudnnError) else Refusal("", str(error))
            reason = why.without_index(index)
            engines.setdefault(reason, []).append(str(index))
            if why.hopeless:
                hopeless.add(reason)
    told = sorted(engines.items(), key=lambda item: item[0] in hopeless)
    return _shortened([f"engine {', '.join(which)}: {why}" for why, which in told])


def _shortened(reasons: Sequence[str]) -> tuple[str, ...]:
    once = list(dict.fromkeys(reasons))
    more = len(once) - _REASONS
    return (*once[:_REASONS], *([f"and {more} more reasons"] if more > 0 else []))
