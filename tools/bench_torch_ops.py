"""Operators of ``cudnn_ctypes.torch_ops`` in a residual and an attention block, beside PyTorch's.

``python -m tools.bench_torch_ops``, on a machine with a GPU and PyTorch: host and device time of a
forward pass alone and with the backward pass, eager and by ``torch.compile(fullgraph=True)``. Host
time is that of queueing passes of a small problem, device time the sum of the kernels of a large
one. ``--reference`` runs everything once on the reference device, on the CPU.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from cudnn_ctypes import use_reference_device
from cudnn_ctypes.graph import Tensor
from cudnn_ctypes.torch_ops import custom_op

__all__ = ["Attention", "Residual", "conv_bias_relu", "expected_convolution", "main", "sdpa"]

CALLS = 20


def _convolution(
    graph: Any, x: Tensor, w: Tensor, b: Tensor, residual: Tensor | None = None, padding: int = 1
) -> Any:
    """relu(convolution + b + residual)."""
    y = graph.conv_fprop(x, w, padding=padding) + b
    return graph.relu(y if residual is None else y + residual)


def _attention(graph: Any, q: Any, k: Any, v: Any, causal: bool = False) -> Any:
    o, stats = graph.sdpa(q, k, v, use_causal_mask=causal, generate_stats=True)
    return o, stats.set_output(data_type="float32")


def _attention_gradients(
    graph: Any, q: Any, k: Any, v: Any, o: Any, do: Any, stats: Any, causal: bool
) -> Any:
    return graph.sdpa_backward(q, k, v, o, do, stats, use_causal_mask=causal)


@functools.cache
def conv_bias_relu() -> Any:
    """The operator: x, w, b, perhaps a residual, and a padding."""
    return custom_op(
        "cudnn_ctypes_tools::conv_bias_relu",
        _convolution,
        backward={
            "dz": lambda graph, dy, y: graph.relu_backward(dy, y),
            "dresidual": "dz",
            "dx": lambda graph, dz, w, x, padding: graph.conv_dgrad(
                dz, w, padding=padding
            ).set_output(dims=x.dims),
            "dw": lambda graph, x, dz, w, padding: graph.conv_wgrad(
                x, dz, padding=padding
            ).set_output(dims=w.dims),
            "db": lambda graph, dz, b: graph.reduction(dz, "add").set_output(
                dims=b.dims, data_type="float32"
            ),
        },
    )


@functools.cache
def sdpa() -> Any:
    """The operator: q, k, v (batch, heads, tokens, size), and whether keys after a query count."""
    return custom_op(
        "cudnn_ctypes_tools::sdpa",
        _attention,
        backward={("dq", "dk", "dv"): _attention_gradients},
        outputs=("o", "stats"),
    )


def expected_convolution(x: Any, w: Any, b: Any, residual: Any = None, padding: int = 1) -> Any:
    """The same by PyTorch."""
    y = functional.conv2d(x, w, padding=padding) + b
    return torch.relu(y if residual is None else y + residual)


class Residual(torch.nn.Module):
    """Two convolutions and the way around them; `function` as `conv_bias_relu`."""

    def __init__(self, channels: int, function: Callable[..., Any]) -> None:
        super().__init__()
        shapes = [(channels, channels, 3, 3), (1, channels, 1, 1)] * 2
        deviation = (9 * channels) ** -0.5
        self.weights = torch.nn.ParameterList(deviation * torch.randn(each) for each in shapes)
        self.function = function

    def forward(self, x: Any) -> Any:
        w, b, w2, b2 = self.weights
        return self.function(self.function(x, w, b), w2, b2, x)


class Attention(torch.nn.Module):
    """Attention between two products, and the way around them; `function` takes q, k and v."""

    def __init__(self, size: int, heads: int, function: Callable[..., Any]) -> None:
        super().__init__()
        self.qkv = torch.nn.Linear(size, 3 * size)
        self.out = torch.nn.Linear(size, size)
        self.heads, self.function = heads, function

    def forward(self, x: Any) -> Any:
        batch, tokens, size = x.shape
        parts = self.qkv(x).view(batch, tokens, 3, self.heads, size // self.heads)
        q, k, v = (parts[:, :, i].transpose(1, 2) for i in range(3))
        o = self.function(q, k, v).transpose(1, 2).reshape(batch, tokens, size)
        return x + self.out(o)


def _blocks(place: str, large: bool) -> dict[str, tuple[dict[str, Any], Any]]:
    """By name: the block by each side, and its input."""
    convolution, attention = conv_bias_relu(), sdpa()
    channels, size = (256, 1024) if large else (16, 64)
    images = (32, channels, 56, 56) if large else (2, channels, 8, 8)
    tokens = (8, 2048, size) if large else (2, 64, size)
    causal = functools.partial(functional.scaled_dot_product_attention, is_causal=True)
    residual = {
        "PyTorch": Residual(channels, expected_convolution),
        "operator": Residual(channels, lambda *given: convolution(*given)),
    }
    attentions = {
        "PyTorch": Attention(size, size // 32, causal),
        "operator": Attention(size, size // 32, lambda *qkv: attention(*qkv, causal=True)[0]),
    }
    x = torch.randn(images, device=place).half().contiguous(memory_format=torch.channels_last)
    for each in residual.values():
        each.to(place, torch.float16, memory_format=torch.channels_last)
    for each in attentions.values():
        each.to(place, torch.float16)
    sequences = torch.randn(tokens, device=place).half()
    return {"residual block": (residual, x), "attention block": (attentions, sequences)}


def _passes(module: Any, x: Any, compiled: bool, backend: str) -> dict[str, Callable[[], Any]]:
    """A forward pass, and one with its backward pass."""
    run = torch.compile(module, fullgraph=True, backend=backend) if compiled else module
    given = x.clone().requires_grad_()
    dy = torch.randn_like(x)

    def forward() -> None:
        with torch.no_grad():
            run(x)

    return {"forward": forward, "forward and backward": lambda: run(given).backward(dy)}


def _host_us(function: Callable[[], Any]) -> float:
    times = []
    for _ in range(7):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(CALLS):
            function()
        times.append((time.perf_counter() - begin) / CALLS)
    torch.cuda.synchronize()
    return 1e6 * statistics.median(times)


def _device_us(function: Callable[[], Any]) -> float:
    activity = torch.profiler.ProfilerActivity.CUDA
    with torch.profiler.profile(activities=[activity]) as profile:
        for _ in range(CALLS):
            function()
        torch.cuda.synchronize()
    kernels = (each for each in profile.events() if each.device_type.name == "CUDA")
    return sum(each.device_time for each in kernels) / CALLS


def _measured(block: str, side: str, compiled: bool, place: str) -> dict[str, tuple[float, float]]:
    """Host and device microseconds of each pass; zeros on a CPU, where each runs once."""
    backend = "inductor" if place == "cuda" else "aot_eager"
    times: dict[str, list[float]] = {}
    for large in (False, True) if place == "cuda" else (False,):
        modules, x = _blocks(place, large)[block]
        for name, function in _passes(modules[side], x, compiled, backend).items():
            for _ in range(3 if place == "cuda" else 1):
                function()
            measure = _device_us if large else _host_us
            times.setdefault(name, []).append(measure(function) if place == "cuda" else 0.0)
    return {name: (each[0], each[-1]) for name, each in times.items()}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_torch_ops", description=__doc__)
    parser.add_argument("--reference", action="store_true", help="run once on the CPU")
    options = parser.parse_args(arguments)
    place = "cpu" if options.reference else "cuda"
    if options.reference:
        use_reference_device()
    print(f"PyTorch {torch.__version__}, {place}; microseconds of the host and of the device")
    for block in ("residual block", "attention block"):
        for compiled in (False, True):
            for side in ("PyTorch", "operator"):
                for name, (host, device) in _measured(block, side, compiled, place).items():
                    row = f"{block}, {side}{', compiled' if compiled else ''}, {name}"
                    print(f"{row:62}{host:9.1f}{device:10.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
