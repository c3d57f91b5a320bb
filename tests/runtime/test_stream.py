"""runtime.stream and runtime.event."""

from __future__ import annotations

import ctypes
import importlib
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_cuda import FakeStream, Status
from programs import printed

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, use_reference_device
from cudnn_ctypes.errors import ClosedError, NoDeviceError
from cudnn_ctypes.raw import gpus
from cudnn_ctypes.runtime import (
    CudaError,
    DeviceBuffer,
    Event,
    ReferenceDevice,
    as_stream_pointer,
    cuda,
    current_device,
    device_count,
    elapsed_ms,
    make_current,
    pytorch,
    synchronize,
)
from cudnn_ctypes.runtime.device import device_id
from cudnn_ctypes.runtime.launching import plan
from cudnn_ctypes.runtime.launching.likeness import Plans

TORCH_STREAM, CUPY_STREAM = SimpleNamespace(cuda_stream=78), SimpleNamespace(ptr=79)


@pytest.mark.parametrize(
    ("stream", "pointer"),
    [
        (None, 0),
        (0, 0),
        (2, 2),
        (SimpleNamespace(__cuda_stream__=lambda: (0, 76)), 76),
        (SimpleNamespace(__cuda_stream__=(0, 77)), 77),
        (TORCH_STREAM, 78),
        (CUPY_STREAM, 79),
        (ctypes.c_void_p(80), 80),
        (ctypes.c_void_p(), 0),
    ],
)
def test_addresses_of_streams(stream, pointer):
    assert as_stream_pointer(stream) == pointer


@pytest.mark.parametrize(
    "stream", ["0", 1.0, True, object(), [1], SimpleNamespace(__cuda_stream__=lambda: (1, 5))]
)
def test_what_is_no_stream_is_refused(stream):
    with pytest.raises(TypeError, match=r"^stream: "):
        as_stream_pointer(stream)


@pytest.mark.parametrize("stream", [-1, 1 << 64])
def test_impossible_addresses(stream):
    with pytest.raises(ValueError, match="no 64-bit address"):
        as_stream_pointer(stream)


def test_pytorchs_stream_and_ours_wait_for_each_other(fake_cuda, monkeypatch):
    monkeypatch.setattr(pytorch, "streams", lambda: lambda ordinal: 7 * ordinal)
    pytorch.follow(1, 8)
    pytorch.precede(1, 9)
    assert fake_cuda.log == [("record", 7), ("wait", 8), ("record", 9), ("wait", 7)]
    for ordinal, stream in ((1, 7), (0, 0), (0, 1)):
        pytorch.follow(ordinal, stream)
        pytorch.precede(ordinal, stream)
    assert len(fake_cuda.log) == 4
    assert fake_cuda._events == 0


def test_synchronize(fake_cuda):
    synchronize()
    synchronize(TORCH_STREAM)
    assert fake_cuda.log == [("synchronize context", 0), ("synchronize", 78)]


def test_synchronize_on_the_reference_device(reference_device):
    synchronize()
    synchronize(3)


def test_events_on_the_reference_device_measure_host_time(reference_device):
    start = Event()
    time.sleep(0.02)
    end = Event(stream=0)
    assert end.done
    end.synchronize()
    assert 20 <= elapsed_ms(start, end) < 2000
    start.record()
    assert elapsed_ms(start, end) < 0


def test_a_closed_event_is_refused(reference_device):
    with Event() as start:
        end = Event()
    assert start.closed
    start.close()
    for use in (
        start.record,
        start.synchronize,
        lambda: start.done,
        lambda: elapsed_ms(start, end),
    ):
        with pytest.raises(ClosedError):
            use()


def test_events_on_a_gpu(fake_cuda):
    start, end = Event(TORCH_STREAM), Event()
    assert (start._event.stream, end._event.stream) == (78, 1)
    assert elapsed_ms(start, end) == 1.5
    start.record(CUPY_STREAM)
    assert start._event.stream == 79
    assert start.done
    start.close()
    end.close()


def test_events_of_two_devices_do_not_mix(fake_cuda, request):
    start = Event()
    request.getfixturevalue("reference_device")
    with pytest.raises(ValueError, match="different devices"):
        elapsed_ms(start, Event())


def test_events_refuse_what_is_no_stream(reference_device):
    with pytest.raises(TypeError, match=r"^stream: "):
        Event("stream")
    for events in ((0.5, Event()), (Event(), None)):
        with pytest.raises(TypeError, match="expected an Event"):
            elapsed_ms(*events)


