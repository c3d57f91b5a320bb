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

<<<<<<< HEAD

@dataclass(frozen=True)
class Crash:
    """A crash: what ended a process, or hung it, when cuDNN was asked about a graph.

    Attributes
    ----------
    step, signal : str
        As `CrashError` has them.
    message : str
        The last that cuDNN, or the process, said; "" if nothing.
    mode : str
        The mode of heuristics that was asked, if one was.
    engine : int, optional
        The engine that was asked or compiled, if one was, with these `knobs`.
    graph : str
        Stands for the graph with its sizes.
    day : str
    """

    step: str
    signal: str
    message: str = ""
    mode: str = ""
    engine: int | None = None
    knobs: Mapping[str, int] = field(default_factory=dict)
    graph: str = ""
    day: str = ""

    @property
    def choice(self) -> EngineChoice | None:
        return None if self.engine is None else EngineChoice(self.engine, self.knobs)

    @property
    def of_the_graph(self) -> bool:
        """Whether it was before any mode or engine was asked, so that nothing is left to ask."""
        return not self.mode and self.engine is None

    def __str__(self) -> str:
        hung = self.signal == "hang"
        ended = "cuDNN did not answer" if hung else f"cuDNN ended the process with {self.signal}"
        return f"{ended} while {self.step}, on this machine on {self.day}"

    def error(self, function: str, **arguments: str) -> CrashError:
        """The exception for it."""
        error = CrashError(
            function,
            cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
            arguments=arguments,
            messages=(OwnReason(str(self)), *filter(None, [self.message])),
            hint="the exception's `graph` is its JSON; Graph.build(warden=True) asks for other "
            "sizes of such a graph, where it harms nothing",
        )
        error.step, error.signal = self.step, self.signal
        return error


@dataclass(frozen=True)
class Kept:
    """The verdicts on engines for graphs of one form, and what ended the process.

    Attributes
    ----------
    engines : mapping of int to str
        Engines that were wrong with all knobs that were tried, and why.
    choices : mapping of EngineChoice to str
        Settings that were wrong.
    families : frozenset
        All that was tried, as `family` tells them apart.
    crashes : tuple of Crash
    """

    engines: Mapping[int, str] = field(default_factory=dict)
    choices: Mapping[EngineChoice, str] = field(default_factory=dict)
    families: frozenset[tuple[int, int | None]] = frozenset()
    crashes: tuple[Crash, ...] = ()

    def fault(self, choice: EngineChoice) -> str:
        """Why a build must not take an engine with these knobs; "" if nothing is known."""
        return self.engines.get(choice.engine) or self.choices.get(choice, "")

    def heed(self, function: str, choice: EngineChoice | None = None) -> None:
        """Refuse a graph that ended the process, or the config of it that did.

        Raises
        ------
        CrashError
        """
        for each in self.crashes:
            if each.of_the_graph or (choice is not None and each.choice == choice):
                raise each.error(function)

    def heeded(self, faults: Faults) -> Faults:
        """`faults`, and the modes of heuristics that ended the process."""
        modes = {each.mode: str(each) for each in self.crashes if each.mode}
        return faults._replace(modes={**faults.modes, **modes}) if modes else faults

    @property
    def only_crashes(self) -> Kept:
        """Without verdicts: what was judged wrong can be chosen by name."""
        return _with_crashes(NOTHING, self.crashes)


def _with_crashes(kept: Kept, crashes: tuple[Crash, ...]) -> Kept:
    told = {each.choice: str(each) for each in crashes if each.choice is not None}
    engines = {choice.engine: reason for choice, reason in told.items() if not choice.knobs}
    return replace(
        kept,
        engines={**kept.engines, **engines},
        choices={**kept.choices, **told},
        crashes=crashes,
    )


NOTHING = Kept()
=======
__all__ = ["family", "keep_crash", "keep_verdicts", "kept_verdicts"]
>>>>>>> d6239886 (Hold what a machine knows of engines by the selection itself)


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
