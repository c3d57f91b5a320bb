"""Random convolutions, what they should give, and how far off a result may be."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes import reference as ref

Shape = tuple[int, ...]
OPERATIONS = ("forward", "backward_data", "backward_filter", "backward_bias", "fused")


@dataclass(frozen=True)
class Kind:
    """Data types that go together: of x and w, of y, and of what products are summed in."""

    x: str
    y: str
    compute: str
    vector: int = 1

    @property
    def integer(self) -> bool:
        return self.x.startswith("int8")

    @property
    def operations(self) -> tuple[str, ...]:
        """cuDNN has integer convolutions forward only."""
        return ("forward", "fused") if self.integer else OPERATIONS

    def __str__(self) -> str:
        return self.x if self.x == self.y else f"{self.x} to {self.y}"


KINDS = (
    Kind("float64", "float64", "float64"),
    Kind("float32", "float32", "float32"),
    Kind("float16", "float16", "float32"),
    Kind("bfloat16", "bfloat16", "float32"),
    Kind("int8", "int8", "int32"),
    Kind("int8", "float32", "int32"),
    Kind("int8x4", "int8x4", "int32", vector=4),
    Kind("int8x4", "float32", "int32", vector=4),
    Kind("int8x32", "int8x32", "int32", vector=32),
)


@dataclass(frozen=True)
class Problem:
    """A convolution: shapes, options, and how its tensors lie in memory."""

    kind: Kind
    x_shape: Shape
    w_shape: Shape
    padding: Shape
    stride: Shape
    dilation: Shape
    groups: int
    mode: str
    math_type: str
    layout: str
    gaps: bool
    alpha: float
    beta: float
    seed: int

    @functools.cached_property
    def y_shape(self) -> Shape:
        reach = [(r - 1) * d + 1 for r, d in zip(self.w_shape[2:], self.dilation, strict=True)]
        sizes = zip(self.x_shape[2:], self.padding, reach, self.stride, strict=True)
        output = [(n + 2 * p - r) // s + 1 for n, p, r, s in sizes]
        return (self.x_shape[0], self.w_shape[0], *output)

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of the reference functions."""
        return {
            "padding": self.padding,
            "stride": self.stride,
            "dilation": self.dilation,
            "groups": self.groups,
            "mode": self.mode,
        }


