"""``FilterDescriptor`` against what was set, and the library itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cudnn_ctypes import FilterDescriptor, raw
from cudnn_ctypes.runtime import DeviceTensor

BYTES = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2, "int8": 1}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("seed", range(40))
def test_random_filters(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 7, int(rng.integers(3, 9))))
    layout = str(rng.choice(["NCHW", "NHWC"]))
    name = str(rng.choice(list(BYTES)))
    with FilterDescriptor(shape, name, layout=layout) as descriptor:
        assert descriptor.shape == shape
        assert descriptor.layout == layout
        assert descriptor.format.name == f"CUDNN_TENSOR_{layout}"
        assert descriptor.size_in_bytes == math.prod(shape) * BYTES[name]
        with FilterDescriptor() as other:
            other.set_nd(name, layout, shape)
            assert other == descriptor
            other.set_nd(name, "NHWC" if layout == "NCHW" else "NCHW", shape)
            assert other != descriptor


@pytest.mark.parametrize("length", [4, 32])
def test_vectors(length: int) -> None:
    layout = f"NCHW_VECT_C{length}"
    with FilterDescriptor((8, 64, 3, 3), "int8", layout=layout) as descriptor:
        assert descriptor.data_type == getattr(raw, f"CUDNN_DATA_INT8x{length}")
        assert descriptor.format == raw.CUDNN_TENSOR_NCHW_VECT_C
        assert descriptor.layout == layout
        assert descriptor.size_in_bytes == 8 * 64 * 9


def test_four_dimensions_read_back() -> None:
    with FilterDescriptor((2, 3, 4, 5), "float64", layout="NHWC") as w:
        assert w.get_4d() == {
            "data_type": raw.CUDNN_DATA_DOUBLE,
            "layout": raw.CUDNN_TENSOR_NHWC,
            "k": 2,
            "c": 3,
            "h": 4,
            "w": 5,
        }


class TestOfATensor:
    @pytest.mark.parametrize("layout", ["NCHW", "NHWC", "NCHW_VECT_C4"])
    def test_layouts(self, reference_device: None, layout: str) -> None:
        with (
            DeviceTensor.empty((8, 4, 3, 3), "int8", layout=layout) as tensor,
            FilterDescriptor.of(tensor) as descriptor,
        ):
            assert descriptor == FilterDescriptor((8, 4, 3, 3), "int8", layout=layout)
            assert descriptor.size_in_bytes == tensor.nbytes

    def test_one_spatial_dimension_gets_a_height(self, reference_device: None) -> None:
        with (
            DeviceTensor.empty((8, 4, 3), "float32", layout="NHWC") as tensor,
            FilterDescriptor.of(tensor, min_dims=4) as descriptor,
        ):
            assert (descriptor.shape, descriptor.layout) == ((8, 4, 1, 3), "NHWC")

    def test_gaps_are_refused(self, reference_device: None) -> None:
        tensor = DeviceTensor.empty((8, 4, 3, 3), "float32", strides=(72, 18, 6, 2))
        with tensor, pytest.raises(ValueError, match="dense"):
            FilterDescriptor.of(tensor)
