"""Random activations, softmaxes and poolings; see `draws`."""

from __future__ import annotations

from typing import Any

import numpy as np

import cudnn_ctypes as cudnn
from cudnn_ctypes import Handle, reference

from .draws import ROUNDOFF, Array, Case, Device, Draw, compute_roundoff, whole, wide

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
    given = {"y": y, "dy": dy, "x": x}

    def run(handle: Handle) -> Array:
        with Device(handle) as device, cudnn.ActivationDescriptor(mode, **options) as activation:
            operands = {name: device.put(array, **how) for name, array in given.items()}
            target = device.put(prior, **how) if draw.beta else None
            result = cudnn.activation_backward(
                handle, activation, **operands, dx=target, **draw.factors
            )
            return result.numpy() if target is not None else device.get(result)

    wider = {name: wide(array) for name, array in given.items()}
    plain = reference.activation_backward(mode, coefficient, **wider)
    exact = reference.activation_backward(
        mode, coefficient, **wider, dx=wide(prior), out_dtype=np.float64, **draw.factors
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
    prior, how, result_how = draw.prior(shape), draw.arrangement(shape), draw.arrangement(shape)
    made = bool(draw.beta == 0 and draw.rng.random() < 0.5)

    def run(handle: Handle) -> Array:
        with Device(handle) as device:
            target = None if made else device.put(prior, **result_how)
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
    computed = draw.blended(plain, prior) + relative * abs(draw.alpha) * size
    if not draw.beta and algorithm != "log":  # y holds exponentials before they are divided
        computed = computed + ROUNDOFF[draw.data_type] * np.abs(exact)
    allowed = draw.stored(exact, computed)
    about = f"{shape} {how} {result_how} {options} {draw.factors} made: {made}"
    return Case(run, exact, allowed, about)


def softmax_backward(draw: Draw, algorithm: str) -> Case:
    shape, options, length = _softmax(draw, algorithm)
    x = wide(draw.values(shape))
    y = reference.softmax_forward(x, out_dtype=draw.dtype, **options)
    dy, prior = draw.values(shape), draw.prior(shape)
    how = [draw.arrangement(shape) for _ in range(3)]

    def run(handle: Handle) -> Array:
        with Device(handle) as device:
            target = device.put(prior, **how[2]) if draw.beta else None
            given = {"y": device.put(y, **how[0]), "dy": device.put(dy, **how[1]), "dx": target}
            result = cudnn.softmax_backward(handle, **given, **options, **draw.factors)
            return result.numpy() if target is not None else device.get(result)

    plain = reference.softmax_backward(y=wide(y), dy=wide(dy), **options)
    exact = reference.softmax_backward(
        y=wide(y), dy=wide(dy), dx=wide(prior), out_dtype=np.float64, **options, **draw.factors
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
            given = {"y": y, "dy": dy, "x": x}
            operands = {name: device.put(array, **how) for name, array in given.items()}
            result = cudnn.pooling_backward(handle, pooling, **operands, dx=target, **draw.factors)
            return result.numpy() if target is not None else device.get(result)

    plain = reference.pooling_backward(dy=wide(dy), x=wide(x), **options)
    exact = reference.pooling_backward(
        dy=wide(dy), x=wide(x), dx=wide(prior), out_dtype=np.float64, **options, **draw.factors
    )
    sums = reference.pooling_backward(dy=np.abs(wide(dy)), x=wide(x), **options)
    terms = np.prod(options["window"]) + 2
    computed = terms * compute_roundoff(draw.data_type) * abs(draw.alpha) * sums
    if mode == "max":  # gradients are added to dx in memory, each sum rounded to its type
        before = np.abs(draw.beta * wide(prior)) if draw.beta else 0.0
        each = np.abs(draw.alpha) * sums + before
        computed = computed + terms * ROUNDOFF[draw.data_type] * each
    allowed = draw.stored(exact, computed + draw.blended(plain, prior))
    return Case(run, exact, allowed, f"{x_shape} {how} {options} {draw.factors}")
