"""What a trace sees: every call of each layer, with its arguments, status and place."""

from __future__ import annotations

import ctypes
import gc
import io
import sys
import threading
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.raw import function as raw_function


@pytest.fixture(autouse=True)
def device(request):
    """The GPU for a test that is marked so, else the reference device."""
    gc.collect()  # else the ends of what other tests left open are seen, too
    with cudnn.use_reference_device(request.node.get_closest_marker("gpu") is None):
        yield


on_each_device = pytest.mark.parametrize(
    "device", ["reference device", pytest.param("GPU", marks=pytest.mark.gpu)], indirect=True
)


def here(call: cudnn.CallRecord) -> bool:
    return call.file == __file__


def argument(call: cudnn.CallRecord, name: str) -> Any:
    (found,) = (each.value for each in call.arguments if each.name == name)
    return found


def relu_tensors() -> tuple[cudnn.DeviceTensor, cudnn.DeviceTensor]:
    x = cudnn.DeviceTensor.from_numpy(np.linspace(-1, 1, 24, dtype="f4").reshape(1, 2, 3, 4))
    return x, cudnn.DeviceTensor.full((1, 2, 3, 4), np.nan, "float32")


class TestLayers:
    def test_layer_1(self):
        descriptor = raw.cudnnTensorDescriptor_t()
        with cudnn.trace() as seen:
            raw.cudnnCreateTensorDescriptor(descriptor)
            line = sys._getframe().f_lineno + 1
            raw.cudnnSetTensor4dDescriptor(
                descriptor, raw.CUDNN_TENSOR_NHWC, raw.CUDNN_DATA_HALF, 1, 64, 8, 8
            )
            raw.cudnnDestroyTensorDescriptor.unchecked(descriptor)
        created, was_set, destroyed = seen.calls
        assert [call.function for call in seen.calls] == [
            "cudnnCreateTensorDescriptor",
            "cudnnSetTensor4dDescriptor",
            "cudnnDestroyTensorDescriptor",
        ]
        assert argument(created, "tensorDesc") == {"object": "tensor1"}
        assert created.arguments[0].out
        assert argument(was_set, "tensorDesc") == {"object": "tensor1"}
        assert argument(was_set, "format") == "CUDNN_TENSOR_NHWC"
        assert argument(was_set, "dataType") == "CUDNN_DATA_HALF"
        assert [argument(was_set, name) for name in "nchw"] == [1, 64, 8, 8]
        assert (was_set.line, was_set.status) == (line, "SUCCESS")
        assert all(map(here, seen.calls))
        assert destroyed.status == "SUCCESS"
        assert [call.number for call in seen.calls] == [1, 2, 3]
        assert all(call.seconds > 0 for call in seen.calls)

    @on_each_device
    def test_layer_2_when_it_is_recorded_and_when_it_is_launched_again(self):
        x, y = relu_tensors()
        with cudnn.Handle() as handle:
            cudnn.activation_forward(handle, x, "relu", y)
            cudnn.activation_forward(handle, x, "relu", y)
            with cudnn.trace() as seen:
                cudnn.activation_forward(handle, x, "relu", y)
        (call,) = seen.calls  # by then the plan is known, whose call is made bare
        assert call.function == "cudnnActivationForward"
        assert here(call)
        assert argument(call, "alpha") == 1.0
        assert argument(call, "activationDesc")["holds"]["mode"] == "relu"
        assert argument(call, "x") == {"allocation": "x", "offset": 0, "nbytes": 96}
        np.testing.assert_array_equal(y.numpy(), np.maximum(x.numpy(), 0))


class TestMemory:
    @on_each_device
    def test_is_known_by_its_allocation_and_offset(self):
        with (
            cudnn.Handle() as handle,
            cudnn.DeviceBuffer(256) as memory,
            cudnn.TensorDescriptor((1, 1, 4, 4), "float32") as tensor,
            cudnn.trace() as seen,
        ):
            memory.fill(0)
            for offset in (0, 128):
                value = ctypes.c_float(3)
                raw.cudnnSetTensor(handle, tensor, memory.ptr + offset, ctypes.byref(value))
        first, second = (argument(call, "y") for call in seen.calls)
        assert first == {"allocation": "y", "offset": 0, "nbytes": 64}
        assert second == {"allocation": "y", "offset": 128, "nbytes": 64}
        assert argument(seen.calls[0], "valuePtr") == 3.0

    def test_says_what_it_is_where_no_descriptor_does(self):
        x, _ = relu_tensors()
        with cudnn.trace() as seen, pytest.raises(TypeError):
            raw.cudnnSetTensor(None, None, x)
        assert argument(seen.calls[0], "y")["shape"] == [1, 2, 3, 4]
        assert argument(seen.calls[0], "y")["data_type"] == "float32"


