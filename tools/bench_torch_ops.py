"""Models by PyTorch alone and with the operators of ``cudnn_ctypes.torch_ops``: time and numbers.

``python -m tools.bench_torch_ops``, on a machine with a GPU and PyTorch, for each model: a line
for each way to run it, with the time of a pass where passes follow each other, of its kernels
alone, and of the host that queues it, and the largest difference from the same model in float32.
``--reference`` runs everything small and once on the reference device, on the CPU.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from cudnn_ctypes import use_reference_device
from cudnn_ctypes.torch_ops import backend

__all__ = ["MODELS", "main"]

HALF, LAST = torch.float16, torch.channels_last


class Bottleneck(nn.Module):
    """Three convolutions and the way around them, as in ResNet-50."""

    def __init__(self, channels: int, inner: int, stride: int) -> None:
        super().__init__()
        outer = 4 * inner
        self.conv1 = nn.Conv2d(channels, inner, 1, bias=False)
        self.conv2 = nn.Conv2d(inner, inner, 3, stride, 1, bias=False)
        self.conv3 = nn.Conv2d(inner, outer, 1, bias=False)
        self.bn1, self.bn2, self.bn3 = (nn.BatchNorm2d(each) for each in (inner, inner, outer))
        self.around = None
        if stride > 1 or channels != outer:
            shortcut = nn.Conv2d(channels, outer, 1, stride, bias=False)
            self.around = nn.Sequential(shortcut, nn.BatchNorm2d(outer))

    def forward(self, x: Any) -> Any:
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return F.relu(y + (x if self.around is None else self.around(x)))


class ResNet(nn.Module):
    """ResNet-50 for `depths` of (3, 4, 6, 3)."""

    def __init__(self, depths: tuple[int, ...], width: int = 64) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            *(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
            nn.MaxPool2d(3, 2, 1),
        )
        blocks, channels = [], width
        for stage, depth in enumerate(depths):
            for i in range(depth):
                stride = 2 if stage and not i else 1
                blocks.append(Bottleneck(channels, width << stage, stride))
                channels = 4 * width << stage
        self.blocks = nn.Sequential(*blocks)
        self.classes = nn.Linear(channels, 1000)

    def forward(self, x: Any) -> Any:
        return self.classes(self.blocks(self.stem(x)).mean((2, 3)))


def _heads(x: Any, size: int) -> Any:
    return x.unflatten(-1, (-1, size)).transpose(1, 2)


def _joined(x: Any) -> Any:
    return x.transpose(1, 2).flatten(2)


class GPT2(nn.Module):
    """A layer; with the keys and values of earlier tokens for one more."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x: Any, keys: Any = None, values: Any = None) -> Any:
        q, k, v = (_heads(each, 64) for each in self.qkv(self.norm1(x)).chunk(3, -1))
        if keys is not None:
            k, v = torch.cat((keys, k), 2), torch.cat((values, v), 2)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=keys is None)
        x = x + self.out(_joined(o))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Llama(nn.Module):
    """A layer of grouped queries; with the keys and values of earlier tokens for one more."""

    def __init__(self, size: int, group: int = 4) -> None:
        super().__init__()
        inner = size * 7 // 2
        self.norm1, self.norm2 = nn.RMSNorm(size, 1e-5), nn.RMSNorm(size, 1e-5)
        self.q, self.k, self.v, self.out = (
            nn.Linear(size, each, bias=False) for each in (size, size // group, size // group, size)
        )
        self.gate, self.up = (nn.Linear(size, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, size, bias=False)

    def forward(self, x: Any, cos: Any, sin: Any, keys: Any = None, values: Any = None) -> Any:
        y = self.norm1(x)
        q, k, v = (_heads(each(y), 128) for each in (self.q, self.k, self.v))
        q, k = (each * cos + torch.cat(_turned(each), -1) * sin for each in (q, k))
        if keys is not None:
            k, v = torch.cat((keys, k), 2), torch.cat((values, v), 2)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=keys is None, enable_gqa=True)
        x = x + self.out(_joined(o))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def _turned(x: Any) -> tuple[Any, Any]:
    first, second = x.chunk(2, -1)
    return -second, first


class DiT(nn.Module):
    """A block of a diffusion transformer: norms are scaled and shifted by the condition."""

    def __init__(self, size: int, head: int) -> None:
        super().__init__()
        self.head = head
        self.norm1, self.norm2 = (nn.LayerNorm(size, 1e-6, False) for _ in range(2))
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)
        self.condition = nn.Linear(size, 6 * size)

    def forward(self, x: Any, c: Any) -> Any:
        parts = self.condition(F.silu(c))[:, None].chunk(6, -1)
        shift, scale, gate, shift2, scale2, gate2 = parts
        y = self.qkv(self.norm1(x) * (1 + scale) + shift)
        o = F.scaled_dot_product_attention(*(_heads(each, self.head) for each in y.chunk(3, -1)))
        x = x + gate * self.out(_joined(o))
        y = self.norm2(x) * (1 + scale2) + shift2
        return x + gate2 * self.down(F.gelu(self.up(y), approximate="tanh"))


