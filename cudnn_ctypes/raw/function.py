"""A C function as a Python function: bound on its first call, its status checked in one place."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Protocol, cast

from ..errors import CudnnError
from . import guards, library, log, status
from .converters import converter
from .ctypes_support import CudnnEnum
from .vocabulary import ParameterType, as_parameter_type

__all__ = ["Function", "Parameter", "function", "intercept"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a C function."""

    name: str
    type: ParameterType

    @property
    def direction(self) -> str:
        """ "in", "out" or "in/out"."""
        return self.type.direction

    @property
    def length(self) -> str | int | None:
        """Length of an array: a number, or an expression of other parameters' names."""
        return self.type.length

    @property
    def changes_descriptor(self) -> bool:
        """Whether the call may set or destroy the descriptor that is passed here."""
        return self.type.changes_descriptor

    @property
    def c_declaration(self) -> str:
        """The parameter as C writes it."""
        base = self.type.spelling or _c_type(self.type.base)
        const = "const " if self.type.is_const else ""
        if self.type.kind == "value":
            return _declared(f"{const}{base}", self.name)
        if self.type.kind == "array" or (self.type.kind == "device" and self.type.base):
            return _declared(f"{const}{base}", f"{self.name}[]")
        return _declared(f"{const}{base}", f"*{self.name}")


class Function(Protocol):
    """What ``raw.cudnnX`` is: a function with facts about its C prototype."""

    __name__: str
    header: str
    since: str
    deprecated: bool
    parameters: tuple[Parameter, ...]
    prototype: str
    unchecked: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


def function(
    header: str, *, since: str, deprecated: bool
) -> Callable[[Callable[..., Any]], Function]:
    """Make a C function of an annotated stub, whose name and parameter names are C's.

    Calling it raises `CudnnError` on every status but success and returns the status;
    ``.unchecked`` returns the status as C does. A function that returns no status behaves as in C.
    """

    def decorate(stub: Callable[..., Any]) -> Function:
        binding = _Binding(cast(FunctionType, stub), header, since, deprecated)
        return cast(Function, binding.checked)

    return decorate


class _Binding:
    """The C side of one function: what its two Python functions call, and its facts."""

    def __init__(self, stub: FunctionType, header: str, since: str, deprecated: bool) -> None:
        self.stub = stub
        self.name = stub.__name__
        self.header = header
        self.since = since
        self.deprecated = deprecated
        annotations = dict(stub.__annotations__)
        self.result_type = annotations.pop("return")
        self.parameters = tuple(
            Parameter(name, as_parameter_type(annotation))
            for name, annotation in annotations.items()
        )
        declared = ", ".join(p.c_declaration for p in self.parameters) or "void"
        self.prototype = _declared(_c_type(self.result_type), f"{self.name}({declared})")
        names = tuple(annotations)
        returns_status = _c_type(self.result_type) == "cudnnStatus_t"
        make = _checked_template(len(names)) if returns_status else _plain_template(len(names))
        checked, unchecked, self._set_native = make(self._bind_and_call, self._refuse, self._fail)
        self.checked = self._dress(checked, names)
        self.checked.unchecked = self._dress(unchecked, names)
        self._interceptor: Callable[..., Any] | None = None
        _bindings[self.name] = self

    def _dress(self, python_function: Any, names: tuple[str, ...]) -> Any:
        code = python_function.__code__
        local_names = names + code.co_varnames[len(names) :]
        python_function.__code__ = code.replace(co_name=self.name, co_varnames=local_names)
        python_function.__name__ = python_function.__qualname__ = self.name
        python_function.__module__ = "cudnn_ctypes.raw"
        python_function.__annotations__ = self.stub.__annotations__
        python_function.header = self.header
        python_function.since = self.since
        python_function.deprecated = self.deprecated
        python_function.parameters = self.parameters
        python_function.prototype = self.prototype
        return python_function

    @functools.cached_property
    def argtypes(self) -> list[Any]:
        return [converter(p.name, p.type) for p in self.parameters]

    # --- calling -------------------------------------------------------------------------------

    @functools.cached_property
    def native(self) -> Any:
        """The C function, typed. Raises `SymbolNotFoundError` if the library lacks it."""
        symbol = library.load().symbol(self.name, since=self.since, header=self.header)
        symbol.argtypes = self.argtypes
        result = self.result_type
        is_enum = isinstance(result, type) and issubclass(result, CudnnEnum)
        symbol.restype = ctypes.c_int if is_enum else result
        return symbol

    @functools.cached_property
    def c_callee(self) -> Callable[..., Any]:
        """The C function behind its guard."""
        return self.guarded(self.native)

    def guarded(self, callee: Callable[..., Any]) -> Callable[..., Any]:
        """`callee`, which stands for the C function, behind the checks that C leaves out."""
        return guards.guarded(self.name, self.parameters, callee)

    def _bind_and_call(self, *args: Any) -> Any:
        with _lock:  # an interceptor that is set now must not be lost
            callee = self._interceptor or self.c_callee
            self._set_native(callee)
        return callee(*args)

    def _refuse(self, error: ctypes.ArgumentError, args: tuple[Any, ...]) -> None:
        """Explain an argument that ctypes refused: raises what the converter raised, by name."""
        for position, (parameter, argtype) in enumerate(
            zip(self.parameters, self.argtypes, strict=True)
        ):
            try:
                argtype.from_param(args[position])
            except (TypeError, ValueError) as reason:
                text = self._refusal(position, parameter, args, str(reason))
                cls = TypeError if isinstance(reason, TypeError) else type(reason)
                raise cls(text) from None
        raise error

    def _refusal(
        self, position: int, parameter: Parameter, args: tuple[Any, ...], reason: str
    ) -> str:
        value = args[position]
        if reason.startswith("expected LP_") or "instance instead of" in reason:
            reason = f"expected {_expected(parameter)}, got {value!r} ({type(value).__name__})"
        text = (
            f"{self.name}() argument {parameter.name!r} ({position + 1} of {len(args)}): {reason}"
        )
        for other, argtype in enumerate(self.argtypes):
            if other == position:
                continue
            if self._accepts(argtype, value) and self._accepts(
                self.argtypes[position], args[other]
            ):
                swapped = self.parameters[other].name
                return f"{text}; are {parameter.name!r} and {swapped!r} swapped?"
        return text

    @staticmethod
    def _accepts(argtype: Any, value: Any) -> bool:
        try:
            argtype.from_param(value)
        except Exception:
            return False
        return not isinstance(value, int) or isinstance(value, CudnnEnum)

    def error(self, code: int, args: tuple[Any, ...]) -> CudnnError:
        """The exception for a call with `args` that returned the status `code`."""
        return status.error(self.name, code, zip(self.parameters, args, strict=True))

    def _fail(self, code: int, args: tuple[Any, ...]) -> None:
        raise self.error(code, args)

    def intercept(self, interceptor: Callable[..., Any] | None) -> None:
        (watched.discard if interceptor is None else watched.add)(self.name)
        self._interceptor = interceptor
        self._set_native(self._bind_and_call)


