"""C prototypes as text, and the parameters that they declare.

An old function has its C declaration. The kind of a parameter follows from its C type, as in layer
1's generated declarations; ``const void *`` is a number on the host for alpha and beta, and device
memory for other names.
"""

from __future__ import annotations

import ctypes
import functools
import re
from dataclasses import dataclass
from typing import Any

from .... import raw
from ....raw.parameter import Parameter
from ....raw.vocabulary import ParameterType

__all__ = ["Prototype", "parse"]

_PARAMETER = re.compile(
    r"(?P<const>const )?(?P<base>\w+) (?P<stars>\**)(?P<name>\w+)(?P<array>\[\])?"
)
_C_TYPES: dict[str, Any] = {
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "size_t": ctypes.c_size_t,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
_SCALARS = ("alpha", "beta")


@dataclass(frozen=True)
class Prototype:
    """The declaration of a C function that returns a status."""

    name: str
    parameters: tuple[Parameter, ...]

    def __str__(self) -> str:
        parameters = ", ".join(each.c_declaration for each in self.parameters)
        return f"cudnnStatus_t {self.name}({parameters})"


@functools.cache
def parse(text: str) -> Prototype:
    """Parse a C prototype on any number of lines, without the return type."""
    name, parameters = re.fullmatch(r"(\w+)\((.*)\)", " ".join(text.split())).groups()  # type: ignore[union-attr]
    return Prototype(name, tuple(_parameter(each) for each in parameters.split(", ") if each))


def _parameter(text: str) -> Parameter:
    found = _PARAMETER.fullmatch(text)
    assert found is not None, text
    const, base, stars, name, array = found.groups()
    return Parameter(name, _type(bool(const), base, len(stars), name, array is not None))


def _type(const: bool, base: str, stars: int, name: str, array: bool) -> ParameterType:
    if base == "void" and stars == 1:
        kind: Any = "scalar" if name in _SCALARS else "device"
        return ParameterType(kind, direction="in" if const else "in/out")
    ctype = ctypes.c_void_p if base == "void" else _named(base)
    if array or (stars and const):
        direction: Any = "in" if const else "out"
        return ParameterType("array", ctype, direction=direction)
    if stars:
        return ParameterType("pointer", ctype, direction="out")
    return ParameterType("value", ctype, const=const or None, direction="in")


def _named(base: str) -> Any:
    if base in _C_TYPES:
        return _C_TYPES[base]
    from . import types

    return getattr(types, base, None) or getattr(raw, base)
