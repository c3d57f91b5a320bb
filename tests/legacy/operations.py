"""Random problems for activation, softmax, pooling, reductions and tensor operations.

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

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle, reference

Array = NDArray[Any]
ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
FLOATING = tuple(ROUNDOFF)
ACTIVATIONS = ("sigmoid", "relu", "tanh", "clipped_relu", "elu", "swish")
SOFTMAXES = ("fast", "accurate", "log")
POOLINGS = (
    "max",
    "max_deterministic",
    "average_count_include_padding",
    "average_count_exclude_padding",
)
REDUCTIONS = ("add", "mul", "min", "max", "amax", "avg", "norm1", "norm2", "mul_no_zeros")
OPERATIONS = ("add", "mul", "min", "max", "sqrt", "not")
# Types of A and B, and of C, that cuDNN's documentation lists for cudnnOpTensor.
OP_TYPES = (
    ("float64", "float64"),
    ("float32", "float32"),
    ("float16", "float16"),
    ("bfloat16", "bfloat16"),
    ("int8", "int8"),
    ("float16", "float32"),
    ("bfloat16", "float32"),
    ("int8", "float32"),
    ("float32", "float16"),
    ("float32", "bfloat16"),
    ("float32", "int8"),
)


@dataclass(frozen=True)
class Case:
    """One call; `run` gives its result and `exact` what it should be, up to `allowed`."""

    run: Callable[[Handle], Array]
    exact: Array
    allowed: Array
    about: str


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


class Device(ExitStack):
    """Puts arrays on a handle's device, and closes them."""

    def __init__(self, handle: Handle) -> None:
        super().__init__()
        self.handle = handle

    def put(self, array: Array, **how: Any) -> DeviceTensor:
        tensor = DeviceTensor.from_numpy(array, stream=self.handle.stream, **how)
        return self.enter_context(tensor)

    def get(self, result: DeviceTensor) -> Array:
        with result:
            return result.numpy()


# -- activation --------------------------------------------------------------------------------


def _activation(draw: Draw, mode: str) -> tuple[float, dict[str, float]]:
    """The coefficient, and the options of the descriptor."""
    coefficient = float(draw.rng.uniform(0.25, 2))
    return coefficient, {"coef": coefficient, "swish_beta": coefficient}


def activation_forward(draw: Draw, mode: str) -> Case:
    shape = draw.shape(2, 5)
    coefficient, options = _activation(draw, mode)
    x, prior, how = 2 * draw.values(shape), draw.prior(shape), draw.arrangement(shape)
    x = x.astype(draw.dtype)
    reuse = bool(draw.beta == 0 and draw.rng.random() < 0.3)

    def run(handle: Handle) -> Array:
        with Device(handle) as device, cudnn.ActivationDescriptor(mode, **options) as activation:
            source = device.put(x, **how)
            target = source if reuse else device.put(prior, **how)
            cudnn.activation_forward(handle, source, activation, target, **draw.factors)
            return target.numpy()

    plain = reference.activation_forward(wide(x), mode, coefficient)
    exact = reference.activation_forward(
        wide(x), mode, coefficient, y=wide(prior), out_dtype=np.float64, **draw.factors
    )
    # tanh, sigmoid, swish and elu come from numbers of size 1, and x.
    function = 16 * compute_roundoff(draw.data_type) * abs(draw.alpha) * (1 + np.abs(wide(x)))
    allowed = draw.stored(exact, draw.blended(plain, prior) + function)
    return Case(run, exact, allowed, f"{shape} {how} {options} {draw.factors} in place: {reuse}")


