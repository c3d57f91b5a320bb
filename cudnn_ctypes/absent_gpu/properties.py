"""Properties of GPUs, measured or from public data; the GPU need not be present."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from .. import raw
from ..arguments import suggestion
from ..raw import mode
from ..raw.values import described

SOURCE = "source"
"""The key for the origin of the properties; cuDNN ignores it."""

SOURCES = ("measured", "public data", "given")

_REFERENCE = "h200"  # the default GPU that the reference device stands for

_MEASURED = {"h200": "h200.json"}  # read by cuDNN 9.19 from the GPU


class _Capability(NamedTuple):
    """Limits shared by all GPUs of a compute capability, from the CUDA programming guide."""

    shared_memory: int  # largest KiB per block
    threads: int  # largest number per multiprocessor
    blocks: int  # largest number per multiprocessor


_CAPABILITIES = {
    (7, 5): _Capability(64, 1024, 16),
    (8, 0): _Capability(163, 2048, 32),
    (8, 9): _Capability(99, 1536, 24),
    (9, 0): _Capability(227, 2048, 32),
    (10, 0): _Capability(227, 2048, 32),
    (10, 3): _Capability(227, 2048, 32),
    (11, 0): _Capability(227, 1536, 24),
    (12, 0): _Capability(99, 1536, 24),
    (12, 1): _Capability(99, 1536, 24),
}


class _Gpu(NamedTuple):
    """The properties of a product, from its data sheet."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory: int  # GiB
    bus: int  # bits
    clock: int  # MHz, the multiprocessors' largest
    memory_clock: int  # MHz; two transfers each
    l2: int  # MiB


_PUBLIC = {
    "a100": _Gpu("NVIDIA A100-SXM4-80GB", (8, 0), 108, 80, 5120, 1410, 1593, 40),
    "b200": _Gpu("NVIDIA B200", (10, 0), 148, 180, 8192, 1965, 3906, 126),
    "b300": _Gpu("NVIDIA B300 SXM6 AC", (10, 3), 148, 268, 8192, 2032, 3996, 126),
    "gb200": _Gpu("NVIDIA GB200", (10, 0), 152, 186, 8192, 2062, 3906, 126),
    "h100": _Gpu("NVIDIA H100 80GB HBM3", (9, 0), 132, 80, 5120, 1980, 2619, 50),
    "l4": _Gpu("NVIDIA L4", (8, 9), 58, 24, 192, 2040, 6251, 48),
    "l40s": _Gpu("NVIDIA L40S", (8, 9), 142, 48, 384, 2520, 9001, 96),
    "rtx4090": _Gpu("NVIDIA GeForce RTX 4090", (8, 9), 128, 24, 384, 2520, 10501, 72),
    "rtx5090": _Gpu("NVIDIA GeForce RTX 5090", (12, 0), 170, 32, 512, 2407, 14001, 96),
    "spark": _Gpu("NVIDIA GB10", (12, 1), 48, 119, 256, 2418, 4266, 24),
    "t4": _Gpu("Tesla T4", (7, 5), 40, 15, 256, 1590, 5001, 4),
    "thor": _Gpu("NVIDIA Thor", (11, 0), 20, 122, 256, 1575, 4266, 32),
}

# Keys that newer versions of cuDNN require and older ones did not write: the first version that
# requires the key, and the value by the GPU's name.
_LATER_KEYS: dict[str, tuple[int, dict[str, int]]] = {
    "memoryBusWidth": (
        92700,
        {"NVIDIA H200": 6144, **{gpu.name: gpu.bus for gpu in _PUBLIC.values()}},
    ),
}


def presets() -> tuple[str, ...]:
    """The names of the GPUs that `preset` knows."""
    return tuple(sorted((*_MEASURED, *_PUBLIC)))


def preset(name: str) -> dict[str, Any]:
    """The properties of a GPU by its name: read from such a GPU, or from its data sheet.

    Case, spaces, hyphens and the vendor's words are ignored: "RTX 4090", "rtx-4090" and "NVIDIA
    GeForce RTX 4090" are the same name.

    Raises ValueError if no preset has this name.
    """
    if not isinstance(name, str):
        raise TypeError(f"preset: expected the name of a GPU, got {described(name)}")
    key = _names().get(_plain(name))
    if key is None:
        raise ValueError(
            f"no preset for {name!r}{suggestion(_plain(name), presets())}; there are "
            f"{', '.join(presets())}. On a machine with that GPU, "
            "`python -m cudnn_ctypes doctor --save-device gpu.json` writes a file to be given "
            "instead of a name"
        )
    return _of(key)


def _plain(name: str) -> str:
    """A GPU's name in a normal form: lower case, without spaces and the vendor's words."""
    text = re.sub(r"[\s_-]+", "", name.lower())
    return re.sub(r"^(nvidia)?(geforce|tesla)?", "", text)


@functools.cache
def _names() -> dict[str, str]:
    """Presets by their own names and cuDNN's names of the GPUs, in the form of `_plain`."""
    devices = {_plain(_of(key)["deviceName"]): key for key in presets()}
    return devices | {key: key for key in presets()}


