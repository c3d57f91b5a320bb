"""Random reductions, element-wise operations and transforms; see `draws`."""

from __future__ import annotations

import numpy as np

import cudnn_ctypes as cudnn
from cudnn_ctypes import Handle, reference

from .draws import Array, Case, Device, Draw, compute_roundoff, whole, wide

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
        made_reduction = cudnn.ReduceTensorDescriptor(op, compute_data_type=compute)
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
        made = cudnn.ReduceTensorDescriptor(op, compute_data_type=compute, indices=True)
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
        described = cudnn.OpTensorDescriptor(op, compute_data_type=compute)
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
    channels = int(draw.rng.integers(1, 4 * block if direction == "unfold" else 4))
    shape = (int(draw.rng.integers(1, 3)), channels, *(int(n) for n in draw.rng.integers(3, 8, 2)))
    least = 0 if draw.rng.random() < 0.5 else -1
    before = (0, *(int(n) for n in draw.rng.integers(least, 3, 3)))
    after = (int(draw.rng.integers(0, 2)), *(int(n) for n in draw.rng.integers(least, 3, 3)))
    kept = -(-channels // block) if direction == "unfold" else channels
    if min(kept + before[1], kept + after[1], kept + before[1] + after[1]) < 1:
        before, after = (0, 0, *before[2:]), (after[0], 0, *after[2:])
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
        whole(exact, draw.data_type),
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