def activation_backward(draw: Draw, mode: str) -> Case:
    shape = draw.shape(2, 5)
    coefficient, options = _activation(draw, mode)
    x = (2 * draw.values(shape)).astype(draw.dtype)
    y = reference.activation_forward(wide(x), mode, coefficient, out_dtype=draw.dtype)
    dy, prior, how = draw.values(shape), draw.prior(shape), draw.arrangement(shape)

    def run(handle: Handle) -> Array:
        with Device(handle) as device, cudnn.ActivationDescriptor(mode, **options) as activation:
            operands = [device.put(array, **how) for array in (y, dy, x)]
            target = device.put(prior, **how) if draw.beta else None
            result = cudnn.activation_backward(
                handle, *operands, activation, target, **draw.factors
            )
            return result.numpy() if target else device.get(result)

    operands = (wide(y), wide(dy), wide(x), mode, coefficient)
    plain = reference.activation_backward(*operands)
    exact = reference.activation_backward(
        *operands, dx=wide(prior), out_dtype=np.float64, **draw.factors
    )
    # From the rounded y, or from x, as cuDNN likes.
    size = np.abs(draw.alpha * wide(dy)) * (2 + coefficient * (1 + np.abs(wide(x))))
    rounded = (ROUNDOFF[draw.data_type] + 16 * compute_roundoff(draw.data_type)) * size
    if mode in ("relu", "clipped_relu"):
        rounded = np.zeros(shape)
    allowed = draw.stored(exact, draw.blended(plain, prior) + rounded)
    return Case(run, exact, allowed, f"{shape} {how} {options} {draw.factors}")


# -- softmax -----------------------------------------------------------------------------------


def _softmax(draw: Draw, algorithm: str) -> tuple[tuple[int, ...], dict[str, Any], int]:
    shape, mode = draw.shape(2, 5), str(draw.rng.choice(["instance", "channel"]))
    length = shape[1] if mode == "channel" else int(np.prod(shape[1:]))
    return shape, {"algorithm": algorithm, "mode": mode}, length


def softmax_forward(draw: Draw, algorithm: str) -> Case:
    shape, options, length = _softmax(draw, algorithm)
    x = (3 * draw.values(shape)).astype(draw.dtype)
    prior, how = draw.prior(shape), draw.arrangement(shape)
    made = bool(draw.beta == 0 and draw.rng.random() < 0.5)

    def run(handle: Handle) -> Array:
        with Device(handle) as device:
            target = None if made else device.put(prior, **how)
            factors = draw.factors
            source = device.put(x, **how)
            result = cudnn.softmax_forward(handle, source, target, **options, **factors)
            return device.get(result) if made else result.numpy()

    plain = reference.softmax_forward(wide(x), **options)
    exact = reference.softmax_forward(
        wide(x), y=wide(prior), out_dtype=np.float64, **options, **draw.factors
    )
    relative = (length + 16 + 2 * np.abs(wide(x)).max()) * compute_roundoff(draw.data_type)
    size = np.abs(plain) if algorithm != "log" else 1 + np.abs(plain) + np.abs(wide(x))
    allowed = draw.stored(exact, draw.blended(plain, prior) + relative * abs(draw.alpha) * size)
    return Case(run, exact, allowed, f"{shape} {how} {options} {draw.factors} made: {made}")


def softmax_backward(draw: Draw, algorithm: str) -> Case:
    shape, options, length = _softmax(draw, algorithm)
    x = wide(draw.values(shape))
    y = reference.softmax_forward(x, out_dtype=draw.dtype, **options)
    dy, prior, how = draw.values(shape), draw.prior(shape), draw.arrangement(shape)

    def run(handle: Handle) -> Array:
        with Device(handle) as device:
            target = device.put(prior, **how) if draw.beta else None
            given = (device.put(y, **how), device.put(dy, **how), target)
            result = cudnn.softmax_backward(handle, *given, **options, **draw.factors)
            return result.numpy() if target else device.get(result)

    plain = reference.softmax_backward(wide(y), wide(dy), **options)
    exact = reference.softmax_backward(
        wide(y), wide(dy), dx=wide(prior), out_dtype=np.float64, **options, **draw.factors
    )
    axes = (1,) if options["mode"] == "channel" else tuple(range(1, len(shape)))
    values = np.exp(wide(y)) if algorithm == "log" else np.abs(wide(y))
    terms = np.abs(wide(dy)) * (1 if algorithm == "log" else values)
    size = values * terms.sum(axis=axes, keepdims=True) + np.abs(wide(dy)) * (
        1 if algorithm == "log" else values
    )
    relative = (2 * length + 16) * compute_roundoff(draw.data_type) * abs(draw.alpha)
    allowed = draw.stored(exact, draw.blended(plain, prior) + relative * size)
    return Case(run, exact, allowed, f"{shape} {how} {options} {draw.factors}")


