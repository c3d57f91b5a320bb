"""From a validated graph to an execution plan: heuristics, and the first config that works.

The warden asks cuDNN where it is active, and what crashes is kept. On the reference device a graph
can be carried out as it is described, without any engine.
"""

from __future__ import annotations

import functools
import logging
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ...arguments import enumerator
from ...errors import (
    BadParamError,
    CudnnError,
    ExecutionFailedError,
    InternalError,
    NotSupportedError,
    OwnReason,
    SymbolNotFoundError,
)
from ...raw import cudnnBackendHeurMode_t, cudnnHandle_t, cudnnStatus_t
from ...raw.ctypes_support import short_name
from ...raw.mode import plans_without_engine
from ...raw.values import described
from ..backend import warden
from ..backend.descriptor import BackendDescriptor
from ..backend.device_properties import DeviceLike, DeviceProperties, is_absent, properties_text
from ..backend.engine import (
    Engine,
    EngineChoice,
    EngineConfig,
    Knob,
    default_configs,
    engine_count,
    heuristics,
)
from ..lower.faults import Faults
from ..lower.lowering import Lowering, lowered
from ..lower.target import NO_GPU
from ..run.plan import ExecutionPlan
from ..run.stored_plan import KernelCache, StoredPlan
from .judging.verdict import keep_crash, kept_verdicts
from .refusals import BuildFailure, refusal
from .selection import Crash, Selection

if TYPE_CHECKING:
    from ...handle import Handle
    from ..describe.node import Node
    from ..lower.expand.expansion import Expansion


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


def proposed_configs(
    lowering: Lowering, *, device: DeviceLike, mode: str, sm_count: int | None = None
) -> list[EngineConfig]:
    """`heuristics` of a lowered graph, unless the mode is known to end the process on it.

    Raises NotSupportedError if cuDNN knows no engine for this graph at all, or must not be asked.
    """
    if mode in lowering.faults.modes:
        raise NotSupportedError(
            "Graph.build",
            cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
            arguments={"heuristics": mode},
            messages=(lowering.faults.modes[mode],),
            source=OwnReason.source,
        )
    return heuristics(lowering.graph, device=device, mode=mode, sm_count=sm_count)


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
        graph = lowering.graph
        cache = None if kernel_cache is None else kernel_cache.begin(graph)
        compiled = functools.partial(_compiled, expansion, device, cache)
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
                fault = lowering.faults.fault(choice) or selection.kept.fault(choice)
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


def _compiled(
    expansion: Expansion, device: Handle | DeviceProperties, cache: Any, config: EngineConfig
) -> ExecutionPlan:
    plan = ExecutionPlan(config, device=device, kernel_cache=cache)
    plan.seen_twice = expansion.seen_twice
    return plan


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


_logger = logging.getLogger(__name__)

_CRASHES = 4  # of one graph, after which nothing else of it is asked

T = TypeVar("T")


def asked(
    function: Callable[..., T],
    expansion: Expansion,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    *,
    selection: Selection,
    named: bool = False,
    noted: Callable[..., object] = lambda *progress: None,
    **options: Any,
) -> T:
    """Return what `function` gives for a graph in the warden, by the properties of the device.

    A mode of heuristics or an engine config that crashes is kept, and passed over when the rest is
    asked; with `named`, a config alone is asked about.

    Raises CrashError if nothing is left to ask, or too much crashed.
    """
    gpu = properties_text(device)
    crashes: list[Crash] = []
    while True:
        try:
            options["selection"] = selection
            return warden.ask(  # type: ignore[no-any-return]
                _carried_out, function, expansion, gpu, modes, noted=noted, **options
            )
        except warden.Death as death:
            crash = keep_crash(expansion, device, death)
            _logger.info("%s: %s", expansion.operations, crash)
            crashes.append(crash)
            enough = len(crashes) >= _CRASHES or crash.of_the_graph or named
            if enough or death.from_outside:
                raise crash.error("Graph.build", graph=expansion.operations) from None
        known = kept_verdicts(expansion, device)
        if not set(map(str, crashes)) <= set(map(str, known.crashes)):  # the disk may be full
            known = replace(known, crashes=(*known.crashes, *crashes))
        selection = selection.passing_over(known)


def _carried_out(
    function: Callable[..., T], expansion: Expansion, gpu: str, *arguments: Any, **options: Any
) -> T:
    with DeviceProperties(gpu) as device:
        return function(expansion, device, *arguments, **options)


def plan_of(
    expansion: Expansion,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    *,
    selection: Selection,
    kernel_cache: KernelCache | None = None,
    **options: Any,
) -> ExecutionPlan:
    """`build_plan` by way of the warden, which compiles it; here its text is loaded.

    Where an engine can only be compiled with its GPU, a kernel cache is to have the kernels, or its
    text would not hold it, it is built here after it was built there.
    """
    text = asked(
        _plan_text,
        expansion,
        device,
        modes,
        selection=selection,
        named=options.get("config") is not None,
        dynamic=kernel_cache is not None,
        only_here=not is_absent(device),
        **options,
    )
    if text:
        return ExecutionPlan.from_stored(StoredPlan(text), device=device)
    return build_plan(
        expansion, device, modes, selection=selection, kernel_cache=kernel_cache, **options
    )