def _of(key: str) -> dict[str, Any]:
    if key in _MEASURED:
        text = (Path(__file__).parent / "presets" / _MEASURED[key]).read_text("utf-8")
        values: dict[str, Any] = json.loads(text)
        return values
    gpu = _PUBLIC[key]
    capability = _CAPABILITIES[gpu.capability]
    major, minor = gpu.capability
    return {
        "maxGridSize": [2147483647, 65535, 65535],
        "maxBlockSize": [1024, 1024, 64],
        "regsPerBlock": 65536,
        "multiProcessorCount": gpu.multiprocessors,
        "warpSize": 32,
        "maxSharedMemoryPerBlock": 48 << 10,
        "maxSharedMemoryPerBlockOptin": capability.shared_memory << 10,
        "reservedSharedMemoryPerBlock": 0 if major < 8 else 1024,
        "maxRegistersPerSM": 65536,
        "maxCtasPerSM": capability.blocks,
        "maxThreadsPerBlock": 1024,
        "maxThreadsPerSM": capability.threads,
        "pciDeviceId": 0,
        "isTccDriver": 0,
        "supportCoopLaunch": 1,
        "totalGlobalMem": gpu.memory << 30,
        "smClockRateKHz": 1000 * gpu.clock,
        "memClockRateKHz": 1000 * gpu.memory_clock,
        "l2CacheSize": gpu.l2 << 20,
        "cudaDeviceId": 0,
        "deviceVer": 100 * major + 10 * minor,
        "driverVer": 13000,
        "deviceName": gpu.name,
        SOURCE: "public data",
    }


def gpu_values(properties: Any) -> dict[str, Any]:
    """The properties of a GPU under cuDNN's names; `complete` adds missing ones.

    - `properties`: the name of one of the `presets`; a file that ``DeviceProperties.to_json`` or
      ``doctor --save-device`` wrote, as a string if it ends in ".json"; the file's text or parsed
      JSON.

    Raises ValueError if there is no such preset or file, the text has no device properties, or one
    is negative.
    """
    if hasattr(properties, "to_json") and not isinstance(properties, type):
        properties = properties.to_json()
    if isinstance(properties, Mapping):
        return _checked(dict(properties), "")
    is_text = isinstance(properties, str) and properties.lstrip()[:1] in ("{", "[")
    if is_text or isinstance(properties, bytes):
        return _checked(_parsed(properties, "the device properties"), "")
    if isinstance(properties, PathLike) or str(properties).endswith(".json"):
        try:
            with Path(properties).open("rb") as file:
                data = file.read(1 << 20)  # all of it, or the beginning of something else
        except OSError as error:
            raise ValueError(f"{properties}: it cannot be read: {error.strerror}") from None
        return _checked(_parsed(data, str(properties)), f"{properties}: ")
    if isinstance(properties, str):
        return preset(properties)
    raise TypeError(
        f"properties: expected the name of a GPU, a file, JSON text or a mapping, got "
        f"{described(properties)}"
    )


def _parsed(text: str | bytes, source: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{source}: this is no JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{source}: expected a JSON object, got a {type(values).__name__}")
    return values


def _checked(values: dict[str, Any], place: str) -> dict[str, Any]:
    if "deviceName" not in values:
        raise ValueError(
            f"{place}these are no device properties that cuDNN wrote: they have no 'deviceName'"
        )
    known = values.get(SOURCE, "given")
    if known not in SOURCES:
        raise ValueError(f"{place}{SOURCE}: expected one of {', '.join(SOURCES)}, got {known!r}")
    for key, value in values.items():
        numbers = value if isinstance(value, list) else [value]
        if any(isinstance(each, int) and each < 0 for each in numbers):
            raise ValueError(f"{place}{key}: expected a size or count from 0, got {value}")
    return values


def reference_gpu() -> Mapping[str, Any]:
    """The properties of the GPU that the reference device now stands for."""
    return preset(_REFERENCE) if mode.reference_gpu is None else mode.reference_gpu


def compute_capability(values: Mapping[str, Any]) -> tuple[int, int]:
    """The compute capability, (major, minor): (9, 0) for an H200."""
    version = int(values.get("deviceVer", 0))
    return version // 100, version % 100 // 10


def later_value(key: str, name: str) -> Any:
    """The value of a key that only newer versions of cuDNN report; None for unknown GPUs."""
    return _LATER_KEYS[key][1].get(name)


def memory_bandwidth(values: Mapping[str, Any]) -> float:
    """Bytes a second that the memory of a GPU moves at most; that of an H200 if it is not known."""
    name, gpu = str(values.get("deviceName", "")), preset(_REFERENCE)
    bits = values.get("memoryBusWidth") or later_value("memoryBusWidth", name)
    clock = values.get("memClockRateKHz")
    if not (bits and clock):
        bits, clock = later_value("memoryBusWidth", gpu["deviceName"]), gpu["memClockRateKHz"]
    return float(2 * 1000 * clock * bits / 8)


def complete(values: dict[str, Any]) -> dict[str, Any]:
    """Add the keys to `values` that the loaded cuDNN requires; return the added ones.

    Raises ValueError if the value of a required key is unknown for this GPU.
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