# -- pooling -----------------------------------------------------------------------------------


def _pooling(draw: Draw, mode: str) -> tuple[tuple[int, ...], dict[str, Any]]:
    spatial = int(draw.rng.choice([1, 2, 2, 3]))
    window = tuple(int(n) for n in draw.rng.integers(1, 4, spatial))
    options = {
        "window": window,
        "padding": tuple(int(draw.rng.integers(0, w)) for w in window),
        "stride": tuple(int(n) for n in draw.rng.integers(1, 4, spatial)),
        "mode": mode,
    }
    sizes = (w + int(draw.rng.integers(0, 5)) for w in window)
    return (int(draw.rng.integers(1, 3)), int(draw.rng.integers(1, 5)), *sizes), options


def pooling_forward(draw: Draw, mode: str) -> Case:
    x_shape, options = _pooling(draw, mode)
    if draw.data_type == "int8":
        x_shape = (x_shape[0], 4 * x_shape[1], *x_shape[2:])
    plain_options = {k: options[k] for k in ("window", "padding", "stride")}
    y_shape = reference.pooling_output_shape(x_shape, **plain_options)
    x, prior = draw.values(x_shape), draw.prior(y_shape)
    how = {"layout": str(draw.rng.choice(["NCHW", "NHWC"]))}
    made = bool(draw.beta == 0 and draw.rng.random() < 0.5)

    def run(handle: Handle) -> Array:
        with Device(handle) as device, cudnn.PoolingDescriptor(**options) as pooling:
            target = None if made else device.put(prior, **how)
            source = device.put(x, **how)
            result = cudnn.pooling_forward(handle, source, pooling, target, **draw.factors)
            return device.get(result) if made else result.numpy()

    plain = reference.pooling_forward(wide(x), **options)
    exact = reference.pooling_forward(
        wide(x), y=wide(prior), out_dtype=np.float64, **options, **draw.factors
    )
    computed = draw.blended(plain, prior)
    if mode.startswith("average"):
        sums = reference.pooling_forward(np.abs(wide(x)), **options)
        terms = np.prod(options["window"]) + 2
        computed = computed + terms * compute_roundoff(draw.data_type) * abs(draw.alpha) * sums
    allowed = draw.stored(exact, computed)
    exact = whole(exact, draw.data_type)
    return Case(run, exact, allowed, f"{x_shape} {how} {options} {draw.factors} made: {made}")


def pooling_backward(draw: Draw, mode: str) -> Case:
    x_shape, options = _pooling(draw, mode)
    x = draw.distinct(x_shape)
    y = reference.pooling_forward(x, **options)
    dy, prior = draw.values(y.shape), draw.prior(x_shape)
    how = {"layout": str(draw.rng.choice(["NCHW", "NHWC"]))}

    def run(handle: Handle) -> Array:
        with Device(handle) as device, cudnn.PoolingDescriptor(**options) as pooling:
            target = device.put(prior, **how) if draw.beta else None
            operands = [device.put(array, **how) for array in (y, dy, x)]
            result = cudnn.pooling_backward(handle, *operands, pooling, target, **draw.factors)
            return result.numpy() if target else device.get(result)

    plain = reference.pooling_backward(wide(dy), wide(x), **options)
    exact = reference.pooling_backward(
        wide(dy), wide(x), dx=wide(prior), out_dtype=np.float64, **options, **draw.factors
    )
    sums = reference.pooling_backward(np.abs(wide(dy)), wide(x), **options)
    terms = np.prod(options["window"]) + 2
    computed = terms * compute_roundoff(draw.data_type) * abs(draw.alpha) * sums
    allowed = draw.stored(exact, computed + draw.blended(plain, prior))
    return Case(run, exact, allowed, f"{x_shape} {how} {options} {draw.factors}")


