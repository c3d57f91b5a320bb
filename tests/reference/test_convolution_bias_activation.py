"""The fused convolution, against numbers measured on a GPU."""

from __future__ import annotations

import numpy as np

from cudnn_ctypes.reference import convolution_bias_activation_forward


def test_int8_as_measured():
    # cuDNN 9.19, H200, 1x1 identity filter on x = -128 ... 127, float bias 0.25, z = 3.
    x = np.arange(-128, 128).astype(np.int8).reshape(1, 1, 256)
    identity, z = np.ones((1, 1, 1), np.int8), np.full(x.shape, 3, np.int8)
    bias = np.array([0.25], np.float32)

    def run(activation: str, **options: object) -> np.ndarray:
        return convolution_bias_activation_forward(
            x, identity, z, bias, activation=activation, **options
        )[0, 0]

    half = run("identity", alpha1=0.5)
    assert half.dtype == np.int8
    assert half[:4].tolist() == [-64, -63, -63, -62]
    assert half[124:136].tolist() == [-2, -1, -1, 0, 0, 1, 1, 2, 2, 3, 3, 4]
    both = run("identity", alpha1=0.5, alpha2=0.5)
    assert both[124:136].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert run("relu", alpha1=0.5)[124:136].tolist() == [0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4]
    assert run("relu", alpha1=3.0)[[0, 128, 129, 170, 255]].tolist() == [0, 0, 3, 126, 127]
    floats = run("identity", alpha1=3.0, out_dtype=np.float32)
    assert floats[-4:].tolist() == [372.25, 375.25, 378.25, 381.25]
