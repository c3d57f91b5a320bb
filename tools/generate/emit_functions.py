"""Write ``raw/functions.py``: one annotated stub per C function."""

from __future__ import annotations

import re

from . import cuda_types
from .model import CType, Direction, Enum, Function, Headers, Parameter, Passing
from .text import CTYPES, LINE_LENGTH, banner, dunder_all, import_from, python_type

_BODY = """
One declaration per C function, with C's names, in the order of the headers. `vocabulary` explains
the annotations; `function` makes callables of the declarations.
"""

# ctypes takes these for c_int, c_uint and c_ulong; `vocabulary` keeps their names in C.
SPELLED = {"c_int32", "c_uint32", "c_ulonglong"}

_DIRECTION = {Direction.IN: "", Direction.OUT: "Out", Direction.INOUT: "InOut"}


def emit_functions(headers: Headers) -> str:
    parts: list[str] = []
    header = ""
    for function in headers.functions:
        if function.header != header:
            header = function.header
            parts.append(f"\n\n# --- {header} ---\n" if parts else f"\n# --- {header} ---\n")
        parts.append(f"\n\n{_function(function)}")
    body = "".join(parts)
    top = banner(headers.version, "The functions", _BODY)
    # Array lengths are strings that name parameters; pyflakes takes them for types.
    checks = "# ruff: noqa: F821, RUF022, SIM300, UP037\n"
    names = dunder_all(function.name for function in headers.functions)
    return checks + top + _imports(headers) + body + "\n\n" + names


def _imports(headers: Headers) -> str:
    types = [p.ctype for f in headers.functions for p in f.parameters]
    types += [f.result for f in headers.functions]
    bases = {t.base for t in types}
    annotations = [annotation(p) for f in headers.functions for p in f.parameters]
    annotations += [_result(f.result) for f in headers.functions]
    words = {w for text in annotations for w in re.findall(r"\w+", re.sub(r'".*?"', "", text))}
    enums = {each for enum in headers.enums for each in (enum.name, *_names(enum))}
    declared = {d.name for d in (*headers.handles, *headers.structs, *headers.callbacks)}
    declared |= cuda_types.NAMES
    vocabulary = {"Out", "InOut", "Mutable", "Const"} | {p.value for p in Passing}
    said = {w.split(" ")[0] for f in headers.functions for p in f.parameters for w in p.words}
    vocabulary |= said
    vocabulary |= SPELLED
    from_ctypes = (set(CTYPES.values()) | {"c_char_p", "c_void_p"}) - SPELLED
    unknown = bases - enums - declared - set(CTYPES) - {"void"}
    if unknown:
        raise NotImplementedError(f"types that no header declares: {sorted(unknown)}")
    return (
        import_from("ctypes", words & from_ctypes)
        + "\n"
        + import_from(".enums", words & enums)
        + import_from(".function", {"function"})
        + import_from(".types", words & declared)
        + import_from(".vocabulary", words & vocabulary)
    )


def _names(enum: Enum) -> set[str]:
    return {enumerator.name for enumerator in enum.enumerators}


def _function(function: Function) -> str:
    facts = f'"{function.header}", since="{function.since}"'
    if function.replaced_by:
        facts += f', replaced_by="{function.replaced_by}"'
    elif function.deprecated:
        facts += ", deprecated=True"
    facts += "".join(f', {name}="{value}"' for name, value in function.facts)
    decorator = f"@function({facts})\n"
    if len(decorator) > LINE_LENGTH + 1:
        decorator = f"@function(\n    {facts}\n)\n"
        if max(map(len, decorator.split("\n"))) > LINE_LENGTH:
            decorator = f"@function(\n    {facts.replace(', ', f',{chr(10)}    ')},\n)\n"
    parameters = [f"{p.name}: {annotation(p)}" for p in function.parameters]
    result = _result(function.result)
    line = f"def {function.name}({', '.join(parameters)}) -> {result}: ..."
    if len(line) <= LINE_LENGTH:
        return f"{decorator}{line}\n"
    lines = "".join(map(_line, parameters))
    return f"{decorator}def {function.name}(\n{lines}) -> {result}: ...\n"


def _line(parameter: str) -> str:
    line = f"    {parameter},\n"
    if len(line) <= LINE_LENGTH + 1:
        return line
    head, _, arguments = parameter.partition("[")
    return f"    {head}[\n        {arguments.removesuffix(']')}\n    ],\n"


def annotation(parameter: Parameter) -> str:
    """A parameter in the words of ``raw/vocabulary.py``."""
    text = _referent(parameter)
    direction = parameter.direction or Direction.IN
    if parameter.passing is Passing.VALUE:
        if parameter.ctype.const:
            text = f"Const[{text}]"
    # What is in points to const unless it says otherwise, and the reverse.
    elif direction is Direction.IN and not parameter.ctype.const:
        text = f"Mutable[{text}]"
    elif direction is not Direction.IN and parameter.ctype.const:
        text = f"Const[{text}]"
    if wrapper := _DIRECTION[direction]:
        text = f"{wrapper}[{text}]"
    for said in parameter.words:
        word, *names = said.split(" ")
        text = f"{word}[{', '.join((text, *names))}]"
    return text


def _referent(parameter: Parameter) -> str:
    ctype, passing = parameter.ctype, parameter.passing
    match passing:
        case Passing.VALUE:
            return python_type(ctype.base)
        case Passing.ARRAY if parameter.length is not None:
            too_long = f", {parameter.too_long}" if parameter.too_long else ""
            return f'Array[{_pointee(ctype)}, "{parameter.length}"{too_long}]'
        case Passing.POINTER | Passing.ARRAY | Passing.DEVICE_ARRAY:
            return f"{passing.value}[{_pointee(ctype)}]"
        case Passing.DEVICE_MEMORY | Passing.HOST_SCALAR if parameter.described_by:
            names = ", ".join(f'"{name}"' for name in parameter.described_by)
            return f"{passing.value}[{names}]"
        case Passing.DEVICE_MEMORY | Passing.HOST_MEMORY | Passing.HOST_SCALAR | Passing.LABELLED:
            return str(passing.value)
    raise NotImplementedError(f"{parameter.name}: {ctype}, {passing}")


def _pointee(ctype: CType) -> str:
    match ctype.base, ctype.pointers:
        case base, 1:
            return python_type(base)
        case "void", 2:
            return "c_void_p"
    raise NotImplementedError(f"a parameter of type {ctype}")


def _result(ctype: CType) -> str:
    match ctype.base, ctype.pointers:
        case "void", 0:
            return "None"
        case "char", 1:
            return "c_char_p"
        case base, 0:
            return python_type(base)
    raise NotImplementedError(f"a result of type {ctype}")
