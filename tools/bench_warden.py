"""What asking the warden costs beside asking cuDNN in the process.

    python -m tools.bench_warden [--device H200] [--rounds 5]

Without --device on the GPU of this machine. Each round is two processes, one that asks the warden
and one that asks here. Both have imported the package and have a handle (or the properties of a
GPU) before the clock starts. "first" contains what the warden takes to start and to load cuDNN;
"later" is the median of five graphs of other sizes. "GPU" is how many files of the driver are open
in the warden in the end: without one it has no context. "child" is a helper process that imports no
more than its own module.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

__all__ = ["main"]

_LATER = 5


def _attention(number: int) -> Any:
    from cudnn_ctypes import Graph

    graph = Graph(io_data_type="float16")
    q, k, v = (graph.tensor((2, 4, 64 * number, 64), name=each) for each in "qkv")
    graph.sdpa(q, k, v, use_causal_mask=True)[0].set_output(name="o")
    return graph


def _product(number: int) -> Any:
    from cudnn_ctypes import Graph

    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((4, 64 * number, 128), name="a"), graph.tensor((4, 128, 256), name="b")
    graph.relu(graph.matmul(a, b)).set_output(name="c")
    return graph


_GRAPHS: dict[str, Callable[[int], Any]] = {"matmul + relu": _product, "attention": _attention}


def _question(what: str, graph: Any, device: Any, asks: bool) -> None:
    if what == "build":
        graph.build(device, warden=asks, cache=False)
    else:
        graph.explain(device, warden=asks)
    graph.close()


def _in_process(graph: str, what: str, device_name: str, asks: bool) -> None:
    """Print the seconds of questions of one kind, in one process, as JSON."""
    from cudnn_ctypes import DeviceProperties, Handle

    with ExitStack() as stack:
        make = _GRAPHS[graph]
        device: Any = DeviceProperties(device_name) if device_name else Handle()
        stack.enter_context(device)
        seconds = []
        for number in range(1, 2 + _LATER):
            start = time.perf_counter()
            _question(what, make(number), device, asks)
            seconds.append(time.perf_counter() - start)
        found = {"first": seconds[0], "later": statistics.median(seconds[1:])}
        if asks:
            from cudnn_ctypes.graph.backend import warden
            from tools.bench_warden import _driver_files as files  # not of __main__

            found["GPU"] = len(warden.ask(files))
    print(json.dumps(found))


def _driver_files() -> list[str]:
    """In the warden: its open files of the NVIDIA driver."""
    paths = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.exists()]
    return [path for path in paths if path.startswith("/dev/nvidia")]


def _nothing(note: Any) -> Callable[[Any], None]:
    return _answer


def _answer(case: Any) -> None:
    return None


def _start() -> float:
    """Seconds until a helper process without cuDNN answers."""
    from cudnn_ctypes.graph.backend.children import Child
    from tools.bench_warden import _nothing as prepare  # not of __main__, which a child has not

    start = time.perf_counter()
    child = Child(prepare, fresh=True)
    child.perform(None)
    seconds = time.perf_counter() - start
    child.end()
    return seconds


def _run(*arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tools.bench_warden", "--child", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Carry out the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="", help="a preset, for a machine without a GPU")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        graph, what, asks = options.child
        return _in_process(graph, what, options.device, asks == "warden")
    print(f"child {statistics.median(_start() for _ in range(options.rounds)):.3f} s")
    titles = ("first", "warden", "later", "warden", "GPU")
    print(f"{'seconds':24}", *(f"{title:>8}" for title in titles))
    device = ["--device", options.device] if options.device else []
    for graph in _GRAPHS:
        for what in ("build", "explain"):
            here, warden = [], []
            for _ in range(options.rounds):
                here.append(_run(graph, what, "here", *device))
                warden.append(_run(graph, what, "warden", *device))
            line = f"{graph + ', ' + what:24}"
            for part, digits in (("first", 3), ("later", 4)):
                for rounds in (here, warden):
                    line += f" {statistics.median(each[part] for each in rounds):8.{digits}f}"
            line += f" {max(each['GPU'] for each in warden):8.0f}"
            print(line)
    return None


if __name__ == "__main__":
    main()
