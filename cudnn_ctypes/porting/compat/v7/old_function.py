"""Functions of cuDNN 2 to 8: their parameters, arguments and calls."""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable, ItemsView
from typing import Any

from .... import raw
from ....errors import CudnnError, error_class
from ....raw import log, status
from ....raw.call_source import is_handle
from ....raw.converters import converter
from ....raw.ctypes_support import OpaquePointer, storage_type
from ....raw.gone import changed, find
from ....raw.parameter import Parameter
from ....raw.refused_arguments import explain
from ....raw.values import Converter
from .. import warn_once
from .declarations import Prototype, parse

_objects: dict[int, tuple[Any, Any]] = {}  # by address: the block at the address, the object


def create_object(variable: Any, held: Any) -> None:
    """Make `variable`, a handle, refer to an object."""
    block = (ctypes.c_char * 16)()
    address = ctypes.addressof(block)
    _objects[address] = block, held
    variable.value = address


def held_object(handle: Any, name: str) -> Any:
    """The object of a handle; refused if it was destroyed or never created."""
    address = None if handle is None else handle.value
    if address not in _objects:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL, destroyed or never created")
    return _objects[address][1]


def destroy_object(handle: Any, name: str) -> None:
    """Drop the object of a handle."""
    held_object(handle, name)
    del _objects[handle.value]
    handle.value = None