# --- launches of functions that take a stream: where their memory comes from, in whic -------------


EDGES = [3, 0, 2, 1, 2], [1, 0, 1, 1, 0]


@pytest.fixture
def plans(fake_cuda, monkeypatch):
    """The plans of functions that take a stream, of which there is none yet."""
    allocators = {}
    monkeypatch.setattr(plan, "_plans", plans := Plans())
    monkeypatch.setattr(plan, "_allocators", allocators)
    monkeypatch.setattr(plan, "watched", ())  # a handle of the reference device may live
    yield plans
    for each in allocators.values():
        each.close()


@pytest.fixture
def driver(fake_cuda, monkeypatch):
    """The addresses to which all GPUs have access."""
    reachable = set()
    driver = SimpleNamespace(
        current=lambda: fake_cuda.context, accessible=lambda address: address in reachable
    )
    monkeypatch.setattr(gpus, "driver", lambda: driver)
    return reachable


def operands(stream: Any = None) -> dict[str, Any]:
    """Of `gnn_agg_simple_backward`, on the current GPU."""
    return {
        "graph": cudnn.GnnCscGraph.from_edges(*EDGES),
        "doutput": DeviceTensor.from_numpy(np.ones((2, 4), np.float32)),
        "node_feat_dim": 4,
        "stream": stream,
    }


def without_cudnn(plans: dict[Any, Any], launches: list[tuple[Any, ...]]) -> None:
    """Have the one plan note the arguments for C instead of calling it."""

    def empty(stream: Any, *arguments: Any) -> int:
        launches.append((stream.value, *(getattr(a, "value", a) for a in arguments)))
        return 0

    ((key, found),) = plans.items()
    symbols = [call.symbol for call in found[0].calls]
    plans[key] = tuple([empty if each in symbols else each for each in found])
    found[0].calls = [call._replace(symbol=empty) for call in found[0].calls]


@pytest.mark.needs("cudnnGnnAggSimpleBackward")
@pytest.mark.parametrize(("stream", "allocations"), [(None, 0), (1, 0), (55, 3)])
def test_memory_of_results_serves_others_on_the_legacy_default_stream(
    fake_cuda, plans, stream, allocations
):
    given = operands(stream if stream is None else FakeStream(stream))
    with cudnn.bind(cudnn.gnn_agg_simple_backward, **given):
        without_cudnn(plans, launches := [])
    fake_cuda.log.clear()
    addresses = {cudnn.gnn_agg_simple_backward(**given).dnode_features.ptr for _ in range(3)}
    assert {launch[4] for launch in launches} == addresses
    assert [kind for kind, *_ in fake_cuda.log].count("allocate") == allocations
    if not allocations:
        first, second = (cudnn.gnn_agg_simple_backward(**given) for _ in range(2))
        assert first.dnode_features.ptr != second.dnode_features.ptr


@pytest.mark.needs("cudnnGnnAggSimpleBackward")
def test_memory_of_another_gpu_is_refused(fake_cuda, plans, driver):
    there = operands()
    fake_cuda.context = 1
    here = operands()
    for _ in range(2):
        for name, said in (("doutput", "doutput"), ("graph", r"graph\.offsets")):
            with pytest.raises(
                ValueError, match=f"^{said} is memory of GPU 0, to which GPU 1, the"
            ):
                cudnn.bind(cudnn.gnn_agg_simple_backward, **{**here, name: there[name]})
    assert not plans
    driver.add(there["doutput"].ptr)  # peer access
    with cudnn.bind(cudnn.gnn_agg_simple_backward, **{**here, "doutput": there["doutput"]}):
        assert len(plans) == 1


