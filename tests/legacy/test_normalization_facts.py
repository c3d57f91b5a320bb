"""What cuDNN does in the corners of the normalizations, and that the reference device does it too.

Statuses are compared between the two devices case by case; all differences are listed at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from ctypes import c_float
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle, raw

from .draws import FLOATING, dtype_of

SHAPES = ((3, 4, 5, 2), (3, 4, 5, 2, 2))
DTYPES = (*FLOATING, "int8")


def tensor(shape: Any, data_type: str = "float32", layout: Any = None, seed: int = 0) -> Any:
    values = 2 * np.random.default_rng(seed).standard_normal(shape)
    return DeviceTensor.from_numpy(values.astype(dtype_of(data_type)), layout=layout)


# -- statuses ----------------------------------------------------------------------------------


MODES, LAYOUTS = ("per_activation", "spatial", "spatial_persistent"), ("NCHW", "NHWC")
FOLLOWING = ("plain", "relu", "add relu")


def normalize(
    handle: Handle, family: str, mode: str, follow: str, data_type: str, layout: str, shape: Any
) -> None:
    """In training, and backward."""
    x = tensor(shape, data_type, layout)
    per = shape[1:] if mode == "per_activation" else shape[1:2]
    scale = tensor(per, "float64" if data_type == "float64" else "float32")
    train: Any = cudnn.batch_normalization_forward_training_ex
    back: Any = cudnn.batch_normalization_backward_ex
    how: dict[str, Any] = {"mode": mode}
    if family == "norm":
        train, back = cudnn.normalization_forward_training, cudnn.normalization_backward
        how = {"mode": "per_activation" if mode == "per_activation" else "per_channel"}
        how |= {"algorithm": "persist"} if mode == "spatial_persistent" else {}
    if follow != "plain":
        how["activation"] = "relu"
    adds = follow == "add relu"
    forward = train(handle, x, scale, scale, z=x if adds else None, average_factor=0.5, **how)
    names = ("y", "reserve_space", "saved_mean", "saved_inv_variance")
    saved = {name: getattr(forward, name) for name in names}
    back(handle, x=x, dy=x, scale=scale, bias=scale, with_dz=adds, **saved, **how)


def infer(handle: Handle, mode: str, data_type: str, layout: str, shape: Any) -> None:
    x = tensor(shape, data_type, layout)
    per = shape[1:] if mode == "per_activation" else shape[1:2]
    one = DeviceTensor.full(per, 1, "float64" if data_type == "float64" else "float32")
    cudnn.batch_normalization_forward_inference(handle, x, one, one, one, one, mode=mode)


def infer_and_follow(handle: Handle, follow: str) -> None:
    x, one = tensor(SHAPES[0], "float16", "NHWC"), DeviceTensor.full((4,), 1, "float32")
    how = {"activation": "relu", "z": x if follow == "add relu" else None, "algorithm": "persist"}
    cudnn.normalization_forward_inference(handle, x, one, one, one, one, **how)


def lrn(handle: Handle, data_type: str, layout: str, shape: Any) -> None:
    x = tensor(shape, data_type, layout)
    with cudnn.LRNDescriptor(3) as descriptor:
        y = cudnn.lrn_cross_channel_forward(handle, x, descriptor)
        cudnn.lrn_cross_channel_backward(handle, descriptor, x=x, y=y, dy=x)


def divisive(handle: Handle, data_type: str, layout: str, shape: Any) -> None:
    x = tensor(shape, data_type, layout)
    with cudnn.LRNDescriptor(3) as descriptor:
        cudnn.divisive_normalization_forward(handle, x, descriptor)
        cudnn.divisive_normalization_backward(handle, descriptor, x=x, dy=x)


def spatial(handle: Handle, data_type: str, layout: str, shape: Any) -> None:
    x, theta = tensor(shape, data_type, layout), tensor((3, 2, 3), data_type)
    with cudnn.SpatialTransformerDescriptor(shape, data_type) as st:
        grid = cudnn.spatial_tf_grid_generator_forward(handle, theta, st)
        y = cudnn.spatial_tf_sampler_forward(handle, x, grid, st)
        _, dgrid = cudnn.spatial_tf_sampler_backward(handle, st, x=x, dy=y, grid=grid)
        cudnn.spatial_tf_grid_generator_backward(handle, st, dgrid=dgrid)


# What is called, with each of these in turn.
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "inference": (infer, (MODES, DTYPES, LAYOUTS, SHAPES)),
    "batch": (normalize, (("batch", "norm"), MODES, FOLLOWING, DTYPES, LAYOUTS, SHAPES)),
    "norm inference": (infer_and_follow, (FOLLOWING[1:],)),
    "lrn": (lrn, (DTYPES, LAYOUTS, SHAPES)),
    "divisive": (divisive, (DTYPES, LAYOUTS, SHAPES)),
    "spatial transformer": (spatial, (("float64", "float32", "float16"), LAYOUTS, SHAPES[:1])),
}


def outcomes(family: str) -> dict[str, str]:
    function, choices = CALLS[family]
    found = {}
    with Handle() as handle:
        for given in itertools.product(*choices):
            words = (f"{len(each)}d" if isinstance(each, tuple) else each for each in given)
            name = " ".join((() if family == "batch" else (family,)) + tuple(words))
            try:
                function(handle, *given)
                handle.synchronize()
                found[name] = "success"
            except cudnn.CudnnError as error:
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


@pytest.mark.thinned(3)
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("family", CALLS)
def test_what_is_carried_out(family: str) -> None:
    found = outcomes(family)
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
    given = {"x": x, "y": forward.y, "dy": x, "scale": scale, "bias": scale}
    given |= {"activation": "relu", "reserve_space": forward.reserve_space}
    with pytest.raises(cudnn.NotSupportedError):
        cudnn.batch_normalization_backward_ex(handle, **given)


def test_divisive_normalization_forward_ignores_a_negative_beta(handle: Handle) -> None:
    """Of layer 1; layer 2 refuses it."""
    x, prior = tensor(SHAPES[0]), tensor(SHAPES[0], seed=1)
    temp, temp2 = tensor(SHAPES[0]), tensor(SHAPES[0])
    factors = c_float(1), c_float(-0.5)
    with cudnn.LRNDescriptor(3) as lrn, cudnn.TensorDescriptor(SHAPES[0]) as desc:
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
    with cudnn.SpatialTransformerDescriptor((1, 1, *size)) as st:
        grid = cudnn.spatial_tf_grid_generator_forward(handle, theta, st).numpy()[0]
    for row, column in np.ndindex(*size):
        u, v = (
            2 * i / (n - 1) - 1 if n > 1 else -1 for i, n in ((column, size[1]), (row, size[0]))
        )
        expected = theta.numpy()[0] @ (u, v, 1)
        np.testing.assert_allclose(grid[row, column], expected, rtol=1e-5, atol=1e-5)
