"""Facts about a plan for the picture of a built graph: engine, knobs, kernels, GPU."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ....errors import CudnnError, SymbolNotFoundError
from ....raw.library import version_text
from ...run.program import Program
from ..reference_plan import ReferencePlan
from .examination import engine_kind

if TYPE_CHECKING:
    from ....evidence.pictures.diagram import Region
    from ...run.plan import ExecutionPlan

_NAMED = 3  # kernels
_PLANS = 8  # of a program


def plan_region(plan: ExecutionPlan) -> Region:
    """The region around all operations: one engine carries them out together, or a program.

    Kernels are named of engines that compile them; others do not tell theirs.
    """
    from ....evidence.pictures.diagram import Region

    if isinstance(plan, ReferencePlan):
        return Region("carried out operation by operation, without an engine")
    if isinstance(plan, Program):
        facts = [f"{n}: {each}" for n, each in enumerate(plan.choices[:_PLANS], 1)]
        if len(plan.steps) > _PLANS:
            facts.append(f"and {len(plan.steps) - _PLANS} more plans")
        facts.append(f"workspace {plan.workspace_size:,} bytes")
        return Region(f"program of {len(plan.steps)} plans", tuple(facts))
    choice, told = plan.config.choice, _told(plan)
    knobs = " ".join(f"{name}={value}" for name, value in choice.knobs.items())
    built_for = [f"workspace {plan.workspace_size:,} bytes", *told.pop("built_for", ())]
    facts = [f"knobs: {knobs}" if knobs else "", *told.pop("kernels", ()), ", ".join(built_for)]
    title = f"engine {choice.engine} ({engine_kind(plan.behavior_notes)})"
    return Region(title, tuple(filter(None, facts)))


def _told(plan: ExecutionPlan) -> dict[str, list[str]]:
    """Facts from the plan's JSON text; none before cuDNN 9.4, which writes no such text."""
    try:
        stored: dict[str, Any] = json.loads(plan.descriptor.get("json_representation"))
    except (CudnnError, SymbolNotFoundError, ValueError):
        return {}
    built_for = []
    if name := stored.get("GPUProfile", {}).get("deviceName"):
        built_for.append(str(name))
    if version := stored.get("cudnnVersion"):
        built_for.append(f"cuDNN {version_text(version)}")
    kernels = stored.get("engine", {}).get("payload", {}).get("kernels", [])
    names = [str(kernel.get("kernelName", "")) for kernel in kernels]
    lines = [f"kernel {name}" for name in names[:_NAMED]]
    if len(names) > _NAMED:
        lines.append(f"and {len(names) - _NAMED} more kernels")
    return {"built_for": built_for, "kernels": lines}
