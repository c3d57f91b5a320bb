"""``devices``: GPUs whose names can be given instead of one."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..absent_gpu.properties import presets
from ..graph.backend.device_properties import DeviceProperties, as_properties
from ..raw.describe import aligned
from .options import Names, add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes devices``."""
    parser.add_argument(
        "devices",
        nargs="*",
        metavar="DEVICE",
        type=Names(*presets()),
        help="names of presets, or files that `doctor --save-device` wrote (default: all presets)",
    )
    add_json(parser)


def main(arguments: argparse.Namespace) -> int:
    """Print the table; 2 if a GPU is unknown."""
    devices = {name: as_properties(name) for name in arguments.devices or presets()}
    rows = [_row(*each) for each in devices.items()]
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return 0
    header = {"name": "device", "gpu": "GPU", "compute_capability": "capability"}
    header["source"] = "known from"
    print(aligned([row[key] for key in header] for row in (header, *rows)))
    return 0


def _row(name: str, device: DeviceProperties) -> dict[str, Any]:
    """A GPU's row as data for JSON."""
    return {
        "name": name,
        "gpu": device.name,
        "compute_capability": ".".join(map(str, device.compute_capability)),
        "multiprocessors": device["multiProcessorCount"],
        "memory": device["totalGlobalMem"],
        "source": device.source,
        "native": device.is_native,
    }
