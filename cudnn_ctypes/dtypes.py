"""Conversion between NumPy's data types and cuDNN's.

``as_data_type`` converts an enumerator, a NumPy, ml_dtypes or PyTorch dtype, or a name to a
``cudnnDataType_t``; ``numpy_dtype`` converts back. The other functions tell how cuDNN stores a
type, and the C type of alpha and beta for it.

Facts that are easily mistaken:

* ``CUDNN_DATA_BOOLEAN`` is packed, 8 elements to a byte. NumPy's bool takes a byte, and so does
  ``CUDNN_DATA_BYTE_BOOLEAN`` (cuDNN 9.25 and newer), the result of ``as_data_type(bool)``.
* 4-bit types are packed two to a byte, the first element in the low half. ml_dtypes keeps one to
  a byte; ``DeviceTensor`` converts.
* alpha and beta are float also where data and accumulation are integers.
"""

from __future__ import annotations

import ctypes
import difflib
import math
import numbers
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import ml_dtypes
import numpy as np

from cudnn_ctypes.raw import layouts
from cudnn_ctypes.raw.enums import cudnnDataType_t
from cudnn_ctypes.raw.layouts import DATA_TYPE_NAMES


class _TorchDataType(Protocol):
    """The type of a ``torch.dtype``, declared without importing PyTorch."""

    @property
    def is_floating_point(self) -> bool: ...

    @property
    def itemsize(self) -> int: ...


DataTypeLike: TypeAlias = cudnnDataType_t | str | np.dtype[Any] | type[Any] | _TorchDataType
"""The types that `as_data_type` accepts."""


@dataclass(frozen=True)
class _Format:
    """The storage of one data type."""

    bits: int  # per element
    dtype: np.dtype[Any] | None  # None: NumPy and ml_dtypes have no counterpart
    aliases: tuple[str, ...] = ()


def _formats() -> dict[cudnnDataType_t, _Format]:
    def scalar(dtype: Any, *aliases: str, bits: int = 0) -> _Format:
        dtype = np.dtype(dtype)
        return _Format(bits or 8 * dtype.itemsize, dtype, aliases)

    t = cudnnDataType_t
    return {
        t.CUDNN_DATA_FLOAT: scalar(np.float32, "float", "fp32"),
        t.CUDNN_DATA_DOUBLE: scalar(np.float64, "double", "fp64"),
        t.CUDNN_DATA_HALF: scalar(np.float16, "half", "fp16"),
        t.CUDNN_DATA_INT8: scalar(np.int8),
        t.CUDNN_DATA_INT32: scalar(np.int32, "int"),
        t.CUDNN_DATA_INT8x4: scalar(np.int8),
        t.CUDNN_DATA_UINT8: scalar(np.uint8),
        t.CUDNN_DATA_UINT8x4: scalar(np.uint8),
        t.CUDNN_DATA_INT8x32: scalar(np.int8),
        t.CUDNN_DATA_BFLOAT16: scalar(ml_dtypes.bfloat16, "bf16"),
        t.CUDNN_DATA_INT64: scalar(np.int64),
        t.CUDNN_DATA_BOOLEAN: scalar(np.bool_, bits=1),
        t.CUDNN_DATA_FP8_E4M3: scalar(
            ml_dtypes.float8_e4m3fn, "float8_e4m3fn", "float8_e4m3", "e4m3"
        ),
        t.CUDNN_DATA_FP8_E5M2: scalar(ml_dtypes.float8_e5m2, "float8_e5m2", "e5m2"),
        # A kind of accumulation, no storage type.
        t.CUDNN_DATA_FAST_FLOAT_FOR_FP8: _Format(32, None),
        t.CUDNN_DATA_FP8_E8M0: scalar(ml_dtypes.float8_e8m0fnu, "float8_e8m0fnu", "e8m0"),
        t.CUDNN_DATA_FP4_E2M1: scalar(
            ml_dtypes.float4_e2m1fn, "float4_e2m1fn", "float4_e2m1fn_x2", "e2m1", bits=4
        ),
        t.CUDNN_DATA_INT4: scalar(ml_dtypes.int4, bits=4),
        t.CUDNN_DATA_UINT4: scalar(ml_dtypes.uint4, bits=4),
        t.CUDNN_DATA_UINT32: scalar(np.uint32),
        t.CUDNN_DATA_COMPLEX_FP32: scalar(np.complex64, "cfloat"),
        t.CUDNN_DATA_COMPLEX_FP64: scalar(np.complex128, "cdouble"),
        t.CUDNN_DATA_BYTE_BOOLEAN: scalar(np.bool_, "byte_boolean"),
        # No sign bit, 5 bits of exponent, 3 of mantissa.
        t.CUDNN_DATA_FP8_E5M3: _Format(8, None, ("e5m3",)),
    }


