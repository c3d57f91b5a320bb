"""The direct causal convolutions: random problems against the reference, and wrong input."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import cudnn_ctypes as cudnn
from cudnn_ctypes import (
    BadParamError,
    ClosedError,
    DeviceBuffer,
    DeviceTensor,
    NotSupportedError,
    SymbolNotFoundError,
    reference,
)

from .conftest import Report

DTYPES = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16]
ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}


@pytest.fixture
def long_form() -> None:
    """Skip where the loaded cuDNN has no long form: its buffer sizes are the library's own."""
    try:
        cudnn.long_fft_causal_convolution_buffer_sizes(1, 1, 4096)
    except SymbolNotFoundError as error:
        pytest.skip(str(error))


def upload(array: NDArray[Any], *, channels_last: bool = False) -> DeviceTensor:
    if not channels_last:
        return DeviceTensor.from_numpy(array)
    shape = array.shape
    strides = (shape[0], 1) if len(shape) == 1 else (1, shape[0])
    if len(shape) == 3:
        strides = (shape[1] * shape[2], 1, shape[1])
    return DeviceTensor.from_numpy(array, strides=strides[-len(shape) :] if shape else None)


class Sums:
    """Random operands, and how far off results may be.

    A sum of L products in an arithmetic of unit roundoff u is off by at most about L u S, with S
    the sum of the products' magnitudes; storing adds the type's own roundoff.
    """

    def __init__(self, dtype: Any, seed: int) -> None:
        self.rng = np.random.default_rng([seed, DTYPES.index(dtype)])
        self.dtype = np.dtype(dtype)
        self.compute = ROUNDOFF["float64" if dtype == np.float64 else "float32"]

    def normal(self, *shape: int, scale: float = 1) -> NDArray[Any]:
        return (scale * self.rng.standard_normal(shape)).astype(self.dtype)

    def check(
        self,
        report: Report,
        key: tuple[str, str, str],
        actual: Any,
        exact: NDArray[Any],
        magnitude: NDArray[Any],
        length: int,
    ) -> None:
        result = actual.numpy()
        store = ROUNDOFF[result.dtype.name]
        allowed = (2 * length + 64) * self.compute * magnitude + 2 * store * np.abs(exact)
        allowed = allowed + float(ml_dtypes.finfo(result.dtype).smallest_subnormal)
        error = np.abs(result.astype(np.float64) - exact)
        error = np.where(np.isnan(error), np.inf, error)
        over = float((error / allowed).max())
        report.ran(key, float(error.max() / max(np.abs(exact).max(), 1e-30)), over)
        assert over <= 1, f"{key}: {error.max()} where {exact.dtype} results reach {exact.max()}"