class Refused(Exception):
    """Raised by an implementation for arguments that cuDNN refused: a status and a reason."""

    def __init__(self, code: raw.cudnnStatus_t, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Arguments:
    """The arguments of one call as attributes, under their names in C.

    Numbers are Python numbers and enumerators are members; a pointer to one value is the variable
    behind it; input arrays are lists; handles and memory are the caller's objects. NULL is None.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def put(self, **results: Any) -> None:
        """Write results through those pointers that are not NULL."""
        for name, value in results.items():
            if self._values[name] is not None:
                self._values[name].value = value

    def items(self) -> ItemsView[str, Any]:
        """All arguments by name, in C's order."""
        return self._values.items()

    def call(self, function: Callable[..., Any], **values: Any) -> None:
        """Call a function of cuDNN 9 with these values, and the arguments for the others."""
        names = [each.name for each in function.parameters]  # type: ignore[attr-defined]
        function(*[values[name] if name in values else self._values[name] for name in names])

    def require(self, *names: str) -> None:
        """Refuse NULL with BAD_PARAM."""
        for name in names:
            if self._values[name] is None:
                raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL")


_REFERENCE = type(ctypes.byref(ctypes.c_int()))
_COUNTS = ("seqLength", "arrayLength", "nbDims")
"""The parameters with the number of an array's elements."""


def decoded(parameter: Parameter, converted: Any, given: Any, before: dict[str, Any]) -> Any:
    """An argument in an implementation's form; `before` has the earlier arguments by name."""
    match parameter.type.kind:
        case "value" if is_handle(parameter):
            return given
        case "value" if isinstance(converted, ctypes._SimpleCData):
            return converted.value
        case "value":
            return converted
        case "pointer":
            return None if given is None else _variable(given)
        case "array" if parameter.direction == "in":
            given = given.tolist() if hasattr(given, "tolist") else given
            if isinstance(given, (ctypes._Pointer, _REFERENCE)):  # as C does, without a length
                count = next(before[name] for name in _COUNTS if name in before)
                given = ctypes.cast(given, ctypes.POINTER(storage_type(parameter.type.base)))[
                    :count
                ]
            return None if given is None else list(given)
        case _:
            return given


def _variable(pointer: Any) -> Any:
    """The ctypes variable behind a pointer, ``byref`` or array argument."""
    target = getattr(pointer, "_obj", pointer)  # byref(...)
    if isinstance(target, ctypes.Array):
        return target[0]
    if isinstance(target, ctypes._Pointer) and not hasattr(target, "value"):
        return target.contents
    return target


Implementation = Callable[[Arguments], None]


class OldFunction:
    """A function that cuDNN had once, implemented with the functions of cuDNN 9.

    Calling it raises `CudnnError` on every status but success and returns the status. It warns once
    with an `OldNameWarning`.

    - `parameters`: the parameters in C's order, in the last release that had the function.
    - `prototype`: the declaration as C wrote it.
    - `unchecked`: the same function, which returns the status as C does instead of raising.
    """

    def __init__(self, *forms: Form) -> None:
        self._forms = forms
        self.__name__: str = forms[-1].prototype.name
        self.__qualname__ = self.__name__
        self.__module__ = __package__
        self._living = raw.FUNCTIONS.get(self.__name__)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self._forms[-1].prototype.parameters

    @property
    def prototype(self) -> str:
        return str(self._forms[-1].prototype)

    @property
    def declared(self) -> tuple[Form, ...]:
        """The declarations of all releases, the oldest first, as functions that do not warn."""
        return self._forms

    @property
    def forms(self) -> tuple[str, ...]:
        """The different prototypes of all releases, the oldest first."""
        return tuple(str(form.prototype) for form in self._forms)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return "\n\n".join([*self.forms, _modern_form(self.__name__)])

    @property
    def __signature__(self) -> inspect.Signature:
        return self._forms[-1].signature

    def __repr__(self) -> str:
        return self.prototype

    def __reduce__(self) -> str:
        return self.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        form = self._form(args, kwargs)
        if form is None:
            return self._living(*args, **kwargs)  # type: ignore[misc]
        warn_once(f"v7.{self.__name__}", _modern_form(self.__name__))
        form(*args, **kwargs)
        return raw.CUDNN_STATUS_SUCCESS

    def unchecked(self, *args: Any, **kwargs: Any) -> Any:
        """The same function, which returns the status as C does instead of raising."""
        form = self._form(args, kwargs)
        if form is None:
            return self._living.unchecked(*args, **kwargs)  # type: ignore[union-attr]
        warn_once(f"v7.{self.__name__}", _modern_form(self.__name__))
        try:
            form(*args, **kwargs)
        except CudnnError as error:
            return error.status
        return raw.CUDNN_STATUS_SUCCESS

    def _form(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Form | None:
        """The declaration that fits a call's arguments; None for cuDNN 9's."""
        fitting = (form for form in self._forms if form.fits(args, kwargs))
        return next(fitting, self._forms[-1] if self._living is None else None)


_ANYTHING = Converter(lambda value: value)  # layer 1 converts numbers depending on descriptors


class Form:
    """One declaration of an old function, with its implementation."""

    def __init__(self, prototype: Prototype, implementation: Implementation) -> None:
        self.prototype = prototype
        self.parameters: tuple[Parameter, ...] = prototype.parameters
        self.implementation = implementation

    # The attributes of a binding that `explain` reads.
    @property
    def name(self) -> str:
        return self.prototype.name

    @functools.cached_property
    def argtypes(self) -> list[Any]:
        return [
            _ANYTHING if p.type.kind == "scalar" else converter(p.name, p.type)
            for p in self.parameters
        ]

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The parameters with their ctypes types."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature(
            [inspect.Parameter(p.name, kind, annotation=p.ctype) for p in self.parameters],
            return_annotation=raw.cudnnStatus_t,
        )

    def fits(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call's arguments have the right number and fit this declaration only."""
        if len(args) + len(kwargs) != len(self.parameters):
            return False
        if not kwargs.keys() <= {p.name for p in self.parameters[len(args) :]}:
            return False
        pairs = zip(self.parameters, args, strict=False)
        plain = [each for p, each in pairs if p.type.kind == "value" and not is_handle(p)]
        return not any(isinstance(getattr(x, "_as_parameter_", x), OpaquePointer) for x in plain)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        arguments = self._in_order(args, kwargs)
        try:
            self.implementation(Arguments(self._decoded(arguments)))
        except Refused as refusal:
            log.put(refusal.reason, source=log.GUARD)
            named = zip(self.parameters, arguments, strict=True)
            raise status.error(self.name, refusal.code, named) from None
        except CudnnError as error:
            raise self._error(error, arguments) from error

    def _in_order(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        try:
            return tuple(self.signature.bind(*args, **kwargs).arguments.values())
        except TypeError as error:
            raise TypeError(f"{self.name}() {error}") from None

    def _decoded(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """The arguments in an implementation's form; arguments that C refuses are refused."""
        values: dict[str, Any] = {}
        for parameter, argtype, value in zip(
            self.parameters, self.argtypes, arguments, strict=True
        ):
            try:
                converted = argtype.from_param(value)
            except (TypeError, ValueError, ctypes.ArgumentError) as error:
                explain(self, error, arguments)  # type: ignore[arg-type]
            values[parameter.name] = decoded(parameter, converted, value, values)
        return values

    def _error(self, error: CudnnError, arguments: tuple[Any, ...]) -> CudnnError:
        """The error that the caller sees for an error in a call of cuDNN 9, its cause."""
        shown = {
            p.name: status.describe(value, p)
            for p, value in zip(self.parameters, arguments, strict=True)
        }
        return error_class(error.status)(
            self.name,
            error.status,
            arguments=shown,
            detail=error.detail,
            messages=error.messages,
            source=error.source,
            hint="; ".join(filter(None, (f"{error.function} carries it out", error.hint))),
        )


functions: dict[str, OldFunction] = {}
"""The functions that the modules of this package have registered, by C name."""


def implements(*prototypes: str) -> Callable[[Implementation], Implementation]:
    """Register an implementation of old functions; the oldest declaration of a name first."""

    def register(implementation: Implementation) -> Implementation:
        for text in prototypes:
            add(parse(text), implementation)
        return implementation

    return register


def add(prototype: Prototype, implementation: Implementation) -> None:
    """Register one declaration of an old function."""
    known = functions.get(prototype.name)
    forms = known._forms if known is not None else ()
    functions[prototype.name] = OldFunction(*forms, Form(prototype, implementation))


def _modern_form(name: str) -> str:
    gone = find(name)
    if gone is not None:
        return str(gone)
    return f"{name} has other parameters in cuDNN 9: {changed(name)}"
