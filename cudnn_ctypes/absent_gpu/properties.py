"""Properties of GPUs of which a real descriptor is at hand, as cuDNN writes them."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from .. import raw

__all__ = ["complete", "preset", "presets"]

# Keys that a newer cuDNN wants and an older one did not write: the version, and the value by the
# name of the GPU.
_LATER_KEYS: dict[str, tuple[int, dict[str, int]]] = {
    "memoryBusWidth": (92700, {"NVIDIA H200": 6144}),
}


def presets() -> tuple[str, ...]:
    """Names that `preset` takes."""
    files = (file.name for file in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in files if name.endswith(".json")))


def preset(name: str) -> dict[str, Any]:
    """The properties of one of the `presets`, as they were read from that GPU."""
    values: dict[str, Any] = json.loads(_folder().joinpath(f"{name}.json").read_text())
    return values


def complete(values: dict[str, Any]) -> dict[str, Any]:
    """Add to `values` what the loaded cuDNN wants and they lack; returns what was added.

    Raises
    ------
    ValueError
        If the value of such a key is not known for this GPU.
    """
    filled: dict[str, Any] = {}
    version = raw.load().version
    for key, (since, by_name) in _LATER_KEYS.items():
        if version < since or key in values:
            continue
        name = str(values.get("deviceName", ""))
        if name not in by_name:
            raise ValueError(
                f"cuDNN {raw.load().version_text} wants {key!r} of the GPU {name!r}: these "
                "properties were written by an older cuDNN, and its value is not known here; add it"
            )
        filled[key] = values[key] = by_name[name]
    return filled


def _folder() -> Any:
    return resources.files(__package__).joinpath("presets")
