"""What cuDNN does in the corners of the normalizations, and that the reference device does it too.

Statuses are compared between the two devices case by case; all differences are listed at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from ctypes import c_float
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import (
    CudnnError,
    DeviceTensor,
    Handle,
    LRNDescriptor,
    NotSupportedError,
    SpatialTransformerDescriptor,
    TensorDescriptor,
    raw,
)

SHAPES = ((3, 4, 5, 2), (3, 4, 5, 2, 2))
DTYPES = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "int8": np.int8,
}


def tensor(shape: Any, data_type: str = "float32", layout: Any = None, seed: int = 0) -> Any:
    values = 2 * np.random.default_rng(seed).standard_normal(shape)
    return DeviceTensor.from_numpy(values.astype(DTYPES[data_type]), layout=layout)


# -- statuses ----------------------------------------------------------------------------------


def batch_normalization_calls() -> Iterator[tuple[str, Callable[[Handle], Any]]]:
    modes = ("per_activation", "spatial", "spatial_persistent")
    for shape, data_type, layout, mode, follow, norm in itertools.product(
        SHAPES, DTYPES, ("NCHW", "NHWC"), modes, ("", "relu", "add relu"), (False, True)
    ):
        if norm and mode == "spatial_persistent":
            how: dict[str, Any] = {"mode": "per_channel", "algorithm": "persist"}
        elif norm:
            how = {"mode": "per_channel" if mode == "spatial" else mode}
        else:
            how = {"mode": mode}
        if follow:
            how["activation"] = "relu"

        def call(
            handle: Handle,
            *,
            shape: Any = shape,
            data_type: str = data_type,
            layout: str = layout,
            mode: str = mode,
            how: Any = how,
            adds: bool = follow == "add relu",
            norm: bool = norm,
        ) -> None:
            x = tensor(shape, data_type, layout)
            per = shape[1:] if mode == "per_activation" else shape[1:2]
            scale = tensor(per, "float64" if data_type == "float64" else "float32")
            train: Any = cudnn.batch_normalization_forward_training_ex
            back: Any = cudnn.batch_normalization_backward_ex
            if norm:
                train, back = cudnn.normalization_forward_training, cudnn.normalization_backward
            z = x if adds else None
            forward = train(handle, x, scale, scale, z=z, average_factor=0.5, **how)
            back(
                handle,
                x=x,
                y=forward.y,
                dy=x,
                scale=scale,
                bias=scale,
                with_dz=adds,
                reserve_space=forward.reserve_space,
                saved_mean=forward.saved_mean,
                saved_inv_variance=forward.saved_inv_variance,
                **how,
            )
            handle.synchronize()

        name = "norm" if norm else "batch"
        yield f"{name} {mode} {follow or 'plain'} {data_type} {layout} {len(shape)}d", call


def inference_calls() -> Iterator[tuple[str, Callable[[Handle], Any]]]:
    for shape, data_type, layout, mode in itertools.product(
        SHAPES, DTYPES, ("NCHW", "NHWC"), ("per_activation", "spatial", "spatial_persistent")
    ):

        def call(
            handle: Handle,
            *,
            shape: Any = shape,
            data_type: str = data_type,
            layout: str = layout,
            mode: str = mode,
        ) -> None:
            x = tensor(shape, data_type, layout)
            per = shape[1:] if mode == "per_activation" else shape[1:2]
            one = DeviceTensor.full(per, 1, "float64" if data_type == "float64" else "float32")
            cudnn.batch_normalization_forward_inference(handle, x, one, one, one, one, mode=mode)
            handle.synchronize()

        yield f"inference {mode} {data_type} {layout} {len(shape)}d", call
    for follow in ("relu", "add relu"):

        def fused(handle: Handle, *, adds: bool = follow == "add relu") -> None:
            x, one = tensor(SHAPES[0], "float16", "NHWC"), DeviceTensor.full((4,), 1, "float32")
            cudnn.normalization_forward_inference(
                handle,
                x,
                one,
                one,
                one,
                one,
                activation="relu",
                z=x if adds else None,
                algorithm="persist",
            )
            handle.synchronize()

        yield f"norm inference {follow}", fused


def local_calls() -> Iterator[tuple[str, Callable[[Handle], Any]]]:
    for shape, data_type, layout in itertools.product(SHAPES, DTYPES, ("NCHW", "NHWC")):

        def lrn(
            handle: Handle, *, shape: Any = shape, data_type: str = data_type, layout: str = layout
        ) -> None:
            x = tensor(shape, data_type, layout)
            with LRNDescriptor(3) as descriptor:
                y = cudnn.lrn_cross_channel_forward(handle, x, descriptor)
                cudnn.lrn_cross_channel_backward(handle, descriptor, x=x, y=y, dy=x)
            handle.synchronize()

        def divisive(
            handle: Handle, *, shape: Any = shape, data_type: str = data_type, layout: str = layout
        ) -> None:
            x = tensor(shape, data_type, layout)
            with LRNDescriptor(3) as descriptor:
                cudnn.divisive_normalization_forward(handle, x, descriptor)
                cudnn.divisive_normalization_backward(handle, descriptor, x=x, dy=x)
            handle.synchronize()

        yield f"lrn {data_type} {layout} {len(shape)}d", lrn
        yield f"divisive {data_type} {layout} {len(shape)}d", divisive

    for data_type, layout in itertools.product(("float64", "float32", "float16"), ("NCHW", "NHWC")):

        def spatial(handle: Handle, *, data_type: str = data_type, layout: str = layout) -> None:
            x = tensor(SHAPES[0], data_type, layout)
            theta = tensor((3, 2, 3), data_type)
            with SpatialTransformerDescriptor(SHAPES[0], data_type) as st:
                grid = cudnn.spatial_tf_grid_generator_forward(handle, theta, st)
                y = cudnn.spatial_tf_sampler_forward(handle, x, grid, st)
                _, dgrid = cudnn.spatial_tf_sampler_backward(handle, st, x=x, dy=y, grid=grid)
                cudnn.spatial_tf_grid_generator_backward(handle, st, dgrid=dgrid)
            handle.synchronize()

        yield f"spatial transformer {data_type} {layout}", spatial


def outcomes(calls: Any) -> dict[str, str]:
    with Handle() as handle:
        found = {}
        for name, call in calls:
            try:
                call(handle)
                found[name] = "success"
            except CudnnError as error:
                found[name] = f"{error.function}: {error.status!s}"
        return found


def works(name: str) -> bool:
    """What cuDNN 9.14 and 9.19 carried out on an H200."""
    family, *rest = name.split()
    data_type, layout, dims = ({*DTYPES} & {*rest}, {"NCHW", "NHWC"} & {*rest}, rest[-1])
    if name.startswith("norm inference"):
        return False
    if family in ("batch", "norm"):
        fused = "spatial_persistent" in rest and layout == {"NHWC"} and data_type != {"float64"}
        return data_type != {"int8"} and ("plain" in rest or fused)
    if family in ("lrn", "divisive"):
        last = family == "lrn" and layout == {"NHWC"} and dims == "5d"
        return data_type <= {"float64", "float32", "float16"} and not last
    return True


@pytest.mark.parametrize("calls", [batch_normalization_calls, inference_calls, local_calls])
def test_what_is_carried_out(device: str, calls: Any) -> None:
    found = outcomes(calls())
    different = [
        f"{name}: {status}"
        for name, status in found.items()
        if (status == "success") != works(name)
    ]
    assert not different, f"{len(different)} of {len(found)}:\n" + "\n".join(different)
    refused = {status.rpartition(": ")[2] for status in found.values()} - {"success"}
    assert refused <= {"CUDNN_STATUS_NOT_SUPPORTED", "CUDNN_STATUS_BAD_PARAM"}


# -- corners -----------------------------------------------------------------------------------


def test_the_fused_backward_pass_needs_the_saved_statistics(handle: Handle) -> None:
    x, scale = tensor(SHAPES[0], "float16", "NHWC"), tensor((4,))
    forward = cudnn.batch_normalization_forward_training_ex(
        handle, x, scale, scale, activation="relu", average_factor=1
    )
    with pytest.raises(NotSupportedError):
        cudnn.batch_normalization_backward_ex(
            handle,
            x=x,
            y=forward.y,
            dy=x,
            scale=scale,
            bias=scale,
            activation="relu",
            reserve_space=forward.reserve_space,
        )


def test_divisive_normalization_forward_ignores_a_negative_beta(handle: Handle) -> None:
    """Of layer 1; layer 2 refuses it."""
    x, prior = tensor(SHAPES[0]), tensor(SHAPES[0], seed=1)
    temp, temp2 = tensor(SHAPES[0]), tensor(SHAPES[0])
    factors = c_float(1), c_float(-0.5)
    with LRNDescriptor(3) as lrn, TensorDescriptor(SHAPES[0]) as desc:
        y = cudnn.divisive_normalization_forward(handle, x, lrn)
        mode = raw.CUDNN_DIVNORM_PRECOMPUTED_MEANS
        given = desc, x, None, temp, temp2
        raw.cudnnDivisiveNormalizationForward(
            handle, lrn, mode, factors[0], *given, factors[1], desc, prior
        )
        with pytest.raises(ValueError, match=r"^beta: cuDNN takes a factor below 0 for 0"):
            cudnn.divisive_normalization_forward(handle, x, lrn, prior, beta=-0.5)
    np.testing.assert_array_equal(prior.numpy(), y.numpy())


@pytest.mark.parametrize("size", [(1, 4), (4, 1), (1, 1)])
def test_a_side_of_one_pixel_has_coordinate_minus_1(handle: Handle, size: Any) -> None:
    theta = tensor((1, 2, 3))
    with SpatialTransformerDescriptor((1, 1, *size)) as st:
        grid = cudnn.spatial_tf_grid_generator_forward(handle, theta, st).numpy()[0]
    for row, column in np.ndindex(*size):
        u, v = (
            2 * i / (n - 1) - 1 if n > 1 else -1 for i, n in ((column, size[1]), (row, size[0]))
        )
        expected = theta.numpy()[0] @ (u, v, 1)
        np.testing.assert_allclose(grid[row, column], expected, rtol=1e-5, atol=1e-5)
