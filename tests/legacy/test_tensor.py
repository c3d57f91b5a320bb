"""``TensorDescriptor`` against NumPy's strides and the library itself."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import TensorDescriptor, as_data_type, raw

DATA_TYPES = {
    "float32": np.float32,
    "float64": np.float64,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "int8": np.int8,
    "int32": np.int32,
    "uint8": np.uint8,
}


def random_shape(rng: np.random.Generator, ndim: int) -> tuple[int, ...]:
    return tuple(int(n) for n in rng.integers(1, 7, ndim))


def numpy_strides(shape: tuple[int, ...], layout: str) -> tuple[int, ...]:
    """Strides in elements of a NumPy array that is dense in this layout."""
    if layout == "NCHW":
        array = np.empty(shape, np.int8)
    else:
        array = np.moveaxis(np.empty((shape[0], *shape[2:], shape[1]), np.int8), -1, 1)
    return array.strides


@pytest.mark.parametrize("seed", range(10))
def test_random_layouts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, int(rng.integers(3, 9)))
    layout = str(rng.choice(["NCHW", "NHWC"]))
    name = str(rng.choice(list(DATA_TYPES)))
    with TensorDescriptor(shape, name, layout=layout) as descriptor:
        assert descriptor.shape == shape
        assert descriptor.data_type == as_data_type(name)
        assert descriptor.strides == numpy_strides(shape, layout)
        itemsize = np.dtype(DATA_TYPES[name]).itemsize
        assert descriptor.size_in_bytes == math.prod(shape) * itemsize
        if min(shape) > 1:
            assert descriptor.layout == layout
        with TensorDescriptor(shape, name, strides=descriptor.strides) as same:
            assert same == descriptor


@pytest.mark.parametrize("seed", range(10))
def test_random_strides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, int(rng.integers(2, 9)))
    strides, step = [0] * len(shape), 1
    for axis in rng.permutation(len(shape)):
        strides[axis] = step * int(rng.integers(1, 4))
        step = strides[axis] * shape[axis]
    with TensorDescriptor(shape, "float16", strides=strides) as descriptor:
        assert descriptor.shape == shape
        assert descriptor.strides == tuple(strides)
        last = sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
        assert descriptor.size_in_bytes == 2 * (last + 1)
        wider = list(strides)
        wider[int(np.argmax(shape))] += 1
        with TensorDescriptor(shape, "float16", strides=wider) as other:
            assert other != descriptor


def test_the_same_strides_of_vectors_and_of_elements_differ() -> None:
    vectors = TensorDescriptor((2, 64, 3, 5), "int8x4")
    elements = TensorDescriptor((2, 64, 3, 5), "int8x4", strides=vectors.strides)
    assert elements.strides == vectors.strides
    assert elements != vectors
    assert elements.layout is None
    assert vectors.layout == "NCHW_VECT_C4"
    vectors.close()
    elements.close()


def test_four_dimensions_read_back() -> None:
    with TensorDescriptor() as x:
        x.set_4d_ex("float16", 2, 3, 5, 7, 211, 67, 11, 1)
        assert x.get_4d() == {
            "data_type": raw.CUDNN_DATA_HALF,
            "n": 2,
            "c": 3,
            "h": 5,
            "w": 7,
            "n_stride": 211,
            "c_stride": 67,
            "h_stride": 11,
            "w_stride": 1,
        }
