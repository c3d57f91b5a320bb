"""The entries of the plan cache: how they are written, and what they tell."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ....arguments import Place
from ...backend.engine import EngineChoice
from ...run.stored_plan import unsealed
from .entry_folder import File

__all__ = ["FORMAT", "KINDS", "VERSION", "CacheEntry", "read_entry", "shown_entry"]

FORMAT = "cudnn_ctypes cache entry"
VERSION = 1
KINDS = ("plan", "tuning", "device", "verdict", "crash")  # file names begin with them


@dataclass(frozen=True)
class CacheEntry:
    """One entry of a `PlanCache`, to look at.

    Attributes
    ----------
    kind : {"plan", "tuning", "device", "verdict", "crash", "damaged"}
        "device": the properties of a GPU; without graph, operations and engine. "verdict": what
        `Graph.judge` and probation found of engines for graphs of one form; "crash": what ended
        the warden that asked about one. Damaged is also what another version of this package
        wrote.
    graph : str
        Name of the graph that it was made for first. Others that compute the same share it.
    operations : str
    device : str
        Name of the GPU.
    cudnn : int
        Version: 92800.
    engine : str
        Engine and knobs of the plan, or the fastest ones.
    made, used : float
        When it was written and used last, in seconds since 1970.
    size : int
        Bytes on disk.
    file_name : str
    """

    kind: str
    graph: str
    operations: str
    device: str
    cudnn: int
    engine: str
    made: float
    used: float
    size: int
    file_name: str


def read_entry(text: str, key: str | None) -> Place:
    """The members of an entry.

    Raises
    ------
    ValueError
        If it is damaged, or of another key.
    """
    entry = Place(json.loads(unsealed(text, "cache entry")), "entry")
    if (entry["format"].value, entry["version"].value) != (FORMAT, VERSION):
        entry.refuse(f"expected {FORMAT!r}, version {VERSION}")
    if key is not None and entry["key"].value != json.loads(key):
        entry["key"].refuse("it is of another key")
    return entry


_NO_PLAN = {"graph": "", "operations": "", "engine": ""}


def _shown_plan(entry: Place) -> dict[str, str]:
    """The fields of `CacheEntry` for a plan, or for the fastest plan of a tuning."""
    engine = entry["engine"]
    return {
        "graph": entry["graph"].text(),
        "operations": entry["operations"].text(),
        "engine": str(EngineChoice(engine["engine"].integer(), engine["knobs"].value)),
    }


def shown_entry(file: File, text: str | None) -> CacheEntry:
    """An entry as `PlanCache.entries` tells it."""
    try:
        entry = read_entry(text or "", None)
        kind, key = entry["kind"].text(), entry["key"]
        return CacheEntry(
            kind=kind,
            **_shown_plan(entry) if kind != "device" else _NO_PLAN,
            device=key["device"]["deviceName"].text(),
            cudnn=key["library"]["cudnn"].integer(),
            made=float(entry["made"].value),
            used=file.used,
            size=file.size,
            file_name=file.name,
        )
    except (ValueError, TypeError):
        return CacheEntry("damaged", "", "", "", 0, "", 0.0, file.used, file.size, file.name)
