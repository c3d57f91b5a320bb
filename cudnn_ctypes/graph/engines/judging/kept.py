"""Knowledge of engines, in the plan cache's folder: by cuDNN, GPU and form of graph.

Verdicts are a judge's. Crashes are graphs that ended a warden, or hung it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ....raw.library import load
from ...backend import warden
from ...backend.device_properties import DeviceProperties
from ...backend.engine import EngineChoice
from ..cache.entry_folder import by_environment
from ..cache.key import CacheKey
from ..cache.plan_cache import PlanCache
from ..selection import NOTHING, Crash, Kept
from .verdict import WRONG, Verdict

if TYPE_CHECKING:
    from ....handle import Handle
    from ...backend.warden import Death
    from ...lower.expand.expansion import Expansion


def family(choice: EngineChoice) -> tuple[int, int | None]:
    """The engine and the kernel: settings of other knobs share a probation."""
    return choice.engine, choice.knobs.get("kernel_cfg")


def kept_verdicts(expansion: Expansion, device: Handle | DeviceProperties) -> Kept:
    """Knowledge of this machine about engines for graphs of this form.

    Where a warden is asked, only this graph's own crashes count: of other sizes it may ask.
    """
    plans = _plans()
    if not _here and (plans is None or not os.path.isdir(plans.folder)):
        return NOTHING
    found = _verdicts(plans, _key("verdict", expansion, device))
    kept = NOTHING
    if found:
        right = {choice.engine for choice, (state, _) in found.items() if state not in WRONG}
        wrong = {choice: told for choice, (state, told) in found.items() if state in WRONG}
        kept = Kept(
            {choice.engine: told for choice, told in wrong.items() if choice.engine not in right},
            wrong,
            frozenset(map(family, found)),
        )
    crashes = _crashes(plans, _key("crash", expansion, device))
    if crashes and warden.active():
        crashes = tuple(each for each in crashes if each.graph == _sizes(expansion))
    return kept.with_crashes(crashes) if crashes else kept


def keep_crash(expansion: Expansion, device: Handle | DeviceProperties, death: Death) -> Crash:
    """Add what became of a question to what is kept, unless the child was ended from outside."""
    mode, choice = death.step.mode, death.step.choice
    crash = Crash(
        death.step.text,
        death.signal,
        death.message,
        mode,
        None if choice is None else choice.engine,
        {} if choice is None else dict(choice.knobs),
        _sizes(expansion),
        time.strftime("%Y-%m-%d"),
    )
    if not death.from_outside:
        plans, key = _plans(), _key("crash", expansion, device)
        every = [asdict(each) for each in _crashes(plans, key) if each != crash]
        _store(plans, key, [*every, asdict(crash)], graph=str(crash), expansion=expansion)
    return crash


def _sizes(expansion: Expansion) -> str:
    text = json.dumps(expansion.canonical(), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def keep_verdicts(
    expansion: Expansion, device: Handle | DeviceProperties, verdicts: Sequence[Verdict]
) -> None:
    """Add verdicts to those that are kept; a newer one on the same config takes its place."""
    plans, key = _plans(), _key("verdict", expansion, device)
    told = [each for each in verdicts if each.state in WRONG or each.state in ("right", "inexact")]
    if not told:
        return
    found = _verdicts(plans, key)
    found |= {each.choice: (each.state, _reason(each)) for each in told}
    wrong = sum(state in WRONG for state, _ in found.values())
    records = [
        {"engine": choice.engine, "knobs": dict(choice.knobs), "state": state, "reason": reason}
        for choice, (state, reason) in found.items()
    ]
    graph = f"{len(found)} verdicts, {wrong} wrong"
    _store(plans, key, records, graph=graph, expansion=expansion)


def _reason(verdict: Verdict) -> str:
    if verdict.state not in WRONG:
        return ""
    day = time.strftime("%Y-%m-%d")
    return f"it was judged on this machine on {day}: {verdict.state}: {verdict.told}"


def _plans() -> PlanCache | None:
    """The cache whose folder has the records; None if the environment wants none."""
    if by_environment() is False:
        return None
    try:
        return PlanCache()
    except ValueError:  # a user without a home
        return None


def _key(kind: str, expansion: Expansion, device: Handle | DeviceProperties) -> CacheKey:
    known = isinstance(device, DeviceProperties)
    name = device.name if known else device.device.name  # type: ignore[union-attr]
    return CacheKey.of(
        kind,
        {
            "form": expansion.form,
            "device": {"deviceName": str(name)},
            "library": {"cudnn": load().version},
        },
    )


_here: dict[str, list[dict[str, Any]]] = {}
"""Records of this process, by the name of their file, where none are kept on disk."""


def _store(
    plans: PlanCache | None,
    key: CacheKey,
    records: list[dict[str, Any]],
    *,
    graph: str,
    expansion: Expansion,
) -> None:
    if plans is None:
        _here[key.file_name] = records
        return
    shown = next((each for each in records if each.get("state") in WRONG), records[0])
    engine = {"engine": shown["engine"] or 0, "knobs": shown["knobs"]}
    operations = expansion.operations
    plans.store(key, graph=graph, operations=operations, engine=engine, records=records)


def _loaded(plans: PlanCache | None, key: CacheKey) -> list[dict[str, Any]]:
    if plans is None:
        return list(_here.get(key.file_name, ()))
    entry = plans.load(key)
    try:
        return [] if entry is None else [dict(each.value) for each in entry["records"].items()]
    except (ValueError, TypeError):  # damaged: it is asked anew
        return []


def _verdicts(plans: PlanCache | None, key: CacheKey) -> dict[EngineChoice, tuple[str, str]]:
    try:
        return {
            EngineChoice(each["engine"], each["knobs"]): (str(each["state"]), str(each["reason"]))
            for each in _loaded(plans, key)
        }
    except (KeyError, TypeError):
        return {}


def _crashes(plans: PlanCache | None, key: CacheKey) -> tuple[Crash, ...]:
    try:
        return tuple(Crash(**each) for each in _loaded(plans, key))
    except TypeError:
        return ()
