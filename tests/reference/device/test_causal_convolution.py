"""The causal convolutions of the reference device, through C's own calls."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_size_t
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import (
    BadParamError,
    DeviceBuffer,
    DeviceTensor,
    NotSupportedError,
    SymbolNotFoundError,
    raw,
    use_reference_device,
)
from cudnn_ctypes.dtypes import as_data_type
from cudnn_ctypes.reference import (
    back_to_back_convolution_backward,
    back_to_back_convolution_forward,
    causal_convolution_backward,
    causal_convolution_forward,
    fft_causal_convolution_backward,
    fft_causal_convolution_forward,
)

FLOAT = raw.CUDNN_DATA_FLOAT
IDENTITY = raw.CUDNN_CAUSAL_CONV1D_ACTIVATION_IDENTITY
SILU = raw.CUDNN_CAUSAL_CONV1D_ACTIVATION_SILU
NAMES = {IDENTITY: "identity", SILU: "silu"}
# Of values of size 1 to 10: a few roundings of the stored type.
TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 1e-1}
DTYPES = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16]


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    with use_reference_device():
        yield


def normal(seed: int, shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def upload(array: np.ndarray) -> DeviceTensor:
    return DeviceTensor.from_numpy(np.ascontiguousarray(array))


def poison(shape: tuple[int, ...], dtype: Any) -> DeviceTensor:
    return DeviceTensor.full(shape, np.nan, dtype)


def close(actual: Any, expected: np.ndarray) -> None:
    values = actual.numpy()
    tolerance = TOLERANCE[values.dtype.name]
    np.testing.assert_allclose(
        values.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("activation", [IDENTITY, SILU])
@pytest.mark.parametrize("dtype", DTYPES)
def test_direct(dtype: Any, activation: Any, channels_last: bool) -> None:
    batch, dim, time, width = 2, 3, 11, 4
    data_type = as_data_type(dtype)
    dw_type = raw.CUDNN_DATA_DOUBLE if dtype == np.float64 else FLOAT
    x, dy = normal(1, (batch, dim, time), dtype), normal(2, (batch, dim, time), dtype)
    weight, bias = normal(3, (dim, width), dtype), normal(4, (dim,), dtype)
    wide = [array.astype(np.float64) for array in (x, weight, bias, dy)]
    prior = normal(5, (dim, width)).astype(np.float32), normal(6, (dim,)).astype(np.float32)

    def placed(array: np.ndarray) -> np.ndarray:
        return np.moveaxis(array, -2, -1) if channels_last else array

    def back(tensor: DeviceTensor) -> Any:
        array = tensor.numpy()
        return DeviceTensor.from_numpy(
            np.ascontiguousarray(np.moveaxis(array, -2, -1) if channels_last else array)
        )

    forward = raw.cudnnCausalConv1dNwhForward if channels_last else raw.cudnnCausalConv1dForward
    backward = raw.cudnnCausalConv1dNwhBackward if channels_last else raw.cudnnCausalConv1dBackward
    given = [upload(placed(x)), upload(placed(weight)), upload(bias)]
    y = poison(placed(x).shape, dtype)
    forward(None, *given, y, batch, dim, time, width, data_type, activation)
    name: Any = NAMES[activation]
    close(back(y), causal_convolution_forward(*wide[:3], name))

    dw_dtype = np.float64 if dtype == np.float64 else np.float32
    dx = poison(placed(x).shape, dtype)
    dweight = upload(placed(prior[0]).astype(dw_dtype))
    dbias = upload(prior[1].astype(dw_dtype))
    backward(
        None,
        *given,
        upload(placed(dy)),
        dx,
        dweight,
        dbias,
        batch,
        dim,
        time,
        width,
        data_type,
        dw_type,
        activation,
    )
    expected = causal_convolution_backward(
        **dict(zip(("x", "w", "bias", "dy"), wide, strict=True)),
        activation=name,
        dw=prior[0].astype(np.float64),
        db=prior[1].astype(np.float64),
    )
    close(back(dx), expected.dx)
    close(back(dweight), expected.dw)
    close(dbias, expected.db)


@pytest.mark.parametrize("dtype", DTYPES)
def test_back_to_back(dtype: Any) -> None:
    batch, dim, time, proj, mixer = 2, 3, 9, 3, 5
    data_type = as_data_type(dtype)
    dw_dtype = np.float64 if dtype == np.float64 else np.float32
    shapes = ((batch, dim, 3, time), (dim, 3, proj), (dim, mixer), (dim,))
    operands = [0.5 * normal(i, shape).astype(dtype) for i, shape in enumerate(shapes)]
    operands = [array.astype(dtype) for array in operands]
    wide = [array.astype(np.float64) for array in operands]
    given = [upload(array) for array in operands]
    y, gated = poison((batch, dim, time), dtype), poison((batch, dim, time), dtype)
    sizes = (batch, dim, time, proj, mixer)
    raw.cudnnB2BCausalConv1dForward(None, *given, y, gated, *sizes, data_type)
    expected = back_to_back_convolution_forward(*wide)
    close(y, expected.y)
    close(gated, expected.gated)

    dy = normal(9, (batch, dim, time), dtype)
    dx = poison(shapes[0], dtype)
    prior = [normal(10 + i, shape, dw_dtype) for i, shape in enumerate(shapes[1:])]
    results = [upload(array) for array in prior]
    raw.cudnnB2BCausalConv1dBackward(
        None, *given, y, upload(dy), dx, *results, *sizes, data_type, as_data_type(dw_dtype)
    )
    gradients = back_to_back_convolution_backward(
        **dict(zip(("x", "w_proj", "w_mixer", "skip_bias"), wide, strict=True)),
        y=y.numpy().astype(np.float64),
        dgated=dy.astype(np.float64),
    )
    close(dx, gradients.dx)
    for result, gradient, before in zip(results, gradients[1:], prior, strict=True):
        close(result, gradient + before)


@pytest.mark.parametrize("dtype", DTYPES)
def test_fft(dtype: Any) -> None:
    batch, dim, time, width = 2, 2, 256, 128
    x, weight = normal(1, (batch, dim, time), dtype), normal(2, (dim, width), dtype)
    weight = (weight.astype(np.float32) / 8).astype(dtype)
    y = poison(x.shape, dtype)
    sizes, given = (batch, dim, time, width, as_data_type(dtype)), (upload(x), upload(weight))
    raw.cudnnFFTCausalConv1dForward(None, *given, y, *sizes)
    wide = x.astype(np.float64), weight.astype(np.float64)
    close(y, fft_causal_convolution_forward(*wide))
    dy, dx, dweight = upload(x[::-1]), poison(x.shape, dtype), poison(weight.shape, dtype)
    raw.cudnnFFTCausalConv1dBackward(None, *given, dy, dx, dweight, *sizes)
    expected = fft_causal_convolution_backward(x=wide[0], w=wide[1], dy=wide[0][::-1])
    close(dx, expected.dx)
    exact = expected.dw / 16  # its sums are of size 16
    scaled = upload((dweight.numpy().astype(np.float64) / 16).astype(dtype))
    close(scaled, exact)


def buffers(*sizes: Any) -> tuple[int, int]:
    """Sizes that the library itself gives; the test is skipped if it is too old for them."""
    work, reserve = c_size_t(), c_size_t()
    try:
        raw.cudnnLongFFTCausalConv1dGetBufferSizes(*sizes, work, reserve)
    except SymbolNotFoundError as error:
        pytest.skip(str(error))
    return work.value, reserve.value


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_long_fft(dtype: Any) -> None:
    batch, dim, time = 2, 2, 4096
    x = normal(1, (batch, dim, time), dtype)
    weight = (normal(2, (dim, time)) / 64).astype(dtype)
    sizes = (batch, dim, time, time, as_data_type(dtype))
    wide = x.astype(np.float64), weight.astype(np.float64)
    work_size, reserve_size = buffers(*sizes)
    with DeviceBuffer(work_size) as work, DeviceBuffer(reserve_size) as reserve:
        space = (work, work_size, reserve, reserve_size)
        reserve.fill(0xFF)
        y = poison(x.shape, dtype)
        raw.cudnnLongFFTCausalConv1dForward(None, upload(x), upload(weight), y, *sizes, *space)
        close(y, fft_causal_convolution_forward(*wide))
        work.fill(0xFF)  # nothing is kept there
        dy, dx, dweight = upload(x[::-1]), poison(x.shape, dtype), poison(weight.shape, dtype)
        raw.cudnnLongFFTCausalConv1dBackward(None, dy, dx, dweight, *sizes, *space)
        expected = fft_causal_convolution_backward(x=wide[0], w=wide[1], dy=wide[0][::-1])
        close(dx, expected.dx)
        scaled = upload((dweight.numpy().astype(np.float64) / 64).astype(dtype))
        close(scaled, expected.dw / 64)


# --- wrong input: the statuses are those that cuDNN 9.28 gives ----------------------------------


def direct(**changes: Any) -> None:
    x = DeviceTensor.zeros((1, 2, 16), "float32")
    weight, bias = DeviceTensor.zeros((2, 256), "float32"), DeviceTensor.zeros((2,), "float32")
    arguments = {
        "stream": None,
        "x": x,
        "weight": weight,
        "bias": bias,
        "y": x,
        "batch": 1,
        "dim": 2,
        "seqLen": 16,
        "kernelSize": 4,
        "dataType": FLOAT,
        "activation": IDENTITY,
    }
    raw.cudnnCausalConv1dForward(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"x": None}, BadParamError, "x is NULL"),
        ({"bias": None}, BadParamError, "bias is NULL"),
        ({"kernelSize": 1}, BadParamError, "kernelSize must be from 2 to 256, got 1"),
        ({"kernelSize": 257}, BadParamError, "kernelSize must be from 2 to 256, got 257"),
        ({"seqLen": 0}, BadParamError, "seqLen must be at least 1"),
        ({"batch": -1}, BadParamError, "batch must be at least 1"),
        ({"dataType": raw.CUDNN_DATA_INT8}, NotSupportedError, "CUDNN_DATA_INT8"),
        ({"activation": 7}, BadParamError, "activation 7"),
    ],
)
def test_wrong_input(changes: dict[str, Any], error: Any, message: str) -> None:
    direct()
    with pytest.raises(error, match=message):
        direct(**changes)


def test_channels_last_has_a_limit_of_its_own() -> None:
    x = DeviceTensor.zeros((1, 16, 2), "float32")
    weight, bias = DeviceTensor.zeros((256, 2), "float32"), DeviceTensor.zeros((2,), "float32")
    with pytest.raises(BadParamError, match="from 2 to 128, got 129"):
        raw.cudnnCausalConv1dNwhForward(None, x, weight, bias, x, 1, 2, 16, 129, FLOAT, IDENTITY)


def test_gradients_of_filters_have_a_type_of_their_own() -> None:
    x, small = DeviceTensor.zeros((1, 1, 4), "float16"), DeviceTensor.zeros((1, 4), "float16")
    half = raw.CUDNN_DATA_HALF
    with pytest.raises(NotSupportedError, match=r"dwDataType must be CUDNN_DATA_FLOAT"):
        raw.cudnnCausalConv1dBackward(
            None, x, small, small, x, x, small, small, 1, 1, 4, 4, half, half, IDENTITY
        )


def test_back_to_back_limits() -> None:
    x, small = DeviceTensor.zeros((1, 1, 3, 4), "float32"), DeviceTensor.zeros((1, 999), "float32")
    for widths, message in (((33, 4), "kernelSizeProj"), ((4, 257), "kernelSizeMixer")):
        with pytest.raises(BadParamError, match=message):
            raw.cudnnB2BCausalConv1dForward(
                None, x, small, small, small, x, x, 1, 1, 4, *widths, FLOAT
            )


@pytest.mark.parametrize(
    ("time", "width", "dtype"),
    [(100, 128, 0), (192, 128, 0), (64, 64, 0), (129, 129, 0), (8192, 8192, 1), (128, 128, 3)],
)
def test_fft_sizes_without_a_kernel(time: int, width: int, dtype: int) -> None:
    with DeviceBuffer(1 << 17) as memory, pytest.raises(NotSupportedError):
        raw.cudnnFFTCausalConv1dForward(None, memory, memory, memory, 1, 1, time, width, dtype)


def test_fft_alignment() -> None:
    with DeviceBuffer(4096) as memory, pytest.raises(BadParamError, match="weight must be aligned"):
        raw.cudnnFFTCausalConv1dForward(None, memory, memory.view(4), memory, 1, 1, 128, 128, FLOAT)


def test_long_fft_buffers() -> None:
    sizes = (1, 1, 4096, 4096, FLOAT)
    work, reserve = buffers(*sizes)
    with DeviceBuffer(work) as memory:
        for given, message in (
            ((work - 1, reserve), f"workspaceSizeInBytes = {work - 1} is less than the {work}"),
            ((work, reserve - 1), f"reserveSpaceSizeInBytes = .* is less than the {reserve}"),
        ):
            with pytest.raises(BadParamError, match=message):
                raw.cudnnLongFFTCausalConv1dForward(
                    None, memory, memory, memory, *sizes, memory, given[0], memory, given[1]
                )
        with pytest.raises(NotSupportedError, match="no long form"):
            raw.cudnnLongFFTCausalConv1dBackward(
                None, memory, memory, memory, 1, 1, 2048, 2048, FLOAT, memory, 0, memory, 0
            )
