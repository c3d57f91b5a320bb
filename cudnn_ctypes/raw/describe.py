"""Plain text about a C name, from the declarations of layer 1; all other texts quote it.

Neither the headers nor the library are read.
"""

from __future__ import annotations

import ctypes
import functools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from . import constants, enums, functions, types
from .ctypes_support import CudnnEnum, CudnnStructure, OpaquePointer
from .function import Function
from .origins import HEADERS, REPLACED_BY, SINCE
from .parameter import Parameter

_NAMED = 2  # objects named in a docstring; further ones are less close to C


def documentation(name: str) -> str:
    """The declaration and the facts that layer 1 has about a C name.

    - `name`: a function, enum, enumerator, handle type, struct, callback type or macro.

    Returns its C declaration; its header, version and successor; parameters, members or fields.

    Raises KeyError if cuDNN 9 has no such name.
    """
    for module in (functions, enums, types, constants):
        if name in vars(module)["__all__"]:
            return _text(name, getattr(module, name))
    raise KeyError(name)


def docstring(name: str) -> str:
    """The text that ``help`` and editors show: `documentation` and the callers of a function.

    Raises KeyError if cuDNN 9 has no such name.
    """
    objects, example = uses().get(name, ("", ""))
    lines = [documentation(name)]
    lines += [f"used by {', '.join(objects.split()[:_NAMED])}"] if objects else []
    lines += [f"example: examples/{example}"] if example else []
    return "\n".join(lines)


@functools.cache
def uses() -> dict[str, tuple[str, str]]:
    """By C function: objects of layers 2 and 3, the most direct first, and an example."""
    file = Path(__file__).with_name("uses.json")
    table: dict[str, tuple[str, str]] = json.loads(file.read_text("utf-8"))["rows"]
    return table


def _text(name: str, item: Any) -> str:
    if isinstance(item, CudnnEnum):
        alias = "" if item.name == name else f", another name of {item.name}"
        return _paragraphs(f"{type(item).__name__}.{name} = {int(item)}{alias}", origin(name))
    if isinstance(item, type) and issubclass(item, CudnnEnum):
        rows = [
            (f"{int(member)}", each, _member_notes(each, name))
            for each, member in item.__members__.items()
        ]
        return _paragraphs(f"enum {name}", origin(name), aligned(rows))
    if isinstance(item, type) and issubclass(item, CudnnStructure):
        fields = "".join(f"    {_field(*field)};\n" for field in item._cfields_)
        return _paragraphs(f"typedef struct {{\n{fields}}} {name};", origin(name))
    if isinstance(item, type) and issubclass(item, OpaquePointer):
        struct = "void" if item._type_ is ctypes.c_byte else f"struct {item._type_.__name__}"
        return _paragraphs(f"typedef {struct} *{name};", origin(name))
    if name in functions.FUNCTIONS:
        return _function(item)
    if isinstance(item, type) and issubclass(item, ctypes.Structure):
        return _paragraphs(f"typedef struct {name} {name};", origin(name))
    if name in types.__all__:
        return _paragraphs(f"{name}: the type of a function that cuDNN calls", origin(name))
    if callable(item):
        return f"{name}({', '.join(item.__code__.co_varnames)}), a macro"
    return f"#define {name} {item}"


def _function(function: Function) -> str:
    """The prototype, with the facts of each parameter beside it, and the origin."""
    head, _, declared = function.prototype.partition("(")
    if not function.parameters:
        return _paragraphs(f"{function.prototype};", origin(function.__name__))
    ends = [f"    {each}," for each in declared.removesuffix(")").split(", ")]
    ends[-1] = f"{ends[-1][:-1]});"
    notes = (f"// {p.direction}{_noted(p)}" for p in function.parameters)
    rows = aligned(zip(ends, notes, strict=True))
    return _paragraphs(f"{head}(\n{rows}", origin(function.__name__))


def _noted(parameter: Parameter) -> str:
    """Facts that C's declaration of a parameter does not say."""
    kind, needed_by = parameter.type.kind, parameter.type.needed_by
    said = "" if kind in ("value", "pointer") else parameter_type(parameter)
    if kind == "array":
        said = "" if parameter.length is None else f"{parameter.length} of them"
    refuses_null = parameter.type.null is False and parameter.type.base is not types.cudnnHandle_t
    null = f"NULL if no {needed_by}" if needed_by else "not NULL" if refuses_null else ""
    return "".join(f", {words}" for words in (said, null) if words)


