"""The verdict on one engine config, and how results are compared with the exact ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...backend.engine import EngineChoice

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
