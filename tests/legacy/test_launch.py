"""Launches that were made before: few calls, and never with what belongs to another launch."""

from __future__ import annotations

import gc
import pickle
import sys
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle, raw
from cudnn_ctypes.runtime.launching import likeness, operation
from cudnn_ctypes.runtime.launching.likeness import Plans

from .bare_launches import handle_each_way, reference_handle_each_way  # noqa: F401

RNG = np.random.default_rng(11)


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return RNG.standard_normal(shape).astype(dtype)


def tensor(*shape: int, dtype: str = "float32", **options: Any) -> DeviceTensor:
    return DeviceTensor.from_numpy(numbers(*shape, dtype=dtype), **options)


def poisoned(*shape: int) -> DeviceTensor:
    return DeviceTensor.full(shape, np.nan, "float32")


def c_calls(call: Callable[[], Any]) -> list[str]:
    """Names of the functions of layer 1 that a call goes through, but for calls within them."""
    seen: list[str] = []
    within: list[Any] = []

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and not within and frame.f_code.co_filename.startswith("<cudnn"):
            seen.append(frame.f_code.co_name)
            within.append(frame)
        elif event == "return" and frame in within:
            within.clear()

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


def test_memory_of_results_that_are_gone_serves_others_in_order(handle: Handle) -> None:
    """What was put on the stream before still finds it."""
    if not handle.on_reference_device:
        handle.stream = handle.device.create_stream()
    x = tensor(1, 8, 32, 32)
    expected = x.numpy()
    for step in range(50):
        y = cudnn.activation_forward(handle, x, "relu")
        z = cudnn.op_tensor(handle, y, x, "add")  # reads memory that is given back next
        del y
        again = cudnn.activation_forward(handle, z, "tanh")
        if step % 10 == 0:
            handle.synchronize()
            total = np.maximum(expected, 0) + expected
            np.testing.assert_allclose(z.numpy(), total, rtol=1e-6)
            np.testing.assert_allclose(again.numpy(), np.tanh(total), rtol=1e-5, atol=1e-6)
        del z, again


