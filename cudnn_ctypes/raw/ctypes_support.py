"""Base classes of the generated enums, handles and structures.

They add to ctypes what C's type checker does for a C program: an enum refuses members of another
enum, and every handle is a pointer type of its own.
"""

from __future__ import annotations

import ctypes
import enum
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import Self

from . import live, origins

_CDATA: Any = ctypes.Structure.__base__  # the common base of all ctypes objects


_T = TypeVar("_T")
_E = TypeVar("_E", bound="CudnnEnum")


class Documentation:
    """A docstring that is made of the declarations when somebody asks for it.

    It stands in the class of what it documents: a function's class, or the class of a class.
    """

    def __init__(self, own: str | None) -> None:
        self.own = own

    def __get__(self, instance: Any, owner: type) -> str | None:
        if instance is None:
            return self.own
        from .describe import docstring

        try:
            return docstring(instance.__name__)
        except KeyError:
            written: str | None = vars(instance).get("__doc__")
            return written

    def __set__(self, instance: Any, value: str) -> None:
        raise AttributeError("the docstring is made of the declarations")


if TYPE_CHECKING:
    _Storage = ctypes._SimpleCData[int]  # a plain int is not meant where C takes an enum
else:
    _Storage = ctypes.c_int


class EnumVariable(_Storage, Generic[_E]):
    """Storage for one enum value: ``mode = cudnnLRNMode_t()`` is C's ``cudnnLRNMode_t mode;``.

    It is passed where C takes a pointer to the enum, or the enum. A new one holds 0.
    """

    _enum: ClassVar[type[CudnnEnum]]

    if TYPE_CHECKING:

        @property
        def value(self) -> _E:
            """The member of the enum; what is assigned must be one, or an int."""

        @value.setter
        def value(self, value: int) -> None: ...

    else:
        _number = ctypes.c_int.__base__.value

        @property
        def value(self):
            return self._enum(self._number)

        @value.setter
        def value(self, value):
            if isinstance(value, CudnnEnum) and type(value) is not self._enum:
                raise TypeError(f"expected a {self._enum.__name__}, got {value!r}")
            self._number = value

    def __repr__(self) -> str:
        return f"<{self._enum.__name__} variable: {self.value}>"

    def __eq__(self, other: object) -> bool:
        return self.value == getattr(other, "value", other)

    __hash__: ClassVar[None]  # type: ignore[assignment]


class EnumArray(ctypes.Array[EnumVariable[_E]]):
    """``axes = (cudnnSeqDataAxis_t * 4)()``: C's ``cudnnSeqDataAxis_t axes[4];``."""

    _length_: ClassVar[int] = 0
    _type_: Any = EnumVariable

    @overload
    def __getitem__(self, index: int) -> _E: ...
    @overload
    def __getitem__(self, index: slice) -> list[_E]: ...
    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return [each.value for each in found] if isinstance(index, slice) else found.value

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            for position, each in zip(range(len(self))[index], value, strict=True):
                self[position] = each
        else:
            super().__getitem__(index).value = value

    def __iter__(self) -> Iterator[_E]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"<array of {len(self)} {self._type_._enum.__name__}: {list(self)}>"


class _EnumType(enum.EnumMeta):
    """Makes an enum usable as C's type of that name: for variables and arrays."""

    if TYPE_CHECKING:

        @overload  # type: ignore[override]
        def __call__(cls: type[_E]) -> EnumVariable[_E]: ...  # type: ignore[misc]
        @overload
        def __call__(cls: type[_E], value: int) -> _E: ...  # type: ignore[misc]
        def __call__(cls, value: int = 0) -> Any: ...

    else:

        def __new__(mcs, name, bases, namespace, *, header="", since="", replaced_by=None, **other):
            if header:
                origins.declare(name, header=header, since=since, replaced_by=replaced_by)
                for member in namespace._member_names:
                    origins.declare_enumerator(member, namespace[member], name)
            return super().__new__(mcs, name, bases, namespace, **other)

        def __call__(cls, value=..., *args, **kwargs):
            if value is ...:
                return storage_type(cls)()
            try:
                return cls._value2member_map_[value]  # a third of the time of EnumMeta's way here
            except (KeyError, TypeError):
                return super().__call__(value, *args, **kwargs)

    def __mul__(cls: type[_E], count: int) -> type[EnumArray[_E]]:  # type: ignore[misc]
        array: type[EnumArray[_E]] = _array_type(cls, count)
        return array

    __rmul__ = __mul__


