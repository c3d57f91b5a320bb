"""Random problems of LRN, divisive normalization and the spatial transformer, with error bounds.

An operation gives its results, what they should be in float64, and by how much they may differ:
`STEPS` units of roundoff (pow takes the most of them) of the sum of the absolute values that go
into a result, and the rounding to the stored type. Of divisive normalization the temporaries are
rounded to the stored type as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle, LRNDescriptor, SpatialTransformerDescriptor
from cudnn_ctypes import reference as ref
from cudnn_ctypes.reference.lrn import neighbours

from .draws import FLOATING, ROUNDOFF, Array, Result, compute_roundoff, dtype_of

STEPS = 64


class Case:
    """One random problem on a device: numbers, factors, and results on the host."""

    def __init__(self, handle: Handle, data_type: str, seed: int, salt: int) -> None:
        self.handle, self.data_type = handle, data_type
        self.rng = np.random.default_rng([seed, FLOATING.index(data_type), salt])
        self.dtype, self.u = dtype_of(data_type), compute_roundoff(data_type)
        self.stored = ROUNDOFF[data_type]
        self.tiny = 2.0**-25 if data_type == "float16" else 0.0
        self.layout = str(self.rng.choice(["NCHW", "NHWC"]))
        self.alpha, self.beta = 1.0, 0.0
        if self.rng.random() < 0.5:
            self.alpha, self.beta = (float(factor) for factor in self.rng.uniform(-2, 2, 2))

    @property
    def factors(self) -> dict[str, float]:
        return {"alpha": self.alpha, "beta": self.beta}

    def shape(self, ndim: int) -> tuple[int, ...]:
        sizes = (int(n) for n in self.rng.integers(1, 9, ndim))
        return (int(self.rng.integers(1, 4)), int(self.rng.integers(1, 12)), *sizes)

    def random(self, *shape: int) -> Array:
        values: Array = self.rng.standard_normal(shape).astype(self.dtype)
        return values

    def prior(self, *shape: int) -> Array:
        """What a result holds before: NaN where it is not read."""
        return self.random(*shape) if self.beta else np.full(shape, np.nan).astype(self.dtype)

    def put(self, array: Array, layout: str | None = None) -> DeviceTensor:
        return DeviceTensor.from_numpy(array, layout=layout, stream=self.handle.stream)

    def image(self, array: Array) -> DeviceTensor:
        return self.put(array, self.layout)

    def result(
        self,
        name: str,
        tensor: DeviceTensor,
        exact: Array,
        size: Array,
        prior: Array | None = None,
        *,
        roundings: Array | float = 0.0,
    ) -> Result:
        """`size`: the sum of absolute values before alpha; `roundings`: how far temporaries in the
        stored type may put the result off, before alpha as well."""
        off: Any = abs(self.alpha) * roundings
        if prior is not None:
            size = abs(self.alpha) * size + abs(self.beta * wide(prior))
        allowed = STEPS * self.u * size + off + self.stored * (abs(exact) + off) + self.tiny
        value = tensor.numpy(stream=self.handle.stream).astype(np.float64)
        return Result(name, value, exact, np.broadcast_to(allowed, exact.shape))


def wide(array: Array) -> Array:
    """In float64, without the NaN of what is not read."""
    return np.nan_to_num(array.astype(np.float64))


# -- local response normalization --------------------------------------------------------------


def _descriptor(case: Case) -> tuple[LRNDescriptor, dict[str, Any]]:
    n = int(case.rng.choice(range(1, 9)))
    alpha, beta, k = (float(case.rng.uniform(low, 2)) for low in (0.1, 0.1, 0.5))
    options = {"n": n, "lrn_alpha": alpha, "lrn_beta": beta, "k": k}
    return LRNDescriptor(n, alpha=alpha, beta=beta, k=k), options


def lrn(data_type: str, handle: Handle, seed: int) -> list[Result]:
    case = Case(handle, data_type, seed, 0)
    shape = case.shape(int(case.rng.choice([1, 2, 2, 3])))
    case.layout = "NCHW" if len(shape) == 5 else case.layout
    x, dy, prior, prior_dx = case.random(*shape), case.random(*shape), *_priors(case, shape, 2)
    descriptor, options = _descriptor(case)
    with descriptor:
        y = case.image(prior)
        cudnn.lrn_cross_channel_forward(handle, case.image(x), descriptor, y, **case.factors)
    exact = ref.lrn_cross_channel_forward(wide(x), y=wide(prior), **case.factors, **options)
    size = abs(ref.lrn_cross_channel_forward(wide(x), **options))
    results = [case.result("forward", y, exact, size, prior)]

    descriptor, options = _descriptor(case)
    forward = ref.lrn_cross_channel_forward(x, **options)
    with descriptor:
        dx = case.image(prior_dx)
        given = {"x": x, "y": forward, "dy": dy}
        operands = {name: case.image(array) for name, array in given.items()}
        cudnn.lrn_cross_channel_backward(handle, descriptor, **operands, dx=dx, **case.factors)
    wider = {name: wide(array) for name, array in given.items()}
    exact = ref.lrn_cross_channel_backward(**wider, dx=wide(prior_dx), **case.factors, **options)
    size = _lrn_gradient_size(wider["x"], wider["dy"], **options)
    return [*results, case.result("backward", dx, exact, size, prior_dx)]


def _lrn_gradient_size(
    x: Array, dy: Array, *, n: int, lrn_alpha: float, lrn_beta: float, k: float
) -> Array:
    """Absolute values that go into dx, and a part of those of all channels, since sums run on."""
    places = list(neighbours(x.shape, (1,), n))
    squares, through = np.zeros_like(x), np.zeros_like(x)
    for here, there in places:
        squares[here] += x[there] ** 2
    s = k + lrn_alpha / n * squares
    share = abs(dy * x) * s ** (-lrn_beta - 1)
    for here, there in places:
        through[there] += share[here]
    through += 4 / STEPS * share.sum(1, keepdims=True)
    size: Array = abs(dy) * s**-lrn_beta + 2 * lrn_alpha * lrn_beta / n * abs(x) * through
    return size


def _priors(case: Case, shape: tuple[int, ...], count: int) -> list[Array]:
    return [case.prior(*shape) for _ in range(count)]


# -- divisive normalization --------------------------------------------------------------------


def divisive(data_type: str, handle: Handle, seed: int) -> list[Result]:
    case = Case(handle, data_type, seed, 1)
    shape = case.shape(int(case.rng.choice([2, 2, 3])))
    x, means, dy = (case.random(*shape) for _ in range(3))
    case.beta = abs(case.beta)  # forward, cuDNN takes one below 0 for 0
    prior, prior_dx, prior_dmeans = _priors(case, shape, 3)
    given_means = case.image(means) if case.rng.random() < 0.7 else None
    centers = wide(means) if given_means is not None else np.zeros(shape)
    descriptor, options = _descriptor(case)
    with descriptor:
        y = case.image(prior)
        cudnn.divisive_normalization_forward(
            handle, case.image(x), descriptor, y, means=given_means, **case.factors
        )
    exact = ref.divisive_normalization_forward(
        wide(x), centers, y=wide(prior), **case.factors, **options
    )
    sizes, off = _divisive_sizes(wide(x), wide(dy), centers, case.stored, **options)
    results = [case.result("forward", y, exact, sizes[0], prior, roundings=off[0])]

    descriptor, options = _descriptor(case)
    dx, dmeans = case.image(prior_dx), case.image(prior_dmeans)
    with descriptor:
        cudnn.divisive_normalization_backward(
            handle,
            descriptor,
            x=case.image(x),
            dy=case.image(dy),
            dx=dx,
            means=given_means,
            dmeans=dmeans,
            **case.factors,
        )
    exacts = ref.divisive_normalization_backward(
        x=wide(x),
        dy=wide(dy),
        means=centers,
        dx=wide(prior_dx),
        dmeans=wide(prior_dmeans),
        **case.factors,
        **options,
    )
    sizes, off = _divisive_sizes(wide(x), wide(dy), centers, case.stored, **options)
    return [
        *results,
        case.result("backward dx", dx, exacts[0], sizes[1], prior_dx, roundings=off[1]),
        case.result("backward dmeans", dmeans, exacts[1], sizes[2], prior_dmeans, roundings=off[2]),
    ]


def _divisive_sizes(
    x: Array,
    dy: Array,
    means: Array,
    stored: float,
    *,
    n: int,
    lrn_alpha: float,
    lrn_beta: float,
    k: float,
) -> tuple[list[Array], list[Array]]:
    """Of y, dx and dmeans: the absolute values that go into them, and what temporaries put off.

    cuDNN (9.14 and 9.19) expands the squares and keeps the sums of x and x^2 along all spatial
    dimensions but the last one summed in temporaries of the data's type; in 4 dimensions and
    float16, NumPy in these steps gives every bit of it. Backward it keeps s^-beta and s^(-beta - 1)
    there.
    """
    weight = lrn_alpha / n ** (x.ndim - 2)
    places = list(neighbours(x.shape, range(2, x.ndim), n))
    squares, larger = np.zeros_like(x), np.zeros_like(x)
    for here, there in places:
        squares[here] += (x[there] - means[here]) ** 2
        larger[here] += (abs(x[there]) + abs(means[here])) ** 2
    s = k + weight * squares
    growth = 1 + (k + weight * larger) / s
    by_sum = weight * lrn_beta * abs(dy * x) * s ** (-lrn_beta - 1)
    lowest = 1 - (x.ndim - 3) * stored * weight * larger / s  # of s as it is computed, over s
    off_power = lowest**-lrn_beta - 1
    off_kept = lowest**-lrn_beta * (1 + stored) - 1
    off_by_sum = lowest ** (-lrn_beta - 1) * (1 + stored) - 1

    def gradients(direct: Array | float, indirect: Array) -> tuple[Array, Array]:
        by_x, by_means = direct * abs(dy) * s**-lrn_beta, np.zeros_like(x)
        for here, there in places:
            size = 2 * (abs(x[here]) + abs(means[there]))
            by_x[here] += size * (by_sum * indirect)[there]
            size = 2 * (abs(x[there]) + abs(means[here]))
            by_means[here] += size * (by_sum * indirect)[here]
        return by_x, by_means

    y = abs(x) * s**-lrn_beta
    sizes = [growth * y, *gradients(growth, growth)]
    return sizes, [off_power * y, *gradients(off_kept, off_by_sum)]


# -- spatial transformer -----------------------------------------------------------------------


def spatial(data_type: str, handle: Handle, seed: int) -> list[Result]:
    case = Case(handle, data_type, seed, 2)
    images, channels, height, width = case.shape(2)
    height, width = height + 1, width + 1
    out_height, out_width = (int(n) for n in case.rng.integers(2, 9, 2))
    x_shape, y_shape = (images, channels, height, width), (images, channels, out_height, out_width)
    x, dy, theta = case.random(*x_shape), case.random(*y_shape), case.random(images, 2, 3)
    # Points that are not near a pixel's center, where slopes jump; some outside of the image.
    corner = case.rng.integers([-2, -2], [width + 1, height + 1], (images, *y_shape[2:], 2))
    pixels = corner + case.rng.uniform(0.05, 0.95, corner.shape)
    grid = (pixels / (np.array([width, height]) - 1) * 2 - 1).astype(case.dtype)
    prior, prior_dx = case.prior(*y_shape), case.prior(*x_shape)
    prior_dgrid, dgrid_in = case.prior(*grid.shape), case.random(*grid.shape)
    y, dx = case.image(prior), case.image(prior_dx)
    dgrid = case.put(prior_dgrid)
    with SpatialTransformerDescriptor(y_shape, data_type) as st:
        made = cudnn.spatial_tf_grid_generator_forward(handle, case.put(theta), st)
        dtheta = cudnn.spatial_tf_grid_generator_backward(handle, st, dgrid=case.put(dgrid_in))
        source, points = case.image(x), case.put(grid)
        cudnn.spatial_tf_sampler_forward(handle, source, points, st, y, **case.factors)
        cudnn.spatial_tf_sampler_backward(
            handle,
            st,
            x=source,
            dy=case.image(dy),
            grid=points,
            dx=dx,
            dgrid=dgrid,
            **case.factors,
            alpha_dgrid=case.alpha,
            beta_dgrid=case.beta,
        )
    exact_grid = ref.spatial_tf_grid_generator_forward(wide(theta), y_shape[2:])
    row_sums = abs(wide(theta)).sum(axis=2)[:, None, None, :]
    exact_dtheta = ref.spatial_tf_grid_generator_backward(dgrid=wide(dgrid_in))
    dtheta_size = abs(wide(dgrid_in)).sum(axis=(1, 2))[..., None]
    exact_y = ref.spatial_tf_sampler_forward(wide(x), wide(grid), y=wide(prior), **case.factors)
    exacts = ref.spatial_tf_sampler_backward(
        x=wide(x),
        dy=wide(dy),
        grid=wide(grid),
        dx=wide(prior_dx),
        alpha_dgrid=case.alpha,
        beta_dgrid=case.beta,
        dgrid=wide(prior_dgrid),
        **case.factors,
    )
    # A point moves by a few roundings of its coordinate, in pixels; weights change by as much.
    reach = 4 + max(height, width)
    pull = abs(wide(dy)).sum(axis=1)[..., None]
    largest = abs(wide(x)).max()
    # In the worst case all points look at one pixel.
    crowd = reach * abs(wide(dy)).sum(axis=(2, 3), keepdims=True)
    # dx is added up in its own type, from beta * dx on.
    added = 4 * case.stored * (crowd + abs(case.beta / case.alpha * wide(prior_dx)))
    return [
        case.result("grid forward", made, exact_grid, row_sums * np.ones_like(exact_grid)),
        case.result("grid backward", dtheta, exact_dtheta, dtheta_size),
        case.result("sampler forward", y, exact_y, reach * largest, prior),
        case.result("sampler backward dx", dx, exacts[0], crowd, prior_dx, roundings=added),
        case.result(
            "sampler backward dgrid",
            dgrid,
            exacts[1],
            reach * max(height, width) * largest * pull,
            prior_dgrid,
        ),
    ]