@pytest.fixture
def long_ways(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the operations that were not found by their keys."""
    names: list[str] = []
    recorded = operation._Operation._recorded

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        names.append(self.function.__name__)
        return recorded(self, *args, **kwargs)

    monkeypatch.setattr(operation._Operation, "_recorded", counted)
    return names


def test_descriptors_made_anew_share_a_launch(handle: Handle, long_ways: list[str]) -> None:
    """What they say is in the key, and C is given the one of the call."""
    x, w = tensor(1, 2, 5, 5), tensor(3, 2, 3, 3)
    expected = {
        padding: cudnn.convolution_forward(
            handle, x, w, cudnn.ConvolutionDescriptor(padding)
        ).numpy()
        for padding in (1, 0)
    }
    for padding in (1, 0, 1, 1):
        with cudnn.ConvolutionDescriptor(padding) as conv:
            y = cudnn.convolution_forward(handle, x, w, conv)
        np.testing.assert_array_equal(y.numpy(), expected[padding])
    assert len(long_ways) == len(handle._plans) == 2
    for _ in range(3):
        with (
            cudnn.TensorDescriptor.of(x) as x_desc,
            cudnn.FilterDescriptor.of(w) as w_desc,
            cudnn.ConvolutionDescriptor(1) as conv,
            cudnn.TensorDescriptor((1, 3, 5, 5)) as y_desc,
        ):
            y = poisoned(1, 3, 5, 5)
            cudnn.ConvolutionForward(x_desc, w_desc, conv, y_desc).run(handle, x=x, w=w, y=y)
            np.testing.assert_array_equal(y.numpy(), expected[1])
    assert len(long_ways) == len(handle._plans) == 3


def test_a_descriptor_that_is_closed_is_refused_also_where_its_launch_is_known(handle):
    x, w, conv = tensor(1, 2, 5, 5), tensor(3, 2, 3, 3), cudnn.ConvolutionDescriptor(1)
    cudnn.convolution_forward(handle, x, w, conv)
    conv.close()
    with pytest.raises(cudnn.ClosedError, match="ConvolutionDescriptor"):
        cudnn.convolution_forward(handle, x, w, conv)


@pytest.mark.parametrize("alias", [False, True], ids=["the object", "another variable"])
def test_a_convolution_sees_that_one_of_its_descriptors_was_set_again(handle, alias):
    x, w = tensor(1, 2, 5, 5), tensor(2, 2, 3, 3)
    y = poisoned(1, 2, 5, 5)
    with (
        cudnn.TensorDescriptor.of(x) as x_desc,
        cudnn.FilterDescriptor.of(w) as w_desc,
        cudnn.ConvolutionDescriptor(1) as conv,
        cudnn.TensorDescriptor.of(y) as y_desc,
    ):
        forward = cudnn.ConvolutionForward(x_desc, w_desc, conv, y_desc)
        results = {}
        for mode in (raw.CUDNN_CROSS_CORRELATION, raw.CUDNN_CONVOLUTION) * 2:
            variable = raw.cudnnConvolutionDescriptor_t()
            variable.value = conv._as_parameter_.value
            raw.cudnnSetConvolution2dDescriptor(
                *(variable if alias else conv, 1, 1, 1, 1, 1, 1), mode, raw.CUDNN_DATA_FLOAT
            )
            for _ in range(3):
                forward.run(handle, x=x, w=w, y=y)
                results.setdefault(mode, y.numpy())
                np.testing.assert_array_equal(y.numpy(), results[mode])
                y.fill(np.nan)
        flipped = DeviceTensor.from_numpy(w.numpy()[..., ::-1, ::-1].copy())
        forward.run(handle, x=x, w=flipped, y=y)
        expected = results[raw.CUDNN_CROSS_CORRELATION]
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(cudnn.ClosedError):
        forward.run(handle, x=x, w=w, y=y)


def test_what_a_convolution_remembers_is_not_copied(handle: Handle) -> None:
    x, w, y = tensor(1, 2, 5, 5), tensor(2, 2, 3, 3), poisoned(1, 2, 5, 5)
    with (
        cudnn.ConvolutionDescriptor(1) as conv,
        cudnn.TensorDescriptor.of(x) as image,
        cudnn.FilterDescriptor.of(w) as filters,
    ):
        forward = cudnn.ConvolutionForward(image, filters, conv, image)
        forward.run(handle, x=x, w=w, y=y)
        copied = pickle.loads(pickle.dumps(forward))
        assert copied == forward
        again = poisoned(1, 2, 5, 5)
        copied.run(handle, x=x, w=w, y=again)
        for descriptor in copied.descriptors:
            descriptor.close()
    np.testing.assert_array_equal(again.numpy(), y.numpy())


def test_the_memory_of_a_part_goes_with_the_whole(handle: Handle) -> None:
    whole, y = tensor(2, 2, 4, 4), poisoned(1, 2, 4, 4)
    buffer = cudnn.DeviceBuffer(y.nbytes)
    in_buffer = DeviceTensor(buffer, (1, 2, 4, 4), "float32")
    in_buffer.copy_from(numbers(1, 2, 4, 4))
    part = whole[:1]
    for x, owner in ((part, whole), (in_buffer, buffer), (y, y)):
        for _ in range(3):
            cudnn.activation_forward(handle, x, "relu", poisoned(1, 2, 4, 4))
        owner.close()  # type: ignore[attr-defined]
        with pytest.raises(cudnn.ClosedError):
            cudnn.activation_forward(handle, x, "relu", poisoned(1, 2, 4, 4))


def test_nothing_of_the_reference_device_reaches_cudnn_after_it_was_left() -> None:
    """Its handles are addresses of nothing."""
    with cudnn.use_reference_device():
        handle, x, y = Handle(), tensor(1, 2, 4, 4), poisoned(1, 2, 4, 4)
        bound = cudnn.bind(cudnn.activation_forward, handle, x, "relu", y)
        for _ in range(2):
            cudnn.activation_forward(handle, x, "relu", y)
    with pytest.raises(ValueError, match="reference device"):
        cudnn.activation_forward(handle, x, "relu", y)
    with pytest.raises(ValueError, match="bound on the reference device"):
        bound()
    with cudnn.use_reference_device():
        bound()
        np.testing.assert_array_equal(y.numpy(), np.maximum(x.numpy(), 0))
        bound.close()
        handle.close()


def test_what_was_refused_is_refused_again(handle: Handle) -> None:
    x, y = tensor(1, 2, 4, 4), poisoned(1, 2, 4, 4)
    cudnn.activation_forward(handle, x, "relu", y)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^y: "):
            cudnn.activation_forward(handle, x, "relu", poisoned(1, 2, 4, 5))
        with pytest.raises(TypeError):
            cudnn.activation_forward(handle, x.numpy(), "relu", y)
        with pytest.raises(TypeError, match="multiple values"):
            cudnn.activation_forward(handle, x, "relu", y, y=y)
    y.close()
    with pytest.raises(cudnn.ClosedError):
        cudnn.activation_forward(handle, x, "relu", y)


def test_plans_keep_no_memory_and_go_with_their_handle() -> None:
    with cudnn.use_reference_device(), warnings.catch_warnings():
        warnings.simplefilter("error")
        handle = Handle()
        conv, x, w = cudnn.ConvolutionDescriptor(1), tensor(2, 3, 4, 4), tensor(4, 3, 3, 3)
        memory = [weakref.ref(x), weakref.ref(w)]
        for _ in range(2):
            memory.append(weakref.ref(cudnn.softmax_forward(handle, x)))
            memory.append(weakref.ref(cudnn.convolution_forward(handle, x, w, conv)))
        del x, w
        gc.collect()
        assert [one() for one in memory] == [None] * 6
        assert len(handle._plans) == 2
        handle.close()
        assert not handle._plans
        conv.close()
        gc.collect()


def test_plans_are_bounded_and_the_least_recently_used_go(handle, monkeypatch, long_ways):
    monkeypatch.setattr(Plans, "MOST", 8)
    images = [tensor(1, 1, 1, width) for width in range(1, 30)]
    for x in images:
        for each in (images[0], x):
            y = cudnn.activation_forward(handle, each, "relu")
            np.testing.assert_array_equal(y.numpy(), np.maximum(each.numpy(), 0))
        assert len(handle._plans) <= 8
    assert len(long_ways) == len(images)


def test_many_plans_are_laid_together(reference_handle, monkeypatch, long_ways):
    monkeypatch.setattr(likeness, "_MANY", 4)
    images = [tensor(1, 1, 1, width) for width in range(1, 10)]
    found = reference_handle._plans
    for x in images * 3:
        y = cudnn.activation_forward(reference_handle, x, "relu")
        np.testing.assert_array_equal(y.numpy(), np.maximum(x.numpy(), 0))
        plans = [plan for plan, *_ in found.values()]
        assert len(set(plans)) == len(plans)
    assert len(long_ways) == len(images) == len(found)


def test_threads_share_plans(handle: Handle) -> None:
    wrong: list[int] = []

    def work(seed: int) -> None:
        for step in range(40):
            array = np.random.default_rng(seed).standard_normal((1, 2, 3, 1 + step % 4))
            x = DeviceTensor.from_numpy(array.astype("float32"))
            y = cudnn.activation_forward(handle, x, "relu")
            if not np.array_equal(y.numpy(), np.maximum(x.numpy(), 0)):
                wrong.append(seed)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert wrong == []


def test_tensors_of_pytorch_share_a_launch(reference_handle: Handle) -> None:
    handle = reference_handle
    torch = pytest.importorskip("torch")
    conv = cudnn.ConvolutionDescriptor(1)
    for seed in range(3):
        torch.manual_seed(seed)
        x, w = torch.randn(2, 3, 5, 5), torch.randn(4, 3, 3, 3)
        y = torch.full((2, 4, 5, 5), float("nan"))
        assert cudnn.convolution_forward(handle, x, w, conv, y) is y
        expected = torch.nn.functional.conv2d(x.double(), w.double(), padding=1)
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
    with pytest.raises((TypeError, BufferError), match="x"):
        cudnn.convolution_forward(handle, x.requires_grad_(), w, conv, y)


def test_tensors_of_pytorch_at_one_address_are_told_apart(handle: Handle) -> None:
    """By shape, strides, type, and whether they are negated or require gradients."""
    torch = pytest.importorskip("torch")
    place = "cpu" if handle.on_reference_device else "cuda"
    if place == "cuda" and not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    torch.manual_seed(0)
    numbers = torch.rand(2, 3, 4, 5).sub(0.5).to(place)
    views = [
        numbers,
        numbers.view(3, 2, 4, 5),
        numbers[:1],
        numbers.transpose(2, 3),
        numbers[..., ::2],
        numbers.view(torch.float16)[..., :5],
    ]
    assert len({each.data_ptr() for each in views}) == 1
    complex_numbers = torch.view_as_complex(numbers.view(1, 3, 4, 5, 2))
    for _ in range(2):
        for x in views:
            y = cudnn.activation_forward(handle, x, "relu")
            np.testing.assert_array_equal(y.numpy(), x.relu().cpu().numpy())
        with pytest.raises(BufferError, match="gradient"):
            cudnn.activation_forward(handle, numbers.detach().requires_grad_(), "relu")
        plain, negated = complex_numbers.imag, complex_numbers.conj().imag
        assert plain.data_ptr() == negated.data_ptr()
        y = cudnn.activation_forward(handle, plain, "relu")
        np.testing.assert_array_equal(y.numpy(), plain.relu().cpu().numpy())
        with pytest.raises(BufferError, match="resolve_neg"):
            cudnn.activation_forward(handle, negated, "relu")


def test_tensors_of_pytorch_that_changed_are_looked_at_again(reference_handle: Handle) -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(1, 2, 4, 5)
    for change in (
        lambda: x,
        lambda: x.transpose_(2, 3),
        lambda: x.resize_(1, 2, 2, 4),
        lambda: x.unsqueeze_(0),
    ):
        before = x.data_ptr()
        change()
        assert x.data_ptr() == before
        for _ in range(3):
            y = cudnn.activation_forward(reference_handle, x, "relu")
            np.testing.assert_array_equal(y.numpy(), x.relu().numpy())


class Exporter:
    """Another library's array, which speaks DLPack and nothing else."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)


def test_tensors_of_other_libraries_share_a_launch(reference_handle: Handle) -> None:
    handle = reference_handle
    for _ in range(3):
        x, y = Exporter(numbers(1, 2, 3, 3)), Exporter(np.full((1, 2, 3, 3), np.nan, "float32"))
        kept = weakref.ref(x.array)
        assert cudnn.activation_forward(handle, x, "relu", y) is y
        np.testing.assert_array_equal(y.array, np.maximum(x.array, 0))
        del x
        assert kept() is None  # neither the plan nor its key holds memory
    assert len(handle._plans) == 1
    y, readonly = Exporter(numbers(1, 2, 3, 3)), numbers(1, 2, 3, 3)
    readonly.flags.writeable = False
    for other, error, message in (
        (Exporter(numbers(1, 2, 3, 3, dtype="float64")), ValueError, r"^y: "),
        (Exporter(numbers(1, 2, 3, 4)), ValueError, r"^y: "),
        # NumPy before 2.1 does not give such arrays away.
        (Exporter(readonly), (ValueError, BufferError), "y: (the library that this|Cannot export)"),
        (numbers(1, 2, 3, 3), TypeError, r"y: host memory \(numpy.ndarray\)"),
        (Exporter(numbers(1, 2, 3, 3)[..., ::-1]), BufferError, "y: negative strides"),
    ):
        with pytest.raises(error, match=message):
            cudnn.activation_forward(handle, y, "relu", other)
    with pytest.raises(TypeError, match="these operands cannot be bound"):
        cudnn.bind(cudnn.activation_forward, handle, y, "relu", y)


@pytest.mark.gpu
def test_tensors_of_cupy_share_a_launch_in_the_order_of_their_stream(gpu_device: None) -> None:
    cupy = pytest.importorskip("cupy")
    with Handle() as handle:
        handle.stream = handle.device.create_stream()
        for value in range(4):
            with cupy.cuda.Stream(non_blocking=True):
                x = cupy.zeros((64, 64, 64, 64), cupy.float32)
                for _ in range(value + 1):
                    x += 1  # late on its stream
                y = cupy.full(x.shape, cupy.nan, cupy.float32)
                assert cudnn.activation_forward(handle, x, "relu", y) is y
            handle.synchronize()
            assert (cupy.asnumpy(y) == value + 1).all()
        assert len(handle._plans) == 1


@pytest.mark.gpu
def test_tensors_of_pytorch_on_a_gpu_in_the_order_of_their_stream(gpu_device: None) -> None:
    torch = pytest.importorskip("torch")
    conv = cudnn.ConvolutionDescriptor(1)
    with Handle(stream=torch.cuda.Stream()) as handle:
        for seed in range(4):
            torch.manual_seed(seed)
            with torch.cuda.stream(torch.cuda.Stream()):
                big = torch.randn(2048, 2048, device="cuda")
                x = torch.randn(8, 16, 32, 32, device="cuda")
                w = torch.randn(16, 16, 3, 3, device="cuda")
                for _ in range(8):
                    big = big @ big / 50
                x += big[0, 0] * 0 + seed  # late on its stream
                y = cudnn.convolution_forward(handle, x, w, conv)
                handle.synchronize()
            expected = torch.nn.functional.conv2d(x.double(), w.double(), padding=1)
            error = torch.from_dlpack(y).double() - expected
            assert float(error.abs().max() / expected.abs().max()) < 2e-3


# --- bound operations ----------------------------------------------------------------------------


def test_binding_launches_nothing(handle: Handle) -> None:
    y = tensor(2, 3)
    before = y.numpy()
    with cudnn.bind(cudnn.scale_tensor, handle, y.reshape(1, 2, 3, 1), 2.0) as double:
        np.testing.assert_array_equal(y.numpy(), before)
        double()
        double()
    np.testing.assert_array_equal(y.numpy(), 4 * before)
    with pytest.raises(cudnn.ClosedError):
        double()


def test_what_cannot_be_bound(handle: Handle) -> None:
    with pytest.raises(TypeError, match="expected a launching function"):
        cudnn.bind(cudnn.as_tensor, handle)
    with pytest.raises(TypeError, match="host memory"):
        cudnn.bind(cudnn.softmax_forward, handle, numbers(1, 2, 3, 4))


@pytest.mark.gpu
def test_bound_operations_are_captured(gpu_handle: Handle) -> None:
    x, y = tensor(2, 4, 6, 6), poisoned(2, 4, 6, 6)
    w, conv = tensor(4, 4, 3, 3), cudnn.ConvolutionDescriptor(1)
    chain = [
        cudnn.bind(cudnn.convolution_forward, gpu_handle, x, w, conv, y),
        cudnn.bind(cudnn.activation_forward, gpu_handle, y, "relu", y),
        cudnn.bind(cudnn.softmax_forward, gpu_handle, y),
    ]
    with cudnn.capture(gpu_handle) as graph:
        for bound in chain:
            bound()
    x.copy_from(numbers(2, 4, 6, 6))
    gpu_handle.synchronize()
    graph.replay()
    gpu_handle.synchronize()
    expected = cudnn.softmax_forward(
        gpu_handle,
        cudnn.activation_forward(
            gpu_handle, cudnn.convolution_forward(gpu_handle, x, w, conv), "relu"
        ),
    )
    np.testing.assert_allclose(chain[-1].result.numpy(), expected.numpy(), rtol=1e-4, atol=1e-6)
