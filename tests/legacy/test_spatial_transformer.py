"""The spatial transformer of layer 2: what is made, given and refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle, NotSupportedError, SpatialTransformerDescriptor

X, Y = (2, 3, 5, 6), (2, 3, 4, 7)


@pytest.fixture
def transformer() -> Any:
    with SpatialTransformerDescriptor(Y) as made:
        yield made


def random(seed: int, *shape: int, layout: Any = None, dtype: Any = np.float32) -> DeviceTensor:
    values = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return DeviceTensor.from_numpy(values, layout=layout)


def identity(images: int) -> DeviceTensor:
    maps = np.tile(np.eye(2, 3, dtype=np.float32), (images, 1, 1))
    return DeviceTensor.from_numpy(maps)


class TestOperations:
    @pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 4, 7, 2)])
    def test_other_numbers_of_dimensions(self, handle: Handle, shape: Any) -> None:
        with SpatialTransformerDescriptor(shape) as st, pytest.raises(NotSupportedError):
            cudnn.spatial_tf_grid_generator_forward(handle, random(0, 2, 2, 3), st)
