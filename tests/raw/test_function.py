"""What a function of layer 1 is and does: binding, status, facts, arguments."""

from __future__ import annotations

import ctypes
import inspect
import threading
from ctypes import c_size_t
from typing import Any

import pytest
from programs import printed
from tensors import set_4d

from cudnn_ctypes import BadParamError, ClosedError, TensorDescriptor, raw
from cudnn_ctypes.raw.function import binding


class TestStatus:
    def test_success_is_returned(self, x: Any) -> None:
        assert set_4d(x, 1, 2, 3, 4) is raw.CUDNN_STATUS_SUCCESS

    def test_anything_else_is_raised(self, x: Any) -> None:
        with pytest.raises(BadParamError) as caught:
            set_4d(x, 0, 2, 3, 4)
        assert caught.value.status is raw.CUDNN_STATUS_BAD_PARAM
        assert caught.value.function == "cudnnSetTensor4dDescriptor"

    def test_unchecked_returns_it(self, x: Any) -> None:
        call = raw.cudnnSetTensor4dDescriptor.unchecked
        assert call(x, 0, 0, 0, 2, 3, 4) is raw.CUDNN_STATUS_BAD_PARAM
        assert call(x, 0, 0, 1, 2, 3, 4) is raw.CUDNN_STATUS_SUCCESS

    def test_functions_without_status(self) -> None:
        assert raw.cudnnGetVersion() == raw.load().version == raw.cudnnGetVersion.unchecked()
        assert raw.cudnnGetErrorString(raw.CUDNN_STATUS_BAD_PARAM) == "CUDNN_STATUS_BAD_PARAM"
        assert raw.cudnnGetLastErrorString(ctypes.create_string_buffer(64), 64) is None


class TestFacts:
    def test_of_one_function(self) -> None:
        function = raw.cudnnSetTensorNdDescriptor
        assert function.__name__ == "cudnnSetTensorNdDescriptor"
        assert function.header == "cudnn_ops.h"
        assert function.since == "2.0.0"
        assert function.deprecated is False
        assert raw.cudnnConvolutionForward.deprecated is True
        assert function.prototype == (
            "cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensorDesc, "
            "cudnnDataType_t dataType, int nbDims, const int dimA[], const int strideA[])"
        )
        dims = function.parameters[3]
        assert (dims.name, dims.direction, dims.length) == ("dimA", "in", "nbDims")
        assert dims.c_declaration == "const int dimA[]"

    def test_directions(self) -> None:
        directions = {p.name: p.direction for p in raw.cudnnConvolutionForward.parameters}
        assert directions["x"] == "in"
        assert directions["y"] == "in/out"
        (created,) = raw.cudnnCreateTensorDescriptor.parameters
        assert created.direction == "out"

    def test_a_later_function(self) -> None:
        assert raw.cudnnGetRNNWeightParams.since == "8.0.1"
        assert raw.cudnnGnnMhaGatForward.since == "9.28.0"

    def test_every_function_has_c_s_signature(self) -> None:
        for name in raw.FUNCTIONS:
            function = raw.FUNCTIONS[name]
            names = [p.name for p in function.parameters]
            for callee in (function, function.unchecked):
                assert list(inspect.signature(callee).parameters) == names
                assert callee.__name__ == name
                assert callee.__module__ == "cudnn_ctypes.raw"

    def test_signatures_name_types(self) -> None:
        signature = inspect.signature(raw.cudnnSetTensorNdDescriptor)
        types = [p.annotation for p in signature.parameters.values()]
        integers = ctypes.POINTER(ctypes.c_int)
        assert types[:3] == [raw.cudnnTensorDescriptor_t, raw.cudnnDataType_t, ctypes.c_int]
        assert types[3:] == [integers, integers]
        assert signature.return_annotation is raw.cudnnStatus_t
        launch = inspect.signature(raw.cudnnConvolutionForward).parameters
        assert launch["x"].annotation is launch["alpha"].annotation is ctypes.c_void_p

    def test_unchecked_has_the_same_facts(self) -> None:
        unchecked: Any = raw.cudnnCreate.unchecked
        assert unchecked.prototype == raw.cudnnCreate.prototype
        assert unchecked.parameters is raw.cudnnCreate.parameters