@pytest.mark.needs("cudnnGnnAggSimpleBackward")
def test_results_of_zeros_are_filled_on_the_stream(fake_cuda, plans):
    stream = FakeStream(55)
    given = operands(stream)
    doutput = given["doutput"]
    with cudnn.bind(cudnn.gnn_agg_simple_backward, **given):  # which launches nothing
        without_cudnn(plans, launches := [])
    with cudnn.bind(cudnn.gnn_agg_simple_backward, **given) as bound:
        dnodes = bound.result.dnode_features
        for _ in range(2):
            dnodes.fill(7)
            fake_cuda.log.clear()
            bound()
            assert fake_cuda.log == [("fill", 55)]
            assert not dnodes.numpy().any()
            stream_pointer, _, doutput_pointer, _, dnodes_pointer, *_ = launches.pop()
            assert (stream_pointer, doutput_pointer) == (55, doutput.ptr)
            assert dnodes_pointer == dnodes.ptr
    fake_cuda.log.clear()
    made = cudnn.gnn_agg_simple_backward(**given)
    assert fake_cuda.log == [("allocate", 0, 55), ("fill", 55)]
    assert launches.pop()[4] == made.dnode_features.ptr
    made.dnode_features.close()

    fake_cuda.context = 1  # another device: another plan
    with cudnn.bind(cudnn.gnn_agg_simple_backward, **operands(stream)):
        assert len(plans) == 2
    assert "stream 0x37" in repr(plan.StreamLauncher(stream))


# --- runtime.device and the gate to CUDA: laziness, contexts, and no GPU --------------------------


def test_importing_loads_no_cuda():
    program = """
        import sys; from cudnn_ctypes.runtime import *
        from cudnn_ctypes import use_reference_device
        use_reference_device(); DeviceBuffer(3).close(); Event()
        print([name for name in sys.modules if name.startswith("cuda.")])
    """
    assert printed(program) == ["[]"]


def test_device_and_stream_are_those_of_cuda_core():
    core = pytest.importorskip("cuda.core")
    device = importlib.import_module("cudnn_ctypes.runtime")
    assert device.Device is core.Device
    assert device.Stream is core.Stream
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        device.Nothing  # noqa: B018


def failing(monkeypatch: pytest.MonkeyPatch, importer: Any) -> str:
    """The message of NoDeviceError when the driver module is what `importer` gives."""
    monkeypatch.setattr(cuda.importlib, "import_module", importer)
    cuda.driver.cache_clear()
    try:
        with pytest.raises(NoDeviceError) as caught:
            DeviceBuffer(4)
    finally:
        monkeypatch.undo()
        cuda.driver.cache_clear()
    return str(caught.value)


def test_other_ways_of_having_no_gpu(gpu_device, monkeypatch):
    def not_installed(name):
        raise ImportError("No module named 'cuda'")

    refusing = SimpleNamespace(cuInit=lambda flags: (Status.CUDA_ERROR_INVALID_CONTEXT,))
    empty = SimpleNamespace(cuInit=lambda flags: (Status.CUDA_SUCCESS,))
    empty.cuDeviceGetCount = lambda: (Status.CUDA_SUCCESS, 0)
    assert "No module named 'cuda'" in failing(monkeypatch, not_installed)
    assert "CUDA_ERROR_INVALID_CONTEXT" in failing(monkeypatch, lambda name: refusing)
    assert "cuDeviceGetCount found none" in failing(monkeypatch, lambda name: empty)


def test_the_reference_device(reference_device):
    device = current_device()
    assert isinstance(device, ReferenceDevice)
    assert "reference device" in device.name
    assert device_id() == device_id(0) == device_id(device) == int(device) == 0
    assert make_current(0) == device
    device.sync()
    with pytest.raises(ValueError, match="the reference device is one device"):
        device_id(1)
    for unknown in ("reference", 0.0, (0,)):
        with pytest.raises(TypeError, match=r"^device: expected the number of a GPU"):
            device_id(unknown)


def test_the_current_device_is_used_and_stays(fake_cuda):
    make_current(1)
    with DeviceBuffer(16) as here, DeviceBuffer(16, device=0) as there:
        assert (here.device_id, there.device_id) == (1, 0)
        assert [entry[1] for entry in fake_cuda.log if entry[0] == "allocate"] == [1, 0]
        there.copy_from_host(b"0" * 16)
    assert fake_cuda.context == 1


def test_an_unknown_device(fake_cuda):
    with pytest.raises(ValueError, match="device_id"):
        DeviceBuffer(16, device=2)


def test_driver_errors_name_function_and_code(fake_cuda):
    with pytest.raises(CudaError, match=r"cuCtxGetDevice: CUDA_ERROR_INVALID_CONTEXT \(a desc"):
        cuda.call("cuCtxGetDevice")


def test_the_reference_device_is_one():
    with use_reference_device():
        assert device_count() == 1


@pytest.mark.gpu
def test_devices_are_counted(gpu_device):
    assert device_count() == int(cuda.driver().cuDeviceGetCount()[1]) >= 1
