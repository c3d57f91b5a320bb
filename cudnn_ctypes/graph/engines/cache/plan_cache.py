"""The plan cache: plans, results of autotuning and GPUs on disk, by all that they depend on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .... import __version__, raw
from ....absent_gpu.properties import SOURCE
from ....arguments import Place, integer
from ....errors import CudnnError, PlanCacheWarning, SymbolNotFoundError
from ....raw.host_blocks import warn
from ....raw.library import linux
from ....runtime import cuda
from ...backend.device_properties import DeviceProperties, is_absent
from ...backend.engine import EngineChoice
from ...run.plan import ExecutionPlan
from ...run.stored_plan import StoredPlan, sealed, unsealed
from .entry_folder import EntryFolder, File, as_folder, by_environment, standard_folder

if TYPE_CHECKING:
    from ....handle import Handle
    from ...lower.expand.expansion import Expansion
    from ..selection import Selection
    from ..tuning.measurements import Autotuning


# Set to 0 it forbids TF32 to all engines.
_VARIABLE = "NVIDIA_TF32_OVERRIDE"


@dataclass(frozen=True)
class Request:
    """A build's arguments besides graph and GPU; no modes where heuristics do not matter."""

    selection: Selection
    modes: Sequence[str] = ()
    config: EngineChoice | None = None
    sm_count: int | None = None
    override_shapes: bool = False

    @property
    def content(self) -> dict[str, Any]:
        """For JSON."""
        selection = {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in asdict(self.selection).items()
        }
        config = self.config and {"engine": self.config.engine, "knobs": dict(self.config.knobs)}
        return {
            "selection": selection,
            "heuristics": list(self.modes),
            "config": config,
            "sm_count": self.sm_count,
            "override_shapes": self.override_shapes,
        }


@dataclass(frozen=True)
class CacheKey:
    """The key of one entry of the cache.

    - `text`: JSON of all that the entry depends on (for a plan: graph, GPU, library and request);
      equal for equal content.
    """

    kind: str
    text: str

    @classmethod
    def of(cls, kind: str, content: Mapping[str, Any]) -> CacheKey:
        """The key with this content."""
        return cls(kind, json.dumps(content, sort_keys=True, separators=(",", ":")))

    @property
    def file_name(self) -> str:
        return f"{self.kind}-{hashlib.sha256(self.text.encode()).hexdigest()[:40]}.json"


class CacheKeys:
    """The keys of one graph for one GPU, by its `important_properties`."""

    def __init__(self, expansion: Expansion, gpu: Mapping[str, Any]) -> None:
        library = raw.load()
        self._content = {
            "graph": expansion.canonical(),
            "device": dict(gpu),
            "library": {
                "cudnn": library.version,
                "cuda": library.cuda_major,
                # Reduced builds make other plans than full ones, so neither takes the other's.
                "precompiled_engines": library.has_precompiled_engines,
                "cudnn_ctypes": __version__,
                _VARIABLE: os.environ.get(_VARIABLE, ""),
            },
        }

    def plan(self, request: Request) -> CacheKey:
        """The key of a plan."""
        return CacheKey.of("plan", {**self._content, "request": request.content})

    def tuning(self, request: Request) -> CacheKey:
        """The key of a result of autotuning, which no heuristics and no config are part of."""
        wanted = replace(request, modes=(), config=None)
        return CacheKey.of("tuning", {**self._content, "request": wanted.content})


# The properties by which cuDNN knows a GPU, read from it once: kept in the plan cache as well.
#
# The first reading in a process takes 16 ms on an H200, several times what loading a plan takes.

# Where a GPU is plugged in, and how much of its memory the driver leaves. Neither changes what
# heuristics propose (cuDNN 9.28, 726 graphs), nor the machine code of fused plans (three of them).
_UNIMPORTANT = ("pciDeviceId", "cudaDeviceId", "totalGlobalMem", SOURCE)


def important_properties(
    device: Handle | DeviceProperties, plans: PlanCache | None = None
) -> dict[str, Any]:
    """The properties of a GPU by which cuDNN chooses and compiles engines."""
    values = device_properties(device, plans)
    return {name: value for name, value in values.items() if name not in _UNIMPORTANT}


