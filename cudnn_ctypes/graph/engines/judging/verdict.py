"""Verdicts on engines: how results are compared with the exact ones, and what is kept of that.

It is kept in the plan cache's folder by cuDNN, GPU and form of graph, beside crashes: graphs that
ended a warden, or hung it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....raw.library import load
from ...backend import warden
from ...backend.device_properties import DeviceProperties
from ...backend.engine import EngineChoice
from ..cache.entry_folder import by_environment
from ..cache.plan_cache import CacheKey, PlanCache
from ..selection import NOTHING, Crash, Kept

if TYPE_CHECKING:
    from ....handle import Handle
    from ...backend.warden import Death
    from ...lower.expand.expansion import Expansion


Array = NDArray[Any]
_HURTING = frozenset({"offset", "tiny"})  # kinds of numbers: an engine that is off is inexact

STATES = ("right", "inexact", "wrong", "NaN", "writes beyond", "ended", "refused")
"""The states of an engine config, from the best on."""

WRONG = frozenset({"wrong", "NaN", "writes beyond", "ended"})
"""States of engines that a build must not take."""

FACTOR = 8
"""Times what rounding does at most, which an engine may be off."""

_NEAR = 2.0**-4  # of the largest number: what may be inexact is wrong beyond
_LOSSY = ("winograd", "fft", "reduced_precision", "down_convert")
"""Notes of engines that compute in other types, or by transforms: they lose bits by design."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on one engine config.

    - `source`: who proposed it: "a 1", "fallback 2", "engine", "knobs".
    - `state` ("right", "inexact", "wrong", "NaN", "writes beyond", "ended", "refused"): "inexact":
      near, and less exact than its data types allow with large offsets or tiny numbers, or by an
      algorithm of which its notes tell. "ended": the process, or its CUDA context.
    - `data`: the kind of numbers of the worst case.
    - `tensor`: the result of the worst element.
    - `index`: where it is.
    - `error`, `allowed`: of the worst element, in parts of the largest element of its tensor.
    - `nan`: how many elements are not finite that should be.
    - `same_bits`: whether executions gave the same bits, with other garbage in unwritten memory;
      None if it was not executed twice.
    - `median`: microseconds; None if it was not timed.
    - `workspace`: bytes.
    - `reason`: of a refusal, an end, or what was written beyond.
    - `notes`: the engine's numerical notes.
    - `known`: the known fault for which builds pass it over; "" if none is known.
    """

    engine: int
    knobs: Mapping[str, int] = field(default_factory=dict)
    source: str = ""
    state: str = "right"
    data: str = ""
    tensor: str = ""
    index: tuple[int, ...] = ()
    expected: float | None = None
    got: float | None = None
    error: float = 0.0
    allowed: float = 0.0
    nan: int = 0
    same_bits: bool | None = None
    median: float | None = None
    workspace: int | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
    known: str = ""

    @property
    def choice(self) -> EngineChoice:
        """The engine and knobs; ``Graph.build(config=...)`` takes them, or this object."""
        return EngineChoice(self.engine, self.knobs)

    @property
    def told(self) -> str:
        """Why it is not right, in a line; "" if it is."""
        if self.reason or self.state == "right" or self.got is None:
            return self.reason
        values = f"{self.got:.4g} instead of {self.expected:.4g}"
        return f"{self.tensor}{list(self.index)} is {values}, with {self.data} numbers"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "index": list(self.index), "notes": list(self.notes)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Verdict:
        """The verdict that `as_dict` told."""
        lists = {name: tuple(values[name]) for name in ("index", "notes")}
        return cls(**{**values, **lists})


@dataclass(frozen=True)
class Bound:
    """The exact elements of a result, and how far from them an engine's may be.

    - `exact`, `allowed`: infinite where nothing is known.
    - `turning`: how many elements rounding may turn over, where the graph compares numbers.
    """

    exact: Array
    allowed: Array
    turning: int = 0

    @property
    def scale(self) -> float:
        """The largest element that is known."""
        known = np.isfinite(self.allowed) & np.isfinite(self.exact)
        return max(float(np.abs(self.exact[known]).max(initial=0)), 1e-30)


def worse(one: Verdict, other: Verdict) -> Verdict:
    """The worse of two verdicts on the same config."""
    first, second = (
        (STATES.index(each.state), each.error / (each.allowed or 1)) for each in (one, other)
    )
    return one if first >= second else other


def compared(base: Verdict, tensor: str, result: Array, bound: Bound, data: str) -> Verdict:
    """The verdict on a config by one of its results, with one kind of numbers."""
    with np.errstate(all="ignore"):
        known = np.isfinite(bound.allowed) & np.isfinite(bound.exact)
        values = result.astype(np.float64)
        difference = np.where(known, np.abs(values - bound.exact), 0.0)
        broken = known & ~np.isfinite(values)
        ratio = np.where(known, difference / np.maximum(bound.allowed, 1e-300), 0.0)
    ratio[broken] = np.inf
    bad = ratio > 1
    if not ratio.size:
        return base
    place = int(np.argmax(ratio))
    scale = bound.scale
    error = float(difference.flat[place]) / scale
    noted = replace(
        base,
        data=data,
        tensor=tensor,
        index=tuple(int(each) for each in np.unravel_index(place, ratio.shape)),
        expected=float(bound.exact.flat[place]),
        got=float(values.flat[place]),
        error=error if np.isfinite(error) else float("inf"),
        allowed=float(bound.allowed.flat[place]) / scale,
        nan=int(broken.sum()),
    )
    if bad.sum() <= bound.turning and not broken.any():
        return noted
    lossy = any(note.startswith(_LOSSY) for note in base.notes)
    near = error < _NEAR and (lossy or data in _HURTING)
    if near or (data in _HURTING and broken.any()):
        return replace(noted, state="inexact")
    return replace(noted, state="NaN" if broken.any() else "wrong")


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
