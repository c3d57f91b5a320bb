"""im2col, reordered int8x32 filters, and strided backward data on folded tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle, raw
from cudnn_ctypes import reference as ref

SHAPE, TAPS = (2, 3, 7, 6), (5, 3, 3, 2)
OPTIONS: dict[str, Any] = {"padding": (1, 0), "stride": (2, 1), "dilation": (1, 2)}


@pytest.fixture
def image() -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)


class TestIm2Col:
    @pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
    @pytest.mark.parametrize("mode", ["cross_correlation", "convolution"])
    def test_columns(self, handle, image, layout, mode):
        x = DeviceTensor.from_numpy(image, layout=layout)
        with (
            cudnn.FilterDescriptor(TAPS) as w_desc,
            cudnn.ConvolutionDescriptor(**OPTIONS, mode=mode) as conv,
        ):
            columns = cudnn.im2col(handle, x, w_desc, conv)
        exact = ref.im2col(image, TAPS, **OPTIONS, mode=mode)
        assert columns.shape == exact.shape
        np.testing.assert_array_equal(columns.numpy(), exact)

    def test_memory_given(self, handle: Handle, image: np.ndarray[Any, Any]) -> None:
        x = DeviceTensor.from_numpy(image)
        exact = ref.im2col(image, TAPS, **OPTIONS)
        with (
            cudnn.FilterDescriptor(TAPS) as w_desc,
            cudnn.ConvolutionDescriptor(**OPTIONS) as conv,
            cudnn.DeviceBuffer(exact.nbytes) as columns,
            cudnn.DeviceBuffer(exact.nbytes - 1) as short,
        ):
            assert cudnn.im2col(handle, x, w_desc, conv, columns) is columns
            result = columns.copy_to_host().view(np.float32).reshape(exact.shape)
            np.testing.assert_array_equal(result, exact)
            with pytest.raises(ValueError, match=f"^columns: {exact.nbytes - 1} bytes are too"):
                cudnn.im2col(handle, x, w_desc, conv, short)
            with pytest.raises(TypeError, match=r"^columns: host memory"):
                cudnn.im2col(handle, x, w_desc, conv, exact)

    def test_groups(self, handle: Handle) -> None:
        x = DeviceTensor.from_numpy(np.ones((1, 4, 5, 5), np.float32))
        w_desc, conv = cudnn.FilterDescriptor((4, 2, 3, 3)), cudnn.ConvolutionDescriptor(groups=2)
        with w_desc, conv, pytest.raises(cudnn.NotSupportedError):
            cudnn.im2col(handle, x, w_desc, conv)


class TestReorder:
    def test_reordered_filters_give_the_same_convolution(self, handle: Handle) -> None:
        rng = np.random.default_rng(2)
        x = rng.integers(-2, 3, (1, 32, 5, 5)).astype(np.int8)
        w = rng.integers(-2, 3, (64, 32, 3, 3)).astype(np.int8)
        bias = rng.integers(-9, 9, 64).astype(np.float32)
        x_there, w_there = (
            DeviceTensor.from_numpy(array, layout="NCHW_VECT_C32") for array in (x, w)
        )
        bias_there = DeviceTensor.from_numpy(bias)
        reordered_w, reordered_bias = cudnn.reorder_filter_and_bias(handle, w_there, bias_there)
        stored = w.reshape(64, 1, 32, 3, 3).transpose(0, 1, 3, 4, 2)
        seen = reordered_w.numpy().reshape(64, 1, 32, 3, 3).transpose(0, 1, 3, 4, 2)
        np.testing.assert_array_equal(seen, ref.reorder_filter(stored))
        np.testing.assert_array_equal(reordered_bias.numpy(), ref.reorder_bias(bias))
        results = []
        for filters, offsets, reorder_type in (
            (w_there, bias_there, "default_reorder"),
            (reordered_w, reordered_bias, "no_reorder"),
        ):
            with cudnn.ConvolutionDescriptor(
                1, compute_data_type="int32", reorder_type=reorder_type, math_type="tensor_op_math"
            ) as conv:
                y = cudnn.convolution_bias_activation_forward(
                    handle, x_there, filters, conv, offsets, "relu", alpha1=0.25
                )
                results.append(y.numpy())
        np.testing.assert_array_equal(results[0], results[1])
        exact = ref.convolution_bias_activation_forward(
            x, w, None, bias, padding=(1, 1), alpha1=0.25, out_dtype=np.int8
        )
        np.testing.assert_array_equal(results[0], exact)

    def test_copying_a_bias_too(self, handle: Handle) -> None:
        w, numbers = (
            DeviceTensor.zeros((32, 32, 1, 1), "int8x32"),
            np.arange(1, 33, dtype="float32"),
        )
        with (
            DeviceTensor.from_numpy(numbers) as bias,
            DeviceTensor.full((64,), -1, "float32") as out,
        ):
            cudnn.reorder_filter_and_bias(
                handle, w, bias, reorder_type="no_reorder", reordered_bias=out[:32]
            )
            assert out.numpy().tolist() == [*numbers, *[-1] * 32]

    def test_filters_of_another_type(self, handle: Handle) -> None:
        w = DeviceTensor.from_numpy(np.ones((32, 32, 3, 3), np.float32))
        with pytest.raises(cudnn.NotSupportedError):
            cudnn.reorder_filter_and_bias(handle, w)


class TestFolding:
    @pytest.fixture(autouse=True)
    def needs_a_driver(self, handle: Handle) -> None:
        """The library of cuDNN 9.28 for these needs one, or the stand-in that a handle brings."""

    def test_folded_descriptors(self, handle: Handle) -> None:
        x_shape, w_shape = (2, 3, 9, 6), (4, 3, 3, 3)
        given = {"padding": (1, 1), "stride": (2, 1)}
        with (
            cudnn.FilterDescriptor(w_shape) as w_desc,
            cudnn.ConvolutionDescriptor(1, (2, 1)) as conv,
            cudnn.TensorDescriptor(x_shape) as dx_desc,
            cudnn.TensorDescriptor(conv.output_shape(dx_desc, w_desc)) as dy_desc,
        ):
            strided = cudnn.ConvolutionBackwardData(w_desc, dy_desc, conv, dx_desc)
            with cudnn.folded_backward_data(handle, strided) as folded:
                exact = ref.folded_backward_data(w_shape, x_shape, **given)
                unit = folded.backward_data
                assert unit.w_desc.shape == exact.w_shape
                assert unit.dy_desc.shape == exact.dy_shape
                assert unit.dx_desc.shape == exact.dx_shape
                assert unit.conv.padding == exact.padding
                assert unit.conv.stride == unit.conv.dilation == (1, 1)
                assert unit.w_desc.layout == unit.dx_desc.layout == "NHWC"
                assert folded.fold_w.pad_before == exact.fold_w.pad_before
                assert folded.unfold_dx.pad_after == exact.unfold_dx.pad_after
                assert folded.unfold_dx.direction == raw.CUDNN_TRANSFORM_UNFOLD
            assert folded.fold_w.closed
            assert unit.conv.closed
            assert not conv.closed

    @pytest.mark.parametrize(
        "options", [{"mode": "convolution"}, {"dilation": 2}, {"groups": 2}], ids=str
    )
    def test_what_cannot_be_folded(self, handle: Handle, options: dict[str, Any]) -> None:
        w_desc, dx_desc = cudnn.FilterDescriptor((4, 4, 3, 3)), cudnn.TensorDescriptor((1, 4, 9, 9))
        if "groups" in options:
            w_desc.set_4d("float32", "NCHW", 4, 2, 3, 3)
        with w_desc, dx_desc, cudnn.ConvolutionDescriptor(1, 2, **options) as conv:
            dy_desc = cudnn.TensorDescriptor(conv.output_shape(dx_desc, w_desc))
            strided = cudnn.ConvolutionBackwardData(w_desc, dy_desc, conv, dx_desc)
            with dy_desc, pytest.raises(ValueError, match=r"^conv: .*cannot be folded"):
                cudnn.folded_backward_data(handle, strided)
