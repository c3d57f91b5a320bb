"""The C signatures of the functions that compiled programs call, read from their declarations."""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ... import raw
from ...raw.ctypes_support import CudnnEnum
from ...raw.function import binding
from ...raw.parameter import Parameter
from .. import cublas, cudart
from ..compat import v7
from ..compat.v7.old_function import functions
from ..cublas.arguments import C_INTEGERS
from .kernels import LAUNCH, LAUNCH_TYPES, MISSING, called_missing, launched

__all__ = ["Signature", "old_name", "signatures"]

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

    Attributes
    ----------
    function : callable
        With the parameters of C, by the same names.
    parameters : tuple
        Each is a `Parameter` of a declaration, or a name.
    """

    name: str
    function: Callable[..., Any]
    result: Any
    types: tuple[Any, ...]
    parameters: tuple[Parameter | str, ...]

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
    """All functions, by name: cuDNN's, those that cuDNN 9 dropped, cuBLAS's and the runtime's."""
    launch = Signature(LAUNCH, launched, ctypes.c_int, LAUNCH_TYPES, ("",) * len(LAUNCH_TYPES))
    missing = Signature(MISSING, called_missing, None, (ctypes.c_void_p,), ("name",))
    found = (*_cudnn(), *_old(), *_runtime(), *_cublas(), launch, missing)
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


# Parameters of these names are C's int; other whole numbers of the CUDA runtime are a size_t.
_INTS = ("value", "device", "peerDevice", "flags", "kind", "error", "attr", "priority", "advice")

_TEXTS = ("cudaGetErrorName", "cudaGetErrorString", "cublasGetStatusName", "cublasGetStatusString")


def _runtime() -> Iterator[Signature]:
    for name, function, parameters in _functions(cudart, "cuda"):
        types = tuple(
            ctypes.c_void_p
            if each.annotation != "int"
            else ctypes.c_int
            if each.name in _INTS
            else ctypes.c_size_t
            for each in parameters
        )
        yield _signature(name, function, types, parameters)
        if name == "cudaGetDeviceProperties":
            yield _signature(f"{name}_v2", function, types, parameters)


def _cublas() -> Iterator[Signature]:
    for name, function, parameters in _functions(cublas, "cublas"):
        types = tuple(
            ctypes.c_int
            if each.annotation == "int"
            else C_INTEGERS.get(each.name, ctypes.c_void_p)
            if each.annotation is each.empty
            else ctypes.c_void_p
            for each in parameters
        )
        yield _signature(name, function, types, parameters)
        yield _signature(f"{name}_v2", function, types, parameters)


_Parameters = tuple[inspect.Parameter, ...]


def _functions(module: Any, prefix: str) -> Iterator[tuple[str, Any, _Parameters]]:
    for name in module.__all__:
        function = getattr(module, name)
        if name.startswith(prefix) and callable(function) and not isinstance(function, type):
            yield name, function, tuple(inspect.signature(function).parameters.values())


def _signature(
    name: str, function: Any, types: tuple[Any, ...], parameters: _Parameters
) -> Signature:
    result = ctypes.c_void_p if name in _TEXTS else ctypes.c_int
    return Signature(name, function, result, types, tuple(each.name for each in parameters))