class UNet(nn.Module):
    """A residual and an attention block of a UNet for diffusion."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.GroupNorm(32, channels) for _ in range(3))
        self.conv1, self.conv2 = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.time = nn.Linear(4 * channels, channels)
        self.qkv, self.out = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)

    def forward(self, x: Any, t: Any) -> Any:
        y = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(t))[:, :, None, None]
        x = x + self.conv2(F.silu(self.norm2(y)))
        rows = self.norm3(x).permute(0, 2, 3, 1).flatten(1, 2)
        qkv = (_heads(each, 64) for each in self.qkv(rows).chunk(3, -1))
        o = self.out(_joined(F.scaled_dot_product_attention(*qkv)))
        return x + o.unflatten(1, x.shape[2:]).permute(0, 3, 1, 2)


class Whisper(nn.Module):
    """A layer of the encoder."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.q, self.v, self.out = (nn.Linear(size, size) for _ in range(3))
        self.k = nn.Linear(size, size, bias=False)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x: Any) -> Any:
        y = self.norm1(x)
        qkv = (_heads(each(y), 64) for each in (self.q, self.k, self.v))
        x = x + self.out(_joined(F.scaled_dot_product_attention(*qkv)))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Model(NamedTuple):
    """A model and its inputs, in float32, and whether gradients are computed."""

    module: nn.Module
    inputs: tuple[Any, ...]
    training: bool = False


def _cache(batch: int, heads: int, tokens: int, size: int) -> list[Any]:
    return [torch.randn(batch, heads, tokens, size) for _ in range(2)]


def _resnet(small: bool, training: bool, depths: tuple[int, ...] = (3, 4, 6, 3)) -> Model:
    depths, width, images = (
        ((1, 1), 16, (2, 3, 56, 56)) if small else (depths, 64, (64, 3, 224, 224))
    )
    return Model(ResNet(depths, width), (torch.randn(images),), training)


