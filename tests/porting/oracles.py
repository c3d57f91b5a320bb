"""What the programs of the corpus print, computed by NumPy, SciPy and PyTorch in double precision.

Nothing here uses the package. Each function yields the lines of the program of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

with suppress(ImportError):
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


def lstm() -> Lines:
    pattern = iter(((i * 37 + 11) % 41 - 20) / 40 for i in range(10_000))
    matrices: list[torch.Tensor] = []
    biases: list[torch.Tensor] = []
    for gate in range(8):  # input, forget, cell, output; for x, then for h
        shape = (4, 3) if gate < 4 else (4, 4)
        values = [next(pattern) for _ in range(shape[0] * shape[1])]
        matrices.append(torch.tensor(values).double().reshape(shape))
        biases.append(torch.tensor([next(pattern) / 2 for _ in range(4)]).double())
    network = torch.nn.LSTM(3, 4, batch_first=True).double()
    parameters = dict(network.named_parameters())
    with torch.no_grad():
        parameters["weight_ih_l0"].copy_(torch.cat(matrices[:4]))
        parameters["weight_hh_l0"].copy_(torch.cat(matrices[4:]))
        parameters["bias_ih_l0"].copy_(torch.cat(biases[:4]))
        parameters["bias_hh_l0"].copy_(torch.cat(biases[4:]))
    b, t, i = np.ogrid[:2, :3, :3]
    x = torch.tensor(b - 0.5 * t + 0.25 * i)
    lengths = [3, 2]
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor(lengths), batch_first=True)
    with torch.no_grad():
        result, (_, cells) = network(packed)
    y, _ = torch.nn.utils.rnn.pad_packed_sequence(result, batch_first=True)
    yield "matrix 0: 4 x 3, type 0"
    for batch, length in enumerate(lengths):
        for step in range(length):
            shown = " ".join(f"{value:7.4f}" for value in y[batch, step])
            yield f"y[{batch}][{step}] {shown}"
    yield f"c {cells[0, 0, 0]:7.4f} {cells[0, 1, 1]:7.4f}"


def ctc() -> Lines:
    t, n, c = np.ogrid[:6, :2, :4]
    x = torch.tensor((5 * t + 3 * n + 7 * c) % 9 / 4.0 - 1, requires_grad=True)
    labels = torch.tensor([[1, 2], [2, 3]])
    lengths = torch.tensor([6, 5]), torch.tensor([2, 2])
    costs = F.ctc_loss(x.log_softmax(2), labels, *lengths, reduction="none")
    costs.sum().backward()
    assert x.grad is not None
    gradient = x.grad.reshape(6, 8)
    yield f"costs: {costs[0]:.4f} {costs[1]:.4f}"
    for step in (0, 2, 4):
        yield f"t={step}: " + " ".join(f"{value:7.4f}" for value in gradient[step])
    yield f"largest {gradient.max():.4f}"


def backend() -> Lines:
    def values(step: int, modulus: int, *shape: int) -> torch.Tensor:
        numbers = torch.arange(np.prod(shape), dtype=torch.float64) * step % modulus
        return (numbers / modulus - 0.5).reshape(shape)

    y = F.conv2d(values(7, 23, 1, 16, 6, 6), values(5, 19, 32, 16, 3, 3), padding=1).flatten()
    yield "some engine: yes"
    yield f"{len(y)} values, sum {y.sum():.2f}, first {y[0]:.3f}, last {y[-1]:.3f}"


def kernels() -> Lines:
    x = (np.arange(300) % 11 - 5) * 1.5
    y = np.where(x > 0, x, 0.1 * x)
    yield f"blocks 5, x {y[0]:.3f} {y[5]:.3f} {y[10]:.3f}"
    yield f"total {(y * y).sum():.2f}, error 0.0000"


def attention() -> Lines:
    def values(scale: float, shift: float) -> torch.Tensor:
        return torch.sin(scale * torch.arange(24).double() + shift).reshape(2, 3, 4)

    q, k, v = values(0.3, 0), values(0.7, 1), values(1.1, 2)
    for batch, length in enumerate((3, 2)):
        p = (q[batch, :length] @ k[batch, :length].T / 2).softmax(1)
        for step, row in enumerate(p @ v[batch, :length]):
            yield f"{batch} {step}: " + " ".join(f"{value:8.4f}" for value in row)
    yield "weights: 0, checks: 7"


def old_rnn() -> Lines:
    x = (np.arange(16) % 5 * 0.2 - 0.3).reshape(4, 2, 2)
    yield "weights: 21"
    hidden = np.zeros((2, 1))
    for step in range(4):  # all weights and biases are alike, and so are the three units
        hidden = np.tanh(0.25 * (x[step].sum(1, keepdims=True) + 3 * hidden) + 0.5)
        yield f"step {step}: " + " ".join(f"{value:.4f}" for value in hidden[:, 0])


def old_rnn_training() -> Lines:
    def shown(name: str, values: torch.Tensor) -> str:
        flat = values.detach().numpy().ravel()
        total = (flat * (np.arange(flat.size) % 4 + 1)).sum()
        return f"{name} {flat[0]:.4f} {flat[-1]:.4f} {total:.4f}"

    yield "3 1 1 1 1 1"
    yield "168 weights"
    lstm = torch.nn.LSTM(2, 3, bidirectional=True)
    parts = [
        (getattr(lstm, f"{kind}_l0{way}"), index, first)
        for index, way in enumerate(("", "_reverse"))
        for kind, first in (("weight_ih", 0), ("weight_hh", 4), ("bias_ih", 0), ("bias_hh", 4))
    ]
    with torch.no_grad():
        for weight, way, first in parts:
            for gate, rows in enumerate(weight.split(3)):
                i = torch.arange(rows.numel()).reshape(rows.shape)
                matrix = 0.1 * ((i * 3 + (first + gate) * 2 + way) % 7) - 0.3
                rows.copy_(matrix if rows.ndim == 2 else 0.05 * (first + gate + i + way) - 0.2)
    x = (torch.arange(12) % 5 * 0.2 - 0.3).reshape(3, 2, 2).requires_grad_()
    y, (hy, cy) = lstm(x)
    y.backward((torch.arange(36) % 3 - 0.5).reshape(y.shape))
    yield from (shown("y", y), shown("hy", hy), shown("cy", cy), shown("dx", x.grad))
    for gate in (0, 3, 6):
        kind = "ih" if gate < 4 else "hh"
        matrix = getattr(lstm, f"weight_{kind}_l0_reverse").grad
        yield shown("dw", matrix.split(3)[gate % 4])
        yield shown("db", getattr(lstm, f"bias_{kind}_l0").grad.split(3)[gate % 4])


ORACLES: dict[str, Callable[[], Lines]] = {
    "tiny.c": tiny,
    "convolution.c": convolution,
    "pooling.c": pooling,
    "softmax.cpp": softmax,
    "batch_norm.c": batch_norm,
    "training.cpp": training,
    "old_algorithm.c": old_algorithm,
    "lstm.c": lstm,
    "ctc.cpp": ctc,
    "backend.c": backend,
    "attention.c": attention,
    "old_rnn.cpp": old_rnn,
    "old_rnn_training.c": old_rnn_training,
    "kernels.cu": kernels,
}
"""By the name of the program."""
