"""What the programs of the corpus print, computed by NumPy, SciPy and PyTorch in double precision.

Nothing here uses the package. Each function yields the lines of the program of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

__all__ = ["ORACLES"]


with suppress(ImportError):
    import torch
    import torch.nn.functional as F


Lines = Iterator[str]
if TYPE_CHECKING:
    Tensor: TypeAlias = torch.Tensor


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
    yield "1 4 0 1"


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


def cycle(numbers: np.ndarray, *shape: int) -> Tensor:
    return torch.tensor(numbers.astype(np.float64)).reshape(shape)


def joined(values: Tensor | np.ndarray, form: str = ".4f") -> str:
    return " ".join(f"{float(value):{form}}" for value in np.asarray(values).flatten())


def gradients() -> Lines:
    def pattern(step: int, *shape: int) -> Tensor:
        return cycle(np.arange(1, np.prod(shape) + 1) * step % 17 / 8 - 1, *shape)

    def told(name: str, values: Tensor) -> str:
        flat = values.flatten()
        total = (flat * (1 + torch.arange(len(flat)) % 4)).sum()
        return f"{name}: {total:.6f}, first {flat[0]:.6f}, last {flat[-1]:.6f}"

    x = pattern(3, 2, 2, 5, 4).requires_grad_()
    w = pattern(5, 3, 2, 3, 2).requires_grad_()
    bias = torch.zeros(3).double().requires_grad_()
    y = F.conv2d(x, w.flip(2, 3), bias, stride=(1, 2), padding=(1, 0))
    y.backward(pattern(7, *y.shape))
    assert x.grad is not None
    assert w.grad is not None
    assert bias.grad is not None
    yield "y: " + " ".join(map(str, y.shape))
    yield "db: " + joined(bias.grad, ".6f")
    yield told("dx", x.grad)
    yield told("dw", w.grad)


def function_table() -> Lines:
    index = np.arange(24)
    a, b = index * 5 % 11 - 4.0, 0.5 * (index * 3 % 7) - 1
    for name, values in (
        ("add", a + b),
        ("multiply", a * b),
        ("min", np.minimum(a, b)),
        ("max", np.maximum(a, b)),
    ):
        yield f"{name:10} {values[0]:8.3f} {values[-1]:8.3f}  error 0.000"
    rows = a.reshape(3, 8)
    for name, values in (
        ("sum", rows.sum(1)),
        ("largest", np.abs(rows).max(1)),
        ("norm", np.sqrt((rows**2).sum(1))),
    ):
        yield f"{name} {joined(values)}"
    yield "failures: 0"


def normalization() -> Lines:
    c, p = np.ogrid[:6, :3]
    values = (c + 1) * 0.5 - p * np.where(c % 2, 0.75, -0.25)
    x = torch.tensor(values)[None, :, None].requires_grad_()
    y = F.local_response_norm(x, 5, alpha=0.75, beta=0.5, k=2.0)
    y.backward(x.detach())
    assert x.grad is not None
    yield "window 5, alpha 0.75, beta 0.50, k 2.0"
    for name, result in (("forward", y.detach()), ("backward", x.grad)):
        yield name
        for channel, row in enumerate(result[0, :, 0]):
            yield f"c{channel} | {joined(row)}"
    yield "dropout of nothing keeps everything: yes"


def old_lenet() -> Lines:
    def weights(seed: int, *shape: int) -> Tensor:
        return cycle((np.arange(np.prod(shape)) * seed % 13 - 6) / 24, *shape)

    def bias(count: int) -> Tensor:
        return 0.01 * torch.arange(count).double()

    row, column = np.ogrid[:12, :12]
    for number, image in enumerate(((row + column) % 4 == 0, row == column)):
        x = torch.tensor(image * 1.0)[None, None]
        x = F.max_pool2d(F.conv2d(x, weights(5, 3, 1, 3, 3), bias(3)), 2)
        x = F.max_pool2d(F.conv2d(x, weights(7, 4, 3, 2, 2), bias(4)), 2)
        yield "features: " + " x ".join(map(str, x.shape[1:]))
        hidden = F.relu(F.linear(x.flatten(1), weights(11, 6, 16), bias(6)))
        p = F.linear(hidden, weights(3, 4, 6), bias(4)).softmax(1)[0]
        yield "p: " + joined(p)
        yield f"image {number} is class {int(p.argmax())}"


def gru() -> Lines:
    def wave(count: int, step: int, scale: float) -> Tensor:
        return cycle(scale * (np.arange(count) * step % 9 - 4), count)

    network = torch.nn.GRU(3, 2).double()
    with torch.no_grad():
        for part, first, columns in (("ih", 0, 3), ("hh", 3, 2)):
            matrices = [wave(2 * columns, first + gate + 2, 0.2) for gate in range(3)]
            biases = [wave(2, first + gate + 1, 0.1) for gate in range(3)]
            getattr(network, f"weight_{part}_l0").copy_(torch.cat(matrices).reshape(6, columns))
            getattr(network, f"bias_{part}_l0").copy_(torch.cat(biases))
    x = wave(24, 5, 0.25).reshape(4, 2, 3).requires_grad_()
    y, _ = network(x)
    y.backward(wave(16, 7, 0.125).reshape(4, 2, 2))
    assert x.grad is not None
    yield "y " + joined(y.detach(), ".5f")
    yield "dx " + joined(x.grad.flatten()[:6], ".5f")
    yield "dW " + joined(network.weight_ih_l0.grad[:2], ".5f")
    yield "dR " + joined(network.weight_hh_l0.grad[4:], ".5f")


def spatial_transformer() -> Lines:
    r, c = np.ogrid[:4, :4]
    image = torch.tensor(10.0 * r + c).double()[None, None]
    theta = torch.tensor([[[0.0, 1, 0], [-1, 0, 0.5]]]).double()
    grid = F.affine_grid(theta, [1, 1, 4, 4], align_corners=True)
    turned = F.grid_sample(image, grid, align_corners=True)
    for name, values in (("image", image), ("turned", turned)):
        yield name
        for row in values[0, 0]:
            yield joined(row, "6.2f")


def backend_matmul() -> Lines:
    c = (np.arange(128) % 5 - 2).reshape(8, 16) @ (np.arange(128) % 7 - 3).reshape(16, 8)
    yield "configs: one"
    for row in c[::3]:
        yield joined(row, "5.0f")


def streams() -> Lines:
    yield "devices: some"
    index = np.arange(0, 15, 7)
    yield "job 0: " + joined(index + 1.0, "g")
    yield "job 1: " + joined(3.0 - index, "g")
    yield "time runs forwards: 1"


def linear_congruence(state: int) -> Iterator[float]:
    while True:
        state = (state * 1103515245 + 12345) % (1 << 32)
        yield (state >> 16 & 15) * 0.125 - 1


def volume() -> Lines:
    x = torch.tensor(list(islice(linear_congruence(1), 320))).double().reshape(1, 4, 5, 4, 4)
    w = torch.tensor(list(islice(linear_congruence(77), 72))).double().reshape(6, 2, 2, 3, 1)
    y = F.conv3d(x, w, stride=(1, 2, 1), padding=(1, 1, 0), dilation=(2, 1, 1), groups=2)
    yield "y " + "x".join(map(str, y.shape))
    p = F.max_pool3d(y, (2, 1, 2)).flatten()
    yield f"{len(p)} values, sum {p.sum():.4f}, first {p[0]:.4f}, last {p[-1]:.4f}"
    yield "errors: 0"


def options() -> Lines:
    yield "output 2 4 8 8"
    yield "2x3x8x8 NCHW: described"
    yield "named some: yes, some usable: yes"
    yield "IMPLICIT_GEMM needs no memory: 1"
    yield "a negative size: bad parameter"


def old_versions() -> Lines:
    x = cycle(np.arange(50) % 6 * 0.5 - 1, 1, 2, 5, 5)
    w = cycle(np.arange(54) % 4 * 0.25 - 0.5, 3, 2, 3, 3).requires_grad_()
    before = F.conv2d(x, w, torch.tensor([0.5, -0.5, 0]).double(), padding=1)
    y = F.relu(before).detach()
    before.backward(y)
    assert w.grad is not None
    yield "y " + joined(y.flatten()[[0, 32, 74]])
    yield "dw " + joined(w.grad.flatten()[[0, 30, 53]])
    yield "pooled 3x2x2 " + joined(F.max_pool2d(y, 3, 2).flatten()[:4])


def managed() -> Lines:
    c, y, x = np.ogrid[:3, :2, :4]
    image = 100.0 * c + 10 * y + x
    yield joined((image / 2).transpose(1, 2, 0).flatten()[:6], "g") + " "
    yield "106.5 213"
    yield "wrong: 0"


def half() -> Lines:
    x = cycle((np.arange(288) % 9 - 4) * 0.25, 1, 6, 6, 8).permute(0, 3, 1, 2)
    w = cycle((np.arange(576) % 5 - 2) * 0.5, 8, 3, 3, 8).permute(0, 3, 1, 2)
    y = F.conv2d(x, w, padding=1).flatten()
    yield f"sum {y.sum():.2f} corner {y[0]:.3f} middle {y[3 * 36 + 14]:.3f} last {y[-1]:.3f}"


ORACLES: dict[str, Callable[[], Lines]] = {
    "tiny.c": tiny,
    "softmax.cpp": softmax,
    "training.cpp": training,
    "old_algorithm.c": old_algorithm,
    "ctc.cpp": ctc,
    "attention.c": attention,
    "old_rnn_training.c": old_rnn_training,
    "kernels.cu": kernels,
    "gradients.c": gradients,
    "function_table.c": function_table,
    "normalization.c": normalization,
    "old_lenet.cpp": old_lenet,
    "gru.cpp": gru,
    "spatial_transformer.c": spatial_transformer,
    "backend_matmul.cpp": backend_matmul,
    "streams.c": streams,
    "volume.c": volume,
    "options.c": options,
    "old_versions.c": old_versions,
    "managed.cpp": managed,
    "half.cu": half,
}
"""By the name of the program."""