def device_properties(
    device: Handle | DeviceProperties, plans: PlanCache | None = None
) -> dict[str, Any]:
    """The properties of a GPU by cuDNN's names.

    Those of a GPU that is here are read once in a process, and not at all if `plans` has them from
    an earlier one.
    """
    if isinstance(device, DeviceProperties):
        return _values(device)
    if is_absent(device):  # the reference device: it can stand for another GPU the next time
        return _read(device)
    number = device.device.device_id
    if number not in _here:
        _here[number] = _read(device) if plans is None else _kept(device, plans)
    return _here[number]


_here: dict[int, dict[str, Any]] = {}
"""Properties of this machine's GPUs, by the number of the GPU."""


def _kept(handle: Handle, plans: PlanCache) -> dict[str, Any]:
    """Properties of the handle's GPU from the cache; read from the GPU and stored if absent."""
    key = _key(handle.device)
    entry = plans.load(key)
    if entry is not None and "properties" in entry:
        values = entry["properties"].value
        if isinstance(values, dict) and isinstance(values.get("deviceName"), str):
            return values
    values = _read(handle)
    plans.store(key, properties=values)
    return values


def _key(gpu: Any) -> CacheKey:
    """A GPU, its driver and a cuDNN, told without asking cuDNN.

    A part of a GPU (MIG, MPS) differs from others in its multiprocessors.
    """
    library = raw.load()
    shown = {
        "deviceName": gpu.name,
        "uuid": gpu.uuid,
        "multiprocessors": gpu.properties.multiprocessor_count,
    }
    driver = {"cuda": cuda.call("cuDriverGetVersion"), "kernel": linux.driver()}
    files = {"cudnn": library.version, "cuda": library.cuda_major, "path": str(library.path)}
    return CacheKey.of("device", {"device": shown, "driver": driver, "library": files})


def _read(handle: Handle) -> dict[str, Any]:
    with DeviceProperties.from_device(handle=handle) as here:
        return _values(here)


def _values(properties: DeviceProperties) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(properties.to_json())
    return values


FORMAT = "cudnn_ctypes cache entry"
VERSION = 1
KINDS = ("plan", "tuning", "device", "verdict", "crash")  # file names begin with them


@dataclass(frozen=True)
class CacheEntry:
    """One entry of a `PlanCache`, to look at.

    - `kind` ("plan", "tuning", "device", "verdict", "crash", "damaged"): "device": the properties
      of a GPU; without graph, operations and engine. "verdict": what `Graph.judge` and probation
      found of engines for graphs of one form; "crash": what ended the warden that asked about one.
      Damaged is also what another version of this package wrote.
    - `graph`: name of the graph that it was made for first. Others that compute the same share it.
    - `device`: name of the GPU.
    - `cudnn`: version: 92800.
    - `engine`: engine and knobs of the plan, or the fastest ones.
    - `made`, `used`: when it was written and used last, in seconds since 1970.
    - `size`: bytes on disk.
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


def _read_entry(text: str, key: str | None) -> Place:
    """The members of an entry.

    Raises ValueError if it is damaged, or of another key.
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


def _shown_entry(file: File, text: str | None) -> CacheEntry:
    """An entry as `PlanCache.entries` tells it."""
    try:
        entry = _read_entry(text or "", None)
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


_TUNINGS = "cudnn_ctypes tunings"
_MEMBERS = ("key", "graph", "operations", "made", "tuning")
_LIMIT = 256 << 20  # a fused plan takes 60 to 190 KB, others 2 KB


