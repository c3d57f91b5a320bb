"""The typical faults of programs around cuDNN, as far as their text shows them."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator

from ..raw import enums
from ..raw.ctypes_support import CudnnEnum, storage_type
from ..raw.gone import OLD_STATUS_NUMBERS
from .program import Finding, Program, primitive
from .source import Node


def faults(program: Program) -> Iterator[Finding]:
    """Likely faults in a program, in no order."""
    for check in (
        _enums_of_other_types,
        _overruns,
        _status_of_the_first,
        _scalars,
        _status_numbers,
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
                order = ", ".join(each.name for each in call.function.parameters)
                text = (
                    f"{parameter.name} is a {wanted.__name__}, and {found.name} is a "
                    f"{type(found).__name__}; the order is {order}. Python raises TypeError"
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


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


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


def _status_of_the_first(program: Program) -> Iterator[Finding]:
    looked_at = {(name, home) for _, name, home in _members(program, "status")}
    for node, name, home in _members(program, "algo"):
        if (name, home) in looked_at:
            continue
        looked_at.add((name, home))
        text = f"the status of {name} is not looked at: an entry may be one that failed"
        code = (f"algo = next(p.algo for p in {name} if p.status == CUDNN_STATUS_SUCCESS)",)
        yield program.at(node, "fault", name, text, code)


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
