"""The typical faults of programs around cuDNN, as far as their text shows them."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator

from ..raw import enums
from ..raw.attributes import ATTRIBUTES, ENUMS, element_type, owner_and_short_name
from ..raw.ctypes_support import CudnnEnum, storage_type
from ..raw.enums import cudnnBackendAttributeName_t, cudnnBackendAttributeType_t
from ..raw.gone import OLD_STATUS_NUMBERS
from .program import Call, Finding, Program, Variable, primitive
from .source import Node


def faults(program: Program) -> Iterator[Finding]:
    """Likely faults in a program, in no order."""
    for check in (
        _enums_of_other_types,
        _overruns,
        _times_of_v7,
        _status_of_the_first,
        _scalars,
        _no_workspace,
        _status_numbers,
        backend_faults,
    ):
        yield from check(program)


def _enums_of_other_types(program: Program) -> Iterator[Finding]:
    """Format and data type swapped, say: both are 0 for NCHW and FLOAT, so C does not notice."""
    for call in program.calls:
        for parameter in call.function.parameters:
            argument, wanted = call.arguments.get(parameter.name), parameter.type.base
            if argument is None or parameter.type.kind != "value":
                continue
            found = getattr(enums, argument.text, None)
            if not isinstance(found, CudnnEnum) or not isinstance(wanted, type):
                continue
            if issubclass(wanted, CudnnEnum) and not isinstance(found, wanted):
                text = (
                    f"{parameter.name} is a {wanted.__name__}, and {found.name} is a "
                    f"{type(found).__name__}; the order is {_order(call)}. Python raises TypeError"
                )
                yield program.at(argument, "fault", call.name, text)


def _overruns(program: Program) -> Iterator[Finding]:
    """A variable that is smaller than what cuDNN writes to it: ``(size_t *)&int_variable``."""
    for call in program.calls:
        for parameter in call.function.parameters:
            argument, base = call.arguments.get(parameter.name), parameter.type.base
            is_out = parameter.type.kind == "pointer" and parameter.direction != "in"
            if argument is None or not is_out or not isinstance(base, type):
                continue
            variable = program.known.find(argument.address_of)
            kind = primitive(variable.type) if variable and variable.is_plain else None
            size = ctypes.sizeof(storage_type(base))
            if variable and kind and kind.is_number and kind.bits < 8 * size:
                text = (
                    f"cuDNN writes {size} bytes to {parameter.name}, and {variable.name} is "
                    f"{_a(variable.type)} of {kind.bits // 8}: what lies behind it is overwritten"
                )
                yield program.at(argument, "fault", call.name, text)


def _order(call: Call) -> str:
    return ", ".join(parameter.name for parameter in call.function.parameters)


# -- the choice of an algorithm -------------------------------------------------------------------

_PERF_TYPE = re.compile(r"cudnnConvolution(?:Fwd|BwdData|BwdFilter)AlgoPerf_t")


def _members(program: Program, member: str) -> Iterator[tuple[Node, str, int]]:
    """Where a member of a struct of measured algorithms is read: the place, whose, the function."""
    for node in program.source.root.find("field_expression"):
        if node["field"].text != member:
            continue
        variable = program.known.find(node.children[0])
        if variable is not None and _PERF_TYPE.search(variable.type):
            yield node, variable.name, node.home.id


def _times_of_v7(program: Program) -> Iterator[Finding]:
    filled = {
        (variable.name, call.home.id)
        for call in program.calls
        if call.name.endswith("Algorithm_v7")
        and (variable := program.variable(call, "perfResults")) is not None
    }
    for node, name, home in _members(program, "time"):
        if (name, home) in filled:
            text = (
                "the _v7 functions do not time: it is -1, so the fastest by time is always the "
                "first; cudnnFindConvolution...Algorithm times"
            )
            yield program.at(node, "fault", "time", text)


def _status_of_the_first(program: Program) -> Iterator[Finding]:
    looked_at = {(name, home) for _, name, home in _members(program, "status")}
    for node, name, home in _members(program, "algo"):
        if (name, home) in looked_at:
            continue
        looked_at.add((name, home))
        text = f"the status of {name} is not looked at: an entry may be one that failed"
        code = (f"algo = next(p.algo for p in {name} if p.status == CUDNN_STATUS_SUCCESS)",)
        yield program.at(node, "fault", name, text, code)


_IS_ZERO = re.compile(r"\(\s*(?:!\s*(\w+)|(\w+)\s*(?:==|<=)\s*0|0\s*==\s*(\w+))\s*\)")
_GIVES_UP = re.compile(
    r"\b(?:exit|abort|throw|assert|goto|return\s+(?:-?\s*1|false|EXIT_FAILURE))\b"
)


def _no_workspace(program: Program) -> Iterator[Finding]:
    """A size of 0 that is treated as a failure: many algorithms need no workspace."""
    sizes = set()
    for call in program.calls:
        if "WorkspaceSize" in call.name:
            variable = program.variable(call, "sizeInBytes")
            sizes |= {variable.name} if variable else set()
    for node in program.source.root.find("if_statement"):
        zero = _IS_ZERO.fullmatch(node["condition"].text)
        name = next((group for group in zero.groups() if group), "") if zero else ""
        then = node["consequence"].text
        if name in sizes and _GIVES_UP.search(then):
            text = f"{name} == 0 is no failure: many algorithms need no workspace"
            yield program.at(node, "fault", name, text)


# -- scalars ---------------------------------------------------------------------------


def _scalars(program: Program) -> Iterator[Finding]:
    """alpha and beta of a wrong type, and results that are added to what is there."""
    double = re.search(rb"\bCUDNN_DATA_DOUBLE\b", program.source.code)
    other = re.search(rb"\bCUDNN_DATA_(?!DOUBLE)\w+", program.source.code)
    for call in program.calls:
        for parameter in call.function.parameters:
            argument = call.arguments.get(parameter.name)
            if parameter.type.kind != "scalar" or argument is None:
                continue
            variable = program.known.find(argument)
            if variable is None or variable.pointers:
                continue
            wrong = (
                variable.type in ("int", "unsigned", "long", "size_t", "half", "__half")
                or (variable.type == "double" and not double)
                or (variable.type == "float" and double and not other)
            )
            if wrong:
                text = (
                    f"{parameter.name} points to a {variable.type}; cuDNN reads a double for "
                    f"tensors of DOUBLE and a float for all others. Python takes the number itself"
                )
                yield program.at(argument, "fault", call.name, text, (f"{parameter.name}=1.0",))
            if parameter.name == "beta" and call.name != "cudnnAddTensor":
                value = variable.value.text.strip("(){} ").rstrip("fF")
                if re.fullmatch(r"\d*\.?\d*(?:e-?\d+)?", value) and value and float(value):
                    text = f"beta is {value}: the result is added to what the output holds"
                    yield program.at(argument, "note", call.name, text)


# -- meanings -------------------------------------------------------------------------------------


def _status_numbers(program: Program) -> Iterator[Finding]:
    """Statuses by number: all but 0 changed with cuDNN 9."""
    for node in program.source.root.find("binary_expression"):
        left, right = node["left"], node["right"]
        if node.operator not in ("==", "!="):
            continue
        for each, number in ((left, right), (right, left)):
            variable, text = program.known.find(each), number.text
            if variable is None or variable.type != "cudnnStatus_t" or not text.isdecimal():
                continue
            name = OLD_STATUS_NUMBERS.get(int(text))
            if name is not None:
                now = f"{text} was {name}, which is {int(getattr(enums, name))} since cuDNN 9"
                yield program.at(node, "fault", variable.name, now, (f"{variable.name} == {name}",))


def backend_faults(program: Program) -> Iterator[Finding]:
    """Likely faults in calls of the backend API."""
    for call in program.named("cudnnBackendSetAttribute"):
        yield from _attribute(program, call)
    yield from _heuristics(program)


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