class PlanCache:
    """Plans, results of autotuning, and what GPUs are, in a folder that processes share.

    ``Graph.build(device, cache=...)`` and ``Graph.autotune(handle, cache=...)`` use it. An entry
    belongs to what it depends on: the graph without its names, the properties of the GPU, the
    versions of cuDNN and of this package, the selection and the other arguments of `build`.
    Entries carry a checksum; what is damaged is built and written anew.

    Parameters
    ----------
    folder : str or os.PathLike, optional
        By default that of the environment variable ``CUDNN_CTYPES_CACHE``, else one among the
        user's caches. It is made when the first entry is written. Plans hold machine code, so it
        must belong to the user, or root, and others must not be able to write to it.
    limit : int
        Bytes of all entries at most; those that were not used for the longest time go first.

    Raises
    ------
    ValueError
        If the folder is one to which others can write; on first use.

    Examples
    --------
    >>> cache = PlanCache("/scratch/me/plans", limit=1 << 30)
    >>> graph.build(handle, cache=cache)  # doctest: +SKIP
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None = None, *, limit: int = _LIMIT
    ) -> None:
        limit = integer("limit", limit, least=0, expected="a number of bytes")
        self.folder: Path = standard_folder() if folder is None else as_folder(folder)
        self._files = EntryFolder(self.folder, limit, tuple(f"{kind}-" for kind in KINDS))

    @property
    def limit(self) -> int:
        """Bytes of all entries at most."""
        return self._files.limit

    def entries(self) -> list[CacheEntry]:
        """All entries, the one used last first.

        Raises
        ------
        ValueError, OSError
            If the folder is not safe, or cannot be read.
        """
        return [
            _shown_entry(file, self._files.read(file.name, use=False))
            for file in self._files.files()
        ]

    def clear(self) -> int:
        """Remove all entries, and return their number."""
        return self._files.clear()

    def load_plan(
        self, key: CacheKey, device: Handle | DeviceProperties, *, avoided: Collection[int] = ()
    ) -> ExecutionPlan | None:
        """The plan of a key; None if there is none, it is damaged, or of an engine to avoid.

        Parameters
        ----------
        key : CacheKey
            Of the graph, the GPU, the version of cuDNN and the conditions.
        device : Handle or DeviceProperties
            The GPU that the plan is loaded for.
        avoided : collection of int
            Engines, by their numbers.
        """
        entry = self.load(key)
        if entry is None:
            return None
        try:
            if entry["engine"]["engine"].integer() in avoided:
                return None
            return ExecutionPlan.from_stored(StoredPlan(entry["plan"].text()), device=device)
        except ValueError:
            return None

    def store_plan(self, key: CacheKey, plan: ExecutionPlan, **shown: str) -> None:
        """Keep a plan; nothing happens if cuDNN has no text for it, as before its version 9.0.

        Parameters
        ----------
        key : CacheKey
            By which `load_plan` finds it.
        plan : ExecutionPlan
            It stays open.
        **shown : str
            What ``python -m cudnn_ctypes cache`` shows of it: the graph's name and operations.
        """
        try:
            choice, text = plan.config.choice, unsealed(plan.to_json(), "execution plan")
        except (CudnnError, SymbolNotFoundError):
            return
        engine = {"engine": choice.engine, "knobs": dict(choice.knobs)}
        self.store(key, **shown, engine=engine, plan=text)

    def load_tuning(self, key: CacheKey) -> Autotuning | None:
        """The result of autotuning of a key; None if there is none, or it is damaged."""
        entry = self.load(key)
        if entry is None:
            return None
        from ..tuning.measurements import from_content

        try:
            return from_content(entry["tuning"])
        except ValueError:
            return None

    def store_tuning(self, key: CacheKey, tuned: Autotuning, **members: Any) -> None:
        """Keep a result of autotuning in place of the one before.

        Parameters
        ----------
        key : CacheKey
            By which `load_tuning` finds it.
        tuned : Autotuning
            What ``Graph.autotune`` returned.
        **members
            What ``python -m cudnn_ctypes cache`` shows of it.
        """
        best = {"engine": tuned.best.engine, "knobs": dict(tuned.best.knobs)}
        from ..tuning.measurements import content

        self.store(key, **members, engine=best, tuning=content(tuned))

    def export_tunings(self) -> str:
        """All results of autotuning as JSON text, for `merge_tunings` on another machine.

        They name engines and knobs, and hold no machine code.

        Raises
        ------
        ValueError, OSError
            If the folder is not safe, or cannot be read.
        """
        entries = sorted(self.every("tuning"), key=lambda entry: json.dumps(entry["key"].value))
        tunings = [{name: entry[name].value for name in _MEMBERS} for entry in entries]
        return json.dumps({"format": _TUNINGS, "version": VERSION, "tunings": tunings}, indent=1)

    def merge_tunings(self, text: str | bytes) -> int:
        """Take over the results that `export_tunings` gave; how many they were.

        Where both have results for the same key, they become one as by ``Autotuning.merge``; of two
        that cannot be compared, one with a warm and one with a cold cache, the newer stays.

        Raises
        ------
        ValueError
            If the text is damaged; the message names the place. Nothing is taken over then.
        """
        top = Place.of_text(text, "tunings")
        if (top["format"].value, top["version"].value) != (_TUNINGS, VERSION):
            top.refuse(f"expected {_TUNINGS!r}, version {VERSION}")
        # All are read before the first is written.
        found = [_members(each) for each in top["tunings"].items()]
        for key, tuned, members in found:
            here = self.load(key)
            if here is not None:
                tuned, members["made"] = _joined(here, tuned, members["made"])
            self.store_tuning(key, tuned, **members)
        return len(found)

    def load(self, key: CacheKey) -> Place | None:
        """The members of the entry of a key; None if there is none, or it is damaged."""
        with self._without_failing():
            text = self._files.read(key.file_name)
            if text is not None:
                try:
                    return _read_entry(text, key.text)
                except ValueError:
                    pass
        return None

    def every(self, kind: str) -> Iterator[Place]:
        """The entries of a kind that are not damaged, the one used last first."""
        for file in self._files.files():
            if file.name.startswith(f"{kind}-"):
                with contextlib.suppress(ValueError):
                    yield _read_entry(self._files.read(file.name, use=False) or "", None)

    def store(self, key: CacheKey, **members: Any) -> None:
        """Write `members` as the entry of a key, in place of the one before."""
        head = {"format": FORMAT, "version": VERSION, "kind": key.kind, "key": json.loads(key.text)}
        text = json.dumps({**head, "made": time.time(), **members}, separators=(",", ":"))
        with self._without_failing():
            self._files.write(key.file_name, sealed(text))

    @contextlib.contextmanager
    def _without_failing(self) -> Iterator[None]:
        """A disk that is full, or a folder that can only be read, stops no build."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or error
            warn(f"the plan cache in {self.folder} cannot be used: {reason}", PlanCacheWarning)

    def __repr__(self) -> str:
        return f"PlanCache({str(self.folder)!r})"