def observed() -> list[str]:
    """Names of the functions before which something stands."""
    return [
        name
        for name, function in raw.FUNCTIONS.items()
        for each in (function, vars(function._binding).get("unchecked"))
        if each is not None and each.func != each._callee
    ]


class TestFromWhenToWhen:
    def test_nothing_stands_before_c_while_no_trace_is_open(self):
        watched = set(raw_function.watched)
        assert not observed()
        with cudnn.trace():
            assert len(observed()) >= len(raw.FUNCTIONS)
            assert raw_function.watched - watched
            raw.cudnnGetVersion()
        assert not observed()
        assert raw_function.watched == watched
        assert raw.cudnnGetVersion.func.__code__.co_filename == "<cudnnGetVersion>"

    def test_a_trace_is_opened_once(self):
        with cudnn.trace() as seen, pytest.raises(RuntimeError, match="open already"):
            seen.__enter__()
        assert not observed()

    def test_all_threads_are_seen(self):
        def work():
            for _ in range(20):
                cudnn.TensorDescriptor((1, 2, 3, 4), "float32").close()

        with cudnn.trace(only="cudnnSet*") as seen:
            threads = [threading.Thread(target=work, name=f"worker {i}") for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert len(seen.calls) == 80
        names = [call.thread for call in seen.calls]
        assert {names.count(f"worker {i}") for i in range(4)} == {20}
        assert [call.number for call in seen.calls] == list(range(1, 81))


class TestChoice:
    @pytest.mark.parametrize(
        ("only", "skip", "expected"),
        [
            ("cudnnCreate*", (), ["cudnnCreateTensorDescriptor"]),
            ("Create*", (), ["cudnnCreateTensorDescriptor"]),
            ((), ["*Create*", "Set*"], ["cudnnDestroyTensorDescriptor"]),
            (["*TensorDescriptor"], "Destroy*", ["cudnnCreateTensorDescriptor"]),
        ],
    )
    def test_by_name(self, only, skip, expected):
        with cudnn.trace(only=only, skip=skip) as seen:
            cudnn.TensorDescriptor((1, 2, 3, 4), "float32").close()
        assert [call.function for call in seen.calls] == expected

    def test_anything_else_is_refused(self):
        with pytest.raises(TypeError, match="only: expected names of C functions"):
            cudnn.trace(only=[raw.cudnnCreate])


class TestNumbers:
    def test_the_first_output_that_is_not_finite(self):
        x, y = relu_tensors()
        bad = cudnn.DeviceTensor.from_numpy(
            np.array([np.nan, np.inf, 1, 2], "f4").reshape(1, 1, 2, 2)
        )
        out = cudnn.DeviceTensor.full((1, 1, 2, 2), 0, "float32")
        with cudnn.Handle() as handle, cudnn.trace(nan=True) as seen:
            cudnn.activation_forward(handle, x, "relu", y)
            cudnn.activation_forward(handle, bad, "elu", out)
            cudnn.activation_forward(handle, bad, "elu", out)
        first = seen.first_not_finite
        assert first is not None
        assert dict(first.not_finite) == {
            "y": "1 NaN and 1 infinite of 4",
            "x, which it read": "1 NaN and 1 infinite of 4",
        }
        launches = [call for call in seen.calls if call.function == "cudnnActivationForward"]
        assert launches[1] is first
        assert "call" in seen.verdict()
        assert "y: 1 NaN" in seen.verdict()

    @on_each_device
    def test_poison_in_what_was_overwritten_does_not_count(self):
        x, y = relu_tensors()
        with cudnn.Handle() as handle, cudnn.trace(nan=True) as seen:
            cudnn.activation_forward(handle, x, "relu", y)
        assert seen.first_not_finite is None
        assert "no output that is not finite" in seen.verdict()

    @on_each_device
    def test_of_graphs(self):
        graph = cudnn.Graph(io_data_type="float32")
        x = graph.tensor((2, 4, 8), name="x")
        graph.sqrt(x).set_output(name="y")
        source = cudnn.DeviceTensor.from_numpy(np.full((2, 4, 8), -1, "f4"))
        target = cudnn.DeviceTensor.full((2, 4, 8), 0, "float32")
        with cudnn.Handle() as handle, graph, cudnn.trace(nan=True) as seen:
            graph.build(handle)
            workspace = cudnn.DeviceBuffer(max(graph.workspace_size, 1))
            graph.execute({"x": source, "y": target}, workspace, handle=handle)
        first = seen.first_not_finite
        assert first is not None
        assert first.function == "cudnnBackendExecute"
        assert list(first.not_finite.values()) == ["64 NaN of 64"]


class TestOutput:
    def test_lines_are_printed_while_it_runs(self):
        out = io.StringIO()
        with cudnn.trace(file=out, width=0):
            raw.cudnnGetVersion()
            assert out.getvalue().startswith("cudnnGetVersion()  ")
            assert "test_trace.py:" in out.getvalue()

    def test_who_closes_the_file_does_not_stop_the_program(self):
        out = io.StringIO()
        with cudnn.trace(file=out) as seen:
            out.close()
            raw.cudnnGetVersion()
        assert len(seen.calls) == 1

    def test_what_cannot_be_shown_does_not_stop_the_program(self):
        class Odd:
            @property
            def _as_parameter_(self):
                raise ValueError("no")

        with cudnn.trace() as seen, pytest.raises((TypeError, ValueError)):
            raw.cudnnSetTensor(Odd(), Odd(), Odd(), Odd())
        assert argument(seen.calls[0], "y") == "<Odd>"

    def test_records_in_a_file_are_not_kept(self, tmp_path):
        with (tmp_path / "calls.json").open("w") as file, cudnn.trace(json=file) as traced:
            for _ in range(3):
                cudnn.TensorDescriptor((1, 2, 3, 4)).close()
        functions = [call.function for call in cudnn.read_trace(tmp_path / "calls.json")]
        assert functions.count("cudnnCreateTensorDescriptor") == 3
        assert traced.calls == []
        with pytest.raises(ValueError, match="were not kept"):
            traced.save(tmp_path / "again.json")

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            *((each, "its first line does not") for each in (b"", b"null", b"[]", b"{}")),
            (b'{"cudnn_ctypes_trace": 99}', "format 99, expected 1"),
            (b"no json", "Expecting value"),
            (b"\xec\xff", "'utf-8' codec can't decode"),
        ],
    )
    def test_what_is_no_trace_is_refused(self, data, reason, tmp_path):
        (tmp_path / "run.json").write_bytes(data)
        with pytest.raises(ValueError, match=rf"run\.json: this is no trace: {reason}"):
            cudnn.read_trace(tmp_path / "run.json")

    def test_statistics(self):
        with cudnn.trace() as seen:
            for _ in range(3):
                raw.cudnnGetVersion()
            raw.cudnnSetTensor4dDescriptor.unchecked(None, 0, 0, 1, 1, 1, 1)
        rows = [row.split()[:3] for row in seen.statistics().splitlines()[1:]]
        set_, version = ["cudnnSetTensor4dDescriptor", "1", "1"], ["cudnnGetVersion", "3", "0"]
        assert sorted(rows) == [["all", "4", "1"], version, set_]


