"""Keys of the plan cache: all that a plan or a result of autotuning depends on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from .... import __version__, raw

if TYPE_CHECKING:
    from ...backend.engine import EngineChoice
    from ...lower.expand.expansion import Expansion
    from ..selection import Selection

__all__ = ["CacheKey", "CacheKeys", "Request"]

# The small wheels for runtime fusion lack it, and build other plans than the full ones, so
# neither takes the other's.
_PRECOMPILED = "libcudnn_engines_precompiled.so.9"

# Set to 0 it forbids TF32 to all engines.
_VARIABLE = "NVIDIA_TF32_OVERRIDE"


@dataclass(frozen=True)
class Request:
    """A build's arguments besides graph and GPU.

    Attributes
    ----------
    selection : Selection
        Conditions on engines, with the limit of the workspace.
    modes : sequence of str
        Heuristics; empty where they do not matter.
    config : EngineChoice, optional
        The one engine that the user chose.
    sm_count : int, optional
    override_shapes : bool
    """

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

    Attributes
    ----------
    kind : {"plan", "tuning", "device", "verdict", "crash"}
    text : str
        JSON of all that the entry depends on (for a plan: graph, GPU, library and request); equal
        for equal content.
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
    """The keys of one graph for one GPU.

    Parameters
    ----------
    expansion : Expansion
    gpu : mapping
        Its `important_properties`.

    Raises
    ------
    TypeError
        If an option of the graph has no notation in JSON.
    """

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
