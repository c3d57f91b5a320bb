"""C functions of the CUDA runtime: how they are declared, checked and carried out.

The annotation of a parameter says its C type, and what makes C's value of Python's.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, ParamSpec, TypeVar

from ...arguments import integer
from ...errors import NoDeviceError
from ...raw.ctypes_support import CudnnEnum, OpaquePointer
from ...raw.types import cudaStream_t
from ...runtime.cuda import CudaError
from ...runtime.stream import PER_THREAD_DEFAULT, as_stream_pointer
from .sides import gpu_call, side
from .types import MEANINGS, cudaError_t, cudaEvent_t

__all__ = ["cudaGetErrorName", "cudaGetErrorString", "cudaGetLastError", "cudaPeekAtLastError"]


# -- parameters -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """The kind of a parameter.

    - `ctype`: that passes it in C.
    - `take`: checks and converts an argument; called with the names of function and parameter
      before it.
    - `fills`: of the variable that an out parameter fills.
    - `handle`: of a handle that is passed.
    """

    ctype: Any
    take: Callable[[str, str, Any], Any]
    fills: Any = None
    handle: Any = None


def _int_kind(ctype: Any) -> Kind:
    bits = 8 * ctypes.sizeof(ctype)

    def take(function: str, name: str, value: Any) -> int:
        number = integer(f"{function}: {name}", value)
        if not -(1 << bits - 1) <= number < 1 << bits - 1:
            raise ValueError(f"{function}: {name}: {number} does not fit into {bits} bits")
        return number

    return Kind(ctype, take)


def _take_size(function: str, name: str, value: Any) -> int:
    number = integer(f"{function}: {name}", value)
    if not 0 <= number < 1 << 63:
        raise ValueError(f"{function}: {name}: expected a number of bytes, got {number}")
    return number


def enum_kind(enum: Any) -> Kind:
    """The kind of a parameter that takes members of an enum, or numbers."""

    def take(function: str, name: str, value: Any) -> Any:
        is_other_enum = isinstance(value, CudnnEnum) and not isinstance(value, enum)
        if isinstance(value, bool) or not isinstance(value, int) or is_other_enum:
            raise TypeError(f"{function}: {name}: expected a {enum.__name__}, got {value!r}")
        return enum(int(value))

    return Kind(ctypes.c_int, take)


def _take_stream(function: str, name: str, stream: Any) -> int:
    """The address of a stream: None, an address, or any library's stream."""
    address = as_stream_pointer(stream)
    made_here = isinstance(stream, (cudaStream_t, int)) and address > PER_THREAD_DEFAULT
    if made_here:
        side().check_stream(function, name, address)
    return address


def _take_event(function: str, name: str, event: Any) -> int:
    if not isinstance(event, cudaEvent_t):
        raise TypeError(f"{function}: {name}: expected a cudaEvent_t, got {event!r}")
    side().check_event(function, name, event)
    return event.value or 0


def out(ctype: Any) -> Kind:
    """The kind of an out parameter: a variable of this type, or ``byref`` of one."""

    def take(function: str, name: str, target: Any) -> Any:
        place(target, ctype, f"{function}: {name}")  # nothing is done for a wrong argument
        return target

    return Kind(ctypes.c_void_p, take, fills=ctype)


MEMORY = Kind(ctypes.c_void_p, lambda function, name, value: value)
"""Of parameters that have no other kind: an argument goes to the body as it is."""

INT, LONG = _int_kind(ctypes.c_int), _int_kind(ctypes.c_longlong)

Int = Annotated[int, INT]
Size = Annotated[int, Kind(ctypes.c_size_t, _take_size)]
Stream = Annotated[Any, Kind(ctypes.c_void_p, _take_stream, handle=cudaStream_t)]
Event = Annotated[Any, Kind(ctypes.c_void_p, _take_event, handle=cudaEvent_t)]
OutInt = Annotated[Any, out(ctypes.c_int)]
OutSize = Annotated[Any, out(ctypes.c_size_t)]
OutFloat = Annotated[Any, out(ctypes.c_float)]
OutPointer = Annotated[Any, out(ctypes.c_void_p)]
OutStream = Annotated[Any, out(cudaStream_t)]
OutEvent = Annotated[Any, out(cudaEvent_t)]


# -- functions ------------------------------------------------------------------------------------


_P = ParamSpec("_P")
_S = TypeVar("_S")


class CheckedFunction(Generic[_P, _S]):
    """A C function. Calling it raises `CudaError` on every status but success.

    It returns the status of success.

    - `body`: the implementation, which raises `CudaError`. It gets what the parameters' kinds take.
    """

    __name__: str

    success: ClassVar[Any]
    no_device: ClassVar[Any]
    """The status on a machine without a GPU."""

    def __init__(self, body: Callable[_P, None]) -> None:
        self._body: Callable[..., None] = body
        functools.update_wrapper(self, body)

    @functools.cached_property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of the parameters, by name, in C's order."""
        return {name: _kind(each.annotation) for name, each in self._signature.parameters.items()}

    @functools.cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self._body, eval_str=True)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _S:
        try:
            bound = self._signature.bind(*args, **kwargs)
            bound.apply_defaults()
            values = zip(self.kinds.items(), bound.arguments.values(), strict=True)
            self._carry_out([kind.take(self.__name__, name, v) for (name, kind), v in values])
        except CudaError as error:
            self._failed(error.code)
            raise
        status: _S = self.success
        return status

    def _carry_out(self, values: list[Any]) -> None:
        self._body(*values)

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


def _kind(annotation: Any) -> Kind:
    known = getattr(annotation, "__metadata__", ())
    return next((each for each in known if isinstance(each, Kind)), MEMORY)


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


class _ForwardedFunction(RuntimeFunction[_P]):
    """A function that is CUDA's own; its results go to the out parameters."""

    def _carry_out(self, values: list[Any]) -> None:
        pairs = list(zip(self.kinds.items(), values, strict=True))
        found = gpu_call(self.__name__, *(value for (_, each), value in pairs if not each.fills))
        results = iter(found if isinstance(found, tuple) else (found,))
        for (name, kind), target in pairs:
            if kind.fills:
                store(target, next(results), kind.fills, name)


def runtime_function(body: Callable[_P, None]) -> RuntimeFunction[_P]:
    """Make a C function of a Python function that raises `CudaError`."""
    return RuntimeFunction(body)


def forwarded(body: Callable[_P, None]) -> RuntimeFunction[_P]:
    """Make a C function that CUDA carries out; `body` has its parameters and its text."""
    return _ForwardedFunction(body)


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

    - `target`: the variable, ``byref`` of it, or a pointer to it. Any kind of pointer is a ``void
      *``.

    Raises TypeError if `target` is something else.
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


def store(target: Any, value: Any, ctype: Any, name: str) -> None:
    """Fill the out parameter `name`; see `place`."""
    address = place(target, ctype, name)
    storage = ctypes.c_void_p if issubclass(ctype, OpaquePointer) else ctype
    storage.from_address(address).value = value if ctype is ctypes.c_float else int(value)
