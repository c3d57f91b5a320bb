"""What random problems are made of: shapes, values, factors, and how tensors lie in memory.

A `Case` is one call through layer 2 with its exact result, computed by the reference in float64
from the same rounded operands, and how far off each element may be. With u the unit roundoff of the
arithmetic (float32, for float64 data float64) and v that of the stored type:

- storing a result r is off by v |r|, or half of the smallest subnormal;
- alpha * r + beta * prior is off by 4 u (|alpha r| + |beta prior|) beside;
- a sum or product of L terms is off by L u times the sum of the absolute terms, or the product;
- exp, tanh and the like are off by 16 u of their value, on a GPU too;
- what is computed from a y that was rounded when it was stored is off by what that makes of v |y|.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes import DeviceTensor, Handle
from cudnn_ctypes.runtime import copy

Array = NDArray[Any]
ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
FLOATING = tuple(ROUNDOFF)


@dataclass(frozen=True)
class Case:
    """One call; `run` gives its result and `exact` what it should be, up to `allowed`."""

    run: Callable[[Handle], Array]
    exact: Array
    allowed: Array
    about: str


class Result(NamedTuple):
    """A result, what it should be, and how far each element may be off."""

    name: str
    value: Array
    exact: Array
    allowed: Any
    about: object = ""


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def compute_roundoff(name: str) -> float:
    return ROUNDOFF["float64" if name == "float64" else "float32"]


@dataclass
class Draw:
    """The random choices of a problem."""

    seed: tuple[int, ...]
    data_type: str
    rng: np.random.Generator = field(init=False)
    alpha: float = field(init=False)
    beta: float = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.alpha = float(self.rng.choice([1.0, 0.5, -1.25, self.rng.uniform(-2, 2)]))
        self.beta = float(self.rng.choice([0.0, 0.0, 1.0, 0.5]))

    @property
    def dtype(self) -> np.dtype[Any]:
        return dtype_of(self.data_type)

    @property
    def factors(self) -> dict[str, float]:
        return {"alpha": self.alpha, "beta": self.beta}

    def shape(self, low: int, high: int, *, longest: int = 8) -> tuple[int, ...]:
        """(N, C, spatial...) with `low` to `high` dimensions."""
        ndim = int(self.rng.integers(low, high + 1))
        spatial = (int(n) for n in self.rng.integers(1, longest, max(ndim - 2, 0)))
        return (int(self.rng.integers(1, 4)), int(self.rng.integers(1, 9)), *spatial)

    def values(self, shape: tuple[int, ...], data_type: str | None = None) -> Array:
        dtype = dtype_of(data_type or self.data_type)
        if dtype.kind in "iu":
            return self.rng.integers(-9, 10, shape).astype(dtype)
        return self.rng.standard_normal(shape).astype(dtype)

    def distinct(self, shape: tuple[int, ...]) -> Array:
        """Values of which no two are equal, nor, up to 1500, of the same size."""
        count = int(np.prod(shape))
        if self.data_type not in ("float16", "bfloat16"):
            return self.values(shape)
        codes = np.arange(0x8000, dtype=np.uint16).view(self.dtype)
        with np.errstate(invalid="ignore"):  # some codes are signalling NaNs
            wide = codes.astype(np.float64)
        positive = codes[(wide >= 2.0**-6) & (wide <= 2.0**6)]
        if count <= len(positive):
            signs = self.rng.choice([-1, 1], count).astype(self.dtype)
            return (signs * self.rng.permutation(positive)[:count]).reshape(shape)
        both = np.concatenate([positive, -positive])
        return self.rng.permutation(both)[:count].reshape(shape)

    def prior(self, shape: tuple[int, ...], data_type: str | None = None) -> Array:
        """What the result holds before: poison where it is not read."""
        dtype = dtype_of(data_type or self.data_type)
        if self.beta:
            return self.values(shape, data_type)
        return np.full(shape, 119 if dtype.kind in "iu" else np.nan).astype(dtype)

    def arrangement(self, shape: tuple[int, ...]) -> dict[str, Any]:
        """How a tensor lies in memory: NCHW, NHWC, or with gaps between rows and images."""
        which = self.rng.choice(["NCHW", "NHWC", "gaps"])
        if which != "gaps":
            return {"layout": str(which)}
        strides = [1]
        for size in reversed(shape[1:]):
            strides.insert(0, strides[0] * size + int(self.rng.integers(0, 3)))
        return {"strides": tuple(strides)}

    def stored(self, exact: Array, computed: Array, data_type: str | None = None) -> Array:
        """How far off a stored result may be whose computation may be off by `computed`.

        `exact` is not rounded to whole numbers yet.
        """
        name = data_type or self.data_type
        if name not in ROUNDOFF:  # whole numbers: near a tie, either neighbour
            return (np.abs(exact - np.floor(exact) - 0.5) <= computed) * 1.0
        smallest = float(ml_dtypes.finfo(dtype_of(name)).smallest_subnormal)
        return computed + ROUNDOFF[name] * np.abs(exact) + smallest

    def blended(self, result: Array, prior: Array) -> Array:
        """What alpha and beta may add to the error."""
        before = np.abs(self.beta * wide(prior)) if self.beta else 0.0
        size = np.abs(self.alpha * result) + before
        return 4 * compute_roundoff(self.data_type) * size


def wide(array: Array) -> Array:
    return array.astype(np.float64)


def whole(exact: Array, data_type: str) -> Array:
    """`exact`, for integers as it is rounded and clipped."""
    return np.clip(np.rint(exact), -128, 127) if data_type == "int8" else exact


def check_gaps(tensor: DeviceTensor) -> None:
    """Nothing was written between the elements of a tensor that was copied to the device."""
    if tensor.nbytes == tensor.size * tensor.dtype.itemsize:
        return
    memory = copy.read(tensor, 0, tensor.nbytes)
    strides = [step * tensor.dtype.itemsize for step in tensor.strides]
    np.ndarray(tensor.shape, tensor.dtype, memory.data, strides=strides).fill(0)
    assert not memory.any(), "between elements"


class Device(ExitStack):
    """Puts arrays on a handle's device, and closes them; gaps between elements stay 0."""

    def __init__(self, handle: Handle) -> None:
        super().__init__()
        self.handle = handle

    def put(self, array: Array, **how: Any) -> DeviceTensor:
        tensor = DeviceTensor.from_numpy(array, stream=self.handle.stream, **how)
        self.enter_context(tensor)
        if self.handle.on_reference_device:
            self.callback(check_gaps, tensor)
        return tensor

    def get(self, result: DeviceTensor) -> Array:
        with result:
            return result.numpy()
