"""What tests have run on GPUs: recorded by ``pytest --record-gpu-coverage``, kept as data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

__all__ = ["RECORD", "GpuRun", "gpu_runs"]

RECORD = Path(__file__).with_name("gpu_runs.json")


@dataclass(frozen=True)
class GpuRun:
    """The tests' calls on one GPU with one cuDNN.

    Attributes
    ----------
    gpu, driver : str
    cudnn : str
        "9.19.0".
    succeeded : frozenset of str
        C functions that were called and succeeded, in tests that passed.
    refused : dict of str to tuple of str
        Functions that were called and never succeeded: the statuses that they gave.
    missing : frozenset of str
        Functions that this library does not have.
    """

    gpu: str
    driver: str
    cudnn: str
    succeeded: frozenset[str]
    refused: dict[str, tuple[str, ...]]
    missing: frozenset[str]


def gpu_runs(path: Path = RECORD) -> list[GpuRun]:
    """The recorded runs, oldest cuDNN first; empty if nothing was recorded."""
    if not path.exists():
        return []
    runs = [
        GpuRun(
            gpu=run["gpu"],
            driver=run["driver"],
            cudnn=run["cudnn"],
            succeeded=frozenset(run["succeeded"]),
            refused={name: tuple(statuses) for name, statuses in run["refused"].items()},
            missing=frozenset(run["missing"]),
        )
        for run in json.loads(path.read_text())["runs"]
    ]
    return sorted(runs, key=lambda run: tuple(map(int, run.cudnn.split("."))))
