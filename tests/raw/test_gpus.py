"""Handles in a process with several GPUs, on a driver that only writes down what it is asked."""

from __future__ import annotations

import ctypes
import textwrap
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from programs import fake_cudnn, printed

from cudnn_ctypes import raw
from cudnn_ctypes.errors import CudnnError
from cudnn_ctypes.raw import gpus, log
from cudnn_ctypes.raw.function import binding
from cudnn_ctypes.runtime.cuda import CUDA

FIRST, SECOND = 0x1000, 0x2000  # handles, which reach no library here


class FakeDriver:
    """Two GPUs; the contexts are 100 and 101."""

    def __init__(self) -> None:
        self.stack: list[int] = [100]
        self.reachable: dict[int, set[int]] = {}  # by address: the GPUs with access

    def count(self) -> int:
        return 2

    def current(self) -> int | None:
        return self.stack[-1] - 100 if self.stack else None

    def context(self) -> int | None:
        return self.stack[-1] if self.stack else None

    def set(self, context: int) -> None:
        self.stack = [context]

    def push(self, context: int) -> None:
        self.stack.append(context)

    def pop(self) -> None:
        self.stack.pop()

    def accessible(self, address: int) -> bool:
        return self.current() in self.reachable.get(address, set())


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    fake = FakeDriver()
    monkeypatch.setattr(gpus, "driver", lambda: fake)
    monkeypatch.setattr(gpus, "ordinals", {FIRST: 0, SECOND: 1})
    monkeypatch.setattr(gpus, "_contexts", {0: 100, 1: 101})
    log.forget()
    yield fake
    assert fake.stack in ([100], [])


def handle(address: int) -> Any:
    variable = raw.cudnnHandle_t()
    variable.value = address
    return variable


def descriptor(address: int) -> Any:
    variable = raw.cudnnBackendDescriptor_t()
    variable.value = address
    return variable


def called(driver: FakeDriver, name: str, *args: Any, status: int = 0) -> tuple[int, int | None]:
    """The status of a call behind the guard, and the GPU that was current in C."""
    seen: list[int | None] = []

    def callee(*_: Any) -> int:
        seen.append(driver.current())
        return status

    wrap = gpus._WRAPPERS.get(name, gpus._on_handles_gpu)
    return wrap(binding(name), callee)(*args), seen[0] if seen else None


@pytest.mark.parametrize("current", [[100], [101], []])
def test_a_call_runs_on_its_handle_s_gpu_and_leaves_the_current_one(driver, current):
    for address, ordinal in ((FIRST, 0), (SECOND, 1)):
        driver.stack = list(current)
        assert called(driver, "cudnnGetStream", handle(address), None) == (0, ordinal)
        assert driver.stack == current
    driver.stack = [100]


def test_the_gpu_comes_back_after_an_exception(driver: FakeDriver) -> None:
    def callee(*_: Any) -> int:
        raise ctypes.ArgumentError("no")

    with pytest.raises(ctypes.ArgumentError):
        gpus._on_handles_gpu(binding("cudnnGetStream"), callee)(handle(SECOND), None)
    assert driver.stack == [100]


def test_a_handle_that_nobody_knows_is_called_where_one_is(driver: FakeDriver) -> None:
    assert called(driver, "cudnnGetStream", handle(0x9000), None) == (0, 0)
    assert called(driver, "cudnnGetStream", None, None) == (0, 0)


def test_created_handles_are_known_if_there_are_several_gpus(driver, monkeypatch):
    watched: list[int] = []
    monkeypatch.setattr(gpus, "_watch", lambda: watched.append(1))
    driver.stack = [101]
    gpus.created(ctypes.byref(handle(0x3000)))
    driver.stack = [100]
    assert gpus.ordinals[0x3000] == 1
    assert watched
    monkeypatch.setattr(driver, "count", lambda: 1)
    gpus.created(handle(0x4000))
    assert 0x4000 not in gpus.ordinals
    assert len(watched) == 1


def test_a_destroyed_handle_is_forgotten(driver: FakeDriver) -> None:
    assert called(driver, "cudnnDestroy", handle(SECOND), status=5) == (5, 1)
    assert gpus.ordinals[SECOND] == 1
    assert called(driver, "cudnnDestroy", handle(SECOND)) == (0, 1)
    assert SECOND not in gpus.ordinals


# --- one GPU, and a thread in which it is not current --------------------------------------------


