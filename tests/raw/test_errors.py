"""The exceptions that failed calls raise: what they say, and whose call they speak of."""

from __future__ import annotations

import ctypes
import pickle
import threading
from ctypes import c_int, c_size_t
from typing import Any

import pytest
from programs import printed

import cudnn_ctypes
from cudnn_ctypes import (
    BadParamError,
    CudnnError,
    ExecutionFailedError,
    InternalError,
    NotInitializedError,
    NotSupportedError,
    errors,
    raw,
)
from cudnn_ctypes.raw import log, status

CLASSES = {
    "SUCCESS": CudnnError,
    1: NotInitializedError,
    2: BadParamError,
    3: NotSupportedError,
    4: InternalError,
    5: ExecutionFailedError,
}


def failing(call: Any, *arguments: Any) -> CudnnError:
    with pytest.raises(CudnnError) as caught:
        call(*arguments)
    return caught.value


class TestClasses:
    @pytest.mark.parametrize("member", raw.cudnnStatus_t)
    def test_every_status_has_the_class_of_its_category(self, member: raw.cudnnStatus_t) -> None:
        wanted = {
            "CUDNN_STATUS_NOT_INITIALIZED": NotInitializedError,
            "CUDNN_STATUS_BAD_PARAM": BadParamError,
            "CUDNN_STATUS_NOT_SUPPORTED": NotSupportedError,
            "CUDNN_STATUS_INTERNAL_ERROR": InternalError,
            "CUDNN_STATUS_EXECUTION_FAILED": ExecutionFailedError,
        }
        category = raw.CUDNN_STATUS_CATEGORY(member)
        category = category + (1 if category == 1000 else 0)
        by_c = wanted.get(raw.cudnnStatus_t(category).name, CudnnError)
        assert errors.error_class(member) is by_c
        error = status.error("cudnnX", int(member), [])
        assert type(error) is by_c
        assert f"cudnnX returned {member.name} ({int(member)})" in str(error)

    def test_every_class_is_used(self) -> None:
        used = {errors.error_class(member) for member in raw.cudnnStatus_t}
        assert used == set(CLASSES.values())

    def test_an_unknown_status(self) -> None:
        error = status.error("cudnnX", 3999, [])
        assert type(error) is NotSupportedError
        assert "returned <unknown cudnnStatus_t 3999> (3999)" in str(error)
        assert type(status.error("cudnnX", 9001, [])) is CudnnError

    def test_the_tree(self) -> None:
        assert issubclass(CudnnError, RuntimeError)
        for name in ("LibraryNotFoundError", "SymbolNotFoundError", "ClosedError"):
            assert not issubclass(getattr(cudnn_ctypes, name), CudnnError)
        assert issubclass(cudnn_ctypes.LibraryNotFoundError, OSError)
        assert issubclass(cudnn_ctypes.SymbolNotFoundError, AttributeError)