_EnumType.__doc__ = Documentation(_EnumType.__doc__)  # type: ignore[assignment]


class CudnnEnum(enum.IntEnum, metaclass=_EnumType):
    """Base of all enums: an ``IntEnum`` that keeps codes which it does not know.

    A newer library may return a code that these headers lack; ``cudnnStatus_t(4242)`` then gives a
    pseudo-member that prints its number, instead of an exception that hides the real one.
    ``cudnnStatus_t()`` is a variable, and ``(cudnnStatus_t * 4)()`` an array of four.
    """

    if TYPE_CHECKING:

        @overload
        def __new__(cls) -> EnumVariable[Self]: ...  # type: ignore[misc]
        @overload
        def __new__(cls, value: int) -> Self: ...
        def __new__(cls, value: int = 0) -> Any: ...

    @classmethod
    def _missing_(cls, value: object) -> Any:
        if not isinstance(value, int) or isinstance(value, enum.Enum):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"<unknown {cls.__name__} {value}>"
        member._value_ = value
        return cls._value2member_map_.setdefault(value, member)

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return type(self), (int(self),)  # Python 3.11.2's enums pickle the name

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}" if self.known else self.name

    @property
    def known(self) -> bool:
        """Whether the headers that this package was generated from have this code."""
        return self._name_ in type(self).__members__

    @property
    def is_count(self) -> bool:
        """Whether it only counts the members before it: C programs size arrays with it."""
        return self._name_.endswith(("_COUNT", "_COUNTS")) and self is list(type(self))[-1]


def short_name(member: CudnnEnum) -> str:
    """A member's name in lower case, without the common prefix of its enum's members."""
    if not member.known:
        return member.name
    short = member.name[_prefix_length(type(member), member.is_count) :]
    return short.lower()


@functools.cache
def _prefix_length(cls: type[CudnnEnum], with_count: bool) -> int:
    members = cls.__members__.items()
    words = [name.split("_") for name, each in members if with_count or not each.is_count]
    if len(words) == 1:  # "cross_channel_dim1" of CUDNN_LRN_CROSS_CHANNEL_DIM1
        return len("_".join([*words[0][:2], ""]))
    shared = 0
    while len({tuple(each[: shared + 1]) for each in words}) == 1:
        shared += 1
    # "algo_0" rather than "0", "norm" rather than nothing.
    while shared and not all("_".join(each[shared:]).isidentifier() for each in words):
        shared -= 1
    return len("_".join([*words[0][:shared], ""]))


@functools.cache
def storage_type(base: type) -> Any:
    """The ctypes type that holds a `base` in memory: for an enum, its `EnumVariable`."""
    if not issubclass(base, CudnnEnum):
        return base
    return type(f"{base.__name__}_variable", (EnumVariable,), {"_enum": base})


@functools.lru_cache(maxsize=256)
def _array_type(base: type[CudnnEnum], count: int) -> Any:
    fields = {"_type_": storage_type(base), "_length_": count}
    metaclass: Any = type(EnumArray)
    return metaclass(f"{base.__name__}_array_{count}", (EnumArray,), fields)


if TYPE_CHECKING:
    _Opaque = ctypes._Pointer[ctypes.Structure]
else:

    class _PointerType(type(ctypes._Pointer)):
        """Makes the C struct that only a handle of this type points to; documents handles."""

        def __new__(mcs, name, bases, namespace, *, struct="", **facts):
            if struct:
                namespace["_type_"] = type(struct, (ctypes.Structure,), {})
            return super().__new__(mcs, name, bases, namespace, **facts)

    _PointerType.__doc__ = Documentation(_PointerType.__doc__)
    _Opaque = _PointerType("_Opaque", (ctypes._Pointer,), {})