def _plan_text(
    expansion: Expansion,
    device: DeviceProperties,
    modes: Sequence[str],
    *,
    dynamic: bool,
    **options: Any,
) -> str:
    """In the warden: the plan as text; "" if it is to be built where its GPU is."""
    cache = KernelCache() if dynamic else None
    try:
        with build_plan(expansion, device, modes, kernel_cache=cache, **options) as plan:
            return "" if dynamic or plan.seen_twice is not None else plan.to_json()
    except OnlyThere:
        return ""
    finally:
        if cache is not None:
            cache.close()


class ReferencePlan(ExecutionPlan):
    """An OPERATIONGRAPH in place of a plan, which only the reference device can execute.

    ``Graph.build(handle, without_engine=True)`` makes it. It has no engine, so no config, no notes
    and nothing to store.
    """

    def __init__(
        self,
        operation_graph: BackendDescriptor,
        uids: Collection[int],
        owned: ExitStack,
        *,
        takes_shapes: bool = False,
    ) -> None:
        self.descriptor = operation_graph
        self.uids = frozenset(uids)
        self.takes_shapes = takes_shapes
        self._own_size = 0
        self._config = None
        address = operation_graph._as_parameter_.value or 0
        plans_without_engine.add(address)
        self._forget = weakref.finalize(self, plans_without_engine.discard, address)
        self._owned = owned

    @property
    def config(self) -> EngineConfig:
        self._refuse("config")

    @property
    def choices(self) -> tuple[EngineChoice, ...]:
        return ()

    @property
    def numerical_notes(self) -> frozenset[str]:
        return frozenset()

    @property
    def behavior_notes(self) -> frozenset[str]:
        return frozenset()

    def to_json(self) -> str:
        self._refuse("JSON")

    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(f"this graph was built without an engine, so it has no {what}")

    def close(self) -> None:
        super().close()
        self._forget()
        self._owned.close()

    def __repr__(self) -> str:
        return f"ReferencePlan({'closed' if self.descriptor.closed else 'without an engine'})"


def reference_plan(
    nodes: Sequence[Node],
    expansion: Expansion,
    device: Handle | DeviceProperties,
    *,
    cut: Callable[[], ExecutionPlan | None] | None = None,
    override_shapes: bool = False,
    **chosen: Any,
) -> ExecutionPlan:
    """A graph of these nodes to be carried out as it is; cuDNN checks the descriptors.

    `cut` gives a program, if there is one: what is returned for a graph that cuDNN refuses.

    Raises ValueError if `device` is no handle of the reference device, or something is `chosen`
    about engines.
    """
    if not getattr(device, "on_reference_device", False):
        raise ValueError(
            f"without_engine: only the reference device does that, got {described(device)}"
        )
    options = [name for name, value in chosen.items() if value is not None]
    if options:
        raise ValueError(f"without_engine: {', '.join(options)} would choose or keep an engine")
    kept = [
        t
        for node in expansion.nodes
        for t in (*node.operands, *node.outputs.values())
        if not t.virtual
    ]
    # The numbers that are fixed in a graph are part of its descriptors or scratch memory.
    uids = {t.uid for t in kept if t.uid is not None and not t.by_value}
    attributes: dict[str, Any] = {"is_override_shape_enabled": override_shapes or None}
    # The descriptors of attention tell only the dims of a key that it computes itself, exchanged:
    # its operation would be read the wrong way round.
    keys = [node.inputs.get("k") for node in nodes]
    exchanged = any(key is not None and key.virtual for key in keys)
    with ExitStack() as stack:
        try:
            lowering = stack.enter_context(lowered(expansion, device, NO_GPU, **attributes))
        except (NotSupportedError, BadParamError, SymbolNotFoundError):
            if cut is None or override_shapes or (found := cut()) is None:
                raise
            return found
        if cut is not None and exchanged and (found := cut()) is not None:
            return found
        return ReferencePlan(lowering.graph, uids, stack.pop_all(), takes_shapes=override_shapes)


_VALUES = 64  # of one knob's range that are tried one by one; kernel_cfg has up to 56


def knob_settings(choice: EngineChoice, ranges: dict[str, Knob]) -> Iterator[EngineChoice]:
    """Choices that differ from one in one knob; of wide ranges ever wider steps."""
    for name, knob in ranges.items():
        values = list(knob.values)
        if len(values) > _VALUES:
            steps = [0] + [1 << n for n in range(len(values).bit_length())]
            values = [values[step] for step in steps if step < len(values)]
        for value in values:
            if choice.knobs.get(name) != value:
                yield EngineChoice(choice.engine, {**choice.knobs, name: value})


def check_gpu(handle: Any, done: str) -> None:
    """Refuse what is no handle: plans are `done` on a GPU that is there."""
    if isinstance(handle, DeviceProperties) or not isinstance(
        getattr(handle, "_as_parameter_", None), cudnnHandle_t
    ):
        raise TypeError(
            f"handle: plans are {done} on a GPU that is there, expected its Handle, got "
            f"{described(handle)}"
        )
