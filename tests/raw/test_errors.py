"""The exceptions that failed calls raise: what they say, and whose call they speak of."""

from __future__ import annotations

import pickle
import threading
from ctypes import c_int, c_void_p
from typing import Any

import pytest
from programs import printed

import cudnn_ctypes as cudnn
from cudnn_ctypes import errors, raw
from cudnn_ctypes.raw import status


def failing(call: Any, *arguments: Any) -> cudnn.CudnnError:
    with pytest.raises(cudnn.CudnnError) as caught:
        call(*arguments)
    return caught.value


class TestClasses:
    @pytest.mark.parametrize("member", raw.cudnnStatus_t)
    def test_every_status_has_the_class_of_its_category(self, member: raw.cudnnStatus_t) -> None:
        wanted = {
            "CUDNN_STATUS_NOT_INITIALIZED": cudnn.NotInitializedError,
            "CUDNN_STATUS_BAD_PARAM": cudnn.BadParamError,
            "CUDNN_STATUS_NOT_SUPPORTED": cudnn.NotSupportedError,
            "CUDNN_STATUS_INTERNAL_ERROR": cudnn.InternalError,
            "CUDNN_STATUS_EXECUTION_FAILED": cudnn.ExecutionFailedError,
        }
        category = raw.CUDNN_STATUS_CATEGORY(member)
        category = category + (1 if category == 1000 else 0)
        by_c = wanted.get(raw.cudnnStatus_t(category).name, cudnn.CudnnError)
        assert errors.error_class(member) is by_c
        error = status.error("cudnnX", int(member), [])
        assert type(error) is by_c
        assert f"cudnnX returned {member.name} ({int(member)})" in str(error)

    def test_the_tree(self) -> None:
        assert issubclass(cudnn.CudnnError, RuntimeError)
        for name in ("LibraryNotFoundError", "SymbolNotFoundError", "ClosedError"):
            assert not issubclass(getattr(cudnn, name), cudnn.CudnnError)
        assert issubclass(cudnn.LibraryNotFoundError, OSError)
        assert issubclass(cudnn.SymbolNotFoundError, AttributeError)


class TestMessage:
    def test_it_tells_the_call_the_reason_and_the_remedy(self, x: Any) -> None:
        error = failing(raw.cudnnSetTensor4dDescriptor, x, raw.CUDNN_TENSOR_NHWC, 0, 2, 0, 4, 5)
        first, hint, reason, *call = str(error).splitlines()
        assert first == "cudnnSetTensor4dDescriptor returned CUDNN_STATUS_BAD_PARAM (2000)"
        assert reason.startswith("  cuDNN: ")
        assert "(c <= 0)" in reason
        assert call == [
            "  called with",
            "    tensorDesc=<cudnnTensorDescriptor_t>",
            "    format=CUDNN_TENSOR_NHWC",
            "    dataType=CUDNN_DATA_FLOAT",
            *("    n=2", "    c=0", "    h=4", "    w=5"),
        ]
        assert hint == "  hint: every dimension must be at least 1"

    def test_an_argument_whose_repr_fails(self, new: Any, x: Any) -> None:
        class Awkward:
            _as_parameter_ = c_void_p(8)

            def __repr__(self) -> str:
                raise RuntimeError("no")

        dropout = new(raw.cudnnDropoutDescriptor_t)
        error = failing(raw.cudnnSetDropoutDescriptor, dropout, None, 0.5, Awkward(), 16, 0)
        assert error.arguments["states"] == "<Awkward, whose repr failed: no>"

    def test_a_repr_that_calls_cudnn_changes_nothing(self) -> None:
        """Descriptors print what they read back, while the message is being made."""
        sizes = [c_int() for _ in range(4)]
        with (
            cudnn.TensorDescriptor((1, 2, 3, 4)) as x,
            cudnn.FilterDescriptor((1, 5, 1, 1)) as w,
            cudnn.ConvolutionDescriptor() as conv,
        ):
            error = failing(raw.cudnnGetConvolution2dForwardOutputDim, conv, x, w, *sizes)
        assert error.arguments["inputTensorDesc"] == "(1, 2, 3, 4) float32 NCHW"
        assert "dimA[1]" in error.messages[0]

    def test_hints_of_sublibraries(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from cudnn_ctypes.raw import hints
        from cudnn_ctypes.raw.library import loaded

        name = "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"
        monkeypatch.setattr(loaded, "driver_present", lambda: False)
        assert "libcuda.so.1" in hints.usual_cause(name)
        monkeypatch.setattr(loaded, "driver_present", lambda: True)
        assert "install one again" in hints.usual_cause(name)


class TestMessagesBelongToTheirCall:
    def test_threads_keep_theirs(self) -> None:
        """Each thread fails in its own way, at once; no exception speaks of another's."""
        wrong: list[str] = []
        barrier = threading.Barrier(8)

        def work(number: int) -> None:
            descriptor = raw.cudnnTensorDescriptor_t()
            raw.cudnnCreateTensorDescriptor(descriptor)
            pooling = raw.cudnnPoolingDescriptor_t()
            raw.cudnnCreatePoolingDescriptor(pooling)
            barrier.wait()
            for _ in range(100):
                try:
                    if number % 2:
                        raw.cudnnSetTensor4dDescriptor(descriptor, 0, 0, 0, 1, 1, 1)
                    else:
                        raw.cudnnSetPooling2dDescriptor(pooling, 0, 0, 0, 0, 0, 0, 0, 0)
                except cudnn.BadParamError as error:
                    mine = "n <= 0" if number % 2 else "windowDimA"
                    if len(error.messages) != 1 or mine not in error.messages[0]:
                        wrong.append(f"{number}: {error.messages}")
            raw.cudnnDestroyTensorDescriptor(descriptor)
            raw.cudnnDestroyPoolingDescriptor(pooling)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


class TestTravel:
    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_pickling(self, x: Any, protocol: int) -> None:
        error = failing(raw.cudnnSetTensor4dDescriptor, x, 0, 0, 2, 0, 4, 5)
        other = pickle.loads(pickle.dumps(error, protocol))
        assert type(other) is cudnn.BadParamError
        assert str(other) == str(error)
        assert vars(other) == vars(error)
        assert isinstance(other.status, raw.cudnnStatus_t)

    def test_from_a_child_process(self) -> None:
        program = """
            from concurrent.futures import ProcessPoolExecutor
            import multiprocessing
            from cudnn_ctypes import BadParamError, raw
            def fail():
                x = raw.cudnnTensorDescriptor_t()
                raw.cudnnCreateTensorDescriptor(x)
                raw.cudnnSetTensor4dDescriptor(x, 0, 0, 0, 1, 1, 1)
            with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
                try:
                    pool.submit(fail).result()
                except BadParamError as error:
                    print(error.status.name, "n <= 0" in str(error))
        """
        assert printed(program) == ["CUDNN_STATUS_BAD_PARAM True"]
