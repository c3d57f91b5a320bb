"""The fused convolution, against PyTorch and against numbers measured on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes.reference import activate, convolution_bias_activation_forward


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


def test_activations_against_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch (CPU) is the oracle of this test")
    torch.set_num_threads(1)
    functional = torch.nn.functional
    x = np.concatenate([np.linspace(-6, 6, 101), [-1000.0, 1000.0]])
    tx = torch.tensor(x)
    expected = {
        ("identity", 0.0): tx,
        ("relu", 0.0): functional.relu(tx),
        ("sigmoid", 0.0): torch.sigmoid(tx),
        ("tanh", 0.0): torch.tanh(tx),
        ("clipped_relu", 2.5): functional.hardtanh(tx, 0.0, 2.5),
        ("elu", 0.7): functional.elu(tx, 0.7),
        ("swish", 1.0): functional.silu(tx),
        ("swish", 1.5): tx * torch.sigmoid(1.5 * tx),
    }
    for (name, coefficient), values in expected.items():
        with np.errstate(all="raise", under="ignore"):
            result = activate(x, name, coefficient)
        # Both evaluate the formula in float64, each with a few roundings.
        np.testing.assert_allclose(result, values.numpy(), rtol=1e-13, atol=1e-14, err_msg=name)