watched: set[str] = set()
"""C names of the functions of which somebody must see each call."""

_bindings: dict[str, _Binding] = {}
_lock = threading.RLock()


def binding(name: str) -> _Binding:
    """The C side of the function `name`."""
    return _bindings[name]


def intercept(name: str, interceptor: Callable[..., Any] | None) -> None:
    """Send calls of the C function `name` to `interceptor`; None sends them to cuDNN again.

    It receives the arguments as the caller wrote them and returns the status. The reference device
    carries out calls this way.
    """
    with _lock:
        _bindings[name].intercept(interceptor)


_C_NAMES = {
    None: "void",
    ctypes.c_int: "int",
    ctypes.c_uint: "unsigned int",
    ctypes.c_int64: "int64_t",
    ctypes.c_size_t: "size_t",
    ctypes.c_float: "float",
    ctypes.c_double: "double",
    ctypes.c_char: "char",
    ctypes.c_char_p: "const char *",
    ctypes.c_void_p: "void *",
}


def _declared(base: str, declarator: str) -> str:
    return f"{base}{declarator}" if base.endswith("*") else f"{base} {declarator}"


def _c_type(base: Any) -> str:
    return _C_NAMES.get(base) or str(base.__name__)


def _expected(parameter: Parameter) -> str:
    base = _c_type(parameter.type.base)
    match parameter.type.kind:
        case "pointer":
            return f"a pointer to {base}: the object itself or byref(...)"
        case "array":
            return f"an array of {base}"
        case _:
            return f"a {base}"


# --- the Python functions --------------------------------------------------------------------
# One pair of functions per number of parameters is compiled; each C function gets a copy with its
# own parameter names. A named parameter list is as fast as *args and gives keywords, arity errors
# and signatures.

_CHECKED = """
def make(native, refuse, fail):
    def checked({args}):
        if logged: forget()
        try:
            code = native({args})
        except ArgumentError as error:
            refuse(error, ({args},))
        if code:
            fail(code, ({args},))
        return SUCCESS
    def unchecked({args}):
        if logged: forget()
        try:
            return Status(native({args}))
        except ArgumentError as error:
            refuse(error, ({args},))
    def set_native(callee):
        nonlocal native
        native = callee
    return checked, unchecked, set_native
"""

_PLAIN = """
def make(native, refuse, fail):
    def plain({args}):
        try:
            return native({args})
        except ArgumentError as error:
            refuse(error, ({args},))
    def same({args}):
        return plain({args})
    def set_native(callee):
        nonlocal native
        native = callee
    return plain, same, set_native
"""


def _template(source: str, count: int) -> Any:
    from .enums import cudnnStatus_t

    args = ", ".join(f"a{i}" for i in range(count))
    scope: dict[str, Any] = {
        "ArgumentError": ctypes.ArgumentError,
        "Status": cudnnStatus_t,
        "SUCCESS": cudnnStatus_t.CUDNN_STATUS_SUCCESS,
        "logged": log.logged,
        "forget": log.forget,
    }
    exec(source.replace("({args},)", f"({args}{',' if count else ''})").format(args=args), scope)
    return scope["make"]


@functools.cache
def _checked_template(count: int) -> Any:
    return _template(_CHECKED, count)


@functools.cache
def _plain_template(count: int) -> Any:
    return _template(_PLAIN, count)
