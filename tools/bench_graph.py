"""What executing a built graph costs the host: a loop in C, layer 3, our front end, NVIDIA's.

``python -m tools.bench_graph``, on a machine with a GPU and PyTorch; NVIDIA's front end takes part
where nvidia-cudnn-frontend is installed. Each side launches the same graph on the same memory, the
sides taking turns; ratios are to a loop over cudnnBackendExecute in C, compiled here. Launches are
queued and waited for between measurements; the GPU must keep up, so the last row gives its time per
launch by CUDA events, which has to be smaller.

``bound`` is a plan with fixed addresses: one C call; ``sequence`` makes a hundred of them in one
call of Python. ``plain ctypes`` is the least that ctypes can
do for the same: the same C calls, with arguments converted beforehand, and no look at a status.

With ``--empty`` it needs no GPU: empty C functions stand in for cuDNN's, tensors of PyTorch on the
host for those of a GPU, and ratios are to plain ctypes. It measures this package's own work alone;
on a machine with other work look at the least times.
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
from cudnn_ctypes import Graph, Handle, raw, sequence
from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.bare import bare
from cudnn_ctypes.reference.device.host import HOST
from cudnn_ctypes.resource import Resource
from cudnn_ctypes.runtime import Event, elapsed_ms

from .plain_calls import ExecutionLoop, compiled, native, plain_execution, plain_refill

THEIRS, OURS, LAYER_3 = "NVIDIA's front end", "cudnn_ctypes.frontend", "Graph.execute"
C_LOOP, PLAIN = "a loop in C", "plain ctypes"
ELSEWHERE = "y elsewhere each time"
PRESET = "H200"  # the GPU that graphs are built for without one


class Side:
    """One way to execute one graph: a small convolution or a matrix product, with bias and ReLU."""

    def __init__(
        self, torch: Any, execute: Callable[..., Any], memory: dict[Any, Any], size: int
    ) -> None:
        self.execute, self.memory = execute, memory
        self.addresses = {key: each.data_ptr() for key, each in memory.items()}
        *_, y = memory.values()
        self.workspace = torch.empty(max(size, 1), dtype=torch.uint8, device=y.device)
        # Twice as many sets of addresses as there are variant packs kept: none is found again.
        self.others = [y.clone() for _ in range(128)]

    def launches(self) -> dict[str, Callable[[], Any]]:
        execute, workspace = self.execute, self.workspace
        address = workspace.data_ptr()
        *_, y = self.memory
        others = itertools.cycle(self.others)
        return {
            "tensors": lambda: execute(self.memory, workspace),
            "addresses": lambda: execute(self.addresses, address),
            f"tensors, {ELSEWHERE}": lambda: execute({**self.memory, y: next(others)}, workspace),
        }


def in_front_end(
    module: Any, torch: Any, handle: Any, problem: str, memory: dict[str, Any]
) -> Side:
    """The graph in a front end, NVIDIA's or ours."""
    graph = module.pygraph(
        io_data_type=module.data_type.HALF,
        intermediate_data_type=module.data_type.FLOAT,
        compute_data_type=module.data_type.FLOAT,
        **({"handle": module.create_handle()} if handle else {"device_property": PRESET}),
    )
    x, w, b = operands = [graph.tensor_like(memory[name]) for name in ("x", "w", "b")]
    if problem == "convolution":
        y = graph.conv_fprop(x, w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    else:
        y = graph.matmul(x, w)
    y = graph.relu(graph.bias(y, b))
    y.set_output(True)
    graph.build([module.heur_mode.A])
    if not handle:
        graph._held.handle = _handle_of_nothing()
    by_tensor = dict(zip((*operands, y), memory.values(), strict=True))
    return Side(torch, graph.execute, by_tensor, graph.get_workspace_size())


def in_layer_3(torch: Any, handle: Any, problem: str, memory: dict[str, Any]) -> Side:
    """The graph in layer 3."""
    graph = Graph(io_data_type="float16")
    x, w, b = operands = [
        graph.tensor(tuple(memory[name].shape), memory[name].stride(), name=name)
        for name in ("x", "w", "b")
    ]
    y = graph.conv_fprop(x, w, padding=1) if problem == "convolution" else graph.matmul(x, w)
    y = graph.relu(graph.add(y, b)).set_output()
    graph.build(handle or PRESET)
    graph._handle = handle or _handle_of_nothing()
    by_tensor = dict(zip((*operands, y), memory.values(), strict=True))
    return Side(torch, graph.execute, by_tensor, graph.workspace_size)


def _handle_of_nothing() -> Any:
    pointer = raw.cudnnHandle_t()
    pointer.value = 1 << 40
    return Resource(pointer, lambda _: None)


def leave_out_cudnn() -> None:
    """From now on, have executions call an empty C function, with tensors on the host."""
    for name in ("Initialize", "SetAttribute", "Finalize", "Execute"):
        setattr(bare, f"cudnnBackend{name}", _empty())
    mode.use(HOST)  # but nobody watches calls


def _empty(name: str = "") -> Any:
    return compiled()["empty"]


def memory_of(problem: str, torch: Any, device: str) -> dict[str, Any]:
    def random(*shape: int) -> Any:
        return torch.randn(*shape, device=device, dtype=torch.half)

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


class SequenceLoop:
    """Bound launches by `sequence`: one call makes a hundred."""

    LENGTH = 100

    def __init__(self, bound: Any) -> None:
        self._step = sequence(*[bound] * self.LENGTH)

    def seconds(self, number: int) -> float:
        """Of so many launches."""
        calls = max(number // self.LENGTH, 1)
        return timeit.timeit(self._step, number=calls) * number / (calls * self.LENGTH)

    def __call__(self) -> None:
        self._step()


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
            if isinstance(launch, (ExecutionLoop, SequenceLoop)):
                seconds = launch.seconds(launches)
            else:
                seconds = timeit.timeit(launch, number=launches)
            times[side].append(1e6 * seconds / launches)
    wait()
    return times


def report(times: dict[str, list[float]], base: str) -> None:
    print(f"{'':54}{'us':>8}{'least':>8}{'ratio':>8}")
    for side, values in times.items():
        ratio = statistics.median(a / b for a, b in zip(values, times[base], strict=True))
        print(f"{side:54}{statistics.median(values):8.2f}{min(values):8.2f}{ratio:8.2f}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_graph", description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--launches", type=int, default=200)
    parser.add_argument("--empty", action="store_true", help="empty functions in cuDNN's place")
    options = parser.parse_args(arguments)
    torch = importlib.import_module("torch")
    modules, wait, handle = {OURS: ours}, torch.cuda.synchronize, None
    if options.empty:
        wait = float  # does nothing
    else:
        with contextlib.suppress(ImportError):
            modules = {THEIRS: importlib.import_module("cudnn"), **modules}
        handle = Handle(stream=torch.cuda.current_stream().cuda_stream)
    functions = _empty if options.empty else native
    print(f"cuDNN {ours.backend_version_string()}, Python {sys.version.split()[0]}")
    problems = ("convolution", "matmul")
    memory = {each: memory_of(each, torch, "cuda" if handle else "cpu") for each in problems}
    built = {
        each: {LAYER_3: in_layer_3(torch, handle, each, memory[each])}
        | {
            name: in_front_end(module, torch, handle, each, memory[each])
            for name, module in modules.items()
        }
        for each in problems
    }
    if options.empty:
        leave_out_cudnn()
    for problem in problems:
        layer_3 = built[problem][LAYER_3]
        graph = layer_3.execute.__self__  # type: ignore[attr-defined]
        bound = graph.bind(layer_3.memory, layer_3.workspace)
        loop = ExecutionLoop(bound, functions("cudnnBackendExecute"))
        new = itertools.cycle([each.data_ptr() for each in layer_3.others])
        space = layer_3.workspace.data_ptr() if graph.workspace_size else 0
        by_uid = {tensor.uid: address for tensor, address in layer_3.addresses.items()}
        sides = {
            C_LOOP: loop,
            PLAIN: plain_execution(bound, functions("cudnnBackendExecute")),
            f"{PLAIN}, {ELSEWHERE}": plain_refill(bound, by_uid, space, new, functions),
            "bound": bound,
            f"sequence of {SequenceLoop.LENGTH}": SequenceLoop(bound),
        }
        for name, side in built[problem].items():
            for kind, launch in side.launches().items():
                sides[f"{name}, {kind}"] = launch
        times = measure(sides, wait, options.rounds, options.launches)
        print(f"{problem} + bias + relu, {graph.plan.config.choice}")
        report(times, PLAIN if options.empty else C_LOOP)
        if handle:
            with Event() as start, Event() as end:
                start.record(handle.stream)
                loop.seconds(options.launches)
                end.record(handle.stream)
                microseconds = 1e3 * float(elapsed_ms(start, end)) / options.launches
            print(f"{'between events':54}{microseconds:8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
