"""Versions, error strings, errors of kernels: against the library and against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.raw.origins import SINCE


def test_versions_agree() -> None:
    versions = cudnn.library_versions()
    major, minor, patch = versions.cudnn
    assert versions.number == major * 10000 + minor * 100 + patch
    assert raw.library.load().version == versions.number
    assert versions.cuda_runtime.major == raw.library.load().cuda_major
    newest = "{}{}0".format(*versions.newest_compute_capability)
    assert newest == str(raw.cudnnGetMaxDeviceVersion())
    assert str(versions).startswith(f"cuDNN {major}.{minor}.{patch} for CUDA ")


def test_sublibraries() -> None:
    statuses = cudnn.check_sublibraries()
    assert list(statuses) == ["graph", "ops", "cnn", "adv", "subquadratic_ops"]
    for name, status in statuses.items():
        expected: Any = raw.CUDNN_STATUS_SUCCESS
        if name == "subquadratic_ops" and cudnn.library_versions().number < 92200:
            expected = None
        assert status == expected, name


def test_error_strings() -> None:
    loaded = cudnn.library_versions().cudnn
    for status in raw.cudnnStatus_t:
        since = SINCE[status.name]
        if tuple(map(int, since.split("."))) <= loaded:
            assert cudnn.error_string(status) == status.name
    assert cudnn.error_string(987654) not in raw.cudnnStatus_t.__members__


def test_last_error_string() -> None:
    descriptor = raw.cudnnTensorDescriptor_t()
    raw.cudnnCreateTensorDescriptor(descriptor)
    status = raw.cudnnSetTensor4dDescriptor.unchecked(descriptor, 0, 0, 1, 0, 1, 1)
    assert status == raw.CUDNN_STATUS_BAD_PARAM
    text = cudnn.last_error_string()
    assert "c <= 0" in text
    raw.cudnnSetTensor4dDescriptor.unchecked(descriptor, 0, 0, 1, 0, 1, 1)
    assert cudnn.last_error_string(8) == text[:7]
    raw.cudnnDestroyTensorDescriptor(descriptor)


def test_runtime_errors_on_the_reference_device() -> None:
    with cudnn.use_reference_device(), cudnn.Handle() as handle:
        for mode in ("rawcode", "nonblocking", raw.CUDNN_ERRQUERY_BLOCKING):
            assert cudnn.query_runtime_error(handle, mode) == raw.CUDNN_STATUS_SUCCESS
        with pytest.raises(ValueError, match="mode: expected one of 'rawcode'"):
            cudnn.query_runtime_error(handle, "patient")
        with pytest.raises(cudnn.BadParamError):
            raw.cudnnQueryRuntimeError(handle, None, 0, None)


@pytest.mark.gpu
def test_runtime_errors_on_a_gpu() -> None:
    with cudnn.use_reference_device(False), cudnn.Handle() as handle:
        for mode in raw.cudnnErrQueryMode_t:
            assert cudnn.query_runtime_error(handle, mode) == raw.CUDNN_STATUS_SUCCESS


@pytest.mark.gpu
@pytest.mark.parametrize(
    "test",
    [test_versions_agree, test_sublibraries, test_error_strings, test_last_error_string],
    ids=lambda test: test.__name__,
)
def test_the_same_beside_a_handle_on_a_gpu(test: Callable[[], None]) -> None:
    with cudnn.use_reference_device(False), cudnn.Handle(), cudnn.log_messages():
        test()
