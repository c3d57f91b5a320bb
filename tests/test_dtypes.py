"""dtypes: NumPy's types to cuDNN's and back, and the scalars for alpha and beta."""

from __future__ import annotations

import ctypes
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from programs import printed

from cudnn_ctypes.dtypes import (
    as_data_type,
    data_type_name,
    element_bits,
    host_scalar,
    numpy_dtype,
    storage_bytes,
    vector_length,
)
from cudnn_ctypes.raw.enums import cudnnDataType_t

# Enumerator without its prefix: (NumPy type, bits of an element, length of a vector).
EXPECTED = {
    "FLOAT": (np.float32, 32, 1),
    "DOUBLE": (np.float64, 64, 1),
    "HALF": (np.float16, 16, 1),
    "INT8": (np.int8, 8, 1),
    "INT32": (np.int32, 32, 1),
    "INT8x4": (np.int8, 8, 4),
    "UINT8": (np.uint8, 8, 1),
    "UINT8x4": (np.uint8, 8, 4),
    "INT8x32": (np.int8, 8, 32),
    "BFLOAT16": (ml_dtypes.bfloat16, 16, 1),
    "INT64": (np.int64, 64, 1),
    "BOOLEAN": (np.bool_, 1, 1),
    "FP8_E4M3": (ml_dtypes.float8_e4m3fn, 8, 1),
    "FP8_E5M2": (ml_dtypes.float8_e5m2, 8, 1),
    "FAST_FLOAT_FOR_FP8": (None, 32, 1),
    "FP8_E8M0": (ml_dtypes.float8_e8m0fnu, 8, 1),
    "FP4_E2M1": (ml_dtypes.float4_e2m1fn, 4, 1),
    "INT4": (ml_dtypes.int4, 4, 1),
    "UINT4": (ml_dtypes.uint4, 4, 1),
    "UINT32": (np.uint32, 32, 1),
    "COMPLEX_FP32": (np.complex64, 64, 1),
    "COMPLEX_FP64": (np.complex128, 128, 1),
    "BYTE_BOOLEAN": (np.bool_, 8, 1),
    "FP8_E5M3": (None, 8, 1),
}
PLAIN = {
    name: dtype
    for name, (dtype, _, length) in EXPECTED.items()
    if dtype is not None and length == 1 and name != "BOOLEAN"
}


def member(name: str) -> cudnnDataType_t:
    return cudnnDataType_t[f"CUDNN_DATA_{name}"]


def test_every_enumerator_is_covered() -> None:
    assert {m.name.removeprefix("CUDNN_DATA_") for m in cudnnDataType_t} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_facts_of_each_enumerator(name: str) -> None:
    dtype, bits, length = EXPECTED[name]
    data_type = member(name)
    assert element_bits(data_type) == bits
    assert vector_length(data_type) == length
    if dtype is None:
        with pytest.raises(TypeError, match="neither NumPy nor ml_dtypes"):
            numpy_dtype(data_type)
    else:
        assert numpy_dtype(data_type) == np.dtype(dtype)


@pytest.mark.parametrize("name", PLAIN)
def test_numpy_types_go_both_ways(name: str) -> None:
    dtype = PLAIN[name]
    assert as_data_type(dtype) is member(name)
    assert as_data_type(np.dtype(dtype)) is member(name)
    assert as_data_type(np.dtype(dtype).name) is member(name)
    assert numpy_dtype(as_data_type(dtype)) == np.dtype(dtype)


@pytest.mark.parametrize("name", EXPECTED)
def test_names_go_both_ways(name: str) -> None:
    data_type = member(name)
    for text in (data_type.name, name, name.lower(), data_type_name(data_type)):
        assert as_data_type(text) is data_type
    assert as_data_type(data_type) is data_type


def test_no_name_means_two_types() -> None:
    from cudnn_ctypes import dtypes

    names = [
        text.lower()
        for data_type, form in dtypes._FORMATS.items()
        for text in {
            dtypes.data_type_name(data_type),
            *form.aliases,
            data_type.name[len("CUDNN_DATA_") :].lower(),
        }
    ]
    assert len(names) == len(set(names))


def test_torch_types_by_name() -> None:
    torch = pytest.importorskip("torch")
    names = {np.dtype(dtype).name: name for name, dtype in PLAIN.items()}
    shared = [torch_name for torch_name in names if hasattr(torch, torch_name)]
    assert len(shared) >= 13
    for torch_name in shared:
        assert as_data_type(getattr(torch, torch_name)) is member(names[torch_name])
    with pytest.raises(TypeError, match="no data type 'float8_e4m3fnuz'"):
        as_data_type(torch.float8_e4m3fnuz)
    with pytest.raises(TypeError, match=r"pass its \.dtype"):
        as_data_type(torch.zeros(1))


def test_torch_is_not_imported() -> None:
    assert printed("import sys, cudnn_ctypes.dtypes; print('torch' in sys.modules)") == ["False"]


@pytest.mark.parametrize(
    "obj",
    [np.int16, np.uint64, "int16", ">f4", np.dtype([("a", "f4")]), object, "U3", "complex256"],
)
def test_types_that_cudnn_lacks_are_refused(obj: object) -> None:
    with pytest.raises(TypeError):
        as_data_type(obj)


def test_big_endian_is_refused_with_the_reason() -> None:
    with pytest.raises(TypeError, match="byte order"):
        as_data_type(np.dtype(np.float32).newbyteorder())


def test_an_enumerator_of_a_newer_cudnn_is_refused() -> None:
    with pytest.raises(TypeError, match="newer cuDNN"):
        numpy_dtype(cudnnDataType_t(4242))


@pytest.mark.parametrize(
    ("name", "count", "nbytes"),
    [("FLOAT", 3, 12), ("INT8x4", 8, 8), ("BOOLEAN", 9, 2), ("INT4", 3, 2), ("INT4", 0, 0)],
)
def test_storage_bytes_fill_up_the_last_byte(name: str, count: int, nbytes: int) -> None:
    assert storage_bytes(member(name), count) == nbytes


@pytest.mark.parametrize(
    "kind", [int, float, np.float32, np.float64, np.int16, np.array, ml_dtypes.bfloat16, Fraction]
)
def test_scalars_from_any_real_number(kind: Any) -> None:
    assert host_scalar(kind(2), "half").value == host_scalar(kind(2), "double").value == 2.0


def test_a_ctypes_scalar_must_have_the_right_type() -> None:
    alpha = ctypes.c_double(1)
    assert host_scalar(alpha, "double") is alpha
    with pytest.raises(TypeError, match="are c_float, got a c_double"):
        host_scalar(alpha, "half")
    with pytest.raises(TypeError, match="are c_double, got a c_float"):
        host_scalar(ctypes.c_float(1), "double")


@pytest.mark.parametrize(
    "value", [None, "1", 1j, [1.0], np.ones(2), np.complex64(1), ctypes.c_int(1)]
)
def test_what_is_no_real_number_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="alpha and beta are real numbers"):
        host_scalar(value, "float")


def test_too_large_for_a_float() -> None:
    assert host_scalar(1e300, "double").value == 1e300
    with pytest.raises(ValueError, match="too large for c_float"):
        host_scalar(1e300, "float")
