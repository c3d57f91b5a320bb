"""Ask the warden about random graphs: what ends cuDNN is an exception here, and ends nothing else.

``python -m tools.fuzz warded --cases 10000`` explains graphs of the families of `random_graphs` by
turns, for several GPUs, and builds every tenth. No GPU is needed. What ended a helper process is
printed. An exception that is neither ours nor a TypeError or ValueError makes the command fail.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Sequence

from cudnn_ctypes import CrashError, CudnnError, DeviceProperties, SymbolNotFoundError, use_warden

from .graph_cases import GPUS
from .random_graphs import FAMILIES, describe, draw

__all__ = ["main"]


def _ask(family: str, seed: int, device: DeviceProperties, *, builds: bool) -> str:
    """What became of a graph, in a word."""
    try:
        with describe(draw(family, seed)) as graph:
            if builds:
                graph.build(device, cache=False, program=False)
                return "built"
            return "refused" if graph.explain(device, progress=False).refusal else "explained"
    except CrashError as error:
        print(f"{family} {seed}: {error.signal} while {error.step}", flush=True)
        return "crash"
    except (CudnnError, SymbolNotFoundError, ValueError, TypeError):
        return "refused"
    except Exception as error:
        print(f"{family} {seed}: not ours: {error!r}", flush=True)
        return "not ours"


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz warded", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so many")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    families, found, begun = sorted(FAMILIES), Counter[str](), time.monotonic()
    with tempfile.TemporaryDirectory() as folder, use_warden(seconds=60):
        os.environ["XDG_CACHE_HOME"] = folder  # without what earlier runs kept
        devices = {gpu: DeviceProperties.preset(gpu) for gpu in GPUS}
        for place in range(options.cases):
            if time.monotonic() - begun > options.seconds:
                break
            turn, of_family = divmod(place, len(families))
            gpu = GPUS[turn % len(GPUS)]
            seed = options.first + place
            found[_ask(families[of_family], seed, devices[gpu], builds=turn % 10 == 9)] += 1
            if place % 500 == 499:
                print(place + 1, dict(found), flush=True)
    print(f"{sum(found.values())} graphs in {time.monotonic() - begun:.0f} s: {dict(found)}")
    return int(found["not ours"] > 0)