def as_cache(cache: Any) -> PlanCache | None:
    """The cache that an argument `cache` names; None for none.

    Raises TypeError if it is neither a bool, a folder nor a PlanCache. Raises ValueError if the
    environment variable has a value that is not known.
    """
    if cache is None:
        cache = by_environment() or False
    if isinstance(cache, PlanCache):
        return cache
    if isinstance(cache, bool):
        return PlanCache() if cache else None
    return PlanCache(cache)


def _members(place: Place) -> tuple[CacheKey, Autotuning, dict[str, Any]]:
    from ..tuning.measurements import from_content

    key, made = place["key"], place["made"]
    for part in ("graph", "device", "library", "request"):
        key[part].keys()
    if isinstance(made.value, bool) or not isinstance(made.value, (int, float)):
        made.refuse(f"expected seconds since 1970, got {made.value!r}")
    members: dict[str, Any] = {name: place[name].text() for name in ("graph", "operations")}
    tuned = from_content(place["tuning"])
    return CacheKey.of("tuning", key.value), tuned, {**members, "made": made.value}


def _joined(here: Place, tuned: Autotuning, made: float) -> tuple[Autotuning, float]:
    """Merge a stored tuning with an incoming one; also the time when the newer was made."""
    from ..tuning.measurements import from_content

    try:
        ours, ours_made = from_content(here["tuning"]), float(here["made"].value)
    except (ValueError, TypeError):
        return tuned, made
    (_, older), (newest, newer) = sorted(
        [(ours_made, ours), (made, tuned)], key=lambda each: each[0]
    )
    if older.settings.cold_cache != newer.settings.cold_cache:
        return newer, newest
    return older.merge(newer), newest
