"""What the programs of the corpus print, computed by NumPy, SciPy and PyTorch in double precision.

Nothing here uses the package. Each function yields the lines of the program of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.nn.functional as F

__all__ = ["ORACLES"]

Lines = Iterator[str]


def glibc_rand(seed: int, count: int) -> list[int]:
    """The numbers of C's ``srand(seed)`` and `count` times ``rand()``, as random(3) tells."""
    r = [seed]
    for i in range(1, 31):
        r.append(16807 * r[i - 1] % 2147483647)
    r += r[0:3]
    for i in range(34, 344 + count):
        r.append((r[i - 31] + r[i - 3]) % (1 << 32))
    return [value >> 1 for value in r[344:]]


def tiny() -> Lines:
    yield " ".join([f"{-1.5 * 2 * 2 + 0.5 * -1.5 * 2:g}"] * 4)


def convolution() -> Lines:
    x = torch.arange(2 * 3 * 6 * 5, dtype=torch.float64).remainder(7).sub(3).reshape(2, 3, 6, 5)
    w = torch.arange(4 * 3 * 3 * 3, dtype=torch.float64).remainder(5).mul(0.5).sub(1)
    y = F.conv2d(x, w.reshape(4, 3, 3, 3), stride=(2, 1), padding=1)
    yield "output: " + " x ".join(map(str, y.shape))
    yield f"sum: {y.sum():.3f}"
    for index, value in enumerate(y.flatten()[:5]):
        yield f"y[{index}] = {value:.3f}"


def pooling() -> Lines:
    c, h, w = np.ogrid[:2, :5, :6]
    x = torch.tensor((7 * h + 3 * w + 11 * c) % 13 - 4, dtype=torch.float64)[None]
    for name in ("max", "average", "inside"):
        leaf = x.clone().requires_grad_()
        if name == "max":
            y = F.max_pool2d(leaf, (3, 2), 2, (1, 0))
        else:
            y = F.avg_pool2d(leaf, (3, 2), 2, (1, 0), count_include_pad=name == "average")
        y.backward((1.0 + torch.arange(y.numel()) % 3).reshape(y.shape).double())
        yield f"{name}: " + "x".join(map(str, y.shape))
        assert leaf.grad is not None
        for label, values in (("y", y.detach()), ("dx", leaf.grad)):
            low, high = values.min(), values.max()
            count, total = values.numel(), values.sum()
            yield f"{label:8} count {count} sum {total:.4f} range [{low:.4f}, {high:.4f}]"


def softmax() -> Lines:
    x = torch.sin(0.7 * torch.arange(15, dtype=torch.float64)).mul(3).reshape(3, 5)
    p = x.softmax(1)
    for row in p:
        shown = " ".join(f"{value:.4f}" for value in row)
        yield f"{shown} | sum {row.sum():.4f} class {int(row.argmax())}"
    labels = torch.tensor([0, 3, 2])
    yield f"loss {F.cross_entropy(x, labels):.4f}"
    gradient = (p - F.one_hot(labels, 5)) / 3
    yield f"gradient norm {gradient.norm():.4f}"


def batch_norm() -> Lines:
    values = np.array(glibc_rand(123, 48)) / 2147483647 * 4 - 1
    x = values.reshape(4, 3, 4)
    mean, variance = x.mean((0, 2)), x.var((0, 2))
    unbiased = x.var((0, 2), ddof=1)

    def shown(name: str, numbers: np.ndarray) -> str:
        return f"{name}: " + " ".join(f"{value:.4f}" for value in numbers)

    def normalized(m: np.ndarray, v: np.ndarray) -> np.ndarray:
        y = (x - m[:, None]) / np.sqrt(v[:, None] + 1e-5) * 1.5 + 0.25
        return y.reshape(-1)[:6]

    yield shown("y", normalized(mean, variance))
    yield shown("mean", mean)
    yield shown("inv", 1 / np.sqrt(variance + 1e-5))
    yield shown("running mean", mean)
    yield shown("running variance", unbiased)
    yield shown("inference", normalized(mean, unbiased))
    yield "failures: 0"


def training() -> Lines:
    numbers = iter(glibc_rand(3, 32))
    first = torch.tensor([(next(numbers) % 2001 - 1000) / 1000 for _ in range(24)]).double()
    second = torch.tensor([(next(numbers) % 2001 - 1000) / 1000 for _ in range(8)]).double()
    weights = [first.reshape(3, 8), second.reshape(8, 1)]
    parameters = [*weights, torch.zeros(8).double(), torch.zeros(1).double()]
    for one in parameters:
        one.requires_grad_()
    bits = np.arange(8)[:, None] >> np.arange(3) & 1
    x = torch.tensor(bits * 2.0 - 1)
    target = torch.tensor(bits.sum(1) % 2).double()
    for step in range(201):
        hidden = torch.tanh(x @ parameters[0] + parameters[2])
        p = torch.sigmoid(hidden @ parameters[1] + parameters[3])[:, 0]
        loss = F.binary_cross_entropy(p, target)
        if step % 50 == 0:
            right = int(((p > 0.5) == (target > 0.5)).sum())
            yield f"step {step:3d} loss {loss:.3f} right {right}/8"
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for one, gradient in zip(parameters, gradients, strict=True):
                one -= 0.8 * gradient


def old_algorithm() -> Lines:
    rows, columns = np.ogrid[:8, :8]
    image = np.where((rows > 4) & (columns >= 2), 0.5 * rows, 1.0)
    kernel = torch.tensor([[1.0, 1, 1], [1, -8, 1], [1, 1, 1]]).double()[None, None]
    y = F.conv2d(torch.tensor(image)[None, None], kernel, padding=1)[0, 0]
    yield "edges: 1 x 1 x 8 x 8"
    for row in y:
        yield "".join(f"{value:7.2f}" for value in row)


ORACLES: dict[str, Callable[[], Lines]] = {
    "tiny.c": tiny,
    "convolution.c": convolution,
    "pooling.c": pooling,
    "softmax.cpp": softmax,
    "batch_norm.c": batch_norm,
    "training.cpp": training,
    "old_algorithm.c": old_algorithm,
}
"""By the name of the program."""
