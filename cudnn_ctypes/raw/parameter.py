"""A parameter of a C function, read from its declaration in ``functions.py``."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .ctypes_support import storage_type
from .enums import CUDNN_DATA_FLOAT
from .vocabulary import ParameterType


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
    def described_by(self) -> tuple[str, ...]:
        """Names of the parameters that describe the memory: descriptors, or its size in bytes."""
        return self.type.described_by

    def described(self, values: Mapping[str, Any]) -> tuple[Any, tuple[int, ...]]:
        """The data type and the shape of dense memory, by the arguments under C's names."""
        shape, data_type = self.type.dense
        names = {"FLOAT": CUDNN_DATA_FLOAT, **values}
        return eval(data_type, {}, names), eval(f"({shape},)", {}, names)

    @property
    def changes_descriptor(self) -> bool:
        """Whether the call may set or destroy the descriptor that is passed here."""
        return self.type.changes_descriptor

    @property
    def ctype(self) -> Any:
        """The parameter's C type: an enum, a ctypes type or a pointer; ``c_void_p`` for memory."""
        base = self.type.base
        if self.type.kind == "value":
            return base
        return ctypes.POINTER(storage_type(base)) if base else ctypes.c_void_p

    @property
    def c_declaration(self) -> str:
        """The parameter as C writes it."""
        base = self.type.spelling or c_type(self.type.base)
        const = "const " if self.type.is_const else ""
        if self.type.kind == "value":
            return declaration(f"{const}{base}", self.name)
        if self.type.kind == "array" or (self.type.kind == "device" and self.type.base):
            return declaration(f"{const}{base}", f"{self.name}[]")
        return declaration(f"{const}{base}", f"*{self.name}")


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


def declaration(base: str, declarator: str) -> str:
    """A C declaration: ``int n``, ``void *p``."""
    return f"{base}{declarator}" if base.endswith("*") else f"{base} {declarator}"


def c_type(base: Any) -> str:
    """The C name of a type."""
    return _C_NAMES.get(base) or str(base.__name__)
