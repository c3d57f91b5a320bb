"""Converters for the arguments of computing functions, by name: cuBLAS uses the same names."""

from __future__ import annotations

import ctypes
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ...dtypes import as_data_type
from ...raw.memory import memory_pointer
from ...raw.typed_memory import typed
from ..cudart.function import LONG, MEMORY, Int, Kind, enum_kind
from ..cudart.memory import host_address
from .handles import (
    CublasFunction,
    Handle,
    State,
    cublasComputeType_t,
    cublasGemmAlgo_t,
    cublasOperation_t,
    cublasStatus_t,
    cudaDataType_t,
    fail,
    gpu_call,
)

_KINDS: dict[str, Any] = {
    "handle": Handle,
    **dict.fromkeys(["m", "n", "k", "lda", "ldb", "ldc", "incx", "incy", "batchCount"], Int),
    **dict.fromkeys(["strideA", "strideB", "strideC"], Annotated[int, LONG]),
    **dict.fromkeys(["transa", "transb", "trans"], Annotated[int, enum_kind(cublasOperation_t)]),
    **dict.fromkeys(["Atype", "Btype", "Ctype"], Annotated[int, enum_kind(cudaDataType_t)]),
    "computeType": Annotated[int, Kind(ctypes.c_int, lambda *given: _take_compute_type(*given))],
    "algo": Annotated[int, enum_kind(cublasGemmAlgo_t)],
}
"""The kinds of parameters by name; others are scalars and memory, whose type others tell."""

_SCALARS = ("alpha", "beta", "result")


class Invalid(Exception):
    """An argument that cuBLAS refuses with INVALID_VALUE."""


@dataclass
class Scalar:
    """A number in memory of the host or, by the handle's pointer mode, of the device."""

    address: int
    on_device: bool
    dtype: np.dtype[Any]
    name: str
    keeper: Any = None

    def _memory(self, use: Any) -> NDArray[Any]:
        if self.on_device:
            return Elements(self.dtype).strided(self.address, (), (), self.name, use)
        memory: Any = (ctypes.c_char * self.dtype.itemsize).from_address(self.address)
        return np.ndarray((), self.dtype, memory)

    @property
    def value(self) -> Any:
        """The number."""
        return self._memory("read")[()]

    @value.setter
    def value(self, value: Any) -> None:
        self._memory("write")[...] = value


@dataclass(frozen=True)
class Elements:
    """A data type of elements, and views of the reference device's memory as arrays of it."""

    dtype: np.dtype[Any]

    def strided(
        self, address: int, shape: tuple[int, ...], steps: tuple[int, ...], name: str, use: Any
    ) -> NDArray[Any]:
        """A view of memory with strides in elements; its whole range is checked."""
        from cudnn_ctypes.reference.device.memory import at

        return at(address, as_data_type(self.dtype), shape, steps, name, use)

    def matrix(
        self, address: int, rows: int, columns: int, ld: int, name: str, use: Any = "read"
    ) -> NDArray[Any]:
        """A view of a column-major matrix; its columns begin `ld` elements apart."""
        if ld < max(1, rows):
            raise Invalid(f"ld{name.lower()} is {ld}, and a column of {name} has {rows} elements")
        return self.strided(address, (rows, columns), (1, ld), name, use)

    def vector(self, address: int, n: int, step: int, name: str, use: Any = "read") -> NDArray[Any]:
        """A view of a vector; with a negative step it begins at the end, as in BLAS."""
        if step == 0:
            raise Invalid(f"inc{name} is 0")
        first = address - min(step, 0) * (n - 1) * self.dtype.itemsize
        return self.strided(first, (n,), (step,), name, use)


Body = Callable[[Elements, Any], None]

_names: dict[Body, list[str]] = {}


def taking(names: str) -> Callable[[Body], Body]:
    """Give a NumPy implementation the names of C's parameters.

    It receives the elements' type and a namespace of C's arguments: numbers, enums, addresses, and
    a `Scalar` for each of alpha, beta and result.
    """

    def named(body: Body) -> Body:
        _names[body] = names.split()
        return body

    return named


def computing(
    name: str, body: Body, dtype: str | Callable[[dict[str, Any]], str], result: str = ""
) -> CublasFunction[...]:
    """The C function `name`, implemented in NumPy by `body`.

    - `dtype`: the type of the elements, alpha and beta; or a function of the arguments that returns
      it.
    - `result`: the type of `result`. Default: the elements' type.
    """
    names, kind = _names[body], inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(each, kind, annotation=_KINDS.get(each, Any)) for each in names]
    public = inspect.Signature(parameters, return_annotation=cublasStatus_t)

    def call(*given: Any) -> None:
        arguments = dict(zip(names, given, strict=True))
        state = arguments[names[0]]
        elements = Elements(np.dtype(dtype(arguments) if callable(dtype) else dtype))
        types = {"result": np.dtype(result) if result else elements.dtype}
        for key in "ABC":
            if f"{key}type" in arguments:
                types[key] = np.dtype(DTYPES.get(arguments[f"{key}type"], elements.dtype))
        for key in names[1:]:
            if key not in _KINDS:
                read = partial(_scalar, state) if key in _SCALARS else _memory
                arguments[key] = read(name, types.get(key, elements.dtype), key, arguments[key])
        if state.on_host:
            _in_numpy(name, lambda: body(elements, SimpleNamespace(**arguments)))
        else:
            gpu_call(name, *(_c_value(key, value) for key, value in arguments.items()))

    call.__signature__ = public  # type: ignore[attr-defined]
    call.__name__ = call.__qualname__ = name
    call.__module__ = "cudnn_ctypes.cublas"
    call.__doc__ = body.__doc__
    return CublasFunction(call)


