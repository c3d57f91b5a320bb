"""What a function of layer 1 is and does: binding, status, facts, arguments."""

from __future__ import annotations

import ctypes
import inspect

import pytest
from programs import printed

from cudnn_ctypes import raw


class TestStatus:
    def test_functions_without_status(self) -> None:
        assert raw.cudnnGetVersion() == raw.load().version == raw.cudnnGetVersion.unchecked()
        assert raw.cudnnGetErrorString(raw.CUDNN_STATUS_BAD_PARAM) == "CUDNN_STATUS_BAD_PARAM"
        assert raw.cudnnGetLastErrorString(ctypes.create_string_buffer(64), 64) is None


class TestFacts:
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


class TestBinding:
    def test_importing_and_inspecting_load_nothing(self) -> None:
        program = """
            import inspect, sys
            before = set(sys.modules)
            from cudnn_ctypes import raw
            roots = {name.split(".")[0] for name in sys.modules.keys() - before}
            print(sorted(roots & {"cuda", "numpy", "ml_dtypes", "rich", "torch"}))
            [(f.prototype, f.parameters, inspect.signature(f)) for f in raw.FUNCTIONS.values()]
            maps = open("/proc/self/maps").read()
            print(raw.loaded_library(), "libcudnn" in maps, "libcuda" in maps)
            raw.cudnnGetVersion()
            maps = open("/proc/self/maps").read()
            print(raw.loaded_library() is raw.load(), "libcudnn" in maps)
        """
        assert printed(program) == ["[]", "None False False", "True True"]

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