class TestAllocations:
    def test_allocations_that_calls_use_are_shown(self):
        with cudnn.Handle() as handle, cudnn.TensorDescriptor((1, 2, 3, 4), "float32") as tensor:
            with cudnn.trace(only=["cudnnScale*", "allocate", "free"], memory=True) as seen:
                x, y = relu_tensors()
                raw.cudnnScaleTensor(handle, tensor, x, 2.0)
                raw.cudnnScaleTensor(handle, tensor, x, 2.0)
                x.close()
                closed = sys._getframe().f_lineno - 1
                raw.cudnnScaleTensor(handle, tensor, y, 2.0)
            y.close()
        assert [call.function.removeprefix("cudnn") for call in seen.calls] == [
            *("allocate", "ScaleTensor", "ScaleTensor", "free", "allocate", "ScaleTensor")
        ]
        allocate, _, _, free, _, scale = seen.calls
        assert argument(allocate, "memory") == {"allocation": "y", "offset": 0, "nbytes": 96}
        assert argument(allocate, "by") == "cudnn_ctypes"
        assert here(allocate)
        assert (free.line, argument(free, "memory")) == (closed, argument(allocate, "memory"))
        assert argument(scale, "y")["allocation"] == "y2"
        assert "allocate(memory=<y+0, 96 B>, by=cudnn_ctypes)" in str(seen)

    def test_they_are_not_shown_without_being_asked_for(self):
        with cudnn.Handle() as handle, cudnn.TensorDescriptor((1, 2, 3, 4), "float32") as tensor:
            with cudnn.trace() as seen:
                x, y = relu_tensors()
                raw.cudnnScaleTensor(handle, tensor, x, 2.0)
                x.close()
                raw.cudnnScaleTensor(handle, tensor, y, 2.0)
            y.close()
        assert {call.function for call in seen.calls} == {"cudnnScaleTensor"}


class TestTheFirstCalls:
    def test_no_more_are_seen(self):
        with cudnn.trace(first=2) as seen:
            for _ in range(3):
                raw.cudnnGetVersion()
            assert "Trace of 2 calls" in repr(seen)
            # Nothing stands before C any more.
            assert raw_function._observer is None
        assert len(seen.calls) == 2
        with cudnn.trace(first=0) as seen:
            raw.cudnnGetVersion()
        assert seen.calls == []