def _in_numpy(name: str, compute: Callable[[], None]) -> None:
    from cudnn_ctypes.reference.device.registry import Refused

    try:
        with np.errstate(all="ignore"):  # infinities are results, as on a GPU
            compute()
    except Invalid as error:
        fail(name, cublasStatus_t.CUBLAS_STATUS_INVALID_VALUE, str(error))
    except Refused as error:
        fail(name, cublasStatus_t.CUBLAS_STATUS_EXECUTION_FAILED, error.reason)


def _memory(function: str, dtype: np.dtype[Any], name: str, value: Any) -> int:
    try:
        address = memory_pointer(value, name) or 0
    except (TypeError, ValueError) as error:
        raise type(error)(f"{function}: {error}") from None
    known = typed(value)
    if known is not None and known.data_type not in (dtype.name, "bytes"):
        raise TypeError(
            f"{function}: {name}: expected {dtype.name}, got {known.data_type}; pass the address "
            f"to have it read as {dtype.name} all the same"
        )
    return address


def _c_value(name: str, value: Any) -> Any:
    if isinstance(value, (State, Scalar)):
        return ctypes.c_void_p(value.address)
    (kind,) = getattr(_KINDS.get(name), "__metadata__", (MEMORY,))
    return kind.ctype(value)


def _take_compute_type(function: str, name: str, value: Any) -> cublasComputeType_t:
    """A compute type; programs for CUDA 10 pass a cudaDataType_t."""
    known = COMPUTE_TYPES.get(value) if isinstance(value, cudaDataType_t) else None
    found: cublasComputeType_t
    found = known or enum_kind(cublasComputeType_t).take(function, name, value)
    return found


COMPUTE_TYPES = {
    cudaDataType_t.CUDA_R_16F: cublasComputeType_t.CUBLAS_COMPUTE_16F,
    cudaDataType_t.CUDA_R_32F: cublasComputeType_t.CUBLAS_COMPUTE_32F,
    cudaDataType_t.CUDA_R_64F: cublasComputeType_t.CUBLAS_COMPUTE_64F,
}
"""The compute type of ``cublasGemmEx``, by the type of alpha and beta."""

DTYPES = {
    cudaDataType_t.CUDA_R_16F: "float16",
    cudaDataType_t.CUDA_R_16BF: "bfloat16",
    cudaDataType_t.CUDA_R_32F: "float32",
    cudaDataType_t.CUDA_R_64F: "float64",
}
"""The type of the elements of a matrix of ``cublasGemmEx``, by Atype, Btype or Ctype."""


def _scalar(state: State, function: str, dtype: np.dtype[Any], name: str, value: Any) -> Scalar:
    """The argument alpha, beta or result: an address or, for alpha and beta, also a number."""
    if state.scalars_on_device:
        return Scalar(memory_pointer(value, f"{function}: {name}") or 0, True, dtype, name)
    if isinstance(value, (float, int, np.floating, np.integer)):
        if name == "result" or isinstance(value, bool):
            raise TypeError(f"{function}: {name}: expected byref(...), got {value!r}")
        with np.errstate(over="ignore"):
            number = np.array(value, dtype)
        if math.isfinite(value) and not np.isfinite(number):
            raise ValueError(f"{function}: {name}: {value} is too large for {dtype}")
        return Scalar(number.ctypes.data, False, dtype, name, number)
    _check_type(function, dtype, name, value)
    use = "write" if name == "result" else "read"
    address = host_address(function, name, value, dtype.itemsize, use)  # type: ignore[arg-type]
    if not address:
        fail(function, cublasStatus_t.CUBLAS_STATUS_INVALID_VALUE, f"{name} is NULL")
    return Scalar(address, False, dtype, name, value)


def _check_type(function: str, dtype: np.dtype[Any], name: str, value: Any) -> None:
    """Refuse a variable of another type, whose bytes cuBLAS would read as `dtype`."""
    variable = getattr(value, "_obj", value)  # byref(...)
    ctype = type(variable) if isinstance(variable, ctypes._SimpleCData) else None
    if ctype in (ctypes.c_float, ctypes.c_double, ctypes.c_int):
        found: np.dtype[Any] = np.dtype(ctype)
    elif isinstance(variable, (np.ndarray, np.generic)):
        found = variable.dtype
    else:
        return
    if found != dtype:
        raise TypeError(f"{function}: {name}: expected a {dtype}, got a {found}")