class TestMessage:
    def test_it_tells_the_call_the_reason_and_the_remedy(self, x: Any) -> None:
        error = failing(raw.cudnnSetTensor4dDescriptor, x, raw.CUDNN_TENSOR_NHWC, 0, 2, 0, 4, 5)
        first, hint, reason, *call = str(error).splitlines()
        assert first == "cudnnSetTensor4dDescriptor returned CUDNN_STATUS_BAD_PARAM (2000)"
        assert reason.startswith("  cuDNN: ")
        assert "(c <= 0)" in reason
        assert call == [
            "  called with",
            "    tensorDesc=<cudnnTensorDescriptor_t>, format=CUDNN_TENSOR_NHWC, "
            "dataType=CUDNN_DATA_FLOAT, n=2",
            "    c=0, h=4, w=5",
        ]
        assert hint == "  hint: every dimension must be at least 1"

    def test_its_parts(self, x: Any) -> None:
        error = failing(raw.cudnnSetTensor4dDescriptor, x, 0, 0, 2, 0, 4, 5)
        assert error.function == "cudnnSetTensor4dDescriptor"
        assert error.status is raw.CUDNN_STATUS_BAD_PARAM
        assert list(error.arguments) == [p.name for p in raw.cudnnSetTensor4dDescriptor.parameters]
        assert error.arguments["c"] == "0"
        assert error.messages
        assert error.hint

    def test_arguments_are_shown_by_what_they_hold(self, x: Any) -> None:
        dims = (ctypes.c_int * 3)(2, 0, 4)
        error = failing(raw.cudnnSetTensorNdDescriptor, x, 0, 3, dims, [8, 4, 1])
        assert error.arguments["dimA"] == "[2, 0, 4]"
        assert error.arguments["strideA"] == "[8, 4, 1]"
        size = c_size_t(7)
        error = failing(
            raw.cudnnGetTensorSizeInBytes, raw.cudnnTensorDescriptor_t(), ctypes.byref(size)
        )
        assert error.arguments["size"] == "c_ulong(7)"

    def test_long_arguments_are_cut(self, x: Any) -> None:
        error = failing(raw.cudnnSetTensorNdDescriptor, x, 0, 999, [1] * 999, [1] * 999)
        assert error.arguments["dimA"] == str([1] * 999)
        (row,) = (row for row in str(error).splitlines() if "dimA" in row)
        assert row.endswith("…")
        assert len(row) < 250

    def test_an_argument_whose_repr_fails(self, x: Any) -> None:
        class Awkward:
            _as_parameter_ = x

            def __repr__(self) -> str:
                raise RuntimeError("no")

        error = failing(raw.cudnnGetTensor4dDescriptor, Awkward(), *[None] * 9)
        assert error.arguments["tensorDesc"] == "<Awkward, whose repr failed: no>"

    def test_a_repr_that_calls_cudnn_changes_nothing(self) -> None:
        """Descriptors print what they read back, while the message is being made."""
        sizes = [c_int() for _ in range(4)]
        with (
            cudnn_ctypes.TensorDescriptor((1, 2, 3, 4)) as x,
            cudnn_ctypes.FilterDescriptor((1, 5, 1, 1)) as w,
            cudnn_ctypes.ConvolutionDescriptor() as conv,
        ):
            error = failing(raw.cudnnGetConvolution2dForwardOutputDim, conv, x, w, *sizes)
        assert "TensorDescriptor(shape=" in error.arguments["inputTensorDesc"]
        assert "dimA[1]" in error.messages[0]

    def test_what_a_call_was_to_set_is_not_told_as_its_argument(self) -> None:
        """A refused call leaves half of its values in the descriptor."""
        with cudnn_ctypes.ConvolutionDescriptor(1, 2) as conv:
            error = failing(raw.cudnnSetConvolution2dDescriptor, conv, 5, 5, 0, 0, 1, 1, 1, 0)
        assert error.arguments["convDesc"] == "<ConvolutionDescriptor>"
        assert error.arguments["pad_h"] == "5"

    def test_no_gpu(self) -> None:
        program = """
            import os
            os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
            from cudnn_ctypes import CudnnError, raw
            try:
                raw.cudnnCreate(raw.cudnnHandle_t())
            except CudnnError as error:
                print(type(error).__name__, error.hint)
        """
        (line,) = printed(program)
        assert line.startswith("NotInitializedError cuDNN found no usable NVIDIA GPU or driver.")
        assert "cudnn_ctypes.use_reference_device()" in line
        assert "CUDNN_CTYPES_DEVICE=reference" in line

    def test_hints_of_sublibraries(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from cudnn_ctypes.raw import hints, loaded_libraries

        name = "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"
        monkeypatch.setattr(loaded_libraries, "driver_present", lambda: False)
        assert "libcuda.so.1" in hints.usual_cause(name)
        monkeypatch.setattr(loaded_libraries, "driver_present", lambda: True)
        assert "install one again" in hints.usual_cause(name)


class TestMessagesBelongToTheirCall:
    def test_a_successful_call_leaves_nothing(self, x: Any) -> None:
        raw.cudnnSetTensor4dDescriptor(x, 0, 0, 1, 1, 1, 1)
        assert threading.get_ident() not in log.logged

    def test_many_messages_of_one_call_are_bounded(self) -> None:
        log.forget()
        for i in range(1000):
            log.put(f"reason {i}")
        kept, _ = log.take()
        assert len(kept) == log._KEPT
        assert kept[-1] == "reason 999"
        assert log.take() == ((), "cuDNN")

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
                except BadParamError as error:
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
        assert type(other) is BadParamError
        assert str(other) == str(error)
        assert vars(other) == vars(error)
        assert isinstance(other.status, raw.cudnnStatus_t)

    def test_unknown_codes_and_other_exceptions(self) -> None:
        error = pickle.loads(pickle.dumps(status.error("cudnnX", 3999, [])))
        assert int(error.status) == 3999
        for cls in (errors.LibraryNotFoundError, errors.SymbolNotFoundError, errors.ClosedError):
            assert str(pickle.loads(pickle.dumps(cls("why")))) == "why"

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
