"""Transformed tensors, against cuDNN's; more of the order of folded channels is in test_folding."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes.reference import TensorTransform, transform_tensor, transformed_shape

# shape, pad_before, pad_after, fold, direction, and the shape that cudnnInitTransformDest of
# cuDNN 9.28 gave; None where it answered BAD_PARAM.
MEASURED = [
    ((2, 3, 8, 8), (0, 0, 0, 0), (0, 1, 0, 0), (2, 2), "fold", (2, 16, 4, 4)),
    ((2, 3, 7, 9), (0, 0, 0, 0), (0, 0, 0, 0), (2, 3), "fold", (2, 18, 4, 3)),
    ((2, 3, 7, 9), (0, 0, 0, 0), (0, 1, -1, 0), (2, 2), "fold", (2, 16, 3, 5)),
    ((4, 3, 3, 3), (1, 1, 1, 1), (4, 1, 0, 0), (0, 0), "fold", (9, 5, 4, 4)),
    ((3, 4, 6), (2, -1, -1), (0, 0, -1), (2,), "fold", (5, 6, 2)),
    ((1, 7, 2), (0, 0, 2), (2, 2, -1), (3,), "fold", (3, 27, 1)),
    ((2, 16, 4, 4), (0, 0, 0, 0), (0, -1, 0, 0), (2, 2), "unfold", (2, 3, 8, 8)),
    ((2, 16, 4, 4), (0, 0, 0, 0), (0, -1, -1, 1), (2, 2), "unfold", (2, 3, 7, 9)),
    ((1, 9, 5, 8, 2), (0, 0, 0, -1, 1), (2, -1, -1, 0, 0), (2, 1, 2), "unfold", (3, 2, 9, 7, 5)),
    ((2, 7, 4, 5), (0, 0, 0, 0), (0, 0, 0, 0), (2, 2), "unfold", (2, 2, 8, 10)),
    ((1, 2, 7, 9), (0, 0, -1, 1), (0, 1, 0, 2), (3, 3), "unfold", (1, 2, 20, 30)),
    ((3, 4), (0, 0), (1, 2), (), "fold", (4, 6)),
    ((1, 4, 2), (1, -1, -1), (-1, 0, 0), (0,), "unfold", None),
    ((2, 3, 4, 5), (0, 0, -4, 0), (0, 0, 0, 0), (1, 1), "fold", None),
    ((3, 2, 4, 2, 4), (2, 0, -1, -1, 1), (2, -1, 1, 0, 1), (2, 1, 0), "unfold", None),
]


@pytest.mark.parametrize("case", MEASURED, ids=lambda case: f"{case[0]}-{case[4]}")
def test_shapes_as_measured(case):
    shape, before, after, fold, direction, expected = case
    transform = TensorTransform(before, after, fold, direction)
    if expected is None:
        with pytest.raises(ValueError, match=r"^transform leaves nothing"):
            transformed_shape(shape, transform)
    else:
        assert transformed_shape(shape, transform) == expected


@pytest.mark.parametrize(
    ("shape", "before", "after", "fold", "direction", "expected"),
    [  # numbers of cuDNN 9.14 and 9.19; the channels hold 1, 2, ...
        ((4, 1, 1), 0, 1, (2, 1), "unfold", [1, 4, 2, 0, 0, 0]),
        ((6, 1, 1), -1, 1, (2, 1), "unfold", [2, 5, 3, 6, 0, 0]),
        ((6, 1, 1), 1, -1, (2, 1), "unfold", [0, 0, 1, 4, 2, 5]),
        ((4, 1, 1), 1, -1, (1, 1), "unfold", [1, 2, 3, 4]),
        ((2, 2, 1), 2, 1, (2, 1), "fold", [0, 0, 1, 3, 2, 4, 0, 0, 0, 0]),
        ((3, 2, 2), -1, 2, (2, 2), "fold", [5, 9, 0, 6, 10, 0, 7, 11, 0, 8, 12, *[0] * 5]),
    ],
)
def test_padded_and_cropped_channels(shape, before, after, fold, direction, expected):
    x = np.arange(1, 1 + np.prod(shape)).reshape(1, *shape)
    y = transform_tensor(x, TensorTransform((0, before, 0, 0), (0, after, 0, 0), fold, direction))
    assert y.ravel().tolist() == expected
