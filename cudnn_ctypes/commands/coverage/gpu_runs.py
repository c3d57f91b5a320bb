"""The tests' calls on GPUs, recorded as data by ``pytest --record-gpu-coverage``."""

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
        The version: "9.19.0".
    succeeded : frozenset of str
        C functions with a successful call in a passed test.
    refused : dict of str to tuple of str
        Functions that were called without success, with their statuses.
    missing : frozenset of str
        Functions that this library lacks.
    """

    gpu: str
    driver: str
    cudnn: str
    succeeded: frozenset[str]
    refused: dict[str, tuple[str, ...]]
    missing: frozenset[str]


def gpu_runs(path: Path = RECORD) -> list[GpuRun]:
    """The recorded runs, oldest cuDNN first; empty without a record."""
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
