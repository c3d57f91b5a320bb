"""Pooling through layer 2: shapes of results, corner cases, and windows that are told of."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.errors import FaultWarning

INCLUDE, EXCLUDE = "average_count_include_padding", "average_count_exclude_padding"


def tensor(array: np.ndarray, **how: Any) -> cudnn.DeviceTensor:
    return cudnn.DeviceTensor.from_numpy(np.asarray(array), **how)


def line(*values: float) -> np.ndarray:
    return np.array(values, np.float32).reshape(1, 1, 1, -1)


class TestOperations:
    def test_what_minus_infinity_gets_depends_on_the_layout(self, handle: cudnn.Handle) -> None:
        """As with 9.14 and 9.19 on an H200; mode max_deterministic gives it nothing.

        9.28 gives it to the first element in both layouts.
        """
        newer = not handle.on_reference_device and raw.load().version >= 92800
        values = np.full((1, 2, 2, 2), -np.inf, np.float32)
        dy = np.full((1, 2, 1, 1), 5, np.float32)
        for layout, first in (("NCHW", 5), ("NHWC", 5 * newer)):
            with cudnn.PoolingDescriptor(2) as pooling, tensor(values, layout=layout) as x:
                y = cudnn.pooling_forward(handle, x, pooling)
                with tensor(dy) as gradient:
                    dx = cudnn.pooling_backward(handle, pooling, y=y, dy=gradient, x=x).numpy()
            assert dx[0].reshape(2, 4).tolist() == [[first, 0, 0, 0]] * 2

    @pytest.mark.filterwarnings("ignore::cudnn_ctypes.errors.FaultWarning")
    def test_windows_in_the_padding(self, handle: cudnn.Handle) -> None:
        newer = not handle.on_reference_device and raw.load().version >= 92800
        lowest = -np.inf if newer else np.finfo(np.float32).min
        expected = {"max": lowest, "max_deterministic": lowest, INCLUDE: 0, EXCLUDE: np.nan}
        for mode, outside in expected.items():
            with (
                cudnn.PoolingDescriptor((1, 1), (0, 1), 1, mode=mode) as pooling,
                tensor(line(2, 3)) as x,
            ):
                y = cudnn.pooling_forward(handle, x, pooling).numpy().ravel()
            np.testing.assert_array_equal(y, [outside, 2, 3, outside], err_msg=mode)

    @pytest.mark.parametrize("mode", ["max", EXCLUDE])
    def test_windows_outside_the_image_are_told_of(self, mode: str) -> None:
        with (
            cudnn.use_reference_device(),
            cudnn.Handle() as handle,
            tensor(line(1, 2, 3, 4, 5)) as x,
        ):
            with (
                cudnn.PoolingDescriptor((1, 2), (0, 2), 1, mode=mode) as pooling,
                pytest.warns(FaultWarning, match=r"poolingDesc: a padding of 2 .* dimension 1 "),
            ):
                cudnn.pooling_forward(handle, x, pooling)
            with cudnn.PoolingDescriptor((1, 2), mode=mode) as pooling:
                with pytest.warns(FaultWarning, match=r"yDesc: 4 elements of y where x has 5"):
                    cudnn.pooling_forward(handle, x, pooling, tensor(line(0, 0, 0, 0)))
                with warnings.catch_warnings():
                    warnings.simplefilter("error", FaultWarning)
                    cudnn.pooling_forward(handle, x, pooling, tensor(line(0, 0, 0)))

    @pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
    def test_one_and_three_spatial_dimensions(self, handle: cudnn.Handle, layout: str) -> None:
        values = np.arange(2 * 3 * 6, dtype=np.float32).reshape(2, 3, 6)
        with cudnn.PoolingDescriptor((2,)) as pooling, tensor(values, layout=layout) as x:
            y = cudnn.pooling_forward(handle, x, pooling)
            assert (y.shape, y.layout) == ((2, 3, 3), layout)
            np.testing.assert_array_equal(y.numpy(), values[:, :, 1::2])
        cube = np.arange(64, dtype=np.float32).reshape(1, 1, 4, 4, 4)
        with cudnn.PoolingDescriptor((2, 2, 2)) as pooling, tensor(cube, layout=layout) as x:
            y = cudnn.pooling_forward(handle, x, pooling)
            np.testing.assert_array_equal(y.numpy(), cube[:, :, 1::2, 1::2, 1::2])
