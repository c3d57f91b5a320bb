"""The C signatures of the functions that compiled programs call, read from their declarations."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ... import raw
from ...raw.ctypes_support import CudnnEnum
from ...raw.function import binding
from ...raw.parameter import Parameter
from .. import cublas, cudart
from ..compat import v7
from ..compat.v7.old_function import functions
from ..cudart.function import INT, MEMORY, CheckedFunction, Kind
from . import random
from .kernels import LAUNCH, MISSING, called_missing, launched

OLD_STATUS_VARIABLE = "CUDNN_CTYPES_OLD_STATUS"
"""Set for a program that was linked with a cuDNN before 9, whose statuses had other numbers."""

_NUMBERS: dict[Any, str] = {
    ctypes.c_int: "int",
    ctypes.c_uint: "unsigned",
    ctypes.c_long: "long",
    ctypes.c_ulong: "unsigned long",
    ctypes.c_float: "float",
    ctypes.c_double: "double",
    ctypes.c_void_p: "void *",
    None: "void",
}


@dataclass(frozen=True)
class Signature:
    """A C function: its name, the Python function that carries it out, and its C types.

    Enums are ints, and all that is an address is a ``void *``.

    - `function`: with the parameters of C, by the same names.
    - `parameters`: each is a `Parameter` of a declaration of cuDNN, or a `Kind`.
    """

    name: str
    function: Callable[..., Any]
    result: Any
    types: tuple[Any, ...]
    parameters: tuple[Parameter | Kind, ...]

    @property
    def c_definition(self) -> str:
        """The head of the function's definition in C, with parameters a0, a1, ..."""
        named = [f"{_NUMBERS[each]} a{i}" for i, each in enumerate(self.types)]
        return f"{_NUMBERS[self.result]} {self.name}({', '.join(named) or 'void'})"

    @property
    def c_type(self) -> str:
        """The type of a pointer to the function in C."""
        types = ", ".join(_NUMBERS[each] for each in self.types) or "void"
        return f"{_NUMBERS[self.result]} (*)({types})"


@functools.cache
def signatures() -> dict[str, Signature]:
    """All functions, by name: cuDNN's, those that cuDNN 9 dropped, the other libraries'."""
    kinds = tuple(launched.kinds.values())
    launch = Signature(LAUNCH, launched, ctypes.c_int, tuple(each.ctype for each in kinds), kinds)
    missing = Signature(MISSING, called_missing, None, (ctypes.c_void_p,), (MEMORY,))
    found = (*_cudnn(), *_old(), *_libraries(), launch, missing)
    return {each.name: each for each in found}


def _cudnn() -> Iterator[Signature]:
    for name, function in raw.FUNCTIONS.items():
        yield Signature(
            name,
            function,
            _passed(binding(name).result_type),
            tuple(_of_parameter(each) for each in function.parameters),
            function.parameters,
        )


def _old() -> Iterator[Signature]:
    for name in v7.__all__:
        for number, form in enumerate(functions[name].declared if name in functions else ()):
            types = tuple(_of_parameter(each) for each in form.parameters)
            yield Signature(old_name(name, number), form, ctypes.c_int, types, form.parameters)


def old_name(name: str, number: int) -> str:
    """The C symbol of a declaration of an old function: the last one has the function's name."""
    is_last = number == len(functions[name].declared) - 1 and name not in raw.FUNCTIONS
    return name if is_last else f"{name}_old{number}"


def _of_parameter(parameter: Parameter) -> Any:
    by_value = parameter.type.kind == "value"
    return _passed(parameter.type.base) if by_value else ctypes.c_void_p


def _passed(kind: Any) -> Any:
    """The C type that passes a value of an enum's, a number's, a handle's or a text's type."""
    if kind in _NUMBERS:
        return kind
    return ctypes.c_int if issubclass(kind, CudnnEnum) else ctypes.c_void_p


_TEXTS = ("cudaGetErrorName", "cudaGetErrorString", "cublasGetStatusName", "cublasGetStatusString")


def _libraries() -> Iterator[Signature]:
    """The functions of the CUDA runtime, cuBLAS and cuRAND."""
    for module in (cudart, cublas, random):
        for name in dir(module):
            function = getattr(module, name)
            if isinstance(function, CheckedFunction):
                yield from _named(name, function, tuple(function.kinds.values()))
    for name in ("cudaGetLastError", "cudaPeekAtLastError"):
        yield from _named(name, getattr(cudart, name), ())
    for name in _TEXTS[:2]:
        yield from _named(name, getattr(cudart, name), (INT,))


def _named(name: str, function: Any, kinds: tuple[Kind, ...]) -> Iterator[Signature]:
    """A function, and its newer name where there are two."""
    result = ctypes.c_void_p if name in _TEXTS else ctypes.c_int
    signature = Signature(name, function, result, tuple(each.ctype for each in kinds), kinds)
    yield signature
    if name.startswith("cublas") or name == "cudaGetDeviceProperties":
        yield replace(signature, name=f"{name}_v2")
