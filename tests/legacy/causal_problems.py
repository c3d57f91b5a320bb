"""Random causal convolutions, what they should give, and how far off results may be.

A sum of L products in an arithmetic of unit roundoff u is off by at most about L u S, with S the
sum of the products' magnitudes; storing adds the type's own roundoff.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, reference

from .draws import ROUNDOFF, Array, Result, compute_roundoff, dtype_of, wide


class Problem:
    """Random operands of a data type."""

    def __init__(self, data_type: str, seed: int, salt: int) -> None:
        self.rng = np.random.default_rng([seed, salt, *data_type.encode()])
        self.dtype, self.compute = dtype_of(data_type), compute_roundoff(data_type)

    def ints(self, low: int, high: int, count: int) -> list[int]:
        return [int(n) for n in self.rng.integers(low, high, count)]

    def normal(self, *shape: int, scale: float = 1) -> Array:
        return (scale * self.rng.standard_normal(shape)).astype(self.dtype)

    def result(self, name: str, tensor: Any, exact: Array, magnitude: Any, length: int) -> Result:
        value = tensor.numpy()
        allowed = (2 * length + 64) * self.compute * magnitude
        allowed = allowed + 2 * ROUNDOFF[value.dtype.name] * np.abs(exact)
        allowed = allowed + float(ml_dtypes.finfo(value.dtype).smallest_subnormal)
        return Result(name, value, exact, allowed)


def upload(array: Array, *, channels_last: bool = False) -> DeviceTensor:
    if not channels_last:
        return DeviceTensor.from_numpy(array)
    strides: tuple[int, ...] = (1, array.shape[0])
    if array.ndim == 3:
        strides = (array.shape[1] * array.shape[2], 1, array.shape[1])
    return DeviceTensor.from_numpy(array, strides=strides)


def sizes_of(formula: Any, **operands: Array) -> Any:
    """What a formula makes of the operands' magnitudes."""
    return formula(**{name: np.abs(wide(array)) for name, array in operands.items()})


