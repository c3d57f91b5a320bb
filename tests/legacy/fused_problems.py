"""Problems of the fused operations: what they should give, and how far off results may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.reference import fused_operations as reference

from .draws import ROUNDOFF, Array, Result, wide

HALF, SINGLE = ROUNDOFF["float16"], ROUNDOFF["float32"]
CASES = [
    # (N, C, H, W), K, filter, padding, stride, activation, affine
    ((2, 8, 8, 8), 32, 3, 1, 1, "relu", True),
    ((4, 64, 7, 9), 64, 1, 0, 1, "relu", True),
    ((2, 32, 9, 8), 32, 3, 1, 2, "relu", True),
    ((2, 16, 8, 8), 32, 3, 1, 1, None, False),
    ((2, 16, 8, 8), 32, 3, 1, 1, None, True),
]


def upload(array: Array | None) -> DeviceTensor | None:
    return None if array is None else DeviceTensor.from_numpy(array, layout="NHWC")


class Case:
    """Operands of a fused convolution."""

    def __init__(self, number: int, dtype: str) -> None:
        x_shape, filters, window, padding, stride, activation, affine = CASES[number]
        rng = np.random.default_rng(number)
        channels = x_shape[1]
        self.x = rng.standard_normal(x_shape).astype(dtype)
        self.w_shape = (filters, channels, window, window)
        self.w = (rng.standard_normal(self.w_shape) / window / channels**0.5).astype(dtype)
        self.scale, self.bias = (
            rng.standard_normal((1, channels, 1, 1)).astype(dtype) if affine else None
            for _ in range(2)
        )
        self.activation = activation
        self.settings = {"padding": (padding,) * 2, "stride": (stride,) * 2}
        self.conv = cudnn.ConvolutionDescriptor(
            padding, stride, math_type="tensor_op_math", compute_data_type="float32"
        )

    @property
    def given(self) -> dict[str, Any]:
        affine = {"scale": upload(self.scale), "bias": upload(self.bias)}
        return {"x": upload(self.x), **affine, "activation": self.activation}

    def applied(self) -> Array:
        """act(x * scale + bias) in the type of x, widened."""
        return wide(
            reference.affine_activation(
                self.x, self.scale, self.bias, self.activation or "identity"
            )
        )


def convolution(statistics: bool, dtype: str, handle: Handle, seed: int) -> Iterator[Result]:
    case = Case(seed, dtype)
    with case.conv as conv:
        made = cudnn.scale_bias_activation_convolution(
            handle, w=upload(case.w), conv=conv, statistics=statistics, **case.given
        )
    a, w = case.applied(), wide(case.w)
    options = {"options": case.settings, "out_dtype": np.float64}
    expected = reference.scale_bias_activation_convolution(a, w, **options)
    sizes = reference.scale_bias_activation_convolution(np.abs(a), np.abs(w), **options).y
    # a itself may be off by one rounding, where x * scale + bias is rounded otherwise.
    allowed = (HALF * 2 + 2 * w[0].size * SINGLE) * sizes + HALF * np.abs(expected.y)
    y = made.y.numpy()
    yield Result("y", y, expected.y, allowed)
    if not statistics:
        assert made.y_sum is made.y_sqsum is None
        return
    axes, count = (0, 2, 3), y.size / y.shape[1]
    for name, values in (("y_sum", wide(y)), ("y_sqsum", wide(y) ** 2)):
        # Of y before or after it was rounded: cuDNN does not say.
        size = np.abs(values).sum(axes, keepdims=True)
        off = (2 * HALF + count * SINGLE) * size + 1e-6
        yield Result(name, getattr(made, name).numpy(), values.sum(axes, keepdims=True), off)


def filter_gradient(dtype: str, handle: Handle, seed: int) -> Iterator[Result]:
    case = Case(seed, dtype)
    with (
        case.conv as conv,
        cudnn.TensorDescriptor(case.x.shape) as x_desc,
        cudnn.FilterDescriptor(case.w_shape) as w_desc,
    ):
        shape = conv.output_shape(x_desc, w_desc)
        dy = np.random.default_rng(99).standard_normal(shape).astype(dtype)
        dw = cudnn.scale_bias_activation_backward_filter(
            handle, conv, dy=upload(dy), dw_shape=case.w_shape, **case.given
        )
    a, formula = case.applied(), reference.scale_bias_activation_backward_filter
    options: Any = {"options": case.settings, "out_dtype": np.float64, "dw_shape": case.w_shape}
    exact = formula(x=a, dy=wide(dy), **options)
    sizes = formula(x=np.abs(a), dy=np.abs(wide(dy)), **options)
    count = dy.shape[0] * dy.shape[2] * dy.shape[3]
    # float32 may be multiplied as TF32, whose roundoff is that of half precision.
    allowed = (4 * HALF + 2 * count * SINGLE) * sizes + HALF * np.abs(exact)
    yield Result("", dw.numpy(), exact, allowed)


def statistics(channels: int = 32, seed: int = 1) -> list[Array]:
    """gamma, beta, mean, variance."""
    rng = np.random.default_rng(seed)
    shape = (1, channels, 1, 1)
    made = [rng.standard_normal(shape).astype(np.float32) for _ in range(4)]
    made[3] = np.abs(made[3]) + 0.1
    return made


def finalizing(handle: Handle, averaged: int) -> Iterator[Result]:
    """Of training; running averages are given or not."""
    gamma, beta, mean, variance = statistics(seed=4)
    y = np.random.default_rng(3).standard_normal((4, 32, 5, 5)).astype(np.float32)
    sums = [v.sum((0, 2, 3), keepdims=True).astype(np.float32) for v in (y, y * y)]
    running = [upload(mean), upload(variance)] if averaged else []
    options = {"average_factor": 0.25, "epsilon": 1e-3}
    made = cudnn.finalize_statistics_training(
        handle, *map(upload, sums), 100, upload(gamma), upload(beta), *running, **options
    )
    expected = reference.finalize_statistics_training(
        *sums, 100, gamma, beta, running_mean=mean, running_variance=variance, **options
    )
    assert made.scale.dtype == np.float16
    stored = [2 * ROUNDOFF[each.dtype.name] for each in made] + [0, 0]
    for actual, exact, store in zip((*made, *running), expected, stored, strict=averaged == 1):
        yield Result("", actual.numpy(), exact, (64 * SINGLE + store) * (1 + np.abs(exact)))


def finalizing_inference(data_type: str, handle: Handle, _: int) -> Iterator[Result]:
    given = statistics(seed=5)
    made = cudnn.finalize_statistics_inference(
        handle, *map(upload, given), epsilon=1e-3, data_type=data_type
    )
    # Computed in float32, and rounded to the type.
    roundoff = HALF if data_type == "float16" else SINGLE
    expected = reference.finalize_statistics_inference(*given, epsilon=1e-3)
    for actual, exact in zip(made, expected, strict=True):
        assert actual.dtype == numpy_dtype(data_type)
        yield Result("", actual.numpy(), exact, (roundoff + 8 * SINGLE) * (1 + np.abs(exact)))
