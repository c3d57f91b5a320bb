"""Keys of the plan cache: all that a plan or a result of autotuning depends on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from .... import __version__, raw
from ....absent_gpu.properties import SOURCE
from ....raw.library import linux
from ....runtime import cuda
from ...backend.device_properties import DeviceProperties
from ...backend.devices import is_absent

if TYPE_CHECKING:
    from ....handle import Handle
    from ...backend.engine import EngineChoice
    from ...lower.expand.expansion import Expansion
    from ..selection import Selection
    from .plan_cache import PlanCache

# The small wheels for runtime fusion lack it, and build other plans than the full ones, so
# neither takes the other's.
_PRECOMPILED = "libcudnn_engines_precompiled.so.9"

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
                "precompiled_engines": (library.path.parent / _PRECOMPILED).exists(),
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
