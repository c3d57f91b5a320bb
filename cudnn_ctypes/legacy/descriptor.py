"""Base of all descriptors of the legacy API."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from .. import raw
from ..arguments import enumerator, shown
from ..raw.call_source import answering
from ..raw.ctypes_support import CudnnEnum, OpaquePointer
from ..raw.descriptors import record
from ..raw.function import Function
from ..raw.records import NOTHING, Entry
from ..resource import Resource
from .layouts import as_type

if TYPE_CHECKING:
    from typing_extensions import Self

_Record = TypeVar("_Record")

_H = TypeVar("_H", bound=OpaquePointer)


def answer(function: Callable[..., Any], *arguments: Any) -> Any:
    """The values that a C function writes to its out parameters: one, or a tuple of several.

    - `*arguments`: the others, in C's order. Arrays are tuples, as long as they say.
    """
    found = _answering(cast(Function, function))(*arguments)
    return found if len(found) > 1 else found[0]


@functools.cache
def _answering(function: Function) -> Callable[..., Any]:
    return answering(function._binding, "_call", {"_call": function, "_byref": lambda out: out})


_Conversion = Callable[[Any, str], Any]


@functools.cache
def _conversions(function: Function) -> list[tuple[int, _Conversion | None]]:
    """For each parameter the place of an argument that is given, and how that is converted."""
    arrays = {p.length: p.name for p in reversed(function.parameters) if p.type.kind == "array"}
    given = [p.name for p in function.parameters if p.name not in arrays]
    found: list[tuple[int, _Conversion | None]] = []
    for parameter in function.parameters:
        base: Any = parameter.type.base
        how: _Conversion | None = None
        if parameter.name in arrays:
            how = lambda value, name: len(value)  # noqa: E731
        elif base is raw.cudnnDataType_t:
            how = as_type
        elif parameter.type.kind == "value" and issubclass(base, CudnnEnum):
            how = functools.partial(enumerator, base)
        found.append((given.index(arrays.get(parameter.name, parameter.name)), how))
    return found


def number(function: Callable[..., Any], *arguments: Any) -> int:
    """The number that a C function writes: `answer` for one out parameter."""
    found: int = answer(function, *arguments)
    return found


class _ClosedOnError:
    """Closes a descriptor if the block is left by an error."""

    __slots__ = ("_owner",)

    def __init__(self, owner: Descriptor[Any]) -> None:
        self._owner = owner

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is not None:
            self._owner.close()


class Descriptor(Resource[_H]):
    """A descriptor that cuDNN holds: read back, compared and printed as the library has it.

    Subclasses create it in ``__init__`` and configure it inside ``_closed_on_error``. Descriptors
    can be set again at any time, so they do not hash.
    If setting fails, cuDNN may have stored a part of the new values.

    Parameters
    ----------
    handle
        A raw handle that is still NULL.
    *options
        Further arguments of the C function that creates it.
    """

    _being_shown = False
    _has_copies: ClassVar[bool] = True  # whether its class can make an equal one
    _unset: ClassVar[Any] = None
    """The record that stands for values which were not set; None where reading them is an error."""
    _place: Entry = NOTHING
    """Where its record was when a launch last looked."""

    def __init__(self, handle: _H, *options: object) -> None:
        kind = type(handle).__name__.removeprefix("cudnn").removesuffix("_t")
        getattr(raw, f"cudnnCreate{kind}")(handle, *options)
        super().__init__(handle, getattr(raw, f"cudnnDestroy{kind}"))

    def _closed_on_error(self) -> _ClosedOnError:
        return _ClosedOnError(self)

    def _set_by(self, function: Callable[..., Any], given: dict[str, Any]) -> None:
        """Set values by a C function, given a method's ``locals()``, which are in C's order.

        Enumerators may be short names, and data types whatever stands for them. The number of
        dimensions, where C is told one, is the length of the first array.
        """
        names, values = [*given], [*given.values()]
        conversions = _conversions(cast(Function, function))
        function(
            *[values[i] if how is None else how(values[i], names[i]) for i, how in conversions]
        )

    def _record(self, kind: type[_Record]) -> _Record:
        """The record of the values in the library.

        Raises ValueError if it is not set.
        """
        values = record(self) or self._unset
        if not isinstance(values, kind):
            raise ValueError(f"this {type(self).__name__} is not set")
        return values

    def _held(self) -> dict[str, Any]:
        """The values in the library by name; equal for equal descriptors."""
        values = record(self)
        names = [] if values is None else [field.name for field in fields(values)]
        return {name: getattr(values, name) for name in names}

    def _arguments_of(self, set: Any, get: Callable[..., Any]) -> dict[str, Any]:
        """The arguments of a method that sets all, by name, as a C function reads them back."""
        return dict(zip(inspect.signature(set).parameters, answer(get, self), strict=True))

    def _arguments(self) -> dict[str, Any]:
        """The arguments with which the class makes an equal descriptor, for ``repr``."""
        return self._held()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Descriptor) or type(other) is not type(self):
            return NotImplemented
        return self._held() == other._held()

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __copy__(self) -> Self:
        """Another descriptor with the same values."""
        return type(self)(**self._arguments()) if self._has_copies else super().__copy__()

    def __reduce_ex__(self, protocol: object) -> Any:
        if not self._has_copies:
            return super().__reduce_ex__(protocol)
        return _described, (type(self), self._arguments())

    def __repr__(self) -> str:
        if self.closed:
            return f"{type(self).__name__}(closed)"
        if self._being_shown:  # reading it failed, and the error's message shows its arguments
            return f"{type(self).__name__}(unreadable)"
        self._being_shown = True
        try:
            values = self._arguments()
        finally:
            self._being_shown = False
        arguments = ", ".join(f"{name}={shown(value)}" for name, value in values.items())
        return f"{type(self).__name__}({arguments})"


def _described(cls: Any, arguments: dict[str, Any]) -> Any:
    """The descriptor that a pickle stands for."""
    return cls(**arguments)


class _ReadBack(property):
    """A property that is the field of its name of a descriptor's record."""

    def __init__(self, kind: type, doc: str, set: Callable[..., Any] | None) -> None:
        def write(owner: Descriptor[Any], value: Any) -> None:
            assert set is not None
            _, parameter = cast(Function, set).parameters
            if issubclass(parameter.type.base, CudnnEnum):
                value = enumerator(parameter.type.base, value, self._name)
            set(owner, value)

        def read(owner: Descriptor[Any]) -> Any:
            return getattr(owner._record(kind), self._name)

        super().__init__(read, None if set is None else write, doc=doc)
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name


def read_back(kind: type, doc: str, set: Callable[..., Any] | None = None) -> Any:
    """A property of a descriptor: what the field of the same name in its record says.

    A C function `set` sets it, to an enumerator also by its short name.
    """
    return _ReadBack(kind, doc, set)