def random_problem(kind: Kind, seed: int, operation: str = "forward") -> Problem:
    """The problem number `seed` of a kind, one that an operation may well be able to do."""
    rng = np.random.default_rng([seed, KINDS.index(kind), OPERATIONS.index(operation)])
    # Integer kernels are for 2 spatial dimensions, dilation 1 and multiples of 4 channels.
    ndim = 2 if kind.integer else int(rng.choice([1, 2, 2, 2, 3]))
    groups = 1 if kind.integer else int(rng.choice([1, 1, 2, 3]))
    unit = {1: 4 if kind.integer else 1}.get(kind.vector, kind.vector)
    channels = unit * int(rng.integers(1, 9 if unit == 1 else 4)) * groups
    filters = unit * int(rng.integers(1, 9 if unit == 1 else 4)) * groups
    window = _ints(rng, 1, 5, ndim)
    stride, padding = _ints(rng, 1, 4, ndim), _ints(rng, 0, 3, ndim)
    dilation = (1,) * ndim if kind.integer else _ints(rng, 1, 3, ndim)
    sizes = tuple(
        max(1, (r - 1) * d + 1 - 2 * p) + int(rng.integers(0, 8))
        for r, d, p in zip(window, dilation, padding, strict=True)
    )
    layout = str(rng.choice(["NCHW", "NHWC"]))
    if kind.integer:
        layout = "NHWC" if kind.vector == 1 else f"NCHW_VECT_C{kind.vector}"
    floats = kind.x == "float32"  # for the others it makes no difference to the bound
    integer_factors, factors = [1.0, 0.5, 0.125], [1.0, 0.5, -1.25, float(rng.uniform(-2, 2))]
    return Problem(
        kind=kind,
        x_shape=(int(rng.integers(1, 4)), channels, *sizes),
        w_shape=(filters, channels // groups, *window),
        padding=padding,
        stride=stride,
        dilation=dilation,
        groups=groups,
        mode=str(rng.choice(["convolution", "cross_correlation"])),
        math_type=str(rng.choice(["default_math", "fma_math"])) if floats else "default_math",
        layout=layout,
        gaps=operation == "forward" and layout == "NCHW" and rng.random() < 0.2,
        alpha=float(rng.choice(integer_factors if kind.integer else factors)),
        beta=float(rng.choice([0.0, 0.0, 1.0, 0.5])),
        seed=seed,
    )


def _ints(rng: np.random.Generator, low: int, high: int, count: int) -> Shape:
    return tuple(int(n) for n in rng.integers(low, high, count))


def numpy_type(name: str) -> np.dtype[Any]:
    if name.startswith("int8"):
        return np.dtype(np.int8)
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


@dataclass(frozen=True)
class Operands:
    """Host arrays; `prior` is what the result holds before, and NaN where that is not read."""

    x: NDArray[Any]
    w: NDArray[Any]
    dy: NDArray[Any]
    z: NDArray[Any]
    bias: NDArray[Any]
    prior: NDArray[Any]


def random_operands(problem: Problem, operation: str) -> Operands:
    rng = np.random.default_rng([problem.seed, 12345])
    kind = problem.kind
    prior_shape = {
        "forward": problem.y_shape,
        "fused": problem.y_shape,
        "backward_data": problem.x_shape,
        "backward_filter": problem.w_shape,
        "backward_bias": problem.w_shape[:1],
    }[operation]
    result = numpy_type(kind.y)
    prior = _values(rng, prior_shape, result)
    if problem.beta == 0 or operation == "fused":
        prior = np.full(prior_shape, 119 if result.kind == "i" else np.nan).astype(result)
    return Operands(
        x=_values(rng, problem.x_shape, numpy_type(kind.x)),
        w=_values(rng, problem.w_shape, numpy_type(kind.x)),
        dy=_values(rng, problem.y_shape, result),
        z=_values(rng, problem.y_shape, result),
        bias=_bias(rng, problem.w_shape[:1], kind),
        prior=prior,
    )


def _values(rng: np.random.Generator, shape: Shape, dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype.kind == "i":  # small, so that sums seldom leave the range of int8
        return rng.integers(-3, 4, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def _bias(rng: np.random.Generator, shape: Shape, kind: Kind) -> NDArray[Any]:
    if kind.integer:  # eighths, as alpha has, so that float32 adds them exactly before rounding
        return (rng.integers(-80, 81, shape) / 8).astype(np.float32)
    return _values(rng, shape, numpy_type(kind.y))


def expected(problem: Problem, operation: str, given: Operands, *, identity: bool) -> NDArray[Any]:
    """The exact result, in float64 (for integers: as it is rounded and clipped)."""
    exact = _exact(problem, operation, given, identity)
    if numpy_type(problem.kind.y).kind != "i":
        return exact
    limits = np.iinfo(numpy_type(problem.kind.y))
    return np.clip(np.rint(exact), limits.min, limits.max)


def _exact(
    problem: Problem, operation: str, given: Operands, identity: bool, *, magnitude: bool = False
) -> NDArray[Any]:
    def wide(array: NDArray[Any]) -> NDArray[Any]:
        array = array.astype(np.float64)
        return np.abs(array) if magnitude else array

    options = {**problem.options, "compute_dtype": np.float64, "out_dtype": np.float64}
    factors = {"alpha": problem.alpha, "beta": problem.beta}
    if magnitude:
        factors = {name: abs(factor) for name, factor in factors.items()}
    x, w, dy, prior = wide(given.x), wide(given.w), wide(given.dy), wide(given.prior)
    match operation:
        case "forward":
            return ref.convolution_forward(x, w, y=prior, **options, **factors)
        case "backward_data":
            return ref.convolution_backward_data(
                w=w, dy=dy, dx_shape=problem.x_shape, dx=prior, **options, **factors
            )
        case "backward_filter":
            return ref.convolution_backward_filter(
                x=x, dy=dy, dw_shape=problem.w_shape, dw=prior, **options, **factors
            )
        case "backward_bias":
            prior = prior.reshape(1, -1, *(1,) * (dy.ndim - 2))
            return ref.convolution_backward_bias(dy=dy, db=prior, **factors).reshape(-1)
    return ref.convolution_bias_activation_forward(
        x,
        w,
        wide(given.z),
        wide(given.bias),
        **options,
        alpha1=factors["alpha"],
        alpha2=factors["beta"],
        activation="identity" if identity else "relu",
    )


# Unit roundoffs: half the distance from 1 to the next number.
ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
TF32 = 2.0**-11
TRANSFORMED = ("FFT", "WINOGRAD")
ATOMIC = ("BWD_DATA_ALGO_0",)


def tolerance(
    problem: Problem, operation: str, given: Operands, exact: NDArray[Any], algorithm: str
) -> NDArray[Any]:
    """How far each element may be off.

    A sum of L products a_i b_i in an arithmetic of unit roundoff u is off by at most about
    L u S, S = sum |a_i b_i| (u twice that of float32 for tensor cores, which truncate). Rounding
    the factors first adds 2 v S, with v their new roundoff: TF32's for float32, where default math
    allows it. Storing adds the result type's roundoff times the result. FFT and Winograd round
    transformed factors, which are larger than the factors by a number that grows with the
    transform, 64 being above what 4x4 tiles and 5x5 filters, or the sizes here, make of it.
    Algorithms that add their parts to the result in memory round each of the parts to its type.
    alpha, beta, bias and z add a few roundings of float32. Integers must be right exactly, save
    float32's roundings where the result is float32.
    """
    kind = problem.kind
    if kind.integer and kind.y != "float32":
        return np.zeros_like(exact)
    store = ROUNDOFF[kind.y]
    compute = ROUNDOFF["float64" if kind.compute == "float64" else "float32"]
    size = _exact(problem, operation, given, False, magnitude=True)
    if kind.integer:
        return 8 * compute * size + store * np.abs(exact)
    # Products of two float16 or bfloat16 numbers are exact in float32.
    tf32 = kind.x == "float32" and problem.math_type == "default_math"
    factors = TF32 if tf32 and operation != "backward_bias" else 0.0
    if any(name in algorithm for name in TRANSFORMED):
        factors = 64 * max(ROUNDOFF[kind.x], factors)
    length = _length(problem, operation)
    if any(name in algorithm for name in ATOMIC):
        compute = max(compute, store)
    smallest = float(ml_dtypes.finfo(numpy_type(kind.y)).smallest_subnormal)
    return (2 * factors + (2 * length + 8) * compute) * size + store * np.abs(exact) + smallest


def _length(problem: Problem, operation: str) -> int:
    """Products in one sum, at most."""
    (batch, filters), positions = problem.y_shape[:2], problem.y_shape[2:]
    counts: dict[str, Sequence[int]] = {
        "forward": problem.w_shape[1:],
        "fused": problem.w_shape[1:],
        "backward_data": (filters // problem.groups, *problem.w_shape[2:]),
        "backward_filter": (batch, *positions),
        "backward_bias": (batch, *positions),
    }
    return int(np.prod(counts[operation]))