# -- reductions --------------------------------------------------------------------------------


def reduction(draw: Draw, op: str) -> Case:
    shape = draw.shape(2, 5, longest=6)
    reduced = tuple(1 if draw.rng.random() < 0.6 else n for n in shape)
    if reduced == shape:
        shape = (shape[0], shape[1] + 1, *shape[2:])
        reduced = (reduced[0], 1, *reduced[2:])
    a = draw.values(shape)
    if op.startswith("mul"):  # products that neither overflow nor vanish
        a = (np.sign(wide(a)) * 2.0 ** np.clip(wide(a) / 4, -0.2, 0.2)).astype(draw.dtype)
    if op == "mul_no_zeros":
        a = np.where(draw.rng.random(shape) < 0.2, 0, a).astype(draw.dtype)
    prior, how = draw.prior(reduced), draw.arrangement(shape)
    made = bool(draw.beta == 0 and draw.rng.random() < 0.5)
    compute = "float64" if draw.data_type == "float64" else "float32"

    def run(handle: Handle) -> Array:
        made_reduction = cudnn.ReduceTensorDescriptor(op, compute_type=compute)
        with Device(handle) as device, made_reduction as described:
            result = cudnn.reduce_tensor(
                handle,
                device.put(a, **how),
                described,
                None if made else device.put(prior),
                c_shape=reduced if made else None,
                **draw.factors,
            ).c
            return device.get(result) if made else result.numpy()

    plain = reference.reduce_tensor(wide(a), reduced, op)
    exact = reference.reduce_tensor(
        wide(a), reduced, op, c=wide(prior), out_dtype=np.float64, **draw.factors
    )
    length = np.prod(shape) / np.prod(reduced)
    size = {
        "add": lambda: reference.reduce_tensor(wide(a), reduced, "norm1"),
        "avg": lambda: reference.reduce_tensor(np.abs(wide(a)), reduced, "avg"),
    }.get(op, lambda: np.abs(plain))()
    if op in ("min", "max", "amax"):
        length = 0
    relative = (length + 4) * compute_roundoff(draw.data_type) * abs(draw.alpha)
    allowed = draw.stored(exact, draw.blended(plain, prior) + relative * size)
    return Case(run, exact, allowed, f"{shape} to {reduced} {how} {draw.factors} made: {made}")


def reduction_indices(draw: Draw, op: str) -> Case:
    shape = (2, 3, 5, 4)
    reduced = (*(1 if draw.rng.random() < 0.6 else n for n in shape[:-1]), 1)
    a, how = draw.distinct(shape), {"layout": str(draw.rng.choice(["NCHW", "NHWC"]))}
    compute = "float64" if draw.data_type == "float64" else "float32"

    def run(handle: Handle) -> Array:
        made = cudnn.ReduceTensorDescriptor(op, compute_type=compute, indices=True)
        with Device(handle) as device, made as described:
            result = cudnn.reduce_tensor(handle, device.put(a, **how), described, c_shape=reduced)
            device.get(result.c)
            return device.get(result.indices)

    exact = reference.reduce_indices(a, reduced, op).astype(np.float64)
    return Case(run, exact, np.zeros(reduced), f"{shape} to {reduced} {how}")


# -- element-wise ------------------------------------------------------------------------------


