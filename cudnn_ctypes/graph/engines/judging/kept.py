"""Verdicts of this machine, in the plan cache's folder: by cuDNN, GPU and form of the graph."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ....raw.library import load
from ...backend.device_properties import DeviceProperties
from ...backend.engine import EngineChoice
from ..cache.key import CacheKey
from ..cache.location import by_environment
from ..cache.plan_cache import PlanCache
from .verdict import WRONG, Verdict

if TYPE_CHECKING:
    from ....handle import Handle
    from ...lower.expand.expansion import Expansion

__all__ = ["NOTHING", "Kept", "family", "keep_verdicts", "kept_verdicts"]


@dataclass(frozen=True)
class Kept:
    """The verdicts on engines for graphs of one form.

    Attributes
    ----------
    engines : mapping of int to str
        Engines that were wrong with all knobs that were tried, and why.
    choices : mapping of EngineChoice to str
        Settings that were wrong.
    families : frozenset
        All that was tried, as `family` tells them apart.
    """

    engines: Mapping[int, str] = field(default_factory=dict)
    choices: Mapping[EngineChoice, str] = field(default_factory=dict)
    families: frozenset[tuple[int, int | None]] = frozenset()

    def fault(self, choice: EngineChoice) -> str:
        """Why a build must not take an engine with these knobs; "" if nothing is known."""
        return self.engines.get(choice.engine) or self.choices.get(choice, "")


NOTHING = Kept()


def family(choice: EngineChoice) -> tuple[int, int | None]:
    """The engine and the kernel: settings of other knobs share a probation."""
    return choice.engine, choice.knobs.get("kernel_cfg")


def kept_verdicts(expansion: Expansion, device: Handle | DeviceProperties) -> Kept:
    """The verdicts of this machine on engines for graphs of this form."""
    plans = _plans()
    if not _here and (plans is None or not os.path.isdir(plans.folder)):
        return NOTHING
    found = _loaded(plans, _key(expansion, device))
    if not found:
        return NOTHING
    right = {choice.engine for choice, (state, _) in found.items() if state not in WRONG}
    wrong = {choice: told for choice, (state, told) in found.items() if state in WRONG}
    return Kept(
        {choice.engine: told for choice, told in wrong.items() if choice.engine not in right},
        wrong,
        frozenset(map(family, found)),
    )


def keep_verdicts(
    expansion: Expansion, device: Handle | DeviceProperties, verdicts: Sequence[Verdict]
) -> None:
    """Add verdicts to those that are kept; a newer one on the same config takes its place."""
    plans = _plans()
    told = [each for each in verdicts if each.state in WRONG or each.state in ("right", "inexact")]
    if not told:
        return
    key = _key(expansion, device)
    found = _loaded(plans, key)
    found |= {each.choice: (each.state, _reason(each)) for each in told}
    if plans is None:
        _here[key.text] = found
        return
    wrong = [choice for choice, (state, _) in found.items() if state in WRONG]
    shown = wrong[0] if wrong else next(iter(found))
    plans.store(
        key,
        graph=f"{len(found)} verdicts, {len(wrong)} wrong",
        operations=expansion.operations,
        engine={"engine": shown.engine, "knobs": dict(shown.knobs)},
        verdicts=[
            {
                "engine": choice.engine,
                "knobs": dict(choice.knobs),
                "state": state,
                "reason": reason,
            }
            for choice, (state, reason) in found.items()
        ],
    )


def _reason(verdict: Verdict) -> str:
    if verdict.state not in WRONG:
        return ""
    day = time.strftime("%Y-%m-%d")
    return f"it was judged on this machine on {day}: {verdict.state}: {verdict.told}"


def _plans() -> PlanCache | None:
    """The cache whose folder has the verdicts; None if the environment wants none."""
    if by_environment() is False:
        return None
    try:
        return PlanCache()
    except ValueError:  # a user without a home
        return None


def _key(expansion: Expansion, device: Handle | DeviceProperties) -> CacheKey:
    known = isinstance(device, DeviceProperties)
    name = device.name if known else device.device.name  # type: ignore[union-attr]
    return CacheKey.of(
        "verdict",
        {
            "form": expansion.form,
            "device": {"deviceName": str(name)},
            "library": {"cudnn": load().version},
        },
    )


_here: dict[str, dict[EngineChoice, tuple[str, str]]] = {}
"""Verdicts of this process, by key, where none are kept on disk."""


def _loaded(plans: PlanCache | None, key: CacheKey) -> dict[EngineChoice, tuple[str, str]]:
    if plans is None:
        return dict(_here.get(key.text, {}))
    entry = plans.load(key)
    found: dict[EngineChoice, tuple[str, str]] = {}
    try:
        for each in [] if entry is None else entry["verdicts"].items():
            knobs: Any = each["knobs"].value
            choice = EngineChoice(each["engine"].integer(0), dict(knobs))
            found[choice] = each["state"].text(), each["reason"].text()
    except (ValueError, TypeError):  # damaged: it is judged anew
        return {}
    return found
