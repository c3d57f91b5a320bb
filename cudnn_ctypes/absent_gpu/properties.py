"""Properties of GPUs that need not be there: measured, or from public data."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any, NamedTuple

from .. import raw

__all__ = ["complete", "is_measured", "preset", "presets"]

_MEASURED = {"h200": "h200.json"}  # read by cuDNN 9.19 from the GPU


class _Capability(NamedTuple):
    """What all GPUs of one compute capability share, from the CUDA programming guide."""

    shared_memory: int  # KiB, at most, of one block
    threads: int  # of one multiprocessor, at most
    blocks: int  # of one multiprocessor, at most


_CAPABILITIES = {
    (7, 5): _Capability(64, 1024, 16),
    (8, 0): _Capability(163, 2048, 32),
    (8, 9): _Capability(99, 1536, 24),
    (9, 0): _Capability(227, 2048, 32),
    (10, 0): _Capability(227, 2048, 32),
    (12, 0): _Capability(99, 1536, 24),
}


class _Gpu(NamedTuple):
    """A product, from its data sheet."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory: int  # GiB
    bus: int  # bits
    clock: int  # MHz, of the multiprocessors, at most
    memory_clock: int  # MHz; two transfers each
    l2: int  # MiB


_PUBLIC = {
    "a100": _Gpu("NVIDIA A100-SXM4-80GB", (8, 0), 108, 80, 5120, 1410, 1593, 40),
    "b200": _Gpu("NVIDIA B200", (10, 0), 148, 180, 8192, 1965, 3906, 126),
    "gb200": _Gpu("NVIDIA GB200", (10, 0), 152, 186, 8192, 2062, 3906, 126),
    "h100": _Gpu("NVIDIA H100 80GB HBM3", (9, 0), 132, 80, 5120, 1980, 2619, 50),
    "l4": _Gpu("NVIDIA L4", (8, 9), 58, 24, 192, 2040, 6251, 48),
    "l40s": _Gpu("NVIDIA L40S", (8, 9), 142, 48, 384, 2520, 9001, 96),
    "rtx4090": _Gpu("NVIDIA GeForce RTX 4090", (8, 9), 128, 24, 384, 2520, 10501, 72),
    "rtx5090": _Gpu("NVIDIA GeForce RTX 5090", (12, 0), 170, 32, 512, 2407, 14001, 96),
    "t4": _Gpu("Tesla T4", (7, 5), 40, 15, 256, 1590, 5001, 4),
}

# Keys that a newer cuDNN wants and an older one did not write: the version, and the value by the
# name of the GPU.
_LATER_KEYS: dict[str, tuple[int, dict[str, int]]] = {
    "memoryBusWidth": (
        92700,
        {"NVIDIA H200": 6144, **{gpu.name: gpu.bus for gpu in _PUBLIC.values()}},
    ),
}


def presets() -> tuple[str, ...]:
    """Names that `preset` takes."""
    return tuple(sorted((*_MEASURED, *_PUBLIC)))


def is_measured(name: str) -> bool:
    """Whether the properties of one of the `presets` were read from that GPU."""
    return name in _MEASURED


def preset(name: str) -> dict[str, Any]:
    """The properties of one of the `presets`: read from that GPU, or put together from its data."""
    if name in _MEASURED:
        text = resources.files(__package__).joinpath("presets", _MEASURED[name]).read_text()
        values: dict[str, Any] = json.loads(text)
        return values
    gpu = _PUBLIC[name]
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
    }


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