@pytest.fixture(params=[False, True], ids=["alone", "beside a handle of the reference device"])
def only_gpu(
    driver: FakeDriver, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[list[int | None]]:
    """The GPUs that were current in calls of cudnnSetStream, which fails without one."""
    monkeypatch.setattr(gpus, "ordinals", {})
    monkeypatch.setattr(gpus, "_contexts", {0: 100})
    monkeypatch.setattr(raw.mode, "runtime", CUDA)
    seen: list[int | None] = []

    def callee(*_: Any) -> int:
        seen.append(driver.current())
        return 5001 if driver.current() is None else 0

    bound = binding("cudnnSetStream")
    interceptor = bound._interceptor  # of such a handle of another test, that still lives
    bound.wrap(lambda symbol: callee)
    bound.intercept(callee if request.param else None)
    bound.rebind()
    yield seen
    bound._wrapper = None
    vars(bound).pop("native", None)
    bound.intercept(interceptor)
    bound.rebind()


def test_a_call_without_a_current_gpu_is_made_again(driver, only_gpu):
    driver.stack = []
    assert raw.cudnnSetStream(handle(FIRST), 0) == 0
    assert only_gpu == [None, 0]
    driver.stack = []
    assert raw.cudnnSetStream.unchecked(handle(FIRST), 0) == 0
    assert driver.stack == [100]  # as the runtime leaves it
    assert raw.cudnnSetStream(handle(FIRST), 0) == 0
    assert only_gpu == [None, 0, None, 0, 0]


def test_other_calls_are_made_once(driver: FakeDriver, only_gpu: list[int | None]) -> None:
    with pytest.raises(CudnnError):
        binding("cudnnSetStream").settle(5001, (handle(FIRST), 0))
    assert not only_gpu


# --- memory, streams and plans -------------------------------------------------------------------


def memory_objects(ordinal: int) -> dict[str, Any]:
    """What libraries' objects say of where they lie."""

    class Tensor:  # PyTorch
        device = SimpleNamespace(type="cuda", index=ordinal)
        is_cuda = True

        def data_ptr(self) -> int:
            return 0xD00

    class Array:  # CuPy
        device = SimpleNamespace(id=ordinal)
        _as_parameter_ = ctypes.c_void_p(0xD00)

    class Buffer:  # cuda.core
        device_id = ordinal
        _as_parameter_ = ctypes.c_void_p(0xD00)

    class Exported:
        _as_parameter_ = ctypes.c_void_p(0xD00)

        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, ordinal

    return {cls.__name__: cls() for cls in (Tensor, Array, Buffer, Exported)}


@pytest.mark.parametrize("kind", memory_objects(0))
def test_memory_of_another_gpu_is_refused_by_name(driver: FakeDriver, kind: str) -> None:
    arguments = dict.fromkeys(p.name for p in raw.cudnnAddTensor.parameters)
    arguments["handle"] = handle(SECOND)
    for ordinal, status in ((1, 0), (0, 2000)):
        arguments["C"] = memory_objects(ordinal)[kind]
        assert called(driver, "cudnnAddTensor", *arguments.values())[0] == status
    (reason,), source = log.take()
    assert reason.startswith("C is memory of GPU 0, to which GPU 1, the handle's, has no access")
    assert source == log.GUARD
    driver.reachable[0xD00] = {0}
    assert called(driver, "cudnnAddTensor", *arguments.values())[0] == 2000
    driver.reachable[0xD00] = {0, 1}  # peer access
    assert called(driver, "cudnnAddTensor", *arguments.values()) == (0, 1)


@pytest.mark.parametrize("memory", [None, 0xD00, ctypes.c_void_p(0xD00), np.ones(3)])
def test_memory_that_does_not_say_where_it_lies_passes(driver: FakeDriver, memory: Any) -> None:
    gpus.check_memory(handle(SECOND), [("x", memory)])


def test_a_graph_s_memory_is_named(driver: FakeDriver) -> None:
    with pytest.raises(ValueError, match=r"^bias is memory of GPU 0"):
        gpus.check_memory(handle(SECOND), [("bias", memory_objects(0)["Tensor"])])
    gpus.check_memory(handle(FIRST), [("bias", memory_objects(0)["Tensor"])])


def test_a_stream_of_another_gpu_is_refused(driver: FakeDriver) -> None:
    for ordinal, status in ((1, 0), (0, 2000)):
        stream = SimpleNamespace(cuda_stream=7, device=SimpleNamespace(index=ordinal))
        assert called(driver, "cudnnSetStream", handle(SECOND), stream)[0] == status
    assert log.take()[0] == ("streamId is a stream of GPU 0, the handle belongs to GPU 1",)


def given(*addresses: int) -> dict[str, Any]:
    """An array of handles or descriptors, in all the ways that it may be given."""
    packed = b"".join(address.to_bytes(8, "little") for address in addresses)
    array = (ctypes.c_void_p * len(addresses))(*addresses)
    return {
        "bytes": packed,
        "array": array,
        "reference": ctypes.byref(array),
        "address": ctypes.addressof(array),
        "numpy": np.array(addresses, np.uint64),
        "variable": descriptor(addresses[0]),
        "kept": array,
    }


@pytest.mark.parametrize("way", [way for way in given(1) if way != "kept"])
def test_what_a_handle_is_given_to_belongs_to_its_gpu(driver: FakeDriver, way: str) -> None:
    attribute = raw.CUDNN_ATTR_OPERATIONGRAPH_HANDLE
    graph, config, plan = descriptor(0x11), descriptor(0x12), descriptor(0x13)
    ways = given(SECOND)
    called(
        driver, "cudnnBackendSetAttribute", graph, attribute, raw.CUDNN_TYPE_HANDLE, 1, ways[way]
    )
    assert gpus.ordinal_of(graph) == 1
    assert called(driver, "cudnnBackendFinalize", graph) == (0, 1)

    ways = given(config.value)  # the heuristics' answer
    kind = raw.CUDNN_TYPE_BACKEND_DESCRIPTOR
    called(driver, "cudnnBackendGetAttribute", graph, 0, kind, 1, ctypes.c_int64(1), ways[way])
    assert gpus.ordinal_of(config) == 1
    ways = given(config.value)
    called(driver, "cudnnBackendSetAttribute", plan, 0, int(kind), 1, ways[way])
    assert gpus.ordinal_of(plan) == 1

    execute = "cudnnBackendExecute"
    assert called(driver, execute, handle(SECOND), plan, descriptor(0x14)) == (0, 1)
    assert called(driver, execute, handle(FIRST), plan, descriptor(0x14)) == (2000, None)
    assert log.take()[0] == ("executionPlan was made for GPU 1, the handle belongs to GPU 0",)
    called(driver, "cudnnBackendDestroyDescriptor", plan)
    assert gpus.ordinal_of(plan) is None


def test_numbers_as_attributes_are_not_taken_for_handles(driver: FakeDriver) -> None:
    graph = descriptor(0x15)
    for kind in (raw.CUDNN_TYPE_INT64, raw.CUDNN_TYPE_DATA_TYPE):
        called(driver, "cudnnBackendSetAttribute", graph, 0, kind, 1, given(SECOND)["array"])
    assert gpus.ordinal_of(graph) is None


# --- the whole way, with a library that only gives statuses --------------------------------------

PROGRAM = """
    import sys
    from types import SimpleNamespace
    from cudnn_ctypes import raw
    from cudnn_ctypes.raw import bare, gpus

    class Driver:
        stack, pushed = [100], []
        def count(self): return GPUS
        def current(self): return self.stack[-1] - 100
        def context(self): return self.stack[-1]
        def push(self, context): self.stack.append(context); self.pushed.append(context)
        def pop(self): self.stack.pop()
        def accessible(self, address): return False

    driver = Driver()
    gpus.driver = lambda: driver
    before = raw.cudnnGetStream.unchecked  # bound before there is a handle
    stream = raw.cudaStream_t()
    other = raw.cudnnHandle_t()
    other.value = 0x9000
    before(other, stream)
    bare.bare.cudnnSetStream
    handle = raw.cudnnHandle_t()
    handle.value = 0x1000  # the library writes nothing
    driver.stack = [101]
    raw.cudnnCreate(handle)
    driver.stack = [100]
    raw.cudnnGetStream(handle, stream)
    print(driver.pushed)
    before(handle, stream)
    bare.bare.cudnnSetStream(handle, None)
    print(driver.pushed, driver.stack)
    raw.cudnnDestroy(handle)
    print(driver.pushed, gpus.ordinals, "native" in vars(raw.cudnnGetStream._binding))
"""


@pytest.mark.thinned(2)
@pytest.mark.parametrize("count", [1, 2])
def test_the_first_handle_among_several_gpus_puts_the_guard_in_place(tmp_path, count):
    library = fake_cudnn(
        tmp_path, cudnnCreate=0, cudnnDestroy=0, cudnnGetStream=0, cudnnSetStream=0
    )
    lines = printed(
        textwrap.dedent(PROGRAM).replace("GPUS", str(count)),
        environment={"CUDNN_CTYPES_LIBRARY": str(library)},
    )
    expected = {
        1: ["[]", "[] [100]", "[] {} True"],
        2: ["[101]", "[101, 101, 101] [100]", "[101, 101, 101, 101] {} True"],
    }
    assert lines == expected[count]