class OpaquePointer(_Opaque):
    """Base of all handles: a pointer to a C struct that only cuDNN knows.

    Every subclass points to a struct type of its own, so ctypes refuses one kind of handle where
    another is wanted. A new one is NULL until a create function fills it.
    """

    _type_: Any
    _must_be_set: ClassVar[bool] = False  # a created one is not usable
    _may_be_half_set: ClassVar[bool] = False  # a refused call may leave some of its values
    _executable: Any = (False,)  # see guards.backend

    def __init_subclass__(
        cls,
        *,
        struct: str = "",
        must_be_set: bool = False,
        may_be_half_set: bool = False,
        **origin: Any,
    ) -> None:
        cls._must_be_set = must_be_set
        cls._may_be_half_set = may_be_half_set
        if origin:
            origins.declare(cls.__name__, **origin)

    @property
    def value(self) -> int | None:
        """The address as an int, None for NULL."""
        return ctypes.c_void_p.from_buffer(self).value

    @value.setter
    def value(self, address: int | None) -> None:
        ctypes.c_void_p.from_buffer(self).value = address
        vars(self).pop("_executable", None)
        live.named(self, address)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.value == self.value

    def __hash__(self) -> int:
        return hash((type(self), self.value))

    def __repr__(self) -> str:
        address = self.value
        null = "destroyed" if "_destroyed" in vars(self) else "NULL"
        text = null if address is None else hex(address)
        from .argument_text import descriptor_text

        holds = descriptor_text(self)
        return f"{type(self).__name__}({text}{', ' if holds else ''}{holds})"

    def __copy__(self) -> Any:
        name = type(self).__name__
        raise TypeError(
            f"a {name} is the address of what cuDNN holds, so a copy would be a second name for "
            f"the same: create another and give it the same values, or assign .value"
        )

    def __deepcopy__(self, memo: object) -> Any:
        return self.__copy__()

    def __reduce_ex__(self, protocol: object) -> Any:
        name = type(self).__name__
        raise TypeError(f"a {name} is an address of this process, and means nothing elsewhere")


if TYPE_CHECKING:
    _Structure = ctypes.Structure

    @overload
    def field(ctype: type[ctypes._SimpleCData[_T]]) -> _T: ...
    @overload
    def field(ctype: type[_T]) -> _T: ...
    def field(ctype: Any) -> Any:
        """A struct's member of a C type, which reads as Python has it."""

else:

    class field:
        def __init__(self, ctype):
            self.ctype = ctype

    class _StructureType(type(ctypes.Structure)):
        """Builds ``_fields_``: an enum's field is an int with a property that reads its member."""

        def __new__(mcs, name, bases, namespace, **origin):
            fields = [(n, each.ctype) for n, each in namespace.items() if type(each) is field]
            namespace["_cfields_"] = tuple(fields)
            namespace["_fields_"] = layout = []
            for each, ctype in fields:
                if isinstance(ctype, type) and issubclass(ctype, CudnnEnum):
                    layout.append((f"_{each}", ctypes.c_int))
                    namespace[each] = _enum_field(f"_{each}", ctype)
                else:
                    layout.append((each, ctype))
                    del namespace[each]
            return super().__new__(mcs, name, bases, namespace, **origin)

    _StructureType.__doc__ = Documentation(_StructureType.__doc__)
    _Structure = _StructureType("_Structure", (ctypes.Structure,), {})


class CudnnStructure(_Structure):
    """Base of the structs that have members: fields of an enum type read as enum members.

    Subclasses list their members in C's order, as ``name = field(ctype)``.
    """

    _cfields_: ClassVar[tuple[tuple[str, Any], ...]]
    """Pairs of the C name and the C type."""

    def __init_subclass__(cls, **origin: Any) -> None:
        if origin:
            origins.declare(cls.__name__, **origin)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={_shown(getattr(self, name))}" for name, _ in self._cfields_)
        return f"{type(self).__name__}({values})"


def _enum_field(storage: str, base: type[CudnnEnum]) -> property:
    def get(self: CudnnStructure) -> CudnnEnum:
        return base(getattr(self, storage))

    def set_(self: CudnnStructure, value: int) -> None:
        setattr(self, storage, value)

    return property(get, set_, doc=f"A {base.__name__}.")


def _shown(value: object) -> str:
    return repr(list(value)) if isinstance(value, ctypes.Array) else repr(value)


def is_null(value: Any) -> bool:
    """Whether an argument is C's NULL: None, or a NULL pointer, perhaps in an object."""
    pointer = getattr(value, "_as_parameter_", value)
    return pointer is None or (
        isinstance(pointer, (ctypes._Pointer, ctypes.c_void_p)) and not pointer
    )


def room(memory: Any) -> int | None:
    """How many bytes of host memory an argument gives to C; None if it is only an address."""
    nbytes = getattr(memory, "nbytes", None)  # numpy.ndarray, memoryview
    if nbytes is not None:
        return int(nbytes)
    if isinstance(memory, bytes):
        return len(memory)
    memory = getattr(memory, "_obj", memory)  # byref(...)
    is_address = isinstance(memory, (ctypes._Pointer, ctypes.c_void_p, ctypes.c_char_p))
    if isinstance(memory, OpaquePointer) or (isinstance(memory, _CDATA) and not is_address):
        return ctypes.sizeof(memory)
    return None
