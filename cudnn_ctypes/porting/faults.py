"""The typical faults of programs around cuDNN, as far as their text shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..raw import enums
from ..raw.ctypes_support import CudnnEnum
from ..raw.gone_table import OLD_STATUS_NUMBERS
from .backend_faults import backend_faults
from .calls import Call, Program
from .finding import Finding
from .memory_faults import memory_faults
from .syntax import Node

__all__ = ["faults"]


def faults(program: Program) -> Iterator[Finding]:
    """Likely faults in a program, in no order."""
    for check in (
        _enums_of_other_types,
        _times_of_v7,
        _status_of_the_first,
        _scalars,
        memory_faults,
        _softmax_instance,
        _no_workspace,
        _status_numbers,
        _int32_tensors,
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


def _softmax_instance(program: Program) -> Iterator[Finding]:
    for node in program.source.root.find("identifier"):
        if node.text == "CUDNN_SOFTMAX_MODE_INSTANCE":
            text = "over C, H and W together; CUDNN_SOFTMAX_MODE_CHANNEL is over C alone"
            yield program.at(node, "note", "CUDNN_SOFTMAX_MODE_INSTANCE", text)


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


def _int32_tensors(program: Program) -> Iterator[Finding]:
    """INT32 as the type of a convolution's output, for which cuDNN has no engine."""
    if not any(call.name == "cudnnConvolutionForward" for call in program.calls):
        return
    for call in program.named("cudnnSetTensor4dDescriptor", "cudnnSetTensorNdDescriptor"):
        argument = call.arguments["dataType"]
        if argument.text == "CUDNN_DATA_INT32":
            text = (
                "no convolution gives INT32, in which it only computes: y is INT8 or FLOAT; "
                "`python -m cudnn_ctypes explain` tells what there is"
            )
            yield program.at(argument, "note", call.name, text)
