"""NaN propagates unless the user says otherwise, for every type that an operation takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle

Operation = Callable[[Handle, DeviceTensor], Any]

OPERATIONS: dict[str, Operation] = {
    "relu": lambda h, x: cudnn.activation_forward(h, x, "relu"),
    "RELU": lambda h, x: cudnn.activation_forward(h, x, cudnn.ActivationDescriptor("RELU")),
    "clipped_relu": lambda h, x: cudnn.activation_forward(
        h, x, cudnn.ActivationDescriptor("clipped_relu", coef=6)
    ),
    "max": lambda h, x: cudnn.pooling_forward(h, x, cudnn.PoolingDescriptor((1, 4))),
    "max_deterministic": lambda h, x: cudnn.pooling_forward(
        h, x, cudnn.PoolingDescriptor((1, 4), mode="max_deterministic")
    ),
    "op min": lambda h, x: cudnn.op_tensor(h, x, x, "min"),
    "op max": lambda h, x: cudnn.op_tensor(h, x, x, cudnn.raw.CUDNN_OP_TENSOR_MAX),
    "reduce min": lambda h, x: cudnn.reduce_tensor(h, x, "min", c_shape=(1, 2, 1, 1)).c,
    "reduce MAX": lambda h, x: cudnn.reduce_tensor(h, x, "MAX", c_shape=(1, 2, 1, 1)).c,
    "reduce amax": lambda h, x: (
        cudnn.reduce_tensor(h, x, cudnn.raw.CUDNN_REDUCE_TENSOR_AMAX, c_shape=(1, 2, 1, 1)).c
    ),
}


@pytest.mark.thinned(4)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("name", OPERATIONS)
def test_by_default(handle: Handle, name: str, dtype: Any) -> None:
    """In one of two channels, whose other values are 1 to 4."""
    if name.startswith("reduce") and dtype is ml_dtypes.bfloat16:
        pytest.skip("cuDNN 9 has no reduction of bfloat16")
    values = np.array([1, 2, np.nan, 4, 1, 2, 3, 4], np.float32).astype(dtype).reshape(1, 2, 1, 4)
    result = OPERATIONS[name](handle, DeviceTensor.from_numpy(values)).numpy().astype(np.float64)
    channels = np.isnan(result).reshape(2, -1).any(axis=1)
    assert channels.tolist() == [True, False]


@pytest.mark.parametrize("mode", ["max", "max_deterministic"])
def test_a_gradient_goes_to_the_first_nan(handle: Handle, mode: str) -> None:
    x = DeviceTensor.from_numpy(np.array([1, np.nan, 3, 4], np.float32).reshape(1, 1, 1, 4))
    dy = DeviceTensor.from_numpy(np.array([5, 6], np.float32).reshape(1, 1, 1, 2))
    with cudnn.PoolingDescriptor((1, 2), mode=mode) as pooling:
        y = cudnn.pooling_forward(handle, x, pooling)
        dx = cudnn.pooling_backward(handle, pooling, y=y, dy=dy, x=x)
    assert dx.numpy().ravel().tolist() == [0, 5, 0, 6]
