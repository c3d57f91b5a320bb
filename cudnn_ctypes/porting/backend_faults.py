"""Faults of programs that use the backend API: attributes of other types, heuristics unseen."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator

from ..raw import enums
from ..raw.attributes import ATTRIBUTES, ENUMS, element_type, owner_and_short_name
from ..raw.enums import cudnnBackendAttributeName_t, cudnnBackendAttributeType_t
from .c_types import primitive
from .calls import Call, Program
from .declarations import Variable
from .finding import Finding

__all__ = ["backend_faults"]


def backend_faults(program: Program) -> Iterator[Finding]:
    """Likely faults in calls of the backend API."""
    for call in program.named("cudnnBackendSetAttribute"):
        yield from _attribute(program, call)
    yield from _heuristics(program)
    yield from _letters(program)


def _attribute(program: Program, call: Call) -> Iterator[Finding]:
    """A type that the attribute does not take, or a variable that is not of the type."""
    name = getattr(enums, call.arguments["attributeName"].text, None)
    written = call.arguments["attributeType"]
    type_ = getattr(enums, written.text, None)
    if not isinstance(name, cudnnBackendAttributeName_t):
        return
    if not isinstance(type_, cudnnBackendAttributeType_t):
        return
    kind, short = owner_and_short_name(name)
    types = ATTRIBUTES[kind][short].types
    if type_ not in types:
        wanted = " or ".join(each.name for each in types)
        yield program.at(written, "fault", name.name, f"it holds {wanted}, not {type_.name}")
        return
    variable = program.variable(call, "arrayOfElements")
    if variable is None:
        return
    wrong = _mismatch(variable, type_)
    if wrong:
        text = f"{type_.name} is {wrong}, and {variable.name} is {_a(variable.type)}"
        yield program.at(call.arguments["arrayOfElements"], "fault", name.name, text)


def _mismatch(variable: Variable, kind: cudnnBackendAttributeType_t) -> str:
    """The C type of an attribute, if the variable has another one; "" if it fits."""
    size = ctypes.sizeof(element_type(kind))
    enum = ENUMS.get(kind)
    if variable.pointers or "vector" in variable.type or "array" in variable.type:
        return ""
    have, is_real = primitive(variable.type), kind.name in ("CUDNN_TYPE_FLOAT", "CUDNN_TYPE_DOUBLE")
    is_wrong = False
    if have is not None and have.is_number:
        is_wrong = have.bits != 8 * size or (have.kind == "float") != is_real
    if enum is not None:
        is_other = variable.type.startswith("cudnn") and variable.type != enum.__name__
        return f"a {enum.__name__} of {size} bytes" if is_wrong or is_other else ""
    if not is_wrong:
        return ""
    if is_real:
        return f"a {kind.name.removeprefix('CUDNN_TYPE_').lower()}"
    if kind.name in ("CUDNN_TYPE_INT64", "CUDNN_TYPE_INT32", "CUDNN_TYPE_BOOLEAN"):
        plain = "bool" if size == 1 else f"int{8 * size}_t"
        return f"{_a(plain)} of {size} byte{'s' * (size > 1)}"
    return ""


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _heuristics(program: Program) -> Iterator[Finding]:
    """The number of engine configurations that the heuristics give may be 0."""
    for call in program.named("cudnnBackendGetAttribute"):
        asked = call.arguments["attributeName"].text
        variable = program.variable(call, "elementCount")
        if asked != "CUDNN_ATTR_ENGINEHEUR_RESULTS" or variable is None or not call.home:
            continue
        body = call.home.text
        name = re.escape(variable.name)
        # `i < count` is no check when what follows the loop takes the first anyway.
        if not re.search(rf"\b{name}\s*(?:==|<=|!=|>|<)\s*[01]\b|!\s*{name}\b", body):
            text = (
                f"{variable.name} may be 0: then there is no engine, and no configuration to take"
            )
            yield program.at(call.node, "fault", asked, text)


def _letters(program: Program) -> Iterator[Finding]:
    """Unique ids written as letters."""
    for call in program.named("cudnnBackendSetAttribute"):
        if call.arguments["attributeName"].text != "CUDNN_ATTR_TENSOR_UNIQUE_ID":
            continue
        variable = program.variable(call, "arrayOfElements")
        if variable is not None and variable.value.text.startswith("'"):
            letter = variable.value.text
            text = f"a letter is a number in C: {letter} is ord({letter}) in Python"
            where = call.arguments["arrayOfElements"]
            code = (f"{variable.name} = c_int64(ord({letter}))",)
            yield program.at(where, "note", variable.name, text, code)
