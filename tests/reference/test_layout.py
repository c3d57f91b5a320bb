"""Strides, views and packed formats, against loops that follow the definition of each format."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes.reference import pack, packed_strides, unpack, view

SHAPES = [(2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 4, 5), (1, 1, 1, 1), (3, 1, 2, 2)]


@pytest.mark.parametrize("dims", SHAPES)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_pack_puts_elements_where_the_strides_say(dims, layout):
    x = np.random.default_rng(0).permutation(int(np.prod(dims))).reshape(dims)
    buffer, strides = pack(x, layout), packed_strides(dims, layout)
    for index in np.ndindex(*dims):
        offset = sum(i * s for i, s in zip(index, strides, strict=True))
        assert buffer[offset] == x[index]
    np.testing.assert_array_equal(unpack(buffer, dims, layout), x)
    assert np.shares_memory(unpack(buffer, dims, layout), buffer)
    assert not np.shares_memory(buffer, x)


@pytest.mark.parametrize("vector", [4, 32])
@pytest.mark.parametrize("sizes", [(5,), (2, 3), (2, 3, 2)])
def test_vectorized_channels(vector, sizes):
    dims = (2, 2 * vector, *sizes)
    x = np.arange(np.prod(dims), dtype=np.int32).reshape(dims)
    buffer = pack(x, "NCHW_VECT_C", vector=vector)
    # The strides of cuDNN's descriptors, in vectors: those of NCHW with C / vector channels.
    strides = packed_strides((2, 2, *sizes))
    for n, c, *at in np.ndindex(*dims):
        offset = sum(i * s for i, s in zip((n, c // vector, *at), strides, strict=True))
        assert buffer[offset * vector + c % vector] == x[(n, c, *at)]
    np.testing.assert_array_equal(unpack(buffer, dims, "NCHW_VECT_C", vector=vector), x)


def test_formats_of_a_transposed_array():
    x = np.arange(24.0).reshape(2, 3, 4).transpose(0, 2, 1)
    assert pack(x, "NHWC").tolist() == list(range(24))
    np.testing.assert_array_equal(unpack(pack(x), x.shape), x)


def test_small_floats():
    x = np.arange(8).astype(ml_dtypes.bfloat16).reshape(1, 4, 2)
    for layout in ("NCHW", "NHWC", "NCHW_VECT_C"):
        buffer = pack(x, layout)
        assert buffer.dtype == x.dtype
        assert (unpack(buffer, x.shape, layout) == x).all()


def test_wrong_arguments():
    flat = np.zeros(24)
    with pytest.raises(ValueError, match=r"^buffer must be one-dimensional"):
        view(flat.reshape(4, 6), (4, 6))
    with pytest.raises(ValueError, match=r"^buffer must be one-dimensional"):
        view(flat[::2], (4, 3))
    with pytest.raises(ValueError, match=r"^buffer must hold 25 elements"):
        view(flat, (5, 5))
    with pytest.raises(ValueError, match=r"^buffer must hold 28 elements"):
        view(flat, (2, 3, 4), (13, 4, 2))
    with pytest.raises(ValueError, match=r"^dims must be at least 1"):
        view(flat, (2, 0, 4))
    with pytest.raises(ValueError, match=r"^strides must be 3 ints"):
        view(flat, (2, 3, 4), (12, 4))
    with pytest.raises(ValueError, match=r"^strides must be 3 ints of at least 0"):
        view(flat, (2, 3, 4), (12, -4, 1))
    with pytest.raises(ValueError, match=r"^vector must divide the 6 channels, got 4"):
        pack(flat.reshape(1, 6, 4), "NCHW_VECT_C")
    with pytest.raises(ValueError, match=r"^layout must be"):
        pack(flat.reshape(1, 6, 4), "CHWN")
    with pytest.raises(ValueError, match=r"^layout must be"):
        unpack(flat, (1, 6, 4), "CHWN")
    with pytest.raises(ValueError, match=r"^layout must be 'NCHW' or 'NHWC' to have strides"):
        packed_strides((1, 8, 3), "NCHW_VECT_C")
