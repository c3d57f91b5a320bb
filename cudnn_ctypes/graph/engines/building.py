"""From a validated graph to an execution plan: heuristics, and the first config that works."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING, Any

from ...arguments import enumerator
from ...errors import (
    CudnnError,
    ExecutionFailedError,
    InternalError,
    NotSupportedError,
    SymbolNotFoundError,
)
from ...raw import cudnnBackendHeurMode_t, cudnnStatus_t
from ...raw.ctypes_support import short_name
from ...raw.values import described
from ..backend import warden
from ..backend.descriptor import BackendDescriptor
from ..backend.device_properties import DeviceProperties
from ..backend.engine import Engine, EngineChoice, EngineConfig, engine_count
from ..lower.faults import Faults
from ..lower.lowering import Lowering, lowered
from ..run.plan import ExecutionPlan
from .heuristics import default_configs, proposed_configs
from .refusals import BuildFailure, refusal
from .selection import Selection

if TYPE_CHECKING:
    from ...handle import Handle
    from ..lower.expand.expansion import Expansion
    from ..run.kernel_cache import KernelCache

PLAN_ERRORS = (NotSupportedError, InternalError, ExecutionFailedError)
"""Exceptions after which another config may work; the last since some engines ask the driver."""


class OnlyThere(Exception):
    """An engine is wanted, or may be, that is told of and compiled only where its GPU is."""


def as_modes(value: str | Sequence[str]) -> list[str]:
    """The modes of heuristics that an argument names, checked, by short name."""
    modes = [value] if isinstance(value, (str, cudnnBackendHeurMode_t)) else value
    if isinstance(modes, bytes) or not isinstance(modes, Iterable):
        raise TypeError(f"heuristics: expected modes by name, got {described(value)}")
    modes = list(modes)
    if not modes:
        raise ValueError("heuristics: expected at least one mode, got none")
    return [short_name(enumerator(cudnnBackendHeurMode_t, m, "heuristics")) for m in modes]


def as_choice(value: Any) -> EngineChoice | None:
    """The engine and knobs that an argument names: a choice, or what has one."""
    choice = getattr(value, "choice", value)
    if choice is None or isinstance(choice, EngineChoice):
        return choice
    raise TypeError(f"config: expected an EngineChoice or EngineConfig, got {described(value)}")


def lowered_engine(expansion: Expansion, device: Handle | DeviceProperties, index: int) -> Engine:
    """One engine of a graph, which owns the descriptors that the graph was lowered to."""
    with ExitStack() as stack:
        graph = stack.enter_context(lowered(expansion, device)).graph
        engine = Engine(graph, index, device=device)
        engine.closes_with_it(stack.pop_all())
    return engine


def proposals(
    lowering: Lowering,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    *,
    sm_count: int | None = None,
    on_refusal: Callable[[str, NotSupportedError], object],
    stack: ExitStack | None = None,
) -> Iterator[tuple[str, EngineConfig]]:
    """Modes with the configs that their heuristics propose, the best first.

    A mode is asked when the configs of those before it are used up. Two modes can propose the
    same. Configs are closed with the generator, or with `stack`. `on_refusal` is called with a mode
    that has none, and why.
    """
    with ExitStack() as own:
        kept = own if stack is None else stack
        for mode in modes:
            warden.step(f"asking heuristics {mode}", mode=mode)
            try:
                configs = proposed_configs(lowering, device=device, mode=mode, sm_count=sm_count)
            except NotSupportedError as error:
                on_refusal(mode, error)
                continue
            for config in configs:
                kept.callback(config.close)
            for config in configs:
                yield mode, config


def proposed(
    lowering: Lowering,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    stack: ExitStack,
    *,
    every_engine: bool = False,
    on_refusal: Callable[[str, NotSupportedError], object] = lambda mode, error: None,
) -> list[tuple[EngineConfig, str]]:
    """Configs that heuristics propose, and other engines if asked, each with its source.

    `stack` closes them. Some may be equal.
    """
    found: list[tuple[EngineConfig, str]] = []
    counts = dict.fromkeys(modes, 0)
    for mode, config in proposals(lowering, device, modes, on_refusal=on_refusal, stack=stack):
        counts[mode] += 1
        found.append((config, f"{mode} {counts[mode]}"))
    indices = {config.engine.index for config, _ in found}
    for index in range(engine_count(lowering.graph)) if every_engine else ():
        if index not in indices:
            # `Graph.explain` tells why one refuses the graph.
            with suppress(CudnnError, SymbolNotFoundError):
                engine = Engine(lowering.graph, index, device=device)
                stack.callback(engine.close)
                for config in default_configs(engine):
                    found.append((stack.enter_context(config), "engine"))
    return found


def build_plan(
    expansion: Expansion,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    *,
    selection: Selection | None = None,
    config: EngineChoice | None = None,
    sm_count: int | None = None,
    kernel_cache: KernelCache | None = None,
    override_shapes: bool = False,
    faults: Faults | None = None,
    only_here: bool = False,
) -> ExecutionPlan:
    """A plan for a graph; everything else that was made for it is destroyed.

    Configs are compiled one by one until one works and `selection` wants it. With `config` this
    is the only one. `faults` are those of the graph, if they are known already.

    Raises CrashError if the graph, or `config`, is known to end the process. Raises OnlyThere with
    `only_here`, after all else was asked, if only the GPU itself can decide. Raises
    NotSupportedError if no engine can carry it out; the message has cuDNN's reasons.
    """
    selection = selection or Selection()
    selection.kept.heed("Graph.build", config)
    shapes: dict[str, Any] = {
        "is_dynamic_shape_enabled": True if kernel_cache is not None else None,
        "is_override_shape_enabled": override_shapes or None,
    }
    warden.step("finalizing the operation graph")
    with lowered(expansion, device, faults=faults, **shapes) as lowering:
        lowering.faults = selection.kept.heeded(lowering.faults)
        graph, faulty = lowering.graph, lowering.faults.engines
        cache = None if kernel_cache is None else kernel_cache.begin(graph)
        compiled = functools.partial(ExecutionPlan, device=device, kernel_cache=cache)
        if config is not None:
            return _chosen_plan(graph, device, config, selection, sm_count, compiled, only_here)
        failure = BuildFailure()
        tried: set[EngineChoice] = set()
        found = proposals(lowering, device, modes, sm_count=sm_count, on_refusal=failure.mode)
        with closing(found):  # type: ignore[type-var]
            for _, candidate in found:
                choice = candidate.choice
                if choice in tried:
                    continue
                tried.add(choice)
                fault = faulty.get(choice.engine) or selection.kept.fault(choice)
                if fault:
                    failure.refused(choice, fault)
                    continue
                unwanted = selection.refusal(candidate)
                if unwanted:
                    failure.unwanted(unwanted)
                    continue
                warden.step(f"compiling {choice}", choice=choice)
                try:
                    plan = compiled(candidate)
                except PLAN_ERRORS as error:
                    why = refusal(error)
                    if only_here and why.needs_gpu:
                        raise OnlyThere from error
                    failure.refused(choice, why)
                    continue
                # Before cuDNN 9.2 only the plan tells.
                unwanted = selection.refusal_of_workspace(plan.workspace_size)
                if not unwanted and not (only_here and _asks_the_gpu(graph, device)):
                    return plan
                plan.close()
                if not unwanted:
                    raise OnlyThere
                failure.unwanted(unwanted)
        if only_here and _asks_the_gpu(graph, device):
            raise OnlyThere
        warden.step("asking why the engines refuse the graph")
        raise failure.error(expansion, modes, selection, graph, device)


def _asks_the_gpu(graph: BackendDescriptor, device: Handle | DeviceProperties) -> bool:
    """Whether the graph has an engine of cuBLASLt: without a GPU heuristics do not propose it."""
    for index in range(engine_count(graph)):
        warden.step(f"asking engine {index}", choice=EngineChoice(index))
        with suppress(CudnnError), Engine(graph, index, device=device) as engine:
            if "cublaslt_dependency" in engine.behavior_notes:
                return True
    return False


def _chosen_plan(
    graph: BackendDescriptor,
    device: Handle | DeviceProperties,
    choice: EngineChoice,
    selection: Selection,
    sm_count: int | None,
    compiled: Callable[[EngineConfig], ExecutionPlan],
    only_here: bool,
) -> ExecutionPlan:
    warden.step(f"compiling {choice}", choice=choice)
    with ExitStack() as stack:
        engine = stack.enter_context(Engine(graph, choice.engine, device=device, sm_count=sm_count))
        try:
            config = stack.enter_context(engine.config(choice.knobs))
        except NotSupportedError as error:
            if only_here and refusal(error).needs_gpu:
                raise OnlyThere from error
            raise
        try:
            plan = compiled(config)
        except (InternalError, ExecutionFailedError) as error:
            if only_here and refusal(error).needs_gpu:
                raise OnlyThere from error
            raise NotSupportedError(
                "Graph.build",
                cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
                arguments={"config": str(choice)},
                messages=(str(refusal(error)),),
            ) from error
        unwanted = selection.refusal(config) or selection.refusal_of_workspace(plan.workspace_size)
    if unwanted:
        plan.close()
        raise NotSupportedError(
            "Graph.build",
            cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
            arguments={"config": str(choice), "selection": repr(selection)},
            hint=f"the selection does not want it: {unwanted}",
        )
    return plan
