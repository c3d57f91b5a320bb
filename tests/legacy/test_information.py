"""Versions, error strings, errors of kernels: against the library and against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cudnn_ctypes import (
    BadParamError,
    Handle,
    check_sublibraries,
    error_string,
    last_error_string,
    library_versions,
    log_messages,
    query_runtime_error,
    raw,
    use_reference_device,
)
from cudnn_ctypes.raw.origins import SINCE


def test_versions_agree() -> None:
    versions = library_versions()
    major, minor, patch = versions.cudnn
    assert versions.number == major * 10000 + minor * 100 + patch
    assert raw.library.load().version == versions.number
    assert versions.cuda_runtime.major == raw.library.load().cuda_major
    assert versions.newest_compute_capability >= (9, 0)
    assert str(versions).startswith(f"cuDNN {major}.{minor}.{patch} for CUDA ")


def test_sublibraries() -> None:
    statuses = check_sublibraries()
    assert list(statuses) == ["graph", "ops", "cnn", "adv", "subquadratic_ops"]
    for name, status in statuses.items():
        expected: Any = raw.CUDNN_STATUS_SUCCESS
        if name == "subquadratic_ops" and library_versions().number < 92200:
            expected = None
        assert status == expected, name


def test_error_strings() -> None:
    loaded = library_versions().cudnn
    for status in raw.cudnnStatus_t:
        since = SINCE[status.name]
        if tuple(map(int, since.split("."))) <= loaded:
            assert error_string(status) == status.name
    assert error_string(987654) not in raw.cudnnStatus_t.__members__


def test_last_error_string() -> None:
    descriptor = raw.cudnnTensorDescriptor_t()
    raw.cudnnCreateTensorDescriptor(descriptor)
    status = raw.cudnnSetTensor4dDescriptor.unchecked(descriptor, 0, 0, 1, 0, 1, 1)
    assert status == raw.CUDNN_STATUS_BAD_PARAM
    text = last_error_string()
    assert "c <= 0" in text
    raw.cudnnSetTensor4dDescriptor.unchecked(descriptor, 0, 0, 1, 0, 1, 1)
    assert last_error_string(8) == text[:7]
    raw.cudnnDestroyTensorDescriptor(descriptor)


def test_runtime_errors_on_the_reference_device() -> None:
    with use_reference_device(), Handle() as handle:
        for mode in ("rawcode", "nonblocking", raw.CUDNN_ERRQUERY_BLOCKING):
            assert query_runtime_error(handle, mode) == raw.CUDNN_STATUS_SUCCESS
        with pytest.raises(ValueError, match="mode: expected one of 'rawcode'"):
            query_runtime_error(handle, "patient")
        with pytest.raises(BadParamError):
            raw.cudnnQueryRuntimeError(handle, None, 0, None)


@pytest.mark.gpu
def test_runtime_errors_on_a_gpu() -> None:
    with use_reference_device(False), Handle() as handle:
        for mode in raw.cudnnErrQueryMode_t:
            assert query_runtime_error(handle, mode) == raw.CUDNN_STATUS_SUCCESS


@pytest.mark.gpu
@pytest.mark.parametrize(
    "test",
    [
        test_versions_agree,
        test_sublibraries,
        test_error_strings,
        test_last_error_string,
    ],
    ids=lambda test: test.__name__,
)
def test_the_same_beside_a_handle_on_a_gpu(test: Callable[[], None]) -> None:
    with use_reference_device(False), Handle(), log_messages():
        test()
