"""Random cases shared out among processes, each of which has children of its own."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["add_arguments", "in_processes", "seeds_of"]

_LAST_CASES = 25  # seconds beyond its time that a process may take for the case in hand


def add_arguments(parser: argparse.ArgumentParser, piece: str = "case") -> None:
    """Add those that say which cases are drawn, for how long and by how many processes."""
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--seconds", type=float, default=1e9, help=f"after which no {piece} begins")
    parser.add_argument("--processes", type=int, default=1)


def seeds_of(options: argparse.Namespace, number: int) -> range:
    """The seeds of the cases that are a process's part."""
    return range(options.seed + number, options.seed + options.cases, options.processes)


def in_processes(count: int, work: Callable[[int], object], seconds: float) -> None:
    """Call `work` in `count` forks, each with its number, and wait for all of them.

    The GPUs of this machine, or those of CUDA_VISIBLE_DEVICES, are shared out among them. A fork
    that is not done a little after `seconds` is ended with its children.
    """
    here = (path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*"))
    gpus = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(sorted(here))).split(",")

    def alone(number: int) -> None:
        os.setpgid(0, 0)
        os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # of its children
        if len(gpus) > 1:
            os.environ["CUDA_VISIBLE_DEVICES"] = gpus[number % len(gpus)]
        work(number)

    deadline = time.monotonic() + seconds + _LAST_CASES
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=alone, args=(number,)) for number in range(count)]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            while worker.exitcode is None and time.monotonic() < deadline:
                worker.join(1)
    finally:
        for worker in workers:
            if worker.pid and worker.exitcode is None:
                with suppress(ProcessLookupError):  # it has ended just now
                    os.killpg(worker.pid, signal.SIGKILL)
                worker.join()
