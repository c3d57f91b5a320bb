"""What executing a built graph costs the host, by NVIDIA's front end and by ours.

``python -m tools.bench_frontend``, on a machine with a GPU and PyTorch, where nvidia-cudnn-frontend
is installed; without that only ours is measured. Each side launches the same graph on the same
memory, the sides taking turns. Launches are queued and waited for between measurements; the GPU
must keep up, so the last row gives its time per launch by CUDA events, which has to be smaller.

``bound plan`` is layer 3's: fixed addresses, one C call.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import itertools
import statistics
import sys
import timeit
from collections.abc import Callable
from typing import Any

import cudnn_ctypes.frontend as ours
from cudnn_ctypes.device import Event, elapsed_ms

THEIRS, OURS = "NVIDIA's front end", "cudnn_ctypes.frontend"


class Side:
    """One graph of one module: a small convolution with bias and ReLU, or a matrix product."""

    def __init__(self, module: Any, torch: Any, problem: str, memory: dict[str, Any]) -> None:
        self.graph = module.pygraph(
            io_data_type=module.data_type.HALF,
            intermediate_data_type=module.data_type.FLOAT,
            compute_data_type=module.data_type.FLOAT,
            handle=module.create_handle(),
        )
        operands = {name: self.graph.tensor_like(memory[name]) for name in ("x", "w", "b")}
        if problem == "convolution":
            y = self.graph.conv_fprop(
                operands["x"], operands["w"], padding=[1, 1], stride=[1, 1], dilation=[1, 1]
            )
        else:
            y = self.graph.matmul(operands["x"], operands["w"])
        y = self.graph.relu(self.graph.bias(y, operands["b"]))
        y.set_output(True)
        self.graph.build([module.heur_mode.A])
        self.memory = {each: memory[name] for name, each in operands.items()} | {y: memory["y"]}
        self.addresses = {key: each.data_ptr() for key, each in self.memory.items()}
        size = max(self.graph.get_workspace_size(), 1)
        self.workspace = torch.empty(size, dtype=torch.uint8, device="cuda")

    def launches(self) -> dict[str, Callable[[], Any]]:
        execute, workspace = self.graph.execute, self.workspace
        address = workspace.data_ptr()
        *_, y = self.memory
        # Twice as many sets of addresses as there are variant packs kept: none is found again.
        others = itertools.cycle([self.memory[y].clone() for _ in range(128)])

        return {
            "tensors": lambda: execute(self.memory, workspace),
            "addresses": lambda: execute(self.addresses, address),
            "tensors, y elsewhere each time": lambda: execute(
                {**self.memory, y: next(others)}, workspace
            ),
        }

    def bound(self) -> Callable[[], Any]:
        plan, handle = self.graph._plan(None), self.graph._handle
        pointers = {key.get_uid(): each for key, each in self.memory.items()}
        return plan.bind(handle, pointers, self.workspace)


def memory_of(problem: str, torch: Any) -> dict[str, Any]:
    def random(*shape: int) -> Any:
        return torch.randn(*shape, device="cuda", dtype=torch.half)

    if problem == "convolution":
        x, w = random(1, 8, 8, 64), random(64, 3, 3, 64)
        shapes = [(1, 64, 1, 1), (1, 64, 8, 8)]
        x, w = x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2)
    else:
        x, w = random(1, 64, 64), random(1, 64, 64)
        shapes = [(1, 1, 64), (1, 64, 64)]
    b, y = (random(*shape) for shape in shapes)
    if problem == "convolution":
        b, y = (each.contiguous(memory_format=torch.channels_last) for each in (b, y))
    return {"x": x, "w": w, "b": b, "y": y}


def measure(
    sides: dict[str, Callable[[], Any]], wait: Callable[[], None], rounds: int, launches: int
) -> dict[str, list[float]]:
    """Microseconds of host time per launch, one number per round."""
    times: dict[str, list[float]] = {side: [] for side in sides}
    for launch in sides.values():
        for _ in range(3):  # loads kernels, and keeps the variant packs that may be kept
            launch()
    for _ in range(rounds):
        for side, launch in sides.items():
            wait()
            times[side].append(1e6 * timeit.timeit(launch, number=launches) / launches)
    wait()
    return times


def report(times: dict[str, list[float]], base: str) -> None:
    print(f"{'':40}{'us':>8}{'least':>8}{'ratio':>8}")
    for side, values in times.items():
        ratio = statistics.median(a / b for a, b in zip(values, times[base], strict=True))
        print(f"{side:40}{statistics.median(values):8.2f}{min(values):8.2f}{ratio:8.2f}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_frontend", description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--launches", type=int, default=200)
    options = parser.parse_args(arguments)
    torch = importlib.import_module("torch")
    modules = {OURS: ours}
    with contextlib.suppress(ImportError):
        modules = {THEIRS: importlib.import_module("cudnn"), **modules}
    print(f"cuDNN {ours.backend_version_string()}, Python {sys.version.split()[0]}")
    for problem in ("convolution", "matmul"):
        memory = memory_of(problem, torch)
        built = {name: Side(module, torch, problem, memory) for name, module in modules.items()}
        sides = {
            f"{name}, {kind}": launch
            for name, side in built.items()
            for kind, launch in side.launches().items()
        }
        sides["bound plan"] = built[OURS].bound()
        times = measure(sides, torch.cuda.synchronize, options.rounds, options.launches)
        print(f"{problem} + bias + relu, {built[OURS].graph.get_plan_name_at_index(0)}")
        report(times, next(iter(times)))
        with Event() as start, Event() as end:
            stream = ours.get_stream(built[OURS].graph._handle)
            start.record(stream)
            for _ in range(options.launches):
                sides["bound plan"]()
            end.record(stream)
            microseconds = 1e3 * float(elapsed_ms(start, end)) / options.launches
        print(f"{'between events':40}{microseconds:8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