class TestBinding:
    def test_importing_and_inspecting_load_nothing(self) -> None:
        program = """
            import inspect
            from cudnn_ctypes import raw
            [(f.prototype, f.parameters, inspect.signature(f)) for f in raw.FUNCTIONS.values()]
            maps = open("/proc/self/maps").read()
            print(raw.loaded_library(), "libcudnn" in maps, "libcuda" in maps)
            raw.cudnnGetVersion()
            maps = open("/proc/self/maps").read()
            print(raw.loaded_library() is raw.load(), "libcudnn" in maps)
        """
        assert printed(program) == ["None False False", "True True"]

    def test_threads_may_make_the_first_call_together(self) -> None:
        program = """
            import sys, threading
            from ctypes import c_size_t
            sys.setswitchinterval(1e-6)
            from cudnn_ctypes import raw
            results, barrier = [], threading.Barrier(16)
            def work():
                barrier.wait()
                for _ in range(50):
                    x, size = raw.cudnnTensorDescriptor_t(), c_size_t()
                    raw.cudnnCreateTensorDescriptor(x)
                    raw.cudnnSetTensor4dDescriptor(x, 0, 0, 1, 2, 3, 4)
                    raw.cudnnGetTensorSizeInBytes(x, size)
                    raw.cudnnDestroyTensorDescriptor(x)
                    results.append(size.value)
            threads = [threading.Thread(target=work) for _ in range(16)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            print(len(results), set(results))
        """
        assert printed(program) == ["800 {96}"]

    def test_an_interceptor_set_during_a_first_call_is_kept(self) -> None:
        """Nobody may reach cuDNN once calls go to the reference device."""
        program = """
            import sys, threading
            sys.setswitchinterval(1e-6)
            from cudnn_ctypes import raw
            from cudnn_ctypes.raw.function import intercept
            raw.load()
            wrong = 0
            for name in ("cudnnGetVersion", "cudnnGetCudartVersion", "cudnnGetMaxDeviceVersion"):
                function, barrier = raw.FUNCTIONS[name], threading.Barrier(5)
                def call():
                    barrier.wait()
                    function()
                threads = [threading.Thread(target=call) for _ in range(4)]
                [t.start() for t in threads]
                barrier.wait()
                intercept(name, lambda: -1)
                [t.join() for t in threads]
                wrong += function() != -1
            print(wrong)
        """
        assert printed(program) == ["0"]


class TestHandles:
    def test_destroying_twice_is_harmless(self) -> None:
        for kind in ("Tensor", "Filter", "Convolution", "Activation", "Pooling", "LRN", "RNN"):
            handle = getattr(raw, f"cudnn{kind}Descriptor_t")()
            raw.FUNCTIONS[f"cudnnCreate{kind}Descriptor"](handle)
            for _ in range(2):
                raw.FUNCTIONS[f"cudnnDestroy{kind}Descriptor"].unchecked(handle)
            assert not handle

    def test_a_backend_descriptor_too(self) -> None:
        descriptor = raw.cudnnBackendDescriptor_t()
        raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, descriptor)
        raw.cudnnBackendDestroyDescriptor(descriptor)
        assert not descriptor
        with pytest.raises(BadParamError):
            raw.cudnnBackendDestroyDescriptor(descriptor)

    def test_objects_of_layer_2_pass(self) -> None:
        size = c_size_t()
        with TensorDescriptor((2, 3, 4, 5), "float16") as x:
            raw.cudnnGetTensorSizeInBytes(x, size)
            assert size.value == 240
        with pytest.raises(ClosedError, match="this TensorDescriptor is closed"):
            raw.cudnnGetTensorSizeInBytes(x, size)

    def test_a_handle_of_the_reference_device_never_reaches_cudnn(self) -> None:
        program = """
            from cudnn_ctypes import raw, use_reference_device
            from cudnn_ctypes.raw.function import binding
            handle = raw.cudnnHandle_t()
            with use_reference_device():
                raw.cudnnCreate(handle)
            print(raw.cudnnSetStream(handle, None).name)
            print("native" in vars(binding("cudnnSetStream")))
        """
        assert printed(program) == ["CUDNN_STATUS_SUCCESS", "False"]


class TestCallback:
    def test_a_callback_lives_as_long_as_cudnn_holds_it(self) -> None:
        program = """
            import gc
            from cudnn_ctypes import raw
            seen = []
            raw.cudnnSetCallback(
                1 << raw.CUDNN_SEV_ERROR, None, raw.cudnnCallback_t(lambda *a: seen.append(a[0]))
            )
            gc.collect()
            junk = [raw.cudnnCallback_t(lambda *a: None) for _ in range(100)]
            x = raw.cudnnTensorDescriptor_t()
            raw.cudnnCreateTensorDescriptor(x)
            print(raw.cudnnSetTensor4dDescriptor.unchecked(x, 0, 0, 0, 1, 1, 1).name)
            print(len(seen) > 0)
        """
        assert printed(program) == ["CUDNN_STATUS_BAD_PARAM", "True"]

    def test_a_python_function_is_refused(self) -> None:
        with pytest.raises(TypeError, match="wrap the function in it"):
            raw.cudnnSetCallback(0, None, lambda *arguments: None)


def test_calls_from_many_threads(x: Any) -> None:
    """The status of one thread's call is not another's."""
    wrong: list[Any] = []

    def work(number: int) -> None:
        mine = raw.cudnnTensorDescriptor_t()
        raw.cudnnCreateTensorDescriptor(mine)
        for i in range(300):
            try:
                set_4d(mine, (i + number) % 2, 1, 1, 1)
            except BadParamError:
                if (i + number) % 2:
                    wrong.append(i)
            else:
                if not (i + number) % 2:
                    wrong.append(i)
        raw.cudnnDestroyTensorDescriptor(mine)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_binding_is_found_by_name() -> None:
    assert binding("cudnnCreate").checked is raw.cudnnCreate
