"""Random cases shared out among processes, each of which has children of its own."""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable

__all__ = ["add_arguments", "in_processes", "seeds_of"]


def add_arguments(parser: argparse.ArgumentParser, piece: str = "case") -> None:
    """Add those that say which cases are drawn, for how long and by how many processes."""
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--seconds", type=float, default=1e9, help=f"after which no {piece} begins")
    parser.add_argument("--processes", type=int, default=1)


def seeds_of(options: argparse.Namespace, number: int) -> range:
    """The seeds of the cases that are a process's part."""
    return range(options.seed + number, options.seed + options.cases, options.processes)


def in_processes(count: int, work: Callable[[int], object]) -> None:
    """Call `work` in `count` forks, each with its number, and wait for all of them."""
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=work, args=(number,)) for number in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