def wide(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    return [array.astype(np.float64) for array in arrays]


@pytest.mark.thinned(8)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("activation", ["identity", "silu"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_random_direct(device: str, report: Report, dtype: Any, activation: Any, seed: int) -> None:
    sums = Sums(dtype, seed)
    rng, channels_last = sums.rng, seed % 2 == 1
    batch, dim, time = (int(n) for n in rng.integers(1, 20, 3))
    width = int(rng.choice([2, 3, 4, 5, 6, 7, 8, 16, 32, 64]))
    x, dy = sums.normal(batch, dim, time), sums.normal(batch, dim, time)
    weight, bias = sums.normal(dim, width), sums.normal(dim)
    exact = wide(x, weight, bias)
    given = [
        upload(x, channels_last=channels_last),
        upload(weight, channels_last=channels_last),
    ]
    bias_memory = upload(bias)
    key = (device, sums.dtype.name, "causal forward")
    y = report.carried_out(
        key,
        lambda: cudnn.causal_convolution_forward(*given, bias_memory, activation=activation),
    )
    assert y.strides == given[0].strides or dim == 1 or time == 1
    magnitude = reference.causal_convolution_forward(*map(np.abs, exact))
    sums.check(
        report,
        key,
        y,
        reference.causal_convolution_forward(*exact, activation),
        magnitude,
        width,
    )

    key = (device, sums.dtype.name, "causal backward")
    gradients = report.carried_out(
        key,
        lambda: cudnn.causal_convolution_backward(
            x=given[0],
            w=given[1],
            dy=upload(dy, channels_last=channels_last),
            bias=bias_memory,
            activation=activation,
        ),
    )
    names = ("x", "w", "bias")
    expected = reference.causal_convolution_backward(
        **dict(zip(names, exact, strict=True)), dy=dy.astype(np.float64), activation=activation
    )
    # SiLU's slope is off by its own roundings times the sum before it, and is at most 1.1.
    sizes = reference.causal_convolution_backward(
        **dict(zip(names, map(np.abs, exact), strict=True)),
        dy=1.1 * np.abs(dy.astype(np.float64)) * (1 + magnitude),
    )
    for one, other, size in zip(gradients, expected, sizes, strict=True):
        sums.check(report, key, one, other, size, width + batch * time)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dtype", DTYPES)
def test_random_back_to_back(device: str, report: Report, dtype: Any, seed: int) -> None:
    sums = Sums(dtype, 100 + seed)
    batch, dim, time = (int(n) for n in sums.rng.integers(1, 12, 3))
    proj, mixer = int(sums.rng.integers(2, 9)), int(sums.rng.integers(2, 9))
    shapes = ((batch, dim, 3, time), (dim, 3, proj), (dim, mixer), (dim,))
    names = ("x", "w_proj", "w_mixer", "skip_bias")
    operands = [sums.normal(*shape, scale=0.5) for shape in shapes]
    exact, given = wide(*operands), [upload(array) for array in operands]
    key = (device, sums.dtype.name, "back to back forward")
    made = report.carried_out(key, lambda: cudnn.back_to_back_convolution_forward(*given))
    expected = reference.back_to_back_convolution_forward(*exact)
    sizes = reference.back_to_back_convolution_forward(*map(np.abs, exact))
    length = 3 * proj + mixer
    # cuDNN may store intermediate results in the type of x.
    slack = 1 + ROUNDOFF[sums.dtype.name] / sums.compute / 16
    sums.check(report, key, made.y, expected.y, slack * sizes.y, length)
    sums.check(report, key, made.gated, expected.gated, slack * sizes.gated, length)

    key = (device, sums.dtype.name, "back to back backward")
    dgated = sums.normal(batch, dim, time)
    gradients = report.carried_out(
        key,
        lambda: cudnn.back_to_back_convolution_backward(
            **dict(zip(names, given, strict=True)), y=made.y, dgated=upload(dgated)
        ),
    )
    y, dy = wide(made.y.numpy(), dgated)
    expected_gradients = reference.back_to_back_convolution_backward(
        **dict(zip(names, exact, strict=True)), y=y, dgated=dy
    )
    magnitudes = reference.back_to_back_convolution_backward(
        **dict(zip(names, map(np.abs, exact), strict=True)), y=np.abs(sizes.y), dgated=np.abs(dy)
    )
    for one, other, size in zip(gradients, expected_gradients, magnitudes, strict=True):
        sums.check(report, key, one, other, slack * size, length + batch * time)


@pytest.mark.parametrize("width", [128, 256])
@pytest.mark.parametrize("dtype", DTYPES)
def test_random_fft(device: str, report: Report, dtype: Any, width: int) -> None:
    sums = Sums(dtype, 200 + width)
    batch, dim, time = 2, 3, 2 * width
    x, dy = sums.normal(batch, dim, time), sums.normal(batch, dim, time)
    weight = sums.normal(dim, width, scale=1 / 8)
    exact, given = wide(x, weight), (upload(x), upload(weight))
    key = (device, sums.dtype.name, "FFT forward")
    y = report.carried_out(key, lambda: cudnn.fft_causal_convolution_forward(*given))
    # A transform mixes all elements, so its roundings are of the size of the largest sums.
    size = reference.fft_causal_convolution_forward(*map(np.abs, exact)).max(keepdims=True)
    expected = reference.fft_causal_convolution_forward(*exact)
    sums.check(report, key, y, expected, np.broadcast_to(size, y.shape), width)
    key = (device, sums.dtype.name, "FFT backward")
    gradients = report.carried_out(
        key,
        lambda: cudnn.fft_causal_convolution_backward(x=given[0], w=given[1], dy=upload(dy)),
    )
    wide_dy = dy.astype(np.float64)
    wanted = reference.fft_causal_convolution_backward(x=exact[0], w=exact[1], dy=wide_dy)
    sizes = reference.fft_causal_convolution_backward(
        **dict(zip(("x", "w", "dy"), map(np.abs, (*exact, wide_dy)), strict=True))
    )
    for one, other, magnitude in zip(gradients, wanted, sizes, strict=True):
        sums.check(report, key, one, other, np.full(other.shape, magnitude.max()), 2 * time)


@pytest.mark.parametrize("dtype", DTYPES)
def test_long_fft(device: str, report: Report, dtype: Any) -> None:
    sums = Sums(dtype, 300)
    batch, dim, time = 2, 2, 4096
    x, dy = sums.normal(batch, dim, time), sums.normal(batch, dim, time)
    weight = sums.normal(dim, time, scale=1 / 64)
    exact = wide(x, weight)
    key = (device, sums.dtype.name, "long FFT forward")
    made = report.carried_out(
        key,
        lambda: cudnn.long_fft_causal_convolution_forward(upload(x), upload(weight)),
    )
    expected = reference.fft_causal_convolution_forward(*exact)
    largest = reference.fft_causal_convolution_forward(*map(np.abs, exact)).max()
    sums.check(report, key, made.y, expected, np.full(x.shape, largest), 256)
    sizes = cudnn.long_fft_causal_convolution_buffer_sizes(batch, dim, time, data_type=dtype)
    assert made.reserve_space.nbytes == sizes.reserve_space
    key = (device, sums.dtype.name, "long FFT backward")
    gradients = cudnn.long_fft_causal_convolution_backward(
        dy=upload(dy), reserve_space=made.reserve_space
    )
    wide_dy = dy.astype(np.float64)
    wanted = reference.fft_causal_convolution_backward(x=exact[0], w=exact[1], dy=wide_dy)
    magnitudes = reference.fft_causal_convolution_backward(
        **dict(zip(("x", "w", "dy"), map(np.abs, (*exact, wide_dy)), strict=True))
    )
    for one, other, magnitude in zip(gradients, wanted, magnitudes, strict=True):
        sums.check(report, key, one, other, np.full(other.shape, magnitude.max()), 256)


# --- results that are given ---------------------------------------------------------------------


def test_results_may_be_given(on_reference: None) -> None:
    sums = Sums(np.float32, 1)
    x, weight = upload(sums.normal(2, 3, 8)), upload(sums.normal(3, 4))
    y = DeviceTensor.full((2, 3, 8), np.nan, "float32")
    assert cudnn.causal_convolution_forward(x, weight, y=y) is y
    np.testing.assert_array_equal(y.numpy(), cudnn.causal_convolution_forward(x, weight).numpy())
    alone = cudnn.causal_convolution_backward(x=x, w=weight, dy=y)
    dw = DeviceTensor.full((3, 4), 10, "float32")
    added = cudnn.causal_convolution_backward(x=x, w=weight, dy=y, dw=dw)
    assert added.dw is dw
    np.testing.assert_allclose(dw.numpy(), alone.dw.numpy() + 10, rtol=1e-6)


def test_tensors_of_pytorch(on_reference: None) -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(2, 9, 3).transpose(1, 2)  # channels last
    weight = torch.randn(4, 3).T
    y = cudnn.causal_convolution_forward(x, weight)
    padded = torch.nn.functional.pad(x, (3, 0))
    expected = torch.nn.functional.conv1d(padded, weight[:, None].contiguous(), groups=3)
    np.testing.assert_allclose(y.numpy(), expected.numpy(), atol=1e-5)
    out = torch.empty(2, 9, 3).transpose(1, 2)
    assert cudnn.causal_convolution_forward(x, weight, y=out) is out
    np.testing.assert_allclose(out.numpy(), expected.numpy(), atol=1e-5)


def test_buffers_may_be_given(on_reference: None, long_form: None) -> None:
    sums = Sums(np.float32, 2)
    x, weight = upload(sums.normal(1, 1, 4096)), upload(sums.normal(1, 4096))
    sizes = cudnn.long_fft_causal_convolution_buffer_sizes(1, 1, 4096)
    with DeviceBuffer(sizes.workspace) as workspace, DeviceBuffer(sizes.reserve_space) as reserve:
        made = cudnn.long_fft_causal_convolution_forward(
            x, weight, workspace=workspace, reserve_space=reserve
        )
        assert made.reserve_space is reserve
        cudnn.long_fft_causal_convolution_backward(dy=x, reserve_space=reserve, workspace=workspace)
        with (
            DeviceBuffer(8) as small,
            pytest.raises(ValueError, match=f"workspace: {sizes.workspace} bytes are needed, got"),
        ):
            cudnn.long_fft_causal_convolution_forward(x, weight, workspace=small)
    with pytest.raises(TypeError, match="reserve_space: the size behind an address"):
        cudnn.long_fft_causal_convolution_backward(dy=x, reserve_space=4096)


# --- wrong input --------------------------------------------------------------------------------


def zeros(*shape: int, dtype: str = "float32") -> DeviceTensor:
    return DeviceTensor.zeros(shape, dtype)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"x": lambda: np.zeros((2, 3, 8))}, TypeError, "x: host memory"),
        ({"x": lambda: 4096}, TypeError, "x: an address or a DeviceBuffer has no shape"),
        ({"x": lambda: zeros(3, 8)}, ValueError, r"x: expected \(batch, dim, seq_len\)"),
        ({"w": lambda: zeros(4, 4)}, ValueError, r"w: expected shape \(3, 4\)"),
        (
            {"w": lambda: zeros(3, 4, dtype="float16")},
            TypeError,
            "w: expected float32, got float16",
        ),
        ({"bias": lambda: zeros(4)}, ValueError, r"^bias: "),
        ({"y": lambda: zeros(2, 3, 9)}, ValueError, r"^y: "),
        ({"y": lambda: zeros(2, 3, 8, dtype="float64")}, TypeError, "y: expected float32"),
        ({"activation": lambda: "relu"}, ValueError, "activation: expected one of 'identity'"),
        ({"w": lambda: zeros(3, 1)}, BadParamError, "kernelSize must be from 2"),
        ({"stream": lambda: "main"}, TypeError, "stream"),
    ],
)
def test_wrong_input(on_reference: None, changes: Any, error: Any, message: str) -> None:
    arguments = {"x": zeros(2, 3, 8), "w": zeros(3, 4)}
    arguments |= {name: make() for name, make in changes.items()}
    with pytest.raises(error, match=message):
        cudnn.causal_convolution_forward(**arguments)