_FORMATS = _formats()

# The plain (neither packed nor vectorised) enumerator, by NumPy's dtype.
_BY_DTYPE = {
    form.dtype: data_type
    for data_type, form in _FORMATS.items()
    if form.dtype is not None
    and layouts.vector_length(data_type) == 1
    and data_type != cudnnDataType_t.CUDNN_DATA_BOOLEAN
}
_BY_NAME = {
    name.lower(): data_type
    for data_type, form in _FORMATS.items()
    for name in (
        DATA_TYPE_NAMES[data_type],
        *form.aliases,
        data_type.name,
        data_type.name.removeprefix("CUDNN_DATA_"),
    )
}


def as_data_type(obj: DataTypeLike) -> cudnnDataType_t:
    """The ``cudnnDataType_t`` for `obj`.

    Parameters
    ----------
    obj : cudnnDataType_t, numpy.dtype, type, str or torch.dtype
        An enumerator; anything that ``numpy.dtype`` takes; or a name: NumPy's ("float16",
        "bfloat16", "float8_e4m3fn"), PyTorch's, C's with or without prefix ("CUDNN_DATA_HALF",
        "HALF"), or short ("fp16", "bf16", "fp8_e4m3", "int8x4"). ``bool`` means one byte
        per element (``CUDNN_DATA_BYTE_BOOLEAN``); "boolean" the packed ``CUDNN_DATA_BOOLEAN``.

    Returns
    -------
    cudnnDataType_t

    Raises
    ------
    TypeError
        If cuDNN has no such type, or if `obj` is no data type at all.

    Examples
    --------
    >>> as_data_type("bfloat16")
    cudnnDataType_t.CUDNN_DATA_BFLOAT16
    """
    if isinstance(obj, cudnnDataType_t):
        return obj
    if isinstance(obj, str):
        return _from_name(obj)
    if type(obj).__module__.partition(".")[0] == "torch":
        return _from_torch(obj)
    if obj is None or isinstance(obj, (numbers.Number, list, tuple, dict)):
        raise TypeError(f"expected a data type, got {obj!r} ({type(obj).__name__})")
    try:
        dtype: np.dtype[Any] = np.dtype(obj)  # type: ignore[arg-type]
    except (TypeError, ValueError, NotImplementedError) as error:  # errors of numpy.dtype
        raise TypeError(f"expected a data type, got {obj!r} ({type(obj).__name__})") from error
    if not dtype.isnative:
        raise TypeError(f"cuDNN has no type for {dtype.str!r}: its byte order is not the machine's")
    if dtype not in _BY_DTYPE:
        raise _no_such_type(dtype.name)
    return _BY_DTYPE[dtype]


def _from_name(name: str) -> cudnnDataType_t:
    if name.lower() not in _BY_NAME:
        raise _no_such_type(name)
    return _BY_NAME[name.lower()]


def data_type_argument(name: str, value: Any) -> cudnnDataType_t:
    """`as_data_type` for an argument, whose `name` the message of its TypeError begins with."""
    try:
        return as_data_type(value)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def _from_torch(obj: Any) -> cudnnDataType_t:
    name = str(obj).removeprefix("torch.")
    if type(obj).__name__ != "dtype":
        raise TypeError(f"expected a data type, got a {type(obj).__name__}; pass its .dtype")
    return _from_name(name)


def _no_such_type(name: str) -> TypeError:
    similar = difflib.get_close_matches(name.lower(), _BY_NAME, n=2, cutoff=0.75)
    names = ", ".join(DATA_TYPE_NAMES.values())
    question = f" Did you mean {' or '.join(map(repr, similar))}?" if similar else ""
    return TypeError(f"cuDNN has no data type {name!r}.{question} It has {names}.")


