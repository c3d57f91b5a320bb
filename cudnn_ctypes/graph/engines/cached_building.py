"""Building through the plan cache: what was tuned first, what is stored before what is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..lower.lowering import faulty
from .building import build_plan
from .cache import PlanCache, as_cache
from .cache_key import Request, cache_key
from .selection import Selection

if TYPE_CHECKING:
    from ...handle import Handle
    from ..backend.device_properties import DeviceProperties
    from ..backend.engine import EngineChoice
    from ..lower.expand.expansion import Expansion
    from ..run.kernel_cache import KernelCache
    from ..run.plan import ExecutionPlan

__all__ = ["obtained_plan"]


def obtained_plan(
    expansion: Expansion,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    *,
    name: str,
    cache: Any = None,
    selection: Selection,
    config: EngineChoice | None = None,
    sm_count: int | None = None,
    kernel_cache: KernelCache | None = None,
    override_shapes: bool = False,
) -> ExecutionPlan:
    """A plan for a graph: from the cache that `cache` names, if there is one, else from cuDNN.

    Raises
    ------
    ValueError, TypeError
        If `cache` names no cache, or one that cannot be used here.
    NotSupportedError
        If no engine can carry it out.
    """
    plans = as_cache(cache)
    if kernel_cache is not None:
        if plans is not None and cache is not None:
            raise ValueError(
                "cache: a plan with a kernel_cache is not kept on disk; KernelCache.to_json keeps "
                "the kernels"
            )
        plans = None
    if plans is None:
        return build_plan(
            expansion,
            device,
            modes,
            selection=selection,
            config=config,
            sm_count=sm_count,
            kernel_cache=kernel_cache,
            override_shapes=override_shapes,
        )
    request = Request(selection, modes, config, sm_count, override_shapes)
    return _Building(plans, expansion, device, name).plan(request)


class _Building:
    """One graph for one GPU, and the cache."""

    def __init__(
        self,
        plans: PlanCache,
        expansion: Expansion,
        device: Handle | DeviceProperties,
        name: str,
    ) -> None:
        self._plans = plans
        self._expansion = expansion
        self._device = device
        self._name = name

    def plan(self, request: Request) -> ExecutionPlan:
        """The stored plan, or one that is built and stored."""
        avoided = faulty(self._expansion, self._device, dynamic=request.override_shapes)
        if request.config is not None:  # which may be one of these
            avoided = {}
        key = cache_key("plan", self._expansion, self._device, request)
        plan = self._plans.load_plan(key, self._device, avoided=avoided)
        if plan is None:
            plan = self._built(request)
            shown = {"graph": self._name, "operations": self._expansion.operations}
            self._plans.store_plan(key, plan, **shown)
        return plan

    def _built(self, request: Request) -> ExecutionPlan:
        return build_plan(
            self._expansion,
            self._device,
            request.modes,
            selection=request.selection,
            config=request.config,
            sm_count=request.sm_count,
            override_shapes=request.override_shapes,
        )