def _gpt2(small: bool, token: bool, training: bool = False) -> Model:
    size, batch, tokens = (128, 2, 16) if small else (1024, 8, 1024)
    cache = _cache(batch, size // 64, tokens, 64) if token else ()
    x = torch.randn(batch, 1 if token else tokens, size)
    return Model(GPT2(size), (x, *cache), training)


def _llama(small: bool, token: bool) -> Model:
    size, batch, tokens = (512, 1, 16) if small else (4096, 2, 2048)
    cache = _cache(batch, size // 512, tokens, 128) if token else ()
    at = torch.arange(tokens, tokens + 1) if token else torch.arange(tokens)
    angles = (at[:, None] * 1e4 ** -torch.linspace(0, 1, 64)).repeat(1, 2)
    x = torch.randn(batch, len(at), size)
    return Model(Llama(size), (x, angles.cos(), angles.sin(), *cache))


def _dit(small: bool) -> Model:
    size, head, batch, tokens = (128, 64, 2, 16) if small else (1152, 72, 32, 256)
    return Model(DiT(size, head), (torch.randn(batch, tokens, size), torch.randn(batch, size)))


def _unet(small: bool) -> Model:
    channels, batch, pixels = (64, 2, 8) if small else (320, 8, 64)
    images = torch.randn(batch, channels, pixels, pixels)
    return Model(UNet(channels), (images, torch.randn(batch, 4 * channels)))


def _whisper(small: bool) -> Model:
    size, batch, tokens = (128, 2, 24) if small else (1280, 8, 1500)
    return Model(Whisper(size), (torch.randn(batch, tokens, size),))


MODELS: dict[str, Callable[[bool], Model]] = {
    "resnet50": lambda small: _resnet(small, False),
    "resnet50_step": lambda small: _resnet(small, True),
    "resnet14_step": lambda small: _resnet(small, True, (1, 1, 1, 1)),
    "gpt2": lambda small: _gpt2(small, False),
    "gpt2_step": lambda small: _gpt2(small, False, True),
    "gpt2_token": lambda small: _gpt2(small, True),
    "llama": lambda small: _llama(small, False),
    "llama_token": lambda small: _llama(small, True),
    "dit": _dit,
    "unet": _unet,
    "whisper": _whisper,
}
"""Models by name; of a small size if asked."""

WAYS = ("eager", "inductor", "cudnn_ctypes")


def _pass(model: Model, run: Callable[..., Any], inputs: tuple[Any, ...]) -> Callable[[], Any]:
    """One pass: the result, with gradients of the parameters if the model is trained."""
    parameters = list(model.module.parameters())

    def forward() -> Any:
        with torch.no_grad():
            return [run(*inputs)]

    def step() -> Any:
        y = run(*inputs)
        return [y.detach(), *torch.autograd.grad(y, parameters, torch.ones_like(y))]

    return step if model.training else forward


def _compiled(way: str, module: nn.Module, inner: str, mode: str | None) -> tuple[Any, list[Any]]:
    """The module as it runs in a way, and what the back end tells of its places."""
    if way == "eager":
        return module, []
    if way == "inductor":
        return torch.compile(module, backend=inner, **({"mode": mode} if mode else {})), []
    told: list[Any] = []
    options = {"inner": inner, "report": told.append}

    def ours(graph: Any, operands: list[Any]) -> Any:
        return backend.cudnn_ctypes(graph, operands, options=options, mode=mode)

    return torch.compile(module, backend=ours), told


def _pass_us(run: Callable[[], Any], calls: int) -> float:
    times = []
    for _ in range(5):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(calls):
            run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / calls)
    return statistics.median(times)


def _host_us(run: Callable[[], Any]) -> float:
    times = []
    for _ in range(7):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    torch.cuda.synchronize()
    return 1e6 * statistics.median(times)


def _kernels_us(run: Callable[[], Any]) -> float:
    activity = torch.profiler.ProfilerActivity.CUDA
    with torch.profiler.profile(activities=[activity]) as profile:
        for _ in range(3):
            run()
        torch.cuda.synchronize()
    kernels = (each for each in profile.events() if each.device_type.name == "CUDA")
    return sum(each.device_time for each in kernels) / 3


def _difference(got: list[Any], right: list[Any]) -> tuple[float, float]:
    """Of the result, by its largest number; of all gradients, by their norm."""
    pairs = [(one.double(), other.double()) for one, other in zip(got, right, strict=True)]
    y, expected = pairs[0]
    error = float((y - expected).abs().max() / expected.abs().max())
    squares = [(float((a - b).square().sum()), float(b.square().sum())) for a, b in pairs[1:]]
    total = sum(each for _, each in squares)
    return error, (sum(each for each, _ in squares) / total) ** 0.5 if total else 0.0


def measure(name: str, place: str, mode: str | None) -> None:
    """Print a line for each way to run a model."""
    on_gpu = place == "cuda"
    torch.manual_seed(0)
    exact = MODELS[name](not on_gpu)
    exact = exact._replace(module=exact.module.to(place).train(exact.training))
    inputs = tuple(each.to(place) for each in exact.inputs)
    model = exact._replace(module=copy.deepcopy(exact.module).to(HALF))
    right = _pass(exact, exact.module, inputs)()
    halves = tuple(each.to(HALF) for each in inputs)
    if halves[0].ndim == 4:
        model.module.to(memory_format=LAST)
        halves = (halves[0].contiguous(memory_format=LAST), *halves[1:])
    for way in WAYS:
        torch.compiler.reset()
        module = copy.deepcopy(model.module)
        begin = time.perf_counter()
        function, told = _compiled(way, module, "inductor" if on_gpu else "aot_eager", mode)
        run = _pass(model._replace(module=module), function, halves)
        error, of_gradients = _difference(run(), right)
        built, line = time.perf_counter() - begin, ""
        if on_gpu:
            calls = 5 if model.training or "resnet" in name else 20
            for _ in range(5):
                run()
            line = f"{_pass_us(run, calls):9.1f}{_kernels_us(run):9.1f}{_host_us(run):9.1f}"
        gradients = f" gradients {of_gradients:.0e}" if model.training else ""
        print(f"{name:14} {way:13}{line} error {error:.0e}{gradients}, {built:.0f} s", flush=True)
        for each in told:
            print(each, flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_torch_ops", description=__doc__)
    parser.add_argument("models", nargs="*", help=f"some of {', '.join(MODELS)}; default: all")
    parser.add_argument("--mode", help='of torch.compile: "reduce-overhead"')
    parser.add_argument("--reference", action="store_true", help="run small and once on the CPU")
    options = parser.parse_args(arguments)
    if options.reference:
        use_reference_device()
    torch.backends.cudnn.benchmark = True
    print(f"PyTorch {torch.__version__}; microseconds of a pass, of its kernels, of the host")
    for name in options.models or MODELS:
        measure(name, "cpu" if options.reference else "cuda", options.mode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
