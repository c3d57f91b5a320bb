"""The operations' interface: what they take, make and return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle, raw
from cudnn_ctypes import reference as ref
from cudnn_ctypes.legacy import operands as legacy_operands

from .test_launch import c_calls

IMAGE = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
KERNEL = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
EXPECTED = [[111, 178, 217, 145], [231, 348, 393, 252], [363, 528, 573, 360], [197, 274, 295, 175]]


def small(rng_seed: int, *shape: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """Small whole numbers, whose products and sums are exact in every type."""
    return np.random.default_rng(rng_seed).integers(-4, 5, shape).astype(dtype)


def put(array: np.ndarray[Any, Any], layout: str | None = None) -> DeviceTensor:
    return DeviceTensor.from_numpy(array, layout=layout)


def poisoned(shape: tuple[int, ...], layout: str | None = None) -> DeviceTensor:
    return put(np.full(shape, np.nan, np.float32), layout)


@pytest.mark.parametrize("step", [110, 112])  # samples off, and at a boundary of vectors
def test_the_gradient_of_a_bias_of_samples_with_gaps(handle: Handle, step: int) -> None:
    numbers = np.full((2, step), np.nan, np.float32)
    dy = small(3, 2, 108)
    numbers[:, :108] = dy
    with (
        put(numbers) as memory,
        cudnn.TensorDescriptor((2, 3, 4, 9), strides=(step, 36, 9, 1)) as dy_desc,
        cudnn.convolution_backward_bias(handle, dy=memory.ptr, dy_desc=dy_desc) as db,
    ):
        assert db.numpy().ravel().tolist() == dy.reshape(2, 3, 36).sum((0, 2)).tolist()
        db.copy_from(np.full(db.shape, 5, np.float32))
        cudnn.convolution_backward_bias(handle, dy=memory.ptr, dy_desc=dy_desc, db=db, beta=2)
        assert db.numpy().ravel().tolist() == (dy.reshape(2, 3, 36).sum((0, 2)) + 10).tolist()


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
class TestResults:
    """What is made has the layout, and the number of dimensions, of what was given."""

    def test_fused(self, handle: Handle, layout: str) -> None:
        x, w, bias = small(1, 2, 4, 6, 5), small(2, 8, 4, 3, 3), small(3, 8)
        z = small(4, 2, 8, 6, 5)
        given = [put(x, layout), put(w, layout)]
        with cudnn.ConvolutionDescriptor(1) as conv:
            y = cudnn.convolution_bias_activation_forward(
                handle, *given, conv, put(bias), "relu", z=put(z, layout), alpha2=2
            )
            plain = cudnn.convolution_bias_activation_forward(
                handle, *given, conv, put(bias.reshape(1, 8, 1, 1)), "identity"
            )
        total = ref.convolution_forward(x, w, padding=(1, 1)) + bias.reshape(1, 8, 1, 1)
        np.testing.assert_array_equal(y.numpy(), np.maximum(total + 2 * z, 0))
        np.testing.assert_array_equal(plain.numpy(), total)
        assert (y.layout, plain.layout) == (layout, layout)


class TestOperandsGiven:
    def test_a_result_that_a_descriptor_describes(self, handle: Handle) -> None:
        gaps = cudnn.TensorDescriptor((1, 1, 4, 4), strides=(64, 64, 16, 2))
        with gaps, cudnn.ConvolutionDescriptor(1) as conv:
            y = cudnn.convolution_forward(handle, put(IMAGE), put(KERNEL), conv, y_desc=gaps)
            given = {"w": put(KERNEL), "dy": put(IMAGE)}
            dx = cudnn.convolution_backward_data(handle, conv, **given, dx_desc=gaps)
        flipped = ref.convolution_forward(IMAGE, KERNEL[..., ::-1, ::-1], padding=(1, 1))
        np.testing.assert_array_equal(dx.numpy(), flipped)
        assert y.strides == dx.strides == (64, 64, 16, 2)
        assert y.numpy()[0, 0].tolist() == EXPECTED

    @pytest.mark.gpu
    def test_work_is_on_the_stream_of_the_handle(self, gpu_handle: Handle) -> None:
        stream = gpu_handle.device.create_stream()
        gpu_handle.stream = stream
        x = DeviceTensor.from_numpy(IMAGE, stream=stream)
        w = DeviceTensor.from_numpy(KERNEL, stream=stream)
        with cudnn.ConvolutionDescriptor(1) as conv:
            y = cudnn.convolution_forward(gpu_handle, x, w, conv)
            assert y.stream == int(stream.handle)
            assert y.numpy()[0, 0].tolist() == EXPECTED
        for tensor in (x, w, y):
            tensor.close()
        gpu_handle.stream = 0


class TestAlgorithms:
    @pytest.mark.parametrize("direction", ["forward", "backward_data", "backward_filter"])
    def test_every_usable_algorithm_gives_the_same(self, handle: Handle, direction: str) -> None:
        x, w, dy = small(1, 2, 4, 8, 8), small(2, 8, 4, 3, 3), small(3, 2, 8, 8, 8)
        there = {"x": put(x), "w": put(w), "dy": put(dy)}
        with (
            cudnn.TensorDescriptor(x.shape) as x_desc,
            cudnn.FilterDescriptor(w.shape) as w_desc,
            cudnn.TensorDescriptor(dy.shape) as y_desc,
            cudnn.ConvolutionDescriptor(1, math_type="fma_math") as conv,
        ):
            problem: Any
            if direction == "forward":
                problem = cudnn.ConvolutionForward(x_desc, w_desc, conv, y_desc)
                names, exact = ("x", "w", "y"), ref.convolution_forward(x, w, padding=(1, 1))
            elif direction == "backward_data":
                problem = cudnn.ConvolutionBackwardData(w_desc, y_desc, conv, x_desc)
                names = ("w", "dy", "dx")
                exact = ref.convolution_backward_data(w=w, dy=dy, dx_shape=x.shape, padding=(1, 1))
            else:
                problem = cudnn.ConvolutionBackwardFilter(x_desc, y_desc, conv, w_desc)
                names = ("x", "dy", "dw")
                exact = ref.convolution_backward_filter(
                    x=x, dy=dy, dw_shape=w.shape, padding=(1, 1)
                )
            result = poisoned(exact.shape)
            operands = {name: there.get(name, result) for name in names}
            suggested = problem.algorithms(handle)
            assert 1 < len(suggested) <= problem.max_algorithm_count(handle)
            assert all(row.time is None for row in suggested)
            found = problem.find(handle)
            found_ex = problem.find_ex(handle, **operands)
            for table in (found, found_ex):
                times = [row.time for row in table if row.usable]
                assert len(times) > 1
                assert times == sorted(times)
                says_so = "NumPy computes all of these in one way and time" in repr(table)
                assert says_so == handle.on_reference_device
            for row in suggested:
                if not row.usable:
                    continue
                result.copy_from(np.full(exact.shape, np.nan, np.float32))
                with cudnn.DeviceBuffer(problem.workspace_size(handle, row)) as workspace:
                    problem.run(handle, **operands, algorithm=row, workspace=workspace)
                    # FFT and Winograd round; the results are whole numbers up to a few hundred.
                    np.testing.assert_allclose(result.numpy(), exact, atol=0.05, err_msg=str(row))

    @pytest.mark.parametrize("operation", ["forward", "data", "filter", "fused"])
    def test_find_measures_once(self, handle: Handle, operation: str) -> None:
        x, w, bias = put(small(1, 2, 4, 6, 6)), put(small(2, 4, 4, 3, 3)), put(small(3, 4))
        y = put(small(4, 2, 4, 6, 6))
        with cudnn.ConvolutionDescriptor(1) as conv:
            call: Any = {
                "forward": lambda **k: cudnn.convolution_forward(handle, x, w, conv, **k),
                "data": lambda **k: cudnn.convolution_backward_data(
                    handle, conv, w=w, dy=y, dx_shape=x.shape, **k
                ),
                "filter": lambda **k: cudnn.convolution_backward_filter(
                    handle, conv, x=x, dy=y, dw_shape=w.shape, **k
                ),
                "fused": lambda **k: cudnn.convolution_bias_activation_forward(
                    handle, x, w, conv, bias, "relu", alpha1=k.pop("alpha", 1), **k
                ),
            }[operation]
            expected = call().numpy()

            def measurements(**options: Any) -> int:
                seen = c_calls(lambda: results.append(call(algorithm="Find", **options)))
                return sum(name.startswith("cudnnFind") for name in seen)

            results: list[DeviceTensor] = []
            assert [measurements() for _ in range(3)] == [1, 0, 0]
            assert measurements(alpha=2) == 0  # another launch of the same descriptors
            with cudnn.DeviceBuffer(1 << 20) as workspace:  # another limit
                assert [measurements(workspace=workspace) for _ in range(2)] == [1, 0]
        for result in (*results[:3], *results[4:]):
            np.testing.assert_allclose(result.numpy(), expected, atol=0.05)

    def test_find_spares_what_is_read(self, handle: Handle) -> None:
        x, w, bias = small(1, 2, 4, 6, 6), small(2, 4, 4, 3, 3), small(3, 4)
        there, prior = (put(x), put(w)), np.abs(small(4, 2, 4, 6, 6))
        exact = ref.convolution_forward(x, w, padding=(1, 1))
        with cudnn.ConvolutionDescriptor(1) as conv:
            added, fused, bound = put(prior), put(prior), put(prior)
            options: Any = {"algorithm": "find"}
            launch = cudnn.bind(cudnn.convolution_forward, handle, *there, conv, bound, **options)
            np.testing.assert_array_equal(bound.numpy(), prior)
            with launch:
                launch()
            handle._fastest_algorithms.clear()
            cudnn.convolution_forward(handle, *there, conv, added, beta=1, **options)
            handle._fastest_algorithms.clear()
            cudnn.convolution_bias_activation_forward(
                handle, *there, conv, put(bias), "relu", fused, z=fused, **options
            )
        np.testing.assert_allclose(bound.numpy(), exact, atol=0.05)
        np.testing.assert_allclose(added.numpy(), exact + prior, atol=0.05)
        wanted = np.maximum(exact + prior + bias.reshape(1, 4, 1, 1), 0)
        np.testing.assert_allclose(fused.numpy(), wanted, atol=0.05)

    def test_operands_of_other_names(self, handle: Handle) -> None:
        x, w, y = put(IMAGE), put(KERNEL), poisoned((1, 1, 4, 4))
        with (
            cudnn.TensorDescriptor((1, 1, 4, 4)) as image,
            cudnn.FilterDescriptor((1, 1, 3, 3)) as filters,
            cudnn.ConvolutionDescriptor(1) as conv,
        ):
            forward = cudnn.ConvolutionForward(image, filters, conv, image)
            with pytest.raises(TypeError, match="'y'"):
                forward.run(handle, x=x, w=w)  # type: ignore[call-arg]
            with pytest.raises(TypeError, match="'dy'"):
                forward.run(handle, x=x, w=w, y=y, dy=y)  # type: ignore[call-arg]
            with pytest.raises(TypeError, match="expected x, w, y by name, got x, w, dy"):
                forward.find_ex(handle, x=x, w=w, dy=y)

    def test_the_math_type_of_a_row_holds_for_the_call_only(self, handle, monkeypatch):
        with (
            cudnn.TensorDescriptor((1, 1, 4, 4)) as image,
            cudnn.FilterDescriptor((1, 1, 3, 3)) as filters,
            cudnn.ConvolutionDescriptor(1, math_type="fma_math") as conv,
        ):
            forward = cudnn.ConvolutionForward(image, filters, conv, image)
            row = forward.algorithms(handle).choose()
            conv.math_type = "default_math"
            seen: list[raw.cudnnMathType_t] = []
            launch = legacy_operands.launch

            def spy(function: Any, *args: Any) -> None:
                seen.append(args[6].math_type)
                launch(function, *args)

            monkeypatch.setattr(legacy_operands, "launch", spy)
            y = poisoned((1, 1, 4, 4))
            forward.run(handle, x=put(IMAGE), w=put(KERNEL), y=y, algorithm=row)
            assert seen == [row.math_type]
            assert conv.math_type == raw.CUDNN_DEFAULT_MATH


def test_setting_again_follows_c() -> None:
    with cudnn.ConvolutionDescriptor(groups=4, math_type="fma_math") as conv:
        conv.set_2d(1, 2, 3, 4, 5, 6, "convolution", "float64")
        assert (conv.padding, conv.stride, conv.dilation) == ((1, 2), (3, 4), (5, 6))
        assert conv.mode == raw.CUDNN_CONVOLUTION
        conv.set_nd((1,), (2,), (3,), raw.CUDNN_CROSS_CORRELATION, raw.CUDNN_DATA_HALF)
        assert (conv.padding, conv.stride, conv.dilation) == ((1,), (2,), (3,))
        assert (conv.groups, conv.math_type) == (4, raw.CUDNN_FMA_MATH)
        raw.cudnnSetConvolutionGroupCount(conv, 7)
        assert conv.groups == 7