def parameter_type(parameter: Parameter) -> str:
    """A parameter's C type, or words where the C type is too vague: "device memory"."""
    kind = parameter.type.kind
    base = parameter.c_declaration.removeprefix("const ").removesuffix("[]")
    base = base.removesuffix(parameter.name).rstrip()
    if kind == "value":
        return base
    base = base.removesuffix("*").rstrip()
    if kind == "array":
        length = "" if parameter.length is None else f"{parameter.length} "
        return f"array of {length}{base}"
    said = f", as {' or '.join(parameter.described_by)} says" if parameter.described_by else ""
    if kind == "device":
        return f"device memory{said}" if parameter.type.base is None else f"device memory, {base}"
    return {
        "pointer": f"pointer to {base}",
        "host": "host memory",
        "scalar": f"one number on the host{said}",
        "labelled": "host or device memory, or a descriptor, as the label says",
    }[kind]


def origin(name: str) -> str:
    """Text naming the header, the first version and the successor of a deprecated name."""
    header, since, deprecated = facts_of(name)
    parts = (header, since and f"since {since}", "deprecated" if deprecated is True else "")
    line = ", ".join(part for part in parts if part)
    return f"{line}\ndeprecated: use {deprecated}" if isinstance(deprecated, str) else line


def facts_of(name: str) -> tuple[str, str, bool | str]:
    """The header, the first version, and whether a name is deprecated, or its successor's name."""
    function = functions.FUNCTIONS.get(name)
    if function is not None:
        return function.header, function.since, function.replaced_by or function.deprecated
    enum = enum_of(name)
    if enum is not None:
        if enum is types.libraryPropertyType:
            return "library_types.h of CUDA", "", False
        deprecated = [n for n in (name, enum.__name__) if n in REPLACED_BY]
        replaced_by = next((REPLACED_BY[n] for n in deprecated), "")
        return HEADERS[enum.__name__], SINCE[name], replaced_by or bool(deprecated)
    if name not in HEADERS:
        return "of CUDA" if name.startswith("cuda") else "", "", False
    return HEADERS[name], SINCE[name], REPLACED_BY.get(name, False) or name in REPLACED_BY


@functools.cache
def _enumerators() -> dict[str, type[CudnnEnum]]:
    found: dict[str, type[CudnnEnum]] = {}
    for module in (enums, types):
        for name in vars(module)["__all__"]:
            item = getattr(module, name)
            if isinstance(item, CudnnEnum):
                found[name] = type(item)
            elif isinstance(item, type) and issubclass(item, CudnnEnum):
                found[name] = item
    return found


def enum_of(name: str) -> type[CudnnEnum] | None:
    """The enum called `name`, or the enum with an enumerator `name`; None if there is none."""
    return _enumerators().get(name)


def _member_notes(name: str, enum: str) -> str:
    notes = []
    if SINCE.get(name) != SINCE.get(enum):
        notes.append(f"since {SINCE[name]}")
    if name in REPLACED_BY and enum not in REPLACED_BY:
        notes.append("deprecated")
    return ", ".join(notes)


def _field(name: str, base: Any) -> str:
    if isinstance(base, type) and issubclass(base, ctypes.Array):
        return f"{_c_name(base._type_)} {name}[{base._length_}]"
    declared = _c_name(base)
    return f"{declared}{name}" if declared.endswith("*") else f"{declared} {name}"


# ctypes has one type for all C integers of equal size and sign, so C's own names are listed here.
_C_NAMES = {
    "c_uint": "unsigned int",
    "c_long": "int64_t",
    "c_ulong": "uint64_t",
    "c_char_p": "const char *",
    "c_void_p": "void *",
}


def _c_name(base: Any) -> str:
    name = str(base.__name__)
    if not name.startswith("c_"):
        return name
    return _C_NAMES.get(name, name.removeprefix("c_"))


def aligned(rows: Iterable[Sequence[str]], right: Iterable[str] = ()) -> str:
    """Rows of text in columns as wide as their widest entries.

    Columns whose entry in the first row is in `right` end together.
    """
    table = list(rows)
    columns = [
        f"{{:{'>' if column[0] in right else '<'}{max(map(len, column))}}}"
        for column in zip(*table, strict=True)
    ]
    return "\n".join("  ".join(columns).format(*row).rstrip() for row in table)


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)