def elementwise(draw: Draw, op: str, result_type: str) -> Case:
    shape = draw.shape(2, 5)
    b_shape = tuple(1 if draw.rng.random() < 0.4 else n for n in shape)
    a, b = draw.values(shape), draw.values(b_shape)
    alpha1, alpha2 = (float(n) for n in draw.rng.choice([1.0, 0.5, 2.0], 2))
    if op == "sqrt":
        a = np.abs(a)
    prior, how = draw.prior(shape, result_type), draw.arrangement(shape)
    compute = "float64" if draw.data_type == "float64" else "float32"
    factors = {"alpha1": alpha1, "alpha2": alpha2, "beta": draw.beta}

    def run(handle: Handle) -> Array:
        described = cudnn.OpTensorDescriptor(op, compute_type=compute)
        with Device(handle) as device, described as operation:
            second = None if op in ("sqrt", "not") else device.put(b)
            target = device.put(prior, **how)
            cudnn.op_tensor(handle, device.put(a, **how), second, operation, target, **factors)
            return target.numpy()

    exact = reference.op_tensor(
        op, wide(a), wide(b), c=wide(prior), out_dtype=np.float64, **factors
    )
    before = np.abs(draw.beta * wide(prior)) if draw.beta else 0.0
    size = np.abs(alpha1 * wide(a)) + np.abs(alpha2 * wide(b)) + np.abs(exact) + before + 1
    allowed = draw.stored(exact, 4 * compute_roundoff(draw.data_type) * size, result_type)
    exact = whole(exact, result_type)
    return Case(run, exact, allowed, f"{shape} {b_shape} {how} {factors}")


def addition(draw: Draw) -> Case:
    shape = draw.shape(3, 5)
    a_shape = (1, shape[1], *(1,) * (len(shape) - 2))
    if draw.rng.random() < 0.3:
        a_shape = tuple(1 if draw.rng.random() < 0.5 else n for n in shape)
    a, prior, how = draw.values(a_shape), draw.prior(shape), draw.arrangement(shape)

    def run(handle: Handle) -> Array:
        with Device(handle) as device:
            target = device.put(prior, **how)
            cudnn.add_tensor(handle, device.put(a), target, **draw.factors)
            return target.numpy()

    spread = np.broadcast_to(wide(a), shape)
    exact = draw.alpha * spread + (draw.beta * wide(prior) if draw.beta else 0.0)
    return Case(
        run,
        exact,
        draw.stored(exact, draw.blended(spread, prior)),
        f"{a_shape} to {shape} {how} {draw.factors}",
    )


def transformation(draw: Draw) -> Case:
    shape = draw.shape(2, 5)
    x, prior = draw.values(shape), draw.prior(shape)
    how, target_how = draw.arrangement(shape), draw.arrangement(shape)

    def run(handle: Handle) -> Array:
        with Device(handle) as device:
            target = device.put(prior, **target_how)
            cudnn.transform_tensor(handle, device.put(x, **how), target, **draw.factors)
            return target.numpy()

    exact = draw.alpha * wide(x) + (draw.beta * wide(prior) if draw.beta else 0.0)
    allowed = draw.stored(exact, draw.blended(wide(x), prior))
    exact = whole(exact, draw.data_type)
    return Case(run, exact, allowed, f"{shape} {how} {target_how} {draw.factors}")


