"""The Python functions that are compiled for a C function: guards, arguments, call, status.

ctypes converts each argument by a call of ``from_param``. These calls take longer than most C
functions here. So the compiled function checks the class of each argument, passes the usual classes
to C unconverted, and calls a converter for all others. It calls a C function without argtypes.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from ..errors import ClosedError
from . import log
from .arrays import array_classes
from .ctypes_support import CudnnEnum, OpaquePointer, storage_type
from .process import Bounded
from .refused_arguments import MISSING, too_few
from .values import INTEGER_RANGES

if TYPE_CHECKING:
    from .function import Binding
    from .parameter import Parameter

# The guards' lines replace the comments. Named parameters are as fast as *args, allow keywords and
# give arity errors.

_STATUS = """\
def {name}({names}):
    if _logged: _forget()
    try:
        {handles}
    except _ClosedError as _error:
        _explain(_error, {arguments})
    #before
    _call = _direct
    if _call is None:
        try:
            _code = _native({names})
        except _ArgumentError as _error:
            _explain(_error, {arguments})
    else:
        try:
            _code = _call({converted})
        except Exception as _error:
            _explain(_error, {arguments})
    #after
    if _code:
        return _failed(_code, {arguments})
    #success
    return _SUCCESS
"""

_PLAIN = """\
def {name}({names}):
    try:
        {handles}
    except _ClosedError as _error:
        _explain(_error, {arguments})
    #before
    try:
        return _native({names})
    except _ArgumentError as _error:
        _explain(_error, {arguments})
"""


# A caller may pass the owner of a handle or descriptor in its place. ctypes would also take the
# owner of an owner, whose handle the guards do not see.
_HANDLE = """\
_of_{0} = {0} if {0}.__class__ is _kind_{0} else _getattr({0}, '_as_parameter_', None)
        if _of_{0}.__class__ is not _kind_{0}: _checked(_of_{0}, {1!r})"""


def _checked(parameter: Any, argument: str) -> None:
    if hasattr(parameter, "_as_parameter_"):
        raise TypeError(
            f"{argument}: expected a handle or descriptor, or its owner, and this owner has an "
            "owner"
        )


def is_handle(parameter: Parameter) -> bool:
    """Whether the parameter is a handle or descriptor; ``_of_NAME`` is then the raw handle."""
    kind, base = parameter.type.kind, parameter.type.base
    return kind == "value" and isinstance(base, type) and issubclass(base, OpaquePointer)


def compiled(binding: Binding) -> tuple[CodeType, dict[str, Any]]:
    """The code that defines the Python function for a C function, and the names that it uses.

    The caller adds four more names: ``_native``, the C function or its interceptor; ``_direct``,
    the result of `without_argtypes` for it; and ``_failed`` and ``_refused``, whose results the
    function returns for a status other than success and for a refusal by a guard.
    """
    from . import guards
    from .enums import cudnnStatus_t

    guard = binding.guard
    names = "".join(f"{p.name}, " for p in binding.parameters)
    scope: dict[str, Any] = {}
    converted = ", ".join(
        _converted(p, argtype, guard.arguments, scope)
        for p, argtype in zip(binding.parameters, binding.argtypes, strict=True)
    )
    handles = [
        _HANDLE.format(p.name, f"{binding.name}() argument {p.name!r}")
        for p in binding.parameters
        if is_handle(p)
    ]
    template = _STATUS if binding.returns_status else _PLAIN
    source = template.format(
        name=binding.name,
        names=names,
        handles="\n        ".join(handles) or "pass",
        arguments=f"({names})",
        converted=converted,
    )
    # Of what is launched in a loop one test tells that one argument is forgotten.
    named = [parameter.name for parameter in binding.parameters]
    tested = named if binding.name.startswith("cudnnSet") else named[-1:]
    if tested:
        defaults = "".join(f"{n}=_MISSING, " if n in tested else f"{n}, " for n in named)
        lacks = " or ".join(f"{name} is _MISSING" for name in tested)
        head = f"def {binding.name}({defaults}):\n    if {lacks}: _too_few({names})"
        source = source.replace(f"def {binding.name}({names}):", head)
    code = compile(guards.inserted(source, guard, f"({names})"), f"<{binding.name}>", "exec")
    scope.update(
        guard.scope,
        _logged=log.logged,
        _forget=log.forget,
        _getattr=getattr,
        _checked=_checked,
        _ClosedError=ClosedError,
        _ArgumentError=ctypes.ArgumentError,
        _SUCCESS=cudnnStatus_t.CUDNN_STATUS_SUCCESS,
        _explain=binding.explain,
        _MISSING=MISSING,
        _too_few=functools.partial(too_few, binding),
    )
    return code, scope


_ANSWER = """\
def answer({given}):
    {variables}
    _code = {call}({arguments})
    if _code: _failed(_code)
    return {values}
