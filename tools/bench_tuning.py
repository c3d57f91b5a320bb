"""Device time of autotuned graphs against PyTorch's best, on a machine with a GPU and PyTorch.

``python -m tools.bench_tuning`` prints one table: the convolutions of ResNet-50 (He et al. 2016) in
float16 and NHWC, forward and both gradients, against PyTorch in benchmark mode; matrix products
with bias and GELU against PyTorch's fused epilogue; an element-wise fusion against a plain copy.
``heuristics`` is the plan that ``build`` takes without measuring. After tuning, both sides are
measured anew in turns with an emptied cache; ratios are ours to PyTorch's, so below 1 is faster.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from cudnn_ctypes import Graph, Handle, NotSupportedError
from cudnn_ctypes.graph.engines.tuning.timing import Timer
from cudnn_ctypes.raw.strides import packed

__all__ = ["LAYERS", "Convolution", "main"]

NHWC = (0, 2, 3, 1)
DIRECTIONS = ("forward", "data", "filter")


@dataclass(frozen=True)
class Convolution:
    """A layer: channels, height and width of its image, filters, size of the window, stride."""

    channels: int
    size: int
    filters: int
    window: int
    stride: int = 1

    @property
    def padding(self) -> int:
        return self.window // 2

    def __str__(self) -> str:
        stride = f"/{self.stride}" if self.stride > 1 else ""
        window = f"{self.window}x{self.window}{stride}"
        return f"{self.channels} x {self.size}^2 -> {self.filters}, {window}"


def _stage(size: int, before: int, width: int) -> Iterator[Convolution]:
    """The layers of a stage that differ; `before` channels come in, and it halves the image."""
    after, stride = 4 * width, 1 if before == 64 else 2
    half = size // stride
    yield Convolution(before, size, width, 1)
    yield Convolution(width, size, width, 3, stride)
    yield Convolution(width, half, after, 1)
    if stride == 2:
        yield Convolution(before, size, after, 1, 2)
        yield Convolution(width, half, width, 3)
    yield Convolution(after, half, width, 1)


LAYERS = (
    Convolution(3, 224, 64, 7, 2),
    *_stage(56, 64, 64),
    *_stage(56, 256, 128),
    *_stage(28, 512, 256),
    *_stage(14, 1024, 512),
)
PRODUCTS = ((4096, 4096, 1024), (8192, 3072, 768), (2048, 16384, 4096))  # m, n, k
ELEMENTS = 1 << 27


@dataclass
class Problem:
    """A graph, its memory by name, and what PyTorch calls for the same."""

    name: str
    graph: Graph
    memory: dict[str, Any]
    theirs: Callable[[], Any]


def described(layer: Convolution, batch: int, direction: str) -> Graph:
    """One direction of a layer; its tensors are called x, w and y, gradients too."""
    size = (layer.size + 2 * layer.padding - layer.window) // layer.stride + 1
    dims = {
        "x": (batch, layer.channels, layer.size, layer.size),
        "w": (layer.filters, layer.channels, layer.window, layer.window),
        "y": (batch, layer.filters, size, size),
    }
    result = {"forward": "y", "data": "x", "filter": "w"}[direction]
    graph = Graph(f"{direction} of {layer}", io_data_type="float16")
    operands = {
        name: graph.tensor(dims[name], packed(dims[name], NHWC), name=name)
        for name in "xyw"
        if name != result
    }
    operation = {"forward": graph.conv_fprop, "data": graph.conv_dgrad, "filter": graph.conv_wgrad}
    found = operation[direction](*operands.values(), padding=layer.padding, stride=layer.stride)
    found.set_output(name=result, dims=dims[result])
    return graph


def convolution(torch: Any, layer: Convolution, batch: int, direction: str) -> Problem:
    """One direction of a layer, and the same by PyTorch."""
    graph = described(layer, batch, direction)
    memory = {
        each.name: torch.randn(each.dims, device="cuda", dtype=torch.half).contiguous(
            memory_format=torch.channels_last
        )
        for each in (*graph.inputs, *graph.outputs)
    }
    x, w, y = (memory[name].clone() for name in "xwy")
    pairs = [[layer.stride] * 2, [layer.padding] * 2, [1, 1]]
    wanted = [direction == "data", direction == "filter", False]

    def theirs() -> Any:
        if direction == "forward":
            return torch.nn.functional.conv2d(x, w, stride=layer.stride, padding=layer.padding)
        backward = torch.ops.aten.convolution_backward
        return backward(y, x, w, None, *pairs, False, [0, 0], 1, wanted)

    return Problem(f"{direction:8}{layer}, batch {batch}", graph, memory, theirs)


def product(torch: Any, m: int, n: int, k: int) -> Problem:
    """gelu(a @ b + bias)."""
    graph = Graph("product", io_data_type="float16")
    a = graph.tensor((1, m, k), name="a")
    b = graph.tensor((1, k, n), packed((1, k, n), (0, 2, 1)), name="b")
    bias = graph.tensor((1, 1, n), name="bias")
    graph.gelu_approx_tanh(graph.add(graph.matmul(a, b), bias)).set_output(name="y")
    left = torch.randn((m, k), device="cuda", dtype=torch.half)
    right = torch.randn((n, k), device="cuda", dtype=torch.half).T
    row = torch.randn(n, device="cuda", dtype=torch.half)
    y = torch.empty((m, n), device="cuda", dtype=torch.half)
    memory = {"a": left[None], "b": right[None], "bias": row[None, None], "y": y[None]}
    return Problem(
        f"gelu(a @ b + bias), {m} x {n} x {k}",
        graph,
        memory,
        lambda: torch._addmm_activation(row, left, right, use_gelu=True),
    )


def elements(torch: Any) -> Problem:
    """relu(x * scale + bias), which moves as many bytes as a copy."""
    dims = (ELEMENTS // (64 * 1024), 64, 1024)
    graph = Graph("elements", io_data_type="float16")
    x = graph.tensor(dims, name="x")
    scale, bias = (graph.tensor((1, 1, 1024), name=name) for name in ("scale", "bias"))
    graph.relu(graph.add(graph.mul(x, scale), bias)).set_output(name="y")
    given = torch.randn(dims, device="cuda", dtype=torch.half)
    y, rows = torch.empty_like(given), torch.randn((2, 1, 1, 1024), device="cuda").half()
    memory = {"x": given, "scale": rows[0], "bias": rows[1], "y": y}
    name = f"relu(x * scale + bias), {2 * given.nbytes >> 20} MiB moved, against a copy"
    return Problem(name, graph, memory, lambda: y.copy_(given))


def compare(
    torch: Any, handle: Handle, timer: Timer, problem: Problem, rounds: int, budget: float
) -> tuple[float, float, float]:
    """Microseconds of the first plan, of the tuned one, and of PyTorch."""
    with ExitStack() as stack:
        graph = stack.enter_context(problem.graph)
        tuned = graph.autotune(handle, problem.memory, budget=budget, progress=False)
        untuned = next(each for each in tuned if each.times)
        size = max(graph.workspace_size, 1)
        workspace = torch.empty(size, dtype=torch.uint8, device="cuda")
        bound = stack.enter_context(graph.bind(problem.memory, workspace, handle=handle))
        for _ in range(3):  # PyTorch's search
            problem.theirs()
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(rounds):
            ours += timer(bound, 10)
            theirs += timer(problem.theirs, 10)
        first = untuned.median * statistics.median(ours) / tuned.best.median
        return first, statistics.median(ours), statistics.median(theirs)


def problems(torch: Any, options: argparse.Namespace) -> Iterator[Problem]:
    for batch in options.batches:
        for layer in LAYERS[: options.layers]:
            for direction in options.directions:
                yield convolution(torch, layer, batch, direction)
    if not options.only_convolutions:
        for sizes in PRODUCTS:
            yield product(torch, *sizes)
        yield elements(torch)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_tuning", description=__doc__)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 32, 256])
    parser.add_argument("--directions", nargs="+", choices=DIRECTIONS, default=list(DIRECTIONS))
    parser.add_argument("--layers", type=int, default=len(LAYERS), help="only so many")
    parser.add_argument("--only-convolutions", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of tuning one graph")
    options = parser.parse_args(arguments)
    torch = importlib.import_module("torch")
    torch.backends.cudnn.benchmark = True
    handle = Handle(stream=torch.cuda.current_stream().cuda_stream)
    print(f"{handle}, PyTorch {torch.__version__} with cuDNN {torch.backends.cudnn.version()}")
    print(f"{'us':60}{'heuristics':>11}{'tuned':>9}{'PyTorch':>9}{'ratio':>7}{'untuned':>9}")
    ratios: list[float] = []
    with Timer(handle) as timer:
        timer.warm_up()
        for problem in problems(torch, options):
            try:
                times = compare(torch, handle, timer, problem, options.rounds, options.budget)
            except NotSupportedError as error:
                print(f"{problem.name:60}{str(error).splitlines()[0]}", flush=True)
                continue
            first, ours, theirs = times
            ratios.append(ours / theirs)
            row = f"{first:11.1f}{ours:9.1f}{theirs:9.1f}{ours / theirs:7.2f}{first / theirs:9.2f}"
            print(f"{problem.name:60}{row}", flush=True)
    if ratios:
        above = sum(ratio > 1.02 for ratio in ratios)
        median = statistics.median(ratios)
        print(
            f"{len(ratios)} problems: median {median:.2f}, largest {max(ratios):.2f}, "
            f"{above} above 1.02"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
