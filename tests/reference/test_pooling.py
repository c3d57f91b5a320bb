"""Pooling and its gradients, against PyTorch.

Most operands are small whole numbers, so that sums are exact; ties are wanted for the maximum.
"""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes.reference import pooling_backward, pooling_forward, pooling_output_shape

MODES = (
    "max",
    "max_deterministic",
    "average_count_include_padding",
    "average_count_exclude_padding",
)
AVERAGES = MODES[2:]


def random_case(rng: np.random.Generator, spatial: int) -> tuple[np.ndarray, dict]:
    """An image of distinct whole numbers, and options with padding below the window."""
    window = rng.integers(1, 4, spatial)
    options = {
        "window": tuple(window.tolist()),
        "padding": tuple(int(rng.integers(0, w)) for w in window),
        "stride": tuple(rng.integers(1, 4, spatial).tolist()),
    }
    shape = (2, 3, *(int(w + rng.integers(0, 6)) for w in window))
    return rng.permutation(np.arange(float(np.prod(shape)))).reshape(shape), options


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_against_pytorch(torch, spatial: int, mode: str):
    functional = torch.nn.functional
    rng = np.random.default_rng(10 + spatial)
    for _ in range(20):
        x, options = random_case(rng, spatial)
        # PyTorch wants padding of at most half the window.
        options["padding"] = tuple(w // 2 for w in options["window"])
        arguments = {
            "kernel_size": options["window"],
            "padding": options["padding"],
            "stride": options["stride"],
        }
        tx = torch.tensor(x, requires_grad=True)
        if mode.startswith("max"):
            ty = getattr(functional, f"max_pool{spatial}d")(tx, **arguments)
        else:
            pool = getattr(functional, f"avg_pool{spatial}d")
            ty = pool(tx, count_include_pad=mode == "average_count_include_padding", **arguments)
        dy = rng.integers(-4, 5, tuple(ty.shape)).astype(float)
        ty.backward(torch.tensor(dy))
        y = pooling_forward(x, mode=mode, **options)
        dx = pooling_backward(dy=dy, x=x, mode=mode, **options)
        assert y.shape == pooling_output_shape(x.shape, **options)
        np.testing.assert_allclose(y, ty.detach().numpy(), rtol=1e-13, err_msg=str(options))
        np.testing.assert_allclose(dx, tx.grad.numpy(), rtol=1e-13, atol=1e-13)


def test_an_output_smaller_or_larger_than_usual():
    x = np.arange(1.0, 7.0).reshape(1, 1, 6)
    assert pooling_forward(x, (2,), stride=(2,), y_shape=(1, 1, 2)).tolist() == [[[2, 4]]]
    wide = {"window": (4,), "stride": (4,), "y_shape": (1, 1, 2)}
    assert pooling_forward(x, **wide).tolist() == [[[4, 6]]]
    # As with cuDNN 9.14 and 9.19: what lies beyond the padding counts in neither average.
    assert pooling_forward(x, mode=AVERAGES[0], **wide).tolist() == [[[2.5, 5.5]]]
    padded = {**wide, "padding": (1,)}
    assert pooling_forward(x, mode=AVERAGES[0], **padded).tolist() == [[[1.5, 15 / 4]]]
    assert pooling_forward(x, mode=AVERAGES[1], **wide).tolist() == [[[2.5, 5.5]]]
    dy = np.array([[[4.0, 8.0]]])
    options = {"window": (4,), "stride": (4,)}
    assert pooling_backward(dy=dy, x=x, **options).tolist() == [[[0, 0, 0, 4, 0, 8]]]
    assert pooling_backward(dy=dy, x=x, mode=AVERAGES[0], **options).tolist() == [
        [[1] * 4 + [4] * 2]
    ]
    assert pooling_backward(dy=dy, x=x, mode=AVERAGES[1], **options).tolist() == [
        [[1] * 4 + [4] * 2]
    ]


def test_windows_without_elements():
    x, lowest = np.ones((1, 1, 2)), np.finfo(np.float64).min
    options = {"window": (1,), "padding": (1,), "stride": (1,)}
    assert pooling_forward(x, **options).tolist() == [[[lowest, 1, 1, lowest]]]
    for mode, outside in zip(AVERAGES, (0, np.nan), strict=True):
        y = pooling_forward(x, mode=mode, **options)
        np.testing.assert_array_equal(y, [[[outside, 1, 1, outside]]])
    for mode in MODES:
        dx = pooling_backward(dy=np.ones((1, 1, 4)), x=x, mode=mode, **options)
        assert dx.tolist() == [[[1, 1]]]


def test_nan_in_a_maximum():
    x = np.array([[[np.nan, 1.0, 2.0, np.nan, np.nan]]])
    dy = np.array([[[10.0, 20.0, 30.0, 40.0]]])
    y = pooling_forward(x, (2,), propagate_nan=False)
    np.testing.assert_array_equal(y, [[[1, 2, 2, np.finfo(x.dtype).min]]])
    dx = pooling_backward((2,), dy=dy, x=x, propagate_nan=False)
    assert dx.tolist() == [[[0, 10, 50, 0, 0]]]
    y = pooling_forward(x, (2,))
    np.testing.assert_array_equal(y, [[[np.nan, 2, np.nan, np.nan]]])
    dx = pooling_backward((2,), dy=dy, x=x)
    assert dx.tolist() == [[[10, 0, 20, 70, 0]]]


def test_integers_round_to_even():
    x = np.array([[[1, 2, 2, 1, -1, -2]]], np.int8)
    y = pooling_forward(x, (2,), stride=(2,), mode=AVERAGES[0])
    assert y.dtype == np.int8
    assert y.tolist() == [[[2, 2, -2]]]
    assert pooling_forward(x, (3,), stride=(3,)).tolist() == [[[2, 1]]]
