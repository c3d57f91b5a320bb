"""Base classes of the generated enums, handles and structures.

They add to ctypes what C's type checker does for a C program: an enum refuses members of another
enum, and every handle is a pointer type of its own.
"""

from __future__ import annotations

import ctypes
import enum
from typing import Any, ClassVar

__all__ = [
    "CudnnEnum",
    "CudnnStructure",
    "OpaquePointer",
    "is_null",
    "room",
    "storage_type",
]

_CDATA: Any = ctypes.Structure.__base__  # the common base of all ctypes objects


class CudnnEnum(enum.IntEnum):
    """Base of all enums: an ``IntEnum`` that keeps codes which it does not know.

    A newer library may return a code that these headers lack; ``cudnnStatus_t(4242)`` then gives a
    pseudo-member that prints its number, instead of an exception that hides the real one.
    """

    @classmethod
    def _missing_(cls, value: object) -> Any:
        if not isinstance(value, int) or isinstance(value, enum.Enum):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"<unknown {cls.__name__} {value}>"
        member._value_ = value
        return cls._value2member_map_.setdefault(value, member)

    @classmethod
    def variable(cls, value: int = 0) -> Any:
        """Storage for one enum value, to be filled by an out parameter.

        ``mode = cudnnConvolutionMode_t.variable()`` is C's ``cudnnConvolutionMode_t mode;``. Its
        ``.value`` is a member of the enum.
        """
        return storage_type(cls)(value)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}" if self.known else self.name

    @property
    def known(self) -> bool:
        """Whether the headers that this package was generated from have this code."""
        return self._name_ in type(self).__members__


_storage_types: dict[type, Any] = {}


def storage_type(base: type) -> Any:
    """The ctypes type that holds a `base` in memory: for an enum, a ``c_int`` with its members."""
    if not issubclass(base, CudnnEnum):
        return base
    if base not in _storage_types:
        value: Any = vars(ctypes.c_int.__base__)["value"]

        def get(self: Any) -> CudnnEnum:
            return base(value.__get__(self))

        def set_(self: Any, number: int) -> None:
            value.__set__(self, number)

        namespace = {
            "value": property(get, set_),
            "__doc__": f"Storage for one {base.__name__}.",
            "__repr__": lambda self: f"{base.__name__}.variable({self.value})",
            "__eq__": lambda self, other: self.value == getattr(other, "value", other),
            "__hash__": None,
        }
        _storage_types[base] = type(f"{base.__name__}_variable", (ctypes.c_int,), namespace)
    return _storage_types[base]


class OpaquePointer(ctypes._Pointer):  # type: ignore[type-arg]
    """Base of all handles: a pointer to a C struct that only cuDNN knows.

    Every subclass points to a struct type of its own, so ctypes refuses one kind of handle where
    another is wanted. A new one is NULL until a create function fills it.
    """

    _type_: Any

    @property
    def value(self) -> int | None:
        """The address as an int, None for NULL."""
        return ctypes.c_void_p.from_buffer(self).value

    @value.setter
    def value(self, address: int | None) -> None:
        ctypes.c_void_p.from_buffer(self).value = address

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.value == self.value

    def __hash__(self) -> int:
        return hash((type(self), self.value))

    def __repr__(self) -> str:
        address = self.value
        return f"{type(self).__name__}({'NULL' if address is None else hex(address)})"


class _StructureType(type(ctypes.Structure)):  # type: ignore[misc]
    """Builds ``_fields_`` from ``_cfields_``: an enum field is an int with an enum property."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        fields: list[tuple[str, Any]] = []
        for field, base in namespace.get("_cfields_", ()):
            if isinstance(base, type) and issubclass(base, CudnnEnum):
                fields.append((f"_{field}", ctypes.c_int))
                namespace[field] = _enum_field(f"_{field}", base)
            else:
                fields.append((field, base))
        namespace["_fields_"] = fields
        return super().__new__(mcs, name, bases, namespace)


# Any, because type checkers take ctypes' own metaclasses for another kind.
_structure_type: Any = _StructureType


class CudnnStructure(ctypes.Structure, metaclass=_structure_type):  # type: ignore[metaclass]
    """Base of the structs that have members: fields of an enum type read as enum members.

    Subclasses list ``_cfields_``, pairs of the C name and the C type, in C's order.
    """

    _cfields_: ClassVar[tuple[tuple[str, Any], ...]] = ()

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
    return pointer is None or (isinstance(pointer, ctypes._Pointer) and not pointer)


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
