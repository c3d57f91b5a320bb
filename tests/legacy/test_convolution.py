"""``ConvolutionDescriptor`` against what was set, and its output shapes against the formula."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes import ConvolutionDescriptor, FilterDescriptor, TensorDescriptor, raw


def ints(rng: np.random.Generator, low: int, high: int, count: int) -> tuple[int, ...]:
    return tuple(int(n) for n in rng.integers(low, high, count))


def test_setting_again_follows_c() -> None:
    with ConvolutionDescriptor(groups=4, math_type="fma_math") as conv:
        conv.set_2d(1, 2, 3, 4, 5, 6, "convolution", "float64")
        assert (conv.padding, conv.stride, conv.dilation) == ((1, 2), (3, 4), (5, 6))
        assert conv.mode == raw.CUDNN_CONVOLUTION
        conv.set_nd((1,), (2,), (3,), raw.CUDNN_CROSS_CORRELATION, raw.CUDNN_DATA_HALF)
        assert (conv.padding, conv.stride, conv.dilation) == ((1,), (2,), (3,))
        assert (conv.groups, conv.math_type) == (4, raw.CUDNN_FMA_MATH)
        raw.cudnnSetConvolutionGroupCount(conv, 7)
        assert conv.groups == 7


@pytest.mark.parametrize("seed", range(10))
def test_output_shape(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    ndim, groups = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    window = ints(rng, 1, 5, ndim)
    padding, stride, dilation = ints(rng, 0, 3, ndim), ints(rng, 1, 4, ndim), ints(rng, 1, 4, ndim)
    reach = [(r - 1) * d + 1 for r, d in zip(window, dilation, strict=True)]
    sizes = tuple(n + int(rng.integers(0, 9)) for n in reach)
    batch, channels, filters = ints(rng, 1, 5, 3)
    x = TensorDescriptor((batch, channels * groups, *sizes))
    w = FilterDescriptor((filters * groups, channels, *window))
    outputs = [
        (n + 2 * p - r) // s + 1 for n, p, r, s in zip(sizes, padding, reach, stride, strict=True)
    ]
    with x, w, ConvolutionDescriptor(padding, stride, dilation, groups=groups) as conv:
        assert conv.output_shape(x, w) == (batch, filters * groups, *outputs)


@pytest.mark.parametrize("seed", range(20))
def test_two_dimensions_read_back(seed: int) -> None:
    rng = np.random.default_rng(2000 + seed)
    numbers = [*ints(rng, 0, 5, 2), *ints(rng, 1, 5, 4)]
    names = ("pad_h", "pad_w", "u", "v", "dilation_h", "dilation_w")
    with ConvolutionDescriptor() as conv:
        conv.set_2d(*numbers, "convolution", "float64")
        held = conv.get_2d()
    assert [held[name] for name in names] == numbers
    assert held["mode"] == raw.CUDNN_CONVOLUTION
    assert held["compute_data_type"] == raw.CUDNN_DATA_DOUBLE