def folding(draw: Draw, direction: str) -> Case:
    fold = tuple(int(n) for n in draw.rng.integers(1, 4, 2))
    block = int(np.prod(fold))
    channels = int(draw.rng.integers(1, 4)) * (block if direction == "unfold" else 1)
    shape = (int(draw.rng.integers(1, 3)), channels, *(int(n) for n in draw.rng.integers(3, 8, 2)))
    before = (0, 0, *(int(n) for n in draw.rng.integers(0, 3, 2)))
    after = (int(draw.rng.integers(0, 2)), *(int(n) for n in draw.rng.integers(0, 3, 3)))
    transform = reference.TensorTransform(before, after, fold, direction)
    y_shape = reference.transformed_shape(shape, transform)
    x, prior = draw.values(shape), draw.prior(y_shape)
    how, layout = draw.arrangement(shape), str(draw.rng.choice(["NCHW", "NHWC"]))
    made = bool(draw.beta == 0 and draw.rng.random() < 0.5)

    def run(handle: Handle) -> Array:
        described = cudnn.TensorTransformDescriptor(
            before, after, fold=fold, direction=direction, layout=layout
        )
        with Device(handle) as device, described as how_to:
            target = None if made else device.put(prior, layout=layout)
            source = device.put(x, **how)
            result = cudnn.transform_tensor_ex(handle, source, how_to, target, **draw.factors)
            return device.get(result) if made else result.numpy()

    moved = reference.transform_tensor(wide(x), transform)
    exact = draw.alpha * moved + (draw.beta * wide(prior) if draw.beta else 0.0)
    return Case(
        run,
        exact,
        draw.stored(exact, draw.blended(moved, prior)),
        f"{shape} {how} to {layout} {transform} {draw.factors} made: {made}",
    )


def scaling(draw: Draw) -> Case:
    shape = draw.shape(2, 5)
    y, how = draw.values(shape), draw.arrangement(shape)

    def run(handle: Handle) -> Array:
        with Device(handle) as device:
            target = device.put(y, **how)
            cudnn.scale_tensor(handle, target, draw.alpha)
            return target.numpy()

    exact = draw.alpha * wide(y)
    allowed = draw.stored(exact, 4 * compute_roundoff(draw.data_type) * np.abs(exact))
    exact = whole(exact, draw.data_type)
    return Case(run, exact, allowed, f"{shape} {how} {draw.alpha}")


def setting(draw: Draw) -> Case:
    shape = draw.shape(2, 5)
    value, how = draw.values((1,))[0], draw.arrangement(shape)

    def run(handle: Handle) -> Array:
        with Device(handle) as device:
            target = device.put(draw.values(shape), **how)
            cudnn.set_tensor(handle, target, value)
            return target.numpy()

    exact = np.full(shape, float(value))
    return Case(run, exact, np.zeros(shape), f"{shape} {how} {value}")


def families() -> Iterator[tuple[str, str, Callable[[Draw], Case]]]:
    """The operation, the data types, and how to make its problems."""
    modes: dict[str, tuple[tuple[str, ...], Any]] = {
        "activation forward": (ACTIVATIONS, activation_forward),
        "activation backward": (ACTIVATIONS, activation_backward),
        "softmax forward": (SOFTMAXES, softmax_forward),
        "softmax backward": (SOFTMAXES, softmax_backward),
        "pooling forward": (POOLINGS, pooling_forward),
        "pooling backward": (POOLINGS, pooling_backward),
        "reduce": (REDUCTIONS, reduction),
        "reduce indices": (("min", "max", "amax"), reduction_indices),
        "transform ex": (("fold", "unfold"), folding),
    }
    for operation, (options, make) in modes.items():
        for data_type in FLOATING:
            yield operation, data_type, _one_of(make, options)
    for data_type in FLOATING:
        yield "add", data_type, addition
    yield "pooling forward", "int8", _one_of(pooling_forward, POOLINGS)
    for data_type in (*FLOATING, "int8"):
        yield "transform", data_type, transformation
        yield "scale", data_type, scaling
        yield "set", data_type, setting
    for given, result in OP_TYPES:
        name = given if given == result else f"{given} to {result}"
        yield "op", name, _one_of(elementwise, OPERATIONS, result)


def _one_of(make: Any, options: tuple[str, ...], *more: Any) -> Callable[[Draw], Case]:
    """Problems with each of the options in turn."""

    def made(draw: Draw) -> Case:
        return make(draw, options[draw.seed[0] % len(options)], *more)

    return made
