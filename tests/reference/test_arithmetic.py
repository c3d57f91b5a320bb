"""Accumulation, rounding and saturation, by data type."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes.reference import convolution_forward


def test_float32_accumulation_is_within_its_error_bound():
    # |error| <= terms * eps32 * (|x| conv |w|), the bound of any order of summation.
    rng = np.random.default_rng(50)
    x = rng.standard_normal((2, 16, 9, 9)).astype(np.float32)
    w = rng.standard_normal((8, 16, 3, 3)).astype(np.float32)
    exact = convolution_forward(x.astype(np.float64), w.astype(np.float64))
    single = convolution_forward(x, w, compute_dtype=np.float32)
    bound = 144 * np.finfo(np.float32).eps * convolution_forward(abs(x), abs(w))
    assert single.dtype == np.float32
    assert (abs(single - exact) <= bound).all()
    assert (single != exact).any()


@pytest.mark.parametrize(
    "dtype",
    [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2],
    ids=["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"],
)
def test_small_floats_are_summed_exactly_and_rounded_once(dtype):
    rng = np.random.default_rng(51)
    x, w = (rng.standard_normal(s).astype(dtype) for s in ((1, 8, 6, 6), (4, 8, 3, 3)))
    exact = convolution_forward(x.astype(np.float64), w.astype(np.float64))
    y = convolution_forward(x, w)
    assert y.dtype == np.dtype(dtype)
    size = np.dtype(dtype).itemsize
    with np.errstate(invalid="ignore"):  # some codes are signalling NaNs
        codes = np.arange(256**size, dtype=f"u{size}").view(dtype).astype(np.float64)
    values = np.unique(codes[np.isfinite(codes)])
    nearest = values[abs(exact.ravel()[:, None] - values).argmin(axis=1)]
    np.testing.assert_array_equal(y.astype(np.float64).ravel(), nearest)


def test_int8_is_summed_in_int32():
    rng = np.random.default_rng(52)
    shapes = (2, 64, 6, 6), (32, 64, 3, 3)
    x, w = (rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes)
    exact = convolution_forward(x.astype(np.float64), w.astype(np.float64), padding=(1, 1))
    assert abs(exact).max() > 1 << 16
    sums = convolution_forward(x, w, padding=(1, 1), out_dtype=np.int32)
    np.testing.assert_array_equal(sums, exact.astype(np.int32))
    y = convolution_forward(x, w, padding=(1, 1))
    assert y.dtype == np.int8
    np.testing.assert_array_equal(y, np.clip(exact, -128, 127).astype(np.int8))


def test_int32_sums_beyond_float32_stay_exact():
    x, w = np.full((1, 2047, 1), 127, np.int8), np.full((1, 2047, 1), 127, np.int8)
    y = convolution_forward(x, w, out_dtype=np.int32)
    assert y.tolist() == [[[2047 * 127 * 127]]]  # odd, and above 2^24


def test_int8_rounding_as_measured():
    # cuDNN 9.19, H200, 1x1 identity filter on x = -128 ... 127: ties go to even.
    x = np.arange(-128, 128).astype(np.int8).reshape(1, 1, 256)
    identity = np.ones((1, 1, 1), np.int8)
    half = convolution_forward(x, identity, alpha=0.5)[0, 0]
    assert half[:4].tolist() == [-64, -64, -63, -62]
    assert half[124:136].tolist() == [-2, -2, -1, 0, 0, 0, 1, 2, 2, 2, 3, 4]
    assert half[-4:].tolist() == [62, 62, 63, 64]
    prior = np.full(x.shape, 3, np.int8)
    blended = convolution_forward(x, identity, alpha=0.5, beta=0.5, y=prior)[0, 0]
    assert blended[:4].tolist() == [-62, -62, -62, -61]
    assert blended[124:136].tolist() == [0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5]
    triple = convolution_forward(x, identity, alpha=3.0)[0, 0]
    assert triple[[0, 85, 86, 170, 171, 255]].tolist() == [-128, -128, -126, 126, 127, 127]
    floats = convolution_forward(x, identity, alpha=0.5, out_dtype=np.float32)[0, 0]
    assert floats[:4].tolist() == [-64, -63.5, -63, -62.5]
