"""Plans and explanations for which the warden asks cuDNN, and what becomes of its crashes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ..backend import warden
from ..backend.device_properties import DeviceProperties
from ..backend.devices import is_absent, properties_text
from ..run.kernel_cache import KernelCache
from ..run.plan import ExecutionPlan
from ..run.stored_plan import StoredPlan
from .building import OnlyThere, build_plan
from .judging.kept import keep_crash, kept_verdicts
from .selection import Crash, Selection

if TYPE_CHECKING:
    from ...handle import Handle
    from ..lower.expand.expansion import Expansion

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

    Where an engine can only be compiled with its GPU, or a kernel cache is to have the kernels, it
    is built here after it was built there.
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
            return "" if dynamic else plan.to_json()
    except OnlyThere:
        return ""
    finally:
        if cache is not None:
            cache.close()