def direct(data_type: str, seed: int) -> Iterator[Result]:
    problem, channels_last = Problem(data_type, seed, 0), seed % 2 == 1
    activation = ("identity", "silu")[seed // 2 % 2]
    batch, dim, time = problem.ints(1, 20, 3)
    width = int(problem.rng.choice([2, 3, 4, 5, 6, 7, 8, 16, 32, 64]))
    x, dy = problem.normal(batch, dim, time), problem.normal(batch, dim, time)
    w, bias = problem.normal(dim, width), problem.normal(dim)
    given = {
        "x": upload(x, channels_last=channels_last),
        "w": upload(w, channels_last=channels_last),
        "bias": upload(bias),
        "activation": activation,
    }
    y = cudnn.causal_convolution_forward(**given)
    assert y.strides == given["x"].strides or dim == 1 or time == 1
    exact = {"x": wide(x), "w": wide(w), "bias": wide(bias)}
    magnitude = sizes_of(reference.causal_convolution_forward, **exact)
    expected = reference.causal_convolution_forward(**exact, activation=activation)
    yield problem.result("y", y, expected, magnitude, width)

    gradients = cudnn.causal_convolution_backward(
        **given, dy=upload(dy, channels_last=channels_last)
    )
    wanted = reference.causal_convolution_backward(**exact, dy=wide(dy), activation=activation)
    # SiLU's slope is off by its own roundings times the sum before it, and is at most 1.1.
    slopes = 1.1 * np.abs(wide(dy)) * (1 + magnitude)
    sizes = sizes_of(reference.causal_convolution_backward, **exact, dy=slopes)
    for name, one, other, size in zip(("dx", "dw", "db"), gradients, wanted, sizes, strict=True):
        yield problem.result(name, one, other, size, width + batch * time)


def back_to_back(data_type: str, seed: int) -> Iterator[Result]:
    problem = Problem(data_type, seed, 1)
    (batch, dim, time), (proj, mixer) = problem.ints(1, 12, 3), problem.ints(2, 9, 2)
    shapes = {
        "x": (batch, dim, 3, time),
        "w_proj": (dim, 3, proj),
        "w_mixer": (dim, mixer),
        "skip_bias": (dim,),
    }
    operands = {name: problem.normal(*shape, scale=0.5) for name, shape in shapes.items()}
    given = {name: upload(array) for name, array in operands.items()}
    exact = {name: wide(array) for name, array in operands.items()}
    made = cudnn.back_to_back_convolution_forward(**given)
    expected = reference.back_to_back_convolution_forward(**exact)
    sizes = sizes_of(reference.back_to_back_convolution_forward, **exact)
    length = 3 * proj + mixer
    # cuDNN may store intermediate results in the type of x.
    slack = 1 + ROUNDOFF[data_type] / problem.compute / 16
    for name in ("y", "gated"):
        one, other, size = (getattr(each, name) for each in (made, expected, sizes))
        yield problem.result(name, one, other, slack * size, length)

    dgated = problem.normal(batch, dim, time)
    gradients = cudnn.back_to_back_convolution_backward(**given, y=made.y, dgated=upload(dgated))
    formula, y = reference.back_to_back_convolution_backward, wide(made.y.numpy())
    wanted = formula(**exact, y=y, dgated=wide(dgated))
    magnitudes = sizes_of(formula, **exact, y=sizes.y, dgated=dgated)
    for name, one, other, size in zip(wanted._fields, gradients, wanted, magnitudes, strict=True):
        yield problem.result(name, one, other, slack * size, length + batch * time)


def fft(data_type: str, seed: int) -> Iterator[Result]:
    """A transform mixes all elements, so its roundings are of the size of the largest sums."""
    problem, width = Problem(data_type, seed, 2), (128, 256)[seed % 2]
    batch, dim, time = 2, 3, 2 * width
    x, dy = problem.normal(batch, dim, time), problem.normal(batch, dim, time)
    w = problem.normal(dim, width, scale=1 / 8)
    given = {"x": upload(x), "w": upload(w)}
    y = cudnn.fft_causal_convolution_forward(**given)
    gradients = cudnn.fft_causal_convolution_backward(**given, dy=upload(dy))
    yield from _transformed(problem, y, gradients, x, w, dy, width, 2 * time)


def long_fft(data_type: str, seed: int) -> Iterator[Result]:
    problem = Problem(data_type, seed, 3)
    batch, dim, time = 2, 2, 4096
    x, dy = problem.normal(batch, dim, time), problem.normal(batch, dim, time)
    w = problem.normal(dim, time, scale=1 / 64)
    made = cudnn.long_fft_causal_convolution_forward(upload(x), upload(w))
    sizes = cudnn.long_fft_causal_convolution_buffer_sizes(batch, dim, time, data_type=data_type)
    assert made.reserve_space.nbytes == sizes.reserve_space
    gradients = cudnn.long_fft_causal_convolution_backward(
        dy=upload(dy), reserve_space=made.reserve_space
    )
    yield from _transformed(problem, made.y, gradients, x, w, dy, 256, 256)


def _transformed(
    problem: Problem,
    y: Any,
    gradients: Any,
    x: Array,
    w: Array,
    dy: Array,
    length: int,
    gradient_length: int,
) -> Iterator[Result]:
    forward, backward = (
        reference.fft_causal_convolution_forward,
        reference.fft_causal_convolution_backward,
    )
    exact = {"x": wide(x), "w": wide(w)}
    yield problem.result("y", y, forward(**exact), sizes_of(forward, **exact).max(), length)
    wanted = backward(**exact, dy=wide(dy))
    sizes = sizes_of(backward, **exact, dy=dy)
    for name, one, other, size in zip(("dx", "dw"), gradients, wanted, sizes, strict=True):
        yield problem.result(name, one, other, size.max(), gradient_length)
