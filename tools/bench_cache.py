"""How soon a second process has a plan that the first one left in the plan cache, and by what.

    python -m tools.bench_cache [FOLDER] [--device H200] [--execute] [--rounds 5]

Without --device on the GPU of this machine. Each round is a process of its own, which has imported
the package and has a handle (or the properties of a GPU) before the clock starts. Of the parts,
"key" contains "GPU", what its properties take, and "compile" what cuDNN takes for it; "total" is
the time from asking for the plan to the end of the first execution. With --execute a plan for the
properties of a GPU, such as those of this machine that `doctor --save-device gpu.json` wrote, is
executed as well.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

__all__ = ["main"]

GRAPHS = ("convolution + bias + relu", "matmul + bias + gelu", "attention")


def _graph(name: str) -> Any:
    from cudnn_ctypes.graph import Graph

    graph = Graph(io_data_type="float16")
    if name == "attention":
        q, k, v = (graph.tensor((2, 4, 128, 64), name=each) for each in "qkv")
        graph.sdpa(q, k, v, use_causal_mask=True)[0].set_output(name="o")
        return graph
    if name == "matmul + bias + gelu":
        a, b = graph.tensor((4, 64, 128), name="a"), graph.tensor((4, 128, 256), name="b")
        bias = graph.tensor((1, 1, 256), name="bias")
        graph.gelu(graph.bias(graph.matmul(a, b), bias)).set_output(name="c")
        return graph

    def image(name: str, *dims: int) -> Any:
        _, c, h, w = dims
        return graph.tensor(dims, (c * h * w, 1, w * c, c), name=name)

    y = graph.conv_fprop(image("x", 4, 32, 14, 14), image("w", 64, 32, 3, 3), padding=1)
    graph.relu(graph.bias(y, image("b", 1, 64, 1, 1))).set_output(name="y")
    return graph


class _Clock:
    """Adds up what calls of a function take."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def watch(self, owner: Any, name: str, stack: ExitStack) -> None:
        function: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any, **options: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds += time.perf_counter() - start

        setattr(owner, name, timed)
        stack.callback(setattr, owner, name, function)


@contextmanager
def _device(name: str) -> Iterator[Any]:
    if name:
        from cudnn_ctypes import DeviceProperties

        with DeviceProperties(name) as properties:
            yield properties
    else:
        from cudnn_ctypes import Handle

        with Handle() as handle:
            yield handle


def _child(name: str, folder: str, device_name: str, executes: bool) -> None:
    """Build once through the cache, and print the milliseconds of each part as JSON."""
    from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor
    from cudnn_ctypes.graph.engines.cache import cached_building
    from cudnn_ctypes.graph.engines.cache import plan_cache as known_gpus
    from cudnn_ctypes.graph.engines.cache.plan_cache import PlanCache

    parts = {
        "GPU": (known_gpus, "device_properties"),
        "key": (cached_building, "important_properties"),
        "read": (PlanCache, "load"),
        "cuDNN": (BackendDescriptor, "finalize"),
        "compile": (cached_building, "build_plan"),
    }
    with _device(device_name) as device, ExitStack() as stack:
        graph, handle = _graph(name), device
        if device_name and executes:
            from cudnn_ctypes import Handle

            handle = stack.enter_context(Handle())
        clocks = {part: _Clock() for part in parts}
        for part, (owner, function) in parts.items():
            clocks[part].watch(owner, function, stack)
        start = time.perf_counter()
        graph.build(device, cache=folder)
        found = {"build": time.perf_counter() - start}
        found |= {part: clock.seconds for part, clock in clocks.items()}
        if executes:
            found |= _executions(graph, handle)
            found["total"] = found["build"] + found["execute"]
        graph.close()
    print(json.dumps({part: 1e3 * seconds for part, seconds in found.items()}))


def _executions(graph: Any, handle: Any) -> dict[str, float]:
    """The first execution, for which the driver may load the kernel, and the second."""
    from cudnn_ctypes import DeviceBuffer

    found = {}
    with ExitStack() as stack:
        memory = {
            tensor.name: stack.enter_context(DeviceBuffer(4 << 20))
            for tensor in (*graph.inputs, *graph.outputs)
            if not tensor.by_value
        }
        workspace = stack.enter_context(DeviceBuffer(max(graph.workspace_size, 1)))
        handle.synchronize()
        for part in ("execute", "again"):
            start = time.perf_counter()
            graph.execute(memory, workspace, handle=handle)
            handle.synchronize()
            found[part] = time.perf_counter() - start
    return found


def _round(*arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tools.bench_cache", "--child", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _line(what: str, times: dict[str, float]) -> str:
    parts = ", ".join(f"{part} {ms:.2f}" for part, ms in times.items() if part != "build")
    return f"  {what} in {times['build']:.2f} ms ({parts})"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--device", default="", help="a preset or file instead of the GPU")
    parser.add_argument("--execute", action="store_true", help="with --device: on the GPU here")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.child:
        _child(*chosen.child, chosen.execute)
        return
    options = ["--execute"] if chosen.execute or not chosen.device else []
    with ExitStack() as stack:
        folder = chosen.folder or stack.enter_context(tempfile.TemporaryDirectory())
        for name in GRAPHS:
            first = _round(name, folder, chosen.device, *options)
            later = [_round(name, folder, chosen.device, *options) for _ in range(chosen.rounds)]
            if any(times["compile"] for times in later):
                raise SystemExit(f"{name}: it is not taken from the cache")
            median = {part: statistics.median(each[part] for each in later) for part in first}
            print(f"{name}, median and slowest of {chosen.rounds} processes")
            print(_line("compiled", first))
            print(_line("loaded", median))
            print(_line("loaded", max(later, key=lambda times: times["build"])))


if __name__ == "__main__":
    main()
