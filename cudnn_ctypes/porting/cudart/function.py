"""C functions of the CUDA runtime: how they are declared, checked and carried out."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

from ...errors import NoDeviceError
from ...raw.ctypes_support import OpaquePointer
from ...runtime.cuda import CudaError
from .sides import side
from .types import MEANINGS, cudaError_t

__all__ = ["cudaGetErrorName", "cudaGetErrorString", "cudaGetLastError", "cudaPeekAtLastError"]


_P = ParamSpec("_P")
_S = TypeVar("_S")


class CheckedFunction(Generic[_P, _S]):
    """A C function. Calling it raises `CudaError` on every status but success.

    It returns the status of success.

    Parameters
    ----------
    body : callable
        The implementation, which raises `CudaError`.
    """

    __name__: str

    success: ClassVar[Any]
    no_device: ClassVar[Any]
    """The status on a machine without a GPU."""

    def __init__(self, body: Callable[_P, None]) -> None:
        self._body = body
        functools.update_wrapper(self, body)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _S:
        try:
            self._body(*args, **kwargs)
        except CudaError as error:
            self._failed(error.code)
            raise
        status: _S = self.success
        return status

    def unchecked(self, *args: _P.args, **kwargs: _P.kwargs) -> _S:
        """The same function, which returns the status as C does instead of raising."""
        try:
            return self(*args, **kwargs)
        except CudaError as error:
            code: _S = error.code
        except NoDeviceError:
            code = self.no_device
            self._failed(code)
        return code

    def _failed(self, code: Any) -> None:
        """Remember the status of a failed call."""

    def __get__(self, instance: object, owner: object = None) -> CheckedFunction[_P, _S]:
        """The function itself, also as a class attribute; ``help`` shows objects with this method
        as functions."""
        return self

    def __repr__(self) -> str:
        return f"<C function {self.__name__}>"

    def __reduce__(self) -> str:
        return self.__name__


class _Errors(threading.local):
    last: cudaError_t = cudaError_t.cudaSuccess
    """The last error on the reference device or before a GPU was found; CUDA keeps a GPU's."""


_errors = _Errors()


class RuntimeFunction(CheckedFunction[_P, cudaError_t]):
    """A function of the CUDA runtime."""

    success = cudaError_t.cudaSuccess
    no_device = cudaError_t.cudaErrorNoDevice

    def _failed(self, code: cudaError_t) -> None:
        _errors.last = code


def runtime_function(body: Callable[_P, None]) -> RuntimeFunction[_P]:
    """Make a C function of a Python function that raises `CudaError`."""
    return RuntimeFunction(body)


def cudaGetLastError() -> cudaError_t:
    """Return the last error of this thread, and reset it."""
    code: cudaError_t = side().last_error(_errors.last, reset=True)
    _errors.last = cudaError_t.cudaSuccess
    return code


def cudaPeekAtLastError() -> cudaError_t:
    """Return the last error of this thread without resetting it."""
    code: cudaError_t = side().last_error(_errors.last, reset=False)
    return code


def cudaGetErrorName(error: int) -> str:
    """The name of a status: "cudaErrorInvalidValue"."""
    code = cudaError_t(error)
    return code.name if code.known else "unrecognized error code"


def cudaGetErrorString(error: int) -> str:
    """The meaning of a status in a few words."""
    code = cudaError_t(error)
    return MEANINGS.get(code, "unrecognized error code")


# -- out parameters -------------------------------------------------------------------------------


class CheckedAddress(ctypes.c_void_p):
    """A pointer of a compiled program, whose compiler has checked its type."""


def place(target: Any, ctype: Any, name: str) -> int:
    """The address of the variable of type `ctype` that the out parameter `name` fills.

    Parameters
    ----------
    target : object
        The variable, ``byref`` of it, or a pointer to it. Any kind of pointer is a ``void *``.

    Raises
    ------
    TypeError
        If `target` is something else.
    """
    if isinstance(target, CheckedAddress):
        return target.value or 0
    variable = getattr(target, "_obj", target)  # byref(...)
    by_reference = variable is not target
    points = isinstance(variable, ctypes._Pointer) and not isinstance(variable, OpaquePointer)
    if points and not by_reference and variable and _holds(type(variable)._type_, ctype):
        variable = variable.contents  # pointer(x)
    kind: Any = type(variable)
    while issubclass(kind, ctypes.Array):
        kind = kind._type_
    if not (_holds(kind, ctype) or (by_reference and issubclass(kind, ctypes.Structure))):
        raise TypeError(
            f"{name}: expected a {ctype.__name__} variable or byref(...) of one, got {target!r}"
        )
    if by_reference:  # byref may have an offset
        return ctypes.cast(target, ctypes.c_void_p).value or 0
    return ctypes.addressof(variable)


def _holds(kind: Any, ctype: Any) -> bool:
    """Whether a variable of the type `kind` can store a value of C's type `ctype`."""
    if issubclass(kind, ctype):
        return True
    is_pointer = issubclass(kind, ctypes._Pointer) and not issubclass(kind, OpaquePointer)
    return ctype is ctypes.c_void_p and is_pointer


def store(target: Any, value: int | float, ctype: Any, name: str) -> None:
    """Fill the out parameter `name`; see `place`."""
    address = place(target, ctype, name)
    storage = ctypes.c_void_p if issubclass(ctype, OpaquePointer) else ctype
    storage.from_address(address).value = value