def test_layouts_that_differ(on_reference: None) -> None:
    last = upload(np.zeros((2, 3, 8), np.float32), channels_last=True)
    with pytest.raises(ValueError, match="x and w: both must be dense"):
        cudnn.causal_convolution_forward(last, zeros(3, 4))
    filters = upload(np.zeros((3, 4), np.float32), channels_last=True)
    with pytest.raises(ValueError, match=r"dy: expected strides \(24, 1, 3\)"):
        cudnn.causal_convolution_backward(x=last, w=filters, dy=zeros(2, 3, 8))


def test_closed_tensors(on_reference: None) -> None:
    x, weight = zeros(2, 3, 8), zeros(3, 4)
    weight.close()
    with pytest.raises(ClosedError):
        cudnn.causal_convolution_forward(x, weight)


def test_wrong_gradients(on_reference: None) -> None:
    x, weight = zeros(2, 3, 8, dtype="float16"), zeros(3, 4, dtype="float16")
    with pytest.raises(TypeError, match=r"^dw: "):
        cudnn.causal_convolution_backward(x=x, w=weight, dy=x, dw=weight)


def test_wrong_back_to_back(on_reference: None) -> None:
    operands = [zeros(2, 4, 3, 8), zeros(4, 3, 2), zeros(4, 5), zeros(4)]
    for position, wrong, message in (
        (0, zeros(2, 4, 2, 8), r"x: expected shape \(2, 4, 3, 8\)"),
        (1, zeros(4, 2), r"^w_proj: "),
        (2, zeros(3, 5), r"^w_mixer: "),
        (3, zeros(3), r"^skip_bias: "),
    ):
        changed = [*operands]
        changed[position] = wrong
        with pytest.raises(ValueError, match=message):
            cudnn.back_to_back_convolution_forward(*changed)
    named = dict(zip(("x", "w_proj", "w_mixer", "skip_bias"), operands, strict=True))
    with pytest.raises(ValueError, match=r"^y: "):
        cudnn.back_to_back_convolution_backward(**named, y=zeros(2, 4, 9), dgated=zeros(2, 4, 8))


def test_wrong_fft(on_reference: None) -> None:
    with pytest.raises(NotSupportedError, match="power of two from 128 to 16384"):
        cudnn.fft_causal_convolution_forward(zeros(1, 1, 192), zeros(1, 96))
    with pytest.raises(ValueError, match=r"w: expected shape \(1, 128\), got \(2, 128\)"):
        cudnn.fft_causal_convolution_forward(zeros(1, 1, 128), zeros(2, 128))


def test_wrong_long_fft(on_reference: None, long_form: None) -> None:
    with pytest.raises(ValueError, match=r"^w: "):
        cudnn.long_fft_causal_convolution_forward(zeros(1, 1, 4096), zeros(1, 128))
    with pytest.raises(NotSupportedError):
        cudnn.long_fft_causal_convolution_buffer_sizes(1, 1, 1000)
    with pytest.raises(ValueError, match=r"dy: expected \(batch, dim, seq_len\)"):
        cudnn.long_fft_causal_convolution_backward(dy=zeros(1, 4096), reserve_space=zeros(8))