def _known(data_type: Any) -> cudnnDataType_t:
    found = as_data_type(data_type)
    if found not in _FORMATS:
        raise TypeError(f"{found!r}: a newer cuDNN's data type; nothing is known about it here")
    return found


def _format(data_type: Any) -> _Format:
    return _FORMATS[_known(data_type)]


def numpy_dtype(data_type: Any) -> np.dtype[Any]:
    """The NumPy or ml_dtypes dtype of one element: int8 for INT8x4, bool for both booleans.

    Raises TypeError for FAST_FLOAT_FOR_FP8, which is no storage type, and FP8_E5M3, which ml_dtypes
    lacks.
    """
    form = _format(data_type)
    if form.dtype is None:
        raise TypeError(f"neither NumPy nor ml_dtypes has a dtype for {data_type_name(data_type)}")
    return form.dtype


def data_type_name(data_type: Any) -> str:
    """A short lower-case name, NumPy's if it has one: "float16", "fp8_e4m3", "int8x4"."""
    return DATA_TYPE_NAMES[_known(data_type)]


def element_bits(data_type: Any) -> int:
    """Bits of one element in memory: 1 for BOOLEAN, 4 for INT4, 8 for INT8x4 (not 32)."""
    return _format(data_type).bits


def vector_length(data_type: Any) -> int:
    """Consecutive channels in a vector: 4 or 32 for INT8x4 and INT8x32, else 1."""
    return layouts.vector_length(_known(data_type))


def vectorized(data_type: Any, length: int) -> cudnnDataType_t:
    """The enumerator of vectors of `length` elements: ``vectorized("int8", 32)`` is INT8x32."""
    form = _format(data_type)
    for candidate, other in _FORMATS.items():
        same = other.dtype == form.dtype and other.bits == form.bits
        if same and layouts.vector_length(candidate) == length:
            return candidate
    raise TypeError(f"cuDNN has no vectors of {length} elements of {data_type_name(data_type)}")


def storage_bytes(data_type: Any, count: int) -> int:
    """Bytes of `count` adjacent elements; for packed types a started last byte counts fully."""
    return (count * element_bits(data_type) + 7) // 8


def host_scalar_type(data_type: Any) -> type[ctypes.c_double] | type[ctypes.c_float]:
    """The C type of alpha and beta for tensors of this type: double for DOUBLE, else float."""
    is_double = as_data_type(data_type) == cudnnDataType_t.CUDNN_DATA_DOUBLE
    return ctypes.c_double if is_double else ctypes.c_float


def host_scalar(value: Any, data_type: Any) -> ctypes.c_double | ctypes.c_float:
    """`value` as the C variable whose address cuDNN takes for alpha or beta.

    - `value`: a Python or NumPy number, or a ctypes scalar of the right type, which is returned
      unchanged.
    - `data_type`: the tensors' data type, in a form that `as_data_type` accepts.

    Raises TypeError if `value` is no real number, or a ctypes scalar of the other type: cuDNN would
    read its bytes as something else. Raises ValueError if `value` is finite, but too large for a C
    float.
    """
    ctype = host_scalar_type(data_type)
    wanted = ctype.__name__
    name = data_type_name(data_type)
    if isinstance(value, (ctypes.c_double, ctypes.c_float)):
        if not isinstance(value, ctype):
            raise TypeError(
                f"alpha and beta for {name} tensors are {wanted}, got a {type(value).__name__}; "
                f"pass the number itself"
            )
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not _is_real(value):
        raise TypeError(
            f"alpha and beta are real numbers ({wanted} for {name} tensors), "
            f"got {value!r} ({type(value).__name__})"
        )
    number = float(value)
    scalar = ctype(number)
    if math.isinf(scalar.value) and math.isfinite(number):
        raise ValueError(f"{number} is too large for {wanted}, the type of alpha and beta")
    return scalar


def _is_real(value: Any) -> bool:
    # ml_dtypes' scalars are NumPy scalars, but not registered with the abstract number classes.
    return isinstance(value, numbers.Real) or (
        isinstance(value, np.generic)
        and np.dtype(type(value)) in _BY_DTYPE
        and value.dtype.kind != "c"
    )