"""


def answering(binding: Binding, call: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """A function of a C function's inputs, which returns a tuple of what C writes.

    Enums, numbers and addresses are Python's, arrays are tuples. `call` is an expression, with the
    names in `scope`: ``_failed`` is called with a status other than success.
    """
    given, variables, arguments, values = [], [], [], []
    scope = {"_byref": ctypes.byref, "_tuple": tuple, "_map": map, **scope}
    for p in binding.parameters:
        is_enum = isinstance(p.type.base, type) and issubclass(p.type.base, CudnnEnum)
        name, kind = p.name, p.type.kind if p.direction == "out" else ""
        scope[f"_kind_{name}"] = ctypes.c_int if is_enum else p.type.base
        scope[f"_enum_{name}"] = p.type.base
        if kind == "pointer":
            variables.append(f"{name} = _kind_{name}()")
            arguments.append(f"_byref({name})")
            values.append(f"_enum_{name}({name}.value)" if is_enum else f"{name}.value")
        elif kind == "array":
            variables.append(f"{name} = (_kind_{name} * ({p.length}))()")
            arguments.append(name)
            values.append(
                f"_tuple(_map(_enum_{name}, {name}))" if is_enum else f"_tuple({name}[:])"
            )
        else:
            given.append(name)
            is_wide = p.type.base in INTEGER_RANGES and p.type.base is not ctypes.c_int
            arguments.append(f"_kind_{name}({name})" if is_wide else name)
    source = _ANSWER.format(
        given=", ".join(given),
        variables="; ".join(variables),
        call=call,
        arguments=", ".join(arguments),
        values=f"({', '.join(values)},)",
    )
    return function_of(source, binding.name, scope)


@functools.lru_cache(maxsize=512)
def _code_of(source: str, name: str) -> CodeType:
    module = compile(source, f"<launch of {name}>", "exec")
    (code,) = (each for each in module.co_consts if isinstance(each, CodeType))
    return code


def function_of(source: str, name: str, scope: dict[str, Any]) -> FunctionType:
    """The only function in `source`, with `scope` as its global names.

    Tracebacks call its file the launch of `name`. Equal sources are compiled once.
    """
    return FunctionType(_code_of(source, name), scope)


def without_argtypes(native: Any) -> Any:
    """The same C function for converted arguments; None for an interceptor or wrapper."""
    has_own_types = getattr(native, "_argtypes_", None) is not None
    if not isinstance(native, _CFUNCTION) or has_own_types or native.errcheck is not None:
        return None
    direct = type(native)(ctypes.cast(native, ctypes.c_void_p).value)
    direct.restype = native.restype
    return direct


_CFUNCTION: Any = ctypes.CFUNCTYPE(None).__base__
_REFERENCE = type(ctypes.byref(ctypes.c_int()))


def _converted(
    parameter: Parameter, argtype: Any, by_guards: Mapping[str, str], scope: dict[str, Any]
) -> str:
    """The expression that C receives for a parameter; puts the names that it uses into `scope`."""
    name, base, kind = parameter.name, parameter.type.base, parameter.type.kind
    scope.update(_int=int, _byref=ctypes.byref, _Reference=_REFERENCE)
    scope[f"_convert_{name}"] = argtype.from_param
    if kind in ("value", "pointer"):
        scope[f"_kind_{name}"] = storage_type(base) if kind == "pointer" else base
    if name in by_guards:
        return by_guards[name]
    is_kind, convert = f"{name}.__class__ is _kind_{name}", f"_convert_{name}({name})"
    match kind:
        case "value" if is_handle(parameter):
            return f"_of_{name} if _of_{name}.__class__ is _kind_{name} else {convert}"
        case "value" if issubclass(base, CudnnEnum):
            return f"{name} if {is_kind} else {convert}"
        case "value" if base is ctypes.c_int:
            low, high = INTEGER_RANGES[base]
            is_int = f"{name}.__class__ is _int and {low} <= {name} <= {high}"
            return f"{name} if {is_int} else {convert}"
        case "value" if base in INTEGER_RANGES:
            # ctypes makes no such object of an int; looking one up takes a third of making it.
            scope[f"_wide_{name}"] = Bounded(argtype.from_param, most=256)
            return f"_wide_{name}[{name}] if {name}.__class__ is _int else {convert}"
        case "pointer":
            refers = f"{name}.__class__ is _Reference and {name}._obj.__class__ is _kind_{name}"
            return f"_byref({name}) if {is_kind} else {name} if {refers} else {convert}"
        case "array":
            scope[f"_arrays_{name}"] = array_classes(base)
            return f"{name} if {name}.__class__ in _arrays_{name} else {convert}"
        case "scalar":
            scope.update(_float=ctypes.c_float, _double=ctypes.c_double)
            is_real = f"{name}.__class__ is _float or {name}.__class__ is _double"
            is_reference = f"{name}.__class__ is _Reference"  # a guard has checked it
            return f"_byref({name}) if {is_real} else {name} if {is_reference} else {convert}"
        case _:
            return convert
